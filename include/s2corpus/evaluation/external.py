"""Read corpora that others publish, for a comparison.

The corpora are peS2o's and S2 V2's documents, unarXive's papers, and S2ORC's metadata and parses. Files are JSON lines, optionally
gzipped. The keys of a line determine its release of S2ORC.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson

from s2corpus.errors import UserError
from s2orc_parse.bibliography.identifiers import (
    normalize_acl,
    normalize_arxiv,
    normalize_doi,
    normalize_pmcid,
    normalize_pmid,
)

MAX_CONTENT = 8 << 30
"""maximum number of uncompressed bytes in a file; larger files are rejected as decompression bombs"""
MAX_LINE = 64 << 20


class Corpus(StrEnum):
    """The corpus that a file belongs to."""

    PES2O = "peS2o"
    UNARXIVE = "unarXive"
    S2ORC = "s2orc"


@dataclass(frozen=True, slots=True)
class ExternalPaper:
    """A paper of another corpus: its keys for matching, most reliable first, and its text if the line contains one."""

    id: str
    keys: tuple[tuple[str, str], ...]
    title: str
    text: str | None
    kind: str
    """kind of our text to compare with: document, pdf or latex"""


def read(corpus: Corpus, uri: str, content: bytes) -> Iterator[ExternalPaper]:
    """Yield the papers of one file.

    Raises:
        UserError: the file has another format or is too large.
    """
    reader = _READERS[corpus]
    try:
        stream: Any = gzip.GzipFile(fileobj=io.BytesIO(content)) if content[:2] == b"\x1f\x8b" else io.BytesIO(content)
        total = 0
        for number, line in enumerate(iter(lambda: stream.readline(MAX_LINE), b""), 1):
            total += len(line)
            if total > MAX_CONTENT or len(line) == MAX_LINE:
                raise UserError(
                    f"{uri}, line {number}: more than {MAX_LINE:,} bytes, or the file more than {MAX_CONTENT:,}"
                )
            if line.strip():
                try:
                    value = orjson.loads(line)
                    found = reader(value)
                    if not all(
                        isinstance(text, str) for text in (found.title, found.text or "", *dict(found.keys).values())
                    ):
                        raise TypeError("a title, a text or an identifier is not a string")
                except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
                    raise UserError(
                        f"{uri}, line {number}: not a line of {corpus}: {type(error).__name__} {error}"
                    ) from None
                yield found
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UserError(f"{uri}: damaged gzip: {error}") from None


def _pes2o(line: Mapping[str, Any]) -> ExternalPaper:
    """Read a line of peS2o: `{id, text}`, with more keys in later versions.

    The id is Semantic Scholar's corpus id. The first line of the text is the title.
    """
    text = line["text"]
    keys = [("record_id", f"s2:{line['id']}")]
    if sha1 := line.get("sha1"):
        keys.append(("sha1", sha1))
    return ExternalPaper(str(line["id"]), tuple(keys), text.partition("\n")[0], text, "document")


def _unarxive(line: Mapping[str, Any]) -> ExternalPaper:
    """Read a line of unarXive 2022: `{paper_id, metadata, abstract, body_text, bib_entries, …}`; the id is arXiv's."""
    metadata = line["metadata"]
    keys = _keys({"arxiv_id": line["paper_id"], "doi": metadata.get("doi")})
    body = "\n".join(p["text"] for p in line["body_text"] if p.get("content_type", "paragraph") == "paragraph")
    return ExternalPaper(str(line["paper_id"]), keys, " ".join((metadata.get("title") or "").split()), body, "latex")


def _s2orc(line: Mapping[str, Any]) -> ExternalPaper:
    """Read a line of metadata or of a parse: S2ORC 20190928, 20200705, or output of s2orc-doc2json."""
    metadata = line.get("metadata") or line
    parse = line.get("grobid_parse") or line.get("pdf_parse") or line.get("latex_parse") or line
    keys = [*_keys(metadata), ("record_id", f"s2:{line['paper_id']}"), *_keys({"acl_id": line["paper_id"]})]
    if sha1 := line.get("_pdf_hash") or line.get("s2_pdf_hash"):
        keys.insert(0, ("sha1", sha1))
    body = "\n".join(paragraph["text"] for paragraph in parse["body_text"]) if "body_text" in parse else None
    kind = "latex" if line.get("latex_parse") and not line.get("grobid_parse") else "pdf"
    return ExternalPaper(str(line["paper_id"]), tuple(keys), metadata.get("title") or "", body, kind)


_READERS: Mapping[Corpus, Callable[[Mapping[str, Any]], ExternalPaper]] = {
    Corpus.PES2O: _pes2o, Corpus.UNARXIVE: _unarxive, Corpus.S2ORC: _s2orc,
}  # fmt: skip
_NORMALIZERS: Mapping[str, Callable[[str], str | None]] = {
    "doi": lambda text: normalize_doi(text) or _keep_placeholder_doi(text),
    "arxiv_id": normalize_arxiv,
    "pubmed_id": normalize_pmid,
    "pmc_id": normalize_pmcid,
    "acl_id": normalize_acl,
}


def _keep_placeholder_doi(text: str) -> str | None:
    """Return a DOI that intake would consider a placeholder, or None."""
    return text.strip().lower() if text.strip().startswith("10.") else None


def _keys(metadata: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    given = ((name, form, metadata.get(name)) for name, form in _NORMALIZERS.items())
    found = ((name, form(value)) for name, form, value in given if isinstance(value, str) and value)
    return tuple((name, value) for name, value in found if value)


KINDS: Sequence[str] = ("sha1", "record_id", *_NORMALIZERS, "title")
"""kinds of keys that match papers, most reliable first"""
