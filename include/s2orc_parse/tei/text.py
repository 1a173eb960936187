"""Convert elements to texts: paragraphs with their citations and formulas, with each character once and in order.

White space is normalized while the text is built, so that all offsets are final.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from lxml import etree

from s2orc_parse.parse_model import EQUATION
from s2orc_parse.tei.read import NAMES, BadTei, TeiRefusal
from s2orc_parse.tei.sections import MAX_HEAD, NO_SECTION, SectionPath, Sections

MAX_DEPTH = 150  # maximum nesting of elements in a text; Python's stack allows this
Element = etree._Element


class ReferenceMark(NamedTuple):
    """A reference as marked in the TEI."""

    start: int
    end: int
    kind: str  # cite, figure, table, formula, section, footnote
    targets: tuple[str, ...]  # xml:ids, without "#"


@dataclass(slots=True)
class TextDraft:
    """A text with the annotations of the TEI."""

    text: str
    section: SectionPath = NO_SECTION
    marks: list[ReferenceMark] = field(default_factory=list)
    # position of the token EQUATION, and the formula's element
    formulas: list[tuple[int, Element]] = field(default_factory=list)


# the effect of an element on the surrounding text
_BREAK = "begins and ends a paragraph"
_DIVIDE = "begins and ends paragraphs, with a separate header"
_HEAD = "names the following text"
_CALLOUT = "refers to something"
_FORMULA = "leaves a token"
_FLOAT = "has content outside the running text"
_NOTE = "is read separately"
_SPACE = "separates words"
_LEAVE = "is read elsewhere, or not at all"

_DOES = {
    **dict.fromkeys(("p", "ab", "list", "item", "quote", "lg", "l"), _BREAK),
    **dict.fromkeys(("div", "div1", "div2", "div3", "body", "front", "group", "text"), _DIVIDE),
    "head": _HEAD,
    "ref": _CALLOUT,
    "formula": _FORMULA,
    **dict.fromkeys(("figure", "table"), _FLOAT),
    "note": _NOTE,
    **dict.fromkeys(("s", "lb", "pb", "cb", "cell", "row"), _SPACE),
    **dict.fromkeys(("listBibl", "biblStruct", "listOrg", "graphic", "teiHeader", "facsimile", "back"), _LEAVE),
}
_ID = re.compile(r"#\S+|(?:foot|fig|tab|formula)_\d+|b\d+")  # ids of TEI elements in GROBID's form, not addresses
_KINDS = {
    **dict.fromkeys(("bibr", "bibl", "biblio", "citation"), "cite"),
    **dict.fromkeys(("figure", "fig"), "figure"),
    **dict.fromkeys(("table", "tab"), "table"),
    **dict.fromkeys(("formula", "eq", "equation", "disp-formula"), "formula"),
    **dict.fromkeys(("section", "sec"), "section"),
    **dict.fromkeys(("foot", "fn"), "footnote"),
}


class TeiTextReader:
    """Reads elements into drafts, and collects floats, formulas and notes in document order.

    With `sections`, headers open sections; without (in an abstract), they only end paragraphs.
    """

    def __init__(self, sections: Sections | None = None, *, flat: bool = False) -> None:
        self.drafts: list[TextDraft] = []
        self.floats: list[Element] = []
        self.notes: list[Element] = []
        self._sections = sections
        self._section = NO_SECTION
        self._parent = NO_SECTION  # the section that contains the current division
        self._previous = NO_SECTION  # the section of the previous division
        self._in_paragraph = False
        self._flat = flat
        self._depth = 0
        self._start()

    def read(self, container: Element) -> None:
        """Read the content of a container (body, abstract, a part of the back matter)."""
        self._section = self._parent = self._previous = NO_SECTION
        self._content(container)
        self._flush()

    def read_part(self, part: Element, section: SectionPath = NO_SECTION) -> None:
        """Read one element (a division, a paragraph, a note) inside a section."""
        self._section = self._parent = self._previous = section
        self._element(part)
        self._flush()

    def draft(self) -> TextDraft:
        """Return the text since the end of the last paragraph."""
        return TextDraft("".join(self._parts), self._section, self._marks, self._formulas)

    def _start(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._pending = False  # a space is needed before the next word
        self._marks: list[ReferenceMark] = []
        self._formulas: list[tuple[int, Element]] = []

    def _flush(self) -> None:
        if self._length and not self._flat:
            self.drafts.append(self.draft())
            self._start()
        self._pending = self._flat

    def _add(self, text: str) -> None:
        """Append text with normalized white space."""
        if text.isascii() and not ("  " in text or "\n" in text or "\t" in text or "\r" in text):
            words = text.strip(" ")  # shortcut with the same result
        else:
            words = " ".join(text.split())
        if not words:
            self._pending = True
            return
        if self._length and (self._pending or text[0].isspace()):
            self._parts.append(" ")
            self._length += 1
        self._parts.append(words)
        self._length += len(words)
        self._pending = text[-1].isspace()

    def _content(self, element: Element) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BadTei(TeiRefusal.TOO_DEEP)
        if element.text:
            self._add(element.text)
        for child in element:
            self._element(child)
            if child.tail:
                self._add(child.tail)
        self._depth -= 1

    def _element(self, element: Element) -> None:
        does = _DOES.get(NAMES[element.tag])
        if does is None:
            self._content(element)
        elif does is _CALLOUT:
            self._callout(element)
        elif does is _FLOAT:
            self.floats.append(element)
        elif does is _LEAVE:
            return
        elif does is _SPACE or self._flat:
            self._pending = True
            self._content(element)
            self._pending = True
        elif does is _BREAK or does is _DIVIDE:
            self._block(element, inside_paragraph=does is _BREAK)
        elif does is _NOTE:
            self.notes.append(element)
        elif does is _FORMULA:
            self._formula(element)
        elif len(head := plain(element)) > MAX_HEAD:
            self._block(element, inside_paragraph=True)
        else:
            self._flush()
            if self._sections is not None:
                unchanged = self._previous if self._section is self._parent else self._section
                self._section = self._sections.open_section(self._parent, element.get("n"), head) or unchanged

    def _block(self, element: Element, *, inside_paragraph: bool) -> None:
        self._flush()
        outer, section, was_in_paragraph = self._parent, self._section, self._in_paragraph
        self._in_paragraph = inside_paragraph
        if not inside_paragraph:
            self._parent = section
        self._content(element)
        self._flush()
        self._parent, self._in_paragraph = outer, was_in_paragraph
        if not inside_paragraph:
            self._previous, self._section = self._section, section

    def _callout(self, element: Element) -> None:
        parts, start = len(self._parts), self._length
        target = element.get("target")
        # foot_0: GROBID writes the note's id if it cannot read its mark.
        if target and element.text and _ID.fullmatch(target) and target.lstrip("#") == element.text.strip():
            if (element.tail or " ")[0] in ",.;:)]":
                self._pending = False
            return
        if len(element):  # a reference's text includes the text of its child elements
            self._flat, was_flat = True, self._flat
            self._content(element)
            self._flat = was_flat
        elif element.text:
            self._add(element.text)
        kind = _KINDS.get((element.get("type") or "").strip())
        if kind and self._length > start:
            targets = tuple(one[1:] for one in target.split() if one[0] == "#") if target else ()
            self._marks.append(ReferenceMark(start + (self._parts[parts] == " "), self._length, kind, targets))

    def _formula(self, element: Element) -> None:
        if not self._in_paragraph:
            self._flush()
        self._pending = True
        self._add(EQUATION)
        self._formulas.append((self._length - len(EQUATION), element))
        self._pending = True
        if not self._in_paragraph:
            self._flush()


def read_flat(elements: Iterable[Element]) -> TextDraft:
    """Return the text of some elements as one draft, ignoring their paragraphs, formulas and notes; used for captions."""
    reader = TeiTextReader(flat=True)
    for element in elements:
        reader.read(element)
    return reader.draft()


def plain(element: Element | None) -> str:
    """Return all text of an element with normalized white space; "" for None."""
    if element is None:
        return ""
    text = "".join(element.itertext()) if len(element) else element.text
    return (text if text.isalpha() else " ".join(text.split())) if text else ""
