"""Private scratch folders: each process stores temporary files in its own folder, including closed full text.

Each process has a folder below `S2CORPUS_SCRATCH` (else `TMPDIR`, else /tmp). Its name is unpredictable and only its
user may enter it. `tempfile` uses it too, so libraries and child processes create their folders there. The folder is
removed when the process ends. The next process removes folders of killed processes. `shared` provides a folder that
several processes of a machine read.
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
COMPLETE = ".whole"
_ABANDONED_SECONDS = 3600.0
_AFTER_MULTIPROCESSING = -200
"""exit priority of the removal: multiprocessing removes its own folder inside this one earlier (-100)"""
_MAX_SOCKET_PATH = 107
"""bytes of a Unix socket's path (unix(7): 108 with the final NUL)"""
_SOCKET = "/pymp-12345678/listener-12345678"
"""path of multiprocessing's socket inside the private folder"""
_LOCK = threading.Lock()
_MADE: dict[tuple[int, str], tuple[Path, int]] = {}
"""(process, base folder) → the private folder and its lock handle"""


def private() -> Path:
    """Return this process's private folder; the first call creates it and points `tempfile` to it.

    Raises UserError if the base folder is missing, no folder, not writable, or lets other users replace files in it.
    """
    name, base = _find_base()
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


def check_socket_path() -> None:
    """Check that the path of the private folder is short enough for the sockets of multiprocessing.

    Raises:
        UserError: the path is too long, or `private` raised it.
    """
    excess = len(os.fsencode(private())) + len(_SOCKET) - _MAX_SOCKET_PATH
    if excess > 0:
        name, base = _find_base()
        length = len(os.fsencode(base))
        raise UserError(
            f"the path of the scratch folder {base} ({name}) has {length} bytes, but sockets in it allow at most "
            f"{length - excess}: set S2CORPUS_SCRATCH to a folder with a shorter path"
        )


@contextlib.contextmanager
def shared(name: str, fill: Callable[[Path], None], *variables: str) -> Iterator[Path]:
    """Yield a folder that this user's processes on this machine share. The first fills it; the last removes it.

    The first of these environment variables that is set replaces the base folder. Raises UserError as `private` does.
    """
    parent = _make_parent(*variables)
    for lock in parent.glob("*.lock"):  # remove folders of killed processes
        _release(lock, _lock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB))
    lock, folder = parent / f"{name}.lock", parent / name
    handle: int | None = None
    while handle is None:
        # Exclusive: no process uses the folder, and its content may be incomplete.
        handle = _lock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            if handle is not None and not (folder / COMPLETE).exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(mode=0o700)
                fill(folder)
                (folder / COMPLETE).touch()
        except BaseException:
            _release(lock, handle)
            raise
        if handle is not None:
            fcntl.flock(handle, fcntl.LOCK_SH)  # Not atomic: another process may have had the lock in between.
        else:
            handle = _lock(lock, fcntl.LOCK_SH)
        if handle is not None and not (_is_at(handle, lock) and (folder / COMPLETE).exists()):
            _release(lock, handle)  # The process that filled it failed, or another one removed it.
            handle = None
    try:
        yield folder
    finally:
        _release(lock, handle)


def kept(name: str) -> Path:
    """Return a folder of this user on this machine that outlives the process. Raises UserError as `private` does."""
    folder = _make_parent() / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _make_parent(*variables: str) -> Path:
    variable, base = _find_base(*variables)
    _check(variable, base)
    parent = base / f"{_SHARED}{os.geteuid()}"
    parent.mkdir(mode=0o700, exist_ok=True)
    if not _is_private(parent):
        raise UserError(f"the scratch folder {parent} is accessible to other users or is not yours: remove it")
    return parent


def find_shared(name: str, *variables: str) -> Path | None:
    """Return the path of a folder that a process shares at the moment, or None."""
    parent = _find_base(*variables)[1] / f"{_SHARED}{os.geteuid()}"
    folder, lock = parent / name, parent / f"{name}.lock"
    with contextlib.suppress(OSError):
        if _is_private(parent) and _is_private(folder):
            _release(lock, _lock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB))  # remove the folder of a killed process
            return folder if (folder / COMPLETE).exists() else None
    return None


def _is_private(folder: Path) -> bool:
    """Return whether a path is a folder of this user that no other user may enter."""
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def _is_at(handle: int, path: Path) -> bool:
    """Return whether an open file is still the file at this path."""
    try:
        return os.fstat(handle).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False


def _lock(path: Path, how: int) -> int | None:
    """Lock a file and return the handle, or None if `how` does not wait and another process has the lock.

    The loop ensures that the locked file is still the file at this path.
    """
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(handle, how)
            if _is_at(handle, path):
                return handle
        except BlockingIOError:
            os.close(handle)
            return None
        os.close(handle)


def _release(lock: Path, handle: int | None) -> None:
    """Release a shared folder; remove it if no other process uses it."""
    if handle is not None:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(handle, lock):
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink()
        os.close(handle)


def base_folder() -> Path:
    """Return the folder that contains the scratch folders of all processes."""
    return _find_base()[1]


def _find_base(*variables: str) -> tuple[str, Path]:
    for name in (*variables, "S2CORPUS_SCRATCH", "TMPDIR"):
        if value := os.environ.get(name):
            return name, Path(value).absolute()
    return "TMPDIR", Path("/tmp")


def _check(name: str, base: Path) -> None:
    try:
        found = base.stat()
    except OSError as error:
        raise UserError(
            f"the scratch folder {base} ({name}) cannot be used ({error.strerror}): create it or set another folder"
        ) from None
    if not stat.S_ISDIR(found.st_mode):
        raise UserError(f"the scratch folder {base} ({name}) is a file: set a folder")
    if found.st_mode & stat.S_ISVTX:
        return
    ours = found.st_uid == os.geteuid()
    if (not ours and (found.st_uid != 0 or found.st_mode & 0o022)) or (ours and found.st_mode & stat.S_IWOTH):
        raise UserError(
            f"other users can replace files in the scratch folder {base} ({name}) (owner {found.st_uid}, "
            f"mode {stat.S_IMODE(found.st_mode):o}): set a folder that only you can write, or set its sticky bit (chmod +t)"
        )


def _make(name: str, base: Path) -> tuple[Path, int]:
    try:
        new = Path(tempfile.mkdtemp(prefix=_NEW, dir=base))  # 0700
    except OSError as error:
        raise UserError(
            f"the scratch folder {base} ({name}) is not writable ({error.strerror}): set another folder"
        ) from error
    handle = os.open(new, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    # Lock first: other processes regard an unlocked folder with the final name as abandoned.
    folder = new.rename(base / new.name.replace(_NEW, _NAME, 1))
    return folder, handle


def _remove_at_exit(key: tuple[int, str]) -> None:
    """Remove the folder when the process ends, after multiprocessing has removed its own folder inside.

    multiprocessing's children do not run `atexit`. If multiprocessing is imported later, `atexit` still runs this
    function last.
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
    """Remove the folders of this user's ended processes, whose locks are released."""
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
