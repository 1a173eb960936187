"""What a task has written so far, by name, for its log: whoever writes counts, whoever runs the task reads."""

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
    """Rows of tables and files, and when counting began."""

    counts: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.monotonic)

    def figures(self, since: Counter[str] | None = None) -> str:
        """The counts, or what came to them, in words: `120 links, 60 contexts`."""
        counts = self.counts - since if since else self.counts
        return ", ".join(f"{n:,} {name}" for name, n in sorted(counts.items()) if n) or "no rows"

    @property
    def seconds(self) -> float:
        """Since counting began."""
        return time.monotonic() - self.began

    @property
    def rate(self) -> float:
        """Rows and files a second."""
        return self.counts.total() / self.seconds if self.seconds else 0.0


@contextmanager
def counting() -> Iterator[Written]:
    """Count what is written in this context."""
    token = _COUNTED.set(Written())
    try:
        found = _COUNTED.get()
        assert found is not None
        yield found
    finally:
        _COUNTED.reset(token)


def count(name: str, n: int) -> None:
    """Note that so many rows of a table, or files, were written."""
    if (written := _COUNTED.get()) is not None:
        written.counts[name] += n
