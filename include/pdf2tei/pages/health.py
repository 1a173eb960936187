"""Detect defects of the text layer of a page."""

from __future__ import annotations

import re
from enum import StrEnum

import wordfreq

from pdf2tei.pages.language import language
from pdf2tei.pages.ligatures import count_words_without_th
from pdf2tei.pages.model import Document, Page


class Defect(StrEnum):
    """The defect of a page's text layer."""

    NO_TEXT = "no_text"
    """a picture without text"""
    NO_UNICODE = "no_unicode"
    """glyphs that are mapped to no character"""
    NO_WORDS = "no_words"
    """characters that form no words, for example if a font maps glyphs to wrong characters"""
    LOST_LETTERS = "lost_letters"
    """words without their first letters, for example if a font maps a ligature to no character"""
    OUTSIDE = "outside"
    """text beyond the page's edge"""
    TOO_LARGE = "too_large"
    """more blocks or words than a page may have; its lines are left out"""


_UNMAPPED = re.compile("[\ue000-\uf8ff\ufffd\x00-\x08\x0e-\x1f]")
_NUMBERED = re.compile(r"\(cid:\d+\)")
_WORD = re.compile(r"[^\W\d_]{3,}")
_MAX_UNMAPPED = 0.1  # maximum share of a page's characters that are unmapped
_MAX_OUTSIDE = 0.3  # maximum share of a page's words that are outside the page

_MIN_WORDS = 40  # minimum number of words of a page whose words are checked
_MAX_WORDS = 400  # maximum number of words that are checked
_MIN_KNOWN = 0.2
"""Minimum share of frequent English words. On 352 pages of papers it is at least .28 (tables of compounds), and at most .18 if the
alphabet is shifted or the words are reversed."""
_MIN_PICTURE_SHARE = 0.5  # minimum share of a page that the picture of a scan covers


def find_defects(document: Document) -> dict[int, Defect]:
    """Return the defects of text layers by page number; pages without a defect are omitted."""
    return {page.number: defect for page in document.pages if (defect := _find_defect(page)) is not None}


def _find_defect(page: Page) -> Defect | None:
    if page.is_left_out:
        return Defect.TOO_LARGE
    tokens = [token for line in page.lines for token in line.tokens]
    if not tokens:
        size = max((b.x1 - b.x0) * (b.y1 - b.y0) for b in page.boxes) if page.boxes else 0.0
        return Defect.NO_TEXT if size > _MIN_PICTURE_SHARE * page.width * page.height else None
    beyond = sum(t.x1 < 0 or t.y1 < 0 or t.x0 > page.width or t.y0 > page.height for t in tokens)
    if beyond > _MAX_OUTSIDE * len(tokens):
        return Defect.OUTSIDE
    text = " ".join(token.text for token in tokens)
    unmapped = 0 if text.isascii() else len(_UNMAPPED.findall(text))  # control characters are read as U+FFFD
    numbered = sum(map(len, _NUMBERED.findall(text))) if "(cid:" in text else 0
    if unmapped + numbered > _MAX_UNMAPPED * len(text):
        return Defect.NO_UNICODE
    words = _WORD.findall(text[: 20 * _MAX_WORDS])[:_MAX_WORDS]
    latin = sum(len(w) if w.isascii() else sum("A" <= c <= "\u024f" for c in w) for w in words)
    if len(words) < _MIN_WORDS or latin < 0.7 * sum(map(len, words)):
        return None
    if count_words_without_th(page):
        return Defect.LOST_LETTERS
    if _has_frequent_words(words, "en"):
        return None
    found, _ = language(" ".join(words))
    if found in wordfreq.available_languages("small"):
        return None if _has_frequent_words(words, found) else Defect.NO_WORDS
    return Defect.NO_WORDS if "-" in found else None


def _has_frequent_words(words: list[str], code: str) -> bool:
    """Return whether enough words are frequent words of a language."""
    frequent = wordfreq.get_frequency_dict(code, wordlist="small")
    return sum(word.lower() in frequent for word in words) > _MIN_KNOWN * len(words)
