"""The vote of S2ORC §2.3 chooses each field, and its laws hold for every cluster."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.papers.fewest import select_fewest_sources
from s2corpus.papers.openness import Declaration
from s2corpus.papers.vote import (
    FIELDS,
    DeliveredRecord,
    Pdf,
    VotedPaper,
    VoteRule,
    elect_metadata,
    get_value,
    make_rank,
    to_comparison_form,
)
from s2corpus.sources import Author, Record, RecordKind
from s2orc_parse.bibliography.names import parse_authors
from tests.unit.vote.test_openness import renewed

TRUST = ("crossref", "pubmed", "declared", "acl", "dblp", "arxiv", "s2", "unpaywall", "scienceparse", "grobid")
A, B = "a" * 40, "b" * 40
OPENING, CLOSING = Declaration("one", "a.pdf", True), Declaration("two", "b.pdf", False)
ADA, ALAN = Author("Ada", (), "Lovelace", ""), Author("Alan", ("M",), "Turing", "")


def record(source: str, native: str = "1", kind: RecordKind = RecordKind.ARCHIVE, **fields: Any) -> Record:
    if "date" in fields:
        fields["date_precision"] = {4: "year", 7: "month", 10: "day"}[len(fields["date"])]
    return Record(f"{source}:{native}", source, kind, **fields)


def header(sha1: str = A, source: str = "grobid", **fields: Any) -> Record:
    return record(source, sha1, RecordKind.PDF, file_sha1=sha1, **fields)


def vote(*records: Record | DeliveredRecord, pdfs: dict[str, Pdf] | None = None, **options: Any) -> VotedPaper:
    delivered = [
        replace(r, record=renewed(r.record)) if isinstance(r, DeliveredRecord) else DeliveredRecord(renewed(r))
        for r in records
    ]
    return elect_metadata("p", delivered, trust=TRUST, pdfs=pdfs or {}, **options)


def test_publisher_record_of_canonical_pdf_is_canonical() -> None:
    publisher = record(
        "crossref", kind=RecordKind.PUBLISHER, title="As published", doi="10.18653/v1/x", date="2020-05-01"
    )
    paper = vote(
        header(doi="10.18653/v1/x", title="As printed"),
        publisher,
        record("dblp", title="Else"),
        record("s2", title="Else"),
    )
    assert paper.values["title"] == "As published"
    decision = paper.provenance["title"]
    assert (decision.rule, decision.votes_for, decision.votes_against) == (VoteRule.PUBLISHER, 1, 2)


def test_record_naming_the_pdf_outranks_record_sharing_its_doi() -> None:
    named = record("acl", kind=RecordKind.PUBLISHER, title="Named", file_sha1=A)
    shares = record("crossref", kind=RecordKind.PUBLISHER, title="Shares", doi="10.18653/v1/x")
    assert vote(header(doi="10.18653/v1/x"), named, shares).values["title"] == "Named"


@pytest.mark.parametrize(
    ("name", "ids"),
    [("2020.acl-main.207.pdf", {"acl_id": "2020.acl-main.207"}), ("oa/PMC4391421.pdf", {"pmc_id": "PMC4391421"})],
)
def test_file_name_with_publishers_id_selects_publisher_record(name: str, ids: dict[str, str]) -> None:
    publisher = record(
        "acl", kind=RecordKind.PUBLISHER, title="As published", date="2020-07", date_precision="month", **ids
    )
    preprint = [record(source, title="As first posted", date="2020-04-15") for source in ("arxiv", "s2")]
    called = {A: Pdf(declarations=(Declaration("d", name),))}
    assert vote(header(), publisher, *preprint, pdfs=called).values["date"] == ("2020-07", "month")
    assert vote(header(), publisher, *preprint).values["date"][0] == "2020-04-15"


def test_without_pdf_publisher_has_one_vote() -> None:
    publisher = record("crossref", kind=RecordKind.PUBLISHER, venue="J. Parsing")
    paper = vote(publisher, record("dblp", venue="ACL"), record("s2", venue="acl"))
    assert paper.values["venue"] == "ACL" and paper.provenance["venue"].rule is VoteRule.MAJORITY


@pytest.mark.parametrize(
    ("a", "b", "chosen", "why"),
    [
        (Pdf("2023", (CLOSING,)), Pdf("2023", (OPENING,)), B, "open access first"),
        (Pdf("2023-01-02", (OPENING,)), Pdf("2023-01-01", (OPENING,)), A, "latest first seen"),
        (Pdf("2023", (OPENING,)), Pdf("2023", (OPENING,)), A, "smallest sha1"),
    ],
)
def test_canonical_pdf_is_chosen_in_this_order(a: Pdf, b: Pdf, chosen: str, why: str) -> None:
    assert vote(header(A), header(B), pdfs={A: a, B: b}).canonical_pdf == chosen, why


def test_open_pdf_with_fullest_publisher_record_is_canonical() -> None:
    told = record("acl", kind=RecordKind.PUBLISHER, file_sha1=B, abstract="We.", venue="ACL", date="2020")
    terse = record("crossref", kind=RecordKind.PUBLISHER, file_sha1=A, doi="10.18653/v1/x")
    assert vote(header(A), header(B), told, terse, all_open=True).canonical_pdf == B


def test_pdf_without_header_is_not_canonical() -> None:
    assert vote(record("crossref", kind=RecordKind.PUBLISHER, title="T", file_sha1=A)).canonical_pdf is None


def test_source_votes_once_with_its_latest_record() -> None:
    old, new = (
        DeliveredRecord(record("s2", "1", venue="Old"), "2022"),
        DeliveredRecord(record("s2", "2", venue="New"), "2023"),
    )
    paper = vote(old, new, record("dblp", venue="New"))
    assert paper.values["venue"] == "New" and paper.provenance["venue"].votes_for == 2
    assert paper.provenance["venue"].votes_against == 0


def test_most_frequent_then_fullest_form_of_winner_is_used() -> None:
    paper = vote(
        record("s2", title="deep parsing"), record("dblp", title="Deep Parsing"), record("arxiv", title="Deep Parsing")
    )
    assert paper.values["title"] == "Deep Parsing"
    dates = vote(record("s2", date="2020"), record("dblp", date="2020-05"), record("arxiv", date="2020-05-31"))
    assert dates.values["date"] == ("2020-05-31", "day") and dates.provenance["date"].votes_for == 3


class TestPdfHeaders:
    def test_pdf_gives_title_and_authors_only_without_other_records(self) -> None:
        paper = vote(header(title="Read", authors=(ADA,)), record("s2", title="Said"))
        assert paper.values["title"] == "Said"
        assert paper.values["authors"] == (ADA,) and paper.provenance["authors"].rule is VoteRule.PDF

    def test_scienceparse_outranks_the_extractor(self) -> None:
        paper = vote(header(title="By GROBID", authors=(ADA,)), header(source="scienceparse", title="By ScienceParse"))
        assert paper.values["title"] == "By ScienceParse" and paper.values["authors"] == (ADA,)

    @pytest.mark.parametrize("source", ["unpaywall", "pubmed", "s2", "crossref", "dblp", "arxiv", "scienceparse"])
    def test_untitled_record_does_not_remove_title(self, source: str) -> None:
        read = header(title="Read", abstract="We read.", venue="Printed", authors=(ADA,))
        kind = {"crossref": RecordKind.PUBLISHER, "scienceparse": RecordKind.PDF}.get(source, RecordKind.ARCHIVE)
        paper = vote(read, record(source, kind=kind, doi="10.18653/v1/x", file_sha1=A), all_open=True)
        found = {name: paper.values.get(name) for name in ("title", "abstract", "venue", "authors")}
        assert found == {"title": "Read", "abstract": "We read.", "venue": "Printed", "authors": (ADA,)}
        assert paper.provenance["title"].rule is VoteRule.PDF

    @pytest.mark.parametrize("given", ["title", "abstract", "venue"])
    def test_pdf_votes_on_fields_without_other_values(self, given: str) -> None:
        read: dict[str, Any] = {"title": "Read", "abstract": "We read.", "venue": "Printed"}
        said: dict[str, Any] = {given: "Said"}
        paper = vote(header(**read), record("s2", **said), all_open=True)
        assert {name: paper.values[name] for name in read} == {**read, given: "Said"}

    @pytest.mark.parametrize(("all_open", "abstract"), [(True, "We read."), (False, None)])
    def test_abstract_from_a_closed_pdf_is_not_published(self, all_open: bool, abstract: str | None) -> None:
        assert vote(header(abstract="We read."), all_open=all_open).values.get("abstract") == abstract


class TestDeclared:
    """A drop's own record of its file votes as the source `declared` (SPEC §4.2)."""

    def declared(self, native: str = "d/a.pdf", **fields: Any) -> Record:
        return record("declared", native, file_sha1=A, **fields)

    def test_declared_record_votes_and_loses_ties_to_crossref(self) -> None:
        paper = vote(header(), self.declared(title="As declared"), record("crossref", title="As registered"))
        assert paper.values["title"] == "As registered"
        assert (
            vote(header(), self.declared(title="As declared"), record("dblp", title="Else")).values["title"]
            == "As declared"
        )

    def test_drops_are_one_source_and_the_latest_votes(self) -> None:
        old = DeliveredRecord(self.declared("a/a.pdf", venue="Old"), "2022")
        new = DeliveredRecord(self.declared("b/b.pdf", venue="New"), "2023")
        decision = vote(old, new, header()).provenance["venue"]
        assert (decision.record_id, decision.votes_for, decision.votes_against) == ("declared:b/b.pdf", 1, 0)

    def test_declared_date_does_not_remove_title_of_pdf(self) -> None:
        paper = vote(
            header(title="As printed", abstract="We.", date="2019"), self.declared(date="2021-03"), all_open=True
        )
        assert (paper.values["title"], paper.values["abstract"]) == ("As printed", "We.")
        assert paper.values["date"] == ("2021-03", "month") and paper.provenance["date"].source == "declared"

    def test_declared_title_replaces_title_of_pdf(self) -> None:
        paper = vote(header(title="As printed", abstract="We."), self.declared(title="As declared"), all_open=True)
        assert (paper.values["title"], paper.values["abstract"]) == ("As declared", "We.")
        known = vote(
            header(abstract="We."), self.declared(title="As declared"), record("dblp", title="T"), all_open=True
        )
        assert known.values["abstract"] == "We."

    def test_declared_doi_selects_the_publisher_record(self) -> None:
        publisher = record("crossref", kind=RecordKind.PUBLISHER, title="As published", doi="10.1016/x")
        paper = vote(header(), self.declared(doi="10.1016/x", title="Else"), publisher, record("dblp", title="Else"))
        assert paper.values["title"] == "As published" and paper.provenance["title"].rule is VoteRule.PUBLISHER


