"""Restore hyphens that pdfalto lost.

pdfalto drops soft hyphens, which some typesetters use for all hyphens. PDFium reports them.
"""

from __future__ import annotations

import re
from pathlib import Path

from pdf2tei.pages.ligatures import read_page_texts
from pdf2tei.pages.model import Document, Line
from s2orc_parse.words import LIGATURES

_BREAK = "\ufffe"  # PDFium's sign for a hyphen at the end of a line (U+0002 in some of its functions)
_DASHES = "-\u00ad\u2010"
_END_WORD = re.compile(rf"(\S+){_BREAK}(?:\r?\n)?([^\s{_BREAK}]+)")
_INNER = re.compile(r"\S+")
_MAX_HYPHEN_SHARE = 0.02  # if a larger share of lines ends in a hyphen, no hyphens were lost


def restore_hyphens(document: Document, pdf: Path) -> None:
    """Restore lost hyphens from PDFium's text, matched by the words around them.

    If enough lines end in hyphens, only the font of a title may have lost them, so only page 1 is read.
    """
    lines = [line for page in document.pages for line in page.lines]
    ends = sum(line.tokens[-1].text[-1] in _DASHES for line in lines)
    number = 1 if ends > _MAX_HYPHEN_SHARE * len(lines) else len(document.pages)
    for page, text in zip(document.pages, read_page_texts(pdf, number), strict=False):
        text = text.replace("\x02", _BREAK).translate(LIGATURES)
        if _BREAK in text or "\u00ad" in text:
            _restore_page(page.lines, text)


def _restore_page(lines: list[Line], text: str) -> None:
    breaks = {(m.group(1).rpartition(_BREAK)[2], m.group(2)[:2]) for m in _END_WORD.finditer(text)}
    words: dict[str, str] = {}
    plain: set[str] = set()
    for match in _INNER.finditer(text.replace(_BREAK, " ")):
        word = match.group()
        bare = "".join(c for c in word if c not in _DASHES)
        if bare != word and len(bare) > 1:
            words.setdefault(bare, word.replace("\u00ad", "-"))
        else:
            plain.add(word)
    for i, line in enumerate(lines):
        changed = False
        for token in line.tokens:
            whole = words.get(token.text)
            if whole is not None and token.text not in plain:
                token.text, changed = whole, True
        last = line.tokens[-1]
        after = lines[i + 1].tokens[0].text[:2] if i + 1 < len(lines) else ""
        if (last.text, after) in breaks:
            last.text, changed = last.text + "-", True
        if changed:
            line.forget()
