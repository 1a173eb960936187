"""The ligature `Th` that pdfalto drops, where a font gives it no character: `e data` for `The data`. PDFium prints a sign for it."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import wordfreq

from .language import language
from .model import Document, Page

_ORPHAN = re.compile(r"[a-z]+")
_MIN_ORPHANS = 3
"""Words without their `Th` that make a document suspicious, or a page ill."""
_SURE = frozenset({"e", "ese", "ey", "erefore", "ere", "eir", "roughout", "ough", "ird"})
"""What is left of a word without `Th` and is no English word itself"""


def orphans(page: Page) -> int:
    """Count the words of an English page that lost their `Th`; 0 if they are few, and where the page prints any word with it."""
    words = [token.text for line in page.lines for token in line.tokens]
    if any(word.startswith("Th") for word in words):
        return 0
    count = sum(_rest(word) in _SURE for word in words)
    is_english = count >= _MIN_ORPHANS and language(" ".join(words))[0] == "en"  # `e` is a word of other languages
    return count if is_english else 0


def restore(document: Document, pdf: Path) -> None:
    """Put lost `Th` back in front of the words where PDFium shows that a sign stands."""
    if sum(map(orphans, document.pages)) < _MIN_ORPHANS:
        return
    import pypdfium2

    try:
        source = pypdfium2.PdfDocument(pdf)
    except pypdfium2.PdfiumError:
        return
    try:
        texts: list[str] = []
        for number in range(min(len(source), len(document.pages))):
            try:
                texts.append(source[number].get_textpage().get_text_range())
            except pypdfium2.PdfiumError:  # a damaged page, which pdfalto could read all the same
                texts.append("")
    finally:
        source.close()
    sign = _sign(texts)
    if sign:
        for page, text in zip(document.pages, texts, strict=False):
            mend(page, text, sign)


def _sign(texts: list[str]) -> str:
    """Return what PDFium prints for the ligature: what most often stands before a word's rest, `Th` itself or one sign."""
    counts = Counter(
        match.group(1)
        for text in texts
        for match in re.finditer(r"(?<!\S)[(\[“\"']?(Th|[^\w\s])([a-z]+)", text)
        if match.group(2) in _SURE
    )
    best = max(counts, key=lambda sign: (counts[sign], sign), default="")
    return best if best and counts[best] >= _MIN_ORPHANS else ""


def mend(page: Page, text: str, sign: str) -> None:
    """Mend the words of a page whose rest stands behind the sign in PDFium's `text`, after the same word."""
    pairs = {(before, rest) for before, rest in _pairs(text, sign) if "th" + rest in _words()}
    seen = {rest for _, rest in pairs}
    before = ""
    for line in page.lines:
        is_changed = False
        for token in line.tokens:
            rest = _rest(token.text)
            if rest in seen and ((before, rest) in pairs or rest in _SURE):
                at = token.text.index(rest)
                token.text = f"{token.text[:at]}Th{token.text[at:]}"
                token.space = bool(before) and token is not line.tokens[0]
                is_changed = True
            before = token.text
        if is_changed:
            line.forget()


def _pairs(text: str, sign: str) -> list[tuple[str, str]]:
    """The word before and the rest of each word that begins with the sign."""
    words = text.split()
    out = []
    for before, word in zip(["", *words], words, strict=False):
        match = re.match(rf"[(\[“\"']?{re.escape(sign)}([a-z]+)", word)
        if match:
            out.append((before, match.group(1)))
    return out


def _rest(word: str) -> str:
    """Return the letters of a word without the signs around it; empty if they are not all small."""
    match = _ORPHAN.fullmatch(word.strip("()[]“”\"'.,;:"))
    return match.group() if match else ""


@cache
def _words() -> frozenset[str]:
    """Frequent English words that begin with `th`."""
    return frozenset(w for w in wordfreq.get_frequency_dict("en", wordlist="small") if w.startswith("th"))
