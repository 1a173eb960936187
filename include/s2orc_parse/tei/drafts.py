"""Build texts from elements: paragraphs with their citations and formulas, with each character once and in order.

White space is normalized while a text is built, so that all offsets are final.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple, NoReturn

from s2orc_parse.parse_model import EQUATION, EqSpan
from s2orc_parse.tei.sections import NO_SECTION, SectionPath
from s2orc_parse.words import unify_characters
from s2orc_parse.xml import Element

_CONTINUES = re.compile(r"(?:[a-z]{2,}|a)(?:[\s,;:]|\Z)")
"""The start of a paragraph that continues the sentence before a formula: `where x is …`"""
_ENDS_SENTENCE = re.compile(r"[.!?][)\]\"'”’]*\Z")


class Effect(Enum):
    """The effect of an element on the surrounding text. An element without an effect is inline."""

    BREAK = "begins and ends a paragraph"
    ITEM = "begins and ends a paragraph, which its label or term begins"
    DIVIDE = "begins and ends paragraphs, and may have a header"
    HEAD = "names the following text"
    CALLOUT = "refers to something"
    FORMULA = "leaves a token"
    INLINE = "is a formula in the text"
    FLOAT = "has content outside the running text"
    NOTE = "is read separately"
    SPACE = "separates words"
    LEAVE = "is read elsewhere, or not at all"


class ReferenceMark(NamedTuple):
    """A reference as marked in the source."""

    start: int
    end: int
    kind: str  # cite, figure, table, formula, section, footnote; other if the source only names the target
    targets: tuple[str, ...]  # ids, without "#"


@dataclass(slots=True)
class TextDraft:
    """A text with the annotations of the source."""

    text: str
    section: SectionPath = NO_SECTION
    marks: list[ReferenceMark] = field(default_factory=list)
    # position of the token EQUATION, and the formula's element
    formulas: list[tuple[int, Element]] = field(default_factory=list)
    inline: list[EqSpan] = field(default_factory=list)

    @property
    def _is_formula(self) -> bool:
        return len(self.text) == len(self.formulas) * (len(EQUATION) + 1) - 1

    def continue_with(self, draft: TextDraft) -> bool:
        """Append a draft that a display formula divides from this draft; return whether it does.

        The formula follows an unfinished sentence, or the draft continues the sentence after this draft's last formula.
        """
        if draft.section != self.section or not (draft.formulas or self.formulas):
            return False
        if draft.formulas and draft._is_formula:
            if _ENDS_SENTENCE.search(self.text):
                return False
        elif not (self.text.endswith(EQUATION) and self.formulas and _CONTINUES.match(draft.text)):
            return False
        shift = len(self.text) + 1
        self.text = f"{self.text} {draft.text}"
        self.marks += [mark._replace(start=mark.start + shift, end=mark.end + shift) for mark in draft.marks]
        self.formulas += [(at + shift, element) for at, element in draft.formulas]
        self.inline += [replace(span, start=span.start + shift, end=span.end + shift) for span in draft.inline]
        return True


class TextBuffer:
    """A text under construction."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._pending = False  # a space is needed before the next word

    def append(self, text: str) -> tuple[int, int]:
        """Append text with normalized white space; return the interval of its words."""
        text = unify_characters(text)
        spaced = self._repair(text if text.isalnum() else " ".join(f"|{text}|".split())[1:-1])
        words = spaced.strip(" ")
        if not words:
            self._pending = self._pending or bool(spaced)
            return self._length, self._length
        if self._length and (self._pending or spaced[0] == " "):
            self._parts.append(" ")
            self._length += 1
        start = self._length
        self._parts.append(words)
        self._length += len(words)
        self._pending = spaced[-1] == " "
        return start, self._length

    def _repair(self, text: str) -> str:
        """Return a text with single spaces in the form that the buffer stores."""
        return text


class TextReader(TextBuffer, ABC):
    """Reads elements into drafts, and collects floats and notes in document order. A flat reader reads its elements as one text."""

    MAX_DEPTH: int
    """maximum nesting of elements in a text"""

    def __init__(self, *, flat: bool) -> None:
        super().__init__()
        self.drafts: list[TextDraft] = []
        self.floats: list[Element] = []
        self.notes: list[Element] = []
        self._section = NO_SECTION
        self._flat = flat
        self._depth = 0
        self._start()

    @abstractmethod
    def _element(self, element: Element) -> None:
        """Read one element."""

    @abstractmethod
    def _reject_depth(self) -> NoReturn:
        """Raise the error for elements that are nested too deep."""

    def read_flat(self, elements: Iterable[Element]) -> TextDraft:
        """Return the content of some elements as one draft."""
        for element in elements:
            self._content(element)
            self._pending = True
        return self.draft()

    def draft(self) -> TextDraft:
        """Return the text since the end of the last paragraph."""
        return TextDraft("".join(self._parts), self._section, self._marks, self._formulas, self._inline)

    def _start(self) -> None:
        TextBuffer.__init__(self)
        self._begun = False  # the buffer contains the label of the following text
        self._marks: list[ReferenceMark] = []
        self._formulas: list[tuple[int, Element]] = []
        self._inline: list[EqSpan] = []

    def _flush(self) -> None:
        if self._flat or self._begun:
            self._pending = True
        elif self._length:
            draft = self.draft()
            if not (self.drafts and self.drafts[-1].continue_with(draft)):
                self.drafts.append(draft)
            self._start()
        else:
            self._pending = False

    def append(self, text: str) -> tuple[int, int]:
        """Append text with normalized white space; return the interval of its words."""
        start, end = super().append(text)
        if end > start:
            self._begun = False
        return start, end

    def _content(self, element: Element) -> None:
        self._depth += 1
        if self._depth > self.MAX_DEPTH:
            self._reject_depth()
        if element.text:
            self.append(element.text)
        try:
            for child in element:
                self._element(child)
                if child.tail:
                    self.append(child.tail)
        except RecursionError:  # The caller's own stack is deep.
            self._reject_depth()
        self._depth -= 1

    def _leave(self, element: Element) -> None:
        """Leave out an element. No space remains before a punctuation mark."""
        if (element.tail or " ")[0] in ",.;:)]":
            self._pending = False

    def _spaced(self, element: Element) -> None:
        """Read the content of an element that separates words."""
        self._pending = True
        self._content(element)
        self._pending = True

    def _paragraph(self, element: Element) -> None:
        """Read the content of an element that begins and ends a paragraph."""
        self._flush()
        self._content(element)
        self._flush()

    def _callout(self, element: Element, kind: str | None, targets: tuple[str, ...]) -> None:
        """Read the text of a reference, with its child elements, and mark it if it has a kind."""
        parts, start = len(self._parts), self._length
        was_flat, self._flat = self._flat, True
        self._content(element)
        self._flat = was_flat
        if kind and self._length > start:
            self._marks.append(ReferenceMark(start + (self._parts[parts] == " "), self._length, kind, targets))

    def _formula(self, element: Element) -> None:
        self._pending = True
        start, _ = self.append(EQUATION)
        self._formulas.append((start, element))
        self._pending = True
