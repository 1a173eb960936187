"""numba's `njit`, with a cache that no edit outlives.

numba checks a cached kernel against the time of its own file only, though it holds the kernels of other files that were
inlined into it: after an edit the callers would keep the old rules. So the cache is a folder named by a hash of all
kernels' sources, and of numba's version and the processor it compiled for; compile through this module only.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import numba
from llvmlite import binding
from numba import config

__all__ = ["FOLDER", "njit"]

njit = functools.partial(numba.njit, no_cfunc_wrapper=True)
"""A kernel, without the wrapper for C that none has a use for; the one for Python stays: called without it, the process ends."""

_PACKAGE = Path(__file__).parent


def _sources() -> str:
    """20 hex digits over every file that has a kernel, numba's version and the processor."""
    if config.CPU_NAME:  # type: ignore[attr-defined]
        processor = f"{config.CPU_NAME} {config.CPU_FEATURES}"  # type: ignore[attr-defined]
    else:
        processor = f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"
    digest = hashlib.sha256(f"{numba.__version__} {processor}".encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if b"njit" in source:
            digest.update(f"{path.relative_to(_PACKAGE).as_posix()}\0".encode())
            digest.update(hashlib.sha256(source).digest())
    return digest.hexdigest()[:20]


def _folder() -> Path:
    """`NUMBA_CACHE_DIR` where it is set, else beside the package; where that is read-only the user's cache, else temporary files."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(named)
    if os.access(_PACKAGE, os.W_OK):
        return _PACKAGE / "__pycache__"
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "s2corpus"
    except RuntimeError:  # in a sandbox nobody has a home, nor may it read who has one
        return Path(tempfile.gettempdir())


def fill(ready_made: Path, folder: Path) -> None:
    """Copy kernels that were compiled when the image was built to where numba may write; it reads no cache that it may not write."""
    if not ready_made.is_dir() or folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        shutil.copytree(ready_made, beside / "whole")
        (beside / "whole").rename(folder)
    except OSError:  # another process was sooner, or there is no room: numba compiles what it misses
        pass
    finally:
        shutil.rmtree(beside, ignore_errors=True)


_NAME = f"kernels-{_sources()}"
FOLDER = _folder() / _NAME
"""where numba keeps the kernels of these sources"""
config.CACHE_DIR = str(FOLDER)  # type: ignore[attr-defined]
if _ready_made := os.environ.get("S2CORPUS_KERNELS"):
    fill(Path(_ready_made) / _NAME, FOLDER)
