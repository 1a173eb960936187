"""Elsevier's OA CC-BY JSON → parse (schema: Kershaw and Koeling 2020, §3.2).

The files have sentences, each with its section and its place; no paragraphs, figures, tables or equations. The sentences of a section
are one paragraph, in the order of their offsets.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from s2orc_parse.bibliography import identifiers
from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES, Author
from s2orc_parse.bibliography.names import make_author
from s2orc_parse.jats.elsevier_front import read_front
from s2orc_parse.jats.header import header_of
from s2orc_parse.jats.outcome import BadArticle, Outcome
from s2orc_parse.jats.text import number_of, section_in
from s2orc_parse.parse_model import BibEntry, CiteSpan, Paragraph, Parse, Provenance
from s2orc_parse.tei.bibliography import add_arxiv
from s2orc_parse.tei.callouts import detect_style
from s2orc_parse.tei.sections import NO_SECTION, Section
from s2orc_parse.tei.text import Draft, Mark

CONVERTER_VERSION = "5"  # part of the key of every stored parse: raise it when any parse may come out different
MAX_CALLOUT = 1_000  # characters; what is longer is not a callout
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
Json = dict[str, Any]


def convert(data: bytes, *, sha1: str) -> Parse:
    """The parse of one article, `{docId, metadata, abstract, bib_entries, body_text}`.

    `sha1` names the file and is only recorded. What is absent or null is taken as nothing. Raises `BadArticle` with its outcome, and
    nothing else, whatever the bytes are.
    """
    article = _read(data)
    keys = {name: f"BIBREF{n}" for n, name in enumerate(_at(article, "bib_entries", dict))}
    entries = [_entry(key, name, article["bib_entries"][name]) for name, key in keys.items()]
    sentences = [_sentence(item, f"body_text[{n}]") for n, item in enumerate(_at(article, "body_text", list))]
    if not any(sentence.text for sentence in sentences):
        raise BadArticle(Outcome.NO_BODY)
    _at(article, "metadata", dict)
    drafts = _drafts(sentences)
    return Parse(
        file_sha1=sha1,
        header=header_of(read_front(article)),
        citation_style=detect_style(drafts),
        abstract=_abstract(article),
        body_text=tuple(_paragraph(draft, keys) for draft in drafts),
        back_matter=(),
        bib_entries=tuple(entries),
        ref_entries=(),
        provenance=Provenance(
            "elsevier-json", "", "", hashlib.sha1(data, usedforsecurity=False).hexdigest(), CONVERTER_VERSION
        ),
        article=article,
    )


@dataclass(slots=True)
class _Sentence:
    """One sentence where it stands: `refs` are (start, end, name of the entry) in it."""

    text: str
    at: int
    section_id: str
    section: Section
    refs: list[tuple[int, int, str]] = field(default_factory=list)


def _read(data: bytes) -> Json:
    """The article as the schema has it: one JSON object with a docId."""
    if len(data) > MAX_ENTRY_BYTES:
        raise BadArticle(Outcome.TOO_LARGE)
    if not data.strip():
        raise BadArticle(Outcome.EMPTY)
    try:
        article = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        deep = "depth" in str(error).casefold()
        raise BadArticle(Outcome.TOO_DEEP if deep else Outcome.NOT_WELL_FORMED, str(error)[:200]) from None
    if isinstance(article, list) and len(article) > 1:
        raise BadArticle(Outcome.SEVERAL_ARTICLES, f"{len(article)} values")
    if not isinstance(article, dict) or not {"docId", "body_text"} & article.keys():
        raise BadArticle(Outcome.NOT_AN_ARTICLE, "no object with docId and body_text")
    if not _at(article, "docId", str):
        raise BadArticle(Outcome.NOT_AN_ARTICLE, "no docId")
    return article


def _at(value: Mapping[str, Any], name: str, kind: type, where: str = "") -> Any:
    """The value of a key, which has a type; an empty one where it is absent or null."""
    found = value.get(name)
    if found is None:
        return kind()
    if not isinstance(found, kind) or isinstance(found, bool):
        raise BadArticle(Outcome.WRONG_TYPE, f"{where}{name}: {type(found).__name__} instead of {kind.__name__}")
    return found


def _object(value: object, where: str) -> Json:
    if not isinstance(value, dict):
        raise BadArticle(Outcome.WRONG_TYPE, f"{where}: {type(value).__name__} instead of dict")
    return value


def _sentence(given: object, where: str) -> _Sentence:
    item = _object(given, where)
    raw = _CONTROL.sub(" ", _at(item, "sentence", str, f"{where}."))
    at = _at(item, "startOffset", int, f"{where}.")
    section = NO_SECTION
    parents = _at(item, "parents", list, f"{where}.")
    heads = [_at(_object(parent, f"{where}.parents"), "title", str, f"{where}.parents.") for parent in parents]
    for head in (*heads, _at(item, "title", str, f"{where}.")):
        if head := " ".join(head.split()):
            num, head = number_of("", head)
            section = section_in(section, head or num or "", num)
    refs = _at(item, "refoffsets", dict, f"{where}.")
    offsets = [
        (_at(place, "startOffset", int, f"{where}.refoffsets."), _at(place, "endOffset", int, f"{where}.refoffsets."), name)
        for name, given in refs.items()
        for place in (_object(given, f"{where}.refoffsets.{name}"),)
    ]  # fmt: skip
    text = " ".join(raw.split())
    found = _Sentence(text, at, _at(item, "secId", str, f"{where}."), section)
    found.refs = sorted(_placed(raw, text, at, offsets)) if offsets else []
    return found


def _placed(raw: str, text: str, at: int, offsets: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Callouts in the sentence as it is written out (`text`: `raw` with single spaces), without white space around them.

    Offsets count in the sentence (Kershaw and Koeling, §3.2); where they cannot, from where the sentence's own do.
    """
    if any(end > len(raw) for _, end, _ in offsets):
        offsets = [(start - at, end - at, name) for start, end, name in offsets]
    places = _places(raw) if raw != text else range(len(raw))
    found = []
    for start, end, name in offsets:
        if not 0 <= start < end <= len(raw) or end - start > MAX_CALLOUT:
            continue
        while start < end and raw[start].isspace():
            start += 1
        while start < end and raw[end - 1].isspace():
            end -= 1
        if start < end:
            found.append((places[start], places[end - 1] + 1, name))
    return found


