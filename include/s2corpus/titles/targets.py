"""The papers an entry may link to: grouped by title and by identifier, each group with its papers in the order of the tie rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.compiled import njit
from s2corpus.titles.arrays import one_chunk, text_of
from s2corpus.titles.equal import EqualStrings, hash_strings
from s2corpus.titles.normalised import normalise
from s2corpus.titles.rules import say_little

IDENTIFIERS = ("doi", "arxiv_id", "pubmed_id", "pmc_id")
"""Columns that name a paper: an entry links to the paper with an equal one (SEMANTICS: Link)."""
NO_YEAR = np.int32(-(1 << 31))
FACTS = pa.schema([("normalised", pa.string()), ("little", pa.bool_()), ("year", pa.int32()), ("surname", pa.uint64())])


def first_surname(authors: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Last name of the first author of each row of an `authors` column (list of structs), its first name if it has no other."""
    authors = one_chunk(authors)
    offsets = authors.offsets.to_numpy()
    some = authors.is_valid().to_numpy(zero_copy_only=False) & (offsets[1:] > offsets[:-1])
    first = authors.values.take(pa.array(offsets[:-1], mask=~some))
    last = first.field("last")
    return pc.if_else(pc.equal(pc.fill_null(last, ""), ""), first.field("first"), last)


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rules look at, a row each."""

    normalised: pa.Array
    little: np.ndarray
    """the title is generic or short, boolean"""
    year: np.ndarray
    """int32, NO_YEAR where unknown"""
    surname: np.ndarray
    """hash of the normalised surname of the first author, uint64, 0 where unknown"""

    @staticmethod
    def of(rows: pa.Table) -> Facts:
        """The facts of rows with `title`, `year` and `surname` (of the first author, as printed), or with `FACTS` themselves."""
        if "normalised" in rows.column_names:
            little = one_chunk(rows["little"]).to_numpy(zero_copy_only=False)
            return Facts(one_chunk(rows["normalised"]), little, rows["year"].to_numpy(), rows["surname"].to_numpy())
        title = one_chunk(rows["title"])
        normalised = normalise(title)
        year = pc.fill_null(rows["year"].cast(pa.int32()), int(NO_YEAR)).to_numpy()
        surname = hash_strings(*text_of(normalise(one_chunk(rows["surname"]))))
        return Facts(normalised, say_little(title, normalised), year, surname)

    def table(self) -> pa.Table:
        """As columns, a schema of FACTS."""
        return pa.table([self.normalised, self.little, self.year, self.surname], schema=FACTS)


@dataclass(frozen=True, slots=True)
class Targets:
    """Papers, and their groups: first those of equal normalised titles, then those of equal identifiers, kind after kind."""

    paper_id: pa.Array
    title: pa.Array
    facts: Facts
    rank: np.ndarray
    """place of each paper in the order of paper ids, int32"""
    papers: EqualStrings
    titles: EqualStrings
    distinct: pa.Array
    """the normalised title of each title group"""
    little: np.ndarray
    """whether a title group holds a title that says little, boolean"""
    identifiers: tuple[EqualStrings, ...]
    single: np.ndarray
    """the paper of a group that has but one, else -1, int32, by group"""
    keys: np.ndarray
    """for groups of several: hashes of (group, year, surname), (group, year), (group, surname), (group), ascending, uint64"""
    rows: np.ndarray
    """the paper of each key, by rank within a key, int32"""

    @staticmethod
    def of(papers: pa.Table) -> Targets:
        """Papers with `paper_id` (unique), `title`, the columns of IDENTIFIERS, and `year` and `surname` or FACTS, in any order."""
        facts = Facts.of(papers)
        paper_id = one_chunk(papers["paper_id"])
        rank = np.asarray(pc.rank(paper_id)).astype(np.int32)
        titles = EqualStrings.of(facts.normalised)
        alone = len(titles) == len(papers)
        distinct = facts.normalised if alone else facts.normalised.take(pa.array(titles.first))
        little = np.zeros(len(titles), np.bool_)
        little[titles.groups[facts.little & (titles.groups >= 0)]] = True
        identifiers = tuple(EqualStrings.of(papers[name]) for name in IDENTIFIERS)
        groups = [titles.groups]
        before = len(titles)
        for kind in identifiers:
            groups.append(np.where(kind.groups < 0, -1, kind.groups + before))
            before += len(kind)
        group = np.concatenate(groups).astype(np.int64)
        row = np.tile(np.arange(len(papers), dtype=np.int32), len(groups))[group >= 0]
        group = group[group >= 0]
        size = np.bincount(group, minlength=before)
        single = np.full(before, -1, np.int32)
        alone = size[group] == 1
        single[group[alone]] = row[alone]
        group, row = group[~alone].astype(np.uint64), row[~alone]
        year, surname = facts.year[row], facts.surname[row]
        dated, named = year != NO_YEAR, surname != 0
        keys, every = [], []
        for mask, with_year, with_surname in (
            (dated & named, True, True),
            (dated, True, False),
            (named, False, True),
            (np.ones(len(row), np.bool_), False, False),
        ):
            keys.append(_keys(group[mask], year[mask], surname[mask], with_year, with_surname))
            every.append(row[mask])
        key, tied = np.concatenate(keys), np.concatenate(every)
        order = np.lexsort((rank[tied], key))
        return Targets(
            paper_id, one_chunk(papers["title"]), facts, rank, EqualStrings.of(paper_id), titles,
            distinct, little, identifiers, single, key[order], tied[order],
        )  # fmt: skip


@njit(cache=True, nogil=True)
def _keys(group: np.ndarray, year: np.ndarray, surname: np.ndarray, with_year: bool, with_surname: bool) -> np.ndarray:
    keys = np.empty(len(group), np.uint64)
    for i in range(len(group)):
        keys[i] = key_of(group[i], year[i], surname[i], with_year, with_surname)
    return keys


@njit(cache=True, nogil=True)
def key_of(group: np.uint64, year: np.int32, surname: np.uint64, with_year: bool, with_surname: bool) -> np.uint64:
    """Hash of a group with a year, a surname, both or none."""
    value = (np.uint64(group) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    if with_year:
        value = (value ^ (value >> np.uint64(31)) ^ np.uint64(np.int64(year) + (1 << 40))) * np.uint64(
            0xBF58476D1CE4E5B9
        )
    value ^= value >> np.uint64(30)
    if with_surname:
        value = (value ^ surname) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(29))
