"""Convert the labeled texts of a document converter (docling, marker, opendataloader) to a parse."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

from pdf2tei.references import fields
from s2corpus.extractors.protocol import ExtractorIdentity
from s2orc_parse.bibliography.dates import to_int
from s2orc_parse.bibliography.names import make_author, parse_authors
from s2orc_parse.parse_model import BibEntry, CitationStyle, CiteSpan, Header, Paragraph, Parse, Provenance

VERSION = "1"
"""part of the `CONVERTER_VERSION` of adapters that use `build_parse`"""
_CALLOUT = re.compile(r"\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]")
_LABEL = re.compile(r"\[?(\d{1,3})[\].]\s+")
_NUMBER = re.compile(r"\d+(?:\.\d+)*\.?\s+(?=\S)")
_FIRST_SECTION = re.compile(r"(?i)\d|(?:abstract|summary|background|introduction|keywords)\b")


def build_parse(
    items: Iterable[tuple[str, str]], data: bytes, *, file_sha1: str, made_by: ExtractorIdentity, converter_version: str
) -> Parse:
    """Build title, authors, abstract, sections, references, and the numbers that cite them.

    Args:
        items: label (`title`, `heading` or `text`) and text, in reading order. Without a title, the first heading is the title.
        data: the converter's answer.
    """
    title, authors, section = "", "", ""
    references: list[str] = []
    abstract: list[tuple[str, str]] = []
    body: list[tuple[str, str]] = []
    for label, printed in items:
        text = " ".join(printed.split())
        if not text:
            continue
        if label == "title" or (label == "heading" and not title):
            title = text
        elif label == "heading" and (authors or section or _FIRST_SECTION.match(text)):
            section = _NUMBER.sub("", text, count=1)
        elif section.casefold() in ("references", "bibliography"):
            if references and _LABEL.match(references[0]) and not _LABEL.match(text):
                references[-1] += f" {text}"  # The entry continues on another page or in another column.
            else:
                references.append(text)
        elif not section:
            authors = authors or (text if title else "")
        else:
            (abstract if section.casefold() == "abstract" else body).append((section, text))
    entries = tuple(_build_entry(number, raw) for number, raw in enumerate(references))
    keys = {entry.label: entry.key for entry in entries if entry.label}
    sha1 = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    return Parse(
        file_sha1=file_sha1,
        header=Header(title=title, authors=tuple(parse_authors(authors))),
        citation_style=CitationStyle.BRACKET if references else CitationStyle.OTHER,
        abstract=tuple(_build_paragraph(*each, keys) for each in abstract),
        body_text=tuple(_build_paragraph(*each, keys) for each in body),
        back_matter=(),
        bib_entries=entries,
        ref_entries=(),
        provenance=Provenance(made_by.extractor, made_by.full_version, made_by.options_hash, sha1, converter_version),
    )


def _build_entry(number: int, printed: str) -> BibEntry:
    label = _LABEL.match(printed)
    raw = printed[label.end() :] if label else printed
    read = fields.parse_reference(raw)
    return BibEntry(
        key=f"BIBREF{number}",
        ref_id=f"b{number}",
        title=read.title,
        authors=tuple(a for each in read.authors if (a := make_author(" ".join(each.forenames), each.surname))),
        year=to_int(read.year[:4]),
        venue=read.journal or read.booktitle,
        label=label[1] if label else None,
        raw_text=raw,
    )


def _build_paragraph(section: str, text: str, keys: Mapping[str, str]) -> Paragraph:
    spans = [
        CiteSpan(at, at + len(number[0]), number[0], keys.get(number[0]))
        for group in _CALLOUT.finditer(text)
        for number in re.finditer(r"\d+", group[1])
        for at in [group.start(1) + number.start()]
    ]
    return Paragraph(section=section, text=text, cite_spans=tuple(spans))
