"""Convert marks of the TEI and the surrounding text to spans: detect the style, drop false citations, expand ranges."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

from s2orc_parse.parse_model import BibEntry, CitationStyle, CiteSpan, RefSpan, RefType
from s2orc_parse.tei import name_year, numbers
from s2orc_parse.tei.crossrefs import RefIndex, follows_reference_word
from s2orc_parse.tei.drafts import ReferenceMark, TextDraft

MIN_CALLOUTS = 3  # SPEC §3.10: fewer citations do not determine a style
_BETWEEN = re.compile(r"[\s,;&‐‑‒–—−-]*(?:and\s+)?")
_BETWEEN_BRACKETS = re.compile(r"\]\s*(?:[,;&‐‑‒–—−-]+\s*(?:and\s+)?|and\s+)\[")
"""Adjacent brackets without a separator do not count: GROBID writes a superscript range in this way."""
_ALPHA_LABEL = re.compile(r"\[\s*[A-Z][A-Za-z+]{0,8}\d{2}[a-z]?(?:\s*[,;]\s*[A-Z][A-Za-z+]{0,8}\d{2}[a-z]?)*\s*\]")
_BARE_NUMBER = re.compile(r"[\s(]*\d[\d\s,;.a-z()‐‑‒–—−-]*")
_LETTERS = re.compile(r"[^\W\d_]{2}")
# (Lyons and Waite, 2011)
_ONE_WORK = re.compile(r"[\s(\[]*[^\W\d_][^\d;]*(?<![-–.\d])(?:1[5-9]|20)\d\d[a-z]?[\s)\];,.]*")
_SINGLE = re.compile(r"[\s(\[]*(\d{1,4})[\s,;)\]]*")
_MATH_BEFORE = frozenset("=∈∉⊂×*+<>≤≥≈∼~^{:/|−±·")
_INTERVAL_BEFORE = re.compile(
    r"\b(?:intervals?|range[sd]?|scaled?|between|values? in|vector|array)\s*(?:of|from|to|in)?\s*$", re.IGNORECASE
)


def group_marks(draft: TextDraft) -> list[list[ReferenceMark]]:
    """Return the citation marks grouped as printed, with only separators inside a group: GROBID splits a citation into several marks."""
    joined: list[list[ReferenceMark]] = []
    for mark in draft.marks:
        if mark.kind != "cite":
            continue
        if joined and _BETWEEN.fullmatch(draft.text, joined[-1][-1].end, mark.start):
            joined[-1].append(mark)
        else:
            joined.append([mark])
    return joined


def detect_style(drafts: Iterable[TextDraft]) -> CitationStyle:
    """Return the majority style of a paper's classified citations if it has at least three votes, else OTHER."""
    counts: Counter[CitationStyle] = Counter()
    for draft in drafts:
        for group in group_marks(draft):
            style, votes = _classify_group(draft.text, group)
            if style is not None:
                counts[style] += votes
    for style in (CitationStyle.BRACKET, CitationStyle.NAME_YEAR):
        if counts[style] >= MIN_CALLOUTS and 2 * counts[style] > counts.total():
            return style
    return CitationStyle.OTHER


def _classify_group(text: str, group: Sequence[ReferenceMark]) -> tuple[CitationStyle | None, int]:
    """Return the style of adjacent citations and their number: two for `[1], [2]` and for `[3]-[5]`, one for `[1, 2]`."""
    start, end = group[0].start, group[-1].end
    surface = text[start:end]
    opened = surface.lstrip().startswith("[") or text.endswith(("[", "[ "), 0, start)
    brackets = _BETWEEN_BRACKETS.split(surface) if opened else []
    if brackets and all(map(numbers.LIST.fullmatch, brackets)):
        return CitationStyle.BRACKET, len(brackets)
    if _LETTERS.search(surface) and name_year.has_date(surface):
        return CitationStyle.NAME_YEAR, 1
    if _BARE_NUMBER.fullmatch(surface) and not name_year.YEAR.search(surface):
        return CitationStyle.OTHER, 1
    return (CitationStyle.OTHER if _ALPHA_LABEL.search(surface) else None), 1


