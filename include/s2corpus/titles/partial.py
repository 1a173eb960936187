"""Entries whose title is short or cut, or that have none: links by the beginning of a title, and by the place in print (SEMANTICS §7)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from s2corpus.compiled import njit
from s2corpus.titles.arrays import one_chunk, read_only, text_of
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


@dataclass(frozen=True, slots=True)
class Sought:
    """Entries that may link so, in order of their keys, which papers pass by."""

    rows: np.ndarray
    """row of each entry"""
    keys: np.ndarray
    """ascending, uint64"""
    starts: np.ndarray
    """first place of the keys whose upper bits are not below these"""
    papers: np.ndarray
    """at the first place of each key: papers with it that passed, int32"""
    facts: Facts
    """of all entries"""

    @staticmethod
    def of(facts: Facts, open_: np.ndarray) -> Sought:
        """Those of the entries that are `open_` (boolean) and have what such links need."""
        keys = partial_keys_of(facts)
        rows = np.flatnonzero((keys != 0) & open_)
        rows = rows[np.argsort(keys[rows], kind="stable")]
        keys = keys[rows]
        bits = np.uint64(len(keys).bit_length())
        starts = np.zeros((1 << int(bits)) + 1, np.int64)
        np.cumsum(
            np.bincount((keys >> np.uint64(64) - bits).astype(np.int64), minlength=1 << int(bits)), out=starts[1:]
        )
        return Sought(rows, keys, starts, np.zeros(len(keys), np.int32), facts)

    def fitting(self, papers: Facts) -> np.ndarray:
        """Which papers, boolean, have the key of an entry and may be it, as `_fits` has it; those with each key are counted."""
        if not len(self.keys):
            return np.zeros(len(papers.year), np.bool_)
        return _fitting(
            *partial_keys(papers), self.keys, self.starts, self.papers, self.rows,
            _compared(self.facts), _compared(papers),
        )  # fmt: skip


def partial_keys_of(facts: Facts) -> np.ndarray:
    """The key of each entry that may link so, uint64: of its beginning if it has a title, else of its place; 0 where it may not."""
    begins, places = partial_keys(facts)
    offsets, _ = text_of(facts.normalised)
    keys: np.ndarray = np.where(np.diff(offsets) > 0, begins, places)
    return keys


def link_partial(entries: pa.Table, sought: Sought, papers: pa.Table) -> PartialLinks:
    """Link the entries that are sought to papers, which are those that were `fitting`, once all of a release have passed.

    A title that a paper's title begins with, up to the end of a word, links if year and surname agree, and neither volume nor first
    page differ; a generic title never. Without a title, journal, volume, first page and year must all be equal. Ties: journal, volume,
    first page, year, surname; then the smallest paper_id, tied.
    """
    facts, theirs = sought.facts, Facts.of(papers)
    key = np.concatenate(partial_keys(theirs))
    order = np.argsort(key, kind="stable")
    low, high = np.searchsorted(key[order], sought.keys, "left"), np.searchsorted(key[order], sought.keys, "right")
    some = np.flatnonzero(high > low)
    some = some[sought.papers[np.searchsorted(sought.keys, sought.keys[some])] <= _MOST]
    times = (high - low)[some]
    pair_entry = np.repeat(sought.rows[some], times)
    first = np.repeat(low[some] - np.concatenate([[0], np.cumsum(times)[:-1]]), times)
    pair_paper = order[first + np.arange(len(pair_entry))] % len(papers)
    fits = _fitting_pairs(_compared(facts), pair_entry, _compared(theirs), pair_paper)
    pair_entry, pair_paper = pair_entry[fits], pair_paper[fits]
    ids, own = one_chunk(papers["paper_id"]), entries["citing_paper_id"]
    has_title = np.diff(text_of(facts.normalised)[0]) > 0
    found: dict[int, list[tuple[int, str, int]]] = {}
    for e, p in zip(pair_entry.tolist(), pair_paper.tolist(), strict=True):
        paper_id = ids[p].as_py()
        if paper_id == own[e].as_py() or not (_begins if has_title[e] else _stands)(entries, e, papers, p):
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
        rows,
        np.array([candidates[0][2] for candidates in best], np.int64),
        np.array([candidates[1][2] if len(candidates) > 1 else -1 for candidates in best], np.int64),
        has_title[rows],
        np.array([len(c) > 1 and c[0][0] == c[1][0] for c in best], np.bool_),
    )


def _begins(entries: pa.Table, e: int, papers: pa.Table, p: int) -> bool:
    """Whether the entry's title, no generic one, ends where a word of the paper's title ends."""
    title = entries["title"][e].as_py()
    wanted, length = len(normalise_one(title)), 0
    for word in _WORD.findall(papers["title"][p].as_py()):
        length += len(normalise_one(word))
        if length >= wanted:
            return length == wanted and not is_generic(title)
    return False


def _stands(entries: pa.Table, e: int, papers: pa.Table, p: int) -> bool:
    """Whether the journals' names, not only their initials, are of one journal."""
    return same_journal(entries["journal"][e].as_py() or "", papers["journal"][p].as_py() or "")


class Compared(NamedTuple):
    """What is compared of entries and papers with one key."""

    offsets: np.ndarray
    data: np.ndarray
    volume: np.ndarray
    page: np.ndarray


def _compared(facts: Facts) -> Compared:
    return Compared(*text_of(facts.normalised), read_only(facts.volume), read_only(facts.page))


@njit(cache=True, nogil=True)
def _fitting(
    begins: np.ndarray,
    places: np.ndarray,
    keys: np.ndarray,
    starts: np.ndarray,
    papers: np.ndarray,
    rows: np.ndarray,
    mine: Compared,
    theirs: Compared,
) -> np.ndarray:
    found = np.zeros(len(begins), np.bool_)
    bits = 0
    while 1 << bits < len(starts) - 1:
        bits += 1
    shift = np.uint64(64 - bits)
    for p in range(len(begins)):
        for key in (begins[p], places[p]):
            if key == 0:
                continue
            at, end = starts[key >> shift], starts[(key >> shift) + np.uint64(1)]
            while at < end and keys[at] < key:
                at += 1
            if at == end or keys[at] != key:
                continue
            papers[at] += 1
            if papers[at] > _MOST:
                continue
            while at < end and keys[at] == key and not found[p]:
                found[p] = _fits(mine, rows[at], theirs, p)
                at += 1
    return found


@njit(cache=True, nogil=True)
def _fitting_pairs(mine: Compared, entry: np.ndarray, theirs: Compared, paper: np.ndarray) -> np.ndarray:
    fits = np.zeros(len(entry), np.bool_)
    for pair in range(len(entry)):
        fits[pair] = _fits(mine, entry[pair], theirs, paper[pair])
    return fits


@njit(cache=True, nogil=True)
def _fits(mine: Compared, e: int, theirs: Compared, p: int) -> bool:
    """Whether a pair is worth a closer look: the paper's title begins with the entry's, and volume and first page do not differ."""
    begin, their_begin = mine.offsets[e], theirs.offsets[p]
    size = mine.offsets[e + 1] - begin
    if size > theirs.offsets[p + 1] - their_begin or 0 < size < PREFIX_BYTES:
        return False
    if mine.volume[e] != 0 and theirs.volume[p] != 0 and mine.volume[e] != theirs.volume[p]:
        return False
    if mine.page[e] != 0 and theirs.page[p] != 0 and mine.page[e] != theirs.page[p]:
        return False
    k = 0
    while k < size and mine.data[begin + k] == theirs.data[their_begin + k]:
        k += 1
    return bool(k == size)
