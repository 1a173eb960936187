"""Determine the canonical metadata of a paper by a vote of its records (S2ORC §2.3, GORC App. B)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from s2corpus.papers.ballots import (
    FIELDS,
    OF_CONTENT,
    OF_PUBLICATION,
    DeliveredRecord,
    Electorate,
    Form,
    Group,
    Rank,
    Value,
    get_value,
    group_votes,
    is_contradicted,
    select_supported,
    to_comparison_form,
)
from s2corpus.papers.corrections import SOURCE, Corrections, parse_value
from s2corpus.papers.evidence import Declaration
from s2corpus.papers.file_names import acl_id_of_name, pmc_id_of_name
from s2corpus.papers.openness import CLOSED, Openness, decide_openness
from s2corpus.papers.support import select_fewest_sources
from s2corpus.rules import VoteRules
from s2corpus.sources.record import ARXIV, DECLARED, SCIENCEPARSE, RecordKind
from s2orc_parse.outcomes import Outcome, Word

# the number of these fields in a publisher record breaks ties between PDFs
_TIE_BREAK_FIELDS = ("abstract", "date", "venue", "doi")


class VoteRule(Outcome):
    """The rule that decided a field's value."""

    PUBLISHER = Word("publisher", "from the publisher record of the canonical PDF (§5.4)")
    MAJORITY = Word("majority", "the value with most support (§5.5)")
    FEWEST_SOURCES = Word("tie:fewest_sources", "of several values with equal support: the fewest sources (§5.10)")
    TRUST = Word("tie:trust", "the same: the order of sources in `vote.trust` (§5.10)", "change `vote.trust`")
    PREPRINT = Word("preprint", "no record of the published paper has a value")
    PDF = Word("pdf", "only headers of PDFs have a value", "deliver metadata")
    INFERRED = Word(
        "inferred", "fields of study: from the other papers of the journal", "`vote.infer_fields: false` infers none"
    )
    CORRECTION = Word("correction", "an operator corrected the field (§5.25)")


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


@dataclass(frozen=True, slots=True)
class Preprint:
    """A preprint of the paper that does not supply its identifiers and date."""

    doi: str | None
    arxiv_id: str | None
    date: str | None


@dataclass(frozen=True)
class VotedPaper:
    """A paper's canonical metadata, and the source of each field."""

    paper_id: str
    values: Mapping[str, Value]  # fields that a record has
    provenance: Mapping[str, FieldDecision]  # the same fields
    canonical_pdf: str | None
    openness: Openness  # of the canonical PDF
    access: Mapping[str, Openness]  # of each PDF of the paper, by SHA-1
    preprints: tuple[Preprint, ...]
    mag_ids: tuple[str, ...]
    issns: tuple[str, ...]
    subjects: tuple[str, ...]
    record_ids: tuple[str, ...]


def make_rank(trust: Sequence[str], publishers: Iterable[str] = (), first: str | None = None) -> Rank:
    """Return a sort key for sources: `first`, then publishers, then the others, each by trust; unlisted sources follow by name.

    A source that `trust` repeats has its first place.
    """
    ranks = {source: rank for rank, source in reversed([*enumerate(trust)])}
    before = frozenset(publishers)
    return lambda source: (source != first, source not in before, ranks.get(source, len(ranks)), source)


