"""Convert JATS elements to texts: paragraphs with their citations and formulas, with each character once and in order.

White space is normalized while the text is built, so that all offsets are final.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from s2orc_parse import tei
from s2orc_parse.jats.elements import BREAK, CALLOUT, DISPLAYED, DIVIDE, DOES, FLOAT, INLINE, ITEM, LEAVE, NOTE, TITLE
from s2orc_parse.jats.formulas import JatsFormula, read_formula
from s2orc_parse.jats.outcome import BadArticle, JatsOutcome
from s2orc_parse.jats.read import Element
from s2orc_parse.parse_model import EQUATION, EqSpan
from s2orc_parse.tei.sections import NO_SECTION, SECTION_NUMBER, SectionPath, make_section
from s2orc_parse.tei.text import ReferenceMark

MAX_DEPTH = 120  # maximum nesting of elements in a text; Python's stack allows this
_IN_HEAD = re.compile(
    r"(?:(?P<dotted>(?:\d{1,2}|[A-Z])(?:\.\d{1,2})+)\.?(?:\s+|$)|(?P<plain>\d{1,2})[.)](?:\s+|$)"
    r"|(?P<roman>[IVX]{1,6})\.\s+(?=[A-Z]))(?P<rest>.*)"
)


@dataclass(slots=True)
class JatsDraft(tei.text.TextDraft):
    """A text with the annotations of the file. `inline` contains its inline formulas."""

    inline: list[EqSpan] = field(default_factory=list)


class JatsTextReader:
    """Reads elements into drafts, and collects floats and notes in document order.

    `entries` contains the ids of bibliography entries: a reference to one is a citation, regardless of its type.
    `referenced` contains all referenced ids: unreferenced notes of a group become paragraphs.
    """

    def __init__(self, entries: Container[str] = (), *, referenced: Container[str] = (), flat: bool = False) -> None:
        self.drafts: list[JatsDraft] = []
        self.floats: list[Element] = []
        self.notes: list[Element] = []
        self.sections: dict[str, SectionPath] = {}  # by id
        self._entries = entries
        self._referenced = referenced
        self._section = NO_SECTION
        self._flat = flat
        self._depth = 0
        self._start()

    def read(self, elements: Iterable[Element], section: SectionPath = NO_SECTION) -> None:
        """Read elements (sections, paragraphs) inside a section."""
        self._section = section
        for element in elements:
            self._element(element)
            self._flush()

    def read_flat(self, element: Element) -> None:
        """Read the content of an element into the only draft of a flat reader."""
        self._content(element)

    def draft(self) -> JatsDraft:
        """Return the text since the end of the last paragraph."""
        return JatsDraft("".join(self._parts), self._section, self._marks, self._formulas, self._inline)

    def _start(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._pending = False  # a space is needed before the next word
        self._begun = False  # the buffer contains the label of the following text
        self._marks: list[ReferenceMark] = []
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
        """Append text with normalized white space."""
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
            raise BadArticle(JatsOutcome.TOO_DEEP)
        if text := element.text:
            self._add(text)
        for child in element:
            does = DOES.get(child.tag)  # `_element` is repeated here because calls are slow
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
        """Read an element of a caption, a cell or a note, which is always one text."""
        if does is FLOAT:
            return
        if does is DISPLAYED:
            self._formula_in_line(element)
            return
        self._pending = True
        self._content(element)
        self._pending = True

    def _item(self, element: Element) -> None:
        """Read an item of a list, a definition or a theorem. Its label or title begins its first paragraph."""
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
        label, head = read_head(element)
        if label or head:
            num, head = split_number(label, head)
            self._section = make_section((*outer.heads, head or num or label), num)
        if (identifier := element.get("id")) and self._section is not outer:
            self.sections.setdefault(identifier, self._section)
        self._content(element)
        self._flush()
        self._section = outer

    def _callout(self, element: Element) -> None:
        """Add the text of a reference and its target."""
        if not self._flat and not len(element) and not element.text:
            return
        parts, start = len(self._parts), self._length
        was_flat, self._flat = self._flat, True
        self._content(element)
        self._flat = was_flat
        if self._length > start:
            targets = tuple((element.get("rid") or "").split())
            cites = element.get("ref-type") == "bibr" or any(target in self._entries for target in targets)
            mark = ReferenceMark(
                start + (self._parts[parts] == " "), self._length, "cite" if cites else "other", targets
            )
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


def _span(formula: JatsFormula, start: int, end: int) -> EqSpan:
    return EqSpan(start, end, formula.text, None, formula.text, formula.latex, formula.mathml)


def read_head(element: Element) -> tuple[str, str]:
    """Return the label and the title of an element. The title of a box is in its caption."""
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


def split_number(label: str, head: str) -> tuple[str | None, str]:
    """Return the number of a section and its header without the number.

    A label that is not a number ("Box 1") belongs to the header.
    """
    if label:
        num = label.strip(" .):")
        return (num, head) if SECTION_NUMBER.fullmatch(num) else (None, f"{label} {head}".strip())
    match = _IN_HEAD.match(head)
    if match is None:
        return None, head
    return match["dotted"] or match["plain"] or match["roman"], match["rest"]


def read_flat_draft(elements: Iterable[Element], entries: Container[str] = ()) -> JatsDraft:
    """Return the text of some elements as one draft; used for captions, cells and notes."""
    reader = JatsTextReader(entries, flat=True)
    for element in elements:
        reader.read_flat(element)
        reader._pending = True
    return reader.draft()


def plain(element: Element | None) -> str:
    """Return the text of a header without footnotes and alternative forms of formulas; "" for None."""
    if element is None:
        return ""
    if len(element):
        return read_flat_draft([element]).text
    text = element.text or ""
    return text if text.isalnum() else " ".join(text.split())
