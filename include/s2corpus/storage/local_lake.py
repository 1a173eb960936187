"""Lake in a local folder."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from s2corpus.storage.objects import ABSENT, NO_SIZES, Conflict, ListedObject, NotALakeFile, check_key, check_size

if TYPE_CHECKING:
    import pyarrow.fs


class LocalLake:
    """Lake in a local folder, for one machine and for tests."""

    def __init__(self, folder: Path, *, confined: bool = False) -> None:
        self._folder = folder.absolute()
        self._confined = confined
        self.root = self._folder.as_uri()

    def _path(self, key: str) -> Path:
        return self._folder / check_key(key)

    def _file(self, key: str) -> Path:
        """Return the path of a regular file; raise `NotALakeFile` for a FIFO or device, which would block or never end."""
        path = self._path(key)
        if not stat.S_ISREG(path.stat().st_mode):
            raise NotALakeFile(f"{path}: not a regular file: remove it, or put the file there")
        if self._confined and not path.resolve().is_relative_to(self._folder.resolve()):
            raise NotALakeFile(f"{path}: a link that leads out of {self._folder}: put the file itself there")
        return path

    def get(self, key: str) -> tuple[bytes, str]:
        """Implement `Lake.get`."""
        data = self._file(key).read_bytes()
        return data, hashlib.sha256(data).hexdigest()

    def put(self, key: str, data: bytes, *, expect: str | None = None) -> str:
        """Implement `Lake.put`."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._temporary_file(path) as file:
            file.write(data)
            file.flush()
            with contextlib.nullcontext() if expect is None else self._locked():
                if expect is not None and self.etag(key) != expect:
                    raise Conflict(key)
                Path(file.name).replace(path)
        return hashlib.sha256(data).hexdigest()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self._folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def etag(self, key: str) -> str:
        """Implement `Lake.etag`."""
        try:
            with self._file(key).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except NotALakeFile:
            raise
        except FileNotFoundError:
            return ABSENT

    def size(self, key: str) -> int | None:
        """Implement `Lake.size`."""
        try:
            return self._file(key).stat().st_size
        except FileNotFoundError:
            return None

    def upload(self, key: str, path: Path, *, move: bool = False) -> None:
        """Implement `Lake.upload`."""
        target = self._path(key)
        target.parent.mkdir(parents=True, exist_ok=True)
        if move:
            with contextlib.suppress(OSError):  # another file system, or another mount of the same
                path.chmod(0o600)  # the mode of other objects
                path.replace(target)
                return
        with self._temporary_file(target) as file:
            shutil.copyfile(path, file.name)
            Path(file.name).replace(target)

    @contextmanager
    def _temporary_file(self, path: Path) -> Iterator[Any]:
        """Yield a temporary file in the folder of `path`; it is deleted unless the caller renames it."""
        file = tempfile.NamedTemporaryFile(dir=path.parent, prefix=".put-", delete=False)  # noqa: SIM115
        try:
            with file:
                yield file
        finally:
            Path(file.name).unlink(missing_ok=True)

    def download(self, key: str, path: Path) -> None:
        """Implement `Lake.download`."""
        shutil.copyfile(self._file(key), path)

    def open(self, key: str) -> BinaryIO:
        """Implement `Lake.open`."""
        return self._file(key).open("rb")

    open_ranges = open

    def list(self, prefix: str) -> Iterator[ListedObject]:
        """Implement `Lake.list`."""
        folder = prefix.rpartition("/")[0]
        yield from self._below(f"{folder}/" if folder else "", prefix)

    def _below(self, folder: str, prefix: str) -> Iterator[ListedObject]:
        """Yield the objects of a folder in key order: names of folders sort with their slash.

        Memory is bounded by the names of one folder at each level.
        """
        try:
            with os.scandir(self._folder / folder) as entries:
                names = sorted(
                    f"{e.name}/" if e.is_dir() else e.name for e in entries if not (e.is_symlink() and e.is_dir())
                )
        except (FileNotFoundError, NotADirectoryError):
            return
        for name in names:
            key = folder + name
            if name.endswith("/"):
                if key.startswith(prefix) or prefix.startswith(key):
                    yield from self._below(key, prefix)
            elif not key.startswith(prefix) or name.startswith((".put-", ".lock")):
                continue
            elif (size := self.size(key)) is not None:  # Skips pipes and broken links.
                yield ListedObject(key, size)

    def folders(self, prefix: str) -> Sequence[str]:
        """Implement `Lake.folders`."""
        base = self._folder / prefix
        return sorted(p.name for p in base.iterdir() if p.is_dir()) if base.is_dir() else []

    def delete(self, key: str) -> None:
        """Implement `Lake.delete`."""
        self._path(key).unlink(missing_ok=True)

    def uri(self, key: str) -> str:
        """Implement `Lake.uri`."""
        return str(self._path(key))

    def check_file(self, key: str) -> None:
        """Implement `Lake.check_file`."""
        try:
            self._file(key)
        except NotALakeFile:
            raise
        except FileNotFoundError:  # The open call reports it.
            pass

    def filesystem(self, sizes: Mapping[str, int] = NO_SIZES) -> tuple[pyarrow.fs.FileSystem, str]:
        """Implement `Lake.filesystem`."""
        import pyarrow.fs

        for key, size in sizes.items():
            check_size(self.uri(key), size, self.size(key))
        return pyarrow.fs.LocalFileSystem(), f"{self._folder}/"
