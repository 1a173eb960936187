"""Convert marked citations to citation spans, and expand ranges."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from s2orc_parse.parse_model import BibEntry, CiteSpan
from s2orc_parse.tei.drafts import TextDraft

MAX_RANGE = 100  # SPEC §3.13: a wider range is not a citation
_DASH = "‐‑‒–—−-"
_BETWEEN = re.compile(rf"[\s\])]*[{_DASH}]{{1,2}}[\s\[(]*")
_RANGE = re.compile(rf"[\s\[(]*(\d{{1,4}})\s*[{_DASH}]{{1,2}}\s*(\d{{1,4}})[\s\])]*")
_NUMBER = re.compile(r"[\s\[(]*(\d{1,4})[\s\]).,;]*")


class JatsCitationLinker:
    """Creates the citation spans of all texts of one paper."""

    def __init__(self, entries: Sequence[BibEntry], ids: Mapping[str, tuple[str, ...]]) -> None:
        self._keys = [entry.key for entry in entries]
        self._ids = ids
        self._positions = {key: at for at, key in enumerate(self._keys)}

    def find_citations(self, draft: TextDraft) -> tuple[CiteSpan, ...]:
        """Return the distinct citation spans of one text in order.

        A range `[3]–[5]` whose ends are linked also cites the entries between them. Those spans cover the text of the
        range.
        """
        found: dict[tuple[int, int, str], None] = {}
        last: tuple[int, int, str] | None = None  # start, end and last entry of the previous citation
        for mark in draft.marks:
            keys = list(dict.fromkeys(key for target in mark.targets for key in self._ids.get(target, ())))
            if not keys:
                last = None
                continue
            surface = draft.text[mark.start : mark.end]
            if len(keys) == 1 and (match := _RANGE.fullmatch(surface)):
                keys = self._printed_range(keys[0], int(match.group(1)), int(match.group(2)))
            if last is not None and _BETWEEN.fullmatch(draft.text, last[1], mark.start):
                for key in self._between(draft.text[last[0] : last[1]], last[2], surface, keys[0]):
                    found[last[0], mark.end, key] = None
            for key in keys:
                found[mark.start, mark.end, key] = None
            last = (mark.start, mark.end, keys[-1])
        ordered = sorted(found, key=lambda span: (span[0], span[1], self._positions[span[2]]))
        return tuple(CiteSpan(start, end, draft.text[start:end], key) for start, end, key in ordered)

    def _between(self, first: str, left: str, last: str, right: str) -> list[str]:
        """Return the keys between two numbered entries if printed numbers and positions of the entries agree."""
        a, b = _NUMBER.fullmatch(first), _NUMBER.fullmatch(last)
        low, high = self._positions[left], self._positions[right]
        if a is None or b is None or not 0 < high - low <= MAX_RANGE:
            return []
        if int(b.group(1)) - int(a.group(1)) != high - low:
            return []
        return self._keys[low + 1 : high]

    def _printed_range(self, key: str, first: int, last: int) -> list[str]:
        """Return the keys of a range that is one citation (`3–5`) and is linked only to its first or last entry."""
        at = self._positions[key]
        if not 0 < last - first <= MAX_RANGE:
            return [key]
        if at + 1 == last and at - (last - first) >= 0:
            at -= last - first
        elif at + 1 != first or at + last - first >= len(self._keys):
            return [key]
        return self._keys[at : at + last - first + 1]
