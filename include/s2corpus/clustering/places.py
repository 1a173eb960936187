"""Compare places in print: journals, volumes, issues and first pages (SPEC §4)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.titles.arrays import hash_distinct
from s2corpus.titles.facts import journal_words, same_journal

_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+")
_PAGE = re.compile(r"^\W*(?:(?:pp?|pages?|art(?:icle)?)\b\W*)?([^\W\d_]{0,4}\.?\s?\d+)", re.IGNORECASE)
NUMERIC = np.uint32(2)
"""Bit of an issue hash that is set if the issue is a number. "12" and "December" do not contradict."""
ELECTRONIC = np.uint32(2)
"""Bit of a first-page hash that is set if the page begins with a letter, like an article number. Exceptions: `p` before a page, and S for
supplements. An article number and a page do not contradict."""


@dataclass(frozen=True, slots=True)
class Places:
    """Places in print of n records: hashes of volume, issue and first page (0 if missing), and codes of journals (−1 if missing)."""

    volume: np.ndarray  # uint32
    issue: np.ndarray  # uint32
    page: np.ndarray  # uint32
    journal: np.ndarray  # int32 code of a name

    def take(self, rows: np.ndarray) -> Places:
        """Return the places of some rows."""
        return Places(self.volume[rows], self.issue[rows], self.page[rows], self.journal[rows])


def numbers(column: pa.Array) -> np.ndarray:
    """Return the hash of the first number of each volume or issue ("58 (Suppl. 6)" → 58), else of its first word, else 0."""
    return _hashes(column, lambda text: _first(_NUMBER, text) or _first(_WORD, text))


def issues(column: pa.Array) -> np.ndarray:
    """Return the hashes of `numbers` for issues, with the bit NUMERIC set exactly if the issue has a number."""
    found = numbers(column)
    if not found.any():
        return found
    numeric = np.asarray(pc.fill_null(pc.match_substring_regex(column, r"[0-9]"), False))
    return np.where(numeric & (found != 0), found | NUMERIC, found & ~NUMERIC)


def first_pages(column: pa.Array) -> np.ndarray:
    """Return the hash of the first page of each range ("S212-S216" → s212, "e01234" → e1234), or 0 without one ("Suppl-29")."""
    found = _hashes(column, lambda text: _first(_PAGE, text))
    if not found.any():
        return found
    lettered = pc.fill_null(pc.match_substring_regex(column, r"^\W*(?:pp?\.|p\b)?\s*[a-oqrt-zA-OQRT-Z]"), False)
    return np.where(np.asarray(lettered) & (found != 0), found | ELECTRONIC, found & ~ELECTRONIC)


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return re.sub(r"(?<!\d)0+(?=\d)|[.\s]", "", match.group(match.lastindex or 0).casefold()) if match else ""


def _hashes(column: pa.Array, read: Callable[[str], str]) -> np.ndarray:
    return hash_distinct(column, lambda distinct: pa.array(map(read, distinct.to_pylist()), pa.string()))


def located(a: Places, b: Places) -> np.ndarray:
    """Return which pairs have equal volumes, and first pages that do not contradict (bool)."""
    same: np.ndarray = (a.volume != 0) & (a.volume == b.volume) & ~_pages_differ(a, b)
    return same


def _pages_differ(a: Places, b: Places) -> np.ndarray:
    differ: np.ndarray = _differ(a.page, b.page) & ((a.page ^ b.page) & ELECTRONIC == 0)
    return differ


def _differ(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return which hashes differ (bool). A missing value differs from none."""
    differ: np.ndarray = (x != 0) & (y != 0) & (x != y)
    return differ


def contradict(
    a: Places, b: Places, journals: pa.Array, exact: np.ndarray, strict: np.ndarray, few_authors: np.ndarray
) -> np.ndarray:
    """Return which pairs of published records with similar titles belong to different papers (bool).

    A pair contradicts

    - if two of journal, volume and first page differ (one alone may differ: an erratum can share the volume with its paper);
    - if titles are not equal (not `exact`), and first pages differ, or journals differ without equal volume and page;
    - if the title is uninformative (`strict`) and any number differs (an editor writes an editorial in every issue);
    - if issues differ, and a first page is missing or authors are few (`few_authors`). A column has one title in every issue; an abstract
      and its paper, with many authors, may have two issues and two pages.
    """
    volume, issue = _differ(a.volume, b.volume), _differ(a.issue, b.issue)
    page, equal = _pages_differ(a, b), (a.volume != 0) & (a.volume == b.volume) & (a.page != 0) & (a.page == b.page)
    in_volumes = (a.volume != 0) & (b.volume != 0)
    other_issue = (
        issue & in_volumes & (a.issue & b.issue & NUMERIC != 0) & (few_authors | (a.page == 0) | (b.page == 0))
    )
    found: np.ndarray = (volume & page) | (page & ~exact) | (strict & (volume | issue | page)) | other_issue
    doubtful = (~exact & ~equal) | volume | page
    rows = np.flatnonzero((a.journal >= 0) & (b.journal >= 0) & (a.journal != b.journal) & doubtful)
    if len(rows):
        pairs, which = np.unique(np.stack([a.journal[rows], b.journal[rows]]), axis=1, return_inverse=True)
        names = [journals.take(pa.array(side)).to_pylist() for side in pairs]
        found[rows] |= np.array([not _may_be_one(*pair) for pair in zip(*names, strict=True)])[which.ravel()]
    return found


def volumes_or_issues_differ(a: Places, b: Places) -> np.ndarray:
    """Return which pairs have different volumes, or different numbers of issues (bool)."""
    is_numeric = a.issue & b.issue & NUMERIC != 0
    differ: np.ndarray = _differ(a.volume, b.volume) | (_differ(a.issue, b.issue) & is_numeric)
    return differ


def _may_be_one(a: str, b: str) -> bool:
    """Return whether two names may belong to one journal; a name without words may belong to any."""
    return not journal_words(a) or not journal_words(b) or same_journal(a, b)
