"""The vote agrees with its written rules (SPEC §5): each value, its source, the rule, and the number of votes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.papers.fewest import select_fewest_sources
from s2corpus.papers.openness import Declaration, decide_openness
from s2corpus.papers.support import compute_similarity
from s2corpus.papers.vote import (
    FIELDS,
    DeliveredRecord,
    FieldDecision,
    Pdf,
    VoteRule,
    elect_metadata,
    get_value,
    select_supported,
    to_comparison_form,
)
from s2corpus.sources import Author, Record, RecordKind
from tests.unit.vote.test_openness import renewed

TRUST = ("crossref", "dblp", "declared", "arxiv", "scienceparse", "grobid")
A, B = "a" * 40, "b" * 40
ADA, ALAN, A_LOVELACE = (
    Author("Ada", (), "Lovelace", ""),
    Author("Alan", ("M",), "Turing", ""),
    Author("A", (), "Lovelace", ""),
)
TELLING = ("abstract", "date", "venue", "doi")

TITLES = ["deep parsing", "Deep Parsing", "Deep parsing!", "deep parsings", "shallow text", "shallow texts"]
VALUES: dict[str, list[Any]] = {
    "title": TITLES, "abstract": TITLES[2:5], "venue": TITLES[3:], "volume": ["1", "2"], "doi": ["10.1016/x", "10.1016/y"],
    "authors": [(ADA,), (ADA, ALAN), (A_LOVELACE, ALAN), (ALAN,)], "date": ["2019", "2020", "2020-05"], "pmc_id": ["PMC1", "PMC2"],
}  # fmt: skip
PRECISION = {4: "year", 7: "month"}


@st.composite
def clusters(draw: st.DrawFn) -> list[DeliveredRecord]:
    found = []
    for number in range(draw(st.integers(1, 7))):
        source, kind = draw(
            st.sampled_from(
                [
                    ("crossref", RecordKind.PUBLISHER),
                    ("acl", RecordKind.PUBLISHER),
                    ("dblp", RecordKind.ARCHIVE),
                    ("arxiv", RecordKind.ARCHIVE),
                    ("s2", RecordKind.ARCHIVE),
                    ("declared", RecordKind.ARCHIVE),
                    ("grobid", RecordKind.PDF),
                    ("scienceparse", RecordKind.PDF),
                ]
            )
        )
        said: dict[str, Any] = {name: draw(st.none() | st.sampled_from(values)) for name, values in VALUES.items()}
        said = {name: value for name, value in said.items() if value is not None}
        if "date" in said:
            said["date_precision"] = PRECISION[len(said["date"])]
        sha1 = draw(st.sampled_from([A, B] if kind is RecordKind.PDF else [None, None, A, B]))
        record = Record(f"{source}:{number}", source, kind, file_sha1=sha1, **said)
        found.append(DeliveredRecord(record, draw(st.sampled_from(["2022", "2023"]))))
    return found


def rank(source: str) -> tuple[int, str]:
    return TRUST.index(source) if source in TRUST else len(TRUST), source


def publisher_record(sha1: str, members: list[DeliveredRecord]) -> DeliveredRecord | None:
    def ids(record: Record) -> set[tuple[str, Any]]:
        return {(name, getattr(record, name)) for name in ("doi", "acl_id", "pmc_id") if getattr(record, name)}

    theirs = [d for d in members if d.record.kind is RecordKind.PUBLISHER]
    own = [
        d.record
        for d in members
        if d.record.file_sha1 == sha1 and (d.record.kind is RecordKind.PDF or d.record.source == "declared")
    ]
    printed = set().union(*map(ids, own))
    found = [d for d in theirs if d.record.file_sha1 == sha1] or [d for d in theirs if ids(d.record) & printed]
    best: DeliveredRecord | None = None
    for d in sorted(found, key=lambda d: repr(replace(d.record, record_id=""))):
        if (
            best is None
            or rank(d.record.source) < rank(best.record.source)
            or (d.record.source == best.record.source and d.ready_at > best.ready_at)
        ):
            best = d
    return best


def voters(name: str, members: list[DeliveredRecord], opened: dict[str, bool]) -> list[DeliveredRecord]:
    having = [d for d in members if get_value(d.record, name) is not None]
    other = [d for d in having if d.record.kind is not RecordKind.PDF]
    parsed = [d for d in having if d.record.source == "scienceparse"]
    if other or (parsed and name in ("title", "authors")):
        return other or parsed
    return [d for d in having if name != "abstract" or opened.get(d.record.file_sha1 or "", False)]


def votes_of(name: str, some: list[DeliveredRecord]) -> dict[str, DeliveredRecord]:
    """Return the latest record of each source. Equally late records are ordered by value, then by id."""
    latest: dict[str, DeliveredRecord] = {}
    for d in some:
        key = (repr(get_value(d.record, name)), d.record.record_id)
        before = latest.get(d.record.source)
        if before is None or d.ready_at > before.ready_at or (
            d.ready_at == before.ready_at and key < (repr(get_value(before.record, name)), before.record.record_id)
        ):  # fmt: skip
            latest[d.record.source] = d
    return latest


def full(form: Any) -> int:
    return (
        len(form)
        if isinstance(form, str)
        else sum(len(repr(part)) if isinstance(part, Author) else len(part) for part in form)
    )


def decided(
    cluster: list[DeliveredRecord], pdfs: dict[str, Pdf], all_open: bool, equal: bool
) -> tuple[str | None, dict[str, Any], dict[str, FieldDecision]]:
    members = sorted(cluster, key=lambda d: d.record.record_id)
    records = [d.record for d in members]
    sha1s = sorted({r.file_sha1 for r in records if r.source == "grobid" and r.file_sha1})
    opened = {
        sha1: decide_openness(
            sha1, records, pdfs.get(sha1, Pdf()).declarations, is_preprint=lambda doi: False, all_open=all_open
        ).open
        for sha1 in sha1s
    }
    theirs = {sha1: publisher_record(sha1, members) for sha1 in sha1s}
    chosen, best = None, (False, 0, "")
    for sha1 in sha1s:
        told = sum(get_value(d.record, name) is not None for d in [theirs[sha1]] if d for name in TELLING)
        mine = (opened[sha1], told, pdfs.get(sha1, Pdf()).first_seen)
        if chosen is None or mine > best:
            chosen, best = sha1, mine
    publisher = theirs[chosen] if chosen else None
    values: dict[str, Any] = {}
    decisions: dict[str, FieldDecision] = {}
    open_ties: dict[str, list[Any]] = {}
    by_name = {name: votes_of(name, voters(name, members, opened)) for name in FIELDS}

    def settle(name: str, value: Any, rule: VoteRule, sources: set[str]) -> None:
        mine = {s: d for s, d in by_name[name].items() if to_comparison_form(name, get_value(d.record, name)) == value}
        forms = [get_value(d.record, name) for d in mine.values()]
        by_trust = sorted(mine, key=rank)
        form = min((get_value(mine[s].record, name) for s in by_trust), key=lambda f: (-forms.count(f), -full(f)))
        among = [s for s in by_trust if s in sources]
        giver = next((s for s in among if get_value(mine[s].record, name) == form), among[0])
        said_by = mine[giver].record
        values[name] = form
        decisions[name] = FieldDecision(
            said_by.source,
            said_by.record_id,
            VoteRule.PDF if said_by.kind is RecordKind.PDF else rule,
            len(mine),
            len(by_name[name]) - len(mine),
        )

    for name, votes in by_name.items():
        said = {s: to_comparison_form(name, get_value(d.record, name)) for s, d in votes.items()}
        if publisher and get_value(publisher.record, name) is not None:
            values[name] = get_value(publisher.record, name)
            agreeing = list(said.values()).count(to_comparison_form(name, values[name]))
            decisions[name] = FieldDecision(
                publisher.record.source, publisher.record.record_id, VoteRule.PUBLISHER, agreeing, len(votes) - agreeing
            )
        elif votes:
            weigh: Callable[[Any, Any], float] = operator.eq if equal else partial(compute_similarity, name)
            support = {value: sum(weigh(other, value) for other in said.values()) for value in said.values()}
            top = [value for value in support if support[value] > max(support.values()) - 1e-9]
            if len(top) == 1:
                settle(name, top[0], VoteRule.MAJORITY, set(votes))
            else:
                open_ties[name] = top
    used = {decision.source for decision in decisions.values()}
    givers = {
        name: {s for s, d in by_name[name].items() if to_comparison_form(name, get_value(d.record, name)) in top}
        for name, top in open_ties.items()
    }
    used |= select_fewest_sources(list(givers.values()), used, rank)
    for name, top in open_ties.items():
        first = min(givers[name] & used, key=rank)
        value = to_comparison_form(name, get_value(by_name[name][first].record, name))
        with_used = {to_comparison_form(name, get_value(by_name[name][s].record, name)) for s in givers[name] & used}
        settle(name, value, VoteRule.FEWEST_SOURCES if len(with_used) == 1 else VoteRule.TRUST, givers[name] & used)
        assert value in top
    return chosen, values, decisions


@settings(max_examples=100)
@given(clusters(), st.lists(st.tuples(st.sampled_from(["", "2022", "2023"]), st.sampled_from([None, True, False])), min_size=2, max_size=2),
       st.booleans(), st.booleans())  # fmt: skip
def test_vote_equals_the_written_rules(
    cluster: list[DeliveredRecord], known: list[tuple[str, bool | None]], all_open: bool, equal: bool
) -> None:
    pdfs = {
        sha1: Pdf(seen, (Declaration("d", "a.pdf", opened),))
        for sha1, (seen, opened) in zip((A, B), known, strict=True)
    }
    cluster = [DeliveredRecord(renewed(d.record), d.ready_at) for d in cluster]
    paper = elect_metadata(
        "p", cluster, trust=TRUST, pdfs=pdfs, all_open=all_open, support="equal" if equal else "similar"
    )
    chosen, values, decisions = decided(cluster, pdfs, all_open, equal)
    assert paper.canonical_pdf == chosen
    assert paper.values == values
    assert paper.provenance == decisions
    assert list(paper.values) == list(paper.provenance) == [name for name in FIELDS if name in values]


def test_paper_has_mag_ids_subjects_and_record_ids() -> None:
    records = [
        Record("s2:2", "s2", RecordKind.ARCHIVE, title="T", mag_id="7", subjects=("b", "a")),
        Record("s2:1", "s2", RecordKind.ARCHIVE, mag_id="5"),
        Record("dblp:1", "dblp", RecordKind.ARCHIVE, mag_id="7", subjects=("a", "c")),
    ]
    paper = elect_metadata("p", map(DeliveredRecord, records))
    assert (paper.paper_id, paper.mag_ids, paper.subjects, paper.record_ids) == (
        "p", ("5", "7"), ("a", "b", "c"), ("dblp:1", "s2:1", "s2:2"),
    )  # fmt: skip
    assert (paper.canonical_pdf, paper.access, paper.openness.open, paper.openness.looks) == (None, {}, False, ())


@pytest.mark.parametrize(
    ("name", "declared", "title"),
    [
        ("P19-1001.pdf", {}, "By its name"),
        ("a.pdf", {"acl_id": "P19-1001"}, "By its name"),
        ("a.pdf", {"pmc_id": "PMC1"}, "By PMC"),
        ("PMC1.pdf", {"acl_id": "P19-1001"}, "By PMC"),  # The file name has priority over the declared id.
        ("a.pdf", {}, None),
    ],
)
def test_file_name_or_declared_id_selects_publisher_record(
    name: str, declared: dict[str, Any], title: str | None
) -> None:
    records = [
        Record(f"grobid:{A}", "grobid", RecordKind.PDF, file_sha1=A),
        Record("declared:d/a.pdf", "declared", RecordKind.ARCHIVE, file_sha1=A, **declared),
        Record("acl:1", "acl", RecordKind.PUBLISHER, title="By its name", acl_id="P19-1001"),
        Record("jats:1", "jats", RecordKind.PUBLISHER, title="By PMC", pmc_id="PMC1"),
        Record("acl:2", "acl", RecordKind.PUBLISHER, title="Else"),
    ]
    paper = elect_metadata(
        "p", map(DeliveredRecord, records), trust=TRUST, pdfs={A: Pdf("", (Declaration("d", name),))}
    )
    assert (paper.values["title"] if paper.provenance["title"].rule is VoteRule.PUBLISHER else None) == title


@pytest.mark.parametrize("values", [["deep parsing"], ["deep parsing", "deep parsings", "graph"], ["ab", "cd"]])
def test_values_with_most_support_are_selected(values: list[str]) -> None:
    from s2corpus.papers.vote import _group_votes

    cluster = [
        DeliveredRecord(Record(f"s{n}:1", f"s{n}", RecordKind.ARCHIVE, title=value)) for n, value in enumerate(values)
    ]
    found = {str(group.value) for group in select_supported("title", _group_votes("title", cluster))}
    support = {
        to_comparison_form("title", a): sum(
            compute_similarity("title", to_comparison_form("title", a), to_comparison_form("title", b)) for b in values
        )
        for a in values
    }
    assert found == {value for value, sum_ in support.items() if sum_ == pytest.approx(max(support.values()))}
