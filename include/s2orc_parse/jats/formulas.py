"""Read formulas: their readable text, and their TeX and MathML."""

from __future__ import annotations

import re
from typing import NamedTuple

from lxml import etree

from s2orc_parse.jats.read import MATHML, Element

_DOCUMENT = re.compile(r"\\begin\{document\}(.*?)\\end\{document\}", re.DOTALL)
_DOLLARS = re.compile(r"\A\s*(?:\${1,2}|\\\[|\\\()\s*(.*?)\s*(?:\${1,2}|\\\]|\\\))\s*\Z", re.DOTALL)
_COMMANDS = re.compile(r"\\(?:[A-Za-z]+\s*|.)|[{}&$]")
_DECLARED = re.compile(r'\sxmlns:[\w.-]+="(?!http://www\.w3\.org/1998/Math/MathML)[^"]*"')
_ANNOTATIONS = frozenset((f"{MATHML}annotation", f"{MATHML}annotation-xml"))
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
        return JatsFormula(_read_signs(element), mathml=_serialize_mathml(element))
    if name == "tex-math":
        bare = _extract_tex(element)
        return JatsFormula(_remove_commands(bare), bare)
    label = math = tex_math = None
    others: list[str] = []
    for child in element.iter():
        child_name = child.tag
        if child_name == "label":
            label = label or " ".join("".join(child.itertext()).split()).strip("()[] .") or None
        elif child_name == f"{MATHML}math":
            math = child if math is None else math
        elif child_name == "tex-math":
            tex_math = child if tex_math is None else tex_math
    tex = _extract_tex(tex_math) if tex_math is not None else None
    if math is not None:
        return JatsFormula(_read_signs(math), tex or None, _serialize_mathml(math), label)
    if tex:
        return JatsFormula(_remove_commands(tex), tex, None, label)
    _collect_plain(element, others)
    return JatsFormula(" ".join("".join(others).split()), None, None, label)


def _collect_plain(element: Element, parts: list[str]) -> None:
    """Collect the text of a formula that is set in ordinary letters."""
    parts.append(element.text or "")
    for child in element:
        if child.tag not in _NOT_TEXT:
            parts.extend(child.itertext())
        parts.append(child.tail or "")


def _read_signs(math: Element) -> str:
    """Return the visible characters of a formula in order, without annotations."""
    if next(math.iter(*_ANNOTATIONS), None) is None:
        return " ".join("".join(math.itertext()).split())
    found: list[str] = []
    _collect_signs(math, found)
    return " ".join("".join(found).split())


def _collect_signs(element: Element, found: list[str]) -> None:
    found.append(element.text or "")
    for child in element:
        if child.tag not in _ANNOTATIONS:
            _collect_signs(child, found)
        found.append(child.tail or "")


def _serialize_mathml(math: Element) -> str:
    """Return the MathML as a separate document, without prefixes of its elements."""
    text = _DECLARED.sub("", etree.tostring(math, encoding="unicode", with_tail=False))
    if prefix := math.prefix:
        text = text.replace(f"<{prefix}:", "<").replace(f"</{prefix}:", "</").replace(f"xmlns:{prefix}=", "xmlns=", 1)
    return text


def _extract_tex(element: Element) -> str:
    """Return the TeX without the surrounding document that PMC adds."""
    text = "".join(element.itertext())
    if match := _DOCUMENT.search(text):
        text = match.group(1)
    match = _DOLLARS.match(text)
    return " ".join((match.group(1) if match else text).split())


def _remove_commands(tex: str) -> str:
    return " ".join(_COMMANDS.sub("", tex).split())
