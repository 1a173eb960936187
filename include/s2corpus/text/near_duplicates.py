"""Texts that are the same, or nearly: which of them are kept, and which are held back (SEMANTICS: Split)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

import numpy as np

from s2corpus.text.splits import Split
from s2corpus.titles.normalised import normalise_one

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_NOT_KEPT = bytes(point for point in range(128) if not chr(point).isalnum())

Pairs = Mapping[tuple[int, int], float]
"""Keys of two texts, the smaller first → their Jaccard index."""


class Reason(StrEnum):
    """Why a document is a duplicate of another."""

    TEXT = "text"
    """equal normalised text"""
    TITLE = "title"
    """equal title and first author, of a train text"""
    WORDS = "words"
    """a Jaccard index of the word n-grams of `split.min_jaccard` at least"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A kept document as duplicates are looked for."""

    set: str
    paper_id: str
    created: str | None
    """ISO date as known; without one it counts as the latest"""
    split: str
    """by its date"""
    text_key: int
    title_key: int | None

    @property
    def order(self) -> tuple[bool, bool, str, str, str]:
        """Train texts first, then by date: the first of a cluster stands for it."""
        return self.split != Split.TRAIN, self.created is None, self.created or "", self.paper_id, self.set


@dataclass(frozen=True, slots=True)
class Member:
    """A document of a cluster of duplicates, and what comes of it."""

    cluster: str
    """paper_id of the document that stands for the cluster: the earliest, of train if one is"""
    split: str
    """train, valid, held_back:duplicate or held_back:near_duplicate"""
    reason: Reason | None = None
    """null of the document that stands for the cluster"""
    duplicate_of: str | None = None
    """paper_id of the document of the cluster that it is most similar to; of equal texts the first"""
    jaccard: float | None = None
    """of their word n-grams; null where only the titles are equal"""


def text_key(text: str) -> int:
    """64-bit hash of the normalised text: letters and digits as in titles (SEMANTICS: Link)."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    kept = _NOT_ASCII.sub(lambda run: _normalised_run(run.group()), folded)
    return _hash(kept.encode("utf-8", "surrogatepass").translate(None, _NOT_KEPT))


@lru_cache(65_536)
def _normalised_run(run: str) -> str:
    return normalise_one(run)


def title_key(title: str, surname: str | None) -> int | None:
    """64-bit hash of the normalised title and the first author's surname; null if either is empty."""
    title, surname = normalise_one(title), normalise_one(surname or "")
    return _hash(f"{title}\n{surname}".encode("utf-8", "surrogatepass")) if title and surname else None


def _hash(text: bytes) -> int:
    digest = hashlib.blake2b(text, digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def repeated(keys: np.ndarray) -> np.ndarray:
    """The keys (int64) that occur more than once, sorted, each once."""
    found, counts = np.unique(keys, return_counts=True)
    return found[counts > 1]


def clusters(candidates: Iterable[Candidate], pairs: Pairs, *, hold_back: bool) -> dict[tuple[str, str], Member]:
    """(set, paper_id) of every document that has a duplicate in train or valid → what comes of it.

    `pairs` are texts that are similar enough. The documents that are related, directly or by others, are a cluster. In the order
    of `Candidate.order`:

    - the later of two equal texts is `held_back:duplicate`;
    - one whose title and first author are those of a train text that stays is `held_back:near_duplicate`;
    - of similar texts all but the first are `held_back:near_duplicate` if they are in valid and one of the cluster that stays is in
      train, or if `hold_back` says so; else they stay.

    Neither the order of the candidates nor that of the pairs matters.
    """
    documents = sorted((c for c in candidates if c.split in (Split.TRAIN, Split.VALID)), key=lambda c: c.order)
    of_text: dict[int, int] = {}
    of_title: dict[int, int] = {}
    found: dict[int, Member] = {}
    parents = list(range(len(documents)))

    def root(at: int) -> int:
        while parents[at] != at:
            parents[at] = at = parents[parents[at]]
        return at

    def repeats(at: int, of: int, split: Split, reason: Reason, jaccard: float | None) -> None:
        found[at] = Member("", split, reason, documents[of].paper_id, jaccard)
        parents[max(root(at), root(of))] = min(root(at), root(of))

    for at, one in enumerate(documents):
        first = of_text.setdefault(one.text_key, at)
        if first != at:
            repeats(at, first, Split.DUPLICATE, Reason.TEXT, 1.0)
        elif one.title_key in of_title:
            repeats(at, of_title[one.title_key], Split.NEAR_DUPLICATE, Reason.TITLE, None)
        elif one.split == Split.TRAIN and one.title_key is not None:
            of_title[one.title_key] = at

    most_similar: dict[int, tuple[float, int]] = defaultdict(lambda: (0.0, 0))
    for (left, right), index in sorted(pairs.items()):
        if left in of_text and right in of_text:
            a, b = of_text[left], of_text[right]
            parents[max(root(a), root(b))] = min(root(a), root(b))
            for at, other in ((a, b), (b, a)):
                most_similar[at] = max(most_similar[at], (index, -other))
    for at in sorted(most_similar):
        stands = documents[root(at)]
        if at in found or root(at) == at:
            continue
        index, other = most_similar[at]
        kept = documents[at].split
        if hold_back or kept != stands.split:
            kept = Split.NEAR_DUPLICATE
        found[at] = Member("", kept, Reason.WORDS, documents[-other].paper_id, index)
    members: dict[tuple[str, str], Member] = {}
    for at in {*found, *map(root, found)}:
        document, stands = documents[at], documents[root(at)]
        member = found.get(at, Member("", stands.split))
        members[document.set, document.paper_id] = replace(member, cluster=stands.paper_id)
    return members
