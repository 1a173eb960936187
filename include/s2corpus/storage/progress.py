"""Count the rows and files that a task writes, for its log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_COUNTS: ContextVar[Counter[str] | None] = ContextVar("written", default=None)


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Yield the number of rows and files by name that are written in this context."""
    counts = Counter[str]()
    token = _COUNTS.set(counts)
    try:
        yield counts
    finally:
        _COUNTS.reset(token)


def count(name: str, n: int) -> None:
    """Add `n` written rows of a table, or files, to the counts."""
    if (counts := _COUNTS.get()) is not None:
        counts[name] += n


def format_counts(counts: Counter[str]) -> str:
    """Return the counts as text: `120 links, 60 contexts`."""
    return ", ".join(f"{n:,} {name}" for name, n in sorted(counts.items()) if n) or "no rows"
