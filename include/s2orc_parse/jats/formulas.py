"""Read formulas as readable text, TeX and MathML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

from s2orc_parse.bibliography.tex import extract_tex, read_formula_text
from s2orc_parse.mathml import normalize_math, read_math
from s2orc_parse.xml import MATHML, Element

_DECLARED = re.compile(r'\sxmlns:[\w.-]+="(?!http://www\.w3\.org/1998/Math/MathML)[^"]*"')
_NOT_TEXT = frozenset(("label", "graphic", "inline-graphic", "object-id", "alt-text", "long-desc"))


class JatsFormula(NamedTuple):
    """A formula. `text` contains the visible characters, or "" if the file has only an image."""

    text: str
    latex: str | None = None
    mathml: str | None = None
    label: str | None = None  # as printed, without parentheses


def read_formula(element: Element) -> JatsFormula:
    """Read the formula of a `disp-formula`, an `inline-formula`, alternative forms, or plain MathML or TeX.

    Words next to MathML or TeX belong to the formula. Of several forms, MathML is the text.
    """
    name = element.tag
    if name == f"{MATHML}math":
        return JatsFormula(normalize_math(read_math(element)), mathml=_serialize_mathml(element))
    math, tex_math, printed = (element.find(f".//{form}") for form in (f"{MATHML}math", "tex-math", "label"))
    if name == "tex-math":
        tex_math = element
    tex = extract_tex("".join(tex_math.itertext())) if tex_math is not None else None
    label = None if printed is None else normalize_math("".join(printed.itertext())).strip("()[] .") or None
    form = math.tag if math is not None else "tex-math" if tex else ""
    text = read_formula_text(tex) if tex and tex_math is element else "".join(_iter_text(element, form))
    return JatsFormula(normalize_math(text), tex or None, None if math is None else _serialize_mathml(math), label)


def _iter_text(element: Element, form: object) -> Iterator[str]:
    """Yield the texts of a formula, with only this form of its mathematics, or all text if there is no form."""
    yield element.text or ""
    for child in element:
        name = child.tag
        if name == form:
            yield read_math(child) if name != "tex-math" else read_formula_text("".join(child.itertext()))
        elif name not in _NOT_TEXT and not (form and name in ("tex-math", "textual-form")):
            yield from _iter_text(child, form)
        yield child.tail or ""


def _serialize_mathml(math: Element) -> str:
    """Return the MathML as a separate document, without prefixes of its elements."""
    text = _DECLARED.sub("", etree.tostring(math, encoding="unicode", with_tail=False))
    if prefix := math.prefix:
        text = text.replace(f"<{prefix}:", "<").replace(f"</{prefix}:", "</").replace(f"xmlns:{prefix}=", "xmlns=", 1)
    return text
