"""Figures, tables, formulas, footnotes → reference entries, with the number the paper prints for each."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from s2orc_parse.jats.read import Element
from s2orc_parse.jats.text import Draft, flat, plain
from s2orc_parse.parse_model import RefType

MAX_CELLS = 20_000  # of one table
MAX_SPAN = 100  # columns that a cell may take the place of
_PREFIXES = {
    RefType.FIGURE: "FIGREF", RefType.TABLE: "TABREF", RefType.FORMULA: "EQREF", RefType.SECTION: "SECREF", RefType.FOOTNOTE: "FOOTREF",
}  # fmt: skip
_LABEL = re.compile(
    r"\s*(?:(?:supplementary|extended data|online)\s+)?"
    r"(?:fig(?:ure|\.)?s?|tab(?:le|\.)?|scheme|chart|algorithm|plate|movie|video)\.?\s*(?P<num>.*?)[\s.:|]*",
    re.IGNORECASE | re.DOTALL,
)
_TABLE = re.compile(r"\btable\b", re.IGNORECASE)
_AFTER = re.compile(r"(?P<num>[A-Z]?\d+)\s+(?:fig(?:ure)?|table)[\s.:|]*", re.IGNORECASE)  # S1 Fig.
_GROUPS = {"fig-group": RefType.FIGURE, "table-wrap-group": RefType.TABLE}
_ROWS = ("thead", "tbody", "tfoot", "table", "array")


def key_of(kind: RefType, number: int) -> str:
    """The key of the n-th entry of a kind, counted from 0."""
    return f"{_PREFIXES[kind]}{number}"


def floats_of(element: Element) -> Iterator[tuple[RefType, Element]]:
    """The figures and tables of a float, its group before its parts; a group without words of its own is none."""
    name = element.tag
    if name in _GROUPS:
        if element.find("caption") is not None or element.find("label") is not None:
            yield _GROUPS[name], element
        for child in element:
            if child.tag in ("fig", "table-wrap", "fig-group", "media"):
                yield from floats_of(child)
    elif name == "fig" or (name == "media" and element.find("caption") is not None):
        yield RefType.FIGURE, element
    elif name == "supplementary-material" and (
        element.find("label") is not None or element.find("caption") is not None
    ):
        yield RefType.TABLE if _TABLE.search(plain(element.find("label"))) else RefType.FIGURE, element
    elif name in ("table-wrap", "table", "array"):
        yield RefType.TABLE, element


def number_of_float(element: Element) -> str | None:
    """The number that a float prints: "3", "S2", "1—figure supplement 1"; None where it prints none."""
    label = plain(element.find("label"))
    match = _LABEL.fullmatch(label) or _AFTER.fullmatch(label)
    num = match["num"].strip() if match else label.strip(" .:")
    return num or None


def caption_of(element: Element, entries: Container[str]) -> Draft:
    """Title, caption and table notes of a float as one text."""
    wanted = ("caption", "table-wrap-foot", "p", "attrib", "statement")
    return flat((child for child in element if child.tag in wanted), entries)


def rows_of(element: Element, entries: Container[str]) -> tuple[list[list[str]], list[tuple[int, int, Draft]]]:
    """The cells of a table, row by row, and (row, column, draft) of those that refer to something. A cell over several columns leaves
    empty ones after its own."""
    rows: list[list[str]] = []
    referring: list[tuple[int, int, Draft]] = []
    table = element if element.tag in ("table", "array") else _table_of(element)
    total = 0
    for row in _rows(table) if table is not None else ():
        cells: list[str] = []
        for cell in row:
            if cell.tag == "td" or cell.tag == "th":
                if len(cell):
                    draft = flat([cell], entries)
                    text = draft.text
                    if draft.marks:
                        referring.append((len(rows), len(cells), draft))
                else:
                    text = " ".join((cell.text or "").split())
                cells.append(text)
                span = cell.get("colspan")
                if span is not None and span.isascii() and span.isdecimal() and len(span) < 4:
                    cells.extend([""] * min(int(span) - 1, MAX_SPAN))
        if cells:
            rows.append(cells)
            total += len(cells)
        if total > MAX_CELLS:
            break
    return rows, referring


def _table_of(element: Element) -> Element | None:
    """The table of a `table-wrap`; None where it has only a picture of it."""
    for child in element:
        name = child.tag
        if name in ("table", "array"):
            return child
        if name == "alternatives" and (inner := _table_of(child)) is not None:
            return inner
    return None


def _rows(table: Element) -> Iterator[Element]:
    for child in table:
        name = child.tag
        if name in ("tr", "tbody-row"):
            yield child
        elif name in _ROWS:
            yield from _rows(child)
