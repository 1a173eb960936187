"""The errors that a user or an operator reads.

Errors have four kinds, which `storage.error_kinds` decides:

- content: an input is not what its sender promises (`deliveries.ready.Refused`), or is no file of its form. It costs that input.
- access: the lake refuses one object (`UnreadableObject`). It costs the delivery or file with that object.
- transport: a server, a connection or a disk fails (`TransientError`). A task is retried, and then names the cause.
- our own: every other exception is a bug, and fails immediately with a report.
"""

import difflib
from collections.abc import Iterable

from s2orc_parse.errors import TransientError, UserError

__all__ = ["LostRace", "QualityBlocked", "TransientError", "UnreadableObject", "UserError", "suggest"]


class LostRace(TransientError):
    """Another process wrote the same object first: retry the step immediately."""


class UnreadableObject(UserError):
    """The lake refuses to give one object: another account owns it, another key encrypts it, or it is archived."""


class QualityBlocked(UserError):
    """A blocking check failed: the release stops before the next stage."""


def suggest(given: str, names: Iterable[str]) -> str:
    """Return the name that a word resembles, as a question in parentheses after a space, or an empty text."""
    # The comparison takes quadratic time.
    found = difflib.get_close_matches(given.lower(), list(names), 1, 0.75) if len(given) <= 64 else []
    return f" (did you mean {found[0]}?)" if found else ""
