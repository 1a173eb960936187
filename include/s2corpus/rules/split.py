"""Train and validation."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import model_validator

from s2corpus.rules import Count, Fraction, NonNegative, Rules


class Split(Rules):
    """Train and validation by publication date (SEMANTICS: Split)."""

    kind: Literal["fixed", "rolling"] = "fixed"
    train_before: date = date(2022, 12, 1)
    """fixed: first day that is not train (S2 V2 card)"""
    valid_until: date = date(2023, 1, 3)
    """fixed: last day that is valid (S2 V2 card)"""
    valid_days: Count = 33
    """rolling: last days before as_of that are valid"""
    near_duplicates: Literal["publish", "hold_back"] = "publish"
    """whether of similar texts in one split all are published, or one; of those in train and valid the valid ones never are"""
    min_jaccard: Fraction = 0.8
    """Jaccard index of the word n-grams from which texts are near-duplicates (Lee et al., arXiv:2107.06499, §4.2)"""
    shingle_words: Count = 5
    """words of an n-gram (Lee et al., likewise; also datatrove's default)"""
    minhash_bands: Count = 20
    """MinHash keys a text: with 20 of 6 rows a pair of Jaccard index 0.8 is found with probability 0.998, one of 0.85 with 0.9999"""
    minhash_rows: Count = 6
    """hashes a MinHash key"""
    minhash_seed: NonNegative = 1
    """of the hash functions"""
    max_group: Count = 100
    """of more texts with one MinHash key each is compared with this many others"""

    @model_validator(mode="after")
    def _ordered(self) -> Split:
        if self.valid_until < self.train_before:
            raise ValueError(f"valid_until {self.valid_until} lies before train_before {self.train_before}")
        return self
