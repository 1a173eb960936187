"""Scratch: a private folder of each process, for what it does not hold in memory; closed text lies there too.

Below `S2CORPUS_SCRATCH` (else `TMPDIR`, else /tmp) every process has a folder that only its user may enter, with a name that cannot be
foreseen; `tempfile` is set to it, so that libraries and child processes' folders lie there as well. It is removed when the process
ends; what a killed one left is removed by the next that starts. What several processes of a machine read may lie in a folder that
they share (`shared`).
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from s2orc_parse.errors import UserError

_NAME = "s2corpus-scratch-"
_NEW = "s2corpus-new-"
_SHARED = "s2corpus-shared-"
_WHOLE = ".whole"
_ABANDONED_SECONDS = 3600.0
_AFTER_MULTIPROCESSING = -200
"""when the folder goes at the end of a process: after multiprocessing's own one in it (-100), which would not find itself"""
_LOCK = threading.Lock()
_MADE: dict[tuple[int, str], tuple[Path, int]] = {}
"""(process, folder that was named) → its private folder, and the handle by which it is locked"""


def private() -> Path:
    """This process's own folder, made at the first call; `tempfile` uses it from then on.

    Raises:
        UserError: the folder named is not there, is not a folder, cannot be written, or others could replace what is in it.
    """
    name, base = _named()
    key = (os.getpid(), str(base))
    with _LOCK:
        if key not in _MADE or not _MADE[key][0].is_dir():
            _check(name, base)
            _remove_abandoned(base)
            _MADE[key] = _make(name, base)
            _remove_at_exit(key)
        folder = _MADE[key][0]
    tempfile.tempdir = str(folder)
    return folder


@contextlib.contextmanager
def shared(name: str, fill: Callable[[Path], None]) -> Iterator[Path]:
    """A folder that this user's processes on this machine share: filled by the first that asks, removed by the last that leaves it.

    Raises:
        UserError: as `private`.
    """
    variable, base = _named()
    _check(variable, base)
    parent = base / f"{_SHARED}{os.geteuid()}"
    parent.mkdir(mode=0o700, exist_ok=True)
    found = parent.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise UserError(f"others may enter the scratch folder {parent}, or it is not yours: remove it")
    for lock in parent.glob("*.lock"):  # what was left by killed processes
        _leave(lock, _lock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB))
    lock, folder = parent / f"{name}.lock", parent / name
    handle: int | None = None
    while handle is None:
        handle = _lock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # alone: nobody uses it, and what is there may be by half
        try:
            if handle is not None and not (folder / _WHOLE).exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                (folder / _WHOLE).touch()
        except BaseException:
            _leave(lock, handle)
            raise
        if handle is not None:
            fcntl.flock(handle, fcntl.LOCK_SH)
        elif (handle := _lock(lock, fcntl.LOCK_SH)) is not None and not (folder / _WHOLE).exists():
            _leave(lock, handle)  # who filled it failed
            handle = None
    try:
        yield folder
    finally:
        _leave(lock, handle)


def _lock(path: Path, how: int) -> int | None:
    """A handle that holds the lock of a file, and is the one that is there; None where `how` does not wait and others hold it."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(handle, how)
            if path.exists() and os.fstat(handle).st_ino == path.stat().st_ino:
                return handle
        except BlockingIOError:
            os.close(handle)
            return None
        os.close(handle)


def _leave(lock: Path, handle: int | None) -> None:
    """Let go of a shared folder; nobody else being there, remove it."""
    if handle is not None:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
            lock.unlink(missing_ok=True)
        os.close(handle)


def _named() -> tuple[str, Path]:
    for name in ("S2CORPUS_SCRATCH", "TMPDIR"):
        if value := os.environ.get(name):
            return name, Path(value).absolute()
    return "TMPDIR", Path("/tmp")


def _check(name: str, base: Path) -> None:
    try:
        found = base.stat()
    except OSError as error:
        raise UserError(
            f"the scratch folder {base} ({name}) cannot be used ({error.strerror}): make it, or name another"
        ) from None
    if not stat.S_ISDIR(found.st_mode):
        raise UserError(f"the scratch folder {base} ({name}) is a file: name a folder")
    if found.st_mode & stat.S_ISVTX:
        return
    ours = found.st_uid == os.geteuid()
    if (not ours and (found.st_uid != 0 or found.st_mode & 0o022)) or (ours and found.st_mode & stat.S_IWOTH):
        raise UserError(
            f"in the scratch folder {base} ({name}) others could replace our files (owner {found.st_uid}, "
            f"mode {stat.S_IMODE(found.st_mode):o}): name a folder that only you may write, or set its sticky bit (chmod +t)"
        )


def _make(name: str, base: Path) -> tuple[Path, int]:
    try:
        new = Path(tempfile.mkdtemp(prefix=_NEW, dir=base))  # 0700
    except OSError as error:
        raise UserError(
            f"the scratch folder {base} ({name}) cannot be written ({error.strerror}): name another"
        ) from error
    handle = os.open(new, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    # Locked before it has the name by which others look for abandoned ones.
    folder = new.rename(base / new.name.replace(_NEW, _NAME, 1))
    return folder, handle


def _remove_at_exit(key: tuple[int, str]) -> None:
    """Remove the folder at the end of the process, after what multiprocessing itself has in it.

    multiprocessing's children run no `atexit`; where it is not imported yet, what `atexit` is told first is done last.
    """
    if "multiprocessing.util" not in sys.modules:
        atexit.register(_remove, key)
        return
    from multiprocessing.util import Finalize

    Finalize(None, _remove, (key,), exitpriority=_AFTER_MULTIPROCESSING)


def _remove(key: tuple[int, str]) -> None:
    if key[0] == os.getpid() and key in _MADE:
        folder, handle = _MADE.pop(key)
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def _remove_abandoned(base: Path) -> None:
    """Remove the folders of this user's processes that are not there any more: nobody holds their lock."""
    with contextlib.suppress(OSError):
        for folder in [*base.glob(f"{_NAME}*"), *base.glob(f"{_NEW}*")]:
            with contextlib.suppress(OSError):
                found = folder.lstat()
                young = folder.name.startswith(_NEW) and time.time() - found.st_mtime < _ABANDONED_SECONDS
                if young or not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                    continue
                handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
                finally:
                    os.close(handle)
