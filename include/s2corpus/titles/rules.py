"""Rules for uninformative titles: generic titles, short titles, and pairs that differ in a number."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from enum import IntEnum
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.sources.documents import DOCUMENT_WORDS, SERIES_WORDS, Document, find_document, is_name_of_series
from s2corpus.titles.threegrams import normalize_one

MIN_WORDS = 3
"""Titles with fewer words are uninformative: year and surname must agree."""
GENERIC_TITLES = (
    "about the authors", "abstract", "abstracts", "acknowledgement", "acknowledgements", "acknowledgment", "acknowledgments",
    "addendum", "address", "afterword", "announcement", "announcements", "annual report", "appendix", "author index",
    "author response", "authors reply", "back matter", "bibliography", "biography", "book notes", "book review", "book reviews",
    "books received", "calendar", "call for papers", "case report", "clinical trials", "commentary", "comments",
    "conference report", "contents", "contributors", "correction", "corrections", "correspondence", "corrigendum",
    "corrigenda", "cover", "cover image", "discussion", "dissertation", "editor's note", "editors note", "editorial",
    "editorial board", "editorial comment", "editorial note", "editors introduction", "endnotes", "epilogue", "errata", "erratum",
    "expression of concern", "foreword", "forward", "front cover", "front matter", "full issue", "general discussion",
    "general introduction", "glossary", "guest editorial", "guest editors introduction", "guest editors' introduction",
    "highlights", "in brief", "in memoriam", "in this issue", "index", "instructions for authors", "interview", "introduction",
    "introduction to the issue", "introduction to the special issue", "invited talk", "issue information", "keynote",
    "letter", "letter from the editor", "letter to the editor", "letters", "letters to the editor", "list of contributors",
    "list of reviewers", "masthead", "meeting abstracts", "meeting report", "message from the chairs",
    "message from the general chair", "message from the program chairs", "miscellaneous", "new books", "news",
    "news and notes", "news and views", "note", "notes", "notes and news", "notes on contributors", "notice", "obituary",
    "opening remarks", "opinion", "page not found", "panel discussion", "poster abstracts", "preface", "president's message",
    "presidential address", "proceedings", "program committee", "prologue", "publisher's note", "publications received",
    "references", "remarks", "reply", "reply to the editor", "report", "research highlights", "response", "retraction",
    "retraction note", "retraction notice", "review", "reviewers", "reviews", "short communication", "short communications",
    "special issue", "special issue editorial", "subject index", "summary", "supplement", "supplementary information",
    "supplementary material", "supplementary materials", "supporting information", "table of contents", "thank you to reviewers",
    "thanks to reviewers", "the authors reply", "title page", "to the editor", "tutorial", "untitled", "welcome",
    "welcome message", "withdrawn", "workshop report",
)  # fmt: skip
"""Titles that name a kind of contribution. Links by them need an equal year and surname. S2 and fuzzycat have similar lists."""
_GENERIC = frozenset(normalize_one(title) for title in GENERIC_TITLES)

# Scripts without spaces between words.
_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00016fe0-\U00018aff\U0001aff0-\U0001b16f\U00020000-\U0003ffff]"
)
_ROMAN = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_CARDINAL = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ORDINAL = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
NUMERALS = {"x" * (n // 10) + _ROMAN[n % 10]: n for n in range(1, 40)}
_CJK_NUMERALS = "一二三四五六七八九十"
for _words in (_CARDINAL, _ORDINAL, _CJK_NUMERALS):
    NUMERALS |= {word: n for n, word in enumerate(_words, 1)}
"""Values of words that are numbers. Roman numerals end at 39, because larger numerals look like words (`mix`, `dim`, `li`)."""
_MAY_HAVE_NUMBER = rf"(?i)[0-9_]|[^\x00-\x7f]|\b(?:{'|'.join(filter(str.isascii, NUMERALS))})\b"
"""A title without a match of this expression (RE2) has no number. It matches all titles with other than ASCII characters."""
_NUMBER = re.compile(rf"[\d{_CJK_NUMERALS}]")
_PIECE = re.compile(rf"\d+|[{_CJK_NUMERALS}]|[^\W\d_{_CJK_NUMERALS}]+")
_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"\b(?:part|pt|chapter)\b\W*(\w+)", re.IGNORECASE)
_TOKEN = re.compile(r"\w+|[^\w\s]+")


def is_generic(title: str) -> bool:
    """Return whether the title names a kind of contribution or a journal: `Editorial`, `Book review`, `Journal of Ecology`."""
    return normalize_one(title) in _GENERIC or is_name_of_series(title)


def is_cut(cut: str, title: str) -> bool:
    """Return whether a title, not a generic one, ends where a word of the longer title ends."""
    return find_missing_part(cut, title) is not None and not is_generic(cut)


def find_missing_part(cut: str, title: str) -> str | None:
    """Return the part of the longer title that the cut title lacks, or None if the cut title does not end at a word's end."""
    wanted, length = len(normalize_one(cut)), 0
    for token in _TOKEN.finditer(title):
        length += len(normalize_one(token.group()))
        if length >= wanted:
            return title[token.end() :] if length == wanted else None
    return None


def word_count(title: str) -> int:
    """Return the number of words with a letter or digit. Two Chinese, Japanese or Korean characters are one word."""
    text = unicodedata.normalize("NFKC", title)
    words = _CJK.sub(" ", text).split()
    return sum(any(map(str.isalnum, word)) for word in words) + len(_CJK.findall(text)) // 2


def begins_with_number(title: str) -> bool:
    """Return whether the first word is a number or numeral: " II. Proofs", ": 3. Panels"."""
    first = _WORD.search(unicodedata.normalize("NFKC", title).casefold())
    return first is not None and (first.group() in NUMERALS or _NUMBER.match(first.group()) is not None)


