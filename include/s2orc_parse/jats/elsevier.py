"""Convert Elsevier's OA CC-BY JSON to a parse (schema: Kershaw and Koeling 2020, §3.2).

The files contain sentences with section and position, but no paragraphs, figures, tables or equations. The sentences of
a section become one paragraph, ordered by offset.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES, Author
from s2orc_parse.bibliography.dates import extract_year, parse_date
from s2orc_parse.bibliography.fields import CONTROL, clean_issns
from s2orc_parse.bibliography.leading_names import split_leading_names
from s2orc_parse.bibliography.links import collect_identifiers
from s2orc_parse.bibliography.names import make_author
from s2orc_parse.jats.header import FrontMatter, build_header
from s2orc_parse.jats.text import split_number
from s2orc_parse.outcomes import BadArticle, JatsOutcome
from s2orc_parse.parse_model import BibEntry, CiteSpan, Paragraph, Parse, Provenance
from s2orc_parse.tei.callouts import detect_style
from s2orc_parse.tei.drafts import ReferenceMark, TextDraft
from s2orc_parse.tei.sections import NO_SECTION, SectionPath, make_section

CONVERTER_VERSION = "17"  # part of the key of every stored parse; increase it when the parse of any article may change
MAX_CALLOUT = 1_000  # characters; a longer interval is not a citation
Json = dict[str, Any]


def convert(data: bytes, *, sha1: str) -> Parse:
    """Convert one article, `{docId, metadata, abstract, bib_entries, body_text}`, to a parse.

    `sha1` identifies the file and is only recorded. Missing and null values are treated as empty. Raises `BadArticle`
    with an outcome; no other exception is raised for any input.
    """
    article = _read(data)
    checked = _check({name: article.get(name) for name in _SCHEMA}, _SCHEMA, "")
    keys = {name: f"BIBREF{n}" for n, name in enumerate(checked["bib_entries"])}
    entries = [_entry(key, name, checked["bib_entries"][name]) for name, key in keys.items()]
    sentences = list(map(_read_sentence, checked["body_text"]))
    if not any(sentence.text for sentence in sentences):
        raise BadArticle(JatsOutcome.NO_BODY)
    drafts = _join_sections(sentences)
    digest = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    return Parse(
        file_sha1=sha1,
        header=build_header(read_front(article)),
        citation_style=detect_style(drafts),
        abstract=_read_abstract(article.get("abstract")),
        body_text=tuple(_paragraph(draft, keys) for draft in drafts),
        back_matter=(),
        bib_entries=tuple(entries),
        ref_entries=(),
        provenance=Provenance("elsevier-json", "", "", digest, CONVERTER_VERSION),
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
    if not _check(article.get("docId") or "", str, "docId"):
        raise BadArticle(JatsOutcome.NOT_AN_ARTICLE, "no docId")
    return article


_TEXT = "text or number"
_SENTENCE = {
    "sentence": str, "startOffset": int, "secId": str, "title": str, "parents": [{"title": str}],
    "refoffsets": {"*": {"startOffset": int, "endOffset": int}},
}  # fmt: skip
_ABSTRACT_SENTENCE = {"sentence": str, "startOffset": int}
_ENTRY = dict.fromkeys(
    ["title", "doi", "pmid", "pub_year", "source_title", "journal", "volume", "firstpage", "lastpage", "issn"], _TEXT
)
_AUTHOR = dict.fromkeys(("first", "initial", "last", "suffix"), str)
_SCHEMA = {"body_text": [_SENTENCE], "bib_entries": {"*": {**_ENTRY, "authors": [_AUTHOR]}}, "metadata": dict}
"""the types of an article's values; `*` stands for any key"""


def _check(value: Any, schema: Any, where: str) -> Any:
    """Return a value with the types of a schema; missing and null values of named keys are empty."""
    kind: Any = schema if isinstance(schema, type) else type(schema)
    if schema == _TEXT and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadArticle(JatsOutcome.WRONG_TYPE, f"{where}: {type(value).__name__} instead of {kind.__name__}")
    if isinstance(schema, list):
        return [_check(item, schema[0], f"{where}[{n}]") for n, item in enumerate(value)]
    if not isinstance(schema, dict):
        return value.strip() if schema == _TEXT else value
    if "*" in schema:
        return {name: _check(item, schema["*"], f"{where}.{name}") for name, item in value.items()}
    found = {}
    for name, inner in schema.items():
        empty = inner() if isinstance(inner, type) else type(inner)()
        found[name] = _check(empty if value.get(name) is None else value[name], inner, f"{where}.{name}".lstrip("."))
    return found


