"""ScienceParse: metadata of PDFs by SHA-1 (JSONL, or one object per file)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any

from s2corpus.sources.build import RawRecord
from s2corpus.sources.json_objects import parse_objects
from s2corpus.sources.json_values import read_list
from s2corpus.sources.record import Dropped, Entry, RecordKind, RejectReason
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.names import parse_names

NAME = "scienceparse"
KIND = RecordKind.PDF
_SHA1 = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])", re.IGNORECASE)


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Return a record per PDF, from the server's form (`id`: "SP:<sha1>") or the command line's (`name`: "<sha1>.pdf", `metadata`)."""
    return parse_objects(stream, _parse)


def _parse(line: dict[str, Any], where: str) -> Entry:
    metadata = line.get("metadata")
    paper = metadata if isinstance(metadata, dict) else line
    named = (_SHA1.search(str(line.get(key) or "")) for key in ("file_sha1", "pdf_sha1", "id", "name"))
    sha1 = next((match.group().lower() for match in named if match), None)
    if sha1 is None:
        return Dropped(RejectReason.NO_ID, where, "no SHA-1 of a PDF in file_sha1, id or name")
    return RawRecord(
        f"{NAME}:{sha1}", NAME, KIND, sha1, title=paper.get("title"), authors=_authors(paper.get("authors")),
        date=paper.get("year"), venue=paper.get("venue"), abstract=paper.get("abstractText"), file_sha1=sha1,
    ).normalize()  # fmt: skip


def _authors(authors: object) -> list[Author | None]:
    found = [a.get("name") if isinstance(a, dict) else a for a in read_list(authors)]
    return parse_names(name for name in found if isinstance(name, str))
