"""Read untrusted JSON: values by type (a value of another type counts as absent), and repeated keys."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any


def read_text(value: object) -> str:
    """Return the text, or an empty one."""
    return value if isinstance(value, str) else ""


def read_id(value: object) -> str | None:
    """Return a text or number as text; None if it is blank or of another type."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip() else None


def read_list(value: object) -> list[Any]:
    """Return the list, or an empty one."""
    return value if isinstance(value, list) else []


def read_object(value: object) -> dict[str, Any]:
    """Return the object, or an empty one."""
    return value if isinstance(value, dict) else {}


def read_objects(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list."""
    return [item for item in read_list(value) if isinstance(item, dict)]


@dataclass(frozen=True, slots=True)
class RepeatedKeys:
    """The repeated keys of a JSON text. Parsers use the last value and do not report the repetition."""

    names: list[str]
    """keys that an object at any depth contains more than once, in the order of the text"""
    values: dict[str, list[Any]]
    """repeated keys of the outermost object → all their values"""


def find_repeated_keys(text: bytes) -> RepeatedKeys:
    """Return the repeated keys of a JSON object.

    Raises:
        ValueError: it is not JSON, or nested too deep.
    """
    names: dict[str, None] = {}
    repeated: dict[str, list[Any]] = {}

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        value, repeated = dict(pairs), {}  # the outermost object is the last one
        if len(value) < len(pairs):
            repeated = {key: [] for key, count in Counter(key for key, _ in pairs).items() if count > 1}
            names.update(dict.fromkeys(repeated))
            for key, given in pairs:
                if key in repeated:
                    repeated[key].append(given)
        return value

    try:
        json.loads(text, object_pairs_hook=note, parse_int=float)
    except RecursionError:
        raise ValueError("nested too deep") from None
    return RepeatedKeys(list(names), repeated)
