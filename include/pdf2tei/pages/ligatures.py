"""Restore the ligature `Th`.

pdfalto drops it if a font maps it to no character: `e data` for `The data`. PDFium reports a sign for it.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import wordfreq

from pdf2tei.pages.language import language
from pdf2tei.pages.model import Document, Page

_ORPHAN = re.compile(r"[a-z]+")
_MIN_DAMAGED_WORDS = 3  # minimum number of words without `Th` on a page with a defect or in a document with a defect
_MAX_AMBIGUOUS_LENGTH = 2  # maximum length of letters that may follow a sign by chance, for example a unit (`3m`)
_RESTS = frozenset({"e", "ese", "ey", "erefore", "ere", "eir", "roughout", "ough", "ird"})
"""Rests of English words without `Th` that are not words themselves."""


def count_words_without_th(page: Page) -> int:
    """Count the words of an English page that lost their `Th`; return 0 if there are few or if any word has its `Th`."""
    words = [token.text for line in page.lines for token in line.tokens]
    if any(word.startswith("Th") for word in words):
        return 0
    count = sum(_strip_signs(word) in _RESTS for word in words)
    # `e` is a word of other languages
    return count if count >= _MIN_DAMAGED_WORDS and language(" ".join(words))[0] == "en" else 0


def restore_ligatures(document: Document, pdf: Path) -> None:
    """Restore lost `Th` before words where PDFium shows a sign."""
    if sum(map(count_words_without_th, document.pages)) < _MIN_DAMAGED_WORDS:
        return
    texts = read_page_texts(pdf, len(document.pages))
    signs = find_signs(texts)
    for page, text in zip(document.pages, texts, strict=False):
        code, share = language(" ".join(line.text for line in page.lines))
        if code == "en" or share < 0.9:  # `e` is a word of other languages
            restore_page(page, text, signs)


def read_page_texts(pdf: Path, count: int) -> list[str]:
    """Return PDFium's text of the first `count` pages; empty strings for damaged pages, no texts for a damaged PDF."""
    import pypdfium2

    try:
        source = pypdfium2.PdfDocument(pdf)
    except pypdfium2.PdfiumError:
        return []
    texts: list[str] = []
    with source:
        for number in range(min(len(source), count)):
            try:
                texts.append(source[number].get_textpage().get_text_range())
            except pypdfium2.PdfiumError:  # a damaged page that only pdfalto can read
                texts.append("")
    return texts


def find_signs(texts: list[str]) -> list[str]:
    """Return what precedes the rests of such words in PDFium's texts: `Th` itself or one sign per font."""
    counts = Counter(
        match.group(1)
        for text in texts
        for match in re.finditer(r"(?<!\S)[(\[“\"']?(Th|[^\w\s]|\d)([a-z]+)", text)
        if match.group(2) in _RESTS or (len(match.group(2)) > _MAX_AMBIGUOUS_LENGTH and _is_cut(match.group(2)))
    )
    return sorted(sign for sign, count in counts.items() if count >= _MIN_DAMAGED_WORDS)


def restore_page(page: Page, text: str, signs: list[str]) -> None:
    """Restore the words of a page that follow a sign in PDFium's `text`, after the same preceding word."""
    found = (pair for sign in signs for pair in _find_pairs(text, sign))
    pairs = {(before, rest) for before, rest in found if rest in _RESTS or _is_word("th" + rest)}
    seen = {rest for _, rest in pairs}
    before = ""
    for line in page.lines:
        is_changed = False
        for token in line.tokens:
            rest = _strip_signs(token.text)
            if rest in seen and ((before, rest) in pairs or rest in _RESTS or _is_cut(rest)):
                at = token.text.index(rest)
                token.text = f"{token.text[:at]}Th{token.text[at:]}"
                token.space = bool(before) and token is not line.tokens[0]
                is_changed = True
            before = token.text
        if is_changed:
            line.forget()


def _find_pairs(text: str, sign: str) -> list[tuple[str, str]]:
    """Return the preceding word and the rest of each word that begins with the sign."""
    words = text.split()
    out = []
    for before, word in zip(["", *words], words, strict=False):
        match = re.match(rf"[(\[“\"']?{re.escape(sign)}([a-z]+)", word)
        if match:
            out.append((before, match.group(1)))
    return out


def _strip_signs(word: str) -> str:
    """Return the letters of a word without surrounding signs; an empty string if they are not all lowercase."""
    match = _ORPHAN.fullmatch(word.strip("()[]“”\"'.,;:"))
    return match.group() if match else ""


def _is_cut(rest: str) -> bool:
    """Return whether letters are an English word only with `th` before them (`ymus`)."""
    return not _is_word(rest) and _is_word("th" + rest)


@cache
def _is_word(word: str) -> bool:
    return wordfreq.zipf_frequency(word, "en", wordlist="large") > 0
