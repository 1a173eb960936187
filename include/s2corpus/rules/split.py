"""Rules that divide documents into train and validation."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import model_validator

from s2corpus.rules import Count, Fraction, NonNegative, Rules


class SplitRules(Rules):
    """Rules that assign documents to train or validation by publication date (SPEC §9)."""

    kind: Literal["fixed", "rolling"] = "fixed"
    train_before: date = date(2022, 12, 1)
    """fixed: first day after train (S2 V2 card)"""
    valid_until: date = date(2023, 1, 3)
    """fixed: last day of valid (S2 V2 card)"""
    valid_days: Count = 33
    """rolling: number of days before as_of that belong to valid"""
    near_duplicates: Literal["publish", "hold_back"] = "publish"
    """publish: publish all similar texts of one split; hold_back: publish one of them and hold back the others. A valid text
    that is similar to a train text is always held back"""
    min_jaccard: Fraction = 0.8
    """minimum Jaccard index of the word n-grams of near-duplicates (Lee et al., arXiv:2107.06499, §4.2)"""
    shingle_words: Count = 5
    """number of words of an n-gram (Lee et al., arXiv:2107.06499, §4.2; also datatrove's default)"""
    minhash_bands: Count = 20
    """number of MinHash keys of a text. With 20 keys of 6 hashes, the probability to find a pair is 0.998 at a Jaccard index of 0.8, and
    0.9999 at 0.85"""
    minhash_rows: Count = 6
    """number of hashes in a MinHash key"""
    minhash_seed: NonNegative = 1
    """seed of the hash functions"""
    max_group: Count = 100
    """if more texts share a MinHash key, each is compared with only this number of others"""

    @model_validator(mode="after")
    def _check_order(self) -> SplitRules:
        if self.valid_until < self.train_before:
            raise ValueError(
                f"valid_until {self.valid_until} is before train_before {self.train_before}: use this day or a later one"
            )
        return self
