"""Create paper vectors: word2vec over full text with citation marks replaced by ids of cited papers (GORC §6.1)."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from s2corpus.datasets.citations import cited_sentences
from s2corpus.datasets.protocol import DatasetCheck, DatasetTable, Made, Row
from s2corpus.datasets.vectors.learning import (
    PAPER,
    Learnt,
    VectorsParams,
    learn,
    most_mentioned,
    project,
    same_field,
    write_word2vec,
)
from s2corpus.datasets.vectors.picture import scatter
from s2corpus.text import sentences
from s2corpus_reader.files import file_number
from s2orc_parse.parse_model import EQUATION

if TYPE_CHECKING:
    from s2corpus.datasets.job import Job
    from s2corpus.datasets.outputs import Outputs
    from s2corpus.datasets.source import SnapshotPaper


class VectorOutcome(StrEnum):
    """The outcome of a paper's text."""

    KEPT = "kept"
    NO_TEXT = "no_open_full_text"
    NO_MENTIONS = "mentions_no_paper"


CATEGORIES = ("cs.CL", "cs.CV", "cs.NE", "cs.AI", "cs.LG", "stat.ML")
"""arXiv categories of GORC's Figure 2 (S2ORC's Figure 3). A paper with several counts for the first, since releases sort subjects."""
VECTORS = pa.schema([
    ("paper_id", pa.string()), ("title", pa.string()), ("field", pa.string()), ("mentions", pa.int64()),
    ("vector", pa.list_(pa.float32())),
])  # fmt: skip
"""`field` is null if it is unknown"""
NEIGHBOURS = pa.schema([
    ("paper_id", pa.string()), ("rank", pa.int32()), ("neighbour_id", pa.string()), ("cosine", pa.float32()),
    ("title", pa.string()), ("field", pa.string()),
])  # fmt: skip
"""`title` and `field` describe the neighbor"""


