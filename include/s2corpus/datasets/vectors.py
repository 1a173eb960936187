"""Paper vectors: word2vec over full text in which citation marks are replaced by the ids of the cited papers (GORC §6.1)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from s2corpus.datasets.citations import cited_sentences
from s2corpus.datasets.picture import scatter
from s2corpus.datasets.protocol import Check, Made, Params, Row, Table
from s2corpus.snapshot.files import number
from s2corpus.text import sentences

if TYPE_CHECKING:
    from s2corpus.datasets.job import Job
    from s2corpus.datasets.outputs import Outputs
    from s2corpus.datasets.source import Paper

_PAPER = "paper:"
"""what marks a token as a paper: blingfire makes no word of this form of running text"""


class PaperOutcome(StrEnum):
    """What became of a paper's text."""

    KEPT = "kept"
    NO_TEXT = "no_open_full_text"
    NO_MENTIONS = "mentions_no_paper"


class VectorsParams(Params):
    """Parameters of the vectors."""

    kinds: tuple[str, ...] = ("pdf", "latex", "jats", "elsevier")
    """full texts that are read, the first that a paper has"""
    window: int = 8
    """words on each side of a mention (GORC §6.1)"""
    min_count: int = 2
    """mentions of a paper, and times of a word, at least (GORC §6.1)"""
    dimensions: int = 300
    """of a vector (GORC §6.1)"""
    epochs: int = 5
    """passes over the text (gensim's default; GORC says nothing)"""
    neighbours: int = 10
    """nearest papers that are kept of each, by cosine"""
    picture_papers: int = 20_000
    """papers in the picture at most (GORC, Figure 2: 20,126), those most often mentioned"""
    seed: int = 2019
    """of the first vectors, of sampling and of the picture"""


VECTORS = pa.schema([
    ("paper_id", pa.string()), ("title", pa.string()), ("field", pa.string()), ("mentions", pa.int64()),
    ("vector", pa.list_(pa.float32())),
])  # fmt: skip
NEIGHBOURS = pa.schema([
    ("paper_id", pa.string()), ("rank", pa.int32()), ("neighbour_id", pa.string()), ("cosine", pa.float32()),
    ("title", pa.string()), ("field", pa.string()),
])  # fmt: skip
"""`title` and `field` are the neighbour's"""


