"""Canonical metadata of a paper by vote over its records (S2ORC §2.3, GORC App. B)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from s2corpus.papers.fewest import fewest_sources
from s2corpus.papers.openness import CLOSED, Declaration, Openness, openness
from s2corpus.papers.support import similarity
from s2corpus.sources.fields_of_study import fields_of_study
from s2corpus.sources.record import DECLARED, OPENALEX, SCIENCEPARSE, Kind, Record
from s2corpus.titles import normalise_one
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.identifiers import acl_id_of_name, pmc_id_of_name
from s2orc_parse.bibliography.names import surname_key

FIELDS = (
    "title", "authors", "date", "venue", "journal", "abstract", "volume", "issue", "pages", "doi", "arxiv_id", "pubmed_id",
    "pmc_id", "acl_id", "fields_of_study",
)  # fmt: skip
_TELLING = ("abstract", "date", "venue", "doi")  # how many of these a publisher record has breaks ties between PDFs

Value = Any
"""Of one field: a string, a tuple of authors, a tuple of strings; of `date` (date, precision). Absent: None."""
Rank = Callable[[str], tuple[int, str]]


class Rule(StrEnum):
    """How a field's value was decided."""

    PUBLISHER = "publisher"  # the canonical PDF's publisher record has it
    MAJORITY = "majority"
    FEWEST_SOURCES = "tie:fewest_sources"
    TRUST = "tie:trust"
    PDF = "pdf"  # only PDFs' own headers have it


@dataclass(frozen=True, slots=True)
class Delivered:
    """A record and when it was ready: a source's vote is its latest."""

    record: Record
    ready_at: str = ""


@dataclass(frozen=True, slots=True)
class Pdf:
    """What is known of a PDF besides records."""

    first_seen: str = ""
    declarations: tuple[Declaration, ...] = ()  # one for each place it was delivered to


@dataclass(frozen=True, slots=True)
class Decision:
    """Who decided a field, and how."""

    source: str
    record_id: str
    rule: Rule
    votes_for: int
    votes_against: int


@dataclass(frozen=True)
class Paper:
    """A paper's canonical metadata, and where each field comes from."""

    paper_id: str
    values: Mapping[str, Value]  # the fields that a record has
    provenance: Mapping[str, Decision]  # the same fields
    canonical_pdf: str | None
    openness: Openness  # of the canonical PDF
    access: Mapping[str, Openness]  # of each of its PDFs, by SHA-1
    mag_ids: tuple[str, ...]
    subjects: tuple[str, ...]
    record_ids: tuple[str, ...]


def rank_of(trust: Sequence[str]) -> Rank:
    """Sources in order of trust, then those not listed, by name."""
    ranks = {source: rank for rank, source in enumerate(trust)}
    return lambda source: (ranks.get(source, len(ranks)), source)


