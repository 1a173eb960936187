"""Wait until something is true. The limits are long because the machine may be busy."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(
    found: Callable[[], T | None], why: str | Callable[[], object], seconds: float = 900, pause: float = 0.3
) -> T:
    """Wait until `found` returns something true, and return it; after `seconds`, fail with the reason."""
    deadline = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < deadline, why if isinstance(why, str) else why()
        time.sleep(pause)
    return value
