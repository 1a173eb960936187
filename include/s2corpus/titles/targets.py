"""The papers an entry may link to: grouped by title and by identifier, each group with its papers in the order of the tie rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.compiled import njit
from s2corpus.titles.arrays import one_chunk, read_only, text_of
from s2corpus.titles.equal import EqualStrings, Groups, hash_strings
from s2corpus.titles.normalised import normalise
from s2corpus.titles.places import first_numbers, journal_keys
from s2corpus.titles.rules import say_little

IDENTIFIERS = ("doi", "arxiv_id", "pubmed_id", "pmc_id")
"""Columns that name a paper: an entry links to the paper with an equal one (SEMANTICS: Link)."""
NO_YEAR = np.int32(-(1 << 31))
PLACES = ("journal", "volume", "pages")
"""Columns that say where a paper stands in print; optional, as printed."""
FACTS = pa.schema(
    [("normalised", pa.string()), ("little", pa.bool_()), ("year", pa.int32()), ("surname", pa.uint64())]
    + [(name, pa.uint32()) for name in ("journal_key", "volume_key", "page_key")]
)


def first_surname(authors: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Last name of the first author of each row of an `authors` column (list of structs), its first name if it has no other."""
    authors = one_chunk(authors)
    offsets = authors.offsets.to_numpy()
    some = authors.is_valid().to_numpy(zero_copy_only=False) & (offsets[1:] > offsets[:-1])
    first = pa.array(offsets[:-1], mask=~some)
    last = pc.struct_field(authors.values, "last").take(first)
    without = pc.and_(pc.is_valid(first), pc.equal(pc.fill_null(last, ""), ""))
    return pc.replace_with_mask(last, without, pc.struct_field(authors.values, "first").take(first.filter(without)))


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
    journal: np.ndarray
    """hash of what a journal's abbreviations share, uint32, 0 where unknown"""
    volume: np.ndarray
    """hash, uint32, 0 where unknown"""
    page: np.ndarray
    """hash of the first page, uint32, 0 where unknown"""

    @staticmethod
    def of(rows: pa.Table) -> Facts:
        """The facts of rows with `title`, `year`, `surname` (of the first author, as printed) and, where there are any, PLACES; or with
        `FACTS` themselves.
        """  # fmt: skip
        if "normalised" in rows.column_names:
            little = one_chunk(rows["little"]).to_numpy(zero_copy_only=False)
            numbers = [rows[name].to_numpy() for name in FACTS.names[2:]]
            return Facts(one_chunk(rows["normalised"]), little, *numbers)
        normalised = normalise(rows["title"])
        year = pc.fill_null(rows["year"].cast(pa.int32()), int(NO_YEAR)).to_numpy()
        surname = hash_strings(*text_of(normalise(rows["surname"])))
        nothing = pa.nulls(len(rows), pa.string())
        journal, volume, pages = (rows[name] if name in rows.column_names else nothing for name in PLACES)
        place = journal_keys(journal), first_numbers(volume), first_numbers(pages)
        return Facts(normalised, say_little(rows["title"], normalised), year, surname, *place)

    def table(self) -> pa.Table:
        """As columns, a schema of FACTS."""
        columns = [self.normalised, self.little, self.year, self.surname, self.journal, self.volume, self.page]
        return pa.table(columns, schema=FACTS)


@dataclass(frozen=True, slots=True)
class Targets:
    """Papers, and their groups: first those of equal normalised titles, then those of equal identifiers, kind after kind."""

    paper_id: pa.Array
    title: pa.Array
    """as printed, null where it was not given"""
    journal: pa.Array
    """as printed"""
    facts: Facts
    rank: np.ndarray
    """place of each paper in the order of paper ids, int32"""
    id_hash: np.ndarray
    """`hash_strings` of the paper ids, uint64: which paper is the citing one"""
    titles: Groups
    little: np.ndarray
    """whether a title group holds a title that says little, boolean"""
    identifiers: tuple[EqualStrings, ...]
    single: np.ndarray
    """the paper of a group that has but one, else -1, int32, by group"""
    keys: np.ndarray
    """for groups of several: `key_of` each group, alone and with the facts that narrow it, ascending, uint64"""
    rows: np.ndarray
    """the paper of each key, by rank within a key, int32"""

    @staticmethod
    def of(papers: pa.Table, facts: Facts | None = None, titles: Groups | None = None) -> Targets:
        """Papers with `paper_id` (unique), `title`, IDENTIFIERS, and `year`, `surname` and maybe PLACES, or FACTS; in any order. Their
        facts, and the groups of equal normalised titles, may be given.
        """  # fmt: skip
        facts = Facts.of(papers) if facts is None else facts
        paper_id = one_chunk(papers["paper_id"])
        rank = np.asarray(pc.rank(paper_id)).astype(np.int32)
        titles = EqualStrings.of(facts.normalised) if titles is None else titles
        little = np.zeros(len(titles), np.bool_)
        little[titles.groups[facts.little & (titles.groups >= 0)]] = True
        identifiers = tuple(EqualStrings.of(papers[name]) for name in IDENTIFIERS)
        singles, groups, rows = [], [], []
        before = 0
        for kind in (titles, *identifiers):
            only, others = _alone_and_others(kind.groups, len(kind))
            singles.append(only)
            groups.append(kind.groups[others].astype(np.uint64) + np.uint64(before))
            rows.append(others)
            before += len(kind)
        single, group, row = np.concatenate(singles), np.concatenate(groups), np.concatenate(rows)
        keys, every = [], []
        for by in range(NARROWED + 1):
            made = _keys(group, by, facts.year[row], facts.surname[row], facts.volume[row], facts.page[row])
            keys.append(made[made != 0])
            every.append(row[made != 0])
        key, tied = np.concatenate(keys), np.concatenate(every)
        order = np.lexsort((rank[tied], key))
        nothing = pa.nulls(len(papers), pa.string())
        title, journal = (
            one_chunk(papers[name]) if name in papers.column_names else nothing for name in ("title", "journal")
        )
        return Targets(
            paper_id, title, journal, facts, rank, hash_strings(*text_of(paper_id)), titles,
            little, identifiers, single, key[order], tied[order],
        )  # fmt: skip


