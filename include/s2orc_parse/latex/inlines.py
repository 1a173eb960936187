"""Split, strip and print the inline content of a document."""

from __future__ import annotations

import re
from collections.abc import Callable

from s2orc_parse.latex import document as doc
from s2orc_parse.latex.marks import XSPACE

_XSPACE = re.compile(XSPACE + r"+(?=[^\s.,'’”/?;:!~)\]}–—-])")


def split_inlines(content: doc.Inlines, sign: str) -> list[doc.Inlines]:
    """Return inlines split at a sign."""
    parts: list[list[doc.Inline]] = [[]]
    for inline in content:
        if isinstance(inline, str) and sign in inline:
            first, *rest = inline.split(sign)
            parts[-1].append(first)
            parts += [[part] for part in rest]
        else:
            parts[-1].append(inline)
    return [tuple(part) for part in parts]


def strip_inlines(content: doc.Inlines) -> doc.Inlines:
    """Return inlines without white space at their ends, and without empty strings."""
    found = [inline for inline in content if inline != ""]
    if found and isinstance(found[0], str):
        found[0] = found[0].lstrip()
    if found and isinstance(found[-1], str):
        found[-1] = found[-1].rstrip()
    return tuple(inline for inline in found if inline != "")


def plain(content: doc.Inlines, read_formula: Callable[[str], str] = str) -> str:
    """Return inlines as normalized text without notes, labels and references. Formulas are TeX, or the result of `read_formula`."""
    parts = []
    for inline in content:
        if isinstance(inline, str):
            parts.append(inline)
        elif isinstance(inline, doc.MarkedText):
            parts.append(plain(inline.content, read_formula))
        elif isinstance(inline, doc.Math):
            parts.append(read_formula(inline.tex))
    return " ".join(expand_xspace("".join(parts)).split())


def expand_xspace(text: str) -> str:
    """Return text with a space for each \\xspace that is not followed by closing punctuation."""
    return _XSPACE.sub(" ", text).replace(XSPACE, "") if XSPACE in text else text
