"""Wrap numba's `njit`: edits invalidate its cache, and kernels run as plain Python if compiling would take longer.

numba compares a cached kernel only with the modification time of its file, but kernels from other files can be inlined. After an edit,
their callers would use the old code. The cache folder is therefore named by a hash of all kernel sources, numba's version and
the processor. Compile through this module only.
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

__all__ = ["FOLDER", "MAX_PYTHON_ROWS", "interpret_if_small", "njit"]

P = ParamSpec("P")
R = TypeVar("R")
MAX_PYTHON_COMPARISONS = 10_000_000
"""Character comparisons that Python performs in 30 to 50 s in the worst case; compiling the kernels takes 13 to 20 s"""
MAX_PYTHON_ROWS = 1000
"""Compile the kernels for more rows, without measuring their titles"""
_use_kernels = True


def njit(*, always: bool = False, **options: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that compiles a kernel. Within `interpret_if_small` the kernel runs as Python, unless `always` is set.

    The kernel has no C wrapper, because no code uses that. It has the Python wrapper, because a call without one crashes the process.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        kernel: Any = numba.njit(no_cfunc_wrapper=True, **options)(function)  # type: ignore[call-overload]
        if always or config.DISABLE_JIT:  # type: ignore[attr-defined]
            return cast(Callable[P, R], kernel)

        @functools.wraps(function)
        def dispatch(*args: P.args, **kwargs: P.kwargs) -> R:
            if _use_kernels:
                return cast(R, kernel(*args, **kwargs))
            with np.errstate(over="ignore"):  # Overflow wraps around as in a kernel, but Python warns.
                return function(*args, **kwargs)

        dispatch._numba_type_ = kernel._numba_type_  # type: ignore[attr-defined]  # for kernels that call it
        return dispatch

    return decorate


@contextmanager
def interpret_if_small(comparisons: int) -> Iterator[None]:
    """Run kernels as Python in this block if they are not compiled yet and compiling would take longer. The results are equal.

    `comparisons` is the largest possible number of character comparisons. Few rows can need many if their titles are long.
    """
    global _use_kernels
    before, _use_kernels = _use_kernels, comparisons > MAX_PYTHON_COMPARISONS or (FOLDER / ALL_COMPILED).exists()
    try:
        yield
    finally:
        _use_kernels = before


_PACKAGE = Path(__file__).parent


def _hash_kernel_sources() -> str:
    """Return a hash (20 hex digits) of all files with kernels, numba's version and the processor."""
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


def _choose_cache_folder() -> Path:
    """Return `NUMBA_CACHE_DIR`, else the cache folder of the package if writable, of the user, or for temporary files."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(named)
    if os.access(_PACKAGE, os.W_OK):
        return _PACKAGE / "__pycache__"
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "s2corpus"
    except RuntimeError:  # A sandboxed process has no home folder.
        return Path(tempfile.gettempdir())


def copy_prebuilt_kernels(prebuilt: Path, folder: Path) -> None:
    """Copy the kernels compiled into the image to a writable folder; numba does not read a read-only cache."""
    if not prebuilt.is_dir() or folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        shutil.copytree(prebuilt, temporary / "complete")
        (temporary / "complete").rename(folder)
    except OSError:  # Another process was faster, or the disk is full: numba compiles missing kernels.
        pass
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


_NAME = f"kernels-{_hash_kernel_sources()}"
FOLDER = _choose_cache_folder() / _NAME
"""folder of the compiled kernels of these sources"""
ALL_COMPILED = "whole"
"""marker file in this folder: all kernels are compiled (`devtools.local.kernels` writes it)"""
config.CACHE_DIR = str(FOLDER)  # type: ignore[attr-defined]
if _prebuilt := os.environ.get("S2CORPUS_KERNELS"):
    copy_prebuilt_kernels(Path(_prebuilt) / _NAME, FOLDER)
