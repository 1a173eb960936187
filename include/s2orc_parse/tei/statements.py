"""Find theorems and similar statements in a text, and link their mentions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from s2orc_parse.parse_model import RefEntry, RefType
from s2orc_parse.tei.drafts import TextDraft
from s2orc_parse.words import read_table

MAX_STATEMENT = 5_000  # maximum number of characters of a statement's entry
_WORDS: Mapping[str, str] = read_table("tei/words")["statements"]
_WORD = "(?i:" + "|".join(f"(?P<{name}>{word})" for name, word in _WORDS.items()) + ")"
_NUM = r"(?:[A-Z]\.?)?\d{1,3}(?:\.\d{1,3}|\s\.\s\d{1,3}){0,3}(?!\.?\d|%)|[IVX]{1,5}(?![A-Za-z])|[A-Z](?![A-Za-z'’])"
_AT_START = re.compile(rf"{_WORD}\s+(?P<num>{_NUM})(?:\s*[.:]|\s*\([^()]{{1,150}}\)|\s+(?=[A-Z(]))")
_IN_TEXT = re.compile(rf"(?<![^\s]){_WORD}\s+(?P<num>{_NUM})\s*(?:\([^()]{{1,150}}\)\s*)?[.:]\s")
_IN_HEAD = re.compile(rf"{_WORD}\s+(?P<num>{_NUM})(?=\W|$)")
_SENTENCE_END = re.compile(r"[.!?:□∎■◻▪][)\]]?\s$|\[\d+\]\.\s$")
_ITEM = re.compile(_NUM)
_MENTION = re.compile(rf"(?<![A-Za-z]){_WORD}\s+(?P<items>(?:{_NUM})(?:\s*(?:,|and|&|or|to|–|-)\s*(?:{_NUM}))*)")
_CITED_BEFORE = re.compile(r"\[[^\[\]]*$|(?:19|20)\d\d[a-z]?,\s*$")
_CITED_AFTER = re.compile(
    r"\s*,?\s+(?:of|in|from)\s+(?:\[|\(?[A-Z][\w’'-]+(?:\s+(?:et\s+al|and|&)|\s*[\[(,]\s*(?:\d|in\b)))"
)
_HINT = re.compile(r"\s(?:[A-Z]\.?)?\d|\s[A-Z]{1,5}\b")


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

    def mentions(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield (start, end, key) of every mention. The first item of a list includes the word.

        A statement's own label is not a mention, and neither is a theorem of a cited work: `[18, Theorem 5]`, `Lemma 2
        of [3]`.
        """
        if not self._keys:
            return
        for match in _MENTION.finditer(text):
            start = match.start()
            if _CITED_BEFORE.search(text[max(0, start - 80) : start]) or _CITED_AFTER.match(text, match.end()):
                continue
            if _match_label(text, start) is not None:
                continue
            yield from link_items(match, _ITEM, partial(self._find, _get_kind(match)))

    def _find(self, kind: str, number: str) -> str | None:
        return self._keys.get((kind, _normalize(number)))


def _read_statements(drafts: Iterable[TextDraft]) -> Iterator[Statement]:
    """Yield the statements in the order of the text. A section header may be a statement's label."""
    section = None
    for draft in drafts:
        if draft.section is not section:
            section = draft.section
            if section.heads and (match := _IN_HEAD.match(section.heads[-1])):
                yield Statement(_get_kind(match), _normalize(match["num"]), f"{section.heads[-1]} {draft.text}")
        if not _HINT.search(draft.text):
            continue
        found = [match for at in _find_candidates(draft.text) if (match := _match_label(draft.text, at)) is not None]
        for at, match in enumerate(found):
            end = found[at + 1].start() if at + 1 < len(found) else len(draft.text)
            yield Statement(_get_kind(match), _normalize(match["num"]), draft.text[match.start() : end])


def _find_candidates(text: str) -> Iterator[int]:
    yield 0
    yield from (match.start() for match in _IN_TEXT.finditer(text) if match.start())


def _match_label(text: str, at: int) -> re.Match[str] | None:
    """Return the label of the statement that begins at a position: at the start of the text or of a sentence."""
    if at == 0:
        return _AT_START.match(text) if text[:1].isupper() else None
    if not text[at].isupper() or not _SENTENCE_END.search(text[max(0, at - 12) : at]):
        return None
    return _IN_TEXT.match(text, at)


def _get_kind(match: re.Match[str]) -> str:
    return next(name for name in _WORDS if match[name])


def _normalize(number: str) -> str:
    return re.sub(r"\s+", "", number)
