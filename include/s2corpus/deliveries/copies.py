"""Copies of PDFs on the local disk: registration, select and extract on one machine download a PDF once."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from s2orc_parse import scratch
from s2orc_parse.bounded_folder import BoundedFolder, read_limit


class Copies:
    """Copies by SHA-1, until extract has sent them. Without a private folder or free space, there are none."""

    def __init__(self, folder: BoundedFolder | None) -> None:
        self._folder = folder

    @classmethod
    def find(cls) -> Copies:
        """Return the copies of this user on this machine.

        Raises:
            UserError: the bound is not a number.
        """
        limit = read_limit()
        with suppress(OSError):
            if limit > 0:
                return cls(BoundedFolder(scratch.kept("pdfs"), limit))
        return cls(None)

    def open(self, sha1: str) -> BinaryIO | None:
        """Open a copy, if it is complete; a power failure may have truncated it."""
        if self._folder is None:
            return None
        path = self._folder.path / sha1
        with suppress(OSError):
            file = path.open("rb")
            if hashlib.file_digest(file, "sha1").hexdigest() == sha1:
                file.seek(0)
                return file
            file.close()
            path.unlink()
        return None

    def link(self, sha1: str, path: Path) -> bool:
        """Give a copy a second name; return False if there is none."""
        if self._folder is None or (copy := self.open(sha1)) is None:
            return False
        copy.close()
        with suppress(OSError):
            os.link(self._folder.path / sha1, path)
            return True
        return False

    def store(self, sha1: str, path: Path) -> None:
        """Retain a file, whose content has this SHA-1, under a second name."""
        if self._folder is not None:
            with suppress(OSError):
                if self._folder.has_room(path.stat().st_size):
                    os.link(path, self._folder.path / sha1)

    def remove(self, sha1: str) -> None:
        """Remove a copy."""
        if self._folder is not None:
            with suppress(OSError):
                (self._folder.path / sha1).unlink()

    @contextmanager
    def receive(self, size: int | None) -> Iterator[Receiver]:
        """Yield a receiver of the bytes of a file, which writes them if `size` is available and fits."""
        with ExitStack() as stack:
            file = None
            if self._folder is not None and size is not None:
                with suppress(OSError):
                    if self._folder.has_room(size):
                        file = stack.enter_context(tempfile.NamedTemporaryFile(dir=self._folder.path, buffering=0))
            yield Receiver(file)


class Receiver:
    """A copy of a file that is being downloaded. A failure, such as a full disk, ends the copy but not the download."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, data: bytes) -> None:
        """Append bytes."""
        if self._file is not None:
            try:
                self._file.write(data)
            except OSError:
                self._file = None

    def store(self, sha1: str) -> None:
        """Retain the copy under the SHA-1 of its bytes."""
        if self._file is not None:
            with suppress(OSError):
                path = Path(self._file.name)
                os.link(path, path.with_name(sha1))
