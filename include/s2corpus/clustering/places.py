"""Where two records say a paper stands in print: journals, volumes, issues and first pages that contradict (SEMANTICS §4, numbers)."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.titles.journals import journal_words, same_journal

_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+")
_PAGE = re.compile(r"^\W*(?:(?:pp?|pages?|art(?:icle)?)\b\W*)?([^\W\d_]{0,4}\.?\s?\d+)", re.IGNORECASE)
NUMERIC = np.uint32(2)
"""of an issue's hash: it is a number; "12" and "December" do not contradict"""
ELECTRONIC = np.uint32(2)
"""of a first page's hash: it has letters (S apart: supplements), as an article's number has. Such a number and a page do not contradict"""


@dataclass(frozen=True, slots=True)
class Places:
    """Of n records, or of one side of n pairs: hashes of volume, issue and first page, 0 = not given, and codes of journals, −1."""

    volume: np.ndarray  # uint32
    issue: np.ndarray  # uint32
    page: np.ndarray  # uint32
    journal: np.ndarray  # int32 code of a name

    def take(self, rows: np.ndarray) -> Places:
        """Those of some rows."""
        return Places(self.volume[rows], self.issue[rows], self.page[rows], self.journal[rows])


def numbers(column: pa.Array) -> np.ndarray:
    """The first number of each volume or issue ("58 (Suppl. 6)" → 58), a word where it has none, as a hash; 0 where it has neither."""
    return _hashes(column, lambda text: _first(_NUMBER, text) or _first(_WORD, text))


def issues(column: pa.Array) -> np.ndarray:
    """Return the hashes of `numbers` for issues, with the bit NUMERIC set exactly if the issue has a number."""
    found = numbers(column)
    if not found.any():
        return found
    numeric = np.asarray(pc.fill_null(pc.match_substring_regex(column, r"[0-9]"), False))
    return np.where(numeric & (found != 0), found | NUMERIC, found & ~NUMERIC)


def first_pages(column: pa.Array) -> np.ndarray:
    """The first page of each range ("S212-S216" → s212, "e01234" → e1234) as a hash; 0 where there is none ("Suppl-29")."""
    found = _hashes(column, lambda text: _first(_PAGE, text))
    if not found.any():
        return found
    lettered = pc.fill_null(pc.match_substring_regex(column, r"^\W*(?:pp?\.|p\b)?\s*[a-oqrt-zA-OQRT-Z]"), False)
    return np.where(np.asarray(lettered) & (found != 0), found | ELECTRONIC, found & ~ELECTRONIC)


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return re.sub(r"(?<!\d)0+(?=\d)|[.\s]", "", match.group(match.lastindex or 0).casefold()) if match else ""


def _hashes(column: pa.Array, read: Callable[[str], str]) -> np.ndarray:
    if column.null_count == len(column):
        return np.zeros(len(column), np.uint32)
    coded = column.dictionary_encode()
    found = [read(text) for text in coded.dictionary.to_pylist()]
    of_code = np.array([zlib.crc32(text.encode()) | 1 if text else 0 for text in found] + [0], np.uint32)
    hashes: np.ndarray = of_code[pc.fill_null(coded.indices, len(found)).to_numpy()]
    return hashes


def located(a: Places, b: Places) -> np.ndarray:
    """Which pairs have equal volumes, and first pages that do not contradict (bool)."""
    same: np.ndarray = (a.volume != 0) & (a.volume == b.volume) & ~_pages_differ(a, b)
    return same


def _pages_differ(a: Places, b: Places) -> np.ndarray:
    of_one_kind = (a.page ^ b.page) & ELECTRONIC == 0
    differ: np.ndarray = (a.page != 0) & (b.page != 0) & (a.page != b.page) & of_one_kind
    return differ


def contradict(
    a: Places, b: Places, journals: pa.Array, exact: np.ndarray, strict: np.ndarray, few_authors: np.ndarray
) -> np.ndarray:
    """Which pairs of records of published papers are of two papers, for all that their titles are similar (bool).

    Two of journal, volume and first page differ (an erratum stands in the same volume); or one of journal and first page where titles
    are not equal (`exact`), journals only if volume and page are not; or any number where the title says little (`strict`): the same
    editor writes an editorial in every issue. So do issues
    that differ if a record has no first page, or if both have few authors (`few_authors`): a column has one title in every issue.
    An abstract and its paper, of many authors, may have two issues and two pages.
    """
    volume, issue = ((x != 0) & (y != 0) & (x != y) for x, y in ((a.volume, b.volume), (a.issue, b.issue)))
    page, equal = _pages_differ(a, b), (a.volume != 0) & (a.volume == b.volume) & (a.page != 0) & (a.page == b.page)
    in_volumes = (a.volume != 0) & (b.volume != 0)
    other_issue = (
        issue & in_volumes & (a.issue & b.issue & NUMERIC != 0) & (few_authors | (a.page == 0) | (b.page == 0))
    )
    found: np.ndarray = (volume & page) | (page & ~exact) | (strict & (volume | issue | page)) | other_issue
    doubtful = (~exact & ~equal) | volume | page
    asked = np.flatnonzero((a.journal >= 0) & (b.journal >= 0) & (a.journal != b.journal) & doubtful)
    if len(asked):
        pairs, which = np.unique(np.stack([a.journal[asked], b.journal[asked]]), axis=1, return_inverse=True)
        names = [journals.take(pa.array(side)).to_pylist() for side in pairs]
        found[asked] |= np.array([not _may_be_one(*pair) for pair in zip(*names, strict=True)])[which.ravel()]
    return found


def volumes_or_issues_differ(a: Places, b: Places) -> np.ndarray:
    """Return which pairs have different volumes, or different numbers of issues (bool)."""
    volume, issue = ((x != 0) & (y != 0) & (x != y) for x, y in ((a.volume, b.volume), (a.issue, b.issue)))
    differ: np.ndarray = volume | (issue & (a.issue & b.issue & NUMERIC != 0))
    return differ


def _may_be_one(a: str, b: str) -> bool:
    """Whether two names may be of one journal; a name without words says nothing."""
    return not journal_words(a) or not journal_words(b) or same_journal(a, b)
