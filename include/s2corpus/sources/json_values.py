"""Read untrusted JSON values by type: a value of another type counts as absent."""

from __future__ import annotations

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
