"""Texts that are the same: the later one of two is kept out of training and validation (SEMANTICS: Split)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from s2corpus.text.splits import Split
from s2corpus.titles.normalised import normalise_one

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_NOT_KEPT = bytes(point for point in range(128) if not chr(point).isalnum())


@dataclass(frozen=True, slots=True)
class Candidate:
    """A kept document as duplicates are looked for."""

    set: str
    paper_id: str
    created: str | None
    """ISO date as known; without one it counts as the latest"""
    split: str
    """by its date"""
    keys: tuple[int, ...]
    """hashes of what makes two documents duplicates"""


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


def later_duplicates(candidates: Iterable[Candidate]) -> dict[tuple[str, str], str]:
    """(set, paper_id) of every later duplicate of a train text → paper_id of that text.

    Documents are taken by date, then paper_id: one that shares a key with a train text before it is its duplicate, and is itself
    no train text for those after it.
    """
    train: dict[int, str] = {}
    duplicates: dict[tuple[str, str], str] = {}
    for one in sorted(candidates, key=lambda c: (c.created is None, c.created or "", c.paper_id, c.set)):
        if one.split not in (Split.TRAIN, Split.VALID):
            continue
        duplicate = next((train[key] for key in one.keys if key in train), None)
        if duplicate is not None:
            duplicates[one.set, one.paper_id] = duplicate
        elif one.split == Split.TRAIN:
            train.update(dict.fromkeys(one.keys, one.paper_id))
    return duplicates
