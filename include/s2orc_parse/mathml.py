"""Read MathML as readable text."""

from __future__ import annotations

import re

from s2orc_parse.words import read_table
from s2orc_parse.xml import MATHML, Element

_HIDDEN = frozenset(f"{MATHML}{name}" for name in ("annotation", "annotation-xml", "mphantom"))
_ROWS = frozenset(f"{MATHML}{name}" for name in ("mtr", "mlabeledtr", "mtd"))
_SCRIPTS = frozenset(
    f"{MATHML}m{name}" for name in ("sub", "sup", "subsup", "under", "over", "underover", "multiscripts")
)
_FUNCTIONS = frozenset(read_table("bibliography/words")["formula"]["functions"].split())
_INVISIBLE = {0x2061: " ", 0x2062: None, 0x2063: None, 0x2064: None}  # function application, times, comma, plus
THIN = "\ue022"
"""narrow space; boundary of the name of a function"""
_THIN = re.compile(rf"(?<=[\w)\]}}%°′])\s*{THIN}[\s{THIN}]*(?=[\w√%°])")
_WIDTH = re.compile(r"\s*(?:(\d*\.?\d+|\d+\.)\s*([a-z]*)|((?:very)*)(thin|medium|thick)mathspace)\s*")
_EMS = {"em": 1, "ex": 0.5, "pt": 0.1, "px": 0.08, "mm": 0.3, "cm": 3}
_MIN_THIN, _MIN_SPACE = 0.15, 0.5  # widths in em


def read_math(element: Element) -> str:
    """Return the visible characters of MathML, with a slash for fractions as in the text of TeX."""
    name = element.tag
    if name in _HIDDEN:
        return ""
    if name == f"{MATHML}mspace":
        return _read_space(element.get("width", "1em" if element.get("linebreak") == "newline" else ""))
    if not len(element):
        text = element.text or ""
        text = text if name == f"{MATHML}mtext" else text.strip(" \t\r\n")
        return f"{THIN}{text}{THIN}" if text in _FUNCTIONS else text
    parts = [read_math(child) for child in element]
    if name in _SCRIPTS:
        base, *scripts = parts
        text = "".join((base.removesuffix(THIN), *(script.strip(THIN) for script in scripts)))
        return f"{text}{THIN}" if base.endswith(THIN) else text
    if name == f"{MATHML}mfrac" and len(parts) == 2 and element.get("linethickness", "")[:1] != "0":
        return "/".join(map(_group, parts))
    if name == f"{MATHML}msqrt":
        return f"√{_group(''.join(parts))}"
    is_fenced = name == f"{MATHML}mfenced"
    mark = element.get("separators", ",").strip()[:1] if is_fenced else ""
    own = [
        "" if text is None or text.isspace() else text for text in (element.text, *(child.tail for child in element))
    ]
    text = mark.join(f"{part}{'' if mark else tail}" for part, tail in zip(parts, own[1:], strict=True))
    if is_fenced:
        return f"{element.get('open', '(')}{text}{element.get('close', ')')}"
    return f" {text} " if name in _ROWS else f"{own[0]}{text}"


def _read_space(width: str) -> str:
    """Return a space for a wide `mspace`, `THIN` for a narrow one, and nothing for one that only moves a sign."""
    match = _WIDTH.fullmatch(width)
    if match is None:
        return ""
    ems = float(match[1]) * _EMS.get(match[2], 0) if match[1] else _MIN_THIN
    return " " if ems >= _MIN_SPACE else THIN if ems >= _MIN_THIN else ""


def _group(part: str) -> str:
    part = part.strip(f" {THIN}")
    return part if len(part) < 2 or part.isalnum() else f"({part})"


def normalize_math(text: str) -> str:
    """Return the text of a formula without invisible operators, and with single spaces.

    A narrow space, and a function ("cos"), divide only what would be one word: "5 TeV", "a cos x", but "cos(x)".
    """
    return " ".join(_THIN.sub(" ", text.translate(_INVISIBLE)).replace(THIN, "").split())
