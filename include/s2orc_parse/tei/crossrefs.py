"""Link mentions of figures, tables, formulas, sections, theorems and similar statements by their printed number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from s2orc_parse.parse_model import RefEntry, RefType
from s2orc_parse.tei.drafts import TextDraft
from s2orc_parse.tei.references import NUMBER
from s2orc_parse.tei.sections import SectionPath, Sections
from s2orc_parse.words import read_table

MAX_STATEMENT = 5_000  # maximum number of characters of a statement's entry
_KIND_WORDS: Mapping[str, str] = read_table("tei/words")["statements"]
_WORD = "(?i:" + "|".join(f"(?P<{name}>{word})" for name, word in _KIND_WORDS.items()) + ")"
_STATEMENT_NUMBER = (
    r"(?:[A-Z]\.?)?\d{1,3}(?:\.\d{1,3}|\s\.\s\d{1,3}){0,3}(?!\.?\d|%)|[IVX]{1,5}(?![A-Za-z])|[A-Z](?![A-Za-z'’])"
)
_AT_START = re.compile(rf"{_WORD}\s+(?P<num>{_STATEMENT_NUMBER})(?:\s*[.:]|\s*\([^()]{{1,150}}\)|\s+(?=[A-Z(]))")
_IN_TEXT = re.compile(rf"(?<![^\s]){_WORD}\s+(?P<num>{_STATEMENT_NUMBER})\s*(?:\([^()]{{1,150}}\)\s*)?[.:]\s")
_IN_HEAD = re.compile(rf"{_WORD}\s+(?P<num>{_STATEMENT_NUMBER})(?=\W|$)")
_SENTENCE_END = re.compile(r"[.!?:□∎■◻▪][)\]]?\s")
_BEFORE_SENTENCE = re.compile(_SENTENCE_END.pattern + "$")
_STATEMENT_ITEM = re.compile(_STATEMENT_NUMBER)
_MENTION = re.compile(
    rf"(?<![A-Za-z]){_WORD}\s+(?P<items>(?:{_STATEMENT_NUMBER})(?:\s*(?:,|and|&|or|to|–|-)\s*(?:{_STATEMENT_NUMBER}))*)"
)
_CITED_BEFORE = re.compile(r"\[[^\[\]]*$|(?:19|20)\d\d[a-z]?,\s*$")
_CITED_AFTER = re.compile(
    r"\s*,?\s+(?:of|in|from)\s+(?:\[|\(?[A-Z][\w’'-]+(?:\s+(?:et\s+al|and|&)|\s*[\[(,]\s*(?:\d|in\b)))"
)
_STEMS_OF_WORDS = {
    kind: re.findall(r"(?:^|\|)([a-z]+?)(?=[a-z]\?|[^a-z]|$)", re.sub(r"\(.*?\)", ".", words))
    for kind, words in _KIND_WORDS.items()
}
"""The beginnings of each kind's words. To look for them is faster than to search for the words."""
_ALL_STEMS = [stem for stems in _STEMS_OF_WORDS.values() for stem in stems]


def link_items(
    match: re.Match[str], item: re.Pattern[str], find: Callable[[str], str | None]
) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, key) of the items of a mention that have an entry. The first item includes the word."""
    for number, printed in enumerate(item.finditer(match.string, *match.span("items"))):
        if key := find(printed.group()):
            yield printed.start() if number else match.start(), printed.end(), key


class Statement(NamedTuple):
    """A statement: its kind, printed number and text."""

    kind: str
    num: str
    text: str


class Statements:
    """The statements of one paper: entries of type theorem, and their mentions."""

    def __init__(self, drafts: Iterable[TextDraft]) -> None:
        self.entries: list[RefEntry] = []
        self._keys: dict[tuple[str, str], str] = {}
        for statement in _read_statements(drafts):
            if (statement.kind, statement.num) not in self._keys:
                key = self._keys[statement.kind, statement.num] = f"THMREF{len(self.entries)}"
                text = statement.text[:MAX_STATEMENT].rstrip()
                self.entries.append(RefEntry(key, RefType.THEOREM, text, statement.num))
        self._stems = [stem for kind in sorted({kind for kind, _ in self._keys}) for stem in _STEMS_OF_WORDS[kind]]

    def mentions(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield (start, end, key) of every mention. The first item of a list includes the word.

        A statement's own label is not a mention, and neither is a theorem of a cited work: `[18, Theorem 5]`, `Lemma 2
        of [3]`.
        """
        if not _has_any(text, self._stems):
            return
        for match in _MENTION.finditer(text):
            start = match.start()
            if _CITED_BEFORE.search(text[max(0, start - 80) : start]) or _CITED_AFTER.match(text, match.end()):
                continue
            if _match_label(text, start) is not None:
                continue
            yield from link_items(match, _STATEMENT_ITEM, partial(self._find, _get_kind(match)))

    def _find(self, kind: str, number: str) -> str | None:
        return self._keys.get((kind, "".join(number.split())))


