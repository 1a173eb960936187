"""The reference list: where it is and where one entry ends and the next begins."""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import median

from .model import Document, Kind, Line
from .text import Joiner

_HEAD = re.compile(
    r"\s*(?:(?:\d+|[IVX]+|[A-Z])\s*\.?\s+)?(?:references?(?:\s+and\s+notes|\s+cited)?|r\s+e\s+f\s+e\s+r\s+e\s+n\s+c\s+e\s+s|bibliography|literature(?:\s+cited)?|works\s+cited|"
    r"literatur(?:verzeichnis)?|références|referencias|参\s*考\s*文\s*献)\s*[:.]?\s*",
    re.I,
)
_LABEL = re.compile(
    r"\s*(?:\[(\d{1,4})\]|\((\d{1,4})\)(?=\s)|(\d{1,4})[.)](?=\s|[A-Z]|$)|(\d{1,4})(?=\s+[A-Z])|\[([A-Za-z][^\]\s]{0,14})\])\s*"
)
_AFTER = re.compile(
    r"\s*(?:(?:[A-Z]|\d+|appendix(?:\s+[A-Z\d]+)?)[.:]?\s+)?(?:appendi(?:x|ces)|supplement\w*|acknowledge?ments?|author\s+contributions?|"
    r"about\s+the\s+authors?|biograph\w+|conflicts?\s+of\s+interest|competing\s+interests?|funding|ethics|data\s+availability|"
    r"supporting\s+information|publisher.s\s+note|how\s+to\s+cite|notes?)\b",
    re.I,
)
_APPENDIX_HEAD = re.compile(r"\s*(?:[A-Z](?:\.\d+)*|Appendix\s+[A-Z\d])\.?\s+[A-Z]")
_NOTE = re.compile(r"\s*(?:\d{1,2}|[*†‡§¶∗])\s?[A-Z(\"“h]")
_YEAR = re.compile(r"(?:1[6-9]|20)\d\d[a-z]?")


@dataclass(slots=True)
class Entry:
    """An entry of the reference list as printed."""

    label: str
    """`[4]`'s 4, `[ABC19]`'s ABC19; empty where the list has none."""
    raw: str


def read(document: Document, joiner: Joiner) -> list[Entry]:
    """Finds the reference list, marks its lines REFERENCE (the head included) and splits it into entries."""
    lines = [line for page in document.pages for line in page.lines if line.kind is Kind.BODY]
    start = _start(lines)
    if start is not None:
        lines[start].kind = Kind.REFERENCE
        items = lines[start + 1 : _stop(lines, start)]
    else:
        items = _headless(lines)
    items = _without_notes(items)
    for line in items:
        line.kind = Kind.REFERENCE
    return [e for group in _split(items) if (e := _entry(group, joiner)) is not None]


def _without_notes(lines: list[Line]) -> list[Line]:
    """The list's lines without footnotes: blocks of smaller type that begin with a mark."""
    if not lines:
        return lines
    size = median(line.size for line in lines)
    notes = {line.block for line in lines if line.size < size - 0.4 and _NOTE.match(line.text)}
    return [line for line in lines if line.block not in notes or line.size > size - 0.4]


def _start(lines: list[Line]) -> int | None:
    """The last line that is nothing but the head and is followed by what looks like references."""
    for i in range(len(lines) - 1, -1, -1):
        if len(lines[i].text) < 40 and _HEAD.fullmatch(lines[i].text):
            after = " ".join(line.text for line in lines[i + 1 : i + 12])
            if _YEAR.search(after) or _LABEL.match(after):
                return i
    return None


def _headless(lines: list[Line]) -> list[Line]:
    """A list without a head, as physics has it: from the last `[1]` in the second half on, if `[2]` to `[5]` begin lines after it."""
    labels = [(i, int(m.group(1))) for i, line in enumerate(lines) if (m := _LABEL.match(line.text)) and m.group(1)]
    for at, (i, number) in reversed(list(enumerate(labels))):
        if number == 1 and i > len(lines) / 2 and [n for _, n in labels[at : at + 5]] == [1, 2, 3, 4, 5]:
            return lines[i:]
    return []