def canonical(
    paper_id: str,
    records: Iterable[Delivered],
    *,
    trust: Sequence[str] = (),
    pdfs: Mapping[str, Pdf] | None = None,
    all_open: bool = False,
    is_preprint: Callable[[str], bool] = lambda doi: False,
    support: Literal["similar", "equal"] = "similar",
) -> Paper:
    """Canonical metadata of one cluster. The order of records does not matter.

    `pdfs` says what is known of PDFs by SHA-1; `all_open` counts every PDF not declared closed as open (profile `own`);
    `is_preprint` recognises the DOIs of preprint servers.

    1. Canonical PDF: open access first, then most of {abstract, date, venue, doi} in its publisher record, then latest first
       seen, then smallest SHA-1.
    2. What its publisher record says is canonical.
    3. The rest by support, one vote a source: that of its latest record that has the field. `support` says whether votes count for what
       is similar to them (SEMANTICS §5) or only for what is equal (S2ORC §2.3). PDFs' headers only where no other
       record has it. Ties: fewest distinct sources over all fields, then trust.
       Fields of study that OpenAlex's model assigns count only where no source declares any. The primary field, the first, is
       the one that most sources name; in a tie, the first of the most trusted source (SPEC §5.14).
    4. Records of PDFs vote on a field only if no other record has a value for it. For title and authors, ScienceParse outranks the
       extractor. An abstract never comes from a PDF that is not open.
    """
    members = sorted(records, key=lambda delivered: delivered.record.record_id)
    rank = rank_of(trust)
    known = {sha1: (pdfs or {}).get(sha1, Pdf()) for sha1 in _pdfs_of(members)}
    cluster = [delivered.record for delivered in members]
    open_of = {
        sha1: openness(sha1, cluster, pdf.declarations, is_preprint=is_preprint, all_open=all_open)
        for sha1, pdf in known.items()
    }
    publishers = {sha1: _publisher_record(sha1, pdf, members, rank) for sha1, pdf in known.items()}
    chosen = _canonical_pdf(known, open_of, publishers)
    publisher = publishers[chosen] if chosen else None

    values: dict[str, Value] = {}
    provenance: dict[str, Decision] = {}
    tied: dict[str, list[_Group]] = {}
    ballots = {name: _groups(name, _voters(name, members, open_of)) for name in FIELDS}
    for name, groups in ballots.items():
        votes = sum(len(group.votes) for group in groups)
        if publisher is not None and (said := value_of(publisher.record, name)) is not None:
            agreeing = sum(len(group.votes) for group in groups if group.value == normalised(name, said))
            values[name] = said
            provenance[name] = _decision(publisher, Rule.PUBLISHER, agreeing, votes - agreeing)
        elif groups:
            best = [group for group in groups if len(group.votes) == len(groups[0].votes)]
            if support == "similar":
                best = most_supported(name, groups)
            if len(best) > 1:
                tied[name] = best
                continue
            values[name], supporter = best[0].form(rank)
            provenance[name] = _decision(supporter, Rule.MAJORITY, len(best[0].votes), votes - len(best[0].votes))
    used = {decision.source for decision in provenance.values()}
    used |= fewest_sources([_sources(groups) for groups in tied.values()], used, rank)
    for name, groups in tied.items():
        votes = sum(len(group.votes) for group in ballots[name])
        allowed = sorted(_sources(groups) & used, key=rank)
        winner = next(group for group in groups if allowed[0] in group.votes)
        settled = sum(1 for group in groups if used.intersection(group.votes)) == 1
        values[name], supporter = winner.form(rank, allowed)
        rule = Rule.FEWEST_SOURCES if settled else Rule.TRUST
        provenance[name] = _decision(supporter, rule, len(winner.votes), votes - len(winner.votes))
    if "fields_of_study" in values:
        values["fields_of_study"] = put_primary_first(values["fields_of_study"], ballots["fields_of_study"], rank)
    return Paper(
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


def most_supported(name: str, groups: Sequence[_Group]) -> list[_Group]:
    """The groups whose value has the highest support: the sum over all votes of how similar they are to it."""
    if len(groups) == 1:
        return list(groups)
    support = [
        sum(len(voting.votes) * similarity(name, voting.value, group.value) for voting in groups) for group in groups
    ]
    return [group for group, sum_ in zip(groups, support, strict=True) if sum_ > max(support) - 1e-9]


def value_of(record: Record, name: str) -> Value:
    """What a record says of a field; None if nothing."""
    if name == "date":
        return (record.date, record.date_precision) if record.date else None
    if name == "fields_of_study":
        return fields_of_study(record.subjects) or None
    return getattr(record, name) or None


def normalised(name: str, value: Value) -> Value:
    """What two values of a field must share to be one vote: letters and digits of texts, surnames, the year."""
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

    value: Value  # normalised
    votes: Mapping[str, tuple[Value, Delivered]]  # source → the form it gives, and the record that has it

    def form(self, rank: Rank, sources: Collection[str] | None = None) -> tuple[Value, Delivered]:
        """The most frequent, then the fullest, then the most trusted form; and its most trusted supporter among `sources`."""
        counts = Counter(form for form, _ in self.votes.values())
        by_trust = sorted(self.votes, key=rank)
        best = min((self.votes[source][0] for source in by_trust), key=lambda form: (-counts[form], -_fullness(form)))
        among = [source for source in by_trust if sources is None or source in sources]
        supporter = min(among, key=lambda source: self.votes[source][0] != best)
        return best, self.votes[supporter][1]


def _groups(name: str, voters: Iterable[Delivered]) -> list[_Group]:
    """Votes grouped by value: most votes first, then by value."""
    latest: dict[str, Delivered] = {}
    for delivered in sorted(voters, key=lambda d: (repr(value_of(d.record, name)), d.record.record_id)):
        before = latest.get(delivered.record.source)
        if before is None or delivered.ready_at > before.ready_at:
            latest[delivered.record.source] = delivered
    groups: dict[Value, dict[str, tuple[Value, Delivered]]] = {}
    for source, delivered in latest.items():
        form = value_of(delivered.record, name)
        groups.setdefault(normalised(name, form), {})[source] = (form, delivered)
    return sorted(
        (_Group(value, votes) for value, votes in groups.items()),
        key=lambda group: (-len(group.votes), repr(group.value)),
    )


def _voters(name: str, members: Sequence[Delivered], open_of: Mapping[str, Openness]) -> list[Delivered]:
    """The records that vote on a field (rules 3 and 4)."""
    having = [d for d in members if value_of(d.record, name) is not None]
    if name == "fields_of_study" and (declared := [d for d in having if d.record.source != OPENALEX]):
        having = declared
    if others := [d for d in having if d.record.kind is not Kind.PDF]:
        return others
    if name in ("title", "authors") and (parsed := [d for d in having if d.record.source == SCIENCEPARSE]):
        return parsed
    if name == "abstract":
        having = [d for d in having if open_of.get(d.record.file_sha1 or "", CLOSED).open]
    return having


def _is_extractors(record: Record) -> bool:
    return record.kind is Kind.PDF and record.source != SCIENCEPARSE


def _pdfs_of(members: Iterable[Delivered]) -> list[str]:
    """The PDFs of a cluster: those whose extracted header is in it (a PDF that a record only names may be of another paper)."""
    return sorted({d.record.file_sha1 for d in members if _is_extractors(d.record) and d.record.file_sha1})


def _canonical_pdf(
    known: Mapping[str, Pdf], open_of: Mapping[str, Openness], publishers: Mapping[str, Delivered | None]
) -> str | None:
    def telling(sha1: str) -> int:
        publisher = publishers[sha1]
        return 0 if publisher is None else sum(value_of(publisher.record, name) is not None for name in _TELLING)

    by_sha1 = sorted(known)
    latest_first = sorted(by_sha1, key=lambda sha1: known[sha1].first_seen, reverse=True)
    return min(latest_first, key=lambda sha1: (not open_of[sha1].open, -telling(sha1)), default=None)


_PRINTED = ("doi", "acl_id", "pmc_id")  # what a PDF and its publisher record may share


def _publisher_record(sha1: str, pdf: Pdf, members: Sequence[Delivered], rank: Rank) -> Delivered | None:
    """The publisher record of a PDF: one that names it or whose id it is called by, else one that shares an identifier that it prints or
    its drop declares."""
    publishers = [d for d in members if d.record.kind is Kind.PUBLISHER]
    own = [d.record for d in members if d.record.kind is Kind.PDF or d.record.source == DECLARED]
    printed = {(name, getattr(r, name)) for r in own if r.file_sha1 == sha1 for name in _PRINTED if getattr(r, name)}
    called = {i for d in pdf.declarations for i in (acl_id_of_name(d.name), pmc_id_of_name(d.name)) if i}
    found = [d for d in publishers if d.record.file_sha1 == sha1 or called & {d.record.acl_id, d.record.pmc_id}] or [
        d for d in publishers if printed & {(name, getattr(d.record, name)) for name in _PRINTED}
    ]
    by_content = sorted(found, key=lambda d: repr(replace(d.record, record_id="")))
    latest_first = sorted(by_content, key=lambda d: d.ready_at, reverse=True)
    return min(latest_first, key=lambda d: rank(d.record.source), default=None)


def _decision(supporter: Delivered, rule: Rule, votes_for: int, votes_against: int) -> Decision:
    record = supporter.record
    return Decision(
        record.source, record.record_id, Rule.PDF if record.kind is Kind.PDF else rule, votes_for, votes_against
    )


def _sources(groups: Iterable[_Group]) -> set[str]:
    return {source for group in groups for source in group.votes}


def _fullness(form: Value) -> int:
    if isinstance(form, str):
        return len(form)
    return sum(len(repr(part)) if isinstance(part, Author) else len(part) for part in form)
