"""Link mentions of figures, tables, formulas and sections by their printed number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial

from s2orc_parse.parse_model import RefEntry, RefType
from s2orc_parse.tei.references import NUMBER
from s2orc_parse.tei.sections import SectionPath, Sections
from s2orc_parse.tei.statements import Statements, link_items
from s2orc_parse.words import read_table

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
            yield from self._appendix_mentions(text)
        yield from self._statements.mentions(text)

    def _appendix_mentions(self, text: str) -> Iterable[tuple[int, int, str]]:
        def find(printed: str) -> str | None:
            section = self._appendices.get(_normalize(printed))
            return None if section is None else self._get_section_key(section)

        for match in _APPENDIX_MENTION.finditer(text):
            yield from link_items(match, _APPENDIX_ITEM, find)


def follows_reference_word(text: str, at: int) -> bool:
    """Return whether the text before `at` ends with Eq., Fig., Table, Sec., § or ^; then the text is not a citation."""
    words = text[max(0, at - 16) : at].split()
    word = words[-1].lstrip("([").rstrip(".").casefold() if words else ""
    return word in _BEFORE_NUMBERS or word.endswith(("^", "§"))


def _normalize(number: str) -> str:
    return re.sub(r"[\s\-–]+", ".", number.strip().strip(".()")).casefold()
