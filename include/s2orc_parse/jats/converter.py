"""Convert a JATS article to a parse (SPEC §3.23)."""

from __future__ import annotations

import hashlib

from s2orc_parse.bibliography.printed import ReferenceParser
from s2orc_parse.jats.abstract import find_abstract
from s2orc_parse.jats.empty_references import fill_empty_references
from s2orc_parse.jats.entries import Entries, JatsCitationLinker
from s2orc_parse.jats.front import read_front
from s2orc_parse.jats.header import build_header
from s2orc_parse.jats.references import read_references
from s2orc_parse.jats.text import JatsTextReader
from s2orc_parse.outcomes import BadArticle, JatsOutcome
from s2orc_parse.parse_model import Parse, Provenance
from s2orc_parse.tei.callouts import detect_style
from s2orc_parse.tei.sections import NO_SECTION, SectionPath, make_section
from s2orc_parse.xml import read_article

CONVERTER_VERSION = "23"  # part of the key of every stored parse; increase it when the parse of any article may change
_UNNAMED: dict[object, str] = {"ack": "acknowledgement", "app": "annex", "glossary": "glossary", "bio": "biography"}
_ABSTRACT = SectionPath(("Abstract",), "Abstract")


def convert(data: bytes, *, sha1: str, parse_reference: ReferenceParser = None) -> Parse:
    """Convert one JATS article (NLM 2 to JATS 1.3: PMC, PLOS, eLife and other publishers) to a parse.

    `sha1` identifies the file and is only recorded. `parse_reference` reads references without tagged title. Equal
    bytes give an equal parse. Raises `BadArticle` with an outcome; no other exception is raised for any input.
    """
    article = read_article(data)
    parts = {str(child.tag): child for child in reversed(article)}
    body = parts.get("body")
    if body is None or not any(True for _ in body.iter("p", "sec", "disp-formula")):
        raise BadArticle(JatsOutcome.NO_BODY)
    fill_empty_references(article)
    entries, ids = read_references(article, parse_reference)
    referenced: set[str] = set()
    if next(article.iter("fn-group"), None) is not None:
        referenced.update(rid for xref in article.iter("xref") for rid in (xref.get("rid") or "").split())
    readers = [JatsTextReader(ids, referenced=referenced) for _ in range(4)]
    abstract, text, back, group = readers
    meta = article.find("front/article-meta")
    if meta is not None and (own := find_abstract(meta)) is not None:
        abstract.read([child for child in own if child.tag not in ("title", "label")], _ABSTRACT)
    text.read(body)
    for part in parts.get("back", ()):
        unnamed = _UNNAMED.get(part.tag) if part.find("title") is None else None
        back.read([part], make_section((unnamed,)) if unnamed else NO_SECTION)
    group.read(child for name in ("floats-group", "floats-wrap") for child in parts.get(name, ()))
    floats = [element for reader in readers for element in reader.floats]
    linker = JatsCitationLinker(entries, ids)
    collector = Entries(linker, ids)
    for element in floats:
        collector.add_float(element)
    for reader in readers:
        for draft in reader.drafts:
            for _, element in draft.formulas:
                collector.add_formula(element)
    for reader in readers:
        for note in reader.notes:
            collector.add_note(note)
        collector.register_sections(reader.sections)
    paragraphs = [tuple(collector.paragraph(draft) for draft in reader.drafts) for reader in readers]
    digest = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    return Parse(
        file_sha1=sha1,
        header=build_header(read_front(article)),
        citation_style=detect_style([*text.drafts, *back.drafts]),
        abstract=paragraphs[0],
        body_text=paragraphs[1] + paragraphs[3],
        back_matter=paragraphs[2],
        bib_entries=tuple(entries),
        ref_entries=collector.entries(),
        provenance=Provenance("jats", article.get("dtd-version") or "", "", digest, CONVERTER_VERSION),
    )
