"""Figures, tables, formulas, footnotes → reference entries, with the number the paper prints for each."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping

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
_ROWS = ("thead", "tbody", "tfoot", "table", "array", "tgroup")
_CELLS = frozenset(("td", "th", "entry", "entrytbl"))


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
    """Return the cells of a table, row by row, and (row, column, draft) of those that refer to something.

    A cell over several columns or rows leaves empty cells in the other places. Tables are XHTML's or OASIS's (CALS).
    """
    rows: list[list[str]] = []
    referring: list[tuple[int, int, Draft]] = []
    table = element if element.tag in ("table", "array") else _table_of(element)
    total = 0
    covered: dict[int, int] = {}  # column → number of coming rows that a cell above covers
    group: Element | None = None
    for row, columns in _rows(table, {}) if table is not None else ():
        if row.getparent() is not group:  # a cell ends with its group of rows
            group, covered = row.getparent(), {}
        cells: list[str] = []
        below = {column: left - 1 for column, left in covered.items() if left > 1}
        for cell in row:
            if cell.tag not in _CELLS:
                continue
            first, width, height = _place(cell, columns)
            while len(cells) in covered or len(cells) < first:
                cells.append("")
            if len(cell):
                draft = flat([cell], entries)
                text = draft.text
                if draft.marks:
                    referring.append((len(rows), len(cells), draft))
            else:
                text = " ".join((cell.text or "").split())
            if height:
                below.update(dict.fromkeys(range(len(cells), len(cells) + width), height))
            cells.extend([text, *[""] * (width - 1)])
        if covered:
            cells.extend([""] * (max(covered) + 1 - len(cells)))
        covered = below
        if cells:
            rows.append(cells)
            total += len(cells)
        if total > MAX_CELLS:
            break
    return rows, referring


def _place(cell: Element, columns: Mapping[str, int]) -> tuple[int, int, int]:
    """Return the first column that a cell names (0 if none), its number of columns, and the number of rows below that it covers."""
    if cell.tag in ("td", "th"):
        return 0, max(_count(cell.get("colspan"), 1), 1), max(_count(cell.get("rowspan"), 1) - 1, 0)
    name = cell.get("namest") or cell.get("colname") or f"{cell.get('spanname')} start"
    first = columns.get(name, 0)
    last = columns.get(cell.get("nameend") or f"{cell.get('spanname')} end", first)
    return first, min(max(last - first, 0), MAX_SPAN) + 1, _count(cell.get("morerows"), 0)


def _count(text: str | None, default: int) -> int:
    """Return a number of columns or rows in an attribute, at most the limit."""
    is_number = text is not None and text.isascii() and text.isdecimal() and len(text) < 4
    return min(int(text or 0), MAX_SPAN + 1) if is_number else default


def _columns(group: Element) -> dict[str, int]:
    """Return the numbers, from 0, of the columns that a `tgroup` names; of its spans `<name> start` and `<name> end`."""
    found: dict[str, int] = {}
    number = 0
    for spec in group.iterchildren("colspec"):
        number = _count(spec.get("colnum"), number + 1)
        if name := spec.get("colname"):
            found.setdefault(name, min(max(number - 1, 0), MAX_SPAN))
    for spec in group.iterchildren("spanspec"):
        start, end = found.get(spec.get("namest") or ""), found.get(spec.get("nameend") or "")
        if start is not None and end is not None:
            found[f"{spec.get('spanname')} start"], found[f"{spec.get('spanname')} end"] = start, end
    return found


def _table_of(element: Element) -> Element | None:
    """The table of a `table-wrap`; None where it has only a picture of it."""
    for child in element:
        name = child.tag
        if name in ("table", "array"):
            return child
        if name == "alternatives" and (inner := _table_of(child)) is not None:
            return inner
    return None


def _rows(table: Element, columns: Mapping[str, int]) -> Iterator[tuple[Element, Mapping[str, int]]]:
    """Yield the rows of a table, each with the columns that are named there."""
    for child in table:
        name = child.tag
        if name in ("tr", "tbody-row", "row"):
            yield child, columns
        elif name in _ROWS:
            yield from _rows(child, {**columns, **_columns(child)} if name in ("tgroup", "thead", "tfoot") else columns)
