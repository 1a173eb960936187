"""Read the tables of names, words and signs that the rules use, TOML files next to the modules, and unify characters."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

LIGATURES = str.maketrans({
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st",
})  # fmt: skip
_MARKS = "\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
_UNIFIED = re.compile(f"[\u00ad\ufb00-\ufb06{_MARKS}]")
_INVISIBLE = re.compile(f"(?<!Ã)\u00ad|[{_MARKS}]")
"""Soft hyphens and marks of breaks, direction and order. "Ã\u00ad" is an "í" in a wrong encoding."""


@cache
def read_table(name: str) -> Mapping[str, Any]:
    """Return a table by its path: "latex/words". A list of words is one string, separated by white space."""
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text("utf-8"))


def invert(groups: Mapping[str, str]) -> dict[str, str]:
    """Return the key of each word in a table of words by key."""
    return {word: key for key, words in groups.items() for word in words.split()}


def fold(text: str) -> str:
    """Return a text without case and accents."""
    if text.isascii():
        return text.casefold()
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def to_letters(text: str) -> str:
    """Return the letters and digits of a text in one case, without accents: "Garcia-Molina" becomes garciamolina."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return "".join(character for character in decomposed if character.isalnum())


def unify_characters(text: str) -> str:
    """Return a text without characters that print nothing, and with the letters of ligatures: "ﬁrst" becomes "first"."""
    if text.isascii() or not _UNIFIED.search(text):
        return text  # most texts
    return _INVISIBLE.sub("", text).translate(LIGATURES)


def write_numeral(style: str, count: int) -> str:
    """Return a count in the notation of \\arabic, \\alph, \\Alph, \\roman or \\Roman."""
    if style.lower() == "alph" and 0 < count <= 26:
        return chr(ord("a" if style == "alph" else "A") + count - 1)
    if style.lower() == "roman" and 0 < count < 4000:
        signs = zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
                    ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"), strict=True)  # fmt: skip
        text = ""
        for value, sign in signs:
            text += sign * (count // value)
            count %= value
        return text if style == "roman" else text.upper()
    return str(count)