class Difference(IntEnum):
    """A difference of the numbers of two titles."""

    NONE = 0
    ONE_SIDED = 1  # "… Discipline" and "… Discipline 1": a mark, or a number that a source omits
    PART = 2  # Only one title names a part or has a numeral: "Lemmas" and "Lemmas, part II", or "Lemmas: 2. Proofs".
    NUMBER = 3  # "Part I" and "Part II", "2D …" and "3D …", "第一" and "第二"


def compare_numbers(a: str, b: str) -> Difference:
    """Return how the numbers of two titles differ.

    Titles that differ in words too are members of a series if they name other parts, differ first in a number, or one ends before it.
    """
    parts = [[word for word in _PART.findall(title) if _split_numbers(word)[1]] for title in (a, b)]
    if len(parts[0]) != len(parts[1]):
        return Difference.PART
    if any(_split_numbers(x) != _split_numbers(y) for x, y in zip(*parts, strict=True)):
        return Difference.NUMBER
    words = a.split(), b.split()  # Equal first words decide nothing.
    at = next((i for i, (x, y) in enumerate(zip(*words, strict=False)) if x != y), min(map(len, words)))
    ends = [" ".join(side[at:]) for side in words]
    (rest_a, numbers_a), (rest_b, numbers_b) = map(_split_numbers, ends)
    if rest_a != rest_b:
        tokens = (_WORD.findall(title.casefold()) for title in (a, b))
        first = next(((x, y) for x, y in zip(*tokens, strict=False) if x != y), ("", ""))
        if all(word.isdecimal() or word in NUMERALS for word in first):
            return Difference.NUMBER
        cut, title = (a, b) if len(rest_a) < len(rest_b) else (b, a)
        is_open = bool(numbers_a) != bool(numbers_b) and (rest_a.startswith(rest_b) or rest_b.startswith(rest_a))
        return (
            Difference.PART if is_open and begins_with_number(find_missing_part(cut, title) or "") else Difference.NONE
        )
    if numbers_a == numbers_b:
        return Difference.NONE
    if numbers_a and numbers_b:
        return Difference.NUMBER
    has_numeral = not NUMERALS.keys().isdisjoint(_WORD.findall("".join(ends).casefold()))
    return Difference.PART if has_numeral else Difference.ONE_SIDED


def are_uninformative(titles: pa.Array | pa.ChunkedArray, normalized: pa.Array) -> np.ndarray:
    """Return which titles are generic, name a journal, or have fewer than three words (bool)."""
    has_three_words = pc.match_substring_regex(titles, r"[A-Za-z]\S*\s+[A-Za-z]\S*\s+[A-Za-z]")
    is_open = pc.or_(pc.invert(has_three_words), pc.match_substring_regex(titles, SERIES_WORDS))  # Most titles are not.
    found = np.array(pc.is_in(normalized, pa.array(sorted(_GENERIC))))
    rows = np.flatnonzero(np.asarray(pc.fill_null(is_open, True)) & ~found)
    open_titles = (title or "" for title in titles.take(pa.array(rows)).to_pylist())
    found[rows] = [word_count(title) < MIN_WORDS or is_name_of_series(title) for title in open_titles]
    return found


def differences(titles_a: pa.Array | pa.ChunkedArray, titles_b: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return `compare_numbers` for each pair of rows (int64). Pairs without any number do not differ."""
    has_number = (np.asarray(pc.match_substring_regex(titles, _MAY_HAVE_NUMBER)) for titles in (titles_a, titles_b))
    rows = np.flatnonzero(np.logical_or(*has_number))
    pairs = zip(*(titles.take(pa.array(rows)).to_pylist() for titles in (titles_a, titles_b)), strict=True)
    found = np.zeros(len(titles_a), np.int64)
    found[rows] = [compare_numbers(*pair) for pair in pairs]
    return found


def find_documents(titles: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return the code of the kind of document that each title names (uint8): an odd number, or 0 without one."""
    at = np.flatnonzero(np.asarray(pc.fill_null(pc.match_substring_regex(titles, DOCUMENT_WORDS), False)))
    codes, kinds = np.zeros(len(titles), np.uint8), (None, *Document)
    found = map(find_document, titles.take(pa.array(at)).to_pylist())
    codes[at] = [2 * kinds.index(kind) + bool(kind) for kind in found]
    return codes


def _split_numbers(title: str) -> tuple[str, str]:
    """Return the normalized title without numbers, and the numbers, each followed by a comma."""
    text = unicodedata.normalize("NFKD", title).casefold()
    words = _WORD.findall(text)
    if NUMERALS.keys().isdisjoint(words) and _NUMBER.search(text) is None:
        return "".join(words), ""
    rest, numbers = [], []
    for word in words:
        if word in NUMERALS:
            numbers.append(f"{NUMERALS[word]},")
        elif _NUMBER.search(word) is None:
            rest.append(word)
        else:
            for piece in _PIECE.findall(word):
                if piece.isdecimal():
                    numbers.append(f"{int(piece)}," if len(piece) < 19 else f"{piece},")
                elif piece in _CJK_NUMERALS:
                    numbers.append(f"{NUMERALS[piece]},")
                else:
                    rest.append(piece)
    return "".join(rest), "".join(numbers)


def same_script(a: str, b: str) -> bool:
    """Return whether most letters of both titles are in one script: only then is S meaningful."""
    return _script(a) == _script(b)


@lru_cache(1 << 12)
def _script(title: str) -> str:
    found = Counter(
        "LATIN" if character.isascii() else unicodedata.name(character, "OTHER").split()[0]
        for character in title[:200]
        if character.isalpha()
    )
    return max(sorted(found), key=lambda name: found[name], default="OTHER")
