"""Find papers whose title a printed reference contains, for entries without another candidate (SPEC §7.18)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.sources.documents import ends_with_kind
from s2corpus.titles.arrays import hash_strings, one_chunk, text_of
from s2corpus.titles.comparison import EQUAL, MIN_LINK_EVIDENCE, Comparison
from s2corpus.titles.facts import page_keys
from s2corpus.titles.threegrams import normalize, normalize_one

HEADS = (16, 32)
"""Lengths of the beginnings of titles that are compared first. A shorter title is compared as a whole."""
MIN_TITLE = 4
"""Letters and digits of the shortest title that is searched."""
MAX_RAW = 2_000
"""Characters of a reference that are searched."""
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
_OTHER = 4
"""A key differs from another one in this bit."""
_FACTS = pa.struct(
    [("year", pa.int32()), ("surname", pa.uint64()), ("journal", pa.string())]
    + [(name, pa.uint32()) for name in ("journal_key", "volume", "page")]
)
_ROWS = pa.schema(
    {"entry": pa.int32(), **dict.fromkeys(("paper_id", "title", "normalized"), pa.string())}
    | {"same_title": pa.bool_(), "is_uninformative": pa.bool_(), "cited": _FACTS, "given": _FACTS}
)


def read_references(entries: pa.Table) -> pa.Table:
    """Return the entries whose printed reference is long enough, with its beginning."""
    entries = entries.filter(pc.greater_equal(pc.utf8_length(entries["raw_text"]), HEADS[0])).combine_chunks()
    raw = pc.utf8_slice_codeunits(entries["raw_text"], 0, MAX_RAW) if len(entries) else entries["raw_text"]
    return entries.set_column(entries.column_names.index("raw_text"), "raw_text", raw)


def choose_contained(entries: pa.Table, found: list[dict[str, Any]], compare: Callable[..., Comparison]) -> pa.Table:
    """Return the papers of the longest title that a reference contains, if the evidence suffices: columns of `candidates`.

    `found` are the rows of `contained` in `linking.sql`: papers whose title these references contain, longest first. `compare`
    compares the columns `cited` and `given`. Year, surname, or volume and page must agree. A short title counts as uninformative.
    """
    row_of = {entry: row for row, entry in enumerate(entries["entry"].to_pylist())}
    some = list(dict.fromkeys(row_of[paper["entry"]] for paper in found))
    raw, years = (entries[name].take(pa.array(some, pa.int64())).to_pylist() for name in ("raw_text", "year"))
    evidence = dict(zip(some, _read_evidence(raw, years), strict=True))
    described = []
    for paper in found:
        cited, given = evidence[row_of[paper["entry"]]].describe(paper["facts"]), paper["facts"]
        is_short = paper["is_uninformative"] or len(paper["normalized"]) < HEADS[0]
        described.append({**paper, "same_title": True, "is_uninformative": is_short, "cited": cited, "given": given})
    rows = pa.Table.from_pylist(described, _ROWS)
    is_enough = compare(rows, np.full(len(rows), EQUAL)).weights.sum(0) >= MIN_LINK_EVIDENCE
    chosen, longest = dict[tuple[int, str], int](), dict[int, int]()
    for row, paper in enumerate(found):
        entry, length = paper["entry"], len(paper["normalized"])
        if length < longest.get(entry, 0):
            continue  # A longer title contains this one.
        agreeing = {
            name
            for name, value in described[row]["cited"].items()
            if value is not None and value == paper["facts"][name]
        }
        needed = [{"year", "surname"}] if described[row]["is_uninformative"] else [{"year"}, {"surname"}]
        is_confirmed = any(facts <= agreeing for facts in needed) or agreeing >= {"volume", "page"}
        if is_enough[row] and is_confirmed and evidence[row_of[entry]].is_the_work(paper["place"]):
            longest[entry] = length
            chosen.setdefault((entry, paper["paper_id"]), row)
    return rows.take(pa.array(list(chosen.values()), pa.int64()))


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

    def describe(self, paper: dict[str, Any]) -> dict[str, Any]:
        """Return the facts of the reference that are compared with those of a paper: equal, different, or None if it states none."""
        year, surname = paper["year"], paper["surname"]
        places = {name: paper[name] for name in ("volume", "page") if paper[name] in self._numbers}
        if surname not in self._words:  # If volume and page agree, another author may be printed first.
            surname = None if surname is None or len(places) > 1 else surname ^ _OTHER
        if len(self._numbers) > _PLACE_NUMBERS and not places and None not in (paper["volume"], paper["page"]):
            places = {name: paper[name] ^ _OTHER for name in ("volume", "page")}
        nearest = min(self._years, key=lambda named: (abs(named - (year or named)), named), default=None)
        return {"year": nearest, "surname": surname, **places}

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
