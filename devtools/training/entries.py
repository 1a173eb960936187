"""Read GROBID's annotated reference lists (CC BY 4.0): `tei/` marks the starts of entries, `raw/` the indented lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path

from lxml import etree

from devtools.measure import print_scores
from pdf2tei.pages.model import Font, Line, Token
from pdf2tei.references.entries import BEGINS, INSIDE, LABEL, EntryLine
from pdf2tei.references.splitting import split_by_rules

from .lines import list_lines, read_pairs

_TOKEN = re.compile(r"\w+|[^\w\s]")
_FONT = Font("", 10.0)
_COLUMNS = 24
"""Minimum number of fields of a token in `raw/`."""
_FEW = 5
"""Minimum number of lines matched with their text; lists with fewer are not used."""


def read_lists(archive: Path) -> Iterator[tuple[str, list[EntryLine], list[str]]]:
    """Yield name, lines and labels of the annotated lists, by name."""
    for name, raw, tei in read_pairs(archive, "corpus", "evaluation"):
        found = _match(raw, tei)
        if len(found) >= _FEW and sum(begins for _, begins, _ in found) > 2:
            ruled = _apply_rules([(text, indented) for text, _, indented in found])
            rows = [EntryLine(text, indented, rule) for (text, _, indented), rule in zip(found, ruled, strict=True)]
            yield name, rows, [BEGINS if begins else INSIDE for _, begins, _ in found]


def _match(raw: bytes, tei: bytes) -> list[tuple[str, bool, bool]]:
    """Return text, whether an entry begins, and whether it is indented, for each line that both files contain."""
    lines = _list_lines(tei)
    set_in: list[bool] = []
    texts: list[str] = []
    for row in (x.split(" ") for x in raw.decode("utf-8", "replace").splitlines()):
        if len(row) < _COLUMNS:
            continue
        if row[10] == "LINESTART" or not texts:
            set_in.append(row[11] == "LINEINDENT")
            texts.append("")
        texts[-1] += row[0]
    keys = ["".join(_TOKEN.findall(text))[:12] for text, _ in lines]
    matcher = SequenceMatcher(None, [text[:12] for text in texts], keys, autojunk=False)
    return [
        (*lines[block.b + k], set_in[block.a + k]) for block in matcher.get_matching_blocks() for k in range(block.size)
    ]


def _list_lines(tei: bytes) -> list[tuple[str, bool]]:
    """Return the lines of an annotated list, and whether an entry begins with each."""

    def find_label(child: etree._Element, label: str) -> str:
        return child.getroottree().getpath(child) if etree.QName(child).localname == "bibl" else label

    labeled = list_lines(tei, "", find_label, root="listBibl")
    if labeled and not labeled[-1][1]:  # text after the last entry
        labeled.pop()
    return [(text, label not in ("", before)) for (_, before), (text, label) in pairwise([("", ""), *labeled])]


def _apply_rules(found: Sequence[tuple[str, bool]]) -> list[bool]:
    """Return which lines begin an entry by the rules.

    The positions of the lines are simulated, because the data contain only their indentation."""
    lines: list[Line] = []
    for i, (text, indented) in enumerate(found):
        at = 12.0 if indented else 0.0
        tokens: list[Token] = []
        for word in text.split():
            tokens.append(Token(word, at, 12.0 * i, at + 5 * len(word), 12.0 * i + 10, _FONT, bool(tokens)))
            at += 5 * len(word) + 3
        lines.append(Line(tokens, 1, 1))
    begins = {id(group[0]) for group in split_by_rules(lines)}
    return [id(line) in begins for line in lines]


def measure(documents: Sequence[tuple[list[EntryLine], list[str], list[str]]]) -> None:
    """Print the complete entries by the model and by the rules, in lists with and without labels.

    A document has its lines, the right labels and the model's labels.
    """
    right, found_spans, gold_spans = Counter[str](), Counter[str](), Counter[str]()
    for rows, labels, found in documents:
        has_labels = 2 * sum(LABEL.match(row.text) is not None for row in rows) > labels.count(BEGINS)
        kind = "with labels" if has_labels else "without labels"
        gold = _find_spans([label == BEGINS for label in labels])
        for way, begins in (("model", [x == BEGINS for x in found]), ("rules", [row.ruled for row in rows])):
            ours = _find_spans(begins)
            for counts, spans in ((right, gold & ours), (found_spans, ours), (gold_spans, gold)):
                counts[f"{kind}, {way}"] += len(spans)
    print_scores(right, found_spans, gold_spans)


def _find_spans(begins: Sequence[bool]) -> set[tuple[int, int]]:
    at = [i for i, x in enumerate(begins) if x]
    return set(zip(at, [*at[1:], len(begins)], strict=True))
