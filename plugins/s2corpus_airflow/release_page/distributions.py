"""Count the values of a score by outcome, in bins that no threshold divides, and draw them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus_airflow.release_page import charts

BINS = 40


@dataclass(frozen=True, slots=True)
class Distribution:
    """The values of a score in bins. The first and last bin contain the values outside of the quantiles 0.005 and 0.995."""

    name: str
    edges: Any
    """edges of the bins, ascending"""
    outcomes: list[str]
    """kept outcomes first, then others; by name"""
    counts: Any
    """number of values by outcome and bin"""
    kept: Collection[str]
    thresholds: Mapping[str, float]
    """thresholds by rule"""

    @property
    def rows(self) -> list[tuple[str, list[tuple[str, int]]]]:
        """The range of each bin, and its numbers of values by outcome."""
        return [
            (
                charts.interval(self.edges, bin_),
                [(word, int(n)) for word, n in zip(self.outcomes, self.counts[:, bin_], strict=True) if n],
            )
            for bin_ in range(BINS)
        ]

    @property
    def layers(self) -> list[tuple[str, Any]]:
        """The class and the counts of each outcome."""
        classes = ("kept" if word in self.kept else f"excluded{n % 2}" for n, word in enumerate(self.outcomes))
        return list(zip(classes, self.counts, strict=True))

    def draw(self) -> Any:
        """Return a small histogram of kept and other values."""
        is_kept = np.array([word in self.kept for word in self.outcomes])
        layers = [("kept", self.counts[is_kept].sum(0)), ("excluded0", self.counts[~is_kept].sum(0))]
        return charts.histogram(layers, self.edges, self.thresholds, f"{self.name}: {int(self.counts.sum()):,} values")


def count_values(
    name: str, columns: pa.Table, thresholds: Mapping[str, float], kept: Collection[str]
) -> Distribution | None:
    """Return the distribution of a column by `outcome`, a dictionary of strings; None if it has no values."""
    values, outcomes = columns[name].combine_chunks(), columns["outcome"].combine_chunks()
    codes = outcomes.indices.to_numpy()
    if pa.types.is_list(values.type):
        codes, values = codes[pc.list_parent_indices(values).to_numpy()], values.flatten()
    numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    if not (is_known := np.isfinite(numbers)).all():
        numbers, codes = numbers[is_known], codes[is_known]
    if not len(numbers):
        return None
    limits = [*np.quantile(numbers[:: len(numbers) // 10_000 + 1], (0.005, 0.995)), *thresholds.values()]
    low, high = min(limits), max(limits)
    step = (high - low) / (BINS - 2) or 1.0
    if pa.types.is_integer(values.type):
        low, step = math.floor(low), math.ceil(step)
    first = min(thresholds.values(), default=low)  # an edge of the bins, so that no bin has both sides of the threshold
    edges = first - step * max(math.ceil((first - low) / step), 1) + step * np.arange(BINS + 1)
    bins = np.clip(np.floor((numbers - edges[0]) / step), 0, BINS - 1).astype(np.int64)
    bins += (numbers >= edges[bins + 1]).astype(np.int64) - (numbers < edges[bins])  # rounding
    bins = np.clip(bins, 0, BINS - 1)
    words = outcomes.dictionary.to_pylist()
    counts = np.bincount(codes * BINS + bins, minlength=len(words) * BINS).reshape(len(words), BINS)
    order = sorted(range(len(words)), key=lambda code: (words[code] not in kept, words[code]))
    return Distribution(name, edges, [words[code] for code in order], counts[order], kept, thresholds)
