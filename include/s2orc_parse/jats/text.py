"""Convert JATS elements to texts, and formulas to readable text, TeX and MathML."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import NamedTuple, NoReturn

from lxml import etree

from s2orc_parse.bibliography.tex import extract_tex, read_formula_text
from s2orc_parse.outcomes import BadArticle, JatsOutcome
from s2orc_parse.parse_model import EqSpan
from s2orc_parse.tei.drafts import Effect, TextDraft, TextReader
from s2orc_parse.tei.sections import NO_SECTION, SECTION_NUMBER, SectionPath, make_section
from s2orc_parse.words import invert, read_table
from s2orc_parse.xml import MATHML, Element, iter_text

_DECLARED = re.compile(r'\sxmlns:[\w.-]+="(?!http://www\.w3\.org/1998/Math/MathML)[^"]*"')
_ANNOTATIONS = frozenset(("annotation", "annotation-xml"))
_NOT_TEXT = frozenset(("label", "graphic", "inline-graphic", "object-id", "alt-text", "long-desc"))


class JatsFormula(NamedTuple):
    """A formula. `text` contains the visible characters, or "" if the file has only an image."""

    text: str
    latex: str | None = None
    mathml: str | None = None
    label: str | None = None  # as printed, without parentheses


def read_formula(element: Element) -> JatsFormula:
    """Read the formula of a `disp-formula`, an `inline-formula`, or plain MathML or TeX."""
    name = element.tag
    if name == f"{MATHML}math":
        return JatsFormula(_join_text(element, _ANNOTATIONS), mathml=_serialize_mathml(element))
    if name == "tex-math":
        bare = extract_tex("".join(element.itertext()))
        return JatsFormula(read_formula_text(bare), bare)
    label = math = tex_math = None
    for child in element.iter():
        child_name = child.tag
        if child_name == "label":
            label = label or " ".join("".join(child.itertext()).split()).strip("()[] .") or None
        elif child_name == f"{MATHML}math":
            math = child if math is None else math
        elif child_name == "tex-math":
            tex_math = child if tex_math is None else tex_math
    tex = extract_tex("".join(tex_math.itertext())) if tex_math is not None else None
    if math is not None:
        return JatsFormula(_join_text(math, _ANNOTATIONS), tex or None, _serialize_mathml(math), label)
    if tex:
        return JatsFormula(read_formula_text(tex), tex, None, label)
    return JatsFormula(_join_text(element, _NOT_TEXT), None, None, label)


def _join_text(element: Element, skipped: Container[str]) -> str:
    return " ".join("".join(iter_text(element, skipped)).split())


def _serialize_mathml(math: Element) -> str:
    """Return the MathML as a separate document, without prefixes of its elements."""
    text = _DECLARED.sub("", etree.tostring(math, encoding="unicode", with_tail=False))
    if prefix := math.prefix:
        text = text.replace(f"<{prefix}:", "<").replace(f"</{prefix}:", "</").replace(f"xmlns:{prefix}=", "xmlns=", 1)
    return text


_DOES: dict[object, Effect] = {
    name: Effect[effect] for name, effect in invert(read_table("jats/words")["effects"]).items()
}
_IN_HEAD = re.compile(
    r"(?:(?P<dotted>(?:\d{1,2}|[A-Z])(?:\.\d{1,2})+)\.?(?:\s+|$)|(?P<plain>\d{1,2})[.)](?:\s+|$)"
    r"|(?P<roman>[IVX]{1,6})\.\s+(?=[A-Z]))(?P<rest>.*)"
)


class JatsTextReader(TextReader):
    """Reads elements of an article into drafts.

    `entries` contains the ids of bibliography entries: a reference to one is a citation, regardless of its type.
    `referenced` contains all referenced ids: unreferenced notes of a group become paragraphs.
    """

    MAX_DEPTH = 120

    def __init__(self, entries: Container[str] = (), *, referenced: Container[str] = (), flat: bool = False) -> None:
        super().__init__(flat=flat)
        self.sections: dict[str, SectionPath] = {}  # by id
        self._entries = entries
        self._referenced = referenced

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
        if does is None:
            if len(element):
                self._content(element)
            elif element.text:
                self.append(element.text)
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
            if above != "caption" and _DOES.get(above) is not Effect.DIVIDE:  # the title of a list
                self._paragraph(element)
        else:
            self._spaced(element)

    def _item(self, element: Element) -> None:
        """Read an item of a list, a definition or a theorem. Its label or title begins its first paragraph."""
        self._flush()
        for child in element:
            if child.tag in ("label", "title", "term"):
                for text in child.itertext():
                    self.append(text)
                self._pending = True
        self._begun = self._length > 0
        for child in element:
            if child.tag not in ("label", "title", "term"):
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
        return read_flat_draft([element]).text
    text = element.text or ""
    return text if text.isalnum() else " ".join(text.split())