def _read_statements(drafts: Iterable[TextDraft]) -> Iterator[Statement]:
    """Yield the statements in the order of the text. A section header may be a statement's label."""
    section = None
    for draft in drafts:
        if draft.section is not section:
            section = draft.section
            if section.heads and (match := _IN_HEAD.match(section.heads[-1])):
                yield Statement(_get_kind(match), "".join(match["num"].split()), f"{section.heads[-1]} {draft.text}")
        if not _has_any(draft.text, _ALL_STEMS):
            continue
        # The search for the ends of sentences is ten times as fast as that for the words of statements.
        starts = (0, *(end.end() for end in _SENTENCE_END.finditer(draft.text, 0, len(draft.text) - 1)))
        found = [match for at in starts if (match := _match_label(draft.text, at)) is not None]
        for at, match in enumerate(found):
            end = found[at + 1].start() if at + 1 < len(found) else len(draft.text)
            yield Statement(_get_kind(match), "".join(match["num"].split()), draft.text[match.start() : end])


def _match_label(text: str, at: int) -> re.Match[str] | None:
    """Return the label of the statement that begins at a position: at the start of the text or of a sentence."""
    if at == 0:
        return _AT_START.match(text) if text[:1].isupper() else None
    if not text[at].isupper() or not _BEFORE_SENTENCE.search(text, max(0, at - 3), at):
        return None
    return _IN_TEXT.match(text, at)


def _has_any(text: str, stems: Iterable[str]) -> bool:
    folded = text.casefold()
    return any(stem in folded for stem in stems)


def _get_kind(match: re.Match[str]) -> str:
    return next(name for name in _KIND_WORDS if match[name])


_WORDS = {
    RefType.FIGURE: r"[Ff]ig(?:ure)?s?\b\.?|FIG(?:URE)?S?\b\.?",
    RefType.TABLE: r"[Tt]ables?\b|TABLES?\b|[Tt]abs?\.",
    RefType.FORMULA: r"[Ee]q(?:uation|n)?s?\b\.?",
    RefType.SECTION: r"[Ss]ections?\b|[Ss]ect?s?\.|§{1,2}",
}
_PLAIN = rf"(?:{NUMBER})(?![^\W\d_]{{2}})[a-z]?"
_ITEM = rf"(?:\(\s?{_PLAIN}\s?\)|{_PLAIN})"
MENTION = re.compile(
    "(?<![A-Za-z§])(?:" + "|".join(f"(?P<{kind.name}>{word})" for kind, word in _WORDS.items()) + ")"
    rf"\s*(?P<items>{_ITEM}(?:\s*(?:,|and|&|or|to|–|-)\s*{_ITEM})*)"
)
_BEFORE_NUMBERS = frozenset(read_table("tei/words")["before_numbers"].split())
# fixed part of each kind's words, and its possible first letters: `str.find` is fast
_STEMS = {
    RefType.FIGURE: (("ig", "Ff"), ("IG", "F")),
    RefType.TABLE: (("ab", "Tt"), ("AB", "T")),
    RefType.FORMULA: (("q", "Ee"),),
    RefType.SECTION: (("ec", "Ss"), ("§", "")),
}
_ITEM_PATTERN = re.compile(_ITEM)
_NUM = re.compile(NUMBER)
_LEADING = re.compile(r"[^0-9A-Za-z]*")
_LABEL_OF_APPENDIX = r"(?:[A-Z](?:[.\-]?\d{1,2})?(?:\.\d{1,2}){0,2}|\d{1,2}|[IVX]{1,4})(?![\w%])"
_APPENDIX_ITEM = re.compile(_LABEL_OF_APPENDIX)
_APPENDIX_MENTION = re.compile(
    r"(?<![A-Za-z])(?:[Aa]ppendi(?:x|ces)|APPENDI(?:X|CES)|[Aa]pp\.|[Aa]nnex(?:es)?)\s+"
    rf"(?P<items>{_LABEL_OF_APPENDIX}(?:\s*(?:,|and|&|or|to|–|-)\s*{_LABEL_OF_APPENDIX})*)"
)


