"""Rules that link bibliography entries to papers."""

from __future__ import annotations

from typing import Literal

from s2corpus.rules import Count, Fraction, Rules


class LinkRules(Rules):
    """Rules that link bibliography entries to papers (S2ORC §2.6)."""

    min_score: Fraction = 0.8
    """an entry links if S of the titles is above this threshold (S2ORC §2.6)"""
    bands: Count = 40
    """number of MinHash keys of a title"""
    rows: Count = 6
    """number of hashes in a key"""
    min_keys: Count = 2
    """minimum number of equal keys of a candidate pair"""
    min_recall: Fraction = 0.99
    """minimum recall against an exhaustive search, on the sample of the release"""
    count_warnings: tuple[Literal["numeral", "tie", "contradiction"], ...] = ()
    """count links with these warnings as citations (SPEC §7: none)"""
