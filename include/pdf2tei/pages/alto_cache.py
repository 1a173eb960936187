"""Cache of pdfalto's output on one machine: select stores it and the extractor takes it, so pdfalto runs once for a PDF.

The extractor's server creates the folder and removes it when it ends. Without a server of the same user, nothing is stored.
Every failure is a miss, and pdfalto runs again. An entry is the gzip of pdfalto's metadata, a NUL and its XML.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import zlib
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import pdfalto

from s2orc_parse import scratch
from s2orc_parse.bounded_folder import BoundedFolder, read_limit

ENTRY = "alto.gz"  # name of an entry in the folder of the process that writes or reads it
OPTIONS = (
    *("-q", "-readingOrder", "-fullFontName", "-noLineNumbers", "-onlyGraphsCoord"),
    *("-vectorBoxes", "-vectorCoordsOnly", "-vectorLimit", "5000"),
)
"""Options of pdfalto in select and in the extractor."""
MEMORY_BYTES = 2 << 30  # maximum address space of pdfalto in the extractor, in bytes
MAX_BYTES = 32 << 20  # maximum size of an entry, compressed and not compressed
_FOLDER = "S2CORPUS_ALTO"


def pack(xml: Path, entry: Path) -> None:
    """Compress pdfalto's output to an entry; write none if the output is too large or the disk is full."""
    metadata = xml.with_name(f"{xml.stem}_metadata.xml")
    try:
        if xml.stat().st_size + metadata.stat().st_size < MAX_BYTES:
            with gzip.open(entry, "wb", compresslevel=1) as file:
                file.write(metadata.read_bytes() + b"\0" + xml.read_bytes())
    except (OSError, MemoryError):
        entry.unlink(missing_ok=True)


def unpack(entry: Path) -> tuple[bytes, bytes] | None:
    """Return the XML and the metadata of an entry, or None if it is missing, damaged or too large."""
    try:
        with gzip.open(entry) as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        return None
    metadata, _, xml = data.partition(b"\0")
    return (xml, metadata) if len(data) <= MAX_BYTES and xml.rstrip().endswith(b"</alto>") else None


def open_folder() -> AbstractContextManager[Path]:
    """Create the folder for entries, or join another server that uses it; the last server removes it."""
    return scratch.shared(_folder_name(), lambda folder: None, _FOLDER)


def take(folder: Path, pdf: Path) -> None:
    """Move the PDF's entry, if there is one, to the PDF's folder."""
    with suppress(OSError), pdf.open("rb") as file:
        shutil.move(folder / hashlib.file_digest(file, "sha1").hexdigest(), pdf.with_name(ENTRY))


class Writer:
    """A writer of entries."""

    def __init__(self, folder: BoundedFolder) -> None:
        self._folder = folder

    @classmethod
    def find(cls) -> Writer | None:
        """Return a writer, or None if no server uses a folder on this machine, or the bound is 0.

        Raises:
            UserError: the bound is not a number.
        """
        limit = read_limit()
        with suppress(OSError):
            if limit > 0 and (folder := scratch.find_shared(_folder_name(), _FOLDER)) is not None:
                return cls(BoundedFolder(folder, limit))
        return None

    def store(self, file_sha1: str, entry: Path) -> None:
        """Copy the entry that a sandboxed process wrote for a PDF; do nothing if this is not possible."""
        new = self._folder.path / f".{file_sha1}-{os.getpid()}"
        with suppress(OSError):
            with os.fdopen(os.open(entry, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                data = file.read(MAX_BYTES + 1)  # None from an open pipe
            if data and len(data) <= MAX_BYTES and self._folder.has_room(len(data)):
                try:
                    new.write_bytes(data)
                    new.replace(self._folder.path / file_sha1)
                finally:
                    new.unlink(missing_ok=True)


def _folder_name() -> str:
    """Return a name that changes with the program and its options."""
    with pdfalto.binary_path().open("rb") as file:
        key = hashlib.file_digest(file, "sha256")
    key.update(" ".join(OPTIONS).encode())
    return f"alto-{key.hexdigest()[:16]}"
