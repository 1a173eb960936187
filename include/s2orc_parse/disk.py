"""Check the free space of a disk."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def check_free_space(folder: Path) -> None:
    """Raise `OSError` if less than a megabyte can be written: on a full disk, a program may fail with good input."""
    with tempfile.TemporaryFile(dir=folder) as probe:
        os.posix_fallocate(probe.fileno(), 0, 1 << 20)
