"""The language of a text by CLD3, queried as pycld3 queries it."""

from __future__ import annotations

from functools import cache

import gcld3

UNKNOWN = "und"
"""The language of blank text, which CLD3 takes for Japanese."""


@cache
def _identifier() -> gcld3.NNetLanguageIdentifier:
    return gcld3.NNetLanguageIdentifier(0, 1000)  # bytes considered, at least and at most: pycld3's values


def language(text: str) -> tuple[str, float]:
    """Return the most probable language of `text` and its probability; `("und", 0.0)` for blank text.

    Codes are CLD3's (BCP 47: `en`, `zh-Latn`, …). Characters that are not Unicode text (lone surrogates) are ignored.
    """
    if not text or text.isspace():
        return UNKNOWN, 0.0
    found = _identifier().FindLanguage(text.encode("utf-8", "ignore"))
    return found.language, found.probability