def _read_sentence(item: Json) -> _Sentence:
    raw, at = CONTROL.sub(" ", item["sentence"]), item["startOffset"]
    section = NO_SECTION
    for head in (*(parent["title"] for parent in item["parents"]), item["title"]):
        if head := " ".join(head.split()):
            num, head = split_number("", head)
            section = make_section((*section.heads, head or num or ""), num)
    offsets = [(place["startOffset"], place["endOffset"], name) for name, place in item["refoffsets"].items()]
    text = " ".join(raw.split())
    found = _Sentence(text, at, item["secId"], section)
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


def _read_abstract(given: object) -> tuple[Paragraph, ...]:
    """Return the abstract, a text or a list of texts and sentences, as one paragraph."""
    sentences = [given] if isinstance(given, str) else _check([] if given is None else given, list, "abstract")
    items = [{"sentence": item} if isinstance(item, str) else item for item in sentences]
    text = " ".join(CONTROL.sub(" ", _join_abstract(_check(items, [_ABSTRACT_SENTENCE], "abstract"))).split())
    return (Paragraph("Abstract", text),) if text else ()


def _entry(key: str, name: str, item: Json) -> BibEntry:
    names = tuple(filter(None, _read_authors(item["authors"])))
    title, authors = split_leading_names(" ".join(item["title"].split()), names)
    ids = collect_identifiers((("doi", item["doi"]), ("pmid", item["pmid"])), (), ())
    return BibEntry(
        key=key, ref_id=name, title=title, authors=authors, year=extract_year(parse_date(item["pub_year"])[0]),
        venue=" ".join((item["source_title"] or item["journal"]).split()), volume=item["volume"],
        pages=_join_pages(item, "--"), issn=item["issn"],
        doi=ids.get("doi"), arxiv_id=ids.get("arxiv_id"), pubmed_id=ids.get("pubmed_id"),
    )  # fmt: skip


def read_front(article: dict[str, Any]) -> FrontMatter | None:
    """Return the front matter of an article, or None without metadata. All articles are open access under CC BY 4.0."""
    native, metadata = article.get("docId"), article.get("metadata")
    if not isinstance(metadata, dict):
        return None
    areas, codes = metadata.get("subjareas"), metadata.get("asjc")  # Scopus's areas (MEDI) and ASJC codes (2700)
    subjects = [*(areas if isinstance(areas, list) else [areas]), *(codes if isinstance(codes, list) else [codes])]
    return FrontMatter(
        native_id=native if isinstance(native, str) and native.strip() else "",
        title=metadata.get("title"), authors=tuple(_read_authors(metadata.get("authors"))), date=metadata.get("pub_year"),
        journal=metadata.get("journal") or metadata.get("source_title"), abstract=_join_abstract(article.get("abstract")),
        volume=metadata.get("volume"), issue=metadata.get("issue"), pages=_join_pages(metadata, "-"),
        doi=metadata.get("doi"), pubmed_id=metadata.get("pmid"), issns=clean_issns(metadata.get("issn")),
        subjects=[str(value) for value in subjects if isinstance(value, str | int) and not isinstance(value, bool)],
        license="CC-BY-4.0", open_access=True,
    )  # fmt: skip


def _join_pages(work: Json, dash: str) -> str:
    first, last = (str(work.get(key) or "") for key in ("firstpage", "lastpage"))
    return f"{first}{dash}{last}" if first and last and first != last else first


def _read_authors(authors: object) -> Iterator[Author | None]:
    for author in authors if isinstance(authors, list) else ():
        if isinstance(author, dict):
            first, initial, last, suffix = (
                str(author.get(key) or "") for key in ("first", "initial", "last", "suffix")
            )
            yield make_author(first or initial, last, suffix)


def _join_abstract(abstract: object) -> str:
    """Return the sentences ordered by offset, or a text unchanged."""
    if isinstance(abstract, str):
        return abstract
    sentences = abstract if isinstance(abstract, list) else []
    found = [(item.get("startOffset") or 0, item.get("sentence")) for item in sentences if isinstance(item, dict)]
    if found:
        sentences = [text for _, text in sorted(found, key=lambda pair: pair[0] if isinstance(pair[0], int) else 0)]
    return " ".join(text.strip() for text in sentences if isinstance(text, str))
