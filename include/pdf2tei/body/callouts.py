"""Find inline citations and mentions of figures and tables in running text, and link them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from pdf2tei.pages.text import Text
from pdf2tei.references.fields import Reference
from pdf2tei.references.reference_list import PrintedEntry
from pdf2tei.words import read_pattern

_BRACKET = re.compile(r"\[(\d{1,4}(?:\s*[,;–—-]\s*\d{1,4})*)\s*(?:,\s*(?:p|pp|Ch|Sec|Thm|Fig)\.[^\]]{0,20})?\]")
_NUMBER = re.compile(r"\d{1,4}")
_KEY = re.compile(r"[A-Za-z][A-Za-z+*]{1,12}(?:\s?\+\s?)?\d{2}[a-z]?")
_KEYS = re.compile(rf"\[{_KEY.pattern}(?:\s*[,;]\s*{_KEY.pattern})*\]")
_YEAR = r"(?:(?:1[6-9]|20)\d\d[a-z]?|in press|forthcoming|n\.\s?d\.)"
_PARTICLE = r"(?:van|von|de|der|den|del|della|di|da|dos|du|la|le|ter|ten|Van|De|Von|Du|La|Le|Di)"
_SURNAME = rf"(?:{_PARTICLE}\s(?:der\s|den\s|la\s)?)?[A-ZÀ-ÖØ-ÞŁŠŽČĆĐŚŞİŐ][\w’'‐-]{{1,40}}"
_NAMES = (
    rf"{_SURNAME}(?:\s+(?:et\s+al|u\.\s?a)\.?|"
    rf"(?:\s*,\s*{_SURNAME}){{0,20}}\s*,?\s*(?:and|&|und|et|y|e)\s+{_SURNAME}(?:\s+et\s+al\.?)?|(?:\s*[;/]\s*{_SURNAME}){{1,20}}|"
    rf"(?:\s+{_SURNAME}){{0,2}})?"
)
_LEAD = read_pattern("callouts", "lead", re.NOFLAG).pattern
_NAME_YEAR = re.compile(
    rf"(?<!\w)(?!{_LEAD})(?P<names>{_NAMES})(?:[’']s)?\s*,?\s*[(\[]?\s*(?P<years>{_YEAR}(?:\s*[,;&]\s*{_YEAR}|\s*,\s*[a-z]\b(?!\.))*)(?P<close>\)?)"
)
_ROUND = re.compile(r"\(\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\)")
_DIGITS_AFTER_WORD = re.compile(r"(?:(?<=[a-z]{3})|(?<=[a-z]{2}[.,;)]))\d{1,3}(?:[,–-]\s?\d{1,3})*(?=[\s.,;:)]|$)")
_RAISED = re.compile(r"\s*\d{1,3}(?:\s*[,–-]\s*\d{1,3})*[,\s]*")
_YEARS = re.compile(rf"{_YEAR}|\b[a-z]\b")
_CITED = re.compile(r"[(\[;]\s*(?:e\.g\.,?\s*|see\s+|cf\.\s*)?$")
_FLOAT = read_pattern("callouts", "float", re.NOFLAG)


class Style(StrEnum):
    """The citation style of a paper."""

    BRACKET = "bracket"
    NAME_YEAR = "name-year"
    RAISED = "raised"
    ROUND = "round"
    KEY = "key"
    GLUED = "glued"
    """Superscripts from a font with raised digits; the text layer shows them as digits at the end of a word."""


@dataclass(frozen=True, slots=True)
class Callout:
    """A part of a paragraph that refers to an entry, a figure or a table."""

    start: int
    end: int
    kind: str
    """`bibr`, `figure` or `table`."""
    target: str
    """xml:id, or empty."""


def detect_style(texts: list[Text], entries: list[PrintedEntry]) -> Style:
    """Return the style with the most evidence in the text."""

    def count(pattern: re.Pattern[str]) -> int:
        return sum(len(pattern.findall(text.text)) for text in texts)

    bracket, raised = count(_BRACKET), 0
    if sum(e.label.isdigit() for e in entries) > len(entries) / 2:
        raised = sum(1 for text in texts for s, e in text.raised if _RAISED.fullmatch(text.text[s:e]))
        if bracket >= 3 or bracket >= 0.3 * len(entries):
            return Style.BRACKET
        if (round_count := count(_ROUND)) >= 0.4 * len(entries) and round_count > raised:
            return Style.ROUND
        if raised >= 0.3 * len(entries):
            return Style.RAISED
        if (glued := count(_DIGITS_AFTER_WORD)) >= 0.4 * len(entries) and glued > count(_NAME_YEAR):
            return Style.GLUED
    found = {Style.BRACKET: bracket, Style.NAME_YEAR: count(_NAME_YEAR), Style.KEY: count(_KEYS), Style.RAISED: raised}
    return max(found, key=lambda style: found[style])


class Linker:
    """Link the callouts of one paper."""

    def __init__(
        self,
        style: Style,
        entries: list[PrintedEntry],
        references: list[Reference],
        floats: dict[tuple[bool, str], str],
    ) -> None:
        self._style = style
        self._floats = floats
        self._labels = {e.label: f"b{i}" for i, e in reversed(list(enumerate(entries))) if e.label}
        if not any(e.label for e in entries):
            self._labels = {str(i + 1): f"b{i}" for i in range(len(entries))}
        self._names: dict[tuple[str, str], list[int]] = {}
        self._surnames: list[list[str]] = []
        for i, (entry, reference) in enumerate(zip(entries, references, strict=True)):
            surnames = [_fold(a.surname) for a in reference.authors] or [
                _fold(w) for w in re.findall(r"[^\W\d_]{2,}", entry.raw)[:1]
            ]
            self._surnames.append(surnames)
            for key in {reference.year, reference.year[:4]}:
                self._names.setdefault((surnames[0] if surnames else "", key), []).append(i)
        self._words = {word for surnames in self._surnames for surname in surnames for word in surname.split()}

    def find(self, text: Text) -> list[Callout]:
        """Return the callouts of a paragraph in order and without overlaps."""
        found = [*self._find_citations(text), *self._find_float_mentions(text.text)]
        out: list[Callout] = []
        for callout in sorted(found, key=lambda c: (c.start, -c.end)):
            if not out or callout.start >= out[-1].end:
                out.append(callout)
        return out

    def _find_citations(self, text: Text) -> list[Callout]:
        if self._style is Style.RAISED:
            raised = [(s, e) for s, e in text.raised if re.fullmatch(r"[\d,–\- ]+", text.text[s:e])]
            return [callout for s, e in raised for callout in self._find_numbers(text.text, s, e)]
        numbers = {Style.BRACKET: _BRACKET, Style.ROUND: _ROUND, Style.GLUED: _DIGITS_AFTER_WORD}
        if pattern := numbers.get(self._style):
            return [c for m in pattern.finditer(text.text) for c in self._find_numbers(text.text, m.start(), m.end())]
        if self._style is Style.KEY:
            return [c for m in _KEYS.finditer(text.text) for c in self._find_numbers(text.text, *m.span(), _KEY)]
        return [c for m in _NAME_YEAR.finditer(text.text) for c in self._find_name_years(text.text, m)]

    def _find_numbers(self, text: str, start: int, end: int, number: re.Pattern[str] = _NUMBER) -> list[Callout]:
        """Return one callout per number or key; the first includes the opening bracket, the last the closing bracket."""
        numbers = [(m.start() + start, m.end() + start) for m in number.finditer(text[start:end])]
        out = []
        for i, (s, e) in enumerate(numbers):
            left = start if i == 0 else s
            right = end if i == len(numbers) - 1 else (e + 1 if text[e : e + 1] == "," else e)
            out.append(Callout(left, right, "bibr", self._labels.get("".join(text[s:e].split()), "")))
        return out if any(c.target for c in out) else []

    def _find_name_years(self, text: str, match: re.Match[str]) -> list[Callout]:
        """Return one callout per year; the first includes the names, the last the closing bracket."""
        printed = list(re.finditer(_SURNAME, match["names"]))
        known = (i for i, x in enumerate(printed) if not self._words.isdisjoint(_fold(x[0]).split()))
        first = next(known, 0)
        if first and re.search(r",|;| (?:and|&|und|et|y|e) ", match["names"][: printed[first].start()]):
            first = 0
        begin = match.start() + printed[first].start()  # without `See` or `Like`
        names = [_fold(name[0]) for name in printed[first:]]
        start = match.start("years")
        years = [(m.start() + start, m.end() + start, m.group()) for m in _YEARS.finditer(match["years"])]
        out: list[Callout] = []
        full_year = ""
        for i, (s, e, year) in enumerate(years):
            full_year = year if len(year) > 2 else full_year[:4] + year
            left = begin if i == 0 else s
            right = match.end() if i == len(years) - 1 else e
            out.append(Callout(left, right, "bibr", self._lookup(names, full_year) or ""))
        if any(c.target for c in out):
            return out
        before = text[max(match.start() - 12, 0) : match.start()]
        return out if "et al" in match["names"] or match["close"] == ")" or _CITED.search(before) else []

    def _lookup(self, names: list[str], year: str) -> str | None:
        for name in names[:3]:
            last = name.split()[-1] if name else name
            for key in (name, last):
                for y in (year, year.rstrip("abcdefgh")):
                    hits = self._names.get((key, y), [])
                    if hits:
                        rest = set(names) - {name}
                        best = max(hits, key=lambda i: (len(rest & set(self._surnames[i])), -i))
                        return f"b{best}"
        return None

    def _find_float_mentions(self, text: str) -> list[Callout]:
        out = []
        for match in _FLOAT.finditer(text):
            table = match.group("kind")[0] in "Tt"
            target = self._floats.get((table, match.group("number")), "")
            out.append(Callout(match.start(), match.end(), "table" if table else "figure", target))
        return out


def _fold(name: str) -> str:
    import unicodedata

    flat = unicodedata.normalize("NFKD", name.casefold())
    return "".join(c for c in flat if c.isalnum() or c == " ").strip()
