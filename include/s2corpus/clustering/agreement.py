"""When the records of two similar titles may be one paper: their DOIs, years and authors (SEMANTICS: Cluster). Compiled, by node."""

from __future__ import annotations

import numpy as np

from s2corpus.clustering.nodes import Nodes
from s2corpus.clustering.places import ELECTRONIC
from s2corpus.compiled import njit

WINDOW = 64
"""Records of one identifier or one title that are compared each with each; more are compared with their next 64 neighbours."""

Facts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]


def facts(nodes: Nodes, max_preprint_years: int) -> Facts:
    """What `agree` looks at, in the order of its arguments."""
    return (
        nodes.final_doi, nodes.year, nodes.preprint, nodes.surname_offsets, nodes.surnames, nodes.places.volume, nodes.places.page,
        max_preprint_years,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def agree(
    i: int, j: int, doi: np.ndarray, year: np.ndarray, preprint: np.ndarray, offsets: np.ndarray, names: np.ndarray,
    volume: np.ndarray, page: np.ndarray, years: int, exact: bool | np.bool_, near: bool | np.bool_,
) -> bool:  # fmt: skip
    """DOIs do not forbid it, years agree, authors agree (half of the shorter list's surnames, or one list empty).

    Equal volumes, and pages that do not contradict, allow years next to each other, of online and printed publication. Equal volumes and
    first pages allow other authors where the titles are equal (`exact`). Where neither record names a person, nor equal volumes say where
    it stands, titles must be equal or nearly so (`near`).
    """
    if doi[i] >= 0 and doi[j] >= 0 and doi[i] != doi[j]:
        return False
    in_volume = volume[i] != 0 and volume[i] == volume[j]
    on_page = page[i] != 0 and page[i] == page[j]
    located = in_volume and (on_page or page[i] == 0 or page[j] == 0 or (page[i] ^ page[j]) & ELECTRONIC != 0)
    apart = abs(year[i] - year[j]) if year[i] != 0 and year[j] != 0 else 0
    if apart > (years if preprint[i] != preprint[j] else 1 if located else 0):
        return False
    if in_volume and on_page and exact:
        return True
    named, others = offsets[i + 1] - offsets[i], offsets[j + 1] - offsets[j]
    shorter = min(named, others)
    if shorter == 0:
        return bool(exact or near or located or named + others > 0)
    return bool(2 * shared(offsets, names, i, j) >= shorter)


@njit(cache=True, nogil=True)
def agree_strictly(i: int, j: int, doi: np.ndarray, year: np.ndarray, offsets: np.ndarray, names: np.ndarray) -> bool:
    """For titles that say little: DOIs do not forbid it, year and authors are known and equal."""
    if doi[i] >= 0 and doi[j] >= 0 and doi[i] != doi[j]:
        return False
    if year[i] == 0 or year[i] != year[j]:
        return False
    size = offsets[i + 1] - offsets[i]
    return bool(size > 0 and size == offsets[j + 1] - offsets[j] and shared(offsets, names, i, j) == size)


@njit(cache=True, nogil=True)
def shared(offsets: np.ndarray, names: np.ndarray, i: int, j: int) -> int:
    """Names that two records share, both ascending."""
    shared, a, b = 0, offsets[i], offsets[j]
    while a < offsets[i + 1] and b < offsets[j + 1]:
        if names[a] == names[b]:
            shared, a, b = shared + 1, a + 1, b + 1
        elif names[a] < names[b]:
            a += 1
        else:
            b += 1
    return shared
