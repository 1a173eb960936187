"""Which two records may be one paper, and why: edges by identifier and by title (SEMANTICS: Cluster)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

from s2corpus import titles
from s2corpus.clustering.nodes import IDENTIFIERS, Nodes
from s2corpus.titles.rules import only_numbers_differ

REASONS = (*IDENTIFIERS, "title")
TITLE = len(IDENTIFIERS)
SEARCH = titles.Search(bands=24, rows=6, min_keys=1)
"""Two thirds of the work of linking's search: a pair that is missed is most often joined by a third record."""
WINDOW = 64
"""Records of one identifier or one title that are compared each with each; more are compared with their next 64 neighbours."""


@dataclass(frozen=True)
class Edges:
    """Edges as columns, `left` < `right`."""

    left: np.ndarray  # int32 node
    right: np.ndarray  # int32 node
    reason: np.ndarray  # int8 index into REASONS
    strength: np.ndarray  # float64: identifier kinds 7 (DOI) … 2 (pdf_sha1), titles S

    def __len__(self) -> int:
        return len(self.left)


def identifier_strength(reason: int) -> float:
    """Strength of an identifier edge: any is above any title's."""
    return float(len(REASONS) - reason)


def certain_edges(nodes: Nodes, min_title_score: float = 0.8, max_preprint_years: int = 2) -> Edges:
    """The edges by identifiers, then those of equal titles, each in order of strength and ids."""
    parts = [identifier_edges(nodes, reason, min_title_score) for reason in range(TITLE)]
    return strongest_first([*parts, equal_title_edges(nodes, max_preprint_years)])


def strongest_first(parts: Sequence[Edges]) -> Edges:
    """Edges of several kinds together: by strength, then by ids."""
    left, right, reason, strength = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("left", "right", "reason", "strength")
    )
    order = np.lexsort((right, left, -strength))
    return Edges(left[order], right[order], reason[order], strength[order])


def identifier_edges(nodes: Nodes, reason: int, min_title_score: float) -> Edges:
    """Edges between records with one identifier of a kind.

    Publishers' and archives' records are joined in a star around the smallest id. What a PDF says of itself, and one PDF named by
    several records, joins only with S_title above the threshold: a "not found" page is one sha1 for many papers. A PDF whose own
    title was not read cannot contradict: it joins those that name its sha1 if these have but one title. ScienceParse's and the
    extractor's header of one PDF join whatever they read.
    """
    codes = nodes.identifiers[IDENTIFIERS[reason]]
    order, starts = blocks(codes)
    trusted = nodes.trusted if IDENTIFIERS[reason] != "pdf_sha1" else np.zeros(len(nodes), bool)
    left, right = _stars(order, starts, trusted)
    doubtful_left, doubtful_right = _doubtful(order, starts, trusted, WINDOW)
    same = _title_scores(nodes, doubtful_left, doubtful_right) > min_title_score
    if IDENTIFIERS[reason] == "pdf_sha1":  # two readings of one PDF are of one PDF
        same |= (nodes.second_header[doubtful_left] & ~nodes.trusted[doubtful_right]) | (
            nodes.second_header[doubtful_right] & ~nodes.trusted[doubtful_left]
        )
    left = np.concatenate([left, doubtful_left[same]])
    right = np.concatenate([right, doubtful_right[same]])
    if IDENTIFIERS[reason] == "pdf_sha1":
        untitled_left, untitled_right = _untitled(order, starts, nodes.trusted, nodes.title)
        left, right = np.concatenate([left, untitled_left]), np.concatenate([right, untitled_right])
    return _edges(left, right, reason, np.full(len(left), identifier_strength(reason)))


def equal_title_edges(nodes: Nodes, max_preprint_years: int) -> Edges:
    """Edges between records whose titles are equal, whose authors and years agree, and whose DOIs do not forbid it."""
    order, starts = blocks(nodes.title, nodes.year)
    rules = _rules(nodes, max_preprint_years)
    left, right = _equal_titles(order, starts, nodes.title, nodes.strict, WINDOW, *rules)
    return _edges(left, right, TITLE, np.ones(len(left)))


def near_title_edges(nodes: Nodes, unsettled: np.ndarray, min_title_score: float, max_preprint_years: int) -> Edges:
    """The same for titles that are alike but not equal, of which at least one has an unsettled record (bool a record).

    Equal titles go before these, whatever S is (SEMANTICS: Link has the same order).
    """
    wordy = np.flatnonzero(~nodes.strict)
    asked = np.zeros(len(nodes.titles) + 1, bool)
    asked[nodes.title[unsettled]] = True  # code −1 marks the place past the end
    a, b, score = _similar(nodes.titles, wordy, asked[:-1], min_title_score)
    order, starts = blocks(nodes.title, nodes.year)
    block_of = np.zeros(len(nodes.titles) + 1, np.int64)
    present = nodes.title[order[starts[:-1]]] if len(order) else np.zeros(0, np.int64)
    block_of[present] = np.arange(len(present))
    rules = _rules(nodes, max_preprint_years)
    left, right, pair = _near_titles(order, starts, block_of[a], block_of[b], WINDOW, *rules)
    kept = ~_numbered(nodes, a, b, np.unique(pair))[pair]
    return strongest_first([_edges(left[kept], right[kept], TITLE, score[pair[kept]])])


