"""Learn vectors from the words around mentions of papers, and find nearest neighbors and positions in a picture."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2corpus.datasets.protocol import Number, Params, Positive
from s2orc_parse.parse_model import ParseKind

PAPER = "paper:"
"""prefix of a token for a paper; blingfire produces no word of this form from running text"""


class VectorsParams(Params):
    """Parameters of the vectors."""

    kinds: tuple[ParseKind, ...] = (ParseKind.PDF, ParseKind.LATEX, ParseKind.JATS, ParseKind.ELSEVIER)
    """kinds of full text in order of preference; the first available kind is used"""
    window: Positive = 8
    """number of words on each side of a mention (GORC §6.1)"""
    min_count: Positive = 2
    """minimum number of mentions of a paper, and of occurrences of a word (GORC §6.1)"""
    dimensions: Positive = 300
    """dimensions of a vector (GORC §6.1)"""
    epochs: Positive = 5
    """number of passes over the text (gensim's default; GORC does not state a number)"""
    neighbours: Positive = 10
    """number of nearest papers stored for each paper, by cosine"""
    picture_papers: Number = 20_000
    """maximum number of papers in a picture (GORC, Figure 2: 20,126), those with the most mentions"""
    seed: int = 2019
    """seed of the initial vectors, of sampling and of the picture"""


@dataclass(frozen=True, slots=True)
class Learnt:
    """The results for n papers, sorted by id."""

    ids: list[str]
    mentions: list[int]
    vectors: np.ndarray
    """n × dimensions, float32, of length 1"""
    near: np.ndarray
    """n × neighbors, int32: the rows of the nearest papers, nearest first; -1 if there are fewer"""
    cosines: np.ndarray
    """n × neighbors, float32: their cosines"""

    def as_bytes(self) -> bytes:
        """Return the data as a NumPy file (`.npz`)."""
        file = io.BytesIO()
        np.savez(
            file, ids=np.asarray(self.ids, np.str_), mentions=np.asarray(self.mentions, np.int64), vectors=self.vectors, near=self.near,
            cosines=self.cosines,
        )  # fmt: skip
        return file.getvalue()

    @classmethod
    def of_bytes(cls, data: bytes) -> Learnt:
        """Return the data from the bytes that `as_bytes` returned."""
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            lists = {"ids": found["ids"].tolist(), "mentions": found["mentions"].tolist()}
            return cls(**lists, **{name: found[name] for name in ("vectors", "near", "cosines")})


def learn(params: VectorsParams, texts: Iterable[list[str]]) -> Learnt:
    """Compute vectors and neighbors. They are equal on one kind of CPU, and nearly equal on another."""
    ids, mentions, vectors = train(params, texts)
    return Learnt(ids, mentions, vectors, *nearest(vectors, params.neighbours))


def train(params: VectorsParams, texts: Iterable[list[str]]) -> tuple[list[str], list[int], np.ndarray]:
    """Return the ids of papers with enough mentions (sorted), the counts, and the vectors.

    The vectors have the shape papers × dimensions (float32, length 1).
    """
    from gensim.models import Word2Vec

    model = Word2Vec(
        vector_size=params.dimensions, window=params.window, min_count=params.min_count, sg=1, workers=1, epochs=params.epochs,
        seed=params.seed, hashfxn=_hash,
    )  # fmt: skip
    model.build_vocab(texts)
    if not len(model.wv):
        return [], [], np.zeros((0, params.dimensions), np.float32)
    model.train(texts, total_examples=model.corpus_count, epochs=model.epochs)
    words = sorted(word for word in model.wv.key_to_index if word.startswith(PAPER))
    vectors = np.asarray([model.wv.get_vector(word, norm=True) for word in words], np.float32)
    counts = [int(model.wv.get_vecattr(word, "count")) for word in words]
    return [word.removeprefix(PAPER) for word in words], counts, vectors.reshape(len(words), params.dimensions)


def _hash(text: str) -> int:
    """Return a hash that is equal in every process, unlike Python's own."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


_COSINES = 1 << 24
"""maximum number of cosines in memory at a time, 4 bytes each"""


def nearest(vectors: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows with the greatest cosine for each row (-1: none), and these cosines.

    They are in descending order of cosine; the lower row wins a tie.
    """
    block = max(1, min(1024, _COSINES // max(1, len(vectors))))
    near = np.full((len(vectors), number), -1, np.int32)
    cosines = np.zeros((len(vectors), number), np.float32)
    few = min(number, len(vectors) - 1)
    for start in range(0, len(vectors) if few > 0 else 0, block):
        found = vectors[start : start + block] @ vectors.T
        for i, row in enumerate(found, start):
            row[i] = -np.inf
            top = np.argpartition(-row, few - 1)[:few]
            top = top[np.lexsort((top, -row[top]))]
            near[i, :few], cosines[i, :few] = top, row[top]
    return near, cosines


def write_word2vec(learnt: Learnt, path: Path) -> None:
    """Write the vectors in word2vec's binary format, most mentions first.

    gensim reads the file with `KeyedVectors.load_word2vec_format(path, binary=True)`. The words are paper ids.
    """
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(learnt.vectors.shape[1])
    if learnt.ids:
        vectors.add_vectors(learnt.ids, learnt.vectors)
    for id_, number in zip(learnt.ids, learnt.mentions, strict=True):
        vectors.set_vecattr(id_, "count", number)
    vectors.save_word2vec_format(str(path), binary=True)


def most_mentioned(learnt: Learnt, labels: Sequence[str | None], number: int) -> list[int]:
    """Return the rows of at most `number` papers that have a label, most mentions first."""
    rows = [row for row, label in enumerate(labels) if label]
    return sorted(rows, key=lambda row: -learnt.mentions[row])[:number]


def project(vectors: np.ndarray, seed: int) -> np.ndarray:
    """Return the vectors in two dimensions by t-SNE (rows × 2).

    It uses one thread. With few papers, more threads only wait (15 times the CPU time for 150 papers). The result does not depend on the
    number of cores.
    """
    if len(vectors) < 4:
        return np.asarray([(float(i), 0.0) for i in range(len(vectors))]).reshape(len(vectors), 2)
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(30.0, (len(vectors) - 1) / 3)
    with threadpool_limits(1):
        return np.asarray(TSNE(perplexity=perplexity, init="pca", random_state=seed, n_jobs=1).fit_transform(vectors))


def same_field(near: np.ndarray, fields: Sequence[str | None]) -> tuple[float, float]:
    """Return how often nearest papers share a paper's field, and how often two random papers do.

    Only papers with a known field count.
    """
    pairs = [(fields[i], fields[j]) for i, row in enumerate(_rows(near)) for j in row if fields[i] and fields[j]]
    counts = Counter(field for field in fields if field)
    n = counts.total()
    chance = sum(k * (k - 1) for k in counts.values()) / (n * (n - 1)) if n > 1 else 0.0
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else 0.0, chance


def _rows(near: np.ndarray) -> list[list[int]]:
    return [[j for j in row if j >= 0] for row in near.tolist()]
