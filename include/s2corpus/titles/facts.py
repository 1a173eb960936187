"""Facts that the linking rules compare, of bibliography entries and of papers, one row each; and names of journals (SPEC §4, §7)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.titles.arrays import hash_distinct, hash_strings, one_chunk, text_of
from s2corpus.titles.rules import are_uninformative
from s2corpus.titles.threegrams import normalize

IDENTIFIERS = ("doi", "arxiv_id", "pubmed_id", "pmc_id")
"""Columns with identifiers of papers: an entry links to the paper with an equal one (SPEC §7.5)."""
OPENING_BYTES = 6
"""Length of the opening of a normalized title. A cut title has at least this length (SPEC §7.7)."""
COMPARED = pa.struct(
    [("year", pa.int32()), ("surname", pa.int64()), ("journal", pa.string())]
    + [(name, pa.int64()) for name in ("journal_key", "volume", "page")]
)
"""Compared facts; null means unknown. `surname` is the hash of the normalized surname of the first author, `journal_key` that of the
initials that all abbreviations of a journal share, and `page` that of the first page."""
FACTS = pa.schema(
    [
        ("normalized", pa.string()),  # null without a title
        ("title_hash", pa.int64()),
        ("opening", pa.binary()),  # the first bytes of `normalized`; null if it is shorter
        ("is_uninformative", pa.bool_()),  # generic, or fewer than 3 words (SPEC §7.6)
        ("facts", COMPARED),
    ]
)


def add_facts(rows: pa.Table) -> pa.Table:
    """Append the columns of FACTS to rows with `title`, `authors`, `year`, `journal`, `volume` and `pages`, as printed."""
    normalized = normalize(rows["title"])
    is_long = pc.greater_equal(pc.binary_length(normalized), OPENING_BYTES)
    opening = pc.binary_slice(normalized.cast(pa.binary()), 0, OPENING_BYTES)
    compared = [
        one_chunk(rows["year"]),
        _unless_zero(hash_surnames(first_surname(rows["authors"]))),
        one_chunk(rows["journal"]),
        *(_unless_zero(key(rows[name])) for key, name in _KEYS),
    ]
    columns = [
        pc.if_else(pc.equal(normalized, ""), pa.scalar(None, pa.string()), normalized),
        hash_strings(*text_of(normalized)).view(np.int64),
        pc.if_else(is_long, opening, pa.scalar(None, pa.binary())),
        are_uninformative(rows["title"], normalized),
        pa.StructArray.from_arrays(compared, fields=list(COMPARED)),
    ]
    for field, column in zip(FACTS, columns, strict=True):
        rows = rows.append_column(field, pa.array(column) if isinstance(column, np.ndarray) else column)
    return rows


def first_surname(authors: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the surname of the first author of each row."""
    authors = one_chunk(authors)
    offsets = authors.offsets.to_numpy()
    has_author = authors.is_valid().to_numpy(zero_copy_only=False) & (offsets[1:] > offsets[:-1])
    return list_surnames(authors.values.take(pa.array(offsets[:-1], mask=~has_author)))


def list_surnames(persons: pa.StructArray) -> pa.Array:
    """Return the last name of each person, or the first name if the last name is empty."""
    last = pc.struct_field(persons, "last")
    return pc.if_else(pc.equal(pc.fill_null(last, ""), ""), pc.struct_field(persons, "first"), last)


def hash_surnames(names: pa.Array) -> np.ndarray:
    """Return the hash of each surname (uint64), or 0: Müller, Mueller and Muller are one; Bauer and Baur are two."""
    texts = normalize(names)
    for letters, plain in _TRANSLITERATED:
        texts = pc.replace_substring_regex(texts, letters, plain)
    return hash_strings(*text_of(texts))


def _unless_zero(hashes: np.ndarray) -> pa.Array:
    return pa.array(hashes.astype(np.uint64).view(np.int64), mask=hashes == 0)


_TRANSLITERATED = (
    ("æ", "a"), ("[øœ]", "o"), ("ł", "l"), ("ı", "i"), ("[đð]", "d"), ("(^|[^aeq])([aou])e([a-z])", r"\1\2\3"),
)  # fmt: skip
NUMERIC = np.uint32(2)
"""Bit of an issue hash that is set if the issue is a number. "12" and "December" do not contradict."""
ELECTRONIC = np.uint32(2)
"""Bit of a first-page hash that is set if the page is an article number: it begins with a letter (not `p`, nor S of supplements), has 6
digits ("7015492"), or precedes a page ("19:1–19:12"). An article number and a page do not contradict."""
_ARTICLE_NUMBER = r"^\W*(?:pp?\.|p\b)?\s*(?:[a-oqrt-zA-OQRT-Z]|[0-9]{6}|[0-9]+:[0-9])"
_VOLUME = r"(?s)^[^\p{Nd}]*?0*(\p{Nd}+).*$|^[^\p{L}\p{N}]*(\p{L}+).*$|^.*$"
_PAGE = r"(?s)^[^\p{L}\p{N}]*(?:(?:pp?|pages?|art(?:icle|n)?|unsp|no)\b[^\p{L}\p{N}]*)*(\p{L}{0,4})[.]?\s?0*(\p{Nd}+).*$|^.*$"


