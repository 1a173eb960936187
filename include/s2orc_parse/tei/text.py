"""Convert elements of the TEI to texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NoReturn

from s2orc_parse.bibliography.tex import extract_tex, read_formula_text
from s2orc_parse.outcomes import BadTei, TeiRefusal
from s2orc_parse.parse_model import EqSpan
from s2orc_parse.tei.drafts import Effect, TextDraft, TextReader
from s2orc_parse.tei.repairs import TextRepairs
from s2orc_parse.tei.sections import MAX_HEAD, NO_SECTION, SectionPath, Sections
from s2orc_parse.words import invert, read_table
from s2orc_parse.xml import NAMES, Element, extract_text

_TABLE = read_table("tei/words")
_DOES = {name: Effect[effect] for name, effect in invert(_TABLE["effects"]).items()}
_ID = re.compile(r"#\S+|(?:foot|fig|tab|formula)_\d+|b\d+")  # ids of TEI elements in GROBID's form, not addresses
_KINDS = invert(_TABLE["kinds"])
_LABELS, _LABELED = frozenset(("label", "speaker")), frozenset(("list", "sp"))
_NO_SECTIONS = frozenset(name for name, does in _DOES.items() if does is Effect.BREAK)
_OTHER_FORMS = frozenset(("corr", "reg", "expan"))  # the page prints the other form of a `choice`


class TeiTextReader(TextReader):
    """Reads elements of a TEI into drafts. Headers open `sections`; without these (in an abstract), they only end paragraphs."""

    MAX_DEPTH = 150

    def __init__(
        self,
        sections: Sections | None = None,
        *,
        repairs: TextRepairs | None = None,
        flat: bool = False,
        is_head: bool = False,
    ) -> None:
        super().__init__(flat=flat)
        self._is_head = is_head
        self._repairs = repairs or TextRepairs()
        self._sections = sections
        self._parent = NO_SECTION  # the section that contains the current division
        self._previous = NO_SECTION  # the section of the previous division
        self._in_paragraph = False

    def _repair(self, text: str) -> str:
        return self._repairs.apply(text)

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

    def _reject_depth(self) -> NoReturn:
        raise BadTei(TeiRefusal.TOO_DEEP)

    def _element(self, element: Element) -> None:
        name = NAMES[element.tag]
        does = _DOES.get(name)
        if does is None:
            if name in _LABELS and not self._flat and NAMES[_parent(element)] in _LABELED:
                self._label(element)
            elif name not in _OTHER_FORMS or NAMES[_parent(element)] != "choice":
                self._content(element)
        elif does is Effect.CALLOUT:
            self._reference(element)
        elif does is Effect.FLOAT:
            self.floats.append(element)
        elif does is Effect.LEAVE or (does is Effect.NOTE and self._is_head):
            return
        elif element.get("break") == "no":  # within a word
            self._pending = False
        elif does is Effect.SPACE or self._flat:
            self._spaced(element)
        elif name == "quote" and self._in_paragraph and not _is_block(element):
            self._content(element)
        elif does is Effect.FORMULA and element.get("rend") == "inline":
            self._inline_formula(element)
        elif does is Effect.BREAK or does is Effect.DIVIDE:
            self._block(element, inside_paragraph=does is Effect.BREAK)
        elif does is Effect.NOTE:
            self.notes.append(element)
        elif does is Effect.FORMULA:
            if not self._in_paragraph:
                self._flush()
            self._formula(element)
            if not self._in_paragraph:
                self._flush()
        elif NAMES[_parent(element)] in _NO_SECTIONS or len(head := read_head(element)) > MAX_HEAD:
            self._block(element, inside_paragraph=True)
        else:
            self._flush()
            self.notes += element.iterfind(".//{*}note")
            if self._sections is not None:
                unchanged = self._previous if self._section is self._parent else self._section
                self._section = self._sections.open_section(self._parent, element.get("n"), head) or unchanged

    def _block(self, element: Element, *, inside_paragraph: bool) -> None:
        outer, section, was_in_paragraph = self._parent, self._section, self._in_paragraph
        self._in_paragraph = inside_paragraph
        if not inside_paragraph:
            self._parent = section
        self._paragraph(element)
        if self._begun and NAMES[element.tag] in _LABELED:  # a label without an item
            self._begun = False
            self._flush()
        self._parent, self._in_paragraph = outer, was_in_paragraph
        if not inside_paragraph:
            self._previous, self._section = self._section, section

    def _label(self, element: Element) -> None:
        """Read the label of an item, or the name of a speaker. It begins the following text."""
        self._flush()
        self._content(element)
        self._begun = self._pending = self._length > 0

    def _inline_formula(self, element: Element) -> None:
        tex = element.get("notation", "").casefold() in ("tex", "latex")
        text = "".join(element.itertext())
        start, end = self.append(read_formula_text(text) if tex else text)
        shown = "".join(self._parts)[start:end]
        if shown:
            self._inline.append(EqSpan(start, end, shown, None, shown, extract_tex(text) if tex else None))

    def _reference(self, element: Element) -> None:
        target = element.get("target")
        # foot_0: GROBID writes the note's id if it cannot read its mark.
        if target and element.text and _ID.fullmatch(target) and target.lstrip("#") == element.text.strip():
            self._leave(element)
            return
        targets = tuple(one[1:] for one in target.split() if one[0] == "#") if target else ()
        if self._parts and self._parts[-1][-1] == ";" and (element.text or "")[:1].isalpha():
            self._pending = True  # GROBID writes no space between citations: `2018;Smith`
        self._callout(element, _KINDS.get((element.get("type") or "").strip()), targets)


def _parent(element: Element) -> object:
    parent = element.getparent()
    return None if parent is None else parent.tag


def _is_block(quote: Element) -> bool:
    """Return whether a quotation within a paragraph is printed as a block."""
    return "block" in (quote.get("rend") or quote.get("rendition") or "") or any(
        _DOES.get(NAMES[child.tag]) is Effect.BREAK for child in quote
    )


def read_head(element: Element) -> str:
    """Return the text of a header or title without its notes."""
    return TeiTextReader(flat=True, is_head=True).read_flat([element]).text if len(element) else extract_text(element)


def read_flat(elements: Iterable[Element]) -> TextDraft:
    """Return the text of some elements as one draft, ignoring their paragraphs, formulas and notes; used for captions."""
    return TeiTextReader(flat=True).read_flat(elements)
