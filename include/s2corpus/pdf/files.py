"""Find the PDF files that a command line names."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable
from pathlib import Path

from s2corpus.errors import UserError
from s2corpus.storage.outputs import printable

log = logging.getLogger(__name__)


def hash_pdfs(paths: Iterable[Path]) -> dict[str, Path]:
    """Return files, and the `*.pdf` files of folders, by the SHA-1 of their bytes. Copies count once.

    A broken link in a folder is skipped with a warning.

    Raises:
        UserError: a path does not exist or cannot be read, or a folder contains no PDFs.
    """
    by_sha1: dict[str, Path] = {}
    for path in paths:
        files = [path]
        if path.is_dir():
            names = sorted(p for p in path.iterdir() if p.suffix.lower() == ".pdf" and not p.is_dir())
            files = [p for p in names if p.is_file()]
            for name in names:
                if name not in files:
                    log.warning("%s: skipped: not a file, or a broken link", printable(name))
            if not files:
                raise UserError(f"{printable(path)}: the folder contains no *.pdf files")
        for file in files:
            try:
                with file.open("rb") as stream:
                    by_sha1.setdefault(hashlib.file_digest(stream, "sha1").hexdigest(), file)
            except OSError as error:
                raise UserError(
                    f"{printable(file)}: cannot be read ({error.strerror}): expected a PDF file or a folder"
                ) from None
    return by_sha1