def _similar(
    distinct: pa.Array, wordy: np.ndarray, asked: np.ndarray, threshold: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(a, b, S) of alike titles, each pair once: among all where most are asked for, else of all with those."""
    some = wordy[asked[wordy]]
    if 2 * len(some) > len(wordy):
        pairs = titles.similar_pairs(distinct.take(pa.array(wordy)), threshold, SEARCH)
        return wordy[pairs.a], wordy[pairs.b], pairs.score
    halves = np.array_split(wordy, 2)
    with ThreadPoolExecutor(len(halves)) as pool:
        targets = distinct.take(pa.array(some))
        found = pool.map(
            lambda half: titles.candidates(distinct.take(pa.array(half)), targets, threshold, SEARCH), halves
        )
        columns = [(half[pairs.a], some[pairs.b], pairs.score) for half, pairs in zip(halves, found, strict=True)]
    a, b, score = (np.concatenate(column) for column in zip(*columns, strict=True))
    once = (a < b) | ((a > b) & ~asked[a])
    return a[once], b[once], score[once]


def blocks(codes: np.ndarray, within: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Nodes grouped by code (−1 left out): (nodes in order of code, then `within`, then node; starts of groups with the end)."""
    chosen = np.flatnonzero(codes >= 0)
    keys = (chosen, codes[chosen]) if within is None else (chosen, within[chosen], codes[chosen])
    order = chosen[np.lexsort(keys)].astype(np.int32)
    sorted_codes = codes[order]
    starts = np.flatnonzero(np.diff(sorted_codes, prepend=-1)) if len(order) else np.zeros(0, np.int64)
    return order, np.append(starts, len(order))


def _edges(a: np.ndarray, b: np.ndarray, reason: int, strength: np.ndarray) -> Edges:
    return Edges(
        np.minimum(a, b).astype(np.int32), np.maximum(a, b).astype(np.int32), np.full(len(a), reason, np.int8), strength
    )


def _title_scores(nodes: Nodes, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """S of two records' titles; 0 if one has none."""
    a, b = nodes.title[left], nodes.title[right]
    scores = np.where((a == b) & (a >= 0), 1.0, 0.0)
    differ = np.flatnonzero((a != b) & (a >= 0) & (b >= 0))
    if len(differ):
        used, position = np.unique(np.concatenate([a[differ], b[differ]]), return_inverse=True)
        grams = titles.grams(nodes.titles.take(pa.array(used)))
        scores[differ] = titles.score_pairs(grams, position[: len(differ)], grams, position[len(differ) :])
    return scores


_PART = re.compile(r"\b(?:part|pt|chapter)\b\W*(\w+)", re.IGNORECASE)


def _other_parts(x: str, y: str) -> bool:
    """Whether two titles name different parts, or only one names a part: "Lemmas, part II" is neither part I nor the whole."""
    parts = [[word for word in _PART.findall(title) if titles.differ_only_in_number(word, "0")] for title in (x, y)]
    return len(parts[0]) != len(parts[1]) or any(map(titles.differ_only_in_number, *parts))


def _numbered(nodes: Nodes, a: np.ndarray, b: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Which of the asked pairs of titles differ only in a number or numeral, or in the part they name (bool per pair)."""
    numbered = np.zeros(len(a), bool)
    first, second = (nodes.originals.take(pa.array(side[asked])) for side in (a, b))
    numbered[asked] = only_numbers_differ(first, second)
    told = pc.or_(*(pc.match_substring_regex(side, r"(?i)\b(?:part|pt|chapter)\b") for side in (first, second)))
    for row in np.flatnonzero(np.asarray(told)):
        if not numbered[asked[row]]:
            numbered[asked[row]] = _other_parts(first[int(row)].as_py(), second[int(row)].as_py())
    return numbered


def _rules(
    nodes: Nodes, max_preprint_years: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """What `_agree` looks at."""
    return nodes.final_doi, nodes.year, nodes.preprint, nodes.surname_offsets, nodes.surnames, max_preprint_years


@njit(cache=True, nogil=True)
def _shared(offsets: np.ndarray, names: np.ndarray, i: int, j: int) -> int:
    shared, a, b = 0, offsets[i], offsets[j]
    while a < offsets[i + 1] and b < offsets[j + 1]:
        if names[a] == names[b]:
            shared, a, b = shared + 1, a + 1, b + 1
        elif names[a] < names[b]:
            a += 1
        else:
            b += 1
    return shared


@njit(cache=True, nogil=True)
def _agree(
    i: int,
    j: int,
    doi: np.ndarray,
    year: np.ndarray,
    preprint: np.ndarray,
    offsets: np.ndarray,
    names: np.ndarray,
    years: int,
) -> bool:
    """DOIs do not forbid it, years agree, authors agree (half of the shorter list's surnames, or one list empty)."""
    if doi[i] >= 0 and doi[j] >= 0 and doi[i] != doi[j]:
        return False
    known = year[i] != 0 and year[j] != 0
    if known and year[i] != year[j] and (preprint[i] == preprint[j] or abs(year[i] - year[j]) > years):
        return False
    shorter = min(offsets[i + 1] - offsets[i], offsets[j + 1] - offsets[j])
    return bool(shorter == 0 or 2 * _shared(offsets, names, i, j) >= shorter)


@njit(cache=True, nogil=True)
def _agree_strictly(i: int, j: int, doi: np.ndarray, year: np.ndarray, offsets: np.ndarray, names: np.ndarray) -> bool:
    """For titles that say little: DOIs do not forbid it, year and authors are known and equal."""
    if doi[i] >= 0 and doi[j] >= 0 and doi[i] != doi[j]:
        return False
    if year[i] == 0 or year[i] != year[j]:
        return False
    size = offsets[i + 1] - offsets[i]
    return bool(size > 0 and size == offsets[j + 1] - offsets[j] and _shared(offsets, names, i, j) == size)


@njit(cache=True, nogil=True)
def _stars(order: np.ndarray, starts: np.ndarray, trusted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    left, right, n = np.empty(len(order), np.int32), np.empty(len(order), np.int32), 0
    for block in range(len(starts) - 1):
        centre = -1
        for at in range(starts[block], starts[block + 1]):
            node = order[at]
            if not trusted[node]:
                continue
            if centre < 0:
                centre = node
            else:
                left[n], right[n] = centre, node
                n += 1
    return left[:n], right[:n]


@njit(cache=True, nogil=True)
def _doubtful(order: np.ndarray, starts: np.ndarray, trusted: np.ndarray, window: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of a block of which one is not trusted."""
    left, right, n = np.empty(1024, np.int32), np.empty(1024, np.int32), 0
    for block in range(len(starts) - 1):
        for p in range(starts[block], starts[block + 1]):
            for q in range(p + 1, min(p + 1 + window, starts[block + 1])):
                if trusted[order[p]] and trusted[order[q]]:
                    continue
                if n == len(left):
                    left, right = np.append(left, left), np.append(right, right)
                left[n], right[n] = order[p], order[q]
                n += 1
    return left[:n], right[:n]


@njit(cache=True, nogil=True)
def _untitled(
    order: np.ndarray, starts: np.ndarray, trusted: np.ndarray, title: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(the first trusted record, an untitled PDF) for blocks whose trusted records have but one title."""
    left, right, n = np.empty(len(order), np.int32), np.empty(len(order), np.int32), 0
    for block in range(len(starts) - 1):
        first, unanimous = -1, True
        for at in range(starts[block], starts[block + 1]):
            node = order[at]
            if trusted[node]:
                if first < 0:
                    first = node
                elif title[node] != title[first]:
                    unanimous = False
        if first < 0 or not unanimous:
            continue
        for at in range(starts[block], starts[block + 1]):
            if not trusted[order[at]] and title[order[at]] < 0:
                left[n], right[n] = first, order[at]
                n += 1
    return left[:n], right[:n]


@njit(cache=True, nogil=True)
def _equal_titles(
    order: np.ndarray, starts: np.ndarray, title: np.ndarray, strict: np.ndarray, window: int,
    doi: np.ndarray, year: np.ndarray, preprint: np.ndarray, offsets: np.ndarray, names: np.ndarray, years: int,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    left, right, n = np.empty(1024, np.int32), np.empty(1024, np.int32), 0
    for block in range(len(starts) - 1):
        careful = strict[title[order[starts[block]]]]
        for p in range(starts[block], starts[block + 1]):
            for q in range(p + 1, min(p + 1 + window, starts[block + 1])):
                i, j = order[p], order[q]
                if careful:
                    if not _agree_strictly(i, j, doi, year, offsets, names):
                        continue
                elif not _agree(i, j, doi, year, preprint, offsets, names, years):
                    continue
                if n == len(left):
                    left, right = np.append(left, left), np.append(right, right)
                left[n], right[n] = i, j
                n += 1
    return left[:n], right[:n]


@njit(cache=True, nogil=True)
def _near_titles(
    order: np.ndarray, starts: np.ndarray, block_a: np.ndarray, block_b: np.ndarray, window: int,
    doi: np.ndarray, year: np.ndarray, preprint: np.ndarray, offsets: np.ndarray, names: np.ndarray, years: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Agreeing records of two blocks of alike titles, with the number of the pair of blocks."""
    left, right, pair, n = np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(1024, np.int64), 0
    for k in range(len(block_a)):
        a, b = block_a[k], block_b[k]
        for p in range(starts[a], min(starts[a + 1], starts[a] + window)):
            for q in range(starts[b], min(starts[b + 1], starts[b] + window)):
                i, j = order[p], order[q]
                if not _agree(i, j, doi, year, preprint, offsets, names, years):
                    continue
                if n == len(left):
                    left, right, pair = np.append(left, left), np.append(right, right), np.append(pair, pair)
                left[n], right[n], pair[n] = i, j, k
                n += 1
    return left[:n], right[:n], pair[:n]
