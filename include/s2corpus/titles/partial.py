"""Entries whose title is short or cut, or that have none: links by the beginning of a title, and by the place in print (SEMANTICS §7)."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from s2corpus.compiled import njit
from s2corpus.titles.arrays import one_chunk, text_of
from s2corpus.titles.journals import same_journal
from s2corpus.titles.normalised import normalise_one
from s2corpus.titles.rules import is_generic
from s2corpus.titles.targets import PREFIX_BYTES, Facts, partial_keys

_MOST = 256
"""Papers that begin like an entry's title, or stand where it stands, and are looked at; an entry with more does not link."""
_WORD = re.compile(r"\w+|[^\w\s]+")


@dataclass(frozen=True, slots=True)
class PartialLinks:
    """Links found, a value each."""

    entry: np.ndarray
    """row of the entry, ascending"""
    paper: np.ndarray
    """row of the paper in the table given"""
    second: np.ndarray
    """row of another candidate, or -1"""
    prefix: np.ndarray
    """boolean: by the beginning of a title; else by the place"""
    tied: np.ndarray
    """boolean: another candidate agrees as far"""


def partial_keys_of(facts: Facts) -> np.ndarray:
    """The key of each entry that may link so, uint64: of its beginning if it has a title, else of its place; 0 where it may not."""
    begins, places = partial_keys(facts)
    offsets, _ = text_of(facts.normalised)
    keys: np.ndarray = np.where(np.diff(offsets) > 0, begins, places)
    return keys


def link_partial(entries: pa.Table, left: np.ndarray, keys: np.ndarray, papers: pa.Table) -> PartialLinks:
    """Link the entries `left` (rows, ascending) whose `keys` are given, to papers as `Targets.having` gives them.

    A title that a paper's title begins with, up to the end of a word, links if year and surname agree, and neither volume nor first
    page differ; a generic title never. Without a title, journal, volume, first page and year must all be equal. Ties: journal, volume,
    first page, year, surname; then the smallest paper_id, tied.
    """
    theirs = Facts.of(papers)
    begins, places = partial_keys(theirs)
    key = np.concatenate([begins, places])
    order = np.argsort(key, kind="stable")
    low, high = np.searchsorted(key[order], keys, "left"), np.searchsorted(key[order], keys, "right")
    some = np.flatnonzero((keys != 0) & (high > low) & (high - low <= _MOST))
    mine = entries.take(pa.array(left[some]))
    facts = Facts.of(mine)
    pair_entry = np.repeat(np.arange(len(some)), (high - low)[some])
    first = np.repeat(low[some] - np.concatenate([[0], np.cumsum((high - low)[some])[:-1]]), (high - low)[some])
    pair_paper = order[first + np.arange(len(pair_entry))] % len(papers)
    fits = _fits(
        *text_of(facts.normalised), *text_of(theirs.normalised), pair_entry, pair_paper,
        facts.volume, facts.page, theirs.volume, theirs.page,
    )  # fmt: skip
    pair_entry, pair_paper = pair_entry[fits], pair_paper[fits]
    ids, own = one_chunk(papers["paper_id"]), one_chunk(mine["citing_paper_id"])
    has_title = np.diff(text_of(facts.normalised)[0]) > 0
    found: dict[int, list[tuple[int, str, int]]] = {}
    for e, p in zip(pair_entry.tolist(), pair_paper.tolist(), strict=True):
        paper_id = ids[p].as_py()
        if paper_id == own[e].as_py() or not (_begins if has_title[e] else _stands)(mine, e, papers, p):
            continue
        agreed = [
            int(a[e] != 0 and a[e] == b[p])
            for a, b in (
                (facts.journal, theirs.journal), (facts.volume, theirs.volume), (facts.page, theirs.page),
                (facts.year, theirs.year), (facts.surname, theirs.surname),
            )
        ]  # fmt: skip
        found.setdefault(e, []).append((-int("".join(map(str, agreed)), 2), paper_id, p))
    best = [sorted(found[e]) for e in sorted(found)]
    rows = np.array(sorted(found), np.int64)
    return PartialLinks(
        left[some[rows]],
        np.array([candidates[0][2] for candidates in best], np.int64),
        np.array([candidates[1][2] if len(candidates) > 1 else -1 for candidates in best], np.int64),
        has_title[rows],
        np.array([len(c) > 1 and c[0][0] == c[1][0] for c in best], np.bool_),
    )


def _begins(mine: pa.Table, e: int, papers: pa.Table, p: int) -> bool:
    """Whether the entry's title, no generic one, ends where a word of the paper's title ends."""
    title = mine["title"][e].as_py()
    wanted, length = len(normalise_one(title)), 0
    for word in _WORD.findall(papers["title"][p].as_py()):
        length += len(normalise_one(word))
        if length >= wanted:
            return length == wanted and not is_generic(title)
    return False


def _stands(mine: pa.Table, e: int, papers: pa.Table, p: int) -> bool:
    """Whether the journals' names, not only their initials, are of one journal."""
    return same_journal(mine["journal"][e].as_py() or "", papers["journal"][p].as_py() or "")


@njit(cache=True, nogil=True)
def _fits(
    offsets: np.ndarray,
    data: np.ndarray,
    their_offsets: np.ndarray,
    their_data: np.ndarray,
    entry: np.ndarray,
    paper: np.ndarray,
    volume: np.ndarray,
    page: np.ndarray,
    their_volume: np.ndarray,
    their_page: np.ndarray,
) -> np.ndarray:
    """Which pairs are worth a closer look: the paper's title begins with the entry's, and volume and first page do not differ."""
    out = np.zeros(len(entry), np.bool_)
    for pair in range(len(entry)):
        e, p = entry[pair], paper[pair]
        size = offsets[e + 1] - offsets[e]
        if size > their_offsets[p + 1] - their_offsets[p] or 0 < size < PREFIX_BYTES:
            continue
        if volume[e] != 0 and their_volume[p] != 0 and volume[e] != their_volume[p]:
            continue
        if page[e] != 0 and their_page[p] != 0 and page[e] != their_page[p]:
            continue
        same = True
        for k in range(size):
            if data[offsets[e] + k] != their_data[their_offsets[p] + k]:
                same = False
                break
        out[pair] = same
    return out
