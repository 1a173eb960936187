"""Find links to one member of a numbered series if the cited title does not name its number (SPEC §7.8)."""

from __future__ import annotations

import re
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.titles.rules import MIN_WORDS, NUMERALS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_WORD = re.compile(r"[^\W_]+")
_HAS_NUMBER = rf"(?i)\b(?:[0-9]+|{'|'.join(sorted(word for word in NUMERALS if word.isascii()))})\b"
_CANDIDATES = """
SELECT entry, e.title AS cited, c.title, c.paper_id, c.same_volume AND c.same_page AS is_placed
FROM candidates c JOIN entries e USING (entry)
WHERE c.reason IN ('fuzzy', 'prefix') AND regexp_matches(c.title, $number)
QUALIFY count(*) OVER (PARTITION BY entry) > 1
ORDER BY entry, c.paper_id
"""


def find_undecided(connection: DuckDBPyConnection, chosen: pa.Table) -> list[int]:
    """Return the entries whose chosen paper is one of several members of a series, and perhaps not the cited one.

    It is the cited one if the cited title has its number, or if it alone has the cited volume and page. `chosen` has `entry` and
    `paper_id`, the paper of each entry.
    """
    rows = connection.execute(_CANDIDATES, {"number": _HAS_NUMBER}).fetchall()
    some = chosen.filter(pc.is_in(chosen["entry"], pa.array([row[0] for row in rows], pa.int32())))
    papers = dict(zip(some["entry"].to_pylist(), some["paper_id"].to_pylist(), strict=True))
    return [entry for entry, group in groupby(rows, itemgetter(0)) if _is_undecided(list(group), papers.get(entry))]


def _is_undecided(candidates: list[tuple[int, str, str, str, bool]], paper_id: str | None) -> bool:
    title = next((title for _, _, title, id_, _ in candidates if id_ == paper_id), None)
    if title is None or [id_ for *_, id_, is_placed in candidates if is_placed] == [paper_id]:
        return False
    return any(cites_other_member(cited, title, other) for _, cited, other, _, _ in candidates)


def cites_other_member(cited: str, title: str, other: str) -> bool:
    """Return whether two titles are members of one numbered series, and a cited title does not have the number of the first.

    Members have the same beginning of at least three words, then different numbers: "Guideline development: 1. Priorities" and
    "Guideline development: 2. Panels".
    """
    words, others, cited_words = (_WORD.findall(text.casefold()) for text in (title, other, cited))
    place = next((i for i, (a, b) in enumerate(zip(words, others, strict=False)) if a != b), None)
    if place is None or place < MIN_WORDS or not (_is_number(words[place]) and _is_number(others[place])):
        return False
    shared = min(place, len(cited_words))
    return cited_words[:shared] == words[:shared] and cited_words[place : place + 1] != [words[place]]


def _is_number(word: str) -> bool:
    return word.isdecimal() or word in NUMERALS