class Vectors:
    """The dataset. Training is one worker's, so that the same text gives the same vectors on one kind of CPU."""

    name = "vectors"
    version = f"1.{sentences.VERSION}"
    about = (
        "Vectors of papers learnt from the words around their mentions (skip-gram), their nearest neighbours, and a picture of them "
        "by field (GORC §6.1)."
    )
    params = VectorsParams
    schema = pa.schema([
        ("kind", pa.string()), ("paper_id", pa.string()), ("title", pa.string()), ("field", pa.string()), ("text", pa.string()),
    ])  # fmt: skip
    order: tuple[str, ...] = ()
    needs: tuple[str, ...] = ("gensim", "sklearn")

    def rows(self, params: VectorsParams, paper: Paper, made: Made) -> Iterator[Row]:
        """What is known of a paper, and its sentences as words, papers in the place of citation marks."""
        made.funnel.enter("papers")
        known = {"paper_id": paper.id, "title": paper.metadata["title"], "field": (paper.fields or ["unknown"])[0]}
        yield {"kind": "paper", **known, "text": None}
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
        outcome = PaperOutcome.NO_TEXT if not found else PaperOutcome.KEPT if mentioned else PaperOutcome.NO_MENTIONS
        made.funnel.count("papers", outcome)
        if lines:
            yield {"kind": "text", "paper_id": paper.id, "title": None, "field": None, "text": "\n".join(lines)}

    def choose(self, job: Job) -> dict[str, Any]:
        """Nothing is decided over all shards."""
        return {}

    def write(self, job: Job, shard: int, choice: Mapping[str, Any], out: Outputs) -> None:
        """Nothing: the vectors are learnt from all shards together."""

    def finish(self, job: Job, choice: Mapping[str, Any], made: Made, out: Outputs) -> dict[str, float]:
        """`vectors/<nn>.parquet`, `neighbours/<nn>.parquet` and `picture.svg`; how far neighbours share the field."""
        params: VectorsParams = job.params  # type: ignore[assignment]
        ids, mentions, vectors = learn(params, _Texts(job))
        known = _known(job, set(ids))
        papers = [known.get(id_, (None, "unknown")) for id_ in ids]
        near = nearest(vectors, params.neighbours)
        _write_vectors(out, job.source.shards, ids, papers, mentions, vectors)
        _write_neighbours(out, job.source.shards, ids, papers, near)
        fields = [field for _, field in papers]
        top = sorted(range(len(ids)), key=lambda i: (-mentions[i], ids[i]))[: params.picture_papers]
        places = project(vectors[top], params.seed)
        out.content("picture.svg", scatter(f"{len(top):,} papers by field", places, [fields[i] for i in top]).encode())
        pairs = [(i, j) for i, found in enumerate(near) for j, _ in found if "unknown" not in (fields[i], fields[j])]
        return {
            "papers": float(len(ids)),
            "mentions": float(made.tally["mentions"]),
            "neighbours_same_field": sum(fields[i] == fields[j] for i, j in pairs) / len(pairs) if pairs else 0.0,
            "chance_same_field": _chance([field for field in fields if field != "unknown"]),
        }

    def checks(self, job: Job, made: Made, metrics: Mapping[str, float]) -> list[Check]:
        """Neighbours are more often of one field than by chance."""
        below = metrics["neighbours_same_field"] <= metrics["chance_same_field"]
        return [
            Check("above_chance", int(below), "neighbours are not of one field more often than by chance", blocks=False)
        ]

    def tables(self, params: VectorsParams) -> list[Table]:
        """The vectors and the neighbours."""
        return [
            Table("vectors", VECTORS, {"train": "vectors/*.parquet"}),
            Table("neighbours", NEIGHBOURS, {"train": "neighbours/*.parquet"}),
        ]


