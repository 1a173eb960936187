"""Write output files atomically, check the free space, and print progress, counts and file names."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
import time
import unicodedata
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from s2orc_parse.errors import TransientError, UserError

_UNWRITABLE: Mapping[int | None, str] = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EFBIG: "the file would be larger than is allowed",
    errno.EACCES: "you have no right to write there",
}
_FULL = (errno.ENOSPC, errno.EDQUOT)
_MIN_FREE_BYTES = 1 << 20
"""A disk with this much space did not cause the error."""


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary file that replaces `path` when the block ends; an error in the block deletes it instead.

    The old file remains until then. A path that is no regular file (a pipe, /dev/null) is written directly.

    Raises:
        UserError: the file cannot be written, with the reason.
        TransientError: the disk is full.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        yield path
        return
    temporary = target.with_name(f".s2corpus-{uuid.uuid4()}.part")
    try:
        temporary.open("xb").close()
        yield temporary
        temporary.replace(target)
    except OSError as error:
        name = error.filename
        is_ours = error.errno in _UNWRITABLE if name is None else Path(name) in (temporary, target)
        if not is_ours or (error.errno in _FULL and shutil.disk_usage(target.parent).free >= _MIN_FREE_BYTES):
            raise  # The block's own error, about another file.
        why = _UNWRITABLE.get(error.errno, error.strerror)
        kind = TransientError if error.errno in _FULL else UserError
        raise kind(f"{printable(path)} cannot be written: {why}; the old file is unchanged") from error
    finally:
        temporary.unlink(missing_ok=True)


def check_free_space(folder: Path) -> None:
    """Raise `OSError` if less than a megabyte can be written: on a full disk, a program may fail with good input."""
    with tempfile.TemporaryFile(dir=folder) as probe:
        os.posix_fallocate(probe.fileno(), 0, _MIN_FREE_BYTES)


@contextmanager
def open_atomic(path: Path) -> Iterator[BinaryIO]:
    """Yield the file of `atomic_path`, opened for writing bytes."""
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        yield file


def printable(path: str | bytes | Path) -> str:
    r"""Return a path as text; bytes that are not UTF-8, control characters and line ends become escapes (`\xff`)."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text
    )


def format_counts(counts: Mapping[str, int]) -> str:
    """Return the number of items with each outcome: `1 failed, 2 ok`."""
    return ", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items()))


class ProgressLine:
    """A line on the terminal, updated at most five times per second. Without a terminal it prints nothing."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._is_shown = not quiet and sys.stderr.isatty()
        self._last = time.monotonic()

    def show(self, format_line: Callable[[], str]) -> None:
        """Update the line if 0.2 s have passed."""
        if self._is_shown and time.monotonic() - self._last > 0.2:
            self._last = time.monotonic()
            print(f"\r{format_line()}\x1b[K", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Clear the line."""
        if self._is_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def format_progress(label: str, done: int, total: int, seconds: float, unit: str, size: float = 1) -> str:
    """Return a bar with the finished and total number, the rate in units of `size` items a second, and the remaining time.

    Without a `total`, return the finished number and the rate.
    """
    rate = done / seconds if seconds > 0 else 0.0
    speed = f"{rate / size:,.1f} a second"
    if not total:
        return f"{label} {done / size:,.0f} {unit}, {speed}"
    bar = "#" * int(20 * done / total)
    minutes, seconds = divmod(round((total - done) / rate) if rate else 0, 60)
    hours, minutes = divmod(minutes, 60)
    time_left = (
        f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"
    )
    left = f", {time_left} left" if rate else ""
    return f"{label} [{bar:<20}] {done / size:,.0f} of {total / size:,.0f} {unit}, {speed}{left}"
