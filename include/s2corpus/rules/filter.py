"""Which papers stay."""

from __future__ import annotations

from typing import Literal

from s2corpus.rules import Fraction, NonNegative, Rules


class Filter(Rules):
    """Which papers stay (S2ORC §2.5)."""

    min_characters: NonNegative = 100
    """abstract + body (S2ORC §2.5)"""
    min_english: Fraction = 0.9
    """P(en) over abstract + body (S2ORC §2.5, footnote 14)"""
    language: Literal["cld3", "cld2"] = "cld3"
    """who says P(en); cld2, as S2ORC did, needs pycld2 (extra cld2), and counts papers on which CLD3 decides otherwise"""
