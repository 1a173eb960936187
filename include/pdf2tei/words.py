"""Read the words and patterns of the rules from words.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def read_pattern(module: str, name: str, flags: int = re.I) -> re.Pattern[str]:
    """Return a pattern of a module."""
    return re.compile("".join(_TABLES[module][name]), flags)


def read_words(module: str, name: str) -> frozenset[str]:
    """Return a list of words of a module."""
    return frozenset(_TABLES[module][name].split())
