"""Load the CRFs of this package, each once per process, and label documents with them.

CRFsuite trains the CRFs and writes their files. Its Python binding copies every name of every item into C++, which took most of
a paper's time. Here numpy sums the weights for a complete document. Labels and probabilities are the same
(tests/unit/pdf2tei/test_tagger.py).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Ints = NDArray[np.intp]

_BIAS_NAME = ""  # a name with weight 0
_BATCH_SIZE = 64  # maximum number of sequences that are labeled together
_SCALE_EVERY = 16  # items after which probabilities are scaled, long before a double overflows


class Tagger:
    """A linear-chain CRF of first order."""

    def __init__(self, model: Path) -> None:
        self.labels, names, self._weights, self._transitions = _read_model(model.read_bytes())
        self._index = _Index(zip(names, range(1, len(names) + 1), strict=True))

    def score_items(self, items: Sequence[Sequence[str]]) -> Matrix:
        """Return the summed weights of each item's names, by label: [items, labels]. Names that the model lacks have weight 0."""
        rows = self._find_rows(chain.from_iterable((_BIAS_NAME, *item) for item in items))
        return _sum_rows(self._weights[rows], np.fromiter(map(len, items), np.intp, len(items)) + 1)

    def weigh_neighbors(self, shown: Sequence[Sequence[str]], offsets: Sequence[int]) -> Matrix:
        """Return the summed weights of the items' neighbors, by label: [items, labels].

        Item i sees the names of item i + d as `{d}{name}`.
        """
        n = len(shown)
        index: dict[str, int] = {}
        codes = [index.setdefault(name, len(index)) for names in shown for name in (_BIAS_NAME, *names)]
        lengths = np.fromiter(map(len, shown), np.intp, n) + 1
        out = np.zeros((n, len(self.labels)))
        for d in offsets:
            rows = self._find_rows([f"{d}{name}" for name in index])
            weights = _sum_rows(self._weights[rows][codes], lengths)
            places = np.arange(n) + d
            there = (places >= 0) & (places < n)
            out[there] += weights[places[there]]
            out[~there] += self._weights[self._find_rows([f"{d}END"])]
        return out

    def _find_rows(self, names: Iterable[str]) -> Ints:
        return np.array(list(map(self._index.__getitem__, names)), np.intp)

    def tag(self, scores: Matrix) -> list[str]:
        """Return the most probable labels of a sequence of items."""
        return self.tag_each([scores])[0]

    def tag_each(self, documents: Sequence[Matrix]) -> list[list[str]]:
        """Return the most probable labels of several sequences; sequences of similar length are computed together."""
        out: list[list[str]] = [[] for _ in documents]
        order = sorted(range(len(documents)), key=lambda i: -len(documents[i]))
        for start in range(0, len(order), _BATCH_SIZE):
            lanes = order[start : start + _BATCH_SIZE]
            for i, path in zip(lanes, self._find_paths([documents[i] for i in lanes]), strict=True):
                out[i] = [self.labels[label] for label in path]
        return out

    def _find_paths(self, lanes: Sequence[Matrix]) -> list[list[int]]:
        """Return the most probable labels of sequences that are ordered from the longest to the shortest."""
        lengths = np.array([len(lane) for lane in lanes])
        best = np.zeros((lengths[0], len(lanes), len(self.labels)))
        back = np.zeros(best.shape, np.intp)
        for k, lane in enumerate(lanes):
            best[: len(lane), k] = lane
        into = np.ascontiguousarray(self._transitions.T)
        for t in range(1, lengths[0]):
            running = int((lengths > t).sum())
            sums = best[t - 1, :running, None, :] + into
            back[t, :running] = sums.argmax(2)
            best[t, :running] += np.maximum.reduce(sums, 2)
        out: list[list[int]] = []
        for k, length in enumerate(lengths.tolist()):
            path = [int(best[length - 1, k].argmax())] if length else []
            before = back[:length, k].tolist()
            for t in range(length - 1, 0, -1):
                path.append(before[t][path[-1]])
            out.append(path[::-1])
        return out

    def probabilities(self, scores: Matrix) -> Matrix:
        """Return the probability of each label for each item of a sequence: [items, labels]."""
        n = len(scores)
        states = np.exp(scores - scores.max(1, keepdims=True))
        transitions = np.exp(self._transitions)
        directions = np.stack([transitions, transitions.T])  # index 0 is the forward pass, index 1 the backward pass
        emissions = np.stack([states, states[::-1]], 1)[:, :, None, :]
        passes = np.empty_like(emissions)
        current = np.ones((2, 1, len(self.labels))) @ np.eye(len(self.labels))
        for i in range(n):
            current = emissions[i] * (current @ directions if i else current)
            if i % _SCALE_EVERY == 0:
                current = current / current.sum(2, keepdims=True)
            passes[i] = current
        beta = np.ones_like(states)
        beta[:-1] = passes[::-1, 1, 0][1:] @ transitions.T
        product: Matrix = passes[:, 0, 0] * beta
        summed: Matrix = product / product.sum(1, keepdims=True)
        return summed


class _Index(dict[str, int]):
    """A map from names to rows of weights."""

    def __missing__(self, name: str) -> int:
        return 0


def _sum_rows(weights: Matrix, lengths: Ints) -> Matrix:
    """Sum consecutive rows of weights; each item has the given number of rows, at least one."""
    if not len(lengths):
        return np.zeros((0, weights.shape[1]))
    summed: Matrix = np.add.reduceat(weights, np.cumsum(lengths) - lengths)
    return summed


_FEATURE = np.dtype([("kind", "<u4"), ("from", "<u4"), ("to", "<u4"), ("weight", "<f8")])


def _read_model(data: bytes) -> tuple[list[str], list[str], Matrix, Matrix]:
    """Read a CRFsuite model file (crf1d_model.c, version 100).

    Return the labels, the attributes, the attributes' weights by label below a row of zeros, and the transitions' weights.
    """
    magic, _, kind, version, *_ = struct.unpack_from("<4sI4sI", data)
    if (magic, kind, version) != (b"lCRF", b"FOMC", 100):
        raise ValueError("not a CRFsuite model of version 1.00: train the model again")
    at, labels_at, attributes_at = struct.unpack_from("<3I", data, 28)
    labels, attributes = _read_strings(data, labels_at), _read_strings(data, attributes_at)
    features = np.frombuffer(data, _FEATURE, struct.unpack_from("<I", data, at + 8)[0], at + 12)
    states, transitions = np.zeros((len(attributes) + 1, len(labels))), np.zeros((len(labels), len(labels)))
    state, way = features[features["kind"] == 0], features[features["kind"] == 1]
    states[state["from"] + 1, state["to"]] = state["weight"]
    transitions[way["from"], way["to"]] = way["weight"]
    return labels, attributes, states, transitions


def _read_strings(data: bytes, at: int) -> list[str]:
    """Return the strings of a CQDB in numerical order."""
    count, places = struct.unpack_from("<2I", data, at + 16)
    out = []
    for place in struct.unpack_from(f"<{count}I", data, at + places):
        size = struct.unpack_from("<I", data, at + place + 4)[0]
        out.append(data[at + place + 8 : at + place + 7 + size].decode())
    return out


@cache
def load_tagger(model: Path) -> Tagger:
    """Load a trained CRF."""
    return Tagger(model)
