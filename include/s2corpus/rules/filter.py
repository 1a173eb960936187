"""Rules that select papers."""

from __future__ import annotations

from typing import Literal

from s2corpus.rules import Fraction, NonNegative, Rules


class FilterRules(Rules):
    """Rules that select papers (S2ORC §2.5)."""

    min_characters: NonNegative = 100
    """characters of abstract and body (S2ORC §2.5)"""
    min_english: Fraction = 0.9
    """P(en) over abstract + body (S2ORC §2.5, footnote 14)"""
    language: Literal["cld3", "cld2"] = "cld3"
    """detector of P(en). cld2, which S2ORC used, needs pycld2 (extra cld2) and counts the papers that CLD3 decides differently"""