class Vectors:
    """The dataset. One worker trains, so that the same text gives the same vectors on one kind of CPU."""

    name = "vectors"
    version = f"5.{sentences.VERSION}"
    about = (
        "Vectors of papers learnt from the words around their mentions (skip-gram), their nearest neighbours, and pictures of them "
        "by field and by arXiv category (GORC §6.1)."
    )
    params = VectorsParams
    schema = pa.schema([
        ("kind", pa.string()), ("paper_id", pa.string()), ("title", pa.string()), ("field", pa.string()), ("category", pa.string()),
        ("text", pa.string()),
    ])  # fmt: skip
    order: tuple[str, ...] = ()
    needs: tuple[str, ...] = ("gensim", "sklearn")
    paper: Mapping[str, float] = {}
    """GORC shows a picture and examples, but no figures"""

    def rows(self, params: VectorsParams, paper: SnapshotPaper, made: Made) -> Iterator[Row]:
        """Yield the metadata of a paper, and its sentences as words with papers in place of citation marks."""
        made.funnel.enter("papers")
        subjects = paper.known["subjects"] or ()
        yield {
            "kind": "paper",
            "paper_id": paper.id,
            "title": paper.metadata["title"],
            "field": paper.fields[0] if paper.fields else None,
            "category": next((category for category in CATEGORIES if category in subjects), None),
            "text": None,
        }
        found = paper.full_text(params.kinds)
        lines: list[str] = []
        mentioned = 0
        if found:
            links = {ref: entry["link"] for ref, entry in found[1]["bib_entries"].items() if entry.get("link")}
            for paragraph in found[1]["body_text"]:
                for words, papers in _lines(paragraph, links):
                    lines.append(words)
                    mentioned += papers
        made.tally["mentions"] += mentioned
        outcome = VectorOutcome.NO_TEXT if not found else VectorOutcome.KEPT if mentioned else VectorOutcome.NO_MENTIONS
        made.funnel.count("papers", outcome)
        if lines:
            yield {"kind": "text", "paper_id": paper.id, "text": "\n".join(lines)}

    def choose(self, job: Job) -> dict[str, Any]:
        """Return no decision: the vectors are learned from all shards together."""
        return {}

    def write(self, job: Job, shard: int, choice: Mapping[str, Any], out: Outputs) -> None:
        """Write nothing: the vectors are learned from all shards together."""

    def finish(self, job: Job, choice: Mapping[str, Any], made: Made, out: Outputs) -> dict[str, float]:
        """Write `vectors/<nn>.parquet`, `neighbours/<nn>.parquet`, `word2vec.bin`, `picture.svg` and `arxiv.svg`.

        `arxiv.svg` exists only if papers have one of the six categories. Return the counts and the share of neighbors with the same
        field.
        """
        params: VectorsParams = job.params  # type: ignore[assignment]
        learnt = Learnt.of_bytes(job.once("learnt", lambda: learn(params, _Texts(job)).as_bytes()))
        known = _known(job, set(learnt.ids))
        papers = [known.get(id_, (None, None, None)) for id_ in learnt.ids]
        for shard in range(job.source.shards):
            _write(out, shard, job.source.shards, learnt, papers)
        with out.file("word2vec.bin", lambda: len(learnt.ids)) as path:
            write_word2vec(learnt, path)
        fields = [field for _, field, _ in papers]
        _draw(job, out, learnt, "picture", "papers by field", [field or "unknown" for field in fields])
        if any(categories := [category for _, _, category in papers]):
            _draw(job, out, learnt, "arxiv", "papers by arXiv category", categories)
        share, chance = same_field(learnt.near, fields)
        return {
            "papers": float(len(learnt.ids)),
            "mentions": float(made.tally["mentions"]),
            "neighbours_same_field": share,
            "chance_same_field": chance,
        }

    def checks(self, job: Job, made: Made, metrics: Mapping[str, float]) -> list[DatasetCheck]:
        """Check that neighbors share a field more often than by chance."""
        below = metrics["neighbours_same_field"] <= metrics["chance_same_field"]
        return [
            DatasetCheck(
                "above_chance", int(below), "neighbours are not of one field more often than by chance", blocks=False
            )
        ]

    def tables(self, params: VectorsParams) -> list[DatasetTable]:
        """Return the tables of vectors and neighbors."""
        return [
            DatasetTable("vectors", VECTORS, {"train": "vectors/*.parquet"}),
            DatasetTable("neighbours", NEIGHBOURS, {"train": "neighbours/*.parquet"}),
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


class _Texts:
    """The sentences of all shards as lists of words, in the same order in each iteration."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __iter__(self) -> Iterator[list[str]]:
        for batch in self._job.kept().to_batches(columns=["text"], batch_size=16, use_threads=False):
            for text in batch["text"].to_pylist():
                for line in (text or "").split("\n"):
                    if line:
                        yield line.split(" ")


_Paper = tuple[str | None, str | None, str | None]
"""title, field and arXiv category of a paper"""


def _known(job: Job, ids: set[str]) -> dict[str, _Paper]:
    """Return title, field and category of these papers."""
    known = {}
    for batch in job.kept().to_batches(columns=["kind", "paper_id", "title", "field", "category"], batch_size=4096):
        for row in batch.to_pylist():
            if row["kind"] == "paper" and row["paper_id"] in ids:
                known[row["paper_id"]] = (row["title"], row["field"], row["category"])
    return known


def _draw(job: Job, out: Outputs, learnt: Learnt, name: str, title: str, labels: Sequence[str | None]) -> None:
    """Write a t-SNE picture of the labeled papers with the most mentions."""
    params: VectorsParams = job.params  # type: ignore[assignment]
    rows = most_mentioned(learnt, labels, params.picture_papers)

    def place() -> bytes:
        file = io.BytesIO()
        np.save(file, project(learnt.vectors[rows], params.seed))
        return file.getvalue()

    places = np.load(io.BytesIO(job.once(name, place)), allow_pickle=False)
    shown = [str(labels[row]) for row in rows]
    out.content(f"{name}.svg", scatter(f"{len(shown):,} {title}", places, shown).encode())


def _write(out: Outputs, shard: int, shards: int, learnt: Learnt, papers: list[_Paper]) -> None:
    """Write the vectors of a shard's papers, and their nearest papers."""
    mine = [i for i, id_ in enumerate(learnt.ids) if file_number(id_, shards) == shard]
    with out.parquet(f"vectors/{shard:02d}.parquet", VECTORS) as file:
        for i in mine:
            title, field, _ = papers[i]
            row = {"paper_id": learnt.ids[i], "title": title, "field": field, "mentions": learnt.mentions[i]}
            file.write({**row, "vector": learnt.vectors[i].tolist()}, 8 * learnt.vectors.shape[1])
    with out.parquet(f"neighbours/{shard:02d}.parquet", NEIGHBOURS) as file:
        for i in mine:
            for rank, j in enumerate(learnt.near[i].tolist(), 1):
                if j >= 0:
                    title, field, _ = papers[j]
                    row = {
                        "paper_id": learnt.ids[i],
                        "rank": rank,
                        "neighbour_id": learnt.ids[j],
                        "title": title,
                        "field": field,
                    }
                    file.write({**row, "cosine": float(learnt.cosines[i, rank - 1])}, 200)
