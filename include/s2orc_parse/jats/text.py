"""Convert JATS elements to texts."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import NoReturn

from s2orc_parse.jats.formulas import read_formula
from s2orc_parse.outcomes import BadArticle, JatsOutcome
from s2orc_parse.parse_model import EqSpan
from s2orc_parse.tei.drafts import Effect, ReferenceMark, TextDraft, TextReader
from s2orc_parse.tei.sections import NO_SECTION, SECTION_NUMBER, SectionPath, make_section
from s2orc_parse.words import invert, read_table
from s2orc_parse.xml import Element

_DOES: dict[object, Effect] = {
    name: Effect[effect] for name, effect in invert(read_table("jats/words")["effects"]).items()
}
_FORMS = frozenset(("alternatives", "block-alternatives"))
_LABELS = frozenset(("label", "title", "term", "speaker"))
_NOTES = frozenset(("fn", "table-fn", "author-notes"))
HREF = "{http://www.w3.org/1999/xlink}href"
_YEAR = re.compile(r"(?<!\w)[12]\d{3}[a-z]?\Z")
_IN_HEAD = re.compile(
    r"(?:(?P<dotted>(?:\d{1,2}|[A-Z])(?:\.\d{1,2})+)\.?(?:\s+|$)|(?P<plain>\d{1,2})[.)](?:\s+|$)"
    r"|(?P<roman>[IVX]{1,6})\.\s+(?=[A-Z]))(?P<rest>.*)"
)


class JatsTextReader(TextReader):
    """Reads elements of an article into drafts.

    `entries` contains the ids of bibliography entries: a reference to one is a citation, regardless of its type.
    `referenced` contains all referenced ids: unreferenced notes of a group become paragraphs. A header has no notes.
    """

    MAX_DEPTH = 120

    def __init__(
        self,
        entries: Container[str] = (),
        *,
        referenced: Container[str] = (),
        flat: bool = False,
        is_head: bool = False,
    ) -> None:
        super().__init__(flat=flat)
        self.sections: dict[str, SectionPath] = {}  # by id
        self._entries = entries
        self._referenced = referenced
        self._is_head = is_head

    def read(self, elements: Iterable[Element], section: SectionPath = NO_SECTION) -> None:
        """Read elements (sections, paragraphs) inside a section."""
        self._section = section
        for element in elements:
            self._element(element)
            self._flush()

    def _reject_depth(self) -> NoReturn:
        raise BadArticle(JatsOutcome.TOO_DEEP)

    def _element(self, element: Element) -> None:
        does = _DOES.get(element.tag)
        if element.tag in _FORMS:
            forms = [form for form in element if _DOES.get(form.tag) is not Effect.LEAVE]
            if not any(_DOES.get(form.tag) is Effect.INLINE for form in forms):
                for form in forms[:1]:
                    self._element(form)
                return
            does = Effect.INLINE
        if does is None:
            if len(element):
                self._content(element)
            elif text := element.text or (element.get(HREF) if element.tag in ("ext-link", "uri") else None):
                self.append(text)
        elif self._is_head and (does is Effect.NOTE or element.get("ref-type") in _NOTES):
            self._leave(element)
        elif does is Effect.CALLOUT:
            targets = tuple((element.get("rid") or "").split())
            cites = element.get("ref-type") == "bibr" or any(target in self._entries for target in targets)
            self._callout(element, "cite" if cites else "other", targets)
        elif does is Effect.LEAVE or (does is Effect.FLOAT and self._flat):
            self._leave(element)
        elif does is Effect.INLINE or (does is Effect.FORMULA and self._flat):
            if (formula := read_formula(element)).text:
                start, end = self.append(formula.text)
                span = EqSpan(start, end, formula.text, None, formula.text, formula.latex, formula.mathml)
                self._inline.append(span)
            else:
                self._leave(element)
        elif self._flat:  # a caption, a cell or a note is always one text
            self._spaced(element)
        elif does is Effect.BREAK:
            self._paragraph(element)
        elif does is Effect.ITEM:
            self._item(element)
        elif does is Effect.DIVIDE:
            self._divide(element)
        elif does is Effect.FLOAT:
            self.floats.append(element)
        elif does is Effect.NOTE:
            parent = element.getparent()
            is_grouped = parent is not None and parent.tag == "fn-group"
            if is_grouped and element.get("id", "") not in self._referenced:
                self._item(element)
            else:
                self.notes.append(element)
        elif does is Effect.FORMULA:
            self._formula(element)
        elif does is Effect.HEAD:
            parent = element.getparent()
            above = parent.tag if parent is not None else ""
            if above == "chem-struct":
                self._spaced(element)
            elif above not in ("caption", "disp-formula-group") and _DOES.get(above) is not Effect.DIVIDE:
                self._paragraph(element)  # the title of a list
        else:
            self._spaced(element)

    def _callout(self, element: Element, kind: str | None, targets: tuple[str, ...]) -> None:
        """Read a reference. A citation without letters and digits cites with the year before it: `Li et al., 1991<xref/>` (IUCr)."""
        if kind == "cite" and not any(map(str.isalnum, "".join(element.itertext()))):
            before = "".join(self._parts[-3:])
            year = _YEAR.search(before)
            start = self._length - len(before) + (year.start() if year else 0)
            if year and not (self._marks and self._marks[-1].end > start):
                self._marks.append(ReferenceMark(start, self._length, kind, targets))
                kind = None
        super()._callout(element, kind, targets)

    def _item(self, element: Element) -> None:
        """Read an item of a list, a definition or a theorem. Its label or title begins its first paragraph."""
        self._flush()
        was_flat, self._flat = self._flat, True
        for child in element:
            if child.tag in _LABELS:
                self._spaced(child)
        self._flat = was_flat
        self._begun = self._length > 0
        if element.text:
            self.append(element.text)
        for child in element:
            if child.tag not in _LABELS:
                self._element(child)
                if child.tail:
                    self.append(child.tail)
        self._begun = False
        self._flush()

    def _divide(self, element: Element) -> None:
        self._flush()
        outer = self._section
        label, head = read_head(element)
        if label or head:
            num, head = split_number(label, head)
            self._section = make_section((*outer.heads, head or num or label), num)
            self.notes += element.iterfind("title//fn")
        if (identifier := element.get("id")) and self._section is not outer:
            self.sections.setdefault(identifier, self._section)
        self._content(element)
        self._flush()
        self._section = outer


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
    """Return the number of a section and its header without it. A label that is no number ("Box 1") belongs to the header."""
    if label:
        num = label.strip(" .):")
        return (num, head) if SECTION_NUMBER.fullmatch(num) else (None, f"{label} {head}".strip())
    match = _IN_HEAD.match(head)
    if match is None:
        return None, head
    return match["dotted"] or match["plain"] or match["roman"], match["rest"]


def read_flat_draft(elements: Iterable[Element], entries: Container[str] = ()) -> TextDraft:
    """Return the text of some elements as one draft; used for captions, cells and notes."""
    return JatsTextReader(entries, flat=True).read_flat(elements)


def plain(element: Element | None) -> str:
    """Return the text of a header without footnotes and alternative forms of formulas; "" for None."""
    if element is None:
        return ""
    if len(element):
        return JatsTextReader(flat=True, is_head=True).read_flat([element]).text
    text = element.text or ""
    return text if text.isalnum() else " ".join(text.split())
