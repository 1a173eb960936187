"""Paper ids that stay the same over releases: new ids, kept ids, aliases, and what changed (SEMANTICS: Cluster)."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain, count

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.compiled import njit
from s2corpus.tables import ALIASES, CLUSTERS

_PIECE = 1 << 26
"""Paper ids of one Arrow string array: 15 bytes each, and its offsets have 32 bits."""
_HASHED = 1 << 13
"""Records that are hashed at once: what is made of them on the way stays in the cache."""


@dataclass(frozen=True)
class Parent:
    """What the parent release knew: its tables `clusters` and `aliases`."""

    clusters: pa.Table = field(default_factory=CLUSTERS.schema.empty_table)
    aliases: pa.Table = field(default_factory=ALIASES.schema.empty_table)


def new_paper_id(record_id: str) -> str:
    """The first 15 hex digits of SHA-256 over a cluster's earliest delivered record_id."""
    return hashlib.sha256(record_id.encode()).hexdigest()[:15]


def identify(record_ids: pa.Array, labels: np.ndarray, ready_at: pa.Array, parent: Parent) -> tuple[pa.Table, pa.Table]:
    """The tables `clusters` and `aliases` of records (ids ascending, `ready_at` as strings) whose clusters are labelled 0 … n−1.

    - A cluster with no record of the parent gets the id of its earliest delivered record.
    - Of the clusters that share a parent paper's records, the one with the oldest keeps its id (split).
    - A cluster that may keep several keeps that of the oldest paper; the others become aliases (merge).
    - A parent paper whose records all vanished leaves no alias; an alias whose paper was merged follows it.

    A record is as old as its first delivery, as far back as the parents know; one without a time is older than all others, and of
    equal times the smaller record_id.
    """
    clusters = int(labels.max(initial=-1)) + 1
    known = pc.index_in(record_ids, parent.clusters["record_id"].combine_chunks())
    then = parent.clusters["first_ready"].take(known).combine_chunks()
    first_ready = ready_at if then.null_count == len(then) else pc.min_element_wise(ready_at.cast(pa.string()), then)
    age = _ages(first_ready)

    papers = parent.clusters["paper_id"].take(known).combine_chunks().dictionary_encode()
    paper_of = pc.fill_null(papers.indices, -1).to_numpy(zero_copy_only=False)
    had_paper = np.flatnonzero(paper_of >= 0)
    heirs = had_paper[
        _first_of_each(paper_of[had_paper], age[had_paper])
    ]  # a parent paper's oldest record each: its cluster is heir
    kept = heirs[_first_of_each(labels[heirs], age[heirs])]  # of the papers a cluster inherits, the oldest

    names = papers.dictionary
    held = names.take(pa.array(paper_of[kept])).cast(pa.large_string())
    has_id = np.zeros(clusters, bool)
    has_id[labels[kept]] = True
    fresh = np.flatnonzero(~has_id)
    earliest = _earliest(labels, age, clusters)
    new, numbers = _new_paper_ids(record_ids.take(pa.array(earliest[fresh])))
    both = pa.concat_arrays([held, new])
    if np.any(np.diff(np.sort(numbers)) == 0) or (len(held) and pc.any(pc.is_in(new, held)).as_py()):
        fresh = fresh[np.argsort(age[earliest[fresh]])]
        firsts = _new_paper_ids(record_ids.take(pa.array(earliest[fresh])))[0].to_pylist()
        records_of = lambda i: record_ids.take(pa.array(_oldest_first(labels == fresh[i], age))).to_pylist()  # noqa: E731
        both = pa.concat_arrays([held, pa.array(_distinct(firsts, set(held.to_pylist()), records_of), held.type)])
    place = np.empty(clusters, np.int64)
    place[np.concatenate([labels[kept], fresh])] = np.arange(clusters)
    paper_id = both.take(pa.array(place))

    inherited = paper_id.take(pa.array(labels[heirs])).to_pylist()
    aliases = dict(zip(names.take(pa.array(paper_of[heirs])).to_pylist(), inherited, strict=True))
    for former, paper in zip(parent.aliases["alias"].to_pylist(), parent.aliases["paper_id"].to_pylist(), strict=True):
        if (now := aliases.get(paper)) is not None:
            aliases.setdefault(former, now)
    taken = set(both.to_pylist()) if aliases else set()
    left = sorted((former, paper) for former, paper in aliases.items() if former not in taken)
    papers_of = _in_pieces(paper_id.take(pa.array(labels)))
    table = pa.table([record_ids, papers_of, first_ready.cast(pa.string())], schema=CLUSTERS.schema)
    return table, pa.table(
        [pa.array([former for former, _ in left], pa.string()), pa.array([paper for _, paper in left], pa.string())],
        schema=ALIASES.schema,
    )


