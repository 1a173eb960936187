"""Find and mask personal data in a text: e-mail addresses, phone numbers and IP addresses (`clean.pii: mask`).

Regular expressions find candidates. Libraries validate them: email-validator (syntax, no special-use domain), phonenumbers (a number
that its country can assign; only numbers with `+` and a country code), ipaddress (a global address). Four numbers below 32 with
points between them are considered a section number (3.2.1.4). One or two numbers with `::` are considered the name of a gene construct
(`syd-2::GFP`). Masks are the strings that Dolma uses (Soldaini et al., arXiv:2402.00159, §4.1.3). Span offsets are updated.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Literal

import email_validator
import phonenumbers

Json = dict[str, Any]
_SPANS = ("cite_spans", "unlinked_spans", "ref_spans", "eq_spans")
_ENTRY_FIELDS = ("title", "venue", "raw_text")
"""text fields of a bibliography entry"""
MASKS = {
    "num_emails": "|||EMAIL_ADDRESS|||",
    "num_phone_numbers": "|||PHONE_NUMBER|||",
    "num_ip_addresses": "|||IP_ADDRESS|||",
}
"""kind → text that replaces the masked place"""
NAMES = tuple(MASKS)
"""names of the counts; they count occurrences, not distinct values"""

_LOCAL = re.compile(r"[A-Za-z0-9._%+-]{1,64}\Z")
_DOMAIN = re.compile(r"[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}")
_PHONE = re.compile(r"\+[\d(][\d ().\-/\u2010\u2011\u2013\xa0]{6,24}")
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?!\w|\.\d)")
_COLONS = re.compile(r":[0-9A-Fa-f]{0,4}:")
_IPV6 = re.compile(r"(?<![\w:])[0-9A-Fa-f:]{2,39}(?![\w:])")
_MAX_SECTION_NUMBER = 32
_MIN_IPV6_GROUPS = 3


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A place in a text: code points from `start` to `end`."""

    start: int
    end: int
    kind: Literal["num_emails", "num_phone_numbers", "num_ip_addresses"]


def find_personal_data(text: str) -> list[TextSpan]:
    """Return all occurrences in order, without overlaps."""
    found: list[TextSpan] = []
    for place in sorted((*_emails(text), *_phones(text), *_ip_addresses(text)), key=lambda p: (p.start, -p.end)):
        if not found or found[-1].end <= place.start:
            found.append(place)
    return found


def count_personal_data(text: str) -> dict[str, int]:
    """Return the number of occurrences of each kind in `NAMES`, including masked ones."""
    kinds = [place.kind for place in find_personal_data(text)]
    return {name: sum(kind == name for kind in kinds) + text.count(MASKS[name]) for name in NAMES}


def _emails(text: str) -> Iterator[TextSpan]:
    at = text.find("@")
    while at >= 0:
        local = _LOCAL.search(text, max(0, at - 64), at)
        domain = _DOMAIN.match(text, at + 1)
        if local and domain:
            try:
                email_validator.validate_email(text[local.start() : domain.end()], check_deliverability=False)
                yield TextSpan(local.start(), domain.end(), "num_emails")
            except email_validator.EmailNotValidError:
                pass
        at = text.find("@", at + 1)


def _phones(text: str) -> Iterator[TextSpan]:
    for candidate in _PHONE.finditer(text):
        for match in phonenumbers.PhoneNumberMatcher(candidate.group(), None):
            yield TextSpan(candidate.start(), candidate.start() + match.end, "num_phone_numbers")


def _ip_addresses(text: str) -> Iterator[TextSpan]:
    for candidate in _IPV4.finditer(text):
        if max(map(int, candidate.group().split("."))) >= _MAX_SECTION_NUMBER and _is_global(candidate.group()):
            yield TextSpan(*candidate.span(), "num_ip_addresses")
    end_of_last = 0
    for colons in _COLONS.finditer(text):
        if colons.start() >= end_of_last:
            matches = _IPV6.finditer(text, max(0, colons.start() - 4), colons.start() + 39)
            match = next((m for m in matches if m.end() > colons.start()), None)
            groups = match.group().replace("::", ":").strip(":").count(":") + 1 if match else 0
            if match and groups >= _MIN_IPV6_GROUPS and _is_global(match.group()):
                end_of_last = match.end()
                yield TextSpan(*match.span(), "num_ip_addresses")


def _is_global(text: str) -> bool:
    try:
        return ip_address(text).is_global
    except ValueError:
        return False


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
