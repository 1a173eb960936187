"""Find papers whose title a printed reference contains, for entries without another candidate (SPEC §7.18)."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.sources.documents import ends_with_kind
from s2corpus.titles.arrays import hash_strings, one_chunk, text_of
from s2corpus.titles.facts import page_keys
from s2corpus.titles.threegrams import normalize, normalize_one

HEADS = (16, 32)
"""Lengths of the beginnings of titles that are compared first. A shorter title is compared as a whole."""
MIN_TITLE = 4
"""Letters and digits of the shortest title that is searched."""
MAX_RAW = 2_000
"""Characters of a reference that are searched."""
MIN_YEARS_APART = 5
"""Years between a reference and its paper that contradict."""
_MARK = "\x1e"
_BOUNDARY = r"[^\p{L}\p{N}\p{M}\s]\s*|\p{Nd}\s+"
"""A title begins and ends at punctuation or after a number."""
_BOUNDARY_OF_TEXT = re.compile(r"[^\w\s]\s*|\d\s+")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NUMBER = re.compile(r"[A-Za-z]?\d+[A-Za-z]?")
_HOST = re.compile(r"(?:\bIn\b\W*(?:[^“\"]{0,80}\b[Ee]ds?\b\W*)?|\b[Ee]ds?\b\.?\W*)$")
_MAX_SURNAME_WORDS = 3
_PLACE_NUMBERS = 2
"""A reference with more numbers has a volume and a page."""
_AGREEMENT = ("same_title", "agrees", "same_journal", "same_volume", "same_page", "same_year", "same_surname")
_ROWS = pa.schema(
    [("entry", pa.int32()), *((name, pa.string()) for name in ("paper_id", "title", "normalized"))]
    + [(name, pa.bool_()) for name in _AGREEMENT]
)


def read_references(entries: pa.Table) -> pa.Table:
    """Return the entries whose printed reference is long enough, with its beginning."""
    entries = entries.filter(pc.greater_equal(pc.utf8_length(entries["raw_text"]), HEADS[0])).combine_chunks()
    raw = pc.utf8_slice_codeunits(entries["raw_text"], 0, MAX_RAW) if len(entries) else entries["raw_text"]
    return entries.set_column(entries.column_names.index("raw_text"), "raw_text", raw)


def choose_contained(entries: pa.Table, found: list[dict[str, Any]]) -> pa.Table:
    """Return the papers of the longest title that a reference contains, if enough else agrees: columns of `candidates`.

    `found` are the rows of `contained` in `linking.sql`: papers whose title these references contain, longest first.
    """
    row_of = {entry: row for row, entry in enumerate(entries["entry"].to_pylist())}
    some = list(dict.fromkeys(row_of[paper["entry"]] for paper in found))
    raw, years = (entries[name].take(pa.array(some, pa.int64())).to_pylist() for name in ("raw_text", "year"))
    evidence = dict(zip(some, _read_evidence(raw, years), strict=True))
    rows, longest = [], dict[int, int]()
    for paper in found:
        entry, length = paper["entry"], len(paper["normalized"])
        if length < longest.get(entry, 0):
            continue  # A longer title contains this one.
        reference = evidence[row_of[entry]]
        agreement = reference.compare(paper)
        if agreement is not None and reference.is_the_work(paper["place"]):
            longest[entry] = length
            rows.append({name: paper[name] for name in ("entry", "paper_id", "title", "normalized")} | agreement)
    unique = {(row["entry"], row["paper_id"]): row for row in reversed(rows)}
    return pa.Table.from_pylist(list(unique.values()), _ROWS)


def split_references(entries: pa.Table) -> dict[str, pa.Table]:
    """Return the normalized references, and the places in them (code points) where a title may begin and end."""
    raw = one_chunk(entries["raw_text"])
    pieces = pc.split_pattern(pc.replace_substring_regex(raw, f"({_BOUNDARY})", rf"\1{_MARK}"), _MARK)
    lengths = pc.utf8_length(normalize(pieces.flatten())).to_numpy(zero_copy_only=False).astype(np.int64)
    row = pc.list_parent_indices(pieces).to_numpy(zero_copy_only=False)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    first = np.searchsorted(row, row)
    has_text = lengths > 0
    entry = entries["entry"].combine_chunks().take(pa.array(row[has_text]))
    begin, end = ((before[at:][: len(row)] - before[first])[has_text] for at in (0, 1))
    texts = {"entry": entries["entry"], "text": normalize(raw), "citing_paper_id": entries["citing_paper_id"]}
    return {
        "starts": pa.table({"entry": entry, "place": begin}),
        "ends": pa.table({"entry": entry, "place": end}),
        "texts": pa.table(texts),
    }


def _read_evidence(raw: list[str], years: list[int | None]) -> list[_Reference]:
    """Return the years, words and numbers of each reference."""
    phrases, numbers = [], []
    for text in raw:
        words = _WORD.findall(text)
        phrases.append(
            ["".join(words[at : at + n]) for n in range(1, _MAX_SURNAME_WORDS + 1) for at in range(len(words) - n + 1)]
        )
        numbers.append(_NUMBER.findall(text))
    hashed = (
        _hash_lists(phrases, lambda column: hash_strings(*text_of(normalize(column)))),
        _hash_lists(numbers, page_keys),
    )
    return [
        _Reference(text, {int(found) for found in _YEAR.findall(text)} | ({year} if year else set()), words, found)
        for text, year, words, found in zip(raw, years, *hashed, strict=True)
    ]


def _hash_lists(lists: list[list[str]], key: Any) -> list[set[int]]:
    hashes = key(pa.array([text for texts in lists for text in texts], pa.string())).tolist()
    ends = np.cumsum([len(texts) for texts in lists], dtype=np.int64).tolist()
    return [set(hashes[end - len(texts) : end]) - {0} for texts, end in zip(lists, ends, strict=True)]


class _Reference:
    """A printed reference with its years, and the hashes of its words and numbers."""

    def __init__(self, text: str, years: set[int], words: set[int], numbers: set[int]) -> None:
        self._text, self._years, self._words, self._numbers = text, years, words, numbers

    def compare(self, paper: dict[str, Any]) -> dict[str, bool] | None:
        """Return what agrees with a paper, or None if it is too little.

        Enough are year and surname; volume, page and one of these; or one of these beside a long title, if the other is unknown and
        the reference does not name another place.
        """
        year, surname = paper["year"], paper["surname_key"]
        same_year, same_surname = year in self._years, surname in self._words
        same_volume, same_page = (paper[name] in self._numbers for name in ("volume_key", "page_key"))
        year_differs = year is not None and bool(self._years) and not same_year
        surname_differs = surname is not None and not same_surname
        is_placed = same_volume and same_page and (same_year or same_surname)
        is_dated = same_year and same_surname
        is_long = len(paper["normalized"]) >= HEADS[0] and not paper["is_uninformative"]
        is_elsewhere = len(self._numbers) > _PLACE_NUMBERS and not (
            same_volume or same_page or None in (paper["volume_key"], paper["page_key"])
        )
        is_titled = is_long and (same_year or same_surname) and not (year_differs or surname_differs or is_elsewhere)
        if not (is_placed or is_dated or is_titled):
            return None
        is_far = (
            year_differs
            and not (same_surname and same_volume and same_page)
            and min(abs(year - named) for named in self._years) >= MIN_YEARS_APART
        )
        values = (
            True,
            not (is_far or (year_differs and surname_differs)),
            False,
            same_volume,
            same_page,
            same_year,
            same_surname,
        )
        return dict(zip(_AGREEMENT, values, strict=True))

    def is_the_work(self, place: int) -> bool:
        """Return whether the title at a place of the normalized reference is the cited work.

        A notice, reply or review names it after words such as "Correction to"; a part of a book names the book after "In".
        """
        before, begin = "", 0
        for boundary in _BOUNDARY_OF_TEXT.finditer(self._text) if place else ():
            place -= len(normalize_one(self._text[begin : boundary.end()]))
            begin = boundary.end()
            if place <= 0:
                before = self._text[:begin]
                break
        return not _HOST.search(before) and not ends_with_kind(before)
