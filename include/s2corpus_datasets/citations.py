"""Find the sentences of a paragraph, and the citation marks in them with their brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from s2corpus_datasets.sentences import FORMULA, sentence_spans

_SEPARATORS = re.compile(r"[\s,;&–—‐-]*(?:\band\b)?[\s,;&–—‐-]*")
_BRACKETS = {"(": ")", "[": "]"}
_FORMULA = re.compile(rf"^(?:{FORMULA}\s*)+|\s*{FORMULA}")
"""tokens of display formulas, with the white space that their removal would leave"""


@dataclass(frozen=True, slots=True)
class CitationMark:
    """A citation mark: `text[start:end]` with its brackets, and the entries that it names."""

    start: int
    end: int
    ref_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a paragraph and the citation marks in it."""

    start: int
    end: int
    marks: tuple[CitationMark, ...]


def find_citation_marks(paragraph: Mapping[str, Any]) -> list[CitationMark]:
    """Return the citation marks of a paragraph, in order.

    Adjacent spans, with only separators between them, form one mark. A mark includes the brackets directly around it. A span without
    entry is a mark too.
    """
    text = paragraph["text"]
    spans = sorted(
        {
            (span["start"], span["end"], span.get("ref_id"))
            for span in (*paragraph["cite_spans"], *paragraph.get("unlinked_spans", ()))
            if span["start"] < span["end"]
        },
        key=lambda span: (span[0], span[1], span[2] or ""),
    )
    found: list[CitationMark] = []
    for start, end, ref_id in spans:
        refs = (ref_id,) if ref_id else ()
        start, end = _include_brackets(text, start, end)
        if found and (start <= found[-1].end or _SEPARATORS.fullmatch(text, found[-1].end, start)):
            last = found[-1]
            joined = _include_brackets(text, min(start, last.start), max(end, last.end))
            found[-1] = CitationMark(*joined, tuple(dict.fromkeys((*last.ref_ids, *refs))))
        else:
            found.append(CitationMark(start, end, refs))
    return found


def cited_sentences(paragraph: Mapping[str, Any]) -> Iterator[Sentence]:
    """Yield the sentences of a paragraph with their citation marks. A mark belongs to the sentence in which it starts."""
    remaining = find_citation_marks(paragraph)
    for start, end in sentence_spans(paragraph["text"]):
        marks = []
        while remaining and remaining[0].start < end:
            marks.append(remaining.pop(0))
        yield Sentence(start, end, tuple(marks))


def remove_formulas(text: str) -> str:
    """Return a text without the tokens of display formulas."""
    return _FORMULA.sub("", text)


def remove_formulas_outside_mark(text: str, start: int, end: int) -> tuple[str, int, int]:
    """Return a sentence without the tokens of display formulas, and the offsets of its citation mark `text[start:end]`.

    Formulas in the mark remain.
    """
    parts, at, removed = [], 0, 0
    for match in _FORMULA.finditer(text):
        if match.start() < end and match.end() > start:
            continue
        parts.append(text[at : match.start()])
        at = match.end()
        if at <= start:
            removed += at - match.start()
    return "".join([*parts, text[at:]]), start - removed, end - removed


def _include_brackets(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span including the brackets directly around it, if both exist."""
    before, after = start, end
    while before and text[before - 1] == " ":
        before -= 1
    while after < len(text) and text[after] == " ":
        after += 1
    if before and after < len(text) and _BRACKETS.get(text[before - 1]) == text[after]:
        return before - 1, after + 1
    return start, end
