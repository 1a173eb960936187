"""Read the names and words of reference strings."""

from __future__ import annotations

import tomllib
from pathlib import Path

WORDS: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
