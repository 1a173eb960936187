"""Convert figures, tables, formulas and footnotes to reference entries with their printed numbers."""

from __future__ import annotations

import re

from s2orc_parse.bibliography.dates import to_int
from s2orc_parse.parse_model import RefEntry, RefType
from s2orc_parse.tei.bibliography import XML_ID
from s2orc_parse.tei.drafts import TextDraft
from s2orc_parse.tei.text import read_flat
from s2orc_parse.xml import Element, extract_text, iter_text, local_name

_GROBID_IDS = {RefType.FIGURE: "fig", RefType.TABLE: "tab", RefType.FORMULA: "formula", RefType.FOOTNOTE: "foot"}
MAX_SPAN = 100  # maximum number of columns or rows that a cell spans
NUMBER = r"(?:[A-Z]{1,2}[.\s]?)?\d{1,4}(?:\s?[.\-]\s?\d{1,3})*|[IVXLC]{1,6}|[A-Z](?=[\s.:|)])"
_FIGURE_LABEL = re.compile(
    rf"(?:supplementary\s+|extended\s+data\s+|online\s+)?(?P<kind>fig(?:ure|\.)?|table|tab\.|scheme|chart|algorithm|box|plate)\s*(?P<num>{NUMBER})(?![A-Za-z]\w)",
    re.IGNORECASE,
)
_NUMBER = re.compile(NUMBER)
_EQUATION_LABEL = re.compile(r"[\s(\[]*([0-9A-Za-z][0-9A-Za-z.\-′'* ]{0,11}?)[\s)\].,;]*")


def assign_keys(kind: RefType, elements: list[Element]) -> list[str]:
    """Return the keys of the entries of one kind, with the extractor's numbers if these are distinct, else in order."""
    pattern = re.compile(rf"{_GROBID_IDS[kind]}_(\d{{1,5}})")
    matches = [pattern.fullmatch(element.get(XML_ID) or "") for element in elements]
    numbers = [int(match.group(1)) for match in matches if match]
    if len(numbers) < len(elements) or len(set(numbers)) < len(numbers):
        numbers = list(range(len(elements)))
    return [kind.make_key(number) for number in numbers]


def find_label(element: Element) -> re.Match[str] | None:
    """Return the label of a float ("Figure 3") from the start of its caption, else from its head."""
    for tag, find in (("figDesc", _FIGURE_LABEL.match), ("head", _FIGURE_LABEL.search)):
        for child in element:
            if local_name(child) == tag and (match := find(extract_text(child)[:300])):
                return match
    return None


def classify_float(element: Element, label: re.Match[str] | None) -> RefType:
    """Return figure or table, based on the element, its type or the printed word (GROBID marks "TABLE 5" as a figure)."""
    if local_name(element) == "table" or element.get("type") == "table":
        return RefType.TABLE
    return RefType.TABLE if label is not None and label["kind"].casefold().startswith("tab") else RefType.FIGURE


def read_float(element: Element, key: str, kind: RefType, label: re.Match[str] | None) -> tuple[RefEntry, TextDraft]:
    """Return the entry of a figure or table without spans, and the draft of its caption for making the spans."""
    heads = [child for child in element if local_name(child) == "head"]
    captions = [*element.iter("{*}figDesc"), *(child for child in element if local_name(child) in ("note", "p"))]
    caption = read_flat(captions)
    head = " ".join(filter(None, map(extract_text, heads)))
    match = _FIGURE_LABEL.match(head)
    title = head[match.end() :].lstrip(" .:|)]–—-") if match else head
    if title and not _FIGURE_LABEL.search(title) and title.casefold() not in caption.text.casefold():
        shift = len(title) + 1
        marks = [mark._replace(start=mark.start + shift, end=mark.end + shift) for mark in caption.marks]
        caption = TextDraft(f"{title} {caption.text}".strip(), marks=marks)
    cells = tuple(map(tuple, read_cells(element))) or None
    return RefEntry(key, kind, caption.text, _float_number(element, head, label), cells=cells), caption


def read_cells(table: Element) -> list[list[str]]:
    """Return the cells of a table by row. A cell over several columns or rows leaves empty cells in the other positions."""
    rows: list[list[str]] = []
    covered: dict[int, int] = {}  # column → number of following rows that a cell above covers
    for row in table.iter("{*}row"):
        cells: list[str] = []
        below = {column: left - 1 for column, left in covered.items() if left > 1}
        for cell in row:
            while len(cells) in covered:
                cells.append("")
            width, height = (
                1 if (n := to_int(cell.get(name))) is None else min(n, MAX_SPAN) for name in ("cols", "rows")
            )
            below.update(dict.fromkeys(range(len(cells), len(cells) + width), height - 1) if height > 1 else {})
            cells += [read_flat([cell]).text if len(cell) else extract_text(cell), *[""] * (width - 1)]
        cells += [""] * (max(covered, default=-1) + 1 - len(cells))
        covered = below
        rows.append(cells)
    return rows


def _float_number(element: Element, head: str, printed: re.Match[str] | None) -> str | None:
    """Return the number of a float from its caption or head, else from its `label` element.

    GROBID's label joins all digits of the head: "23" for "Fig. 2 .Fig. 3 .", "20215" for "VOLUME 9, 2021 TABLE 5".
    """
    if printed:
        return _plain_number(printed["num"])
    label = next((extract_text(child) for child in element if local_name(child) == "label"), "")
    if label and _NUMBER.fullmatch(label) and (not head or head.strip(" .:()") == label):
        return _plain_number(label)
    return None


def _plain_number(num: str) -> str:
    return re.sub(r"\s+", "", num).rstrip(".-")


def read_formula(element: Element, key: str) -> RefEntry:
    """Return the entry of a formula: its text without its label."""
    labels = [extract_text(child) for child in element if local_name(child) == "label"]
    match = _EQUATION_LABEL.fullmatch(labels[0]) if labels else None
    text = " ".join("".join(iter_text(element, ("label",))).split())
    return RefEntry(key, RefType.FORMULA, text, match.group(1) if match else None)


def read_note(element: Element, key: str) -> tuple[RefEntry, TextDraft]:
    """Return the entry of a footnote without spans, and the draft for making the spans."""
    draft = read_flat([element])
    return RefEntry(key, RefType.FOOTNOTE, draft.text, element.get("n")), draft