def test_order_of_equally_late_records_does_not_matter() -> None:
    one, two = (
        DeliveredRecord(record("s2", "1", venue="One"), "2023"),
        DeliveredRecord(record("s2", "2", venue="Two"), "2023"),
    )
    assert vote(one, two).values["venue"] == vote(two, one).values["venue"] == "One"


# -- Laws

words = st.sampled_from(["deep parsing", "Deep Parsing", "shallow", "Graphs!"])
dates = st.sampled_from(["2019", "2020", "2020-05", "2020-05-31"])
dois = st.sampled_from(["10.18653/v1/x", "10.18653/v1/y"])


@st.composite
def clusters(draw: st.DrawFn, sources: tuple[str, ...] = TRUST[:8]) -> list[DeliveredRecord]:
    found = []
    for number in range(draw(st.integers(1, 6))):
        pdf = draw(st.integers(0, 4)) == 0
        kind = RecordKind.PDF if pdf else draw(st.sampled_from([RecordKind.PUBLISHER, RecordKind.ARCHIVE]))
        source = draw(st.sampled_from(TRUST[8:] if pdf else sources))
        fields = {
            name: draw(st.none() | values)
            for name, values in (
                ("title", words),
                ("abstract", words),
                ("venue", words),
                ("journal", words),
                ("doi", dois),
            )
        }
        date = draw(st.none() | dates)
        said = record(source, f"{number}", kind, **fields, **({"date": date} if date else {}))
        sha1 = draw(st.sampled_from([A, B])) if pdf else draw(st.sampled_from([None, None, A]))
        authors = draw(st.sampled_from([(), (ADA,), (ADA, ALAN)]))
        found.append(
            DeliveredRecord(replace(said, file_sha1=sha1, authors=authors), draw(st.sampled_from(["2022", "2023"])))
        )
    return found