def _lines(paragraph: Mapping[str, Any], links: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Each sentence as words with single spaces between them, and how many papers it mentions."""
    text = paragraph["text"]
    for sentence in cited_sentences(paragraph):
        words: list[str] = []
        at, papers = sentence.start, 0
        for mark in sentence.marks:
            words += _words(text[at : mark.start])
            cited = dict.fromkeys(links[ref] for ref in mark.ref_ids if ref in links)
            words += [f"{_PAPER}{id_}" for id_ in cited] or _words(text[mark.start : mark.end])
            papers += len(cited)
            at = max(at, mark.end)
        words += _words(text[at : sentence.end])
        yield " ".join(words), papers


def _words(text: str) -> list[str]:
    """Words in lower case, without punctuation, as blingfire separates them."""
    import blingfire

    return [word.casefold() for word in blingfire.text_to_words(text).split() if any(map(str.isalnum, word))]


class _Texts:
    """The sentences of all shards as lists of words, each time in the same order."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __iter__(self) -> Iterator[list[str]]:
        for batch in self._job.kept().to_batches(columns=["text"], batch_size=16, use_threads=False):
            for text in batch["text"].to_pylist():
                for line in (text or "").split("\n"):
                    if line:
                        yield line.split(" ")


def learn(params: VectorsParams, texts: Any) -> tuple[list[str], list[int], np.ndarray]:
    """Ids of the papers mentioned often enough (sorted), how often, and their vectors (papers × dimensions, float32, length 1)."""
    from gensim.models import Word2Vec

    model = Word2Vec(
        vector_size=params.dimensions, window=params.window, min_count=params.min_count, sg=1, workers=1, epochs=params.epochs,
        seed=params.seed, hashfxn=_hash,
    )  # fmt: skip
    model.build_vocab(texts)
    if not len(model.wv):
        return [], [], np.zeros((0, params.dimensions), np.float32)
    model.train(texts, total_examples=model.corpus_count, epochs=model.epochs)
    words = sorted(word for word in model.wv.key_to_index if word.startswith(_PAPER))
    vectors = np.asarray([model.wv.get_vector(word, norm=True) for word in words], np.float32)
    counts = [int(model.wv.get_vecattr(word, "count")) for word in words]
    return [word.removeprefix(_PAPER) for word in words], counts, vectors.reshape(len(words), params.dimensions)


def _hash(text: str) -> int:
    """A hash that is the same in every process, unlike Python's own."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def nearest(vectors: np.ndarray, number_: int, block: int = 1024) -> list[list[tuple[int, float]]]:
    """Of each row the other rows with the greatest cosine: (row, cosine), greatest first, of equal ones the lower row."""
    found: list[list[tuple[int, float]]] = []
    for start in range(0, len(vectors), block):
        cosines = vectors[start : start + block] @ vectors.T
        for i, row in enumerate(cosines, start):
            row[i] = -np.inf
            few = min(number_, len(row) - 1)
            top = np.argpartition(-row, few - 1)[:few].tolist() if few > 0 else []
            ranked = sorted(((j, float(row[j])) for j in top), key=lambda pair: (-pair[1], pair[0]))
            found.append(ranked)
    return found


def project(vectors: np.ndarray, seed: int) -> np.ndarray:
    """The vectors in two dimensions by t-SNE (rows × 2)."""
    if len(vectors) < 4:
        return np.asarray([(float(i), 0.0) for i in range(len(vectors))]).reshape(len(vectors), 2)
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(vectors) - 1) / 3)
    return np.asarray(TSNE(perplexity=perplexity, init="pca", random_state=seed, n_jobs=1).fit_transform(vectors))


def _known(job: Job, ids: set[str]) -> dict[str, tuple[str | None, str]]:
    """Title and field of these papers."""
    known = {}
    for batch in job.kept().to_batches(columns=["kind", "paper_id", "title", "field"], batch_size=4096):
        for row in batch.to_pylist():
            if row["kind"] == "paper" and row["paper_id"] in ids:
                known[row["paper_id"]] = (row["title"], row["field"])
    return known


def _write_vectors(
    out: Outputs,
    shards: int,
    ids: list[str],
    papers: list[tuple[str | None, str]],
    mentions: list[int],
    vectors: np.ndarray,
) -> None:
    for shard in range(shards):
        with out.parquet(f"vectors/{shard:02d}.parquet", VECTORS) as file:
            for i, id_ in enumerate(ids):
                if number(id_, shards) == shard:
                    title, field = papers[i]
                    row = {
                        "paper_id": id_,
                        "title": title,
                        "field": field,
                        "mentions": mentions[i],
                        "vector": vectors[i].tolist(),
                    }
                    file.write(row, 8 * len(vectors[i]))


def _write_neighbours(
    out: Outputs, shards: int, ids: list[str], papers: list[tuple[str | None, str]], near: list[list[tuple[int, float]]]
) -> None:
    for shard in range(shards):
        with out.parquet(f"neighbours/{shard:02d}.parquet", NEIGHBOURS) as file:
            for i, id_ in enumerate(ids):
                if number(id_, shards) == shard:
                    for rank, (j, cosine) in enumerate(near[i], 1):
                        title, field = papers[j]
                        row = {
                            "paper_id": id_,
                            "rank": rank,
                            "neighbour_id": ids[j],
                            "cosine": cosine,
                            "title": title,
                            "field": field,
                        }
                        file.write(row, 200)


def _chance(fields: list[str]) -> float:
    """How often two papers drawn from these are of one field."""
    n = len(fields)
    return sum(k * (k - 1) for k in map(fields.count, set(fields))) / (n * (n - 1)) if n > 1 else 0.0