class CalloutLinker:
    """Creates the spans of all texts of one paper."""

    def __init__(
        self, drafts: Sequence[TextDraft], entries: Sequence[BibEntry], ids: Mapping[str, str], refs: RefIndex, ref_ids: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.style = detect_style(drafts)
        self._is_name_year = self.style is CitationStyle.NAME_YEAR
        self._ids = ids
        self._refs = refs
        self._ref_ids = ref_ids
        self._entries = entries
        self._by_label = {entry.label: entry.key for entry in reversed(entries) if entry.label}
        votes = self._collect_votes(drafts, {entry.key: at for at, entry in enumerate(entries)})
        self._uses_numbers = self.style is CitationStyle.BRACKET or len(votes) >= MIN_CALLOUTS
        positions = numbers.map_numbers([entry.label for entry in entries], votes, len(entries))
        self._numbers = {number: entries[at].key for number, at in positions.items()}

    @cached_property
    def _entries_by_name(self) -> Mapping[tuple[str, int], Sequence[BibEntry]]:
        return name_year.index_entries(self._entries)

    def find_citations(self, draft: TextDraft) -> tuple[CiteSpan, ...]:
        """Return the distinct citation spans of a text in order."""
        text = draft.text
        if not draft.marks and (self.style is not CitationStyle.BRACKET or "[" not in text):
            return ()
        found = dict.fromkeys(self._yield_citations(draft))
        return tuple(
            CiteSpan(start, end, text[start:end], key) for start, end, key in sorted(found, key=lambda at: at[:2])
        )

    def find_references(self, draft: TextDraft, cites: Sequence[CiteSpan]) -> tuple[RefSpan, ...]:
        """Return the distinct reference spans of a text in order, except those that overlap a citation."""
        found_references = list(self._yield_references(draft))
        if not found_references:
            return ()
        taken = _Intervals((span.start, span.end) for span in cites)
        found: dict[tuple[int, int], RefSpan] = {}
        for start, end, key in found_references:
            if (start, end) not in found and not taken.overlaps(start, end):
                found[start, end] = RefSpan(start, end, draft.text[start:end], key)
        return tuple(found[at] for at in sorted(found))

    def _collect_votes(self, drafts: Sequence[TextDraft], positions: Mapping[str, int]) -> list[tuple[int, int]]:
        """Return (printed number, position) of every citation with one number that the TEI resolves."""
        votes = []
        for draft in drafts:
            for mark in draft.marks:
                if mark.kind != "cite" or len(mark.targets) != 1 or mark.targets[0] not in self._ids:
                    continue
                match = _SINGLE.fullmatch(draft.text, mark.start, mark.end)
                if match and (self.style is not CitationStyle.BRACKET or "(" not in match.group()):
                    votes.append((int(match.group(1)), positions[self._ids[mark.targets[0]]]))
        return votes

    def _yield_citations(self, draft: TextDraft) -> Iterable[tuple[int, int, str | None]]:
        marks = [mark for mark in draft.marks if mark.kind == "cite" or self._is_mistaken_year(draft.text, mark)]
        if self.style is CitationStyle.BRACKET and "[" in draft.text:
            covered: set[ReferenceMark] = set()
            # Both lists ascend, because marks do not overlap.
            starts, ends = [mark.start for mark in marks], [mark.end for mark in marks]
            for group in numbers.find_groups(draft.text):
                marked = marks[bisect_right(ends, group.start) : bisect_left(starts, group.end)]
                if follows_reference_word(draft.text, group.start):
                    covered.update(marked)
                elif marked or self._is_citation(draft.text, group):
                    covered.update(marked)
                    yield from self._link_pieces(group.pieces, marked)
            marks = [mark for mark in marks if mark not in covered]
        for mark in marks:
            yield from self._link_mark(draft.text, mark)

    def _is_mistaken_year(self, text: str, mark: ReferenceMark) -> bool:
        """Return whether GROBID mistook a year in parentheses for a formula number."""
        return (
            mark.kind == "formula" and not mark.targets and self.style is CitationStyle.NAME_YEAR
            and name_year.YEAR.fullmatch(text, mark.start, mark.end) is not None
        )  # fmt: skip

    def _is_citation(self, text: str, group: numbers.NumberGroup) -> bool:
        """Return whether a group without a TEI mark is a citation: its numbers are in the bibliography, and it is no mathematics."""
        cited = [number for piece in group.pieces for number in piece.numbers]
        if not all(piece.numbers for piece in group.pieces) or not all(number in self._numbers for number in cited):
            return False
        before = text[max(0, group.start - 40) : group.start]
        if before.rstrip()[-1:] in _MATH_BEFORE or text[group.end : group.end + 1] in ("^", "_", "×", "*"):
            return False
        if before[-1:].isalnum() and len(before.split()[-1].strip("(")) < 3:
            return False
        return not _INTERVAL_BEFORE.search(before)

    def _link_pieces(
        self, pieces: Iterable[numbers.Cited], marked: Sequence[ReferenceMark]
    ) -> Iterable[tuple[int, int, str | None]]:
        for piece in pieces:
            keys = [self._numbers[number] for number in piece.numbers if number in self._numbers]
            if not keys:
                keys = [
                    key
                    for mark in marked
                    if mark.start < piece.end and piece.start < mark.end
                    for key in self._targets(mark)
                ]
            if keys or marked:
                for key in keys or (None,):
                    yield piece.start, piece.end, key

    def _targets(self, mark: ReferenceMark) -> list[str]:
        return list(dict.fromkeys(self._ids[target] for target in mark.targets if target in self._ids))

    def _link_mark(self, text: str, mark: ReferenceMark) -> Iterable[tuple[int, int, str | None]]:
        """Yield the spans of a mark outside bracket groups."""
        start, end = mark.start, mark.end
        if (
            len(mark.targets) == 1
            and mark.targets[0] in self._ids
            and self._is_name_year
            and _ONE_WORK.fullmatch(text, start, end)
        ):
            yield start, end, self._ids[mark.targets[0]]  # shortcut for the common case
            return
        while start < end and text[start] in ",;. ":
            start += 1
        surface = text[start:end]
        keys = self._targets(mark)
        if not surface or follows_reference_word(text, start):
            return
        letters, dated = _LETTERS.search(surface), name_year.has_date(surface)
        if dated and (letters or self.style is not CitationStyle.BRACKET):
            yield from self._link_works(text, start, end, keys)
        elif self.style is CitationStyle.OTHER:
            yield from self._link_numbers(text, start, end, keys)
        elif letters or (self.style is CitationStyle.BRACKET and ("[" in surface or "]" in surface)):
            for key in keys:
                yield start, end, key

    def _link_numbers(self, text: str, start: int, end: int, keys: list[str]) -> Iterable[tuple[int, int, str | None]]:
        """Yield the spans of a superscript, `(3)` or `[ABC19]`, using the TEI's targets, else the printed numbers or label."""
        if keys:
            yield from ((start, end, key) for key in keys)
            return
        match = numbers.LIST.fullmatch(text, start, end)
        if match and self._uses_numbers:
            for piece in numbers.split_pieces(text, start, end, *match.span("list")):
                for key in [self._numbers[n] for n in piece.numbers if n in self._numbers] or (None,):
                    yield piece.start, piece.end, key
            return
        if match or _ALPHA_LABEL.search(text, start, end):
            yield start, end, self._by_label.get(text[start:end].strip(" []()"))

    def _link_works(self, text: str, start: int, end: int, keys: list[str]) -> Iterable[tuple[int, int, str | None]]:
        if keys and len(name_year.YEAR.findall(text, start, end)) < 2:
            yield from ((start, end, key) for key in keys)
            return
        works = name_year.find_works(text, start, end)
        if works and not any(work.surname for work in works):
            return  # a year without a name is not a citation
        if not works:  # in press
            yield start, end, None
            return
        found = [name_year.find(work, self._entries_by_name) for work in works]
        for key in keys:  # assign the TEI's target to the first work without an entry, or to the first work
            if key not in found:
                found[next((i for i, other in enumerate(found) if other is None), 0)] = key
        for work, found_key in zip(works, found, strict=True):
            yield work.start, work.end, found_key

    def _yield_references(self, draft: TextDraft) -> Iterable[tuple[int, int, str | None]]:
        taken: list[tuple[int, int]] = []
        for mark in draft.marks:
            if mark.kind == "cite" or self._is_mistaken_year(draft.text, mark):
                continue
            kind = RefType(mark.kind)
            key = next((self._ref_ids[target] for target in mark.targets if target in self._ref_ids), None)
            if key is None:
                if re.match(r"\.\d", draft.text[mark.end : mark.end + 2]):
                    key = self._refs.find(kind, draft.text[mark.start : mark.end + 6])
                key = key or self._refs.find(kind, draft.text[mark.start : mark.end])
            taken.append((mark.start, mark.end))
            yield mark.start, mark.end, key
        mentions = list(self._refs.mentions(draft.text))
        marked = _Intervals(taken if mentions else ())
        for start, end, key in mentions:
            if not marked.overlaps(start, end):
                yield start, end, key


class _Intervals:
    """Occupied intervals of a text."""

    def __init__(self, intervals: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(intervals)
        self._starts = [start for start, _ in ordered]
        self._ends = list(accumulate((end for _, end in ordered), max))

    def overlaps(self, start: int, end: int) -> bool:
        """Return whether an interval shares a character with an occupied interval."""
        before = bisect_left(self._starts, end)
        return before > 0 and self._ends[before - 1] > start
