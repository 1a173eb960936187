"""Read search exports of bibliographic databases as records, for benchmarks of record matching.

Formats: BibTeX, RIS, PubMed's MEDLINE, Web of Science's plain text, and tables with a heading (CSV, TSV; Scopus, IEEE Xplore, PubMed,
Embase, Cochrane, Publish or Perish, …). The form of the text decides, not the name of the file.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from s2corpus.errors import UserError
from s2corpus.sources import Entry, RecordKind
from s2corpus.sources.build import RawRecord
from s2corpus.sources.jsonl import read_authors
from s2orc_parse.bibliography.tex import decode_text
from s2orc_parse.latex.bibtex import read_bib

Values = dict[str, list[str]]
"""the values of an entry by tag, field or column, in lower case"""
NAMES = {
    "title": "title|document title|article title|item title|ti|t1|bti",
    "authors": "author(s) full name|author|authors|author(s)|author names|fau|af|au|a1|cn",
    "date": "year|publication year|date|date of publication|py|y1|dp|da",
    "journal": "journal|journaltitle|booktitle|source title|journal title|publication title|journal/book|venue|jt|t2|jf|jo|ja|j2|so|series"
    "|source",
    "volume": "volume|journal volume|vl|vi",
    "issue": "number|issue|journal issue|ip|is",
    "pages": "pages|pg|art_number|article-number|articleno|article number|art. no.|ar|c7",
    "first": "page start|start page|first page|startpage|bp|sp",
    "last": "page end|end page|last page|endpage|ep",
    "doi": "doi|item doi|location identifier|article identifier|di|do|lid|aid",
    "pubmed_id": "pmid|pubmed_id|pubmed id|pm",
    "type": "document type|document_type|content type|publication type|dt|pt|m3|type|kind",
}  # fmt: skip
"""the tags, fields and columns of each field of a record, in the order of preference"""
_FOREIGN = {"dt": "sp", "pmid": "is", "kind": "source", "eid": "source"}
"""names with another meaning by a name that shows the format: sponsors in Web of Science, ISSN in MEDLINE, the database in Scopus"""
_TAGGED = {
    "TY": re.compile(r"([A-Z][A-Z0-9])  ?- ?(.*)"), "PMID": re.compile(r"([A-Z]{2,4}) *- (.*)"), "PT": re.compile(r"([A-Z][A-Z0-9]) (.*)"),
}  # fmt: skip
"""the lines of tagged formats by the tag that begins an entry: RIS, MEDLINE, Web of Science"""
_BIBTEX_ENTRY = re.compile(r"^(\}?\s*@\s*)([A-Za-z]+)(\s*\{)[^,\n]*,(?=\s*$)", re.MULTILINE)
_CITATION = re.compile(r";(?P<volume>\w+)(?:\((?P<issue>[^()]*)\))?(?::(?P<pages>[\w-]+))?")
"""the place in a citation of PubMed: 2020 Mar;12(3):123-130"""
csv.field_size_limit(1 << 30)


def read_export(path: Path) -> Iterator[Entry]:
    """Yield the records of a file. Their ids are the numbers of the entries.

    Raises:
        UserError: no entry has a title.
    """
    has_title = False
    for number, values in enumerate(read_values(decode(path.read_bytes())), 1):
        for tag, other in _FOREIGN.items():
            if tag in values:
                values.pop(other, None)
        found = {name: _pick(values, keys.split("|")) for name, keys in NAMES.items()}
        fields: dict[str, Any] = {name: " ".join(texts) for name, texts in found.items()}
        first, last = fields.pop("first"), fields.pop("last")
        if first:
            fields["pages"] = f"{first}-{last}" if last and "-" not in first else first
        if not fields["volume"] and (place := _CITATION.search(" ".join(values.get("citation", ())))):
            fields |= place.groupdict()
        authors = [name for text in found["authors"] for name in text.split("||")]
        fields["authors"] = read_authors(authors if len(authors) > 1 else fields["authors"])
        fields["type"] = fields["type"] if len(found["type"]) < 2 else found["type"]
        has_title = has_title or bool(fields["title"])
        id_ = f"export:{path.name}#{number}"
        yield RawRecord(id_, "export", RecordKind.ARCHIVE, f"entry {number}", **fields).normalize()
    if not has_title:
        formats = "BibTeX, RIS, MEDLINE, Web of Science's plain text, or CSV or TSV with a heading"
        raise UserError(f"{path}: no entry has a title: expected {formats}")


def decode(data: bytes) -> str:
    """Return the text of an export, which is UTF-8, UTF-16 with a mark, or Windows-1252."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def read_values(text: str) -> Iterator[Values]:
    """Yield the values of each entry of an export."""
    if _BIBTEX_ENTRY.search(text):
        yield from _read_bibtex(text)
        return
    for tag, line in _TAGGED.items():
        if all(re.search(rf"^{form}", text, re.MULTILINE) for form in (line.pattern, rf"{tag} *(?:-| [A-Z]$)")):
            yield from _read_tagged(text, tag, line)
            return
    head = text.split("\n", 1)[0]
    for row in csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count)):
        yield {(name or "").strip().lower(): [value.strip()] for name, value in row.items() if isinstance(value, str)}


def _read_bibtex(text: str) -> Iterator[Values]:
    """Yield the fields of BibTeX entries. Their keys are replaced, because some databases repeat them."""
    numbers = count()
    text = _BIBTEX_ENTRY.sub(lambda entry: f"{entry[1]}{entry[2]}{entry[3]}{entry[2]}{next(numbers)},", text)
    for key, entry in read_bib(text).items():
        plain = {name: [re.sub("[{}]", "", decode_text(value))] for name, value in entry.fields.items()}
        authors = re.sub(r"\{\{|\}\}", "", entry.fields.get("author", ""))
        yield plain | {"author": [authors], "kind": [key.rstrip("0123456789")]}


def _read_tagged(text: str, begin: str, line: re.Pattern[str]) -> Iterator[Values]:
    """Yield the values of entries that begin with a tag; a line without a tag continues the value before."""
    values: Values = {}
    tag = ""
    for given in text.splitlines():
        found = line.fullmatch(given)
        if found:
            tag = found[1]
            if tag == begin and values:
                yield values
                values = {}
        if (values or tag == begin) and (value := (found[2] if found else given).strip()):
            values.setdefault(tag.lower(), []).append(value)
    if values:
        yield values


def _pick(values: Values, keys: list[str]) -> list[str]:
    """Return the values of the first key that has any."""
    return next((found for key in keys if any(found := values.get(key, []))), [])
