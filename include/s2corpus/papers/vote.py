"""Determine the canonical metadata of a paper by a vote of its records (S2ORC §2.3, GORC App. B)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from s2corpus.papers.openness import CLOSED, Declaration, Openness, decide_openness
from s2corpus.papers.support import compute_similarity, select_fewest_sources
from s2corpus.sources.fields_of_study import fields_of_study
from s2corpus.sources.record import DECLARED, OPENALEX, SCIENCEPARSE, Record, RecordKind
from s2corpus.titles import normalise_one
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.identifiers import acl_id_of_name, pmc_id_of_name
from s2orc_parse.bibliography.names import surname_key

FIELDS = (
    "title", "authors", "date", "venue", "journal", "abstract", "volume", "issue", "pages", "doi", "arxiv_id", "pubmed_id",
    "pmc_id", "acl_id", "fields_of_study",
)  # fmt: skip
# the number of these fields in a publisher record breaks ties between PDFs
_TIE_BREAK_FIELDS = ("abstract", "date", "venue", "doi")

Value = Any
"""value of a field: a string, a tuple of authors or strings, or (date, precision) for `date`; None if missing"""
Rank = Callable[[str], tuple[int, str]]


class VoteRule(StrEnum):
    """The rule that decided a field's value."""

    PUBLISHER = "publisher"  # from the publisher record of the canonical PDF
    MAJORITY = "majority"
    FEWEST_SOURCES = "tie:fewest_sources"
    TRUST = "tie:trust"
    PDF = "pdf"  # only headers of PDFs have a value


@dataclass(frozen=True, slots=True)
class DeliveredRecord:
    """A record and its `ready_at`. A source votes with its latest record."""

    record: Record
    ready_at: str = ""


@dataclass(frozen=True, slots=True)
class Pdf:
    """Data about a PDF in addition to its records."""

    first_seen: str = ""
    declarations: tuple[Declaration, ...] = ()  # one for each place of delivery


@dataclass(frozen=True, slots=True)
class FieldDecision:
    """The source and rule that decided a field."""

    source: str
    record_id: str
    rule: VoteRule
    votes_for: int
    votes_against: int


@dataclass(frozen=True)
class VotedPaper:
    """A paper's canonical metadata, and the source of each field."""

    paper_id: str
    values: Mapping[str, Value]  # fields that a record has
    provenance: Mapping[str, FieldDecision]  # the same fields
    canonical_pdf: str | None
    openness: Openness  # of the canonical PDF
    access: Mapping[str, Openness]  # of each PDF of the paper, by SHA-1
    mag_ids: tuple[str, ...]
    subjects: tuple[str, ...]
    record_ids: tuple[str, ...]


def make_rank(trust: Sequence[str]) -> Rank:
    """Return a sort key for sources: by trust (a repeated source by its first place), then unlisted sources by name."""
    ranks = {source: rank for rank, source in reversed([*enumerate(trust)])}
    return lambda source: (ranks.get(source, len(ranks)), source)