def _places(raw: str) -> list[int]:
    """Where each character that is not white space stands once white space runs are one space."""
    places = []
    at, space = 0, False
    for character in raw:
        if character.isspace():
            space = True
        else:
            at += space and at > 0
            space = False
        places.append(at)
        at += not space
    return places


def _drafts(sentences: list[_Sentence]) -> list[Draft]:
    """A text for each section, in the order of their first sentences."""
    by_section: dict[tuple[str, str], list[_Sentence]] = {}
    for sentence in sorted(sentences, key=lambda sentence: sentence.at):
        if sentence.text:
            path = "" if sentence.section_id else sentence.section.path
            by_section.setdefault((sentence.section_id, path), []).append(sentence)
    drafts = []
    for found in by_section.values():
        draft = Draft(" ".join(sentence.text for sentence in found), found[0].section)
        shift = 0
        for sentence in found:
            draft.marks += [Mark(start + shift, end + shift, "cite", (name,)) for start, end, name in sentence.refs]
            shift += len(sentence.text) + 1
        drafts.append(draft)
    return drafts


def _paragraph(draft: Draft, keys: Mapping[str, str]) -> Paragraph:
    spans = dict.fromkeys(
        CiteSpan(mark.start, mark.end, draft.text[mark.start : mark.end], keys.get(mark.targets[0]))
        for mark in draft.marks
    )
    ordered = sorted(spans, key=lambda span: (span.start, span.end))
    return Paragraph(draft.section.path, draft.text, draft.section.num, tuple(ordered))


def _abstract(article: Json) -> tuple[Paragraph, ...]:
    """The abstract as one paragraph."""
    given = article.get("abstract")
    sentences = [given] if isinstance(given, str) else _at(article, "abstract", list)
    found = []
    for n, value in enumerate(sentences):
        item = {"sentence": value} if isinstance(value, str) else _object(value, f"abstract[{n}]")
        where = f"abstract[{n}]."
        found.append((_at(item, "startOffset", int, where), n, _at(item, "sentence", str, where)))
    text = " ".join(_CONTROL.sub(" ", " ".join(sentence for _, _, sentence in sorted(found))).split())
    return (Paragraph("Abstract", text),) if text else ()


def _entry(key: str, name: str, given: object) -> BibEntry:
    where = f"bib_entries.{name}"
    item = _object(given, where)

    def text(field_: str) -> str:
        value = item.get(field_)
        return (
            str(value)
            if isinstance(value, int) and not isinstance(value, bool)
            else _at(item, field_, str, f"{where}.").strip()
        )

    year = text("pub_year")[:4]
    first, last = text("firstpage"), text("lastpage")
    found = {
        "doi": identifiers.normalise_doi(text("doi")), "pubmed_id": identifiers.normalise_pmid(text("pmid")),
    }  # fmt: skip
    ids = add_arxiv({kind: identifier for kind, identifier in found.items() if identifier})
    return BibEntry(
        key=key,
        ref_id=name,
        title=" ".join(text("title").split()),
        authors=_authors(item, where),
        year=int(year) if year.isascii() and year.isdecimal() and len(year) == 4 else None,
        venue=" ".join((text("source_title") or text("journal")).split()),
        volume=text("volume"),
        pages=f"{first}--{last}" if first and last and first != last else first,
        issn=text("issn"),
        doi=ids.get("doi"),
        arxiv_id=ids.get("arxiv_id"),
        pubmed_id=ids.get("pubmed_id"),
    )


def _authors(item: Json, where: str) -> tuple[Author, ...]:
    found = []
    for given in _at(item, "authors", list, f"{where}."):
        parts = {
            part: _at(_object(given, f"{where}.authors"), part, str, f"{where}.authors.")
            for part in ("first", "initial", "last", "suffix")
        }
        if (author := make_author(parts["first"] or parts["initial"], parts["last"], parts["suffix"])) is not None:
            found.append(author)
    return tuple(found)
