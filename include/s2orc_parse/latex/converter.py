"""Convert a LaTeX source archive to a parse (S2ORC §2.2, SPEC §3.21)."""

from __future__ import annotations

import re
import time

from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.name_words import is_lower_particle, is_suffix, is_title
from s2orc_parse.bibliography.names import CONJUNCTION, parse_authors
from s2orc_parse.bibliography.printed import ReferenceParser
from s2orc_parse.latex import mathml
from s2orc_parse.latex.assemble import Assembler
from s2orc_parse.latex.bbl import is_amsrefs, is_biblatex, read_amsrefs, read_biblatex
from s2orc_parse.latex.bibliography import build_entries
from s2orc_parse.latex.bibtex import BibtexEntry, read_bib
from s2orc_parse.latex.citing import Printer, detect_style
from s2orc_parse.latex.counting import read_counting
from s2orc_parse.latex.document import Cite, LatexDocument, Math, walk_blocks
from s2orc_parse.latex.inlines import plain
from s2orc_parse.latex.numbering import count_document
from s2orc_parse.latex.pandoc import convert_records, get_pandoc_version, read_latex
from s2orc_parse.latex.process import unpack
from s2orc_parse.latex.source import LatexSource, read_source
from s2orc_parse.latex.tex import deadline
from s2orc_parse.outcomes import BadSource, LatexOutcome
from s2orc_parse.parse_model import Header, Parse, Provenance
from s2orc_parse.words import read_table

CONVERTER_VERSION = "35"  # part of the key of every stored parse; increase it when the parse of any source may change
MEMORY_MB = 1024
SECONDS = 120.0
"""default time limit of one source"""
_WORDS = read_table("latex/words")
_CHAPTERS = frozenset(_WORDS["chapter_classes"].split())


def convert(
    data: bytes,
    *,
    sha1: str,
    seconds: float = SECONDS,
    memory_mb: int = MEMORY_MB,
    parse_reference: ReferenceParser = None,
) -> Parse:
    """Convert one source archive to a parse. `sha1` is only recorded. Equal bytes give an equal parse.

    `seconds` and `memory_mb` limit each run of pandoc; the other steps together have twice the time. `parse_reference` reads
    entries without marked fields. Raises `BadSource` with an outcome; no other exception is raised for any input.
    """
    token = deadline.set(time.monotonic() + 2 * seconds)
    try:
        return _convert_source(data, sha1, seconds, memory_mb, parse_reference)
    except RecursionError:
        raise BadSource(LatexOutcome.CONVERTER_FAILED, "nested too deep") from None
    finally:
        deadline.reset(token)


def _convert_source(data: bytes, sha1: str, seconds: float, memory_mb: int, parse_reference: ReferenceParser) -> Parse:
    source = read_source(unpack(data, seconds))
    document = read_latex(source, seconds=seconds, memory_mb=memory_mb)
    records = _find_records(source, document, seconds, memory_mb)
    bibliography = build_entries(document.bibliography, records, parse_reference)
    style = detect_style(source, [named for _, named in bibliography])
    chapters = bool(_CHAPTERS & set(list(source.packages)[:1]))
    numbers = count_document(document, chapters=chapters, counting=read_counting(source))
    entries = {entry.ref_id: (entry, named) for entry, named in reversed(bibliography)}
    numbered = reversed(list(enumerate(bibliography, 1)))
    printer = Printer(style, {entry.ref_id: (i, named, entry) for i, (entry, named) in numbered})
    inlines = walk_blocks((*document.abstract, *document.blocks))
    tex = [inline.tex for inline in inlines if isinstance(inline, Math)]
    formulas = mathml.to_mathml(tex, seconds=seconds, memory_mb=memory_mb)
    assembler = Assembler(numbers, printer, entries, formulas)
    abstract = assembler.build_paragraphs(document.abstract)
    body, back = assembler.build_body(document)
    if not body and not abstract:
        raise BadSource(LatexOutcome.NO_TEXT)
    return Parse(
        file_sha1=sha1,
        header=Header(
            title=assembler.to_title(document.title), authors=_read_authors(document), keywords=tuple(document.keywords)
        ),
        citation_style=style.name,
        abstract=tuple(abstract),
        body_text=tuple(body),
        back_matter=tuple(back),
        bib_entries=tuple(entry for entry, _ in bibliography),
        ref_entries=tuple(assembler.build_ref_entries()),
        provenance=Provenance("pandoc", get_pandoc_version(), "", None, CONVERTER_VERSION),
    )


_AFFILIATION = re.compile(rf"@|\d|\b(?:{'|'.join(_WORDS['affiliation_words'].split())})\b", re.IGNORECASE)
_BYLINE = re.compile(r"\s*(?:authors?\s*:|(?:(?:submitted|presented|prepared|written) )?by[\s:])\s*", re.IGNORECASE)
_MAX_NAME_WORDS = 5


def _read_authors(document: LatexDocument) -> tuple[Author, ...]:
    """Return the author names of the title page: of each group, up to the first line that is not a name.

    They are not canonical names (S2ORC §2.2).
    """
    names: list[str] = []
    for lines in document.authors:
        for number, line in enumerate(lines):
            text = plain(tuple(inline if isinstance(inline, str) else "\n" for inline in line)).strip(" *,†‡")
            text = text[found.end() :] if (found := _BYLINE.match(text)) else text
            name = " ".join(text.partition("@")[0].split()[:-1]).rstrip(" ([<")  # The last word begins an address.
            text = name if "@" in text and name else text
            parts = [part.split() for part in CONJUNCTION.split(text)]
            longest = max(sum(not (is_title(word) or is_lower_particle(word)) for word in part) for part in parts)
            if not text or longest > _MAX_NAME_WORDS or text.islower() or _AFFILIATION.search(text):
                if number and text:
                    break
                continue
            if names and is_suffix(parts[0]):  # "MD and Alan Turing", after the comma of a name
                names[-1] += f", {' '.join(parts[0])}"
                text = "" if len(parts) == 1 else CONJUNCTION.split(text, maxsplit=1)[-1]
            if text:
                names.append(text)
    return parse_authors("; ".join(names))


def _find_records(
    source: LatexSource, document: LatexDocument, seconds: float, memory_mb: int
) -> dict[str, BibtexEntry]:
    """Return the cited or printed entries of the database, with fields as text."""
    inlines = walk_blocks((*document.abstract, *document.blocks))
    cited = [key for inline in inlines if isinstance(inline, Cite) for key in inline.keys]
    wanted = list(dict.fromkeys([item.key for item in document.bibliography] or cited))
    if is_biblatex(source.bbl) and not document.bibliography:
        chosen = read_biblatex(source.bbl)
    elif not document.bibliography and is_amsrefs(text := f"{source.body}\n{source.bbl}"):
        chosen = read_amsrefs(text)
    else:
        database = read_bib(source.bib)
        chosen = [_inherit_fields(database[key], database) for key in wanted if key in database]
    converted = convert_records(chosen, source, seconds=seconds, memory_mb=memory_mb)
    return {record.key: record for record in converted}


def _inherit_fields(record: BibtexEntry, database: dict[str, BibtexEntry]) -> BibtexEntry:
    """Return an entry with the fields of its `crossref` entry."""
    parent = database.get(record.fields.get("crossref", ""))
    if parent is None:
        return record
    inherited = {name: value for name, value in parent.fields.items() if name != "title"}
    return BibtexEntry(record.key, {"booktitle": parent.fields.get("title", ""), **inherited, **record.fields})
