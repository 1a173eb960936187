"""Compare places in print: journals, volumes, issues and first pages (SPEC §4)."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.titles.facts import ELECTRONIC, NUMERIC, journal_words, mark_keys, number_keys, same_journal


@dataclass(frozen=True, slots=True)
class Places:
    """Places in print of n records: volume, issue and first page as hashes, last page, journal as code (−1 if missing)."""

    volume: np.ndarray  # uint32
    issue: np.ndarray  # uint32
    page: np.ndarray  # uint32
    last: np.ndarray  # int64, of several pages; 0 if missing, negative if the first page is 1
    journal: np.ndarray  # int32 code of a name

    def take(self, rows: np.ndarray) -> Places:
        """Return the places of some rows."""
        return Places(*(getattr(self, field)[rows] for field in self.__slots__))


_MEETING = re.compile(r"(?i)\b(conf(erence)?|symp(osium)?|workshops?|congress|meeting|lecture notes|(19|20)\d\d)\b")
"""Names of proceedings: those of one meeting have many forms."""
_YEAR = r"^(?:[^0-9]|[0-9]{1,3}[^0-9])*(?P<year>(?:19|20)[0-9]{2})(?:[^0-9].*)?$"
"""the first year in a name"""


def relate(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return 1 for equal hashes, −1 for different hashes, 0 if one is missing."""
    return np.where((x == 0) | (y == 0), 0, np.where(x == y, 1, -1))


def relate_pages(a: Places, b: Places) -> np.ndarray:
    """Return 1 for equal first pages, −1 for different first pages, 0 if one is missing, or only one is an article number.

    Two ranges with one last page share two pages, even with different first pages: they agree.
    """
    page = relate(a.page, b.page)
    page[(page < 0) & ((a.page ^ b.page) & ELECTRONIC != 0)] = 0
    page[(page < 0) & (np.abs(a.last) == np.abs(b.last)) & (a.last != 0)] = 1
    return page


def issues(column: pa.Array) -> np.ndarray:
    """Return the keys of issues, with the bit NUMERIC set exactly if the issue has a number."""
    return mark_keys(column, number_keys(column), r"[0-9]", NUMERIC)


def relate_journals(a: np.ndarray, b: np.ndarray, journals: pa.Array) -> np.ndarray:
    """Return 1 for pairs of codes of one journal (int64), −1 for other names, −2 for those of meetings. A name without words may be any."""
    if not len(a):
        return np.zeros(0, np.int64)
    pairs, which = np.unique(np.stack([a, b]), axis=1, return_inverse=True)
    names = zip(*(journals.take(pa.array(side)).to_pylist() for side in pairs), strict=True)
    return np.array([_relate_names(*pair) for pair in names])[which.ravel()]


def are_meetings_of_one_year(a: np.ndarray, b: np.ndarray, journals: pa.Array) -> np.ndarray:
    """Return which pairs of codes are names with one and the same year (bool): "2016 8th Conference (ECAI)" and "… ECAI 2016"."""
    years = [
        np.asarray(pc.fill_null(pc.struct_field(pc.extract_regex(journals.take(pa.array(side)), _YEAR), "year"), ""))
        for side in (a, b)
    ]
    return np.asarray((years[0] == years[1]) & (years[0] != ""))


def _relate_names(a: str, b: str) -> int:
    if not (journal_words(a) and journal_words(b)) or same_journal(a, b):
        return 1
    return -2 if _MEETING.search(a) and _MEETING.search(b) else -1