def elect_metadata(
    paper_id: str,
    records: Iterable[DeliveredRecord],
    *,
    trust: Sequence[str] = (),
    pdfs: Mapping[str, Pdf] | None = None,
    all_open: bool = False,
    is_preprint: Callable[[str], bool] = lambda doi: False,
    support: Literal["similar", "equal"] = "similar",
) -> VotedPaper:
    """Determine the canonical metadata of one cluster. The order of records does not matter.

    `pdfs` contains data about PDFs by SHA-1. With `all_open` (profile `own`), every PDF is open unless
    it is declared closed. `is_preprint` recognizes DOIs of preprint servers.

    1. The canonical PDF is chosen by, in this order: open access; the number of fields among {abstract, date, venue, doi}
       in its publisher record; the latest first-seen time; the smallest SHA-1.
    2. Values of its publisher record are canonical.
    3. The other fields are decided by support. Each source has one vote, from its latest record with the field. `support`
       determines whether votes support similar values (SPEC §5.8) or only equal values (S2ORC §2.3).
       Ties: fewest distinct sources over all fields, then trust.
       Fields of study that OpenAlex's model assigns count only if no source declares any. The primary field, the first, is the
       one that most sources name; in a tie, the first of the most trusted source (SPEC §5.14).
    4. Records of PDFs vote on a field only if no other record has a value for it. For title and authors, ScienceParse
       outranks the extractor. An abstract never comes from a closed PDF.
    """
    members = sorted(records, key=lambda delivered: delivered.record.record_id)
    rank = make_rank(trust)
    pdf_data = {sha1: (pdfs or {}).get(sha1, Pdf()) for sha1 in _list_pdfs(members)}
    cluster = [delivered.record for delivered in members]
    open_of = {
        sha1: decide_openness(sha1, cluster, pdf.declarations, is_preprint=is_preprint, all_open=all_open)
        for sha1, pdf in pdf_data.items()
    }
    publishers = {sha1: _find_publisher_record(sha1, pdf, members, rank) for sha1, pdf in pdf_data.items()}
    chosen = _select_canonical_pdf(pdf_data, open_of, publishers)
    publisher = publishers[chosen] if chosen else None

    values: dict[str, Value] = {}
    provenance: dict[str, FieldDecision] = {}
    tied: dict[str, list[_Group]] = {}
    ballots = {name: _group_votes(name, _select_voters(name, members, open_of)) for name in FIELDS}
    for name, groups in ballots.items():
        votes = sum(len(group.votes) for group in groups)
        if publisher is not None and (published := get_value(publisher.record, name)) is not None:
            agreeing = sum(len(group.votes) for group in groups if group.value == to_comparison_form(name, published))
            values[name] = published
            provenance[name] = _make_decision(publisher, VoteRule.PUBLISHER, agreeing, votes - agreeing)
        elif groups:
            best = (
                select_supported(name, groups)
                if support == "similar"
                else [group for group in groups if len(group.votes) == len(groups[0].votes)]
            )
            if len(best) > 1:
                tied[name] = best
                continue
            values[name], supporter = best[0].select_form(rank)
            provenance[name] = _make_decision(
                supporter, VoteRule.MAJORITY, len(best[0].votes), votes - len(best[0].votes)
            )
    used = {decision.source for decision in provenance.values()}
    used |= select_fewest_sources([_list_sources(groups) for groups in tied.values()], used, rank)
    for name, groups in tied.items():
        votes = sum(len(group.votes) for group in ballots[name])
        allowed = sorted(_list_sources(groups) & used, key=rank)
        winner = next(group for group in groups if allowed[0] in group.votes)
        is_settled = sum(1 for group in groups if used.intersection(group.votes)) == 1
        values[name], supporter = winner.select_form(rank, allowed)
        rule = VoteRule.FEWEST_SOURCES if is_settled else VoteRule.TRUST
        provenance[name] = _make_decision(supporter, rule, len(winner.votes), votes - len(winner.votes))
    if "fields_of_study" in values:
        values["fields_of_study"] = put_primary_first(values["fields_of_study"], ballots["fields_of_study"], rank)
    return VotedPaper(
        paper_id,
        {name: values[name] for name in FIELDS if name in values},
        {name: provenance[name] for name in FIELDS if name in provenance},
        chosen,
        open_of[chosen] if chosen else CLOSED,
        open_of,
        tuple(sorted({record.mag_id for record in cluster if record.mag_id})),
        tuple(sorted({subject for record in cluster for subject in record.subjects})),
        tuple(record.record_id for record in cluster),
    )


def put_primary_first(fields: tuple[str, ...], groups: Sequence[_Group], rank: Rank) -> tuple[str, ...]:
    """Return the fields of study with the primary field first: the one that most sources name.

    In a tie it is the first of those in the list of the most trusted source. It is added if the fields do not contain it.
    """
    named = {source: form for group in groups for source, (form, _) in group.votes.items()}
    counts = Counter(field for form in named.values() for field in form)
    most = {field for field, count in counts.items() if count == max(counts.values())}
    primary = next((field for source in sorted(named, key=rank) for field in named[source] if field in most), None)
    return fields if primary is None else (primary, *(field for field in fields if field != primary))


_EPSILON = 1e-9
"""supports with a smaller difference are equal: floating-point sums depend on the order"""


def select_supported(name: str, groups: Sequence[_Group]) -> list[_Group]:
    """Return the groups with the highest support: the sum of all votes' similarities to the group's value."""
    if len(groups) == 1:
        return list(groups)
    support = [
        sum(len(voting.votes) * compute_similarity(name, voting.value, group.value) for voting in groups)
        for group in groups
    ]
    return [group for group, sum_ in zip(groups, support, strict=True) if sum_ > max(support) - _EPSILON]


def get_value(record: Record, name: str) -> Value:
    """Return a record's value of a field, or None."""
    if name == "date":
        return (record.date, record.date_precision) if record.date else None
    if name == "fields_of_study":
        return fields_of_study(record.subjects) or None
    return getattr(record, name) or None


def to_comparison_form(name: str, value: Value) -> Value:
    """Return the comparison form of a value: letters and digits of texts, surnames, the year."""
    match name:
        case "title" | "abstract" | "venue" | "journal":
            return normalise_one(value)
        case "authors":
            return tuple(surname_key(author) for author in value)
        case "date":
            return value[0][:4]
        case "fields_of_study":
            return tuple(sorted(value))
        case _:
            return value


@dataclass(frozen=True)
class _Group:
    """The votes for one value."""

    value: Value  # in comparison form
    votes: Mapping[str, tuple[Value, DeliveredRecord]]  # source → its form of the value, and the record

    def select_form(self, rank: Rank, sources: Collection[str] | None = None) -> tuple[Value, DeliveredRecord]:
        """Return the form to publish, and the record that supports it.

        The form is the most frequent, then the longest, then the most trusted. Only `sources`, if
        given, can support it; a supporter with this form is preferred.
        """
        counts = Counter(form for form, _ in self.votes.values())
        by_trust = sorted(self.votes, key=rank)
        best = min(
            (self.votes[source][0] for source in by_trust), key=lambda form: (-counts[form], -_measure_length(form))
        )
        among = [source for source in by_trust if sources is None or source in sources]
        supporter = min(among, key=lambda source: self.votes[source][0] != best)
        return best, self.votes[supporter][1]


