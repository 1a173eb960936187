"""Convert elements of the TEI to texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NoReturn

from s2orc_parse.outcomes import BadTei, TeiRefusal
from s2orc_parse.tei.drafts import Effect, TextDraft, TextReader
from s2orc_parse.tei.repairs import TextRepairs
from s2orc_parse.tei.sections import MAX_HEAD, NO_SECTION, SectionPath, Sections
from s2orc_parse.words import invert, read_table
from s2orc_parse.xml import NAMES, Element, extract_text

_TABLE = read_table("tei/words")
_DOES = {name: Effect[effect] for name, effect in invert(_TABLE["effects"]).items()}
_ID = re.compile(r"#\S+|(?:foot|fig|tab|formula)_\d+|b\d+")  # ids of TEI elements in GROBID's form, not addresses
_KINDS = invert(_TABLE["kinds"])


class TeiTextReader(TextReader):
    """Reads elements of a TEI into drafts. Headers open `sections`; without these (in an abstract), they only end paragraphs."""

    MAX_DEPTH = 150

    def __init__(
        self, sections: Sections | None = None, *, repairs: TextRepairs | None = None, flat: bool = False
    ) -> None:
        super().__init__(flat=flat)
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
        does = _DOES.get(NAMES[element.tag])
        if does is None:
            self._content(element)
        elif does is Effect.CALLOUT:
            self._reference(element)
        elif does is Effect.FLOAT:
            self.floats.append(element)
        elif does is Effect.LEAVE:
            return
        elif does is Effect.SPACE or self._flat:
            self._spaced(element)
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
        elif len(head := extract_text(element)) > MAX_HEAD:
            self._block(element, inside_paragraph=True)
        else:
            self._flush()
            if self._sections is not None:
                unchanged = self._previous if self._section is self._parent else self._section
                self._section = self._sections.open_section(self._parent, element.get("n"), head) or unchanged

    def _block(self, element: Element, *, inside_paragraph: bool) -> None:
        outer, section, was_in_paragraph = self._parent, self._section, self._in_paragraph
        self._in_paragraph = inside_paragraph
        if not inside_paragraph:
            self._parent = section
        self._paragraph(element)
        self._parent, self._in_paragraph = outer, was_in_paragraph
        if not inside_paragraph:
            self._previous, self._section = self._section, section

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


def read_flat(elements: Iterable[Element]) -> TextDraft:
    """Return the text of some elements as one draft, ignoring their paragraphs, formulas and notes; used for captions."""
    return TeiTextReader(flat=True).read_flat(elements)
