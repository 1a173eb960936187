"""Read MathML as readable text."""

from __future__ import annotations

from s2orc_parse.xml import MATHML, Element

_HIDDEN = frozenset(f"{MATHML}{name}" for name in ("annotation", "annotation-xml", "mphantom"))
_ROWS = frozenset(f"{MATHML}{name}" for name in ("mtr", "mlabeledtr", "mtd"))
_INVISIBLE = {0x2061: " ", 0x2062: None, 0x2063: None, 0x2064: None}  # function application, times, comma, plus


def read_math(element: Element) -> str:
    """Return the visible characters of MathML, with a slash for fractions as in the text of TeX."""
    name = element.tag
    if name in _HIDDEN:
        return ""
    if not len(element):
        return element.text or ""
    parts = [read_math(child) for child in element]
    if name == f"{MATHML}mfrac" and len(parts) == 2 and element.get("linethickness", "")[:1] != "0":
        return "/".join(map(_group, parts))
    if name == f"{MATHML}msqrt":
        return f"√{_group(''.join(parts))}"
    is_fenced = name == f"{MATHML}mfenced"
    mark = element.get("separators", ",").strip()[:1] if is_fenced else ""
    text = mark.join(f"{part}{'' if mark else child.tail or ''}" for part, child in zip(parts, element, strict=True))
    if is_fenced:
        return f"{element.get('open', '(')}{text}{element.get('close', ')')}"
    return f" {text} " if name in _ROWS else f"{element.text or ''}{text}"


def _group(part: str) -> str:
    part = part.strip()
    return part if len(part) < 2 or part.isalnum() else f"({part})"


def normalize_math(text: str) -> str:
    """Return the text of a formula without invisible operators, and with single spaces."""
    return " ".join(text.translate(_INVISIBLE).split())
