"""Mark field values with private-use characters, which show the position of each field after rendering."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pdf2tei.references.crf import TokenLabel
from pdf2tei.references.tokens import Piece, pieces

_OPEN = 0xE100
_CLOSE = 0xE200
MARKED: list[TokenLabel] = [label for label in TokenLabel if label is not TokenLabel.OTHER]
_NAMES = (TokenLabel.AUTHOR, TokenLabel.EDITOR)
SURNAME_ENDS = "".join(chr(_CLOSE + MARKED.index(label)) for label in _NAMES)
"""The characters that end a surname."""
_YEAR = re.compile(r"(?<!\d)(?:1[89]|20)\d\d[a-z]?(?!\d)")
_MONTHS = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|janvier|mars|juin|juillet)\b\.?"
)


@dataclass(slots=True)
class LabeledString:
    """A reference string with a label for every token."""

    raw: str
    labels: list[TokenLabel]


def mark(kind: TokenLabel, text: str) -> str:
    """Return a field's value between its marks; an empty value remains empty."""
    i = MARKED.index(kind)
    return f"{chr(_OPEN + i)}{text}{chr(_CLOSE + i)}" if text else ""


def labeled(string: str) -> LabeledString | None:
    """Return a marked string as tokens with labels, or None if its fields cannot be separated."""
    chars: list[str] = []
    kinds: list[TokenLabel | None] = []
    current: TokenLabel | None = None
    for c in string:
        code = ord(c)
        if _OPEN <= code < _OPEN + len(MARKED):
            current = MARKED[code - _OPEN]
        elif _CLOSE <= code < _CLOSE + len(MARKED):
            current = None
        else:
            if current is TokenLabel.PAGES and not (c.isalnum() or c in "-–. "):
                current = None
            chars.append(c)
            kinds.append(current)
    raw = "".join(chars)
    for match in _YEAR.finditer(raw):
        if all(k is None for k in kinds[match.start() : match.end()]):
            kinds[match.start() : match.end()] = [TokenLabel.DATE] * (match.end() - match.start())
            _extend_date(raw, kinds, match.start(), match.end())
    for kind in _NAMES:
        _extend_names(raw, kinds, kind)
    collapsed = " ".join(raw.split())
    found = pieces(raw)
    labels = [kinds[p.start] or TokenLabel.OTHER for p in found]
    _inner(found, labels)
    if len(found) < 4 or len(pieces(collapsed)) != len(found):
        return None
    return LabeledString(collapsed, labels)


def _extend_date(raw: str, kinds: list[TokenLabel | None], start: int, end: int) -> None:
    for match in _MONTHS.finditer(raw):
        near = (match.end() <= start and start - match.end() < 8) or (match.start() >= end and match.start() - end < 4)
        if near and all(k is None for k in kinds[match.start() : match.end()]):
            low, high = min(match.start(), start), max(match.end(), end)
            if all(k in (None, TokenLabel.DATE) for k in kinds[low:high]):
                kinds[low:high] = [TokenLabel.DATE] * (high - low)


def _extend_names(raw: str, kinds: list[TokenLabel | None], kind: TokenLabel) -> None:
    """Extend a name field to everything from the first surname to the last.

    Initials, given names and `et al.` at both ends are included."""
    at = [i for i, k in enumerate(kinds) if k is kind]
    if not at:
        return
    low, high = at[0], at[-1] + 1
    if any(k not in (None, kind) for k in kinds[low:high]):
        for group in _groups(at):
            _stretch(raw, kinds, kind, group[0], group[1])
        return
    _stretch(raw, kinds, kind, low, high)


def _groups(at: list[int]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for i in at:
        if out and i - out[-1][1] < 25:
            out[-1] = (out[-1][0], i + 1)
        else:
            out.append((i, i + 1))
    return out


def _stretch(raw: str, kinds: list[TokenLabel | None], kind: TokenLabel, low: int, high: int) -> None:
    before = re.search(
        r"(?:(?:[^\W\d_]{1,2}\.[\s-]?)+|(?:[A-Z][^\W\d_]+[\s-]){1,3}(?:[A-Z]\.\s)?|[A-Z]{1,3}\s)\s*$", raw[:low]
    )
    if (
        before
        and all(k is None for k in kinds[before.start() : low])
        and not before.group().strip().lower().startswith(("in ", "in:", "eds", "ed."))
    ):
        low = before.start()
    after = re.match(
        r",?\s*(?:(?:[^\W\d_]{1,2}\.[\s-]*)+|[A-Z]{1,3}(?![\w])|(?:[A-Z][^\W\d_]+[\s-]?){1,3}(?:[A-Z]\.)?(?=[.,;:(&]|\s\())?(?:,?\s*(?:et\s+al\.?|and\s+others|u\.\s?a\.))?",
        raw[high:],
    )
    if after and after.group().strip(" ,"):
        end = high + len(after.group().rstrip(" ,;"))
        if all(k is None for k in kinds[high:end]):
            high = end
    for i in range(low, high):
        if kinds[i] is None:
            kinds[i] = kind


def _inner(found: list[Piece], labels: list[TokenLabel]) -> None:
    """Label punctuation between two tokens of one field as part of the field, in place.

    Punctuation at a field's end is not part of the field, except for a title's `?` and names' periods. Dates are excluded.
    """
    for i in range(1, len(labels) - 1):
        if (
            labels[i] is TokenLabel.OTHER
            and not found[i].text.isalnum()
            and labels[i - 1] is labels[i + 1]
            and labels[i - 1] not in (TokenLabel.OTHER, TokenLabel.DATE)
        ):
            labels[i] = labels[i - 1]