def _group_votes(name: str, voters: Iterable[DeliveredRecord]) -> list[_Group]:
    """Return votes grouped by value, sorted by number of votes and value."""
    latest: dict[str, DeliveredRecord] = {}
    for delivered in sorted(voters, key=lambda d: (repr(get_value(d.record, name)), d.record.record_id)):
        before = latest.get(delivered.record.source)
        if before is None or delivered.ready_at > before.ready_at:
            latest[delivered.record.source] = delivered
    groups: dict[Value, dict[str, tuple[Value, DeliveredRecord]]] = {}
    for source, delivered in latest.items():
        form = get_value(delivered.record, name)
        groups.setdefault(to_comparison_form(name, form), {})[source] = (form, delivered)
    return sorted(
        (_Group(value, votes) for value, votes in groups.items()),
        key=lambda group: (-len(group.votes), repr(group.value)),
    )


def _select_voters(
    name: str, members: Sequence[DeliveredRecord], open_of: Mapping[str, Openness]
) -> list[DeliveredRecord]:
    """Return the records that vote on a field (rules 3 and 4)."""
    candidates = [d for d in members if get_value(d.record, name) is not None]
    if name == "fields_of_study" and (declared := [d for d in candidates if d.record.source != OPENALEX]):
        candidates = declared
    if others := [d for d in candidates if d.record.kind is not RecordKind.PDF]:
        return others
    if name in ("title", "authors") and (parsed := [d for d in candidates if d.record.source == SCIENCEPARSE]):
        return parsed
    if name == "abstract":
        candidates = [d for d in candidates if open_of.get(d.record.file_sha1 or "", CLOSED).open]
    return candidates


def _list_pdfs(members: Iterable[DeliveredRecord]) -> list[str]:
    """Return the PDFs of a cluster with an extracted header. PDFs that only a metadata record references may belong elsewhere."""
    extracted = (d.record for d in members if d.record.kind is RecordKind.PDF and d.record.source != SCIENCEPARSE)
    return sorted({record.file_sha1 for record in extracted if record.file_sha1})


def _select_canonical_pdf(
    pdf_data: Mapping[str, Pdf], open_of: Mapping[str, Openness], publishers: Mapping[str, DeliveredRecord | None]
) -> str | None:
    def count_fields(sha1: str) -> int:
        publisher = publishers[sha1]
        return (
            0 if publisher is None else sum(get_value(publisher.record, name) is not None for name in _TIE_BREAK_FIELDS)
        )

    by_sha1 = sorted(pdf_data)
    latest_first = sorted(by_sha1, key=lambda sha1: pdf_data[sha1].first_seen, reverse=True)
    return min(latest_first, key=lambda sha1: (not open_of[sha1].open, -count_fields(sha1)), default=None)


_PRINTED = ("doi", "acl_id", "pmc_id")  # identifiers that a PDF and its publisher record may share


def _find_publisher_record(
    sha1: str, pdf: Pdf, members: Sequence[DeliveredRecord], rank: Rank
) -> DeliveredRecord | None:
    """Return the publisher record of a PDF.

    It references the PDF's SHA-1, or has the id in the PDF's file name. Otherwise it shares an identifier that is printed
    in the PDF or declared by its drop.
    """
    publishers = [d for d in members if d.record.kind is RecordKind.PUBLISHER]
    own = [d.record for d in members if d.record.kind is RecordKind.PDF or d.record.source == DECLARED]
    printed_ids = {
        (name, getattr(r, name)) for r in own if r.file_sha1 == sha1 for name in _PRINTED if getattr(r, name)
    }
    ids_in_names = {i for d in pdf.declarations for i in (acl_id_of_name(d.name), pmc_id_of_name(d.name)) if i}
    found = [
        d for d in publishers if d.record.file_sha1 == sha1 or ids_in_names & {d.record.acl_id, d.record.pmc_id}
    ] or [d for d in publishers if printed_ids & {(name, getattr(d.record, name)) for name in _PRINTED}]
    by_content = sorted(found, key=lambda d: repr(replace(d.record, record_id="")))
    latest_first = sorted(by_content, key=lambda d: d.ready_at, reverse=True)
    return min(latest_first, key=lambda d: rank(d.record.source), default=None)


def _make_decision(supporter: DeliveredRecord, rule: VoteRule, votes_for: int, votes_against: int) -> FieldDecision:
    record = supporter.record
    rule = VoteRule.PDF if record.kind is RecordKind.PDF else rule
    return FieldDecision(record.source, record.record_id, rule, votes_for, votes_against)


def _list_sources(groups: Iterable[_Group]) -> set[str]:
    return {source for group in groups for source in group.votes}


def _measure_length(form: Value) -> int:
    if isinstance(form, str):
        return len(form)
    return sum(len(repr(part)) if isinstance(part, Author) else len(part) for part in form)
