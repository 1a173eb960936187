"""Find similar texts across train and valid, which a snapshot must not contain (SPEC §9.7)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2corpus.text import minhash
from s2corpus.text.splits import Split

MAX_KEYS = 4096
"""Maximum number of hash functions in the rules of a manifest."""
_SPLITS = (Split.TRAIN.value, Split.VALID.value)


@dataclass(slots=True)
class SplitOverlap:
    """The MinHash keys of all texts. The texts of candidate pairs are read a second time and compared."""

    rules: Mapping[str, Any]
    ids: dict[str, list[str]] = field(default_factory=lambda: {split: [] for split in _SPLITS})
    keys: dict[str, array[int]] = field(default_factory=lambda: {split: array("q") for split in _SPLITS})

    def add_document(self, id_: str, split: str, text: str) -> None:
        """Store the MinHash keys of a text."""
        bands, rows, seed = (self.rules[f"split.minhash_{name}"] for name in ("bands", "rows", "seed"))
        found = minhash.compute_keys(minhash.hash_shingles(text, self.rules["split.shingle_words"]), bands, rows, seed)
        if len(found):
            self.ids[split].append(id_)
            self.keys[split].frombytes(found.tobytes())

    def find_faults(self, read_texts: Callable[[Iterable[str]], Iterator[tuple[str, str]]]) -> Iterator[str]:
        """Yield pairs of documents that are too similar. Call this after all texts were added.

        `read_texts` yields (document, text) for the given documents.
        """
        pairs = self._find_candidates()
        length = self.rules["split.shingle_words"]
        candidates = {id_ for pair in pairs for id_ in pair}
        shingles = (
            {id_: np.unique(minhash.hash_shingles(text, length)) for id_, text in read_texts(candidates)}
            if candidates
            else {}
        )
        for train, valid in pairs:
            if train in shingles and valid in shingles:
                index = minhash.compute_jaccard(shingles[train], shingles[valid])
                if index >= self.rules["split.min_jaccard"]:
                    yield f"documents {train} (train) and {valid} (valid) are near duplicates: their Jaccard index is {index:.3f}"

    def _find_candidates(self) -> list[tuple[str, str]]:
        """Return pairs of a train document and a valid document that share a MinHash key."""
        bands = self.rules["split.minhash_bands"]
        keys = [np.frombuffer(self.keys[split], np.int64) for split in _SPLITS]
        nodes = [np.repeat(np.arange(len(self.ids[split])), bands) for split in _SPLITS]
        shared = np.intersect1d(keys[0], keys[1])
        is_shared = [np.isin(keys_of_split, shared) for keys_of_split in keys]
        n_train = len(self.ids[_SPLITS[0]])
        pairs = minhash.list_candidate_pairs(
            np.concatenate([keys[0][is_shared[0]], keys[1][is_shared[1]]]),
            np.concatenate([nodes[0][is_shared[0]], nodes[1][is_shared[1]] + n_train]),
            self.rules["split.max_group"],
        )
        train, valid = (self.ids[split] for split in _SPLITS)
        return [(train[a], valid[b - n_train]) for a, b in pairs.tolist() if a < n_train <= b]
