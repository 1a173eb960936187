"""Which bibliography entries are linked."""

from __future__ import annotations

from typing import Literal

from s2corpus.rules import Count, Fraction, Rules


class Link(Rules):
    """Bibliography entries to papers (S2ORC §2.6)."""

    min_score: Fraction = 0.8
    """S_title above which an entry links (S2ORC §2.6; strict)"""
    bands: Count = 40
    """MinHash keys a title"""
    rows: Count = 6
    """hashes a key"""
    min_keys: Count = 2
    """equal keys that make a candidate pair"""
    min_recall: Fraction = 0.99
    """share of the exhaustive search's links that must be found, on the release's sample"""
    count_warnings: tuple[Literal["numeral", "tie", "contradiction"], ...] = ()
    """links with these warnings count as citations (SEMANTICS §7: none)"""
