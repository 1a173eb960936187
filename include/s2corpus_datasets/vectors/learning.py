"""Learn vectors from the words around mentions of papers, and find nearest neighbors and positions in a picture."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import NonNegativeInt, PositiveInt

from s2corpus_datasets.protocol import TextParams

PAPER = "paper:"
"""prefix of a token for a paper; blingfire never produces such a word"""


class VectorsParams(TextParams):
    """Parameters of the vectors."""

    window: PositiveInt = 8
    """number of words on each side of a mention (GORC §6.1)"""
    min_count: PositiveInt = 2
    """minimum number of mentions of a paper, and of occurrences of a word (GORC §6.1)"""
    dimensions: PositiveInt = 300
    """dimensions of a vector (GORC §6.1)"""
    epochs: PositiveInt = 5
    """number of passes over the text (gensim's default; GORC does not state a number)"""
    neighbors: PositiveInt = 10
    """number of nearest papers stored for each paper, by cosine"""
    picture_papers: NonNegativeInt = 20_000
    """maximum number of papers in a picture (GORC, Figure 2: 20,126), those with the most mentions"""
    seed: int = 2019
    """seed of the initial vectors, of sampling and of the picture"""


@dataclass(frozen=True, slots=True)
class PaperVectors:
    """The vectors and nearest neighbors of n papers, sorted by id."""

    ids: list[str]
    mentions: list[int]
    vectors: np.ndarray
    """n × dimensions, float32, of length 1"""
    neighbors: np.ndarray
    """n × neighbors, int32: the rows of the nearest papers, nearest first; -1 if there are fewer"""
    cosines: np.ndarray
    """n × neighbors, float32: their cosines"""

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> PaperVectors:
        """Return the vectors from arrays named as the fields."""
        ids, mentions = (arrays[name].tolist() for name in ("ids", "mentions"))
        return cls(ids, mentions, *(arrays[name] for name in ("vectors", "neighbors", "cosines")))


def learn(params: VectorsParams, texts: Iterable[list[str]]) -> PaperVectors:
    """Compute vectors and neighbors. The result is equal on one kind of CPU."""
    ids, mentions, vectors = train(params, texts)
    return PaperVectors(ids, mentions, vectors, *nearest(vectors, params.neighbors))


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
    """Return for each row the rows with the greatest cosine (-1 if there are fewer), and their cosines.

    The order is descending by cosine; the lower row wins a tie.
    """
    block = max(1, min(1024, _COSINES // max(1, len(vectors))))
    near = np.full((len(vectors), number), -1, np.int32)
    cosines = np.zeros((len(vectors), number), np.float32)
    count = min(number, len(vectors) - 1)
    for start in range(0, len(vectors) if count > 0 else 0, block):
        found = vectors[start : start + block] @ vectors.T
        for i, row in enumerate(found, start):
            row[i] = -np.inf
            top = np.argpartition(-row, count - 1)[:count]
            top = top[np.lexsort((top, -row[top]))]
            near[i, :count], cosines[i, :count] = top, row[top]
    return near, cosines


def write_word2vec(learned: PaperVectors, path: Path) -> None:
    """Write the vectors in word2vec's binary format, most mentions first.

    gensim reads the file with `KeyedVectors.load_word2vec_format(path, binary=True)`. The words are paper ids.
    """
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(learned.vectors.shape[1])
    if learned.ids:
        vectors.add_vectors(learned.ids, learned.vectors)
    for id_, number in zip(learned.ids, learned.mentions, strict=True):
        vectors.set_vecattr(id_, "count", number)
    vectors.save_word2vec_format(str(path), binary=True)


def most_mentioned(learned: PaperVectors, labels: Sequence[str | None], number: int) -> list[int]:
    """Return the rows of at most `number` papers that have a label, most mentions first."""
    rows = [row for row, label in enumerate(labels) if label]
    return sorted(rows, key=lambda row: -learned.mentions[row])[:number]


def project(vectors: np.ndarray, seed: int) -> np.ndarray:
    """Return the vectors in two dimensions by t-SNE (rows × 2).

    It uses one thread, so that the result does not depend on the number of cores. More threads do not help with few papers (150 papers:
    15 times the CPU time).
    """
    if len(vectors) < 4:
        return np.asarray([(float(i), 0.0) for i in range(len(vectors))]).reshape(len(vectors), 2)
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(30.0, (len(vectors) - 1) / 3)
    with threadpool_limits(1):
        return np.asarray(TSNE(perplexity=perplexity, init="pca", random_state=seed, n_jobs=1).fit_transform(vectors))


def measure_field_agreement(near: np.ndarray, fields: Sequence[str | None]) -> tuple[float, float]:
    """Return the share of neighbors with the field of their paper, and the expected share for two random papers.

    Only papers with a known field count.
    """
    neighbors = ((i, j) for i, row in enumerate(near.tolist()) for j in row if j >= 0)
    pairs = [(fields[i], fields[j]) for i, j in neighbors if fields[i] and fields[j]]
    counts = Counter(field for field in fields if field)
    n = counts.total()
    chance = sum(k * (k - 1) for k in counts.values()) / (n * (n - 1)) if n > 1 else 0.0
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else 0.0, chance
