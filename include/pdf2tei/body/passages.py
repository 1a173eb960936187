"""Label the lines of the body with the body CRF: heads, text, floats, formulas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from pdf2tei.body.heads import ENDS_CLAUSE
from pdf2tei.models import segmentation
from pdf2tei.models.segmentation import LineAttributes
from pdf2tei.models.tagger import load_tagger
from pdf2tei.pages.model import Line

MODEL = Path(__file__).with_name("passages.crfsuite")
"""Trained by `python -m devtools.training passages` on GROBID's annotated documents (CC BY 4.0, see NOTICE.md)."""
_NUMBER = re.compile(r"\s*(\d{1,2}(?:\.\d{1,2}){0,3}|[IVX]{1,4}|[A-Z])[.)]?\s+[A-Z]")


class Passage(StrEnum):
    """The label of a line of the body."""

    HEAD = "head"
    TEXT = "text"
    FLOAT = "float"
    FORMULA = "formula"


def describe_lines(lines: Sequence[LineAttributes]) -> list[list[str]]:
    """Return the features of each line that the segmentation does not have."""
    numbers = [m.group(1) if (m := _NUMBER.match(x.text)) else "" for x in lines]
    known = set(numbers)
    out: list[list[str]] = []
    for i, line in enumerate(lines):
        words = len(line.text.split())
        ended = int(bool(ENDS_CLAUSE.search(lines[i - 1].text.rstrip()))) if i else 1
        own = [f"words={min(words, 12)}", f"ended={ended}"]
        if numbers[i]:
            own.append(f"numbered={int(_find_predecessor(numbers[i]) in known)}{numbers[i].count('.')}")
        after = lines[i + 1].new_font if i + 1 < len(lines) else True
        own.append(f"fonts={int(line.new_font)}{int(after)}|{int(line.bold)}|{min(words // 4, 3)}")
        own.append(f"at={int(line.block_start)}{ended}|{min(words // 4, 3)}")
        out.append(own)
    return out


def _find_predecessor(number: str) -> str:
    head, _, last = number.rpartition(".")
    if not last.isdigit():
        return chr(ord(last) - 1) if len(last) == 1 else ""
    if int(last) > 1:
        return f"{head}.{int(last) - 1}" if head else str(int(last) - 1)
    return head


def predict_heads(lines: Sequence[Line]) -> dict[int, float]:
    """Return the probability that each of the body's lines is a head, by the line's `id`."""
    if not lines:
        return {}
    model = load_tagger(MODEL)
    attributes = segmentation.read_attributes(lines)
    own, shown = segmentation.describe_lines(attributes, paged=False)
    own = [own + extra for own, extra in zip(own, describe_lines(attributes), strict=True)]
    probabilities = model.probabilities(model.score_items(own) + model.weigh_neighbors(shown, segmentation.NEIGHBORS))
    at = model.labels.index(Passage.HEAD)
    return {id(line): p for line, p in zip(lines, probabilities[:, at].tolist(), strict=True)}
