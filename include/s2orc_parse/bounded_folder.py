"""Files that one process of a machine leaves for another, within a bound. They are never needed: a missing file is made again."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from s2orc_parse.errors import UserError
from s2orc_parse.scratch import COMPLETE

_GB = "S2CORPUS_CACHE_GB"
_DEFAULT_GB = "5"
_MAX_AGE_SECONDS = 86_400.0
"""A file that no process took, because a run was killed, is removed after a day."""


def read_limit() -> int:
    """Return the bound of one folder in bytes; 0 disables it.

    Raises:
        UserError: the bound is not a number.
    """
    text = os.environ.get(_GB) or _DEFAULT_GB
    try:
        return int(float(text) * 1e9)
    except (ValueError, OverflowError):
        raise UserError(f"{_GB} is {text!r}: give a number of gigabytes, or 0 to disable the caches") from None


class BoundedFolder:
    """A folder of files that are written and taken in the same order.

    A full folder accepts no file until others were taken: if the oldest were removed, a long run would find none.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self.path, self._limit = path, limit
        self._left = 0
        """bytes to write before the next measurement"""

    def has_room(self, size: int) -> bool:
        """Return whether a file of this size fits below the bound and half of the free space, and count it.

        The folder is measured after each 64th of the bound. An eighth is reserved for what other processes add meanwhile.
        """
        if size > self._left:
            used, oldest = 0, time.time() - _MAX_AGE_SECONDS
            for path in self.path.iterdir():
                with suppress(FileNotFoundError):  # another process took it
                    found = path.stat()
                    if found.st_mtime < oldest and path.name != COMPLETE:
                        path.unlink()
                    else:
                        used += found.st_size
            limit = min(self._limit, (used + shutil.disk_usage(self.path).free) // 2)
            self._left = min(limit // 64, limit - limit // 8 - used)
        if size > self._left:
            return False
        self._left -= size
        return True
