"""Label each line of a paper's front with the header CRF: title, authors, affiliation, abstract, keywords or other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pdf2tei.front.authors import PARTICLES, affiliation_words
from pdf2tei.models.segmentation import LineAttributes, read_attributes
from pdf2tei.models.tagger import load_tagger
from pdf2tei.pages.model import Line
from pdf2tei.words import read_pattern, read_words

MODEL = Path(__file__).with_name("front.crfsuite")
"""Trained by `python -m devtools.training front` on GROBID's annotated headers (CC BY 4.0, see NOTICE.md)."""
MAX_LINES = 400
_SHARED = tuple(sorted(read_words("front_lines", "shared")))
"""Prefixes of the features that are also used for the neighbors of a line."""

_WORD = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+")
_PIECE = re.compile(r"\s*(?:[,;·•|&，；]|\band\b|\d+|[*†‡§¶∗⋆#])\s*", re.I)
_NAME = read_pattern("front_lines", "name", re.NOFLAG)
_ABSTRACT = re.compile(r"\s*(?:a\s?b\s?s\s?t\s?r\s?a\s?c\s?t|summary|zusammenfassung|résumé|resumen)\b", re.I)
_KEYWORDS = re.compile(r"\s*(?:key\s?-?\s?words?|index terms|mots[\s-]cl|schl)", re.I)
_SECTION = read_pattern("front_lines", "section")
_IMPRINT = read_pattern("front_lines", "imprint", re.NOFLAG)  # patterns for lowercase text


class FrontLabel(StrEnum):
    """The label of a line of the front."""

    TITLE = "title"
    AUTHOR = "author"
    AFFILIATION = "affiliation"
    ABSTRACT = "abstract"
    KEYWORDS = "keywords"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class LineLabel:
    """A line's most probable label in its sequence, and the probability of each label."""

    label: FrontLabel
    probabilities: dict[str, float]


@dataclass(frozen=True, slots=True)
class Front:
    """The front's lines in reading order, with the labels of the header CRF."""

    lines: list[Line]
    line_labels: dict[int, LineLabel]

    def label(self, line: Line) -> FrontLabel | None:
        """Return a line's label; None if the line is not in the front."""
        found = self.line_labels.get(id(line))
        return found.label if found else None

    def probability(self, line: Line, label: FrontLabel) -> float:
        """Return the probability of a label for a line."""
        found = self.line_labels.get(id(line))
        return found.probabilities[label] if found else 0.0


def features(lines: Sequence[LineAttributes]) -> list[list[str]]:
    """Return the feature names of each line and its neighbors."""
    n = len(lines)
    base: list[list[str]] = []
    level = 0
    for i, line in enumerate(lines):
        text = line.text.strip()
        words = _WORD.findall(text)
        visible = max(sum(not c.isspace() for c in text), 1)
        pieces = [p for p in _PIECE.split(text) if p.strip(" .")]
        names = sum(bool(_NAME.fullmatch(p.strip(" .()"))) for p in pieces)
        level += line.size
        lower = [w.casefold() for w in words]
        capital = sum(w[0].isupper() for w in words)
        item = [
            f"font={int(line.new_font)}{line.size}",
            f"level={max(-2, min(level, 3))}",
            f"style={int(line.bold)}{int(line.italic)}",
            f"block={int(line.block_start)}{int(i + 1 == n or lines[i + 1].block_start)}",
            f"len={min(int(len(text) / 12), 9)}",
            f"names={min(names, 4)}",
            f"share={round(3 * names / max(len(pieces), 1))}",
            f"digits={round(5 * sum(c.isdigit() for c in text) / visible)}",
            f"capitals={round(4 * capital / max(len(words), 1))}",
            f"small={min(sum(w[0].islower() and w not in PARTICLES for w in words), 5)}",
            f"commas={min(text.count(',') + text.count(';'), 4)}",
            f"end={text[-1:] if text[-1:] in '.,;:-)*' else 'x'}",
            f"at={min(i // 2, 9)}",
            "w1=" + (_DIGITS.sub("#", text.split()[0].casefold())[:12] if text else ""),
            f"affiliation={min(affiliation_words(text), 3)}",
            f"paperwork={min(len(_IMPRINT.findall(text.lower())), 2)}",
        ]
        for name, pattern in (("abstract", _ABSTRACT), ("keywords", _KEYWORDS), ("section", _SECTION)):
            if pattern.match(text):
                item.append(name)
        if "@" in text:
            item.append("@")
        if text.isupper():
            item.append("upper")
        if text[:1].islower():
            item.append("lower")
        if re.match(r"\s*(?:[\d*†‡§]|\([a-z\d]\)|[a-z]\s)", text):
            item.append("mark")
        item += sorted({f"has={w}" for w in lower if len(w) > 2})[:12]
        base.append(item)
    out: list[list[str]] = []
    shared = [[name for name in item if name.startswith(_SHARED)] for item in base]
    for i, item in enumerate(base):
        wide = list(item)
        for d in (-2, -1, 1, 2):
            if 0 <= i + d < n:
                wide += [f"{d}{name}" for name in shared[i + d]]
            else:
                wide.append(f"{d}END")
        font, _, _, _, length, name_count, name_share, _, _, small, *_ = item
        affiliation = item[14]
        wide += [f"{font}|{name_count}", f"{font}|{length}"]
        wide += [f"{name_share}|{affiliation}", f"{small}|{affiliation}|{name_count}"]
        out.append(wide)
    return out


def label_front(lines: Sequence[Line]) -> list[LineLabel]:
    """Return the label of each line of a front, in reading order."""
    lines = lines[:MAX_LINES]
    if not lines:
        return []
    model = load_tagger(MODEL)
    scores = model.score_items(features(read_attributes(lines)))
    probabilities = model.probabilities(scores).tolist()
    return [
        LineLabel(FrontLabel(label), dict(zip(model.labels, row, strict=True)))
        for label, row in zip(model.tag(scores), probabilities, strict=True)
    ]
