"""Read GROBID's annotated documents (CC BY 4.0): `tei/` contains the label of each line, `raw/` its typesetting."""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import TypeVar

from lxml import etree

from devtools.measure import read_xml
from pdf2tei.body.passages import Passage
from pdf2tei.front.front_lines import FrontLabel
from pdf2tei.models.segmentation import LineAttributes, SegmentLabel

_SEGMENTS = {
    "front": SegmentLabel.FRONT, "titlePage": SegmentLabel.FRONT, "cover": SegmentLabel.FRONT, "body": SegmentLabel.BODY,
    "listBibl": SegmentLabel.REFERENCE, "headnote": SegmentLabel.FURNITURE, "page": SegmentLabel.FURNITURE,
    "footnote": SegmentLabel.FOOTNOTE, "annex": SegmentLabel.ANNEX, "acknowledgement": SegmentLabel.BACK,
    "acknowledgment": SegmentLabel.BACK, "availability": SegmentLabel.BACK, "funding": SegmentLabel.BACK,
}  # fmt: skip
_PASSAGES = {"head": Passage.HEAD, "figure": Passage.FLOAT, "table": Passage.FLOAT, "formula": Passage.FORMULA}
_FRONT = {
    "titlePart": FrontLabel.TITLE, "docAuthor": FrontLabel.AUTHOR, "affiliation": FrontLabel.AFFILIATION, "address": FrontLabel.AFFILIATION,
    "email": FrontLabel.AFFILIATION, "phone": FrontLabel.AFFILIATION, "abstract": FrontLabel.ABSTRACT, "keyword": FrontLabel.KEYWORDS,
    "keywords": FrontLabel.KEYWORDS,
}  # fmt: skip
_FIRST = re.compile(r"\w+|\W")
_TOKEN = re.compile(r"\w+|[^\w\s]")
Label = TypeVar("Label")
Documents = Iterator[tuple[str, list[LineAttributes], list[str]]]
"""Name, lines and labels of each document."""


def members(archive: Path, folder: str) -> dict[str, bytes]:
    """Return the files of an archive's folder by name."""
    out: dict[str, bytes] = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            path = Path(member.name)
            if member.isfile() and path.parent.as_posix().endswith(folder) and (file := tar.extractfile(member)):
                out[path.name] = file.read()
    return out


def read_pairs(archive: Path, *parts: str) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield name, `raw/` and `tei/` of the documents of an archive's parts, by name. Headers have two forms of names."""
    for part in parts:
        raws = members(archive, f"{part}/raw")
        for name, tei in sorted(members(archive, f"{part}/tei").items()):
            stem = name.removesuffix(".tei.xml")
            for form in (".training.header", ".header"):
                if (raw := raws.get(re.sub(r"(?:\.training)?\.header$", form, stem))) is not None:
                    yield name, raw, tei
                    break


def iterate_texts(
    element: etree._Element, label: Label, find_label: Callable[[etree._Element, Label], Label]
) -> Iterator[tuple[str, Label]]:
    """Yield the texts below an element in order, each with the label of the innermost labeled element around it."""
    yield element.text or "", label
    for child in element:
        if isinstance(child.tag, str):
            yield from iterate_texts(child, find_label(child, label), find_label)
        yield child.tail or "", label


def read_segments(archive: Path) -> Documents:
    """Yield the annotated documents of `segmentation`, by name."""

    def find_label(child: etree._Element, label: str) -> str:
        name = etree.QName(child).localname
        kind = child.get("place") or child.get("type") or name
        return _SEGMENTS.get(kind, _SEGMENTS.get(name, label))

    for name, raw, tei in read_pairs(archive, "corpus"):
        labeled = list_lines(tei, SegmentLabel.BODY, find_label)
        firsts = [text.split()[0] for text, _ in labeled]
        yield from _match(name, _split_rows(raw, 33), labeled, firsts, block=7, font=9)


def read_passages(archive: Path) -> Documents:
    """Yield the annotated bodies of `fulltext`, by name; their `raw/` has one row per token."""

    def find_label(child: etree._Element, label: str) -> str:
        return label if label == Passage.FLOAT else _PASSAGES.get(etree.QName(child).localname, label)

    for name, raw, tei in read_pairs(archive, "corpus"):
        labeled = list_lines(tei, Passage.TEXT, find_label, separate=("p", "figure"))
        rows = [row for row in _split_rows(raw, 27) if row[11] == "LINESTART"]
        firsts = [_FIRST.match(text).group() for text, _ in labeled]  # type: ignore[union-attr]  # each labeled text begins with a word
        yield from _match(name, rows, labeled, firsts, block=10, font=13)


def _split_rows(raw: bytes, columns: int) -> list[list[str]]:
    return [row for x in raw.decode("utf-8", "replace").splitlines() if len(row := x.split(" ")) == columns]


