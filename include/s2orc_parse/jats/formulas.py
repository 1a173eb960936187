"""Read formulas: their readable text, and their TeX and MathML."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

from lxml import etree

from s2orc_parse.bibliography.tex_math import extract_tex, read_formula_text
from s2orc_parse.jats.read import MATHML, Element
from s2orc_parse.xml import iter_text

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
