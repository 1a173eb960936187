"""Compare places in print: journals, volumes, issues and first pages (SPEC §4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from s2corpus.titles.facts import ELECTRONIC, NUMERIC, journal_words, mark_keys, number_keys, same_journal


@dataclass(frozen=True, slots=True)
class Places:
    """Places in print of n records: volume, issue and first page as hashes, last page (0 if missing), journal as code (−1 if missing)."""

    volume: np.ndarray  # uint32
    issue: np.ndarray  # uint32
    page: np.ndarray  # uint32
    last: np.ndarray  # int64, of several pages
    journal: np.ndarray  # int32 code of a name

    def take(self, rows: np.ndarray) -> Places:
        """Return the places of some rows."""
        return Places(*(getattr(self, field)[rows] for field in self.__slots__))


def relate(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return 1 for equal hashes, −1 for different hashes, 0 if one is missing."""
    return np.where((x == 0) | (y == 0), 0, np.where(x == y, 1, -1))


def relate_pages(a: Places, b: Places) -> np.ndarray:
    """Return 1 for equal first pages, −1 for different ones, 0 if one is missing, or only one is an article number.

    Two ranges with one last page share two pages, whatever their first pages are: they agree.
    """
    page = relate(a.page, b.page)
    page[(page < 0) & ((a.page ^ b.page) & ELECTRONIC != 0)] = 0
    page[(page < 0) & (a.last == b.last) & (a.last != 0)] = 1
    return page


def issues(column: pa.Array) -> np.ndarray:
    """Return the keys of issues, with the bit NUMERIC set exactly if the issue has a number."""
    return mark_keys(column, number_keys(column), r"[0-9]", NUMERIC)


def journals_differ(a: np.ndarray, b: np.ndarray, journals: pa.Array) -> np.ndarray:
    """Return which pairs of codes are names of different journals (bool). A name without words may belong to any."""
    if not len(a):
        return np.zeros(0, bool)
    pairs, which = np.unique(np.stack([a, b]), axis=1, return_inverse=True)
    names = zip(*(journals.take(pa.array(side)).to_pylist() for side in pairs), strict=True)
    return np.array([all(map(journal_words, pair)) and not same_journal(*pair) for pair in names])[which.ravel()]