class RefIndex:
    """Finds the entry for a printed number of some kind."""

    def __init__(self, entries: Iterable[RefEntry], sections: Sections, statements: Statements) -> None:
        self._by_number: dict[tuple[RefType, str], str] = {}
        for entry in entries:
            if entry.num:
                self._by_number.setdefault((entry.type, _normalize(entry.num)), entry.key)
        self._sections: Mapping[str, tuple[str, ...]] = {
            _normalize(".".join(numbers)): numbers for numbers in reversed(sections.numbered)
        }
        self._numbered = sections.numbered
        kinds = {kind for kind, _ in self._by_number} | ({RefType.SECTION} if self._sections else set())
        self._stems = [stem for kind, stems in _STEMS.items() if kind in kinds for stem in stems]
        self._mentioned: dict[SectionPath, str] = {}
        self._statements = statements
        self._appendices = {_normalize(number): section for number, section in reversed(sections.appendices.items())}
        if ("I",) not in sections.numbered:  # no Roman numerals: letters number the appendices
            for numbers, section in sections.numbered.items():
                if len(numbers[0]) == 1 and numbers[0].isalpha():
                    self._appendices.setdefault(_normalize(".".join(numbers)), section)

    def find(self, kind: RefType, printed: str) -> str | None:
        """Return the key of the entry for "2", "(3)", "2a", "III-B" or "D.6", or None."""
        match = _NUM.search(printed, _LEADING.match(printed).end())  # type: ignore[union-attr]
        number = _normalize(match.group()) if match else ""
        if not number:
            return None
        if kind is RefType.SECTION:
            numbers = self._sections.get(number)
            return self._get_section_key(self._numbered[numbers]) if numbers else None
        return self._by_number.get((kind, number))

    def _get_section_key(self, section: SectionPath) -> str:
        """Return the key of a section. The first mention of a section creates its entry."""
        return self._mentioned.setdefault(section, f"SECREF{len(self._mentioned)}")

    def section_entries(self) -> list[RefEntry]:
        """Return the entries of mentioned sections in the order of their first mention."""
        return [
            RefEntry(key, RefType.SECTION, section.heads[-1], section.num) for section, key in self._mentioned.items()
        ]

    def mentions(self, text: str) -> Iterable[tuple[int, int, str]]:
        """Yield (start, end, key) of every mention of an existing entry. The first item of a list includes the word."""
        for stem, initials in self._stems:
            at = text.find(stem)
            while at >= 0:
                begin = at if not initials else at - 1 if at and text[at - 1] in initials else -1
                if begin >= 0 and (match := MENTION.match(text, begin)):
                    kind = next(kind for kind in _WORDS if match[kind.name])
                    yield from link_items(match, _ITEM_PATTERN, partial(self.find, kind))
                at = text.find(stem, at + 1)
        if self._appendices and ("ppendi" in text or "PPENDI" in text or "pp." in text or "nnex" in text):
            for match in _APPENDIX_MENTION.finditer(text):
                yield from link_items(match, _APPENDIX_ITEM, self._find_appendix)
        yield from self._statements.mentions(text)

    def _find_appendix(self, printed: str) -> str | None:
        section = self._appendices.get(_normalize(printed))
        return None if section is None else self._get_section_key(section)


def follows_reference_word(text: str, at: int) -> bool:
    """Return whether the text before `at` ends with Eq., Fig., Table, Sec., § or ^; then the text is not a citation."""
    words = text[max(0, at - 16) : at].split()
    word = words[-1].lstrip("([").rstrip(".").casefold() if words else ""
    return word in _BEFORE_NUMBERS or word.endswith(("^", "§"))


def _normalize(number: str) -> str:
    return re.sub(r"[\s\-–]+", ".", number.strip().strip(".()")).casefold()
