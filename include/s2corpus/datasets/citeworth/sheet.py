"""Draw sentences for a manual evaluation, and write them as a sheet without the labels (CiteWorth §3.3)."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from s2corpus.escaping import format_csv

LABELS = ("check-worthy", "non-check-worthy")


@dataclass(frozen=True, slots=True)
class Sample:
    """A sentence of the dataset with its origin."""

    text: str
    label: str
    paper_id: str
    section_index: int
    rank: str
    """hash; the sentences with the lowest ranks are drawn"""

    @property
    def item(self) -> str:
        """Name in the sheet: a hash that hides the rank, because sentences of the more frequent label have lower ranks."""
        return hashlib.sha256(f"item:{self.rank}".encode()).hexdigest()[:16]


def list_sentences(seed: str, lines: Iterable[Mapping[str, Any]]) -> Iterator[Sample]:
    """Yield every sentence of these paragraphs."""
    for line in lines:
        for number, sample in enumerate(line["samples"]):
            paper, section = line["paper_id"], line["section_index"]
            rank = hashlib.sha256(f"{seed}:{paper}:{section}:{number}".encode()).hexdigest()
            yield Sample(sample["text"], sample["label"], paper, section, rank)


def draw_sentences(number: int, samples: Iterable[Sample]) -> list[Sample]:
    """Return `number` sentences of each label in random order; fewer if the dataset has fewer."""
    first: dict[str, list[tuple[int, Sample]]] = {label: [] for label in LABELS}
    for sample in samples:
        heap, rank = first[sample.label], -int(sample.rank, 16)
        if len(heap) < number:
            heapq.heappush(heap, (rank, sample))
        elif rank > heap[0][0]:
            heapq.heapreplace(heap, (rank, sample))
    return sorted((sample for heap in first.values() for _, sample in heap), key=attrgetter("item"))


def format_sheet(drawn: Iterable[Sample]) -> str:
    """Return CSV for the annotator: the sentences, with empty columns for the two questions of Table 3."""
    rows = ((sample.item, sample.text, "", "") for sample in drawn)
    return _format_csv(("item", "sentence", "extracted_correct", "markers_removed"), rows)


def format_key(drawn: Iterable[Sample], method: str) -> str:
    """Return CSV that gives the method, label and origin of each item of the sheet."""
    rows = ((s.item, method, s.label, s.paper_id, s.section_index) for s in drawn)
    return _format_csv(("item", "method", "label", "paper_id", "section_index"), rows)


def _format_csv(names: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    return format_csv((names, *([" ".join(str(value).split()) for value in row] for row in rows)), quote_all=True)
