"""Compare the scripts of titles."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache


def same_script(a: str, b: str) -> bool:
    """Return whether most letters of both titles are in one script: only then is S meaningful."""
    return _script(a) == _script(b)


@lru_cache(1 << 12)
def _script(title: str) -> str:
    found = Counter(
        "LATIN" if character.isascii() else unicodedata.name(character, "OTHER").split()[0]
        for character in title[:200]
        if character.isalpha()
    )
    return max(sorted(found), key=lambda name: found[name], default="OTHER")
