"""Build paper vectors: word2vec over full text with citation marks replaced by ids of cited papers (GORC §6.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from html import escape
from typing import Any

import numpy as np
import pyarrow as pa

from s2corpus_datasets import sentences
from s2corpus_datasets.citations import cited_sentences
from s2corpus_datasets.job import Dataset, Job
from s2corpus_datasets.outputs import Outputs
from s2corpus_datasets.protocol import DatasetCheck, DatasetTable, Row, StepResult
from s2corpus_datasets.source import SnapshotPaper
from s2corpus_datasets.vectors.learning import (
    PAPER,
    PaperVectors,
    VectorsParams,
    learn,
    measure_field_agreement,
    most_mentioned,
    project,
    write_word2vec,
)
from s2corpus_reader.files import file_number
from s2orc_parse.parse_model import EQUATION


class VectorOutcome(StrEnum):
    """The outcome of a paper's text."""

    KEPT = "kept"
    NO_TEXT = "no_open_full_text"
    NO_MENTIONS = "mentions_no_paper"


CATEGORIES = ("cs.CL", "cs.CV", "cs.NE", "cs.AI", "cs.LG", "stat.ML")
"""arXiv categories of GORC's Figure 2 (S2ORC's Figure 3). A paper with several categories has the first one in sorted order."""
VECTORS = pa.schema([
    ("paper_id", pa.string()), ("title", pa.string()), ("field", pa.string()), ("mentions", pa.int64()),
    ("vector", pa.list_(pa.float32())),
])  # fmt: skip
"""`field` is null if it is unknown"""
NEIGHBORS = pa.schema([
    ("paper_id", pa.string()), ("rank", pa.int32()), ("neighbor_id", pa.string()), ("cosine", pa.float32()),
    ("title", pa.string()), ("field", pa.string()),
])  # fmt: skip
"""`title` and `field` describe the neighbor"""


class Vectors(Dataset):
    """The dataset of vectors. One worker trains, so that the same text gives the same vectors on one kind of CPU."""

    version = f"5.{sentences.VERSION}"
    description = (
        "Vectors of papers learned from the words around their mentions (skip-gram), their nearest neighbors, and pictures of them "
        "by field and by arXiv category (GORC §6.1)."
    )
    params = VectorsParams
    tables = (
        DatasetTable("vectors", VECTORS, {"train": "vectors/*.parquet"}),
        DatasetTable("neighbors", NEIGHBORS, {"train": "neighbors/*.parquet"}),
    )
    schema = pa.schema([
        ("kind", pa.string()), ("paper_id", pa.string()), ("title", pa.string()), ("field", pa.string()), ("category", pa.string()),
        ("text", pa.string()),
    ])  # fmt: skip
    required_modules = ("gensim", "sklearn")

    def rows(self, params: VectorsParams, paper: SnapshotPaper, result: StepResult) -> Iterator[Row]:
        """Yield the metadata of a paper, and its sentences as words with papers in place of citation marks."""
        result.add_input("papers")
        subjects = paper.columns["subjects"] or ()
        yield {
            "kind": "paper",
            "paper_id": paper.id,
            "title": paper.metadata["title"],
            "field": paper.fields[0] if paper.fields else None,
            "category": next((category for category in CATEGORIES if category in subjects), None),
            "text": None,
        }
        full_text = paper.full_text(params.kinds)
        lines: list[str] = []
        mentioned = 0
        if full_text:
            _, parse = full_text
            links = {ref: entry["link"] for ref, entry in parse["bib_entries"].items() if entry.get("link")}
            for paragraph in parse["body_text"]:
                for words, papers in _lines(paragraph, links):
                    lines.append(words)
                    mentioned += papers
        result.tally["mentions"] += mentioned
        outcome = VectorOutcome.KEPT if mentioned else VectorOutcome.NO_MENTIONS if full_text else VectorOutcome.NO_TEXT
        result.add_outcome("papers", outcome)
        if lines:
            yield {"kind": "text", "paper_id": paper.id, "text": "\n".join(lines)}

    def finish(self, job: Job, choice: Mapping[str, Any], result: StepResult, out: Outputs) -> dict[str, float]:
        """Write `vectors/<nn>.parquet`, `neighbors/<nn>.parquet`, `word2vec.bin`, `picture.svg` and `arxiv.svg`.

        `arxiv.svg` exists only if papers have one of the six categories. Return the counts and the share of neighbors with the same
        field.
        """
        params: VectorsParams = job.params
        arrays = job.cache_arrays("learned", lambda: asdict(learn(params, _SentenceIterator(job))))
        learned = PaperVectors.from_arrays(arrays)
        metadata = _read_metadata(job, set(learned.ids))
        papers = [metadata.get(id_, (None, None, None)) for id_ in learned.ids]
        for shard in range(job.source.shards):
            _write_shard(out, shard, job.source.shards, learned, papers)
        with out.open_file("word2vec.bin", lambda: len(learned.ids)) as path:
            write_word2vec(learned, path)
        fields = [field for _, field, _ in papers]
        _draw_picture(job, out, learned, "picture", "papers by field", [field or "unknown" for field in fields])
        if any(categories := [category for _, _, category in papers]):
            _draw_picture(job, out, learned, "arxiv", "papers by arXiv category", categories)
        share, chance = measure_field_agreement(learned.neighbors, fields)
        return {
            "papers": float(len(learned.ids)),
            "mentions": float(result.tally["mentions"]),
            "neighbors_same_field": share,
            "chance_same_field": chance,
        }

    def checks(self, job: Job, result: StepResult, metrics: Mapping[str, float]) -> list[DatasetCheck]:
        """Check that neighbors share a field more often than by chance."""
        below = metrics["neighbors_same_field"] <= metrics["chance_same_field"]
        return [
            DatasetCheck(
                "above_chance", int(below), "neighbors share a field no more often than random papers", blocks=False
            )
        ]


