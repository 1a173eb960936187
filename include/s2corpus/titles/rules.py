"""The rules for titles that say little: generic ones, short ones, and pairs that differ only in a number."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.compiled import njit
from s2corpus.titles.arrays import pieces_of, place_of, strings, text_of
from s2corpus.titles.normalised import normalise_one

MIN_WORDS = 3
"""A title of fewer words needs year and surname to agree."""
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
"""Titles that name a kind of contribution, not one: they need year and surname to agree (the list S2 and fuzzycat keep is similar)."""
_GENERIC = frozenset(normalise_one(title) for title in GENERIC_TITLES)
_LONGEST_GENERIC = max(len(title.encode()) for title in _GENERIC)

_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00016fe0-\U00018aff\U0001aff0-\U0001b16f\U00020000-\U0003ffff]"
)
_ROMAN = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_CARDINAL = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ORDINAL = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMERALS = {"x" * (n // 10) + _ROMAN[n % 10]: n for n in range(1, 40)}
_CJK_NUMERALS = "一二三四五六七八九十"
for _words in (_CARDINAL, _ORDINAL, _CJK_NUMERALS):
    _NUMERALS |= {word: n for n, word in enumerate(_words, 1)}
"""Words that are numbers, with their values. Roman ones up to 39: from 40 on they look like words (`mix`, `dim`, `li`)."""
_NUMBER = re.compile(rf"[\d{_CJK_NUMERALS}]")
_PIECE = re.compile(rf"\d+|[{_CJK_NUMERALS}]|[^\W\d_{_CJK_NUMERALS}]+")
_WORD = re.compile(r"[^\W_]+")
_MAY_BE_NUMBER = (
    rf"[\p{{N}}{_CJK_NUMERALS}]|(?:^|[^a-z])(?:{'|'.join(word for word in _NUMERALS if word.isascii())})(?:$|[^a-z])"
)
"""For Arrow's regular expressions, in decomposed lower case: every number, and words that only look like one beside other scripts."""


def is_generic(title: str) -> bool:
    """Whether the title names a kind of contribution (`Editorial`, `Book review`) and not one of them."""
    return normalise_one(title) in _GENERIC


def word_count(title: str) -> int:
    """Words between white space that hold a letter or digit; two characters of Chinese, Japanese or Korean are one word."""
    text = unicodedata.normalize("NFKC", title)
    words = _CJK.sub(" ", text).split()
    return sum(any(map(str.isalnum, word)) for word in words) + len(_CJK.findall(text)) // 2


def differ_only_in_number(a: str, b: str) -> bool:
    """Whether two titles are the same except for numbers: `Part I` and `Part II`, `2D …` and `3D …`, `第一` and `第二`."""
    (rest_a, numbers_a), (rest_b, numbers_b) = _without_numbers(a), _without_numbers(b)
    return rest_a == rest_b and numbers_a != numbers_b


def say_little(titles: pa.Array | pa.ChunkedArray, normalised: pa.Array) -> np.ndarray:
    """Which titles are generic or have fewer than three words: they need year and surname to agree. Boolean, a row each."""
    few = [few_words(piece) for piece in pieces_of(titles)]
    little: np.ndarray = np.concatenate([np.zeros(0, np.bool_), *few])
    offsets, _ = text_of(normalised)
    short = np.flatnonzero(np.diff(offsets) <= _LONGEST_GENERIC)
    little[short] |= np.asarray(pc.is_in(normalised.take(pa.array(short)), pa.array(sorted(_GENERIC))))
    return little


def few_words(titles: pa.Array) -> np.ndarray:
    """Whether `word_count` is below MIN_WORDS, a row each; what a compiled look at its ASCII words leaves open is counted."""
    few, other = _few_ascii_words(*text_of(titles), MIN_WORDS)
    for row in np.flatnonzero(few & other):
        few[row] = word_count(titles[int(row)].as_py()) < MIN_WORDS
    return few


