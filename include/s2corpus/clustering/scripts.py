"""Which script a title is written in."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache


def same_script(a: str, b: str) -> bool:
    """Whether most letters of both titles are of one script: only then does what they share say anything."""
    return _script(a) == _script(b)


@lru_cache(1 << 12)
def _script(title: str) -> str:
    found = Counter(
        "LATIN" if character.isascii() else unicodedata.name(character, "OTHER").split()[0]
        for character in title[:200]
        if character.isalpha()
    )
    return max(sorted(found), key=lambda name: found[name], default="OTHER")
