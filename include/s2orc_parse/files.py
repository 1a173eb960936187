"""Read full-text files and convert each according to its format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from s2orc_parse import jats, tei
from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES
from s2orc_parse.errors import UserError
from s2orc_parse.parse_model import Parse

SUFFIX = re.compile(r"(?:\.grobid)?(?:\.tei)?\.(?:xml|tei|nxml|json)$", re.IGNORECASE)
"""end of the name of a TEI, JATS or Elsevier JSON file"""


def convert_document(data: bytes, sha1: str) -> tuple[Parse | None, str]:
    """Return the parse of a document and `ok`, or None and the reason.

    A document that is neither JATS nor Elsevier JSON is read as TEI.
    """
    form = jats.detect_kind(data)
    try:
        if form is not None:
            return jats.CONVERTERS[form](data, sha1=sha1), "ok"
        return tei.convert(data, file_sha1=sha1), "ok"
    except tei.BadTei as bad:
        return None, f"bad_tei:{bad.outcome}"
    except jats.BadArticle as bad:
        return None, f"bad_{form}:{bad.outcome}"


def list_files(path: Path, suffix: re.Pattern[str] = SUFFIX, names: str = ".xml, .nxml, .tei or .json") -> list[Path]:
    """Return the file itself, or the full-text files of a folder (`names` describes the suffix), sorted by name.

    Raises:
        UserError: the folder contains no full-text file.
    """
    if not path.is_dir():
        return [path]
    files = sorted(p for p in path.rglob("*") if suffix.search(p.name) and not p.is_dir())
    if not files:
        raise UserError(f"{path} contains no full-text file: expected names that end in {names}")
    return files


def read_files(path: Path) -> Iterator[tuple[Path, bytes | None]]:
    """Yield each file with at most MAX_ENTRY_BYTES + 1 bytes of its content, or with None if it cannot be read.

    In a folder, only regular files are opened.
    """
    for file in list_files(path):
        data = None
        try:
            if file == path or file.is_file():
                with file.open("rb") as stream:
                    data = stream.read(MAX_ENTRY_BYTES + 1)
        except OSError:
            pass
        yield file, data
