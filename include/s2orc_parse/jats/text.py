"""JATS elements → texts: paragraphs with their callouts and formulas, each character once and in order.

White space runs become one space while the text is put together, so that every offset is right from the start.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from s2orc_parse import tei
from s2orc_parse.jats.elements import BREAK, CALLOUT, DISPLAYED, DIVIDE, DOES, FLOAT, INLINE, ITEM, LEAVE, NOTE, TITLE
from s2orc_parse.jats.formulas import Formula, read_formula
from s2orc_parse.jats.outcome import BadArticle, Outcome
from s2orc_parse.jats.read import Element
from s2orc_parse.parse_model import EQUATION, EqSpan
from s2orc_parse.tei.sections import MAX_PATH, NO_SECTION, Section
from s2orc_parse.tei.text import Mark

MAX_DEPTH = 120  # elements within elements of a text: what Python's own stack surely bears
_NUMBER = re.compile(r"(?:\d{1,3}|[A-Z]|[IVXLC]{1,6})(?:[.\-][0-9A-Za-z]{1,3})*")
_IN_HEAD = re.compile(
    r"(?:(?P<dotted>(?:\d{1,2}|[A-Z])(?:\.\d{1,2})+)\.?(?:\s+|$)|(?P<plain>\d{1,2})[.)](?:\s+|$)"
    r"|(?P<roman>[IVX]{1,6})\.\s+(?=[A-Z]))(?P<rest>.*)"
)


@dataclass(slots=True)
class Draft(tei.text.Draft):
    """A text with what the file says of its parts; `inline` are the formulas in its lines."""

    inline: list[EqSpan] = field(default_factory=list)


class TextReader:
    """Reads elements into drafts; floats and notes met on the way are kept in document order.

    `entries` are the ids of bibliography entries: what refers to one is a citation, whatever the file calls it. `referenced` are
    the ids that something refers to: of a group of notes the others are paragraphs.
    """

    def __init__(self, entries: Container[str] = (), *, referenced: Container[str] = (), flat: bool = False) -> None:
        self.drafts: list[Draft] = []
        self.floats: list[Element] = []
        self.notes: list[Element] = []
        self.sections: dict[str, Section] = {}  # by id
        self._entries = entries
        self._referenced = referenced
        self._section = NO_SECTION
        self._flat = flat
        self._depth = 0
        self._start()

    def read(self, elements: Iterable[Element], section: Section = NO_SECTION) -> None:
        """Read elements, each for what it is (a section, a paragraph), inside a section."""
        self._section = section
        for element in elements:
            self._element(element)
            self._flush()

    def read_flat(self, element: Element) -> None:
        """Read the content of an element into the one draft of a flat reader."""
        self._content(element)

    def draft(self) -> Draft:
        """What has been read since the last paragraph ended."""
        return Draft("".join(self._parts), self._section, self._marks, self._formulas, self._inline)

    def _start(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._pending = False  # a space is due before the next word
        self._begun = False  # what stands in the buffer is the label of what comes
        self._marks: list[Mark] = []
        self._formulas: list[tuple[int, Element]] = []
        self._inline: list[EqSpan] = []

    def _flush(self) -> None:
        if self._flat or self._begun:
            self._pending = True
        elif self._length:
            self.drafts.append(self.draft())
            self._start()
        else:
            self._pending = False

    def _add(self, text: str) -> None:
        """Append text, white space normalised."""
        if not text.isalnum():
            first, last = text[0].isspace(), text[-1].isspace()
            text = " ".join(text.split())
            if not text:
                self._pending = True
                return
        else:
            first = last = False
        self._begun = False
        if self._length and (self._pending or first):
            self._parts.append(" ")
            self._length += 1
        self._parts.append(text)
        self._length += len(text)
        self._pending = last

    def _content(self, element: Element) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BadArticle(Outcome.TOO_DEEP)
        if text := element.text:
            self._add(text)
        for child in element:
            does = DOES.get(child.tag)
            if does is not None:
                self._act(child, does)
            elif len(child):
                self._content(child)
            elif text := child.text:
                self._add(text)
            if text := child.tail:
                self._add(text)
        self._depth -= 1

    def _element(self, element: Element) -> None:
        does = DOES.get(element.tag)
        if does is None:
            self._content(element)
        else:
            self._act(element, does)

    def _act(self, element: Element, does: str) -> None:
        if does is CALLOUT:
            self._callout(element)
        elif does is LEAVE:
            return
        elif does is INLINE:
            self._formula_in_line(element)
        elif self._flat:
            self._in_flat(element, does)
        elif does is BREAK:
            self._flush()
            self._content(element)
            self._flush()
        elif does is ITEM:
            self._item(element)
        elif does is DIVIDE:
            self._divide(element)
        elif does is FLOAT:
            self.floats.append(element)
        elif does is NOTE:
            self._note(element)
        elif does is DISPLAYED:
            self._formula(element)
        elif does is TITLE:
            parent = element.getparent()
            above = parent.tag if parent is not None else ""
            if above != "caption" and DOES.get(above) is not DIVIDE:  # the title of a list
                self._flush()
                self._content(element)
                self._flush()
        else:
            self._pending = True
            self._content(element)
            self._pending = True

    def _note(self, element: Element) -> None:
        parent = element.getparent()
        grouped = parent is not None and parent.tag == "fn-group"
        if grouped and element.get("id", "") not in self._referenced:
            self._item(element)
        else:
            self.notes.append(element)

    def _in_flat(self, element: Element, does: str) -> None:
        """A caption, a cell or a note is one text, whatever it is made of."""
        if does is FLOAT:
            return
        if does is DISPLAYED:
            self._formula_in_line(element)
            return
        self._pending = True
        self._content(element)
        self._pending = True

    def _item(self, element: Element) -> None:
        """An item of a list, a definition, a theorem: what names it begins its first paragraph."""
        self._flush()
        for child in element:
            if child.tag in ("label", "title", "term"):
                for text in child.itertext():
                    self._add(text)
                self._pending = True
        self._begun = self._length > 0
        for child in element:
            if child.tag not in ("label", "title", "term"):
                self._element(child)
                if child.tail:
                    self._add(child.tail)
        self._begun = False
        self._flush()

    def _divide(self, element: Element) -> None:
        self._flush()
        outer = self._section
        label, head = head_of(element)
        if label or head:
            num, head = number_of(label, head)
            self._section = section_in(outer, head or num or label, num)
        if (identifier := element.get("id")) and self._section is not outer:
            self.sections.setdefault(identifier, self._section)
        self._content(element)
        self._flush()
        self._section = outer

    def _callout(self, element: Element) -> None:
        """A reference: what it prints, and what it refers to."""
        if not self._flat and not len(element) and not element.text:
            return
        parts, start = len(self._parts), self._length
        was, self._flat = self._flat, True
        self._content(element)
        self._flat = was
        if self._length > start:
            targets = tuple((element.get("rid") or "").split())
            cites = element.get("ref-type") == "bibr" or any(target in self._entries for target in targets)
            mark = Mark(start + (self._parts[parts] == " "), self._length, "cite" if cites else "other", targets)
            self._marks.append(mark)

    def _formula(self, element: Element) -> None:
        self._pending = True
        self._add(EQUATION)
        self._formulas.append((self._length - len(EQUATION), element))
        self._pending = True

    def _formula_in_line(self, element: Element) -> None:
        formula = read_formula(element)
        if not formula.text:
            return
        parts, start = len(self._parts), self._length
        self._add(f" {formula.text}" if self._pending else formula.text)
        start += self._parts[parts] == " "
        self._inline.append(_span(formula, start, self._length))


def _span(formula: Formula, start: int, end: int) -> EqSpan:
    return EqSpan(start, end, formula.text, None, formula.text, formula.latex, formula.mathml)


def section_in(outer: Section, head: str, num: str | None = None) -> Section:
    """The section that a head opens inside another; of a path that is too long the outermost heads are left out."""
    heads = (*outer.heads, head)
    while len(heads) > 1 and sum(map(len, heads)) > MAX_PATH:
        heads = heads[1:]
    return Section(heads, "::".join(head.replace("::", ":") for head in heads), num)


def head_of(element: Element) -> tuple[str, str]:
    """(label, title) that an element prints over its content; a box has its title in a caption."""
    label = title = ""
    for child in element:
        name = child.tag
        if name == "label":
            label = label or plain(child)
        elif name == "title":
            title = title or plain(child)
        elif name == "caption":
            title = title or plain(child.find("title"))
        elif name == "p":
            break
    return label, title


def number_of(label: str, head: str) -> tuple[str | None, str]:
    """The number of a section and its head without it; a label that is not a number ("Box 1") belongs to the head."""
    if label:
        num = label.strip(" .):")
        return (num, head) if _NUMBER.fullmatch(num) else (None, f"{label} {head}".strip())
    match = _IN_HEAD.match(head)
    if match is None:
        return None, head
    return match["dotted"] or match["plain"] or match["roman"], match["rest"]


def flat(elements: Iterable[Element], entries: Container[str] = ()) -> Draft:
    """A caption, a cell or a note: the text of some elements as one draft."""
    reader = TextReader(entries, flat=True)
    for element in elements:
        reader.read_flat(element)
        reader._pending = True
    return reader.draft()


def plain(element: Element | None) -> str:
    """The text of a head without its callouts' notes and formulas' other forms; "" for None."""
    if element is None:
        return ""
    if len(element):
        return flat([element]).text
    text = element.text or ""
    return text if text.isalnum() else " ".join(text.split())
