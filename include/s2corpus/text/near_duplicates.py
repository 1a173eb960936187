"""Find equal and near-duplicate texts and decide which documents are held back (SPEC §9)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from s2corpus.outcomes import Split
from s2corpus.titles import normalize_one

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_NOT_KEPT = bytes(point for point in range(128) if not chr(point).isalnum())

MIN_JACCARD = 0.8
"""minimum Jaccard index of the word n-grams of near-duplicates (Lee et al., arXiv:2107.06499, §4.2)"""
Pairs = Mapping[tuple[int, int], float]
"""keys of two texts, the smaller first → their Jaccard index"""


class DuplicateReason(StrEnum):
    """The reason why a document is a duplicate of another document."""

    TEXT = "text"
    """equal normalized text"""
    TITLE = "title"
    """equal title and first author as a train text"""
    WORDS = "words"
    """Jaccard index of the word n-grams is at least `MIN_JACCARD`"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that passed cleaning, with the keys for duplicate detection."""

    set: str
    paper_id: str
    created: str | None
    """ISO date with the available precision; a document without date sorts last"""
    split: str
    """split by date"""
    text_key: int
    title_key: int | None

    @property
    def order(self) -> tuple[bool, bool, str, str, str]:
        """Sort key: train texts first, then by date. The first document represents its cluster."""
        return self.split != Split.TRAIN, self.created is None, self.created or "", self.paper_id, self.set


@dataclass(frozen=True, slots=True)
class Member:
    """A document of a duplicate cluster and its resulting split."""

    cluster: str
    """paper_id of the document that represents the cluster: the earliest train document, or the earliest document if none is in train"""
    split: str
    """train, valid, held_back:duplicate or held_back:near_duplicate"""
    reason: DuplicateReason | None = None
    """null for the document that represents the cluster"""
    duplicate_of: str | None = None
    """paper_id of the most similar document in the cluster; for equal texts, the first document"""
    jaccard: float | None = None
    """Jaccard index of the word n-grams; null if only the titles are equal"""


def text_key(text: str) -> int:
    """Return a 64-bit hash of the normalized text. Only letters and digits count, as in titles (SPEC §7)."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    kept = _NOT_ASCII.sub(lambda run: _normalized_run(run.group()), folded)
    return _hash(kept.encode("utf-8", "surrogatepass").translate(None, _NOT_KEPT))


@lru_cache(65_536)
def _normalized_run(run: str) -> str:
    return normalize_one(run)


def title_key(title: str, surname: str | None) -> int | None:
    """Return a 64-bit hash of the normalized title and the first author's surname, or None if either is empty."""
    title, surname = normalize_one(title), normalize_one(surname or "")
    return _hash(f"{title}\n{surname}".encode("utf-8", "surrogatepass")) if title and surname else None


def _hash(text: bytes) -> int:
    digest = hashlib.blake2b(text, digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def cluster_duplicates(
    candidates: Iterable[Candidate], pairs: Pairs, *, hold_back: bool
) -> dict[tuple[str, str], Member]:
    """Return (set, paper_id) → `Member` for every document with a duplicate in train or valid.

    `pairs` contains the texts that are similar enough. A cluster contains all documents related directly or through others.
    Documents are processed in the order of `Candidate.order`:

    - The later of two equal texts is `held_back:duplicate`.
    - A document with the title and first author of a remaining train text is `held_back:near_duplicate`.
    - A text that is similar to others is `held_back:near_duplicate` if `hold_back` is true, or if it is in valid and the first text of
      its cluster in train. The first text of a cluster, and all other similar texts, keep their split.

    The result does not depend on the order of the candidates or pairs.
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

    def mark_duplicate(at: int, of: int, split: Split, reason: DuplicateReason, jaccard: float | None) -> None:
        found[at] = Member("", split, reason, documents[of].paper_id, jaccard)
        parents[max(root(at), root(of))] = min(root(at), root(of))

    for at, document in enumerate(documents):
        first = of_text.setdefault(document.text_key, at)
        if first != at:
            mark_duplicate(at, first, Split.DUPLICATE, DuplicateReason.TEXT, 1.0)
        elif document.title_key in of_title:
            mark_duplicate(at, of_title[document.title_key], Split.NEAR_DUPLICATE, DuplicateReason.TITLE, None)
        elif document.split == Split.TRAIN and document.title_key is not None:
            of_title[document.title_key] = at

    most_similar: dict[int, tuple[float, int]] = defaultdict(lambda: (0.0, 0))
    for (left, right), index in sorted(pairs.items()):
        if left in of_text and right in of_text:
            a, b = of_text[left], of_text[right]
            parents[max(root(a), root(b))] = min(root(a), root(b))
            for at, other in ((a, b), (b, a)):
                most_similar[at] = max(most_similar[at], (index, -other))
    for at in sorted(most_similar):
        representative = documents[root(at)]
        if at in found or root(at) == at:
            continue
        index, other = most_similar[at]
        kept = documents[at].split
        if hold_back or kept != representative.split:
            kept = Split.NEAR_DUPLICATE
        found[at] = Member("", kept, DuplicateReason.WORDS, documents[-other].paper_id, index)
    members: dict[tuple[str, str], Member] = {}
    for at in {*found, *map(root, found)}:
        document, representative = documents[at], documents[root(at)]
        member = found.get(at, Member("", representative.split))
        members[document.set, document.paper_id] = replace(member, cluster=representative.paper_id)
    return members
