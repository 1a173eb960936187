"""Collect reference entries, and build the paragraphs with spans that reference them and the cited entries."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

from s2orc_parse.jats.floats import find_floats, read_caption, read_number, read_rows
from s2orc_parse.jats.formulas import read_formula
from s2orc_parse.jats.text import plain, read_flat_draft
from s2orc_parse.parse_model import (
    EQUATION,
    BibEntry,
    CellCite,
    CiteSpan,
    EqSpan,
    Paragraph,
    RefEntry,
    RefSpan,
    RefType,
)
from s2orc_parse.tei.drafts import TextDraft
from s2orc_parse.tei.sections import SectionPath
from s2orc_parse.xml import Element

MAX_RANGE = 100  # SPEC §3.13: a wider range is not a citation
_DASH = "‐‑‒–—−-"
_BETWEEN = re.compile(rf"[\s\])]*[{_DASH}]{{1,2}}[\s\[(]*")
_RANGE = re.compile(rf"[\s\[(]*(\d{{1,4}})\s*[{_DASH}]{{1,2}}\s*(\d{{1,4}})[\s\])]*")
_NUMBER = re.compile(r"[\s\[(]*(\d{1,4})[\s\]).,;]*")


class JatsCitationLinker:
    """Creates the citation spans of all texts of one paper."""

    def __init__(self, entries: Sequence[BibEntry], ids: Mapping[str, tuple[str, ...]]) -> None:
        self._keys = [entry.key for entry in entries]
        self._ids = ids
        self._positions = {key: at for at, key in enumerate(self._keys)}

    def find_citations(self, draft: TextDraft) -> tuple[CiteSpan, ...]:
        """Return the distinct citation spans of one text in order.

        A range `[3]–[5]` whose ends are linked also cites the entries between them. Those spans cover the text of the
        range.
        """
        found: dict[tuple[int, int, str], None] = {}
        last: tuple[int, int, str] | None = None  # start, end and last entry of the previous citation
        for mark in draft.marks:
            keys = list(dict.fromkeys(key for target in mark.targets for key in self._ids.get(target, ())))
            if not keys:
                last = None
                continue
            surface = draft.text[mark.start : mark.end]
            if len(keys) == 1 and (match := _RANGE.fullmatch(surface)):
                keys = self._printed_range(keys[0], int(match.group(1)), int(match.group(2)))
            if last is not None and _BETWEEN.fullmatch(draft.text, last[1], mark.start):
                for key in self._between(draft.text[last[0] : last[1]], last[2], surface, keys[0]):
                    found[last[0], mark.end, key] = None
            for key in keys:
                found[mark.start, mark.end, key] = None
            last = (mark.start, mark.end, keys[-1])
        ordered = sorted(found, key=lambda span: (span[0], span[1], self._positions[span[2]]))
        return tuple(CiteSpan(start, end, draft.text[start:end], key) for start, end, key in ordered)

    def _between(self, first: str, left: str, last: str, right: str) -> list[str]:
        """Return the keys between two numbered entries if printed numbers and positions of the entries agree."""
        a, b = _NUMBER.fullmatch(first), _NUMBER.fullmatch(last)
        low, high = self._positions[left], self._positions[right]
        if a is None or b is None or not 0 < high - low <= MAX_RANGE:
            return []
        if int(b.group(1)) - int(a.group(1)) != high - low:
            return []
        return self._keys[low + 1 : high]

    def _printed_range(self, key: str, first: int, last: int) -> list[str]:
        """Return the keys of a range that is one citation (`3–5`) and is linked only to its first or last entry."""
        at = self._positions[key]
        if not 0 < last - first <= MAX_RANGE:
            return [key]
        if at + 1 == last and at - (last - first) >= 0:
            at -= last - first
        elif at + 1 != first or at + last - first >= len(self._keys):
            return [key]
        return self._keys[at : at + last - first + 1]


class Entries:
    """Collects figures, tables, formulas, footnotes and mentioned sections."""

    def __init__(self, linker: JatsCitationLinker, cited: Container[str]) -> None:
        """`cited` contains the ids of bibliography entries."""
        self._linker = linker
        self._cited = cited
        self._found: dict[RefType, list[RefEntry]] = {kind: [] for kind in RefType}
        self._keys: dict[str, str] = {}  # id → key
        self._equations: dict[Element, EqSpan] = {}
        self._sections: dict[str, SectionPath] = {}

    def entries(self) -> tuple[RefEntry, ...]:
        """Return the entries by kind, each kind in the order of the file."""
        return tuple(entry for found in self._found.values() for entry in found)

    def add_float(self, element: Element) -> None:
        """Add a figure or table, or all members of a group."""
        first: str | None = None
        for kind, found in find_floats(element):
            caption = read_caption(found, self._cited)
            rows, referring = read_rows(found, self._cited) if kind is RefType.TABLE else ([], [])
            cell_cites = tuple(
                CellCite(row, column, span)
                for row, column, cell in referring
                for span in self._linker.find_citations(cell)
            )
            key = self._add(
                found, kind, caption.text, num=read_number(found), cells=tuple(map(tuple, rows)) or None,
                cite_spans=self._linker.find_citations(caption), cell_cites=cell_cites,
            )  # fmt: skip
            first = first or key
        if first and (identifier := element.get("id")):
            self._keys.setdefault(identifier, first)

    def add_formula(self, element: Element) -> None:
        """Add a display formula."""
        formula = read_formula(element)
        key = self._add(element, RefType.FORMULA, formula.text, num=formula.label, latex=formula.latex)
        group = element.getparent()
        if group is not None and group.tag == "disp-formula-group" and (identifier := group.get("id")):
            self._keys.setdefault(identifier, key)
        self._equations[element] = EqSpan(
            0, 0, EQUATION, key, formula.text, formula.latex, formula.mathml, formula.label
        )

    def add_note(self, element: Element) -> None:
        """Add a footnote."""
        note = read_flat_draft((child for child in element if child.tag != "label"), self._cited)
        num = plain(element.find("label")) or None
        self._add(element, RefType.FOOTNOTE, note.text, num=num, cite_spans=self._linker.find_citations(note))

    def register_sections(self, sections: dict[str, SectionPath]) -> None:
        """Register sections by id. Mentioned sections become entries."""
        self._sections.update(sections)

    def paragraph(self, draft: TextDraft) -> Paragraph:
        """Return a text as a paragraph with all its spans."""
        cites = self._linker.find_citations(draft) if draft.marks else ()
        refs = self._references(draft, cites)
        if any(mark.kind == "cite" for mark in draft.marks):
            cites = _add_unlinked(draft, cites, refs)
        displayed = [
            replace(self._equations[element], start=at, end=at + len(EQUATION)) for at, element in draft.formulas
        ]
        return Paragraph(
            section=draft.section.path,
            text=draft.text,
            sec_num=draft.section.num,
            cite_spans=cites,
            ref_spans=tuple(refs),
            eq_spans=tuple(sorted((*displayed, *draft.inline), key=lambda span: span.start)),
        )

    def _references(self, draft: TextDraft, cites: tuple[CiteSpan, ...]) -> list[RefSpan]:
        cited = {(span.start, span.end) for span in cites}
        found = []
        for mark in draft.marks:
            if mark.kind == "cite" and (mark.start, mark.end) in cited:
                continue
            key = next((key for target in mark.targets if (key := self._key(target))), None)
            if key:
                found.append(RefSpan(mark.start, mark.end, draft.text[mark.start : mark.end], key))
        return found

    def _key(self, target: str) -> str | None:
        key = self._keys.get(target)
        if key is None and (section := self._sections.get(target)) is not None:
            known = self._found[RefType.SECTION]
            key = self._keys[target] = RefType.SECTION.make_key(len(known))
            known.append(RefEntry(key, RefType.SECTION, section.heads[-1], section.num))
        return key

    def _add(self, element: Element, kind: RefType, text: str, **fields: Any) -> str:
        """Add an entry with the other fields of `RefEntry`; return its key."""
        key = kind.make_key(len(self._found[kind]))
        self._found[kind].append(RefEntry(key, kind, text, **fields))
        if identifier := element.get("id"):
            self._keys.setdefault(identifier, key)
        return key


def _add_unlinked(draft: TextDraft, cites: tuple[CiteSpan, ...], refs: list[RefSpan]) -> tuple[CiteSpan, ...]:
    """Return the citations, including those that are not linked to any entry of the file."""
    known = {(span.start, span.end) for span in (*cites, *refs)}
    unlinked = [
        CiteSpan(mark.start, mark.end, draft.text[mark.start : mark.end], None)
        for mark in draft.marks
        if mark.kind == "cite" and (mark.start, mark.end) not in known
    ]
    return tuple(sorted((*cites, *unlinked), key=lambda span: (span.start, span.end))) if unlinked else cites
