"""Select pairs of records to compare: stars and windows in a block, equal titles and similar titles. Kernels."""

from __future__ import annotations

import numpy as np

from s2corpus.clustering.agreement import agree, agree_strictly
from s2corpus.compiled import njit
from s2corpus.rules.cluster import UNNAMED_SCORE
from s2corpus.titles.arrays import doubled


@njit(cache=True, nogil=True)
def stars(
    order: np.ndarray, starts: np.ndarray, trusted: np.ndarray, title: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (center, other trusted record) pairs. The center of a block is its first trusted record with a title, else the first one."""
    left, right, n = np.empty(len(order), np.int32), np.empty(len(order), np.int32), 0
    for block in range(len(starts) - 1):
        center = -1
        for at in range(starts[block], starts[block + 1]):
            node = order[at]
            if trusted[node] and (center < 0 or (title[center] < 0 and title[node] >= 0)):
                center = node
        for at in range(starts[block], starts[block + 1]):
            node = order[at]
            if trusted[node] and node != center:
                left[n], right[n] = center, node
                n += 1
    return left[:n], right[:n]


@njit(cache=True, nogil=True)
def around(order: np.ndarray, starts: np.ndarray, can_be_center: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (center, other node) pairs. The center of a block is its first node in `can_be_center`; a block without one has no pairs."""
    left, right, n = np.empty(len(order), np.int32), np.empty(len(order), np.int32), 0
    for block in range(len(starts) - 1):
        center = -1
        for at in range(starts[block], starts[block + 1]):
            if center < 0 and can_be_center[order[at]]:
                center = order[at]
        for at in range(starts[block], starts[block + 1]):
            if center >= 0 and order[at] != center:
                left[n], right[n] = center, order[at]
                n += 1
    return left[:n], right[:n]


@njit(cache=True, nogil=True)
def doubtful(order: np.ndarray, starts: np.ndarray, trusted: np.ndarray, window: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of a block with at least one untrusted record."""
    left, right, n = np.empty(1024, np.int32), np.empty(1024, np.int32), 0
    for block in range(len(starts) - 1):
        for p in range(starts[block], starts[block + 1]):
            for q in range(p + 1, min(p + 1 + window, starts[block + 1])):
                if trusted[order[p]] and trusted[order[q]]:
                    continue
                if n == len(left):
                    left, right = doubled(left), doubled(right)
                left[n], right[n] = order[p], order[q]
                n += 1
    return left[:n], right[:n]


@njit(cache=True, nogil=True)
def untitled(
    order: np.ndarray, starts: np.ndarray, trusted: np.ndarray, title: np.ndarray, doi: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (first trusted record, untitled PDF) for blocks whose trusted records have one title and no two DOIs."""
    left, right, n = np.empty(len(order), np.int32), np.empty(len(order), np.int32), 0
    for block in range(len(starts) - 1):
        first, unanimous = -1, True
        for at in range(starts[block], starts[block + 1]):
            node = order[at]
            if trusted[node]:
                if first < 0:
                    first = node
                elif title[node] != title[first] or (doi[node] >= 0 and doi[first] >= 0 and doi[node] != doi[first]):
                    unanimous = False
        if first < 0 or not unanimous:
            continue
        for at in range(starts[block], starts[block + 1]):
            if not trusted[order[at]] and title[order[at]] < 0:
                left[n], right[n] = first, order[at]
                n += 1
    return left[:n], right[:n]


@njit(cache=True, nogil=True)
def claims(
    order: np.ndarray, starts: np.ndarray, trusted: np.ndarray, title: np.ndarray, doi: np.ndarray, file: np.ndarray, window: int,
    is_file: bool, years: int, year: np.ndarray, preprint: np.ndarray, offsets: np.ndarray, names: np.ndarray, volume: np.ndarray,
    page: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Return (untitled trusted record, PDF) of each block, and (PDF, other node) pairs whose titles must be similar.

    Authors and years of the PDF agree with those of every untitled record. A block with several different untitled records of one
    file (`is_file`) has no claims: one "not found" page is the file of many papers. Neither has a block of more PDFs than `window`.
    """
    left, right, n = np.empty(1024, np.int32), np.empty(1024, np.int32), 0
    pdf, rival, m = np.empty(1024, np.int32), np.empty(1024, np.int32), 0
    no_doi = np.full(len(title), -1, np.int32)
    for block in range(len(starts) - 1):
        first, pdfs, same = -1, 0, True
        for at in range(starts[block], starts[block + 1]):
            node = order[at]
            if not trusted[node]:
                pdfs += 1
            elif title[node] < 0:
                if first < 0:
                    first = node
                elif doi[node] < 0 or doi[node] != doi[first]:
                    same = False
        if first < 0 or pdfs == 0 or pdfs > window or (is_file and not same):
            continue
        for at in range(starts[block], starts[block + 1]):
            node = order[at]
            if trusted[node] or (is_file and title[node] < 0):  # `untitled` joins these
                continue
            confirmed = True
            for other in order[starts[block] : starts[block + 1]]:
                if trusted[other] and title[other] < 0:
                    yes = np.bool_(True)
                    confirmed &= agree(
                        node, other, no_doi, year, preprint, offsets, names, volume, page, years, yes, yes
                    )
            if not confirmed:
                continue
            if n == len(left):
                left, right = doubled(left), doubled(right)
            left[n], right[n] = first, node
            n += 1
            for other in order[starts[block] : starts[block + 1]]:
                if (
                    title[other] < 0
                    or other == node
                    or (not trusted[other] and file[other] >= 0 and file[other] == file[node])
                ):
                    continue
                if m == len(pdf):
                    pdf, rival = doubled(pdf), doubled(rival)
                pdf[m], rival[m] = node, other
                m += 1
    return left[:n], right[:n], pdf[:m], rival[:m]


@njit(cache=True, nogil=True)
def equal_titles(
    nodes: np.ndarray, starts: np.ndarray, strict: np.ndarray, labels: np.ndarray, window: int,
    doi: np.ndarray, year: np.ndarray, preprint: np.ndarray, offsets: np.ndarray, names: np.ndarray, volume: np.ndarray,
    page: np.ndarray, years: int,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return the pairs of agreeing records with one title, in different clusters by `labels`."""
    left, right, n = np.empty(1024, np.int32), np.empty(1024, np.int32), 0
    for title in range(len(starts) - 1):
        for p in range(starts[title], starts[title + 1]):
            for q in range(p + 1, min(p + 1 + window, starts[title + 1])):
                i, j = nodes[p], nodes[q]
                if labels[i] == labels[j]:
                    continue
                if strict[title]:
                    if not agree_strictly(i, j, doi, year, offsets, names):
                        continue
                elif not agree(
                    i, j, doi, year, preprint, offsets, names, volume, page, years, np.bool_(True), np.bool_(True)
                ):
                    continue
                if n == len(left):
                    left, right = doubled(left), doubled(right)
                left[n], right[n] = i, j
                n += 1
    return left[:n], right[:n]


@njit(cache=True, nogil=True)
def near_titles(
    nodes: np.ndarray, starts: np.ndarray, title_a: np.ndarray, title_b: np.ndarray, score: np.ndarray, window: int,
    doi: np.ndarray, year: np.ndarray, preprint: np.ndarray, offsets: np.ndarray, names: np.ndarray, volume: np.ndarray,
    page: np.ndarray, years: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Return the pairs of agreeing records of two similar titles, and the number of the pair of titles."""
    left, right, pair, n = np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(1024, np.int64), 0
    for k in range(len(title_a)):
        a, b = title_a[k], title_b[k]
        for p in range(starts[a], min(starts[a + 1], starts[a] + window)):
            for q in range(starts[b], min(starts[b + 1], starts[b] + window)):
                i, j, named = nodes[p], nodes[q], score[k] > UNNAMED_SCORE
                if not agree(i, j, doi, year, preprint, offsets, names, volume, page, years, np.bool_(False), named):
                    continue
                if n == len(left):
                    left, right, pair = doubled(left), doubled(right), doubled(pair)
                left[n], right[n], pair[n] = i, j, k
                n += 1
    return left[:n], right[:n], pair[:n]


@njit(cache=True, nogil=True)
def cut_titles(
    order: np.ndarray, group: np.ndarray, text_offsets: np.ndarray, text: np.ndarray, labels: np.ndarray, window: int,
    doi: np.ndarray, year: np.ndarray, offsets: np.ndarray, names: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return (record, record whose longer title begins with the title of the first), of one group and two clusters by `labels`.

    `order` has the records by group, then title, so that the longer titles follow the title with which they begin. A record is compared
    with its next `window` neighbors. DOIs do not contradict, years and authors are equal.
    """
    left, right, n = np.empty(1024, np.int32), np.empty(1024, np.int32), 0
    for p in range(len(order)):
        i = order[p]
        begin, size = text_offsets[i], text_offsets[i + 1] - text_offsets[i]
        if size == 0:
            continue
        for q in range(p + 1, min(p + 1 + window, len(order))):
            j = order[q]
            if group[j] != group[i] or text_offsets[j + 1] - text_offsets[j] < size:
                break
            at = 0
            while at < size and text[begin + at] == text[text_offsets[j] + at]:
                at += 1
            if at < size:
                break
            if text_offsets[j + 1] - text_offsets[j] == size or labels[i] == labels[j]:
                continue
            if not agree_strictly(i, j, doi, year, offsets, names):
                continue
            if n == len(left):
                left, right = doubled(left), doubled(right)
            left[n], right[n] = i, j
            n += 1
    return left[:n], right[:n]


@njit(cache=True, nogil=True)
def hash_fronts(year: np.ndarray, page: np.ndarray, offsets: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Return a hash of year, first page and surnames of each record (uint64); 0 if one of them is missing."""
    keys = np.zeros(len(year), np.uint64)
    for row in range(len(year)):
        if year[row] == 0 or page[row] == 0 or offsets[row + 1] == offsets[row]:
            continue
        key = np.uint64(year[row]) << np.uint64(32) | np.uint64(page[row])
        for at in range(offsets[row], offsets[row + 1]):
            key = (key ^ names[at]) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(32)
        keys[row] = max(key, np.uint64(1))
    return keys
