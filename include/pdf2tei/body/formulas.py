"""Detect display formulas."""

from __future__ import annotations

import re

from pdf2tei.pages.measures import Measures
from pdf2tei.pages.model import Line

LABEL = re.compile(r"\(\s*[A-Z]?\.?\d+(?:\.\d+)?[a-z]?\s*\)\s*$")
_WORD = re.compile(r"[^\W\d_]{3,}")
_WORDS_IN_FORMULAS = {
    "max", "min", "log", "exp", "sup", "inf", "sin", "cos", "tan", "arg", "lim", "argmax", "argmin", "softmax", "det", "var", "cov", "tanh",
    "mod", "otherwise", "for", "all", "and", "where", "with", "sigmoid", "relu", "tr", "diag", "rank", "dim", "ker",
}  # fmt: skip
_SIGN = re.compile(r"[=¼≠≤≥<>+−±×÷∑∏∫√∂∇∈∉⊂⊆∪∩∀∃→←↔⇒⇔≈∼≡∝∞|{}\[\]^_α-ωΑ-Ω\U0001d400-\U0001d7ff]")


def is_formula(line: Line, measures: Measures) -> bool:
    """Return whether a line is display mathematics: few words, and many signs or letters from mathematical fonts."""
    text = line.text
    visible = len(text) - text.count(" ")
    if visible <= 0:
        return False
    fonts = sum([len(t.text) for t in line.tokens if t.font.mathematical])
    mathematical = max(fonts, len(_SIGN.findall(text)))
    if not mathematical:  # fast path for most lines
        return False
    words = [
        w
        for w in _WORD.findall(text)
        if w.lower() not in _WORDS_IN_FORMULAS and not "\U0001d400" <= w[0] <= "\U0001d7ff"
    ]
    letters = sum(map(len, words))
    if letters / visible < 0.25 and mathematical / visible > 0.25:
        return True
    return (
        bool(LABEL.search(text)) and letters / visible < 0.4 and mathematical > 2 and line.width < 1.05 * measures.width
    )
