"""Determine which records vote on a field of a paper, group their votes by value, and rank the forms of a value (SPEC §5.5–5.10)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal

from s2corpus.papers.openness import CLOSED, Openness
from s2corpus.papers.support import compute_similarity
from s2corpus.sources.record import ARXIV, OPENALEX, SCIENCEPARSE, Record, RecordKind, WorkType
from s2corpus.titles import normalize_one
from s2corpus.titles.facts import same_journal
from s2orc_parse.bibliography.fields_of_study import fields_of_study
from s2orc_parse.bibliography.names import surname_key

FIELDS = (
    "title", "authors", "date", "venue", "journal", "abstract", "volume", "issue", "pages", "doi", "arxiv_id", "pubmed_id",
    "pmc_id", "acl_id", "fields_of_study",
)  # fmt: skip
IDENTIFIERS = ("doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id")
OF_PUBLICATION = ("date", "venue", "journal", "volume", "issue", "pages", "doi")
"""fields in which a preprint and its published paper always differ: a preprint never supplies them for the published paper"""
OF_CONTENT = ("title", "authors", "abstract")
"""fields that a preprint supplies if no record of the published paper has them"""
_FROM_PDF = ("title", "authors")
_TEXTS = ("title", "venue", "journal", "abstract")

Value = Any
"""value of a field: a string, a tuple of authors or strings, or (date, precision) for `date`; None if missing"""
Rank = Callable[[str], tuple[Any, ...]]


class Form(IntEnum):
    """The form of the work that a record describes, best first."""

    PUBLISHED = 1
    UNKNOWN = 2
    PREPRINT = 3


@dataclass(frozen=True, slots=True)
class DeliveredRecord:
    """A record and its `ready_at`. A source votes with its latest record."""

    record: Record
    ready_at: str = ""


def find_form(record: Record, is_preprint: Callable[[str], bool]) -> Form:
    """Return the form of a record by its type, source, kind and identifiers.

    A record of arXiv states the DOI of the published version, so its DOI does not count. A record with an arXiv id and a published
    DOI may mix both forms.
    """
    if record.type is WorkType.PREPRINT or record.source == ARXIV or (record.doi and is_preprint(record.doi)):
        return Form.PREPRINT
    if record.kind is RecordKind.PUBLISHER:
        return Form.PUBLISHED
    if record.arxiv_id:
        return Form.UNKNOWN if record.doi or record.volume or record.pages else Form.PREPRINT
    is_identified = record.doi or record.pubmed_id or record.pmc_id or record.acl_id or record.type
    return Form.PUBLISHED if is_identified else Form.UNKNOWN


@dataclass(frozen=True)
class Electorate:
    """The records of one paper in the order in which a source prefers its records, with their forms."""

    members: Sequence[DeliveredRecord]
    forms: Mapping[str, Form]
    """by record id"""
    has_published: bool
    """whether a record, except records of PDFs, describes the published paper"""

    @staticmethod
    def of(records: Iterable[DeliveredRecord], is_preprint: Callable[[str], bool], *, weigh: bool) -> Electorate:
        """Return the electorate of some records. Without `weigh`, their forms do not count.

        A source prefers its record of the published form, then the latest, then the one with most fields, then the smallest id.
        """
        delivered = sorted(records, key=lambda one: one.record.record_id)
        forms = {
            one.record.record_id: find_form(one.record, is_preprint) if weigh else Form.UNKNOWN for one in delivered
        }
        has_published = any(
            forms[one.record.record_id] is Form.PUBLISHED for one in delivered if one.record.kind is not RecordKind.PDF
        )
        delivered.sort(key=lambda one: -sum(get_value(one.record, name) is not None for name in FIELDS))
        delivered.sort(key=lambda one: one.ready_at, reverse=True)
        delivered.sort(key=lambda one: forms[one.record.record_id])
        return Electorate(delivered, forms, has_published)

    def is_preprint(self, delivered: DeliveredRecord) -> bool:
        """Return whether a record describes a preprint of a paper that another record describes in its published form."""
        return self.has_published and self.forms[delivered.record.record_id] is Form.PREPRINT

    def select_voters(
        self, name: str, open_of: Mapping[str, Openness], pdf_fields: Literal["all", "title_authors"]
    ) -> list[DeliveredRecord]:
        """Return the records that vote on a field (SPEC §5.6, §5.14, §5.23)."""
        candidates = [d for d in self.members if get_value(d.record, name) is not None]
        if name == "fields_of_study" and (declared := [d for d in candidates if d.record.source != OPENALEX]):
            candidates = declared
        others = [d for d in candidates if d.record.kind is not RecordKind.PDF]
        if name in OF_PUBLICATION or name in OF_CONTENT:
            of_paper = [d for d in others if not self.is_preprint(d)]
            if name in OF_PUBLICATION:
                candidates = [d for d in candidates if not self.is_preprint(d)]
            others = of_paper if of_paper or name in OF_PUBLICATION else others
        if name == "date" and (published := [d for d in others if self.forms[d.record.record_id] is Form.PUBLISHED]):
            return published
        if others:
            return others
        if pdf_fields == "title_authors" and name not in _FROM_PDF:
            return []
        if name in _FROM_PDF and (parsed := [d for d in candidates if d.record.source == SCIENCEPARSE]):
            return parsed
        if name == "abstract":
            candidates = [d for d in candidates if open_of.get(d.record.file_sha1 or "", CLOSED).open]
        return candidates


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
            return normalize_one(value)
        case "authors":
            return tuple(surname_key(author) for author in value)
        case "date":
            return value[0][:4]
        case "fields_of_study":
            return tuple(sorted(value))
        case _:
            return value


@dataclass(frozen=True)
class Group:
    """The votes for one value."""

    value: Value  # in comparison form
    votes: Mapping[str, tuple[Value, DeliveredRecord]]  # source → its form of the value, and the record

    def list_supporters(self, name: str) -> list[str]:
        """Return the sources with the best form of the value (SPEC §5.9).

        For a text, it is a form in proper case, then the words of most sources, then a publisher's form, then the form of most
        sources. For authors, it is the form with most names in proper case, then most first names, then as for a text. For other
        values it is the form of most sources, then the fullest.
        """
        if len(self.votes) == 1:
            return list(self.votes)
        exact = Counter(form for form, _ in self.votes.values())
        words = {form: _list_words(form) for form in exact} if name in _TEXTS else {}
        same_words = Counter(words[form] for form, _ in self.votes.values()) if words else Counter()
        cases = {form: rate_case(name, form) for form in exact}

        def rate(form: Value, is_archive: bool) -> tuple[int, ...]:
            if name in _TEXTS:
                return cases[form], -same_words[words[form]], is_archive, -exact[form]
            if name == "authors":
                first_names = sum(len(author.first.rstrip(".")) > 1 for author in form)
                details = sum(len(author.affiliations) + bool(author.orcid) for author in form)
                return cases[form], -first_names, is_archive, -exact[form], -details
            return -exact[form], -sum(map(len, form))

        ratings = {
            source: rate(form, delivered.record.kind is not RecordKind.PUBLISHER)
            for source, (form, delivered) in self.votes.items()
        }
        best = min(ratings.values())
        return [source for source, rating in ratings.items() if rating == best]


def group_votes(name: str, voters: Iterable[DeliveredRecord]) -> list[Group]:
    """Return votes grouped by value, sorted by number of votes and value. A source votes with the first of its records."""
    groups: dict[Value, dict[str, tuple[Value, DeliveredRecord]]] = {}
    voted = set()
    for delivered in voters:
        if (source := delivered.record.source) not in voted:
            voted.add(source)
            form = get_value(delivered.record, name)
            groups.setdefault(to_comparison_form(name, form), {})[source] = (form, delivered)
    return sorted(
        (Group(value, votes) for value, votes in groups.items()),
        key=lambda group: (-len(group.votes), repr(group.value)),
    )


_EPSILON = 1e-9
"""supports with a smaller difference are equal: floating-point sums depend on the order"""


def select_supported(name: str, groups: Sequence[Group], support: Literal["similar", "equal"]) -> list[Group]:
    """Return the groups with the highest support: the sum of all votes' similarities to the group's value, or its votes only."""
    if len(groups) == 1 or support == "equal":
        return [group for group in groups if len(group.votes) == len(groups[0].votes)]
    sums = [
        sum(len(voting.votes) * compute_similarity(name, voting.value, group.value) for voting in groups)
        for group in groups
    ]
    return [group for group, sum_ in zip(groups, sums, strict=True) if sum_ > max(sums) - _EPSILON]


def is_contradicted(name: str, published: Value, source: str, groups: Sequence[Group]) -> bool:
    """Return whether a publisher's value loses: two or more other sources all have one other value, or words that differ.

    A cut text, a shorter list of authors and an abbreviated journal do not contradict. A value in capitals also loses if another
    source has it in proper case. The publisher always decides the identifiers.
    """
    if name in IDENTIFIERS:
        return False
    compared = to_comparison_form(name, published)
    others = [(group.value, form) for group in groups for voter, (form, _) in group.votes.items() if voter != source]
    case = rate_case(name, published)
    if case and any(value == compared and rate_case(name, form) < case for value, form in others):
        return True
    if len(others) < 2 or len({value for value, _ in others}) > 1:
        return False
    value, form = others[0]
    if value == compared:
        words = {_list_words(form) for _, form in others} if name in _TEXTS else set()
        return len(words) == 1 and words != {_list_words(published)}
    if name in ("venue", "journal") and same_journal(form, published):
        return False
    return name == "date" or compared[: len(value)] != value


def rate_case(name: str, form: Value) -> int:
    """Return 0 for proper case, 1 for a title without capitals, 2 for a text in capitals; for authors, the number in capitals."""
    if name == "authors":
        return sum(_is_shouted(author.last) for author in form)
    if name not in _TEXTS:
        return 0
    letters = "".join(filter(str.isalpha, form))
    upper = sum(map(str.isupper, letters))
    if upper >= 0.8 * len(letters):
        words = re.findall(r"[^\W\d_]+", form)
        if len(words) > 2 or max(map(len, words), default=0) > 5:
            return 2
    return int(not upper and form.upper() != form)


def _is_shouted(name: str) -> bool:
    return len(name) > 1 and name.isupper() and name != name.lower()


def _list_words(text: str) -> tuple[str, ...]:
    return tuple(re.sub(r"[^\w\s]|_", "", text.casefold()).split())
