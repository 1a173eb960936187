"""Read the words and sentences of the sample's papers: one vocabulary per field of study, names, patterns, foreign texts."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Role = Literal["intro", "related", "method", "data", "results", "discussion", "conclusion"]
"""The role of a paragraph in its paper."""


@dataclass(frozen=True, slots=True)
class Field:
    """The topics of one field of study."""

    name: str
    area: list[str]
    things: list[str]
    methods: list[str]
    materials: list[str]
    measures: list[str]
    qualities: list[str]
    places: list[str]
    journals: list[str]
    venues: list[str]


WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
FIELDS = tuple(Field(**field) for field in WORDS["fields"])
OPENING: dict[Role, list[str]] = WORDS["opening"]
SENTENCES: dict[Role, list[str]] = WORDS["sentences"]