def _lines(paragraph: Mapping[str, Any], links: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Yield each sentence as words separated by single spaces, and the number of papers that it mentions."""
    text = paragraph["text"]
    for sentence in cited_sentences(paragraph):
        words: list[str] = []
        at, papers = sentence.start, 0
        for mark in sentence.marks:
            words += _words(text[at : mark.start])
            cited = dict.fromkeys(links[ref] for ref in mark.ref_ids if ref in links)
            words += [f"{PAPER}{id_}" for id_ in cited] or _words(text[mark.start : mark.end])
            papers += len(cited)
            at = max(at, mark.end)
        words += _words(text[at : sentence.end])
        yield " ".join(words), papers


def _words(text: str) -> list[str]:
    """Return lower-case words without punctuation and formula tokens, as blingfire separates them."""
    import blingfire

    words = blingfire.text_to_words(text).split()
    return [word.casefold() for word in words if word != EQUATION and any(map(str.isalnum, word))]


class _SentenceIterator:
    """The sentences of all shards as lists of words, in the same order in each iteration."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __iter__(self) -> Iterator[list[str]]:
        for row in self._job.rows(columns=["text"], batch_rows=16):
            for line in (row["text"] or "").split("\n"):
                if line:
                    yield line.split(" ")


_Paper = tuple[str | None, str | None, str | None]
"""title, field and arXiv category of a paper"""


def _read_metadata(job: Job, ids: set[str]) -> dict[str, _Paper]:
    """Return title, field and category of these papers."""
    metadata = {}
    for row in job.rows(columns=["kind", "paper_id", "title", "field", "category"], batch_rows=4096):
        if row["kind"] == "paper" and row["paper_id"] in ids:
            metadata[row["paper_id"]] = (row["title"], row["field"], row["category"])
    return metadata


def _draw_picture(
    job: Job, out: Outputs, learned: PaperVectors, name: str, title: str, labels: Sequence[str | None]
) -> None:
    """Write a t-SNE picture of the labeled papers with the most mentions."""
    params: VectorsParams = job.params
    rows = most_mentioned(learned, labels, params.picture_papers)
    places = job.cache_arrays(name, lambda: {"places": project(learned.vectors[rows], params.seed)})["places"]
    shown = [str(labels[row]) for row in rows]
    out.write_bytes(f"{name}.svg", scatter(f"{len(shown):,} {title}", places, shown).encode())


def _write_shard(out: Outputs, shard: int, shards: int, learned: PaperVectors, papers: list[_Paper]) -> None:
    """Write the vectors of a shard's papers, and their nearest papers."""
    rows = [i for i, id_ in enumerate(learned.ids) if file_number(id_, shards) == shard]
    with out.open_parquet(f"vectors/{shard:02d}.parquet", VECTORS) as file:
        for i in rows:
            title, field, _ = papers[i]
            row = {"paper_id": learned.ids[i], "title": title, "field": field, "mentions": learned.mentions[i]}
            file.write({**row, "vector": learned.vectors[i].tolist()}, 8 * learned.vectors.shape[1])
    with out.open_parquet(f"neighbors/{shard:02d}.parquet", NEIGHBORS) as file:
        for i in rows:
            for rank, j in enumerate(learned.neighbors[i].tolist(), 1):
                if j >= 0:
                    title, field, _ = papers[j]
                    row = {
                        "paper_id": learned.ids[i],
                        "rank": rank,
                        "neighbor_id": learned.ids[j],
                        "title": title,
                        "field": field,
                    }
                    file.write({**row, "cosine": float(learned.cosines[i, rank - 1])}, 200)


_SIZE, _LEGEND = 640, 190
_COLORS = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#bcbd22", "#17becf", "#393b79", "#637939",
    "#8c6d31", "#843c39", "#7b4173", "#3182bd", "#e6550d", "#31a354", "#756bb1", "#636363",
)  # fmt: skip


def scatter(title: str, places: np.ndarray, labels: Sequence[str]) -> str:
    """Return a plot of points (n × 2), colored by label, with the most frequent label first in the legend."""
    counts = Counter(labels)
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    color = {label: "#999" if label == "unknown" else _COLORS[i % len(_COLORS)] for i, label in enumerate(ranked)}
    low, high = (places.min(axis=0), places.max(axis=0)) if len(places) else (np.zeros(2), np.ones(2))
    span = np.where(high > low, high - low, 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SIZE + _LEGEND}" height="{_SIZE}" role="img" '
        f'aria-label="{escape(title)}" font-family="sans-serif" font-size="12">',
        f'<title>{escape(title)}</title><rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="8" y="20" font-size="14">{escape(title)}</text>',
    ]
    for place, label in zip((places - low) / span, labels, strict=True):
        x, y = 20 + place[0] * (_SIZE - 40), 36 + place[1] * (_SIZE - 56)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color[label]}" fill-opacity="0.7"/>')
    for i, label in enumerate(ranked):
        y = 40 + 20 * i
        parts.append(f'<rect x="{_SIZE + 4}" y="{y - 10}" width="12" height="12" fill="{color[label]}"/>')
        parts.append(f'<text x="{_SIZE + 22}" y="{y}">{escape(label)} ({counts[label]:,})</text>')
    return "\n".join([*parts, "</svg>", ""])
