"""Count the rows and files that a task writes, for its log."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

_COUNTED: ContextVar[Written | None] = ContextVar("written", default=None)


@dataclass(slots=True)
class Written:
    """Number of written rows and files by name, and the start time."""

    counts: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.monotonic)

    def format_counts(self, since: Counter[str] | None = None) -> str:
        """Return the counts, or their increase, as text: `120 links, 60 contexts`."""
        counts = self.counts - since if since else self.counts
        return ", ".join(f"{n:,} {name}" for name, n in sorted(counts.items()) if n) or "no rows"

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.began

    @property
    def rate(self) -> float:
        """Rows and files per second."""
        return self.counts.total() / self.seconds if self.seconds else 0.0


@contextmanager
def counting() -> Iterator[Written]:
    """Count written rows and files in this context."""
    written = Written()
    token = _COUNTED.set(written)
    try:
        yield written
    finally:
        _COUNTED.reset(token)


def count(name: str, n: int) -> None:
    """Add `n` written rows of a table, or files, to the counts."""
    if (written := _COUNTED.get()) is not None:
        written.counts[name] += n
