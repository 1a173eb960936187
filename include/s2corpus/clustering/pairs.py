"""Select pairs of records to compare, and compare their DOIs (SPEC §4). Records are nodes.

Pairs are made in blocks, and each block is filtered before the next one is made: this bounds memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from s2corpus.clustering.facts import Groups, Nodes, group_nodes
from s2corpus.titles.similarity import expand_ranges

WINDOW = 64
"""A record is compared with this number of next records that have its identifier or title."""
_PAIRS_PER_BLOCK = 1 << 18


def select(blocks: Iterable[list[np.ndarray]], *tests: Callable[..., np.ndarray]) -> list[np.ndarray]:
    """Return the pairs that pass all tests, in columns. A test gets the columns of the pairs that passed the tests before it."""
    passed = []
    for block in blocks:
        for test in tests:
            is_passed = test(*block)
            block = [column[is_passed] for column in block]
        passed.append(block)
    return [np.concatenate(columns) for columns in zip(*passed, strict=True)]


def expand(first: np.ndarray, count: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the pairs (i, place) of `expand_ranges` in blocks, at least one."""
    cuts = np.flatnonzero(np.diff(np.cumsum(count) // _PAIRS_PER_BLOCK)) + 1
    for block in np.split(np.arange(len(count)), cuts):
        row, place = expand_ranges(first[block], count[block])
        yield block[row], place


def windows(groups: Groups) -> Iterator[list[np.ndarray]]:
    """Yield the pairs of nodes of one group that are at most WINDOW places apart, in their order."""
    place = np.arange(len(groups.nodes))
    end = np.repeat(groups.starts[1:], np.diff(groups.starts))
    for left, right in expand(place + 1, np.minimum(end - place - 1, WINDOW)):
        yield [groups.nodes[left], groups.nodes[right]]


def stars(groups: Groups) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of the first node of a group and each other node of the group."""
    first = groups.nodes[np.repeat(groups.starts[:-1], np.diff(groups.starts))]
    is_other = first != groups.nodes
    return first[is_other], groups.nodes[is_other]


def pair_untitled(nodes: Nodes, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (first trusted record, untitled PDF) if the trusted records of a code have one title and no two DOIs."""
    is_compared = nodes.trusted | (nodes.title < 0)
    first, other = stars(group_nodes(np.where(is_compared, codes, -1), ~nodes.trusted))
    differ = (nodes.title[first] != nodes.title[other]) | dois_differ(nodes.identifiers["doi"], first, other)
    refused = codes[first[nodes.trusted[other] & differ]]
    accepted = nodes.trusted[first] & ~nodes.trusted[other] & ~np.isin(codes[first], refused)
    return first[accepted], other[accepted]


def dois_differ(doi: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return which pairs have two different DOIs, by codes (bool)."""
    differ: np.ndarray = (doi[left] >= 0) & (doi[right] >= 0) & (doi[left] != doi[right])
    return differ