def _new_paper_ids(record_ids: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """(`new_paper_id` of each; the same as numbers, uint64)."""
    text, numbers = np.empty((len(record_ids), 15), np.uint8), np.empty(len(record_ids), np.uint64)
    for at in range(0, len(record_ids), _HASHED):
        some = slice(at, at + _HASHED)
        digests = b"".join([hashlib.sha256(one).digest() for one in record_ids[some].cast(pa.binary()).to_pylist()])
        upper = np.ascontiguousarray(np.frombuffer(digests, np.uint8).reshape(-1, 32)[:, :8])
        digits = np.stack([upper >> 4, upper & 15], axis=2).reshape(-1, 16)[:, :15]
        text[some] = np.frombuffer(b"0123456789abcdef", np.uint8)[digits]
        numbers[some] = upper.view(">u8").ravel() >> np.uint64(4)
    offsets = np.arange(0, 15 * len(text) + 1, 15, dtype=np.int64)  # 143 million ids are 2 GiB
    ids = pa.Array.from_buffers(pa.large_string(), len(text), [None, pa.py_buffer(offsets), pa.py_buffer(text)])
    return ids, numbers


def _in_pieces(ids: pa.Array) -> pa.ChunkedArray:
    """Paper ids as strings, of which a piece has less than 2 GiB."""
    starts = range(0, len(ids), _PIECE)
    return pa.chunked_array([ids.slice(at, _PIECE).cast(pa.string()) for at in starts], pa.string())


def _ages(first_ready: pa.Array) -> np.ndarray:
    """The smaller, the older: by time (none is older than all), then by place; int64."""
    encoded = first_ready if isinstance(first_ready, pa.DictionaryArray) else first_ready.dictionary_encode()
    rank = np.append(np.asarray(pc.rank(encoded.dictionary), np.int64), np.int64(0))
    ranks = rank[pc.fill_null(encoded.indices, len(rank) - 1).to_numpy()]
    ages: np.ndarray = ranks * len(ranks) + np.arange(len(ranks))
    return ages


@njit(cache=True, nogil=True)
def _earliest(labels: np.ndarray, age: np.ndarray, clusters: int) -> np.ndarray:
    """Place of the oldest record of each cluster."""
    found = np.full(clusters, -1, np.int64)
    for place in range(len(labels)):
        if found[labels[place]] < 0 or age[place] < age[found[labels[place]]]:
            found[labels[place]] = place
    return found


def _first_of_each(group: np.ndarray, age: np.ndarray) -> np.ndarray:
    """Place of the youngest age number of each group, in order of group."""
    order = np.lexsort((age, group))
    return order[np.flatnonzero(np.diff(group[order], prepend=-1))]


def _oldest_first(member: np.ndarray, age: np.ndarray) -> np.ndarray:
    members = np.flatnonzero(member)
    return members[np.argsort(age[members])]


def _distinct(new: list[str], held: set[str], records_of: Callable[[int], list[str]]) -> list[str]:
    """New ids, the oldest cluster's first, where some are held already: then that of the cluster's next record is taken."""
    taken, ids = set(held), []
    for place, first_choice in enumerate(new):
        name = first_choice
        if name in taken:
            records = records_of(place)
            further = (new_paper_id(f"{records[0]}#{number}") for number in count(2))
            name = next(name for name in chain(map(new_paper_id, records), further) if name not in taken)
        ids.append(name)
        taken.add(name)
    return ids


@dataclass(frozen=True)
class Difference:
    """What became of papers from one release to the next; every list is sorted."""

    added: list[str]  # papers none of whose records the parent had in a paper
    removed: list[str]  # parent papers that are no more, and left no alias
    merged: dict[
        str, list[str]
    ]  # paper → parent papers (itself included) whose records it holds, where these are several
    split: dict[str, list[str]]  # parent paper → papers that hold its records, where these are several
    changed: list[str]  # papers that kept their id, with other records than before, and were neither merged nor split


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> Difference:
    """The difference between two releases, each given as record_id → paper_id."""
    origins: dict[str, set[str]] = defaultdict(set)
    heirs: dict[str, set[str]] = defaultdict(set)
    members_before: dict[str, set[str]] = defaultdict(set)
    members_after: dict[str, set[str]] = defaultdict(set)
    for record_id, paper in before.items():
        members_before[paper].add(record_id)
    for record_id, paper in after.items():
        members_after[paper].add(record_id)
        if (origin := before.get(record_id)) is not None:
            origins[paper].add(origin)
            heirs[origin].add(paper)
    merged = {paper: sorted(found) for paper, found in sorted(origins.items()) if len(found) > 1}
    split = {paper: sorted(found) for paper, found in sorted(heirs.items()) if len(found) > 1}
    touched = {*merged, *split, *(paper for found in split.values() for paper in found)}
    return Difference(
        added=sorted(set(members_after) - set(origins)),
        removed=sorted(set(members_before) - set(heirs)),
        merged=merged,
        split=split,
        changed=sorted(
            paper
            for paper in set(members_before) & set(members_after) - touched
            if members_before[paper] != members_after[paper]
        ),
    )
