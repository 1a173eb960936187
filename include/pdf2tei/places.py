"""Find the place of each printed line in the TEI: no line may be lost, and no word may be added."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

from pdf2tei.pages.health import Defect
from pdf2tei.pages.model import Kind, Line
from pdf2tei.pages.text import clean

_NOT_USED = {
    Kind.FURNITURE: "not used: page furniture", Kind.FIGURE: "not used: text in a figure",
    Kind.FRONT: "not used: imprint", Kind.LABEL: "not used: name of a field",
}  # fmt: skip
LOST = "lost"
_BODY = ("{*}text/{*}body/{*}div/*", "{*}text/{*}back/{*}div/{*}div/*")
PATHS = {
    Kind.BODY: _BODY, Kind.FORMULA: _BODY, Kind.NOTE: (".//{*}body/{*}note",), Kind.ABSTRACT: (".//{*}profileDesc/{*}abstract/*",),
    Kind.CAPTION: (".//{*}figure",), Kind.TABLE: (".//{*}figure//{*}cell", ".//{*}figure/{*}note"),
    Kind.REFERENCE: (".//{*}listBibl/{*}biblStruct",),
}  # fmt: skip
_CHILDREN = {Kind.CAPTION: ("head", "figDesc"), Kind.REFERENCE: ("note",)}
"""Children that contain the printed text; other parts are read completely."""
FIELDS = {
    "title": ".//{*}titleStmt/{*}title", "authors": ".//{*}persName", "e-mail address": ".//{*}analytic//{*}email",
    "affiliations": ".//{*}affiliation", "keywords": ".//{*}keywords",
}  # fmt: skip


class PlacedLine(NamedTuple):
    """A printed line with its place in the TEI: a part, `not used` with a reason, or `lost`."""

    page: int
    place: str
    text: str


def place_lines(lines: list[Line], tei: bytes) -> list[PlacedLine]:
    """Return the place of each line, if its text contains the line's letters, and a row for each page that was left out."""
    root = etree.fromstring(tei)
    parts = {kind: "".join(fold_letters(text) for text in list_texts(root, kind)) for kind in PATHS}
    fields = {name: _fold_words(" ".join(map(read_text, root.iterfind(path)))) for name, path in FIELDS.items()}
    seen = Counter[tuple[str, str]]()
    out: list[PlacedLine] = []
    for line in lines:
        place, letters = str(line.kind), fold_letters(line.text)
        seen[place, letters] += 1
        if line.kind is Kind.FRONT:
            words = _fold_words(line.text)
            named = (name for name, known in fields.items() if words and len(words & known) >= 0.6 * len(words))
            place = next(named, _NOT_USED[Kind.FRONT])
        elif line.kind in _NOT_USED:
            place = _NOT_USED[line.kind]
        elif parts[line.kind].count(letters) < (seen[place, letters] if letters else 0):
            place = LOST
        out.append(PlacedLine(line.page, place, line.text))
    large = root.findall(f".//{{*}}measure[@unit='pages'][@type='{Defect.TOO_LARGE.value}']")
    pages = [page for measure in large for page in measure.get("n", "").split()]
    out += [PlacedLine(int(page), "not used: page above a limit", "") for page in pages]
    return sorted(out, key=lambda row: row.page)


def fold_letters(text: str) -> str:
    """Return the letters and digits of a text without accents and case."""
    plain = unicodedata.normalize("NFKD", clean(text)).casefold()
    return "".join(c for c in plain if c.isalnum() and unicodedata.category(c) not in ("Lm", "No"))


def _fold_words(text: str) -> set[str]:
    return {folded for word in text.split() if len(folded := fold_letters(word)) > 1}


def list_texts(root: etree._Element, kind: Kind) -> Iterator[str]:
    """Yield the texts of a part. The printed numbers of heads and entries are attributes."""
    for path in PATHS[kind]:
        for element in root.iterfind(path):
            texts = [element.findtext(f"{{*}}{name}", "") for name in _CHILDREN.get(kind, ())] or [read_text(element)]
            yield " ".join([element.get("n", ""), *texts])


def read_text(element: etree._Element) -> str:
    """Return the text of an element with spaces between its parts."""
    return " ".join(map(str, element.itertext()))
