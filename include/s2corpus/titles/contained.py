"""Find papers whose title a printed reference contains, for entries without another candidate (SPEC §7.18)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.sources.documents import ends_with_kind
from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.comparison import EQUAL, MIN_LINK_EVIDENCE, Comparison
from s2corpus.titles.facts import hash_surnames, page_keys
from s2corpus.titles.linking import CANDIDATE, compare_facts
from s2corpus.titles.threegrams import normalize, normalize_one

HEADS = (16, 32)
"""Lengths of the beginnings of titles that are compared first. Shorter titles are compared completely."""
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
REFERENCE = pa.schema(
    [(name, pa.string()) for name in ("entry", "citing_paper_id")]
    + [("year", pa.int32()), ("raw_text", pa.string()), ("text", pa.string())]
    + [("heads", pa.list_(pa.struct([("place", pa.int64()), ("length", pa.int64())]))), ("ends", pa.list_(pa.int64()))]
)


def choose_contained(rows: pa.Table) -> pa.Table:
    """Return the papers of the longest title that a reference contains and that is not refused: rows of CANDIDATE, longest first."""
    described, _, refusals = judge_contained(rows)
    chosen, longest = dict[tuple[str, str], int](), dict[str, int]()
    for row, (entry, paper_id, title) in enumerate(
        zip(*(rows[name].to_pylist() for name in ("entry", "paper_id", "normalized")), strict=True)
    ):
        if refusals[row] is None and len(title) >= longest.get(entry, 0):  # Else, a longer title contains this one.
            longest[entry] = len(title)
            chosen.setdefault((entry, paper_id), row)
    return described.take(pa.array(list(chosen.values()), pa.int64()))


def judge_contained(rows: pa.Table) -> tuple[pa.Table, Comparison, list[str | None]]:
    """Return papers whose title a reference contains as rows of CANDIDATE, their evidence, and why each is refused (null if it is not).

    Year, surname, or volume and page must agree. A short title counts as uninformative.
    """
    found = rows.to_pylist()
    some = {paper["entry"]: (paper["raw_text"][:MAX_RAW], paper["year"]) for paper in found}
    raw, years = zip(*some.values(), strict=True)
    evidence = dict(zip(some, _read_evidence(raw, years), strict=True))
    for paper in found:
        is_short = paper["is_uninformative"] or len(paper["normalized"]) < HEADS[0]
        cited = evidence[paper["entry"]].describe(paper["facts"])
        paper.update(same_title=True, is_uninformative=is_short, cited=cited, given=paper["facts"], reason="contained")
        paper.update(is_crowded=False, has_more=False)
    described = pa.Table.from_pylist(found, CANDIDATE)
    compared = compare_facts(described, np.full(len(rows), EQUAL))
    refusals: list[str | None] = []
    for paper, total in zip(found, compared.weights.sum(0).tolist(), strict=True):
        cited, given = paper["cited"], paper["given"]
        agreeing = {name for name, value in cited.items() if value is not None and value == given[name]}
        needed = [{"year", "surname"}] if paper["is_uninformative"] else [{"year"}, {"surname"}]
        if not any(facts <= agreeing for facts in [*needed, {"volume", "page"}]):
            words = " or ".join(" and ".join(sorted(facts)) for facts in needed)
            refusals.append(f"the text contains the title, but not its {words}, or volume and page")
        elif total < MIN_LINK_EVIDENCE:
            refusals.append("the text contains the title, but too little else agrees")
        else:
            is_other = not evidence[paper["entry"]].is_the_work(paper["place"])
            refusals.append(
                "the title in the text is that of a book, or follows the name of a notice (§7.19)" if is_other else None
            )
    return described, compared, refusals


def split_references(rows: pa.Table) -> pa.Table:
    """Return the normalized references with the spans that may begin a title, and the places where one may end (code points)."""
    raw, count = pc.utf8_slice_codeunits(one_chunk(rows["raw_text"]), 0, MAX_RAW), len(rows)
    pieces = pc.split_pattern(pc.replace_substring_regex(raw, f"({_BOUNDARY})", rf"\1{_MARK}"), _MARK)
    letters = pc.utf8_length(normalize(pieces.flatten())).to_numpy(zero_copy_only=False).astype(np.int64)
    row = pc.list_parent_indices(pieces).to_numpy(zero_copy_only=False)
    end = np.cumsum(letters)
    end -= (end - letters)[np.searchsorted(row, row)]
    begin, total = end - letters, np.bincount(row, letters, count).astype(np.int64)
    begin, end, row = (column[letters > 0] for column in (begin, end, row))
    spans = [(row, begin, np.where(begin + length <= total[row], length, 0)) for length in HEADS]
    for more in range(HEADS[0] - 1):  # A title that is shorter than a head has at most so many pieces more than one.
        last = np.arange(more, len(row))
        first = last - more
        is_short = (row[first] == row[last]) & (end[last] - begin[first] < HEADS[0])
        spans.append((row[first], begin[first], np.where(is_short, end[last] - begin[first], 0)))
    owner, place, length = (np.concatenate(column) for column in zip(*spans, strict=True))
    order = np.argsort(owner, kind="stable")
    order = order[length[order] >= MIN_TITLE]
    heads = pa.StructArray.from_arrays([pa.array(place[order]), pa.array(length[order])], names=["place", "length"])
    columns = [
        *rows.columns,
        normalize(raw),
        _make_lists(owner[order], heads, count),
        _make_lists(row, pa.array(end), count),
    ]
    return pa.table(columns, [*rows.column_names, "text", "heads", "ends"])


def _make_lists(row: np.ndarray, values: pa.Array, rows: int) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(np.searchsorted(row, np.arange(rows + 1)), pa.int32()), values)


def _read_evidence(raw: Sequence[str], years: Sequence[int | None]) -> list[_Reference]:
    """Return the years, words and numbers of each reference."""
    phrases, numbers = [], []
    for text in raw:
        words = _WORD.findall(text)
        phrases.append(
            ["".join(words[at : at + n]) for n in range(1, _MAX_SURNAME_WORDS + 1) for at in range(len(words) - n + 1)]
        )
        numbers.append(_NUMBER.findall(text))
    hashed = _hash_lists(phrases, lambda names: hash_surnames(names).view(np.int64)), _hash_lists(numbers, page_keys)
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
