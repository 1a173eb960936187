"""Put the words of right-to-left lines into reading order."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from pdf2tei.pages.model import Page, Token

CONTROLS = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
"""Invisible characters that control the direction; pdfalto puts them around each word."""
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")

_WORD_SPACE = 0.1  # minimum space between words, as a share of the type size


def reorder_right_to_left(page: Page) -> None:
    """Put the words of right-to-left lines, which pdfalto emits from left to right, into reading order.

    Runs of numbers and of words of the other direction retain their order.
    """
    for line in page.lines:
        text = line.text
        if (count := len(_RIGHT_TO_LEFT.findall(text))) and 2 * count > sum(c.isalpha() for c in text):
            line.tokens = _sort_words(line.tokens)
            line.forget()


def _sort_words(tokens: list[Token]) -> list[Token]:
    runs: list[list[Token]] = []
    kinds = [{unicodedata.bidirectional(c) for c in token.text} for token in tokens]
    forward = [False if x & {"R", "AL"} else True if x & {"L", "EN", "AN"} else None for x in kinds]  # None: signs
    for i, token in enumerate(tokens):
        neutral = forward[i] is None
        inside = neutral and i and forward[i - 1] and next((x for x in forward[i + 1 :] if x is not None), False)
        if neutral:
            forward[i] = bool(inside)
        if i and forward[i] and forward[i - 1]:
            runs[-1].append(token)
        else:
            runs.append([token])
    for right, left in pairwise(reversed(runs)):
        left[0].space = min(t.x0 for t in right) - max(t.x1 for t in left) > _WORD_SPACE * left[0].font.size
    return [token for run in reversed(runs) for token in run]