def outcome(paper: VotedPaper) -> Any:
    decided = {name: (d.source, d.rule, d.votes_for, d.votes_against) for name, d in paper.provenance.items()}
    return paper.values, decided, paper.canonical_pdf, replace(paper.openness, looks=())


@settings(max_examples=60)
@given(clusters(), st.randoms())
def test_order_of_records_does_not_matter(cluster: list[DeliveredRecord], rng: Any) -> None:
    shuffled = list(cluster)
    rng.shuffle(shuffled)
    assert elect_metadata("p", cluster, trust=TRUST) == elect_metadata("p", shuffled, trust=TRUST)


@settings(max_examples=60)
@given(clusters(), st.data())
def test_duplicate_record_with_another_id_changes_nothing(cluster: list[DeliveredRecord], data: st.DataObject) -> None:
    duplicate = data.draw(st.sampled_from(cluster))
    again = replace(duplicate, record=replace(duplicate.record, record_id=data.draw(st.sampled_from(["0:0", "zz:9"]))))
    with_it, without = (elect_metadata("p", records, trust=TRUST) for records in ([*cluster, again], cluster))
    # The checks name the supporting records, including the new one. Compare only whether evidence was found.
    assert outcome(with_it) == outcome(without)
    assert [(look.evidence, look.found) for look in with_it.openness.looks] == [
        (look.evidence, look.found) for look in without.openness.looks
    ]