def only_numbers_differ(titles_a: pa.Array, titles_b: pa.Array) -> np.ndarray:
    """`differ_only_in_number` of every pair of rows, boolean."""
    asked = _same_letters(*text_of(titles_a), *text_of(titles_b), _IN_NO_NUMERAL)
    both_ascii = pc.and_(pc.string_is_ascii(titles_a), pc.string_is_ascii(titles_b))
    # The others take long: only what is the same once it is decomposed, and may have a number.
    other = np.flatnonzero(~np.asarray(both_ascii))
    plain_a, plain_b = (
        pc.utf8_lower(pc.utf8_normalize(titles.take(pa.array(other)), "NFKD")) for titles in (titles_a, titles_b)
    )
    same = np.flatnonzero(_same_letters(*text_of(plain_a), *text_of(plain_b), _IN_NO_NUMERAL))
    numbered = [pc.match_substring_regex(plain.take(pa.array(same)), _MAY_BE_NUMBER) for plain in (plain_a, plain_b)]
    asked[other] = False
    asked[other[same]] = np.asarray(pc.or_(*numbered))
    rest_a, numbers_a = _columns_without_numbers(titles_a.filter(pa.array(asked)))
    rest_b, numbers_b = _columns_without_numbers(titles_b.filter(pa.array(asked)))
    differ = np.zeros(len(titles_a), np.bool_)
    differ[asked] = np.asarray(pc.and_(pc.equal(rest_a, rest_b), pc.not_equal(numbers_a, numbers_b)))
    return differ


def _without_numbers(title: str) -> tuple[str, str]:
    """The normalised title without its numbers, and the numbers, each followed by a comma."""
    text = unicodedata.normalize("NFKD", title).casefold()
    words = _WORD.findall(text)
    if _NUMERALS.keys().isdisjoint(words) and _NUMBER.search(text) is None:
        return "".join(words), ""
    rest, numbers = [], []
    for word in words:
        if word in _NUMERALS:
            numbers.append(f"{_NUMERALS[word]},")
        elif _NUMBER.search(word) is None:
            rest.append(word)
        else:
            for piece in _PIECE.findall(word):
                if piece.isdecimal():
                    numbers.append(f"{int(piece)}," if len(piece) < 19 else f"{piece},")
                elif piece in _CJK_NUMERALS:
                    numbers.append(f"{_NUMERALS[piece]},")
                else:
                    rest.append(piece)
    return "".join(rest), "".join(numbers)


def _columns_without_numbers(titles: pa.Array) -> tuple[pa.Array, pa.Array]:
    """`_without_numbers` of every row, as two string columns; rows of pure ASCII take a compiled path."""
    rest_offsets, rest, number_offsets, numbers, other = _ascii_without_numbers(
        *text_of(titles), _PACKED, _VALUES, _BEGIN
    )
    columns = strings(rest_offsets, rest), strings(number_offsets, numbers)
    if not other.any():
        return columns
    mask = pa.array(other)
    general = [_without_numbers(title) for title in titles.filter(mask).to_pylist()]
    return (
        pc.replace_with_mask(columns[0], mask, pa.array([rest for rest, _ in general], pa.string())),
        pc.replace_with_mask(columns[1], mask, pa.array([numbers for _, numbers in general], pa.string())),
    )


def _packed(word: str) -> int:
    return int.from_bytes(word.encode(), "big")


_ASCII_NUMERALS = sorted((_packed(word), value) for word, value in _NUMERALS.items() if word.isascii())
_PACKED = np.array([word for word, _ in _ASCII_NUMERALS], np.uint64)
"""Numerals of at most eight ASCII characters as big-endian numbers, ascending: how the compiled path looks a word up."""
_VALUES = np.array([value for _, value in _ASCII_NUMERALS], np.int64)
_BEGIN = np.zeros((9, 32), np.bool_)
"""By length and first letter: whether a numeral is such a word. Most words are not, and need no search."""
for _words in (word for word in _NUMERALS if word.isascii()):
    _BEGIN[len(_words), ord(_words[0]) & 31] = True
_IN_NO_NUMERAL = np.array(
    [
        byte | 32 if bytes([byte]).isalpha() and chr(byte).lower() not in "".join(_NUMERALS) else 0
        for byte in range(256)
    ],
    np.uint8,
)
"""By byte: a letter (lower-case) that no numeral has, else 0."""
_OTHER, _LETTER, _DIGIT = 0, 1, 2
_KIND = np.array(
    [_LETTER * bytes([byte]).isalpha() + _DIGIT * bytes([byte]).isdigit() for byte in range(256)], np.uint8
)


_IN_WORD = np.array([bytes([byte]).isalnum() for byte in range(256)], np.uint8)
_BETWEEN = np.array([byte < 128 and chr(byte).isspace() for byte in range(256)], np.uint8)