def elect_metadata(
    paper_id: str,
    records: Iterable[DeliveredRecord],
    rules: VoteRules,
    *,
    pdfs: Mapping[str, Pdf] | None = None,
    all_open: bool = False,
    is_preprint: Callable[[str], bool] = lambda doi: False,
    corrections: Corrections | None = None,
) -> VotedPaper:
    """Determine the canonical metadata of one cluster. The order of records does not matter. Corrected fields are not put to the vote.

    `pdfs` contains data about PDFs by SHA-1. With `all_open` (profile `own`), every PDF is open unless it is declared closed, and
    declared metadata win every tie. `is_preprint` recognizes DOIs of preprint servers.

    1. The canonical PDF is chosen by, in this order: open access; the number of fields among {abstract, date, venue, doi}
       in its publisher record; the latest first-seen time; the smallest SHA-1.
    2. Values of its publisher record are canonical, unless all other sources contradict them (`vote.records`).
    3. The other fields are decided by support. Each source has one vote (`Electorate`). `vote.support` determines whether votes
       support similar values (SPEC §5.8) or only equal values (S2ORC §2.3).
    4. Of the sources that support the decided values, and of tied values, the fewest are chosen over all fields; in a tie,
       publishers come before the others, then trust decides.
    5. Records of preprints vote on a paper with a record of its published form only if they alone have its title, authors or
       abstract. Fields of study that OpenAlex's model assigns count only if no source declares any. Records of PDFs vote on a
       field only if no other record has a value for it; an abstract never comes from a closed PDF.
    """
    corrections = Corrections() if corrections is None else corrections
    electorate = Electorate.of(records, is_preprint, weigh=rules.records == "weighed")
    members = electorate.members
    publishing = {d.record.source for d in members if d.record.kind is RecordKind.PUBLISHER}
    rank = make_rank(rules.trust, publishing, DECLARED if all_open else None)
    pdf_data = {sha1: (pdfs or {}).get(sha1, Pdf()) for sha1 in _list_pdfs(members)}
    cluster = sorted((delivered.record for delivered in members), key=lambda record: record.record_id)
    open_of = {}
    for sha1, pdf in pdf_data.items():
        stated = decide_openness(
            sha1, cluster, pdf.declarations, is_preprint=is_preprint, all_open=all_open, unit=rules.openness
        )
        open_of[sha1] = corrections.correct_rights(paper_id, sha1, stated)
    publishers = {sha1: _find_publisher_record(sha1, pdf, electorate, rank) for sha1, pdf in pdf_data.items()}
    chosen = _select_canonical_pdf(pdf_data, open_of, publishers)
    publisher = publishers[chosen] if chosen else None

    values: dict[str, Value] = {}
    provenance: dict[str, FieldDecision] = {}
    best: dict[str, list[tuple[Group, list[str]]]] = {}  # the supported groups, and their sources with the best form
    ballots = {name: group_votes(name, electorate.select_voters(name, open_of, rules.pdf_fields)) for name in FIELDS}
    corrected = corrections.find(paper_id)
    for name, groups in ballots.items():
        published = _get_published(name, publisher, electorate)
        if line := corrected.get(name):
            values[name] = parse_value(name, line.value)
            votes = _count_votes(groups, to_comparison_form(name, values[name]))
            provenance[name] = FieldDecision(SOURCE, line.record_id, VoteRule.CORRECTION, *votes)
        elif (
            publisher is not None
            and published is not None
            and (rules.records == "equal" or not is_contradicted(name, published, publisher.record.source, groups))
        ):
            values[name] = published
            votes = _count_votes(groups, to_comparison_form(name, published))
            provenance[name] = _make_decision(publisher, VoteRule.PUBLISHER, *votes)
        elif groups:
            supported = select_supported(name, groups, rules.support)
            best[name] = [(group, group.list_supporters(name)) for group in supported]
    used = {decision.source for decision in provenance.values()} - {SOURCE}
    used |= select_fewest_sources([{s for _, some in groups for s in some} for groups in best.values()], used, rank)
    for name, candidates in best.items():
        allowed = {source: group for group, sources in candidates for source in sources if source in used}
        source = min(allowed, key=rank)
        values[name], supporter = allowed[source].votes[source]
        rule = VoteRule.MAJORITY
        if len(candidates) > 1:
            is_settled = len({group.value for group in allowed.values()}) == 1
            rule = VoteRule.FEWEST_SOURCES if is_settled else VoteRule.TRUST
        elif name in OF_CONTENT and electorate.is_preprint(supporter):
            rule = VoteRule.PREPRINT
        votes_for = len(allowed[source].votes)
        against = sum(len(group.votes) for group in ballots[name]) - votes_for
        provenance[name] = _make_decision(supporter, rule, votes_for, against)
    if "fields_of_study" in values:
        values["fields_of_study"] = put_primary_first(values["fields_of_study"], ballots["fields_of_study"], rank)
    return VotedPaper(
        paper_id,
        {name: values[name] for name in FIELDS if name in values},
        {name: provenance[name] for name in FIELDS if name in provenance},
        chosen,
        open_of[chosen] if chosen else CLOSED,
        open_of,
        _list_preprints(electorate, values.get("doi")),
        tuple(sorted({record.mag_id for record in cluster if record.mag_id})),
        tuple(sorted({issn for record in cluster for issn in record.issns})),
        tuple(sorted({subject for record in cluster for subject in record.subjects})),
        tuple(record.record_id for record in cluster),
    )