def _stop(lines: list[Line], start: int) -> int:
    """The first line after the list: a head in the style of the list's own, or of an appendix."""
    head = lines[start]
    items = lines[start + 1 : start + 200]
    size = median(line.size for line in items) if items else head.size
    for i in range(start + 1, len(lines)):
        line, before = lines[i], lines[i - 1]
        if len(line.text) > 90 or (_LABEL.match(line.text) and not _APPENDIX_HEAD.match(line.text)):
            continue
        like_head = (
            line.font.family == head.font.family
            and abs(line.size - head.size) < 0.3
            and (head.font.family != before.font.family or abs(head.size - size) > 0.3 or line.text.isupper())
        )
        styled = line.font.bold or line.size > size + 0.4 or line.text.isupper()
        if like_head and abs(head.size - size) > 0.3 and line.block != before.block and len(line.text) > 2:
            return i
        if styled and (_AFTER.match(line.text) or (_APPENDIX_HEAD.match(line.text) and line.size > size + 0.4)):
            return i
        if _AFTER.match(line.text) and len(line.text) < 40 and line.block != before.block and _HEADLIKE(line, size):
            return i
    return len(lines)


def _HEADLIKE(line: Line, size: float) -> bool:
    return line.size >= size and not line.text.rstrip().endswith(",")


def _split(lines: list[Line]) -> list[list[Line]]:
    """Cuts the list's lines into entries: at labels if most entries have one, else at hanging indents, else at gaps."""
    if not lines:
        return []
    labelled = _labelled(lines)
    if labelled:
        return labelled
    columns = _columns(lines)
    groups: list[list[Line]] = []
    hanging = _is_hanging(lines, columns)
    for i, line in enumerate(lines):
        if not groups:
            groups.append([line])
            continue
        before = lines[i - 1]
        offset = line.x0 - columns[i]
        gap = line.y0 - before.y1
        same = line.page == before.page and line.y0 > before.y0
        if hanging == 1:
            new = offset < 3 and not _continues(before, line)
        elif hanging == -1:
            new = offset > 3
        else:
            new = (same and gap > 0.5 * line.size) or (
                line.block != before.block
                and before.text.rstrip().endswith(".")
                and bool(_YEAR.search(line.text) or line.text[:1].isupper())
            )
        if new:
            groups.append([line])
        else:
            groups[-1].append(line)
    return groups


def _continues(before: Line, line: Line) -> bool:
    return before.text.endswith(("-", ",")) and line.text[:1].islower()


def _labelled(lines: list[Line]) -> list[list[Line]]:
    """Groups by labels: numbers that ascend by one from 1, or bracketed keys; empty if the list has none."""
    groups: list[list[Line]] = []
    expected = 1
    for line in lines:
        match = _LABEL.match(line.text)
        number = next((int(g) for g in match.groups()[:4] if g), None) if match else None
        key = match and match.group(5)
        if number is not None and (
            number == expected or (groups and expected < number <= expected + 2 and match and match.group(1))
        ):
            groups.append([line])
            expected = number + 1
        elif key and (groups or line is lines[0]):
            groups.append([line])
        elif groups:
            groups[-1].append(line)
        elif len(line.text) > 30:
            return []
    return groups if len(groups) >= max(2, len(lines) / 25) else []


def _columns(lines: list[Line]) -> list[float]:
    """For each line the left edge of its column on its page."""
    edges: dict[tuple[int, int], float] = {}
    keys: list[tuple[int, int]] = []
    column, before = 0, None
    for line in lines:
        if before is not None and (line.page != before.page or line.x0 > before.x1 or line.y1 < before.y0):
            column += 1
        keys.append((line.page, column))
        edges[keys[-1]] = min(edges.get(keys[-1], 1e9), line.x0)
        before = line
    return [edges[key] for key in keys]


def _is_hanging(lines: list[Line], columns: list[float]) -> int:
    """1: first lines stand out to the left; -1: first lines are indented; 0: neither."""
    inside = [line.x0 - edge > 3 for line, edge in zip(lines, columns, strict=True)]
    share = sum(inside) / len(inside)
    if not 0.1 < share < 0.92:
        return 0
    first = [i for i, x in enumerate(inside) if x != inside[i - 1]] if len(inside) > 1 else []
    capital_out = sum(1 for i, x in enumerate(inside) if not x and lines[i].text[:1].isupper())
    capital_in = sum(1 for i, x in enumerate(inside) if x and lines[i].text[:1].isupper())
    outs, ins = len(inside) - sum(inside), sum(inside)
    return 1 if first and capital_out / max(outs, 1) >= capital_in / max(ins, 1) else -1


def _entry(lines: list[Line], joiner: Joiner) -> Entry | None:
    raw = joiner.text(lines).text
    match = _LABEL.match(raw)
    label = ""
    if match:
        label = next((g for g in match.groups() if g), "")
        raw = raw[match.end() :]
    return Entry(label, raw.strip()) if len(raw.strip()) > 8 else None
