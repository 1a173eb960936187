"""Mask personal data in a text, a paragraph or a complete parse (`clean.pii: mask`). Span offsets are updated.

The masked places are the places that `personal` counts. The masks are the strings that Dolma uses (Soldaini et al.,
arXiv:2402.00159, §4.1.3).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any

from s2corpus.text.personal import MASKS, places

Json = dict[str, Any]
_SPANS = ("cite_spans", "unlinked_spans", "ref_spans", "eq_spans")
_OF_ENTRY = ("title", "venue", "raw_text")
"""text fields of a bibliography entry"""


class Masked:
    """A text with masked personal data and the mapping of old offsets to new offsets."""

    def __init__(self, text: str) -> None:
        found = places(text)
        parts: list[str] = []
        self._places: list[tuple[int, int, int, int]] = []
        at = length = 0
        for place in found:
            mask = MASKS[place.kind]
            parts += (text[at : place.start], mask)
            start = length + place.start - at
            length = start + len(mask)
            at = place.end
            self._places.append((place.start, place.end, start, length))
        self.text = "".join([*parts, text[at:]]) if parts else text
        self._starts = [place[0] for place in self._places]

    def moved(self, start: int, end: int) -> tuple[int, int]:
        """Return the new offsets of a range. A range that begins or ends within masked text includes the complete mask."""
        return self._moved(start, end=False), self._moved(end, end=True)

    def _moved(self, at: int, *, end: bool) -> int:
        number = bisect_right(self._starts, at - end) - 1
        if number < 0:
            return at
        _, before_end, start, after_end = self._places[number]
        if at < before_end or (end and at == before_end):
            return after_end if end else start
        return at - before_end + after_end

    def spans(self, spans: Iterable[Mapping[str, Any]]) -> list[Json]:
        """Return the spans (`start`, `end`, `text`, …) with new offsets and new text."""
        found = []
        for span in spans:
            start, end = self.moved(span["start"], span["end"])
            found.append({**span, "start": start, "end": end, "text": self.text[start:end]})
        return found


def masked(text: str) -> str:
    """Return the text with personal data masked."""
    return Masked(text).text


def masked_parse(parse: Mapping[str, Any]) -> Json:
    """Return a parse (published schema) with masks in its paragraphs, captions, tables and bibliography.

    `text[start:end] == span.text` remains true for every span.
    """
    found = {**parse}
    for part in ("abstract", "body_text", "back_matter"):
        if part in parse:
            found[part] = [_spanned(paragraph) for paragraph in parse[part]]
    found["bib_entries"] = {
        key: {**entry, **{name: masked(entry[name]) for name in _OF_ENTRY if entry.get(name)}}
        for key, entry in parse["bib_entries"].items()
    }
    found["ref_entries"] = {key: _ref_entry(entry) for key, entry in parse["ref_entries"].items()}
    for name in ("title", "article"):
        if name in parse:
            found[name] = _everywhere(parse[name])
    return found


def _spanned(value: Mapping[str, Any]) -> Json:
    """Return a paragraph or an entry with masked `text` and updated spans."""
    masked_text = Masked(value["text"])
    found = {**value, "text": masked_text.text}
    if masked_text.text != value["text"]:
        found |= {name: masked_text.spans(value[name]) for name in _SPANS if name in value}
    return found


def _ref_entry(entry: Mapping[str, Any]) -> Json:
    found = _spanned(entry)
    if entry.get("html"):
        found["html"] = masked(entry["html"])
    if entry.get("cells"):
        cells = [[Masked(cell) for cell in row] for row in entry["cells"]]
        found["cells"] = [[cell.text for cell in row] for row in cells]
        if "cell_cite_spans" in entry:
            found["cell_cite_spans"] = [
                moved for span in entry["cell_cite_spans"] for moved in cells[span["row"]][span["column"]].spans([span])
            ]
    return found


def _everywhere(value: Any) -> Any:
    """Return a JSON value with every string in it masked."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, list):
        return [_everywhere(item) for item in value]
    if isinstance(value, dict):
        return {key: _everywhere(item) for key, item in value.items()}
    return value