@njit(cache=True, nogil=True)
def _few_ascii_words(offsets: np.ndarray, data: np.ndarray, enough: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of fewer words that hold an ASCII letter or digit (there may be more in a row that is not pure ASCII: those are marked)."""
    rows = len(offsets) - 1
    few = np.zeros(rows, np.bool_)
    other = np.zeros(rows, np.bool_)
    for row in range(rows):
        inside, count, above = np.uint8(0), 0, np.uint8(0)
        i, last = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
        while i < last and count < enough:
            in_word, between = _IN_WORD[data[i]], _BETWEEN[data[i]]  # there is no branch on a byte
            count += int(in_word & ~inside)
            inside = (inside | in_word) & ~between
            above |= data[i]
            i += np.uint64(1)
        other[row] = above >= 128
        few[row] = count < enough
    return few, other


@njit(cache=True, nogil=True)
def _same_letters(
    offsets_a: np.ndarray, data_a: np.ndarray, offsets_b: np.ndarray, data_b: np.ndarray, letters: np.ndarray
) -> np.ndarray:
    """Pairs that have the same ones of these letters in the same order: most that differ in more than numbers have not."""
    rows = len(offsets_a) - 1
    same = np.zeros(rows, np.bool_)
    for row in range(rows):
        i, j = np.uint64(offsets_a[row]), np.uint64(offsets_b[row])
        last_i, last_j = np.uint64(offsets_a[row + 1]), np.uint64(offsets_b[row + 1])
        differ = False
        while not differ:
            while i < last_i and letters[data_a[i]] == 0:
                i += np.uint64(1)
            while j < last_j and letters[data_b[j]] == 0:
                j += np.uint64(1)
            if i == last_i or j == last_j:
                same[row] = i == last_i and j == last_j
                break
            differ = letters[data_a[i]] != letters[data_b[j]]
            i += np.uint64(1)
            j += np.uint64(1)
    return same


@njit(cache=True, nogil=True)
def _ascii_without_numbers(
    offsets: np.ndarray, data: np.ndarray, packed: np.ndarray, values: np.ndarray, begin: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rows = len(offsets) - 1
    size = offsets[rows] - offsets[0]
    one = np.uint64(1)
    rest, rest_ends, rest_at = np.empty(size, np.uint8), np.zeros(rows + 1, np.int32), np.uint64(0)
    numbers, number_ends, number_at = np.empty(3 * size, np.uint8), np.zeros(rows + 1, np.int32), np.uint64(0)
    other = np.zeros(rows, np.bool_)
    for row in range(rows):
        i, last = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
        above = np.uint8(0)
        for k in range(i, last):
            above |= data[k]
        if above >= 128:
            other[row] = True
            i = last
        while i < last:
            word, word_rest = i, rest_at
            key = np.uint64(0)
            while i < last and _KIND[data[i]] == _LETTER:
                byte = data[i] | np.uint8(32)
                key = key << np.uint64(8) | np.uint64(byte)
                rest[rest_at] = byte
                rest_at += one
                i += one
            if i == last or _KIND[data[i]] != _DIGIT:
                if i - word <= 8 and begin[i - word, data[word] & np.uint8(31)]:
                    found = place_of(packed, key)
                    if found < len(packed) and packed[found] == key:
                        rest_at = word_rest
                        value = values[found]
                        if value >= 10:
                            numbers[number_at] = 48 + value // 10
                            number_at += one
                        numbers[number_at] = 48 + value % 10
                        numbers[number_at + one] = 44
                        number_at += np.uint64(2)
                i += one
                continue
            while i < last and _KIND[data[i]] != _OTHER:  # a word with digits is not a numeral
                if _KIND[data[i]] == _LETTER:
                    rest[rest_at] = data[i] | np.uint8(32)
                    rest_at += one
                    i += one
                    continue
                digits = i
                while i < last and _KIND[data[i]] == _DIGIT:
                    i += one
                if i - digits < 19:
                    while digits < i - one and data[digits] == 48:
                        digits += one
                while digits < i:
                    numbers[number_at] = data[digits]
                    number_at += one
                    digits += one
                numbers[number_at] = 44
                number_at += one
        rest_ends[row + 1] = rest_at
        number_ends[row + 1] = number_at
    return rest_ends, rest[:rest_at], number_ends, numbers[:number_at], other
