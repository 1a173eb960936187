"""Build bibliography entries from marked fields (\\newblock, \\bibinfo, a database), else with the reference parser."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace

from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.dates import extract_year, parse_date
from s2orc_parse.bibliography.fields import join_titles
from s2orc_parse.bibliography.leading_names import split_leading_names
from s2orc_parse.bibliography.links import clean_url, collect_identifiers
from s2orc_parse.bibliography.names import parse_authors
from s2orc_parse.bibliography.printed import Fields, ReferenceParser
from s2orc_parse.bibliography.tex import read_formula_text
from s2orc_parse.latex.bibtex import BibtexEntry
from s2orc_parse.latex.document import BibItem, Inlines, MarkedText, Math
from s2orc_parse.latex.marks import BLOCK, EMPH, EMPH_END, END, FIELD, VALUE
from s2orc_parse.parse_model import BibEntry
from s2orc_parse.words import read_table, to_letters

_MARKS = re.compile(f"{FIELD}[^{VALUE}]*{VALUE}|[{BLOCK}{END}{EMPH}{EMPH_END}\ue002\ue009]")
_FIELD = re.compile(f"{FIELD}\\s*([^{VALUE}]*?)\\s*{VALUE}([^{FIELD}{END}]*){END}")
_YEAR = re.compile(r"(?<![\d./:–-])(1[5-9]\d\d|20\d\d)[a-z]?(?![\d–-])")
_YEAR_ALONE = re.compile(r"(?:1[4-9]|20)\d\d")
_FINAL_YEAR = re.compile(r"[\s.,;:(]*(?<!\d)\(?((?:1[5-9]|20)\d\d)[a-z]?\)?[\s.,;:)]*$")
_EMPH = re.compile(f"{EMPH}([^{EMPH_END}]*){EMPH_END}")
_EDGES = " \t\n.,;:"
_NATBIB = re.compile(r"^(?P<short>.*?)\s*\((?P<year>[^()]*)\)(?P<long>.*)$", re.DOTALL)
_LABEL_YEAR = re.compile(r"^(?P<short>.+?),?\s+\(?(?P<year>(?:1[5-9]|20)\d\d[a-z]?)\)?$")
_KEY_YEAR = re.compile(r"^([A-Za-z]+?)(?:[-_:.]?)((?:19|20)\d\d)(?!\d)")
_PAGES = re.compile(r"\bpages?\s+(\w+)\s*[–-]+\s*(\w+)|(?<=:)\s?(\d+)\s?[–-]+\s?(\d+)|\bpp?\.\s?(\d+)\s?[–-]+\s?(\d+)")
_VOLUME = re.compile(r"(?:,\s*|\b[Vv]ol(?:ume|\.)?\s*)(\d{1,5})\s*(?:\((\d[\d–-]*)\))?\s*(?=[:,(.]|$)")
_OF_THESIS = re.compile(
    r"^(?:(?:ph\.?\s?d\.?|doctoral|master'?s?|m\.?s\.?c?\.?|diploma|bachelor'?s?)\s+)?(?:thesis|dissertation)[,.]?\s*",
    re.IGNORECASE,
)
_WITHOUT_LINK = re.compile(
    r"(?:\b(?:(?:available|accessed|online|retrieved)\b[\s,:;]*(?:at|from|on|online)?|url|website|web page|webpage|\[online\])[\s,:;]*)?"
    r"(?:https?://|www\.)\S+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CitationNames:
    """The names of an entry in citations."""

    short: str  # Saier and Färber; empty without authors
    full: str
    year: str  # 2019, 2019a, in press
    alpha: str  # a label that is neither number nor name: ABC19
    is_labeled: bool = False  # whether the names come from the entry's label


def build_entries(
    items: list[BibItem], records: dict[str, BibtexEntry], parse_reference: ReferenceParser
) -> list[tuple[BibEntry, CitationNames]]:
    """Return the first printed entry of each key, with the fields of a database first; else the entries of biblatex or a database."""
    if not items:
        return [_read_record_entry(number, record) for number, record in enumerate(records.values())]
    first = {item.key: item for item in reversed(items)}
    chosen = [item for item in items if first[item.key] is item]
    return [_read_entry(number, item, records.get(item.key), parse_reference) for number, item in enumerate(chosen)]


def compose(text: str) -> str:
    """Return text in NFC, with the accents of a dotless i on an i."""
    if text.isascii():
        return text
    text = re.sub("([ıȷ])(?=[\u0300-\u036f])", lambda m: "i" if m.group() == "ı" else "j", text)
    return unicodedata.normalize("NFC", text)


def _to_marked_text(content: Inlines, urls: list[str]) -> str:
    """Return inlines as text with the marks of this module; collect the targets of links."""
    parts: list[str] = []
    for inline in content:
        if isinstance(inline, str):
            parts.append(inline)
        elif isinstance(inline, Math):
            parts.append(read_formula_text(inline.tex))
        elif isinstance(inline, MarkedText):
            inner = _to_marked_text(inline.content, urls)
            if inline.kind == "emph":
                inner = f"{EMPH}{inner}{EMPH_END}"
            elif inline.kind == "block":
                inner = BLOCK + inner
            elif inline.kind.startswith("field:"):
                inner = f"{FIELD}{inline.kind[6:]}{VALUE}{inner}{END}"
            elif inline.target:
                urls.append(inline.target)
            parts.append(inner)
    return compose("".join(parts))


def _clean(text: str) -> str:
    return " ".join(_MARKS.sub("", text).split())


def _read_entry(
    number: int, item: BibItem, record: BibtexEntry | None, parse_reference: ReferenceParser
) -> tuple[BibEntry, CitationNames]:
    urls: list[str] = []
    text = _to_marked_text(item.content, urls)
    raw = " ".join(_clean(text.replace(BLOCK, " ")).split())
    label = _clean(_to_marked_text(item.label, [])) if item.label is not None else None
    found = _read_printed_fields(text, raw, parse_reference)
    found["title"], found["authors"] = split_leading_names(found.get("title", ""), found.get("authors", ()))
    if record is not None:
        found = {**found, **{name: value for name, value in _read_record_fields(record).items() if value}}
    venue = found.get("venue", "")
    if venue.count(" ") > 2 and to_letters(venue) in to_letters(found["title"]):
        found["venue"] = ""  # a part of the title
    named = _read_names(label, found)
    year = _parse_year(found.get("year", "")) or _parse_year(named.year)
    authors: tuple[Author, ...] = found.get("authors", ())
    # Beltagy2019SciBERTPC, printed without a year
    in_key = _KEY_YEAR.match(item.key) if year is None and authors else None
    if in_key and in_key.group(1).casefold() == to_letters(authors[0].last):
        year = int(in_key.group(2))
    return _make_entry(number, item.key, found, year, label, raw, urls), named


def _make_entry(
    number: int, key: str, found: Fields, year: int | None, label: str | None, raw: str, urls: list[str]
) -> BibEntry:
    urls = [*urls, *found.get("urls", ())]
    tagged = [
        (name, value)
        for name in ("doi", "arxiv", "pmid", "pmc", "pubmed", "jstor", "url")
        if isinstance(value := found.get(name), str)
    ]
    ids = collect_identifiers(tagged, urls, (raw, found.get("printed", "")))

    def text(name: str) -> str:
        value = found.get(name, "")
        return value if isinstance(value, str) else ""

    authors = found.get("authors", ())
    return BibEntry(
        key=f"BIBREF{number}",
        ref_id=key,
        title=text("title"),
        authors=authors if isinstance(authors, tuple) else (),
        year=year,
        venue=text("venue"),
        label=label if label and "(" not in label else None,
        volume=text("volume"),
        issue=text("issue"),
        pages=re.sub(r"\s*[–-]+\s*", "--", text("pages")),
        publisher=text("publisher"),
        doi=ids.get("doi"),
        arxiv_id=ids.get("arxiv_id"),
        pubmed_id=ids.get("pubmed_id"),
        pmc_id=ids.get("pmc_id"),
        raw_text=raw,
        urls=tuple(dict.fromkeys(filter(None, map(clean_url, urls)))),
    )


def _parse_year(text: str) -> int | None:
    return extract_year(parse_date(text)[0])


def _read_printed_fields(text: str, raw: str, parse_reference: ReferenceParser) -> Fields:
    """Return the fields of a printed entry."""
    marked: dict[str, list[str]] = {}
    for name, value in _FIELD.findall(text):
        marked.setdefault(name.strip().lower(), []).append(_clean(value))
    by_field = _read_bibinfo(marked)
    if by_field.get("title") and by_field.get("authors"):
        return {**_read_place(raw), **by_field}
    blocks = [block for block in text.split(BLOCK) if _clean(block)]
    if len(blocks) > 1 and (by_block := _read_blocks(blocks)):
        return by_block
    return {**(parse_reference(raw) if parse_reference else {}), **by_field}  # else only the printed text


def _read_bibinfo(marked: dict[str, list[str]]) -> Fields:
    """Return the fields that \\bibinfo and similar commands mark (REVTeX, Elsevier, ACM)."""
    names = {"journal": "venue", "booktitle": "venue", "volume": "volume", "number": "issue", "pages": "pages", "publisher": "publisher",
             "title": "title", "year": "year", "eprint": "arxiv", "doi": "doi"}  # fmt: skip
    found: Fields = {}
    for name, target in names.items():
        if name in marked and (value := marked[name][0].strip(_EDGES)):
            found.setdefault(target, value)
    if "venue" in found and "title" not in found and "journal" not in marked:
        found["title"] = found.pop("venue")  # a book
    if url := clean_url(" ".join(marked.get("url", []))):
        found["urls"] = (url,)
    people = [
        author for value in marked.get("person", []) + marked.get("author", []) for author in _parse_people(value)
    ]
    if people:
        found["authors"] = tuple(people)
    return found


def _parse_people(text: str) -> tuple[Author, ...]:
    return parse_authors(re.sub(r"\s*[(\[]?\b[Ee]d(?:itor)?s?\b\.?[)\]]?\s*$", "", text.strip(" ,;")))


def _read_blocks(blocks: list[str]) -> Fields:
    """Return the fields of an entry that \\newblock divides into authors (and year), title, and the rest."""
    first, title, *rest = blocks
    head = _clean(first)
    found: Fields = {}
    if match := _FINAL_YEAR.search(head):
        found["year"] = match.group(1)
        head = head[: match.start()]
    found["authors"] = _parse_people(head)
    if not rest and (emphasised := _EMPH.search(title)) and _clean(title[: emphasised.start()]):
        title, rest = title[: emphasised.start()], [title[emphasised.start() :]]
    plain_title = _clean(title)
    if "year" not in found and (match := re.search(r"[.,(]\s*\(?((?:1[5-9]|20)\d\d)[a-z]?\)?\s*\.?$", plain_title)):
        found["year"] = match.group(1)
        plain_title = plain_title[: match.start()]
    found["title"] = plain_title.strip(_EDGES + '“”"')
    after = " ".join(rest)
    tail = _clean(after)
    if emphasised := _EMPH.search(after):
        found["venue"] = _clean(emphasised.group(1)).strip(_EDGES)
    elif _EMPH.fullmatch(title.strip(_EDGES)):  # a book or a thesis: what follows is not a journal
        found["publisher"] = re.split(r"[,.]\s", _OF_THESIS.sub("", tail), maxsplit=1)[0].strip(_EDGES)
    else:
        found["venue"] = re.sub(r"^[Ii]n:?\s+", "", re.split(r"[,.]\s", tail, maxsplit=1)[0]).strip(_EDGES)
    outside = _clean(_EMPH.sub("", after))
    if "year" not in found and (years := _YEAR.findall(outside) or _YEAR.findall(tail)):
        found["year"] = years[-1]
    return {**found, **_read_place(outside)} if found["title"] or found["authors"] else {}


def _read_place(text: str) -> Fields:
    """Return the volume, issue and pages that a text prints. A year at the end is not a volume."""
    found: Fields = {}
    if match := _PAGES.search(text):
        low, high = [group for group in match.groups() if group][:2]
        found["pages"] = f"{low}--{high}"
    for match in _VOLUME.finditer(text):
        if not (_YEAR_ALONE.fullmatch(match.group(1)) and text[match.end() : match.end() + 1] not in (":", "(")):
            found["volume"], found["issue"] = match.group(1), match.group(2) or ""
            break
    return found


def _read_record_fields(record: BibtexEntry) -> Fields:
    fields = record.fields
    names = read_table("latex/words")["venue_fields"].split()
    venue = next((text for name in names if (text := _WITHOUT_LINK.sub("", fields.get(name, "")).strip(" ,;:"))), "")
    printed = " ".join(fields.get(name, "") for name in (*names, "volume", "number", "pages", "note", "addendum"))
    publishers = (fields.get(name, "") for name in ("publisher", "institution", "school", "organization"))
    eprint = fields.get("eprint", "")
    kind = (fields.get("archiveprefix") or fields.get("eprinttype") or "arxiv").casefold()
    of_kind = {} if kind == "arxiv" else {kind: eprint}
    arxiv = (eprint if kind == "arxiv" else "") or fields.get("arxivid") or fields.get("arxiv", "")
    return {
        "title": join_titles(fields.get("title", ""), fields.get("subtitle", "")),
        "authors": parse_authors(fields.get("author", "")), "year": fields.get("year") or fields.get("date", ""),
        "venue": venue, "volume": fields.get("volume", ""), "issue": fields.get("number") or fields.get("issue", ""),
        "pages": fields.get("pages", ""), "publisher": next(filter(None, publishers), ""), "doi": fields.get("doi", ""),
        "arxiv": arxiv, "printed": printed, "pmid": fields.get("pmid", ""), "pmc": fields.get("pmcid", ""),
        "url": fields.get("url", ""), "urls": tuple(fields.get("links", "").split()), **of_kind,
    }  # fmt: skip


def _read_record_entry(number: int, record: BibtexEntry) -> tuple[BibEntry, CitationNames]:
    found = _read_record_fields(record)
    alpha = record.fields.get("labelalpha", "") + record.fields.get("extraalpha", "")
    who = ", ".join(" ".join(filter(None, (a.first, *a.middle, a.last))) for a in found["authors"])
    raw = ". ".join(filter(None, (who, found["title"], found["venue"], found["year"])))
    entry = _make_entry(number, record.key, found, _parse_year(found["year"]), alpha or None, raw, [])
    return entry, replace(_read_names(None, found), alpha=alpha)


def _read_names(label: str | None, found: Fields) -> CitationNames:
    """Return the names in the label (natbib's `Saier and Färber(2019)long list`), else the names of the authors."""
    last = [author.last or author.first for author in found.get("authors", ())]
    short = last[0] if len(last) == 1 else " and ".join(last) if len(last) == 2 else f"{last[0]} et al." if last else ""
    full = ", ".join(last[:-1]) + " and " + last[-1] if len(last) > 1 else short
    year = found.get("year") or ""
    if label:
        if match := _NATBIB.match(label) or _LABEL_YEAR.match(label):
            long = match.groupdict().get("long") or match["short"]
            return CitationNames(
                match["short"].strip(' ,"{}'), long.strip(" ,{}"), match["year"].strip(), "", is_labeled=True
            )
        return CitationNames(short, full, year, label)
    return CitationNames(short, full, year, "")
