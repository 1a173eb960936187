"""Compare two descriptions of a paper: each fact gives evidence for or against one paper (SPEC §4.7, table of evidence)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from s2corpus.compiled import njit
from s2corpus.titles.facts import NUMERIC
from s2corpus.titles.places import Places, are_meetings_of_one_year, relate, relate_journals, relate_pages
from s2corpus.titles.rules import (
    MIN_WORDS,
    Difference,
    begins_with_number,
    compare_numbers,
    find_missing_part,
    is_generic,
    same_script,
    word_count,
)
from s2corpus.titles.threegrams import normalize_one

MAX_PREPRINT_YEARS = 2
"""Maximum years between a preprint and its published version (SPEC §4)."""
MIN_YEARS_APART = 5
"""Years between two descriptions that hardly any wrong year explains."""
MIN_EVIDENCE = 10
"""Records are one paper if their evidence sums up to this (SPEC §4.7)."""
MIN_LINK_EVIDENCE = 7
"""A link with less has a warning. A reference names a work that exists, and prints fewer facts than a record."""
EVIDENCE: Final = {
    "title": (
        ("equal", 10), ("almost equal", 9), ("similar", 7), ("uninformative, equal authors", 5), ("cut", 4),
        ("uninformative or cut within a word", 2), ("missing or translated", 0), ("different", -9),
    ),
    "number": (("agree", 0), ("on one side", 0), ("part on one side", -8), ("differ", -9)),
    "document": (("agree", 0), ("differ", -20)),
    "authors": (("agree", 4), ("missing on one side", 3), ("missing", 1), ("differ", -4), ("agree by parts", 3)),
    "year": (
        ("equal", 1), ("unknown, or of a preprint", 0),
        ("neighboring in one journal or volume, or of a PDF", -4), ("neighboring", -6), ("2 to 4 apart", -7), ("apart", -9),
    ),
    "place": (("unknown", 0), ("volume or page agrees", 1), ("volume and page, or both pages", 3), ("journal, volume and page agree", 5)),
    "volume": (("agree", 0), ("differ", -4)),
    "page": (("agree", 0), ("differ", -4), ("differ like titles", -8)),
    "issue": (("agree", 0), ("differ", -2), ("differ, few authors or no page", -7)),
    "journal": (("agree", 0), ("differ", -5), ("differ like titles", -8)),
    "identifier": (("not compared", 0), ("equal", 16)),
}  # fmt: skip
"""The evidence of each fact: its possible values and their weights. This is the table of SPEC §4.7."""
_FEW_AUTHORS = 2
"""Maximum number of authors of a column that appears in every issue."""
_FACTS = tuple(EVIDENCE)
_WEIGHTS = [np.array([weight for _, weight in cells], np.int64) for cells in EVIDENCE.values()]
EQUAL, ALMOST, SIMILAR, GENERIC_EQUAL, CUT, WEAK, MISSING, OTHER = range(8)
"""Values of the fact `title`."""
PART, GIVEN_NAME, KINDS = np.uint64(1), np.uint64(3), np.uint64(3)
"""Kinds of names in the low bits of their keys: a part of a compound surname, a given name; 0 is a full surname."""
_MIN_EXCHANGED = 2
"""Minimum number of persons with exchanged names, if one list has only initials."""


@dataclass(frozen=True)
class Descriptions:
    """The compared facts of n descriptions of papers, as columns."""

    trusted: np.ndarray  # bool: delivered or printed by others, not the header of a PDF
    preprint: np.ndarray  # bool: describes a preprint
    little: np.ndarray  # bool: the title is too short or generic to identify a paper
    document: np.ndarray  # uint8: kind of document, 0 for an article; the lowest bit: every description shows it
    year: np.ndarray  # int32, 0 = unknown
    surname_offsets: np.ndarray  # int64, n + 1
    surnames: np.ndarray  # uint64 hashes, ascending within a description; the low bits are the kind of the name
    places: Places
    journals: pa.Array  # string: the distinct names by the codes of `places`


@dataclass(frozen=True, slots=True)
class Comparison:
    """The evidence of n pairs of records."""

    values: np.ndarray
    """int8, facts × n: the value of each fact, by its place in EVIDENCE"""
    located: np.ndarray
    """bool: equal volumes, and first pages that do not differ, or two equal pages"""

    @property
    def weights(self) -> np.ndarray:
        """The weight of each fact (int64, facts × n)."""
        return np.stack([weights[row] for weights, row in zip(_WEIGHTS, self.values, strict=True)])

    @property
    def agrees(self) -> np.ndarray:
        """Whether the evidence suffices (bool)."""
        enough: np.ndarray = self.weights.sum(0) >= MIN_EVIDENCE
        return enough

    def strongest_against(self) -> np.ndarray:
        """Return the fact with the most evidence against (int64 place in EVIDENCE), or −1 if no fact is against."""
        weights = self.weights
        worst = weights.argmin(0)
        return np.where(weights.min(0, initial=0) < 0, worst, -1)

    def codes(self) -> np.ndarray:
        """Return the values of each pair as one number (int64) for `describe`."""
        code = np.zeros(self.values.shape[1], np.int64)
        for row in self.values:
            code = code * 8 + row
        return code


def describe(code: int, needed: int = MIN_EVIDENCE) -> str:
    """Return the evidence of a pair in words, given a number of `Comparison.codes`: "title equal +10, authors differ −4"."""
    parts, total = [], 0
    for fact in reversed(_FACTS):
        code, value = divmod(code, 8)
        name, weight = EVIDENCE[fact][value]
        total += weight
        if weight or fact == "title":
            parts.append(f"{fact} {name} {weight:+d}")
    return f"{', '.join(reversed(parts))}: {total} of {needed}"


def compare_titles(a: str, b: str, *, is_translated: bool = False) -> tuple[int, Difference]:
    """Return the values of the facts `title` and `number` for two titles that are not similar."""
    cut, title = sorted((a, b), key=len)
    compared, longer = normalize_one(cut), normalize_one(title)
    number = compare_numbers(a, b)
    if is_generic(cut):
        return OTHER, number
    if longer.startswith(compared):
        missing = find_missing_part(cut, title)
        number = Difference.PART if begins_with_number(missing or "") else number
        return WEAK if missing is None or word_count(cut) < MIN_WORDS else CUT, number
    if word_count(cut) >= MIN_WORDS and compared in longer:
        return CUT if longer.endswith(compared) else WEAK, number
    return MISSING if is_translated or not same_script(a, b) else OTHER, number


def compare(
    nodes: Descriptions,
    left: np.ndarray,
    right: np.ndarray,
    title: np.ndarray,
    number: np.ndarray | int = 0,
    identifier: np.ndarray | int = 0,
) -> Comparison:
    """Compare pairs of descriptions. `title` is the value of that fact, `number` the `Difference` of titles.

    - Authors agree if at least half of the shorter list of surnames is common.
    - Neighboring years are one apart, unless both journals' names have one year. A PDF may print the year of its submission.
    - A preprint may be MAX_PREPRINT_YEARS earlier or later than its paper.
    - A record of a preprint has another place. Only records of published papers contradict each other's.
    - Issues differ if they are numbers of two volumes, unless titles, volumes and first pages are equal. A column with few authors has
      one title in every issue; an abstract and its paper, with many authors, may have two issues and two pages.
    """
    a, b = nodes.places.take(left), nodes.places.take(right)
    is_preprint = nodes.preprint[left] | nodes.preprint[right]
    volume, page = relate(a.volume, b.volume), relate_pages(a, b)
    is_equal = title == EQUAL
    is_uninformative = is_equal & nodes.little[left]
    shared, full, exchanged = count_common(nodes.surname_offsets, nodes.surnames, left, right)
    sizes = np.diff(np.append(0, np.cumsum(nodes.surnames & 1 == 0))[nodes.surname_offsets])
    shorter, longer = np.minimum(sizes[left], sizes[right]), np.maximum(sizes[left], sizes[right])
    is_half, is_half_by_parts = 2 * full >= shorter, 2 * np.maximum(shared, exchanged) >= shorter
    authors = np.select([longer == 0, shorter == 0, is_half, is_half_by_parts], [2, 1, 0, 4], 3)
    same_authors = (full == longer) & (full == shorter) & (longer > 0)
    years = nodes.year[left], nodes.year[right]
    apart = np.abs(years[0] - years[1])
    near = np.flatnonzero((apart == 1) & (a.journal >= 0) & (b.journal >= 0))
    apart[near[are_meetings_of_one_year(a.journal[near], b.journal[near], nodes.journals)]] = 0
    is_other_form = nodes.preprint[left] != nodes.preprint[right]
    is_unknown = (years[0] == 0) | (years[1] == 0) | (is_other_form & (apart <= MAX_PREPRINT_YEARS) & (apart > 0))
    journal = np.where((a.journal >= 0) & (b.journal >= 0), 1, 0)
    rows = np.flatnonzero((journal > 0) & (a.journal != b.journal))
    journal[rows] = relate_journals(a.journal[rows], b.journal[rows], nodes.journals)
    is_near = (apart == 1) & ~is_other_form
    is_explained = (journal > 0) | (volume > 0) | ~(nodes.trusted[left] & nodes.trusted[right])
    cases = [is_unknown, apart == 0, is_near & is_explained, is_near, apart < MIN_YEARS_APART]
    year = np.select(cases, [1, 0, 2, 3, 4], 5)
    is_placed = (volume > 0) & (page > 0)
    are_pages = (page > 0) & (a.last == b.last) & (a.last > 0) & (volume == 0)
    place = np.select([is_placed & (journal > 0), is_placed | are_pages, (volume > 0) | (page > 0)], [3, 2, 1], 0)
    is_other_journal = (journal == -1) | ((journal == -2) & ~(is_equal | is_placed | are_pages))
    is_numeric = a.issue & b.issue & NUMERIC != 0
    issue = is_numeric & (relate(a.issue, b.issue) < 0) & (volume != 0) & ~(is_equal & is_placed)
    is_column = (longer <= _FEW_AUTHORS) | (a.page == 0) | (b.page == 0)
    documents = nodes.document[left], nodes.document[right]
    both = (documents[0] != 0) & (documents[1] != 0)
    document = (documents[0] ^ documents[1]) >> 1 != 0
    document &= both | ((documents[0] | documents[1]) & 1 != 0)
    title = np.where(is_uninformative, np.where(same_authors, GENERIC_EQUAL, WEAK), title)
    like_titles = np.where(is_equal, 1, 2)
    values = [
        title, np.broadcast_to(number, len(left)), document, authors, year, place, (volume < 0) & ~is_preprint,
        np.where((page < 0) & ~is_preprint, like_titles, 0), np.where(issue & ~is_preprint, np.where(is_column, 2, 1), 0),
        np.where(is_other_journal & ~is_preprint, np.where(is_placed, 1, like_titles), 0), np.broadcast_to(identifier, len(left)),
    ]  # fmt: skip
    return Comparison(np.stack(values).astype(np.int8), ((volume > 0) & (page >= 0)) | are_pages)


@njit(cache=True, nogil=True)
def count_common(offsets: np.ndarray, names: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return three numbers for each pair of records (int64, 3 × n): common persons, those with equal full surnames, with exchanged names.

    Parts of surnames do not match parts. Names are exchanged if the given name of one person is the surname of the other, and vice versa.
    """
    found = np.zeros((3, len(left)), np.int64)
    for k in range(len(left)):
        a, b, end_a, end_b = offsets[left[k]], offsets[right[k]], offsets[left[k] + 1], offsets[right[k] + 1]
        given_a = given_b = exchanged_a = exchanged_b = 0
        while a < end_a or b < end_b:
            key = min(names[a] if a < end_a else names[b], names[b] if b < end_b else names[a]) >> np.uint64(2)
            kinds_a = kinds_b = 0  # bit 0: full, 1: part, 3: given name
            while a < end_a and names[a] >> np.uint64(2) == key:
                kinds_a |= 1 << int(names[a] & KINDS)
                a += 1
            while b < end_b and names[b] >> np.uint64(2) == key:
                kinds_b |= 1 << int(names[b] & KINDS)
                b += 1
            found[0, k] += kinds_a & 3 != 0 and kinds_b & 3 != 0 and (kinds_a | kinds_b) & 1 != 0
            found[1, k] += kinds_a & kinds_b & 1
            given_a, given_b = given_a + (kinds_a >> 3), given_b + (kinds_b >> 3)
            exchanged_a += kinds_a & 8 != 0 and kinds_b & 3 != 0
            exchanged_b += kinds_b & 8 != 0 and kinds_a & 3 != 0
        if given_a and given_b:
            found[2, k] = min(exchanged_a, exchanged_b)
        elif max(exchanged_a, exchanged_b) >= _MIN_EXCHANGED:
            found[2, k] = max(exchanged_a, exchanged_b)
    return found
