"""Convert Elsevier's OA CC-BY JSON to a parse (schema: Kershaw and Koeling 2020, §3.2).

The files contain sentences with section and position, but no paragraphs, figures, tables or equations. The sentences of
a section become one paragraph, ordered by offset.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from s2orc_parse.bibliography import identifiers
from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES, Author
from s2orc_parse.bibliography.fields import CONTROL
from s2orc_parse.bibliography.names import make_author
from s2orc_parse.jats.elsevier_front import read_front
from s2orc_parse.jats.header import build_header
from s2orc_parse.jats.outcome import BadArticle, JatsOutcome
from s2orc_parse.jats.text import split_number
from s2orc_parse.parse_model import BibEntry, CiteSpan, Paragraph, Parse, Provenance
from s2orc_parse.tei.bibliography import add_arxiv
from s2orc_parse.tei.callouts import detect_style
from s2orc_parse.tei.drafts import ReferenceMark, TextDraft
from s2orc_parse.tei.sections import NO_SECTION, SectionPath, make_section

CONVERTER_VERSION = "5"  # part of the key of every stored parse; increase it when the parse of any article may change
MAX_CALLOUT = 1_000  # characters; a longer interval is not a citation
Json = dict[str, Any]


def convert(data: bytes, *, sha1: str) -> Parse:
    """Convert one article, `{docId, metadata, abstract, bib_entries, body_text}`, to a parse.

    `sha1` identifies the file and is only recorded. Missing and null values are treated as empty. Raises `BadArticle`
    with an outcome; no other exception is raised for any input.
    """
    article = _read(data)
    keys = {name: f"BIBREF{n}" for n, name in enumerate(_get_typed(article, "bib_entries", dict))}
    entries = [_entry(key, name, article["bib_entries"][name]) for name, key in keys.items()]
    sentences = [
        _read_sentence(item, f"body_text[{n}]") for n, item in enumerate(_get_typed(article, "body_text", list))
    ]
    if not any(sentence.text for sentence in sentences):
        raise BadArticle(JatsOutcome.NO_BODY)
    _get_typed(article, "metadata", dict)
    drafts = _join_sections(sentences)
    return Parse(
        file_sha1=sha1,
        header=build_header(read_front(article)),
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
    """One sentence with its position. `refs` are (start, end, name of the entry) within the sentence."""

    text: str
    at: int
    section_id: str
    section: SectionPath
    refs: list[tuple[int, int, str]] = field(default_factory=list)


def _read(data: bytes) -> Json:
    """Read the article: one JSON object with a docId."""
    if len(data) > MAX_ENTRY_BYTES:
        raise BadArticle(JatsOutcome.TOO_LARGE)
    if not data.strip():
        raise BadArticle(JatsOutcome.EMPTY)
    try:
        article = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        deep = "depth" in str(error).casefold()
        raise BadArticle(JatsOutcome.TOO_DEEP if deep else JatsOutcome.NOT_WELL_FORMED, str(error)[:200]) from None
    if isinstance(article, list) and len(article) > 1:
        raise BadArticle(JatsOutcome.SEVERAL_ARTICLES, f"{len(article)} values")
    if not isinstance(article, dict) or not {"docId", "body_text"} & article.keys():
        raise BadArticle(JatsOutcome.NOT_AN_ARTICLE, "no object with docId and body_text")
    if not _get_typed(article, "docId", str):
        raise BadArticle(JatsOutcome.NOT_AN_ARTICLE, "no docId")
    return article


def _get_typed(value: Mapping[str, Any], name: str, kind: type, where: str = "") -> Any:
    """Return the value of a key with the given type, or an empty value if the key is missing or null."""
    found = value.get(name)
    if found is None:
        return kind()
    if not isinstance(found, kind) or isinstance(found, bool):
        raise BadArticle(JatsOutcome.WRONG_TYPE, f"{where}{name}: {type(found).__name__} instead of {kind.__name__}")
    return found


def _require_object(value: object, where: str) -> Json:
    if not isinstance(value, dict):
        raise BadArticle(JatsOutcome.WRONG_TYPE, f"{where}: {type(value).__name__} instead of dict")
    return value


def _read_sentence(given: object, where: str) -> _Sentence:
    item = _require_object(given, where)
    raw = CONTROL.sub(" ", _get_typed(item, "sentence", str, f"{where}."))
    at = _get_typed(item, "startOffset", int, f"{where}.")
    section = NO_SECTION
    parents = _get_typed(item, "parents", list, f"{where}.")
    heads = [
        _get_typed(_require_object(parent, f"{where}.parents"), "title", str, f"{where}.parents.") for parent in parents
    ]
    for head in (*heads, _get_typed(item, "title", str, f"{where}.")):
        if head := " ".join(head.split()):
            num, head = split_number("", head)
            section = make_section((*section.heads, head or num or ""), num)
    refs = _get_typed(item, "refoffsets", dict, f"{where}.")
    offsets = [
        (_get_typed(place, "startOffset", int, f"{where}.refoffsets."), _get_typed(place, "endOffset", int, f"{where}.refoffsets."), name)
        for name, given in refs.items()
        for place in (_require_object(given, f"{where}.refoffsets.{name}"),)
    ]  # fmt: skip
    text = " ".join(raw.split())
    found = _Sentence(text, at, _get_typed(item, "secId", str, f"{where}."), section)
    found.refs = sorted(_map_offsets(raw, text, at, offsets)) if offsets else []
    return found


def _map_offsets(raw: str, text: str, at: int, offsets: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Return the citations' positions in `text`, which is `raw` with normalized white space.

    White space around a citation is excluded. Offsets are relative to the sentence (Kershaw and Koeling, §3.2). If one
    exceeds the sentence, all are offsets in the document, and the sentence's own offset is subtracted.
    """
    if any(end > len(raw) for _, end, _ in offsets):
        offsets = [(start - at, end - at, name) for start, end, name in offsets]
    places = _map_positions(raw) if raw != text else range(len(raw))
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


