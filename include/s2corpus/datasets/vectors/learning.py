"""What is learnt of papers from the words around their mentions: vectors, nearest neighbours, places in a picture."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from s2corpus.datasets.protocol import Number, Params, Positive
from s2orc_parse.parse_model import ParseKind

PAPER = "paper:"
"""what marks a token as a paper: blingfire makes no word of this form of running text"""


class VectorsParams(Params):
    """Parameters of the vectors."""

    kinds: tuple[ParseKind, ...] = (ParseKind.PDF, ParseKind.LATEX, ParseKind.JATS, ParseKind.ELSEVIER)
    """full texts that are read, the first that a paper has"""
    window: Positive = 8
    """words on each side of a mention (GORC §6.1)"""
    min_count: Positive = 2
    """mentions of a paper, and times of a word, at least (GORC §6.1)"""
    dimensions: Positive = 300
    """of a vector (GORC §6.1)"""
    epochs: Positive = 5
    """passes over the text (gensim's default; GORC says nothing)"""
    neighbours: Positive = 10
    """nearest papers that are kept of each, by cosine"""
    picture_papers: Number = 20_000
    """papers in the picture at most (GORC, Figure 2: 20,126), those most often mentioned"""
    seed: int = 2019
    """of the first vectors, of sampling and of the picture"""


@dataclass(frozen=True, slots=True)
class Learnt:
    """Of n papers, sorted by id."""

    ids: list[str]
    mentions: list[int]
    vectors: np.ndarray
    """n × dimensions, float32, of length 1"""
    near: np.ndarray
    """n × neighbours, int32: the rows of the nearest papers, nearest first; -1 where there are fewer"""
    cosines: np.ndarray
    """n × neighbours, float32: their cosines"""
    top: np.ndarray
    """the rows that are in the picture, most often mentioned first"""
    places: np.ndarray
    """len(top) × 2"""

    def as_bytes(self) -> bytes:
        """The same as a file of NumPy's."""
        file = io.BytesIO()
        np.savez(
            file, ids=np.asarray(self.ids, np.str_), mentions=np.asarray(self.mentions, np.int64), vectors=self.vectors, near=self.near,
            cosines=self.cosines, top=self.top, places=self.places,
        )  # fmt: skip
        return file.getvalue()

    @classmethod
    def of_bytes(cls, data: bytes) -> Learnt:
        """What `as_bytes` wrote."""
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            lists = {"ids": found["ids"].tolist(), "mentions": found["mentions"].tolist()}
            return cls(**lists, **{name: found[name] for name in ("vectors", "near", "cosines", "top", "places")})


def learn(params: VectorsParams, texts: Iterable[list[str]]) -> Learnt:
    """All that is computed in floating point: the same on one kind of CPU; on another one nearly (`agreement`)."""
    ids, mentions, vectors = train(params, texts)
    near, cosines = nearest(vectors, params.neighbours)
    top = np.lexsort((np.arange(len(ids)), -np.asarray(mentions, np.int64)))[: params.picture_papers]
    return Learnt(ids, mentions, vectors, near, cosines, top, project(vectors[top], params.seed))


def train(params: VectorsParams, texts: Iterable[list[str]]) -> tuple[list[str], list[int], np.ndarray]:
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
    words = sorted(word for word in model.wv.key_to_index if word.startswith(PAPER))
    vectors = np.asarray([model.wv.get_vector(word, norm=True) for word in words], np.float32)
    counts = [int(model.wv.get_vecattr(word, "count")) for word in words]
    return [word.removeprefix(PAPER) for word in words], counts, vectors.reshape(len(words), params.dimensions)


def _hash(text: str) -> int:
    """A hash that is the same in every process, unlike Python's own."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


_COSINES = 1 << 24
"""cosines that are in memory at a time, 4 bytes each"""


def nearest(vectors: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each row the other rows with the greatest cosine, greatest first, of equal ones the lower row: rows (-1: none) and cosines."""
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


def project(vectors: np.ndarray, seed: int) -> np.ndarray:
    """The vectors in two dimensions by t-SNE (rows × 2).

    In one thread: of few papers the others only wait (15 times the CPU time of 150), and the number of cores changes nothing.
    """
    if len(vectors) < 4:
        return np.asarray([(float(i), 0.0) for i in range(len(vectors))]).reshape(len(vectors), 2)
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(30.0, (len(vectors) - 1) / 3)
    with threadpool_limits(1):
        return np.asarray(TSNE(perplexity=perplexity, init="pca", random_state=seed, n_jobs=1).fit_transform(vectors))


def agreement(one: Learnt, other: Learnt) -> float:
    """The share of the nearest papers that two trainings on the same text have in common; 1 where they are the same."""
    if one.ids != other.ids:
        return 0.0
    shared = sum(len({*a} & {*b}) for a, b in zip(_rows(one.near), _rows(other.near), strict=True))
    return shared / total if (total := sum(map(len, _rows(one.near)))) else 1.0


def same_field(near: np.ndarray, fields: Sequence[str | None]) -> tuple[float, float]:
    """How often a paper's nearest ones are of its field, and how often two papers drawn from these are, where fields are known."""
    pairs = [(fields[i], fields[j]) for i, row in enumerate(_rows(near)) for j in row if fields[i] and fields[j]]
    counts = Counter(field for field in fields if field)
    n = counts.total()
    chance = sum(k * (k - 1) for k in counts.values()) / (n * (n - 1)) if n > 1 else 0.0
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else 0.0, chance


def _rows(near: np.ndarray) -> list[list[int]]:
    return [[j for j in row if j >= 0] for row in near.tolist()]