@njit(cache=True, nogil=True)
def _alone_and_others(groups: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The row of each group that has but one, else -1, and the rows of the groups that have several, int32."""
    single = np.empty(count, np.int32)
    size = np.zeros(count, np.uint8)
    for group in range(count):
        single[group] = -1
    others = 0
    for row in range(len(groups)):
        group = groups[row]
        if group >= 0:
            single[group] = row
            others += int(size[group] > 0) + int(size[group] == 1)
            size[group] = min(size[group] + np.uint8(1), np.uint8(2))
    found = np.empty(others, np.int32)
    others = 0
    for row in range(len(groups)):
        group = groups[row]
        if group >= 0 and size[group] > 1:
            found[others] = row
            others += 1
            single[group] = -1
    return single, found


NARROWED = 4
"""Ways in which an over-full group is narrowed, in order: by volume and page, year and surname, year, surname."""


@njit(cache=True, nogil=True)
def _keys(
    group: np.ndarray, by: int, year: np.ndarray, surname: np.ndarray, volume: np.ndarray, page: np.ndarray
) -> np.ndarray:
    keys = np.empty(len(group), np.uint64)
    for i in range(len(group)):
        keys[i] = key_of(group[i], by, year[i], surname[i], volume[i], page[i])
    return keys


@njit(cache=True, nogil=True)
def key_of(
    group: np.uint64, by: int | np.int64, year: np.int32, surname: np.uint64, volume: np.uint32, page: np.uint32
) -> np.uint64:
    """Hash of a group (`by` = 0), or of a group and the facts by which it is narrowed; 0 where one of these is unknown."""
    when = np.uint64(np.int64(year) + (1 << 40))
    if by == 1:
        if volume == 0 or page == 0:
            return np.uint64(0)
        return mixed(group, by, np.uint64(volume), np.uint64(page))
    if by == 2 and year != NO_YEAR and surname != 0:
        return mixed(group, by, when, surname)
    if by == 3 and year != NO_YEAR:
        return mixed(group, by, when, when)
    if by == 4 and surname != 0:
        return mixed(group, by, surname, surname)
    return mixed(group, by, np.uint64(0), np.uint64(0)) if by == 0 else np.uint64(0)


@njit(cache=True, nogil=True)
def mixed(group: np.uint64, by: int | np.int64, one: np.uint64, other: np.uint64) -> np.uint64:
    """A hash of three numbers and the kind of key they make, never 0."""
    value = (np.uint64(group) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(by)
    value = (value ^ (value >> np.uint64(31)) ^ np.uint64(one)) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(30)) ^ np.uint64(other)) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(29)) | np.uint64(1)


PREFIX_BYTES = 6
"""A cut title has so many bytes at least, normalised."""


def partial_keys(facts: Facts) -> tuple[np.ndarray, np.ndarray]:
    """Two hashes of each row, uint64, 0 where a part is unknown: how its title begins, with year and surname; and journal, volume, first
    page and year.
    """  # fmt: skip
    numbers = facts.year, facts.surname, facts.journal, facts.volume, facts.page
    return _partial_keys(*text_of(facts.normalised), *map(read_only, numbers))


@njit(cache=True, nogil=True)
def _partial_keys(
    offsets: np.ndarray,
    data: np.ndarray,
    year: np.ndarray,
    surname: np.ndarray,
    journal: np.ndarray,
    volume: np.ndarray,
    page: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    rows = len(year)
    begins, places = np.zeros(rows, np.uint64), np.zeros(rows, np.uint64)
    for i in range(rows):
        if year[i] == NO_YEAR:
            continue
        when = np.uint64(np.int64(year[i]) + (1 << 40))
        if surname[i] != 0 and offsets[i + 1] - offsets[i] >= PREFIX_BYTES:
            first = np.uint64(0)
            for k in range(offsets[i], offsets[i] + PREFIX_BYTES):
                first = first << np.uint64(8) | np.uint64(data[k])
            begins[i] = mixed(first, np.int64(1), when, surname[i])
        if journal[i] != 0 and volume[i] != 0 and page[i] != 0:
            where = np.uint64(volume[i]) << np.uint64(32) | np.uint64(page[i])
            places[i] = mixed(np.uint64(journal[i]), np.int64(2), when, where)
    return begins, places
