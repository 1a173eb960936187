"""Rules that divide documents into train and validation."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import model_validator

from s2corpus.rules import Count, Fraction, NonNegative, Rules


class Split(Rules):
    """Train and validation by publication date (SPEC §9)."""

    kind: Literal["fixed", "rolling"] = "fixed"
    train_before: date = date(2022, 12, 1)
    """fixed: first day after train (S2 V2 card)"""
    valid_until: date = date(2023, 1, 3)
    """fixed: last day that is valid (S2 V2 card)"""
    valid_days: Count = 33
    """rolling: last days before as_of that are valid"""
    near_duplicates: Literal["publish", "hold_back"] = "publish"
    """publish all similar texts of one split, or hold back all but one; texts of valid that are similar to a text of train are always
    held back"""
    min_jaccard: Fraction = 0.8
    """minimum Jaccard index of the word n-grams of near-duplicates (Lee et al., arXiv:2107.06499, §4.2)"""
    shingle_words: Count = 5
    """words of an n-gram (Lee et al., likewise; also datatrove's default)"""
    minhash_bands: Count = 20
    """MinHash keys of a text. 20 keys of 6 rows find a pair with Jaccard index 0.8 with probability 0.998, and with 0.85, 0.9999"""
    minhash_rows: Count = 6
    """hashes of a MinHash key"""
    minhash_seed: NonNegative = 1
    """seed of the hash functions"""
    max_group: Count = 100
    """if more texts share a MinHash key, compare each with this number of others"""

    @model_validator(mode="after")
    def _ordered(self) -> Split:
        if self.valid_until < self.train_before:
            raise ValueError(
                f"valid_until {self.valid_until} is before train_before {self.train_before}: use this day or a later one"
            )
        return self