def journal_keys(names: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return the 32-bit hash of `journal_key` of each row (uint32), or 0."""
    return hash_distinct(
        names, lambda different: pa.array([journal_key(name) for name in different.to_pylist()], pa.string())
    )


def number_keys(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return the hash of the first number of each volume or issue, else of its first word (uint32), or 0: "58 (Suppl. 6)" → 58."""
    keys = hash_distinct(column, lambda distinct: pc.replace_substring_regex(pc.utf8_lower(distinct), _VOLUME, r"\1\2"))
    return keys & ~ELECTRONIC  # An equal number of a page has an equal key.


def page_keys(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return the hash of the first page of each range (uint32), or 0: "S212-S216" → s212, "pp. 0811a–819" → 811, "Suppl-29" → 0.

    The bit ELECTRONIC is set exactly if the page is an article number.
    """
    keys = hash_distinct(column, lambda distinct: pc.replace_substring_regex(pc.utf8_lower(distinct), _PAGE, r"\1\2"))
    return mark_keys(column, keys, _ARTICLE_NUMBER, ELECTRONIC)


def last_pages(column: pa.Array) -> np.ndarray:
    """Return the last page of each range of pages (int64), or 0: "S214-S217" → 217, "41, 67–95" → 0; negative from page 1: "1–6" → −6."""
    pages = pc.extract_regex(column, r"^[^0-9]*(?P<first>[0-9]{1,9})[^0-9]+(?P<last>[0-9]{1,9})[^0-9]*$")
    first, last = (
        pc.fill_null(pc.struct_field(pages, name), "0").cast(pa.int64()).to_numpy() for name in ("first", "last")
    )
    return np.where(last > first, np.where(first > 1, last, -last), 0)


_KEYS = ((journal_keys, "journal"), (number_keys, "volume"), (page_keys, "pages"))


def mark_keys(column: pa.Array | pa.ChunkedArray, keys: np.ndarray, pattern: str, bit: np.uint32) -> np.ndarray:
    """Return keys with a bit set exactly if the text matches the pattern; 0 remains 0."""
    if not keys.any():
        return keys
    is_marked = np.asarray(pc.fill_null(pc.match_substring_regex(column, pattern), False))
    return np.where(is_marked & (keys != 0), keys | bit, keys & ~bit)


_STOP_LIST = (
    "an and the of for in on to et de des du der die das den und fur fuer le la les el los las del della di da do dos van het en og och "
    "section sect part series ser"
)
_STOP_WORDS = frozenset(_STOP_LIST.split())
_WORD = re.compile(r"[^\W\d_]+|\d+")
_TAILS = (["usa"], ["u", "s", "a"], ["united", "states", "america"])
"""Optional last words of journal names."""
_BRACKETS = re.compile(r"[(\[][^)\]]*[)\]]?")
_HYPHENATED = re.compile(r"(?<=[a-z])[-‐]\s+(?=[a-z])")
_VOWEL = re.compile(r"[aeiouy]", re.I)


@lru_cache(1 << 16)
def journal_words(name: str) -> tuple[str, ...]:
    """Return the significant words of a journal name in lower case, without accents and stop words; for an acronym, its letters."""
    text = _BRACKETS.sub(" ", _HYPHENATED.sub("", name))
    names = _WORD.findall(text)
    if len(names) == 1 and names[0].isupper():
        length = len(names[0])
        if 1 < length < 5 or (length < 7 and not _VOWEL.search(names[0])):
            return tuple(names[0].lower())
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    words = [w for w in _WORD.findall(plain.replace("'s ", "s ")) if not w.isdigit()]
    words = [w for w in words if w not in _STOP_WORDS or len(words) == 1]
    for tail in _TAILS:
        if words[-len(tail) :] == tail and len(words) > len(tail):
            words = words[: -len(tail)]
            break
    return tuple(words)


def journal_key(name: str) -> str:
    """Return the initials of the first three words, which most abbreviations share ("J. Biol. Chem." → jbc)."""
    return "".join(word[0] for word in journal_words(name)[:3])


def same_journal(a: str, b: str) -> bool:
    """Return whether one name may abbreviate the other: its words are beginnings of words of the other, in order."""
    return _abbreviates(journal_words(a), journal_words(b)) or _abbreviates(journal_words(b), journal_words(a))


def _abbreviates(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    if not short or not long or len(short) > len(long):
        return False
    at = 0
    for word in short:
        while at < len(long) and not (long[at].startswith(word) or _is_contraction(word, long[at])):
            at += 1
        if at == len(long):
            return False
        at += 1
    return short[0][0] == long[0][0]


def _is_contraction(short: str, long: str) -> bool:
    """Return whether `short` is a contraction of `long`: its letters occur in `long` in order (`Natl`, `Intl`, `Engng`)."""
    if len(short) < 3 or short[0] != long[0]:
        return False
    rest = iter(long)
    return all(letter in rest for letter in short)
