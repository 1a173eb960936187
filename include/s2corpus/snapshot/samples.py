"""Choose and shorten the sample records of the data card: one document of each set."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from s2corpus.papers.licences import rank_strictness

_CUT = "[…]"
_CHARACTERS, _LINES, _ITEMS = 160, 10, 3
"""maximum number of characters per line, of lines per text and of items per list"""
_TEXTS = ("text", "model_text")
_UNSAFE = re.compile("[<>&`\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""markup, and invisible characters that change the order of the text"""


@lru_cache(1024)
def may_show(licence: str) -> bool:
    """Return whether a license permits everyone to copy and shorten a text: CC0, CC BY, CC BY-SA and similar licenses."""
    return rank_strictness(licence) <= rank_strictness("CC-BY-SA-4.0")


def precedes(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether the first of two rows of the index is the better sample: its license permits it, or its id is smaller."""
    return (not may_show(row["licence"]), row["id"]) < (not may_show(other["licence"]), other["id"])


def shorten_record(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return all columns of a row of `documents/`, with shortened values. If the license forbids copies, omit the texts."""
    record = {name: _shorten(value) for name, value in document.items()}
    if not may_show(document["licence"]):
        hidden = f"{_CUT} (the license does not permit a copy here)"
        record |= {name: hidden for name in _TEXTS if document[name] is not None}
    return record


def _shorten(value: Any) -> Any:
    if isinstance(value, str):
        first, rest = value.split("\n", _LINES)[:_LINES], value.count("\n") >= _LINES
        return "\n".join([*map(_shorten_line, first), *([_CUT] if rest else [])])
    if isinstance(value, list):
        return [_shorten(item) for item in value[:_ITEMS]] + ([_CUT] if len(value) > _ITEMS else [])
    return value


def _shorten_line(line: str) -> str:
    return line if len(line) <= _CHARACTERS else f"{line[:_CHARACTERS].rpartition(' ')[0] or line[:_CHARACTERS]} {_CUT}"


def format_record(record: Mapping[str, Any]) -> str:
    """Return a record as indented JSON that contains no markup and no invisible characters."""
    text = json.dumps(record, ensure_ascii=False, indent=1)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
