"""The free space of a disk."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def refuse_full(folder: Path) -> None:
    """Raise `OSError` where not a megabyte can be written: what a program made of its input there says nothing of the input."""
    with tempfile.TemporaryFile(dir=folder) as probe:
        os.posix_fallocate(probe.fileno(), 0, 1 << 20)