@settings(max_examples=60)
@given(clusters())
def test_record_naming_the_canonical_pdf_always_wins(cluster: list[DeliveredRecord]) -> None:
    paper = elect_metadata("p", cluster, trust=TRUST)
    publishers = [
        d.record for d in cluster if d.record.kind is RecordKind.PUBLISHER and d.record.file_sha1 == paper.canonical_pdf
    ]
    if paper.canonical_pdf and len(publishers) == 1:
        for name in FIELDS:
            if (said := get_value(publishers[0], name)) is not None:
                assert paper.values[name] == said and paper.provenance[name].rule is VoteRule.PUBLISHER


@settings(max_examples=60)
@given(clusters())
def test_values_are_from_records_and_follow_the_majority(cluster: list[DeliveredRecord]) -> None:
    paper = elect_metadata("p", cluster, trust=TRUST)
    for name, value in paper.values.items():
        decision = paper.provenance[name]
        assert value in [get_value(d.record, name) for d in cluster]
        if decision.rule is VoteRule.MAJORITY:
            votes = Counter(to_comparison_form(name, get_value(r, name)) for r in _latest(cluster, name))
            assert votes[to_comparison_form(name, value)] == decision.votes_for == max(votes.values())


def _latest(cluster: list[DeliveredRecord], name: str) -> list[Record]:
    """Return one vote per source except PDFs: its latest record that has the field."""
    found: dict[str, DeliveredRecord] = {}
    for d in sorted(cluster, key=lambda d: repr(get_value(d.record, name))):
        having = get_value(d.record, name) is not None and d.record.kind is not RecordKind.PDF
        if having and (d.record.source not in found or found[d.record.source].ready_at < d.ready_at):
            found[d.record.source] = d
    return [d.record for d in found.values()]