def _count_votes(groups: Iterable[Group], value: Value) -> tuple[int, int]:
    """Return the number of votes for a value in comparison form, and against it."""
    counts = [(len(group.votes), group.value == value) for group in groups]
    return sum(n for n, agrees in counts if agrees), sum(n for n, agrees in counts if not agrees)


def _get_published(name: str, publisher: DeliveredRecord | None, electorate: Electorate) -> Value:
    """Return the publisher record's value of a field, or None if the record describes only a preprint of the published paper."""
    if publisher is None or (name in OF_PUBLICATION + OF_CONTENT and electorate.is_preprint(publisher)):
        return None
    return get_value(publisher.record, name)


def _list_preprints(electorate: Electorate, doi: str | None) -> tuple[Preprint, ...]:
    """Return the preprints of a paper, except those with its own DOI, by identifier."""
    found: dict[tuple[str, str], Preprint] = {}
    for delivered in electorate.members:
        record = delivered.record
        if record.kind is not RecordKind.PDF and electorate.forms[record.record_id] is Form.PREPRINT:
            # A record of arXiv states the DOI of the published version.
            own = record.doi if record.source != ARXIV and record.doi != doi else None
            if own or (electorate.has_published and record.arxiv_id):
                key = own or "", record.arxiv_id or ""
                found.setdefault(key, Preprint(own, record.arxiv_id, record.date))
    return tuple(preprint for _, preprint in sorted(found.items()))


def put_primary_first(fields: tuple[str, ...], groups: Sequence[Group], rank: Rank) -> tuple[str, ...]:
    """Return the fields of study with the primary field first: the one that most sources name.

    In a tie it is the first of those in the list of the most trusted source. It is added if the fields do not contain it.
    """
    named = {source: form for group in groups for source, (form, _) in group.votes.items()}
    counts = Counter(field for form in named.values() for field in form)
    most = {field for field, count in counts.items() if count == max(counts.values())}
    primary = next((field for source in sorted(named, key=rank) for field in named[source] if field in most), None)
    return fields if primary is None else (primary, *(field for field in fields if field != primary))


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


def _find_publisher_record(sha1: str, pdf: Pdf, electorate: Electorate, rank: Rank) -> DeliveredRecord | None:
    """Return the publisher record of a PDF.

    It references the PDF's SHA-1, or has the id in the PDF's file name. Otherwise it shares an identifier that is printed
    in the PDF or declared by its drop.
    """
    members = electorate.members
    publishers = [d for d in members if d.record.kind is RecordKind.PUBLISHER]
    own = [d.record for d in members if d.record.kind is RecordKind.PDF or d.record.source == DECLARED]
    printed_ids = {
        (name, getattr(r, name)) for r in own if r.file_sha1 == sha1 for name in _PRINTED if getattr(r, name)
    }
    ids_in_names = {i for d in pdf.declarations for i in (acl_id_of_name(d.name), pmc_id_of_name(d.name)) if i}
    found = [
        d for d in publishers if d.record.file_sha1 == sha1 or ids_in_names & {d.record.acl_id, d.record.pmc_id}
    ] or [d for d in publishers if printed_ids & {(name, getattr(d.record, name)) for name in _PRINTED}]
    return min(found, key=lambda d: (electorate.is_preprint(d), rank(d.record.source)), default=None)


def _make_decision(supporter: DeliveredRecord, rule: VoteRule, votes_for: int, votes_against: int) -> FieldDecision:
    record = supporter.record
    rule = VoteRule.PDF if record.kind is RecordKind.PDF else rule
    return FieldDecision(record.source, record.record_id, rule, votes_for, votes_against)
