"""Convert a TEI document to a parse."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import starmap

from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.dates import parse_date
from s2orc_parse.bibliography.fields import join_titles
from s2orc_parse.bibliography.links import collect_identifiers
from s2orc_parse.parse_model import EQUATION, BackPart, EqSpan, Header, Paragraph, Parse, Provenance, RefEntry, RefType
from s2orc_parse.tei.bibliography import XML_ID, read_author, read_bibliography, read_identifier
from s2orc_parse.tei.callouts import CalloutLinker
from s2orc_parse.tei.crossrefs import RefIndex, Statements
from s2orc_parse.tei.drafts import TextDraft
from s2orc_parse.tei.references import assign_keys, classify_float, find_label, read_float, read_formula, read_note
from s2orc_parse.tei.repairs import TextRepairs
from s2orc_parse.tei.sections import SectionPath, Sections
from s2orc_parse.tei.text import TeiTextReader, read_head
from s2orc_parse.xml import Element, extract_text, local_name, read_tei

_BACK_PARTS = {part.value: part for part in BackPart}
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
CONVERTER_VERSION = "26"  # part of the key of every stored parse; increase it when the parse of any TEI may change


def convert(tei: bytes, *, file_sha1: str, made_by: tuple[str, str, str] | None = None) -> Parse:
    """Convert one TEI document of GROBID 0.5 to 0.9 to a parse (SPEC §3).

    `file_sha1` identifies the PDF. `made_by` contains the extractor, its version and its options, if the caller knows
    them; otherwise they are read from the TEI. Both are only recorded. Equal bytes give an equal parse. Raises `BadTei`
    with a reason; no other exception is raised for any input.
    """
    root = read_tei(tei)
    header = next((child for child in root if local_name(child) == "teiHeader"), None)
    parts = _find_outermost(root, "abstract", "body", "back", "listBibl")
    parts["abstract"] = [x for x in parts["abstract"] if x is parts["abstract"][0] or not x.get(_LANGUAGE)]  # §3.31
    parts["abstract"] = parts["abstract"] or root.findall(".//{*}front//{*}div[@type='abstract']")[:1]
    sections = Sections(
        (head.get("n"), read_head(head))
        for element in parts["body"]
        for head in element.iter("{*}head")
        if local_name(next(head.iterancestors())) not in ("figure", "table", "list", "lg")
    )
    repairs = TextRepairs((*parts["abstract"], *parts["body"]))
    abstract, body, back = (TeiTextReader(at, repairs=repairs) for at in (None, sections, sections))
    for element in parts["abstract"]:
        abstract.read(element)
    for element in parts["body"]:
        body.read(element)
    sections.end_of_body()
    bibliography = [_take_entries(div) for part in parts["back"] for div in part.iter("{*}div")]
    back_parts: list[BackPart | None] = []
    for element in parts["back"]:
        for part in element:  # every part is a separate division, so that a header does not extend into the next part
            kind = (part.get("type") or "").strip()
            back.read_part(part, SectionPath(path=kind))
            back_parts += [_BACK_PARTS.get(kind)] * (len(back.drafts) - len(back_parts))
    bib_elements, entries = read_bibliography([*parts["listBibl"], *bibliography])
    floats = _Floats((abstract, body, back))
    statements = Statements([*body.drafts, *back.drafts])
    index = RefIndex(floats.entries, sections, statements)
    cited = reversed(list(zip(bib_elements, entries, strict=True)))  # the first element with an id counts
    ids = {identifier: entry.key for element, entry in cited if (identifier := element.get(XML_ID))}
    linker = CalloutLinker([*body.drafts, *back.drafts], entries, ids, index, floats.ids)
    texts = {
        name: tuple(_paragraph(draft, linker, floats, name) for draft in reader.drafts)
        for name, reader in (("abstract", abstract), ("body_text", body))
    }
    back_matter = tuple(
        replace(_paragraph(draft, linker, floats, "back_matter"), back_part=part)
        for draft, part in zip(back.drafts, back_parts, strict=True)
    )
    ref_entries = floats.add_spans(linker)
    digest = hashlib.sha1(tei, usedforsecurity=False).hexdigest()
    return Parse(
        file_sha1=file_sha1,
        header=read_header(header),
        citation_style=linker.style,
        bib_entries=tuple(entries),
        ref_entries=(*ref_entries, *index.section_entries(), *statements.entries),
        provenance=Provenance(*(made_by or read_extractor(header)), digest, CONVERTER_VERSION),
        back_matter=back_matter,
        **texts,
    )


def _take_entries(div: Element) -> list[Element]:
    """Remove the entries of a bibliography without `listBibl` from a division, and return them."""
    entries = div.findall("{*}bibl")
    for entry in entries:
        div.remove(entry)
    return entries


def _find_outermost(root: Element, *names: str) -> dict[str, list[Element]]:
    """Return the elements of each name in document order, without elements nested in another element of the same name."""
    found: dict[str, list[Element]] = {name: [] for name in names}
    for element in root.iter(*(f"{{*}}{name}" for name in names)):
        name = local_name(element)
        if next(element.iterancestors(f"{{*}}{name}"), None) is None:
            found[name].append(element)
    return found


class _Floats:
    """Content that is moved from the text to reference entries: figures, tables, formulas, footnotes."""

    def __init__(self, readers: tuple[TeiTextReader, ...]) -> None:
        self.entries: list[RefEntry] = []
        self.ids: dict[str, str] = {}
        self._captions: dict[str, TextDraft] = {}
        self._formulas: dict[Element, RefEntry] = {}
        floats = [element for reader in readers for element in reader.floats]
        notes = [element for reader in readers for element in reader.notes]
        formulas = [element for reader in readers for draft in reader.drafts for _, element in draft.formulas]
        labels = [find_label(element) for element in floats]
        types = list(map(classify_float, floats, labels))
        for kind in (RefType.FIGURE, RefType.TABLE):
            chosen = [
                (element, label) for element, label, type_ in zip(floats, labels, types, strict=True) if type_ is kind
            ]
            for (element, label), key in zip(
                chosen, assign_keys(kind, [element for element, _ in chosen]), strict=True
            ):
                self._add(element, *read_float(element, key, kind, label))
        for element, key in zip(formulas, assign_keys(RefType.FORMULA, formulas), strict=True):
            self._formulas[element] = entry = read_formula(element, key)
            self._add(element, entry)
        for element, key in zip(notes, assign_keys(RefType.FOOTNOTE, notes), strict=True):
            self._add(element, *read_note(element, key))

    def _add(self, element: Element, entry: RefEntry, caption: TextDraft | None = None) -> None:
        self.entries.append(entry)
        if caption is not None:
            self._captions[entry.key] = caption
        if identifier := element.get(XML_ID):
            self.ids.setdefault(identifier, entry.key)

    def equation(self, at: int, element: Element) -> EqSpan:
        """Return the span of a formula with its token at position `at`."""
        entry = self._formulas[element]
        return EqSpan(at, at + len(EQUATION), EQUATION, entry.key, raw_text=entry.text, label=entry.num)

    def add_spans(self, linker: CalloutLinker) -> list[RefEntry]:
        """Return the entries with the citations in their captions."""
        return [
            replace(entry, cite_spans=linker.find_citations(self._captions[entry.key]))
            if entry.key in self._captions
            else entry
            for entry in self.entries
        ]


def _paragraph(draft: TextDraft, linker: CalloutLinker, floats: _Floats, where: str) -> Paragraph:
    cites = linker.find_citations(draft)
    return Paragraph(
        section="Abstract" if where == "abstract" else draft.section.path,
        text=draft.text,
        sec_num=draft.section.num,
        cite_spans=cites,
        ref_spans=linker.find_references(draft, cites),
        eq_spans=tuple(sorted((*starmap(floats.equation, draft.formulas), *draft.inline), key=lambda span: span.start)),
    )


_DATE_TYPES = ("published", "e-published", "collection-published", "")


def read_header(header: Element | None) -> Header:
    """Return title, authors, date, venue and identifiers; without a header, all are empty."""
    if header is None:
        return Header()
    title = subtitle = ""
    titles: dict[str, str] = {}
    dates: list[tuple[int, str]] = []
    authors: tuple[Author, ...] = ()
    idnos: list[Element] = []
    for element in header.iter():
        tag = local_name(element)
        if tag == "title":
            parent = element.getparent()
            above = local_name(parent) if parent is not None else ""
            text = read_head(element)
            if above in ("titleStmt", "analytic") and element.get("type") == "sub":
                subtitle = subtitle or text
            elif above in ("titleStmt", "analytic"):
                title = title or text
            elif text:
                titles.setdefault(element.get("level") or "m", text)
        elif tag == "analytic":
            authors = authors or tuple(filter(None, map(read_author, element.iter("{*}author"))))
        elif tag == "date" and (element.get("type") or "") in _DATE_TYPES:
            when = element.get("when") or element.get("notBefore") or element.get("from") or extract_text(element)
            dates.append((_DATE_TYPES.index(element.get("type") or ""), when))
        elif tag == "idno":
            parent = element.getparent()
            if parent is not None and local_name(parent) in ("biblStruct", "analytic", "monogr", "publicationStmt"):
                idnos.append(element)
    found = collect_identifiers(map(read_identifier, idnos), (), ())
    date, precision = next((parsed for _, text in sorted(dates) if (parsed := parse_date(text))[0]), (None, None))
    authors = authors or tuple(filter(None, map(read_author, header.iterfind(".//{*}titleStmt/{*}author"))))
    return Header(
        title=join_titles(title, subtitle), authors=authors, date=date, date_precision=precision,
        venue=titles.get("m") or titles.get("s") or None, journal=titles.get("j"),
        doi=found.get("doi"), arxiv_id=found.get("arxiv_id"), pubmed_id=found.get("pubmed_id"), pmc_id=found.get("pmc_id"),
    )  # fmt: skip


def read_extractor(header: Element | None) -> tuple[str, str, str]:
    """Return the extractor and its version in the TEI ("unknown" if missing). The TEI contains no options."""
    for element in header.iter() if header is not None else ():
        if local_name(element) == "application":
            return (element.get("ident") or "unknown").lower(), element.get("version") or "", ""
    return "unknown", "", ""
