"""Mask personal data in a text, a paragraph or a complete parse (`clean.pii: mask`). Span offsets are updated.

It masks every occurrence that `personal` finds. The masks are the strings that Dolma uses (Soldaini et al.,
arXiv:2402.00159, §4.1.3).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any

from s2corpus.text.personal import MASKS, find_personal_data

Json = dict[str, Any]
_SPANS = ("cite_spans", "unlinked_spans", "ref_spans", "eq_spans")
_ENTRY_FIELDS = ("title", "venue", "raw_text")
"""text fields of a bibliography entry"""


class MaskedText:
    """A text with masked personal data and the mapping of old offsets to new offsets."""

    def __init__(self, text: str) -> None:
        found = find_personal_data(text)
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

    def map_range(self, start: int, end: int) -> tuple[int, int]:
        """Return the new offsets of a range. A range that begins or ends within masked text includes the complete mask."""
        return self._map_offset(start, end=False), self._map_offset(end, end=True)

    def _map_offset(self, at: int, *, end: bool) -> int:
        # An end offset equal to the start of masked data belongs to the text before it.
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
            start, end = self.map_range(span["start"], span["end"])
            found.append({**span, "start": start, "end": end, "text": self.text[start:end]})
        return found


def mask_text(text: str) -> str:
    """Return the text with personal data masked."""
    return MaskedText(text).text


def mask_parse(parse: Mapping[str, Any]) -> Json:
    """Return a parse (published schema) with masks in its paragraphs, captions, tables and bibliography.

    `text[start:end] == span.text` remains true for every span.
    """
    found = {**parse}
    for part in ("abstract", "body_text", "back_matter"):
        if part in parse:
            found[part] = [_mask_spanned(paragraph) for paragraph in parse[part]]
    found["bib_entries"] = {
        key: {**entry, **{name: mask_text(entry[name]) for name in _ENTRY_FIELDS if entry.get(name)}}
        for key, entry in parse["bib_entries"].items()
    }
    found["ref_entries"] = {key: _ref_entry(entry) for key, entry in parse["ref_entries"].items()}
    for name in ("title", "article"):
        if name in parse:
            found[name] = _mask_strings(parse[name])
    return found


def _mask_spanned(value: Mapping[str, Any]) -> Json:
    """Return a paragraph or an entry with masked `text` and updated spans."""
    masked_text = MaskedText(value["text"])
    found = {**value, "text": masked_text.text}
    if masked_text.text != value["text"]:
        found |= {name: masked_text.spans(value[name]) for name in _SPANS if name in value}
    return found


def _ref_entry(entry: Mapping[str, Any]) -> Json:
    found = _mask_spanned(entry)
    if entry.get("html"):
        found["html"] = mask_text(entry["html"])
    if entry.get("cells"):
        cells = [[MaskedText(cell) for cell in row] for row in entry["cells"]]
        found["cells"] = [[cell.text for cell in row] for row in cells]
        if "cell_cite_spans" in entry:
            found["cell_cite_spans"] = [
                moved for span in entry["cell_cite_spans"] for moved in cells[span["row"]][span["column"]].spans([span])
            ]
    return found


def _mask_strings(value: Any) -> Any:
    """Return a JSON value with every string in it masked."""
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, list):
        return [_mask_strings(item) for item in value]
    if isinstance(value, dict):
        return {key: _mask_strings(item) for key, item in value.items()}
    return value