@settings(max_examples=60)
@given(clusters())
def test_ties_are_broken_with_the_fewest_possible_sources(cluster: list[DeliveredRecord]) -> None:
    """Brute force: try every way to assign one of its sources to each tied field."""
    paper = elect_metadata("p", cluster, trust=TRUST)
    tied = [name for name, d in paper.provenance.items() if d.rule in (VoteRule.FEWEST_SOURCES, VoteRule.TRUST)]
    options = []
    for name in tied:
        groups: dict[Any, set[str]] = {}
        for voter in _latest(cluster, name):
            groups.setdefault(to_comparison_form(name, get_value(voter, name)), set()).add(voter.source)
        most = max(map(len, groups.values()))
        options.append(sorted(set().union(*(sources for sources in groups.values() if len(sources) == most))))
    decided = {d.source for name, d in paper.provenance.items() if name not in tied}
    fewest = min((len(decided | set(choice)) for choice in product(*options)), default=len(decided))
    assert len({d.source for d in paper.provenance.values()}) == fewest


@settings(max_examples=60)
@given(
    st.lists(st.sets(st.sampled_from("abcdefgh"), min_size=1), max_size=6),
    st.sets(st.sampled_from("abcdefgh"), max_size=2),
)
def test_fewest_sources_is_minimal_and_most_trusted(needs: list[set[str]], used: set[str]) -> None:
    rank = make_rank("hgfedcba")
    chosen = select_fewest_sources(needs, used, rank)
    assert all(need & (used | chosen) for need in needs)
    same_size = [
        set(subset) for size in range(len(chosen) + 1) for subset in combinations("hgfedcba", size)
        if all(need & (used | set(subset)) for need in needs)
    ]  # fmt: skip
    assert min(map(len, same_size)) == len(chosen)
    assert sorted(map(rank, chosen)) == min(
        sorted(map(rank, subset)) for subset in same_size if len(subset) == len(chosen)
    )


def test_many_tied_sources_are_covered_greedily() -> None:
    needs = [{f"s{i:02d}", f"s{i + 1:02d}"} for i in range(40)]
    chosen = select_fewest_sources(needs, set(), make_rank(()))
    assert all(need & chosen for need in needs) and 20 <= len(chosen) <= 27


def test_similar_votes_support_each_other() -> None:
    """No two titles are equal, so the title most similar to all others wins.

    With exact comparison, the three tie and trust decides.
    """
    titles = {
        "crossref": "A deep parser",
        "dblp": "Deep parsing of scientific papers",
        "arxiv": "Deep parsing of scientific paper",
    }
    cluster = [
        DeliveredRecord(
            Record(f"{source}:1", source, RecordKind.ARCHIVE, title=title, date="2020", date_precision="year")
        )
        for source, title in titles.items()
    ]
    assert elect_metadata("p", cluster, trust=TRUST).values["title"] in (titles["dblp"], titles["arxiv"])
    assert elect_metadata("p", cluster, trust=TRUST, support="equal").values["title"] == titles["crossref"]


def test_authors_are_supported_by_the_share_of_surnames() -> None:
    lists = {
        "crossref": "Ada Lovelace",
        "dblp": "Ada Lovelace, Alan Turing, Kurt Gödel",
        "arxiv": "Ada Lovelace, Alan Turing",
    }
    cluster = [
        DeliveredRecord(Record(f"{source}:1", source, RecordKind.ARCHIVE, title="T", authors=parse_authors(names)))
        for source, names in lists.items()
    ]
    assert [author.last for author in elect_metadata("p", cluster, trust=TRUST).values["authors"]] == [
        "Lovelace",
        "Turing",
    ]
