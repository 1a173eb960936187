"""Compare DOIs, years and authors of two records with similar titles (SPEC §4). Kernels; records are nodes."""

from __future__ import annotations

import numpy as np

from s2corpus.clustering.nodes import Nodes
from s2corpus.clustering.places import ELECTRONIC
from s2corpus.compiled import njit

WINDOW = 64
"""A record is compared with this number of next records that have its identifier or title."""

Facts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]


def facts(nodes: Nodes, max_preprint_years: int) -> Facts:
    """Return the arguments that `agree` reads, in their order."""
    return (
        nodes.final_doi, nodes.year, nodes.preprint, nodes.surname_offsets, nodes.surnames, nodes.places.volume, nodes.places.page,
        max_preprint_years,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def agree(
    i: int, j: int, doi: np.ndarray, year: np.ndarray, preprint: np.ndarray, offsets: np.ndarray, names: np.ndarray,
    volume: np.ndarray, page: np.ndarray, years: int, exact: bool | np.bool_, near: bool | np.bool_,
) -> bool:  # fmt: skip
    """Return whether DOIs do not contradict, and years and authors agree.

    Authors agree if at least half of the shorter list of surnames is common, or a list is empty. If volumes are equal and pages do not
    contradict, years may differ by one: online and printed publication. If volumes and first pages are equal and titles are equal
    (`exact`), authors may differ. If no record has authors and volumes are not equal, titles must be equal or almost equal (`near`).
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
    size_i, size_j = offsets[i + 1] - offsets[i], offsets[j + 1] - offsets[j]
    shorter = min(size_i, size_j)
    if shorter == 0:
        return bool(exact or near or located or size_i + size_j > 0)
    return bool(2 * count_common(offsets, names, i, j) >= shorter)


@njit(cache=True, nogil=True)
def agree_strictly(i: int, j: int, doi: np.ndarray, year: np.ndarray, offsets: np.ndarray, names: np.ndarray) -> bool:
    """Return whether DOIs do not contradict, and years and authors are given and equal: the rule for uninformative titles."""
    if doi[i] >= 0 and doi[j] >= 0 and doi[i] != doi[j]:
        return False
    if year[i] == 0 or year[i] != year[j]:
        return False
    size = offsets[i + 1] - offsets[i]
    return bool(size > 0 and size == offsets[j + 1] - offsets[j] and count_common(offsets, names, i, j) == size)


@njit(cache=True, nogil=True)
def count_common(offsets: np.ndarray, names: np.ndarray, i: int, j: int) -> int:
    """Return the number of common names of two records; names are in ascending order."""
    common, a, b = 0, offsets[i], offsets[j]
    while a < offsets[i + 1] and b < offsets[j + 1]:
        if names[a] == names[b]:
            common, a, b = common + 1, a + 1, b + 1
        elif names[a] < names[b]:
            a += 1
        else:
            b += 1
    return common
