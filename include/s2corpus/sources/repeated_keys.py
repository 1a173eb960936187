"""Find repeated keys in JSON objects. Parsers keep the last value and do not report the repetition."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import orjson


@dataclass(slots=True)
class RepeatedKeys:
    """The repeated keys of a JSON text."""

    names: list[str] = field(default_factory=list)
    """keys that an object at any depth contains more than once, in the order of the text"""
    values: dict[str, list[Any]] = field(default_factory=dict)
    """repeated keys of the outermost object → all their values"""


def find_repeated_keys(text: bytes) -> RepeatedKeys:
    """Return the repeated keys of a valid JSON text.

    Raises:
        ValueError: it is not JSON, or nested too deep.
    """
    found = RepeatedKeys()
    if not _may_repeat(text):
        return found

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(key for key, _ in pairs)
        repeated = [key for key, count in counts.items() if count > 1]
        found.names += [key for key in repeated if key not in names]
        names.update(repeated)
        found.values = {key: [] for key in repeated}  # the outermost object is the last one
        for key, value in pairs:
            if key in found.values:
                found.values[key].append(value)
        return dict(pairs)

    names: set[str] = set()
    try:
        outermost = json.loads(text, object_pairs_hook=note, parse_int=float)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(outermost, dict):
        found.values = {}
    return found


def _may_repeat(text: bytes) -> bool:
    """Return whether a key may be repeated: then the parsed text has fewer colons. With escaped colons, the answer is always yes."""
    value = orjson.loads(text)
    try:
        colons = orjson.dumps(value).count(b":")
    except TypeError:  # orjson refuses deep nesting
        return True
    return colons != text.count(b":") or b"\\u003" in text
