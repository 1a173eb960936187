"""Atomic writing of output files, and printable file names."""

from __future__ import annotations

import errno
import os
import unicodedata
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from s2corpus.errors import TransientError, UserError

_UNWRITABLE: Mapping[int | None, str] = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EFBIG: "the file would be larger than is allowed",
    errno.EACCES: "you have no right to write there",
}
_FULL = (errno.ENOSPC, errno.EDQUOT)
_ROOM = 1 << 20


@contextmanager
def whole(path: Path) -> Iterator[Path]:
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
    beside = target.with_name(f".s2corpus-{uuid.uuid4()}.part")
    try:
        beside.open("xb").close()
        yield beside
        beside.replace(target)
    except OSError as error:
        if error.errno not in _UNWRITABLE if error.filename is None else Path(error.filename) not in (beside, target):
            raise  # an error of another file
        if error.errno in _FULL and _free(target.parent) >= _ROOM:
            raise  # the disk of another file is full
        why = _UNWRITABLE.get(error.errno, error.strerror)
        kind = TransientError if error.errno in _FULL else UserError
        raise kind(f"{printable(path)} cannot be written: {why}; the old file is unchanged") from error
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Yield the file of `whole`, opened for writing bytes."""
    with whole(path) as beside, beside.open("wb") as file:
        yield file


def printable(path: str | bytes | Path) -> str:
    r"""Return a path as text; bytes that are not UTF-8, control characters and line ends become escapes (`\xff`)."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text
    )


def _free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize
