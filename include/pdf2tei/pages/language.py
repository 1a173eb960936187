"""Detect the language of a text with CLD3, with pycld3's settings."""

from __future__ import annotations

from functools import cache

import gcld3

UNKNOWN = "und"  # the language of blank text, which CLD3 takes for Japanese


@cache
def _identifier() -> gcld3.NNetLanguageIdentifier:
    return gcld3.NNetLanguageIdentifier(0, 1000)  # pycld3's minimum and maximum number of bytes


def language(text: str) -> tuple[str, float]:
    """Return the most probable language of `text` and its probability; `("und", 0.0)` for blank text.

    Codes are CLD3's (BCP 47: `en`, `zh-Latn`, …). Characters that are not Unicode text (lone surrogates) are ignored.
    """
    if not text or text.isspace():
        return UNKNOWN, 0.0
    found = _identifier().FindLanguage(text.encode("utf-8", "ignore"))
    return found.language, found.probability