def list_lines(
    tei: bytes,
    first: str,
    find_label: Callable[[etree._Element, str], str],
    *,
    root: str = "text",
    separate: Sequence[str] = (),
) -> list[tuple[str, str]]:
    """Return the lines below the first `root` with their labels. Elements in `separate` begin and end a line."""
    lines: list[tuple[str, str]] = []
    current: list[str] = []

    def end(label: str) -> None:
        if text := " ".join("".join(current).split()):
            lines.append((text, label))
        current.clear()

    def walk(element: etree._Element, label: str) -> None:
        current.append(element.text or "")
        for child in element:
            if isinstance(child.tag, str):
                name = etree.QName(child).localname
                inner = find_label(child, label)
                is_separate = name == "lb" or inner is not label or name in separate
                if is_separate:
                    end(label)
                if name != "lb":
                    walk(child, inner)
                    if is_separate:
                        end(inner)
            current.append(child.tail or "")

    if (found := next(read_xml(tei).iter(f"{{*}}{root}"), None)) is not None:
        walk(found, first)
        end(first)
    return lines


def _match(
    name: str, rows: list[list[str]], labeled: list[tuple[str, str]], firsts: list[str], *, block: int, font: int
) -> Documents:
    """Yield a document with the lines whose first words match in both files, if there are any."""
    lines: list[LineAttributes] = []
    labels: list[str] = []
    for run in SequenceMatcher(None, [row[0] for row in rows], firsts, autojunk=False).get_matching_blocks():
        for k in range(run.size):
            text, label = labeled[run.b + k]
            row = rows[run.a + k]
            lines.append(_read_attributes(text, row, row[8] == "PAGESTART", block=block, font=font))
            labels.append(str(label))
    if lines:
        yield name, lines, labels


def _read_attributes(text: str, row: list[str], is_page_start: bool, *, block: int, font: int) -> LineAttributes:
    """Return the attributes of a line; `block` and `font` are the columns of its block and its font in `raw/`."""
    size = {"HIGHERFONT": 1, "LOWERFONT": -1}.get(row[font + 1], 0)
    is_new = row[font] == "NEWFONT" or size != 0
    bold, italic = (row[font + at] == "1" for at in (2, 3))
    return LineAttributes(text, row[block] == "BLOCKSTART", is_page_start, is_new, size, bold, italic)


def read_headers(archive: Path) -> Documents:
    """Yield the annotated headers, by name."""
    for name, raw, tei in read_pairs(archive, "corpus", "evaluation"):
        if lines := _align(raw, tei):
            yield name, [line for line, _ in lines], [str(label) for _, label in lines]


def _align(raw: bytes, tei: bytes) -> list[tuple[LineAttributes, FrontLabel]]:
    """Return the lines of a header: typesetting facts from `raw`, text and labels from `tei`."""
    text, kinds = _label_characters(tei)
    tokens = [(m.group().casefold(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    rows = _split_rows(raw, 32)
    pieces = [(i, m.group().casefold()) for i, row in enumerate(rows) for m in _TOKEN.finditer(row[0])]
    places: dict[int, tuple[int, int]] = {}
    matcher = SequenceMatcher(None, [piece for _, piece in pieces], [token for token, _, _ in tokens], autojunk=False)
    for block in matcher.get_matching_blocks():
        for k in range(block.size):
            at_row, (_, start, end) = pieces[block.a + k][0], tokens[block.b + k]
            places[at_row] = (min(start, places.get(at_row, (start, end))[0]), end)
    found: list[tuple[LineAttributes, FrontLabel]] = []
    line: list[int] = []
    for i, row in enumerate(rows):
        line.append(i)
        if row[11] != "LINEEND" and i + 1 < len(rows) and rows[i + 1][11] != "LINESTART":
            continue
        at = [places[j] for j in line if j in places]
        first = rows[line[0]]
        line = []
        if not at:
            continue
        here = Counter(kind for start, end in at for kind in kinds[start:end])
        words = " ".join(text[at[0][0] : at[-1][1]].split())
        if len(words) > 600:  # a wrong alignment
            continue
        found.append((_read_attributes(words, first, not found, block=10, font=13), here.most_common(1)[0][0]))
    return found


def _label_characters(tei: bytes) -> tuple[str, list[FrontLabel]]:
    """Return the text of an annotated header and the label of each character."""

    def find_label(child: etree._Element, label: FrontLabel) -> FrontLabel:
        name = etree.QName(child).localname
        return _FRONT.get(child.get("type") or name, _FRONT.get(name, label))

    root = read_xml(tei)
    for line_break in root.iter("{*}lb"):
        line_break.text = " "
    texts = [found for front in root.iter("{*}front") for found in iterate_texts(front, FrontLabel.OTHER, find_label)]
    return "".join(text for text, _ in texts), [label for text, label in texts for _ in text]
