"""numba's `njit`, with a cache that no edit outlives, and without the compiler where it would take longer than the work.

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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
from llvmlite import binding
from numba import config

__all__ = ["FEW_ROWS", "FOLDER", "for_few", "njit"]

P = ParamSpec("P")
R = TypeVar("R")
FEW = 10_000_000
"""Comparisons of characters, were all similar, that Python makes in half a minute, 50 s at most; kernels take 13 to 20 s to compile"""
FEW_ROWS = 1000
"""Of more rows nobody need look how long their titles are: they are compiled for"""
_compiled = True


def njit(*, always: bool = False, **options: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a kernel; in `for_few` it is the Python function that it is made of, but where it is to be compiled `always`.

    It has no wrapper for C, which none has a use for; the one for Python stays: called without it, the process ends.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        kernel: Any = numba.njit(no_cfunc_wrapper=True, **options)(function)  # type: ignore[call-overload]
        if always or config.DISABLE_JIT:  # type: ignore[attr-defined]
            return cast(Callable[P, R], kernel)

        @functools.wraps(function)
        def either(*args: P.args, **kwargs: P.kwargs) -> R:
            if _compiled:
                return cast(R, kernel(*args, **kwargs))
            with np.errstate(over="ignore"):  # what wraps around in a kernel does so in Python, with a warning
                return function(*args, **kwargs)

        either._numba_type_ = kernel._numba_type_  # type: ignore[attr-defined]  # for kernels that call it
        return either

    return decorate


@contextmanager
def for_few(comparisons: int) -> Iterator[None]:
    """Do without the compiler in this block where not all kernels are compiled yet, and Python takes no longer: the same results, sooner.

    `comparisons` are of characters, at most: rows by the size of what they are compared with. A few rows may have long titles.
    """
    global _compiled
    before, _compiled = _compiled, comparisons > FEW or (FOLDER / WHOLE).exists()
    try:
        yield
    finally:
        _compiled = before


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
WHOLE = "whole"
"""the file in it that says that they are all there"""
config.CACHE_DIR = str(FOLDER)  # type: ignore[attr-defined]
if _ready_made := os.environ.get("S2CORPUS_KERNELS"):
    fill(Path(_ready_made) / _NAME, FOLDER)
