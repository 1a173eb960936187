"""ScienceParse: JSON of the server or command line. It precedes the extractor for title and authors. Files have the SHA-1 of the
PDF as name; [other names](drops.md#scienceparse) are resolved. Ids: `scienceparse:<sha1>`.

Files that are not named by the SHA-1, such as PeerRead's `104.pdf.json`, are resolved by the drop that contains `104.pdf`, or by
`file_sha1.csv` of the delivery.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import IO, Any

from s2corpus.sources.build import RawRecord
from s2corpus.sources.json_objects import parse_objects
from s2corpus.sources.json_values import read_list
from s2corpus.sources.record import Dropped, Entry, RecordKind, RejectReason
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.names import parse_names

NAME = "scienceparse"
KIND = RecordKind.PDF
NAMES_FILE = "file_sha1.csv"
"""file of a delivery that maps names of PDFs to SHA-1s, with the header `name,file_sha1`"""
_FORM = re.compile(rb'\s*\{\s*"name"\s*:\s*"(?:[^"\\]|\\.){1,300}\.pdf"\s*,\s*"metadata"\s*:', re.IGNORECASE)
_SUFFIXES = re.compile(r"(?:\.pdf)?(?:\.json)?$", re.IGNORECASE)
_SHA1 = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])", re.IGNORECASE)


def read(stream: IO[bytes], sha1_of: Mapping[str, str] | None = None, file: str = "") -> Iterator[Entry]:
    """Return a record per PDF, from the server's form (`id`: "SP:<sha1>") or the command line's (`name`: "<sha1>.pdf", `metadata`).

    `sha1_of` maps names of PDFs without folder and `.pdf` to their SHA-1s. An object without `name` has the name of its `file`.
    """
    return parse_objects(stream, lambda line, where: _parse(line, where, sha1_of or {}, file))


def has_form(head: bytes) -> bool:
    """Return whether a JSON file begins as ScienceParse's command line writes it: with the name of a PDF and `metadata`."""
    return _FORM.match(head) is not None


def short_name(name: str) -> str:
    """Return the name of a PDF, or of ScienceParse's file about it, without folder and suffixes: `104` for `a/104.pdf.json`."""
    return _SUFFIXES.sub("", name.rpartition("/")[2])


def _parse(line: dict[str, Any], where: str, sha1_of: Mapping[str, str], file: str) -> Entry:
    metadata = line.get("metadata")
    paper = metadata if isinstance(metadata, dict) else line
    named = (_SHA1.search(str(line.get(key) or "")) for key in ("file_sha1", "pdf_sha1", "id", "name"))
    names = (short_name(name) for name in (line.get("name"), file) if isinstance(name, str) and name)
    found = (match.group().lower() for match in named if match)
    sha1 = next(found, None) or next((sha1_of[name] for name in names if name in sha1_of), None)
    if sha1 is None:
        detail = "no SHA-1 of a PDF in file_sha1, id or name, and neither the drop nor file_sha1.csv resolves the name"
        return Dropped(RejectReason.NO_ID, where, detail)
    return RawRecord(
        f"{NAME}:{sha1}", NAME, KIND, sha1, title=paper.get("title"), authors=_authors(paper.get("authors")),
        date=paper.get("year"), venue=paper.get("venue"), abstract=paper.get("abstractText"), file_sha1=sha1,
    ).normalize()  # fmt: skip


def _authors(authors: object) -> list[Author | None]:
    found = [a.get("name") if isinstance(a, dict) else a for a in read_list(authors)]
    return parse_names(name for name in found if isinstance(name, str))
