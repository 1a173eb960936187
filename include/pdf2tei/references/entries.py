"""Find the lines of a reference list that begin an entry, with a CRF, if the list has no labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pdf2tei.models.segmentation import YEAR, score_as_reference
from pdf2tei.models.tagger import load_tagger
from pdf2tei.words import read_pattern

MODEL = Path(__file__).with_name("entries.crfsuite")
"""Trained by `python -m devtools.training entries` on GROBID's annotated reference lists (CC BY 4.0, see NOTICE.md)."""
BEGINS, INSIDE = "B", "I"

LABEL = read_pattern("entries", "label", re.NOFLAG)
AUTHOR = read_pattern("entries", "author", re.NOFLAG)
_ENDS = re.compile(r"(?:[.)\]”\"’]|\d|[a-z]/|\.\w{2,4}|[\w/-]{12})$")
_DIGIT = re.compile(r"\d")


def may_end(text: str) -> bool:
    """Return whether an entry may end here."""
    return _ENDS.search(text.rstrip()[-12:]) is not None


@dataclass(frozen=True, slots=True)
class EntryLine:
    """A line of a reference list, with the attributes that are available in GROBID's training data and in our documents."""

    text: str
    indented: bool
    ruled: bool
    """Whether the rules begin an entry at this line."""


def features(rows: Sequence[EntryLine]) -> list[list[str]]:
    """Return the feature names of each line and its neighbors."""
    n = len(rows)
    marks = [LABEL.match(row.text) for row in rows]
    numbers = [int(next((x for x in m.groups()[:4] if x), -1)) if m else -1 for m in marks]
    full = max(sorted(len(row.text) for row in rows)[int(0.8 * n)] if n else 1, 1)
    indented = round(4 * sum(row.indented for row in rows) / max(n, 1))
    labeled = round(6 * sum(number >= 0 for number in numbers) / max(n, 1))
    base: list[list[str]] = []
    joint_features: list[tuple[str, str, str, str]] = []
    for i, row in enumerate(rows):
        text, number = row.text, numbers[i]
        run = number >= 0 and (number - 1 in numbers[max(0, i - 8) : i]) + (number + 1 in numbers[i + 1 : i + 9])
        author, ends = f"author={int(bool(AUTHOR.match(text)))}", f"end={int(may_end(text))}"
        dated, set_in = f"dated={int(bool(YEAR.search(text)))}", f"in={int(row.indented)}"
        joint_features.append((author, ends, dated, set_in))
        first = "A" if text[:1].isupper() else "a" if text[:1].islower() else "-" if text[:1] in "-—–" else "0"
        base.append([
            set_in, f"{set_in}|{indented}", f"run={int(run)}|{labeled}", f"label={int(marks[i] is not None)}|{labeled}", author, ends,
            dated, f"first={first}", f"len={min(5 * len(text) // full, 6)}", f"reads={score_as_reference(text)}", f"ruled={int(row.ruled)}",
            "w=" + _DIGIT.sub("#", text.split()[0].casefold() if text.strip() else "")[:6],
        ])  # fmt: skip
    out = [list(own) for own in base]
    for i, item in enumerate(out):
        for d in (-2, -1, 1):
            item += [f"{d}{name}" for name in base[i + d]] if 0 <= i + d < n else [f"{d}END"]
        if i:
            (_, ended, dated, _), (author, _, _, set_in) = joint_features[i - 1], joint_features[i]
            item += [f"{ended}|{author}|{dated}", f"{ended}|{author}|{set_in}"]
    return out


def predict_starts(rows: Sequence[EntryLine]) -> list[bool]:
    """Return for each line whether it begins an entry; the first line always does."""
    model = load_tagger(MODEL)
    return [i == 0 or x == BEGINS for i, x in enumerate(model.tag(model.score_items(features(rows))))]