def _map_positions(raw: str) -> list[int]:
    """Return the position of each character after white space is normalized; white space maps to its single space."""
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


def _join_sections(sentences: list[_Sentence]) -> list[TextDraft]:
    """Return one text per section, in the order of their first sentences."""
    by_section: dict[tuple[str, str], list[_Sentence]] = {}
    for sentence in sorted(sentences, key=lambda sentence: sentence.at):
        if sentence.text:
            path = "" if sentence.section_id else sentence.section.path
            by_section.setdefault((sentence.section_id, path), []).append(sentence)
    drafts = []
    for found in by_section.values():
        draft = TextDraft(" ".join(sentence.text for sentence in found), found[0].section)
        shift = 0
        for sentence in found:
            draft.marks += [
                ReferenceMark(start + shift, end + shift, "cite", (name,)) for start, end, name in sentence.refs
            ]
            shift += len(sentence.text) + 1
        drafts.append(draft)
    return drafts


def _paragraph(draft: TextDraft, keys: Mapping[str, str]) -> Paragraph:
    spans = dict.fromkeys(
        CiteSpan(mark.start, mark.end, draft.text[mark.start : mark.end], keys.get(mark.targets[0]))
        for mark in draft.marks
    )
    ordered = sorted(spans, key=lambda span: (span.start, span.end))
    return Paragraph(draft.section.path, draft.text, draft.section.num, tuple(ordered))


def _abstract(article: Json) -> tuple[Paragraph, ...]:
    """Return the abstract as one paragraph."""
    given = article.get("abstract")
    sentences = [given] if isinstance(given, str) else _get_typed(article, "abstract", list)
    found = []
    for n, value in enumerate(sentences):
        item = {"sentence": value} if isinstance(value, str) else _require_object(value, f"abstract[{n}]")
        where = f"abstract[{n}]."
        found.append((_get_typed(item, "startOffset", int, where), n, _get_typed(item, "sentence", str, where)))
    text = " ".join(CONTROL.sub(" ", " ".join(sentence for _, _, sentence in sorted(found))).split())
    return (Paragraph("Abstract", text),) if text else ()


def _entry(key: str, name: str, given: object) -> BibEntry:
    where = f"bib_entries.{name}"
    item = _require_object(given, where)

    def text(field_: str) -> str:
        value = item.get(field_)
        return (
            str(value)
            if isinstance(value, int) and not isinstance(value, bool)
            else _get_typed(item, field_, str, f"{where}.").strip()
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
    for given in _get_typed(item, "authors", list, f"{where}."):
        parts = {
            part: _get_typed(_require_object(given, f"{where}.authors"), part, str, f"{where}.authors.")
            for part in ("first", "initial", "last", "suffix")
        }
        if (author := make_author(parts["first"] or parts["initial"], parts["last"], parts["suffix"])) is not None:
            found.append(author)
    return tuple(found)
