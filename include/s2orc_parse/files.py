"""Read full-text files and convert each according to its format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from s2orc_parse import jats, tei
from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES
from s2orc_parse.bibliography.printed import ReferenceParser
from s2orc_parse.errors import UserError
from s2orc_parse.parse_model import Parse

SUFFIX = re.compile(r"(?:\.grobid)?(?:\.tei)?\.(?:xml|tei|nxml|json)$", re.IGNORECASE)
"""end of the name of a TEI, JATS or Elsevier JSON file"""


def convert_document(data: bytes, sha1: str, parse_reference: ReferenceParser = None) -> tuple[Parse | None, str]:
    """Return the parse of a document and `ok`, or None and the reason. What is neither JATS nor Elsevier JSON is read as TEI."""
    form = jats.detect_kind(data)
    try:
        if form == "jats":
            return jats.convert(data, sha1=sha1, parse_reference=parse_reference), "ok"
        if form is not None:
            return jats.CONVERTERS[form](data, sha1=sha1), "ok"
        return tei.convert(data, file_sha1=sha1), "ok"
    except tei.BadTei as bad:
        return None, f"bad_tei:{bad.outcome}"
    except jats.BadArticle as bad:
        return None, f"bad_{form}:{bad.outcome}"


def read_files(path: Path) -> Iterator[tuple[Path, bytes | None]]:
    """Yield the file, or the full-text files of a folder by name, with up to MAX_ENTRY_BYTES + 1 bytes, or None if unreadable.

    In a folder, only regular files are opened. Raises UserError if it contains no full-text file.
    """
    files = [path]
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if SUFFIX.search(p.name) and not p.is_dir())
    if not files:
        raise UserError(f"{path} contains no full-text file: expected names that end in .xml, .nxml, .tei or .json")
    for file in files:
        data = None
        try:
            if file == path or file.is_file():
                with file.open("rb") as stream:
                    data = stream.read(MAX_ENTRY_BYTES + 1)
        except OSError:
            pass
        yield file, data
