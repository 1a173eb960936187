"""When the records of two alike titles may be one paper: their DOIs, years and authors (SEMANTICS: Cluster). Compiled, by node."""

from __future__ import annotations

import numpy as np

from s2corpus.clustering.nodes import Nodes
from s2corpus.compiled import njit

WINDOW = 64
"""Records of one identifier or one title that are compared each with each; more are compared with their next 64 neighbours."""

Facts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]


def facts(nodes: Nodes, max_preprint_years: int) -> Facts:
    """What `agree` looks at, in the order of its arguments."""
    return nodes.final_doi, nodes.year, nodes.preprint, nodes.surname_offsets, nodes.surnames, max_preprint_years


@njit(cache=True, nogil=True)
def agree(
    i: int, j: int, doi: np.ndarray, year: np.ndarray, preprint: np.ndarray, offsets: np.ndarray, names: np.ndarray, years: int
) -> bool:  # fmt: skip
    """DOIs do not forbid it, years agree, authors agree (half of the shorter list's surnames, or one list empty)."""
    if doi[i] >= 0 and doi[j] >= 0 and doi[i] != doi[j]:
        return False
    known = year[i] != 0 and year[j] != 0
    if known and year[i] != year[j] and (preprint[i] == preprint[j] or abs(year[i] - year[j]) > years):
        return False
    shorter = min(offsets[i + 1] - offsets[i], offsets[j + 1] - offsets[j])
    return bool(shorter == 0 or 2 * _shared(offsets, names, i, j) >= shorter)


@njit(cache=True, nogil=True)
def agree_strictly(i: int, j: int, doi: np.ndarray, year: np.ndarray, offsets: np.ndarray, names: np.ndarray) -> bool:
    """For titles that say little: DOIs do not forbid it, year and authors are known and equal."""
    if doi[i] >= 0 and doi[j] >= 0 and doi[i] != doi[j]:
        return False
    if year[i] == 0 or year[i] != year[j]:
        return False
    size = offsets[i + 1] - offsets[i]
    return bool(size > 0 and size == offsets[j + 1] - offsets[j] and _shared(offsets, names, i, j) == size)


@njit(cache=True, nogil=True)
def _shared(offsets: np.ndarray, names: np.ndarray, i: int, j: int) -> int:
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
