"""Starts of sentences in paragraphs of real papers, as marked by a human reader (`tests/data/sentences.json`).

A paragraph is the text of a `<p>` of the publisher's XML with single spaces. `apart` paragraphs were first read when
the rules were complete.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from devtools.real_data import REAL_DATA

ROOT = Path(__file__).resolve().parents[1]
_OUTSIDE = {"caption", "table-wrap", "fig", "boxed-text", "fn", "list-item", "disp-quote"}


@dataclass(frozen=True)
class Gold:
    """A paragraph, and the starts of its sentences that a reader marked."""

    text: str
    starts: list[int]
    apart: bool


@dataclass(frozen=True)
class Figures:
    """The agreement of a splitter with the gold."""

    sentences: int
    whole: float
    """share of the gold sentences that were found exactly"""


def gold() -> list[Gold]:
    """Return the marked paragraphs."""
    found = []
    for entry in json.loads((ROOT / "tests" / "data" / "sentences.json").read_text()):
        text = _paragraphs(REAL_DATA / entry["file"])[entry["paragraph"]]
        assert hashlib.sha256(text.encode()).hexdigest()[:12] == entry["sha256"], (
            f"{entry['file']}: another text than was read"
        )
        found.append(Gold(text, entry["starts"], entry["apart"]))
    return found


def measure(split: Callable[[str], list[int]], texts: list[Gold]) -> Figures:
    """Compare the sentence starts that `split` returns with the gold starts."""
    whole = 0
    for text in texts:
        both = (sorted(set(split(text.text))), text.starts)
        ours, theirs = ({*zip(starts, [*starts[1:], len(text.text)], strict=True)} for starts in both)
        whole += len(ours & theirs)
    number = sum(len(text.starts) for text in texts)
    return Figures(number, whole / number)


def _paragraphs(path: Path) -> list[str]:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    found = []
    for paragraph in etree.parse(str(path), parser).iterfind(".//body//p"):
        inside = {element.tag for element in paragraph.iterancestors()}
        if inside & _OUTSIDE or any(
            paragraph.find(f".//{tag}") is not None for tag in ("disp-formula", "fig", "table-wrap", "inline-formula")
        ):
            continue
        found.append(" ".join("".join(paragraph.itertext()).split()))
    return found
