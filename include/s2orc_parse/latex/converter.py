"""LaTeX source archive → parse, from the bytes to the last span (S2ORC §2.2, SEMANTICS §3)."""

from __future__ import annotations

import functools
import re
import time
from typing import Literal

from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.names import parse_name
from s2orc_parse.latex import mathml
from s2orc_parse.latex.archive import unpack
from s2orc_parse.latex.assemble import Assembler, formulas_of
from s2orc_parse.latex.bbl import biblatex_records, is_biblatex
from s2orc_parse.latex.bibliography import Named, ReferenceParser, leave_unparsed, read_items, read_records
from s2orc_parse.latex.bibtex import Record, read_bib
from s2orc_parse.latex.citing import Printer, style_of
from s2orc_parse.latex.counting import read_counting
from s2orc_parse.latex.document import (
    BibItem,
    Cite,
    Converter,
    Document,
    walk_blocks,
)
from s2orc_parse.latex.numbering import number
from s2orc_parse.latex.outcome import BadSource, Outcome
from s2orc_parse.latex.pandoc import Pandoc
from s2orc_parse.latex.pandoc_ast import plain
from s2orc_parse.latex.source import Source, read_source
from s2orc_parse.latex.tex import deadline
from s2orc_parse.parse_model import BibEntry, Header, Parse, Provenance

CONVERTER_VERSION = "5"  # part of the key of every stored parse: raise it when any parse may come out different
Name = Literal["pandoc", "latexml"]
MEMORY_MB = 1024
SECONDS = {"pandoc": 120.0, "latexml": 600.0}
"""Default time of one source by its converter"""
_CHAPTERS = frozenset(("book", "report", "memoir", "scrbook", "scrreprt", "svmono", "amsbook"))


@functools.cache
def converter(name: Name) -> Converter:
    """The converter of a name."""
    if name == "latexml":
        from s2orc_parse.latex.latexml import Latexml

        return Latexml()
    return Pandoc()


def convert(
    data: bytes,
    *,
    sha1: str,
    converter_name: Name = "pandoc",
    seconds: float | None = None,
    memory_mb: int = MEMORY_MB,
    unsafe: bool = False,
    parse_reference: ReferenceParser = leave_unparsed,
) -> Parse:
    """The parse of one source archive. `sha1` names it and is only recorded. The same bytes give an equal parse.

    `seconds` and `memory_mb` limit each run of the converter; what comes before and after it has twice the time.
    `unsafe` runs LaTeXML where there is no sandbox for it. `parse_reference` reads the entries that nothing marks up.

    Raises:
        BadSource: with the outcome, and nothing else, whatever the bytes are.
        UserError: there is no sandbox for LaTeXML here.
    """
    converter(converter_name).refuse_unconfined(unsafe=unsafe)
    try:
        return _converted(
            data, sha1, converter(converter_name), seconds or SECONDS[converter_name], memory_mb, parse_reference
        )
    except RecursionError:
        raise BadSource(Outcome.CONVERTER_FAILED, "nested too deep") from None


def _converted(
    data: bytes, sha1: str, program: Converter, seconds: float, memory_mb: int, parse_reference: ReferenceParser
) -> Parse:
    deadline.set(time.monotonic() + 2 * seconds)
    source = read_source(unpack(data, seconds))
    document = program.read(source, seconds=seconds, memory_mb=memory_mb)
    records = _records(source, document, seconds, memory_mb)
    bibliography = _bibliography(source, document, records, parse_reference)
    style = style_of(source, [named for _, named in bibliography])
    chapters = bool(_CHAPTERS & set(list(source.packages)[:1]))
    numbers = number(document, chapters=chapters, counting=read_counting(source))
    entries = {entry.ref_id: (entry, named) for entry, named in reversed(bibliography)}
    numbered = reversed(list(enumerate(bibliography, 1)))
    printer = Printer(style, {entry.ref_id: (i, named, entry) for i, (entry, named) in numbered})
    formulas = mathml.to_mathml(
        formulas_of([*document.abstract, *document.blocks]), seconds=seconds, memory_mb=memory_mb
    )
    assembler = Assembler(numbers, printer, entries, formulas)
    abstract = assembler.paragraphs(document.abstract)
    body, back = assembler.body(document)
    if not body and not abstract:
        raise BadSource(Outcome.NO_TEXT)
    return Parse(
        file_sha1=sha1,
        header=Header(title=assembler.plain(document.title), authors=_authors(document)),
        citation_style=style.name,
        abstract=tuple(abstract),
        body_text=tuple(body),
        back_matter=tuple(back),
        bib_entries=tuple(entry for entry, _ in bibliography),
        ref_entries=tuple(assembler.ref_entries()),
        provenance=Provenance(program.name, program.version, "", None, CONVERTER_VERSION),
    )


_AFFILIATION = re.compile(
    r"@|\d|\b(?:Univ|Inst|Dep|School|Lab|Center|Centre|College|Facult|Research|Inc|Ltd|Academy|Division|Group)",
    re.IGNORECASE,
)


def _authors(document: Document) -> tuple[Author, ...]:
    """The names on the title page, as far as they can be told from what stands under them; never canonical (S2ORC §2.2)."""
    found: list[Author] = []
    for author in document.authors:
        text = plain(tuple(inline if isinstance(inline, str) else "\n" for inline in author)).strip(" *,†‡")
        if not text or len(text.split()) > 5 or _AFFILIATION.search(text):
            if found:
                break
            continue
        if name := parse_name(text):
            found.append(name)
    return tuple(found)


def _records(source: Source, document: Document, seconds: float, memory_mb: int) -> dict[str, Record]:
    """The database's entries that are cited or printed, their fields as text."""
    wanted = list(dict.fromkeys([item.key for item in document.bibliography] or _cited(document)))
    if is_biblatex(source.bbl) and not document.bibliography:
        chosen = biblatex_records(source.bbl)
    else:
        database = read_bib(source.bib)
        chosen = [_crossed(database[key], database) for key in wanted if key in database]
    return {record.key: record for record in Pandoc().texts(chosen, source, seconds=seconds, memory_mb=memory_mb)}


def _crossed(record: Record, database: dict[str, Record]) -> Record:
    """An entry with the fields of the one it refers to."""
    parent = database.get(record.fields.get("crossref", ""))
    if parent is None:
        return record
    inherited = {
        "booktitle": parent.fields.get("title", ""),
        **{k: v for k, v in parent.fields.items() if k != "title"},
    }
    return Record(record.key, record.type, {**inherited, **record.fields})


def _bibliography(
    source: Source, document: Document, records: dict[str, Record], parse_reference: ReferenceParser
) -> list[tuple[BibEntry, Named]]:
    if document.bibliography:
        first: dict[str, BibItem] = {}
        for item in document.bibliography:
            first.setdefault(item.key, item)
        return read_items(list(first.values()), records, parse_reference)
    return read_records(list(records.values()))


def _cited(document: Document) -> list[str]:
    """Keys in the order they are first cited."""
    blocks = (*document.abstract, *document.blocks)
    return [key for inline in walk_blocks(blocks) if isinstance(inline, Cite) for key in inline.keys]
