"""Read people's marks of citations and bibliographies, from a CSV sheet or the page (SPEC §11.6).

The sheet has a line for each citation or entry, with `right`, `wrong` or `unsure` in column `mark`. The last line of an item is named
`missing`; its mark is a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from s2corpus.errors import UserError
from s2corpus.escaping import format_csv
from s2corpus.evaluation.parses import ParseItem, ParseTask
from s2corpus.evaluation.sheet import WORDS, read_marked_rows

COLUMNS = ("release", "item", "task", "paper_id", "file_sha1", "title", "line", "printed", "read", "mark")
MISSING = "missing"
"""name of the line for the number of missing citations or entries"""
MAX_MISSING = 9_999
QUESTIONS = {
    ParseTask.CITATIONS: "Number of inline citations of the PDF's running text without a right or unsure line",
    ParseTask.BIBLIOGRAPHY: "Number of references of the PDF without a right or unsure line",
}
"""number that a person counts in the PDF"""


@dataclass(frozen=True, slots=True)
class LineMarks:
    """One person's marks of one item. Lines are numbered from 1; all others are right."""

    wrong: tuple[int, ...]
    unsure: tuple[int, ...]
    missing: int


def check(item: ParseItem, marks: LineMarks) -> LineMarks:
    """Return the marks if they are possible.

    Raises:
        UserError: a line does not exist or has two marks, or the missing number is impossible.
    """
    if other := [n for n in (*marks.wrong, *marks.unsure) if not 1 <= n <= len(item.lines)]:
        raise UserError(f"{item.item} has no line {other[0]}: its lines are numbered from 1 to {len(item.lines)}")
    if both := set(marks.wrong) & set(marks.unsure):
        raise UserError(f"{item.item}, line {min(both)}: mark it either wrong or unsure")
    if not 0 <= marks.missing <= MAX_MISSING:
        raise UserError(f"{item.item}: {marks.missing} missing: give a number from 0 to {MAX_MISSING:,}")
    return marks


def read_numbers(text: str) -> tuple[int, ...]:
    """Return the numbers in a text such as `3, 17-20`.

    Raises:
        UserError: the text is something else, or a range is too long or runs backward.
    """
    numbers: set[int] = set()
    for part in filter(None, re.split(r"[,;\s]+", text.strip())):
        found = re.fullmatch(r"(\d{1,5})(?:[-–](\d{1,5}))?", part, re.ASCII)
        if not found or int(found[2] or found[1]) < int(found[1]):
            raise UserError(f"{part!r} is not a line number: write numbers and ranges such as 3, 17-20")
        numbers.update(range(int(found[1]), int(found[2] or found[1]) + 1))
    return tuple(sorted(numbers))


def written(release: str, items: Iterable[ParseItem]) -> str:
    """Return the sheet for these items, with an empty column for the marks."""
    rows: list[tuple[object, ...]] = [COLUMNS]
    for item in items:
        head = (release, item.item, item.task.value, item.paper_id, item.file_sha1, item.title)
        rows += [(*head, str(number), line.printed, line.read, "") for number, line in enumerate(item.lines, 1)]
        rows.append((*head, MISSING, QUESTIONS[item.task], "", ""))
    return format_csv(rows, quote_all=True)


def is_sheet(content: bytes) -> bool:
    """Return whether the first line of a file has this sheet's columns of marks."""
    head = content.partition(b"\n")[0].decode("utf-8", "replace")
    return {"line", "mark"} <= {name.strip('"\ufeff\r ') for name in head.split(",")}


def read(content: bytes, release: str, items: Sequence[ParseItem]) -> dict[str, LineMarks]:
    """Return the marks of a sheet. Items without any mark are skipped because they are not marked yet.

    Raises:
        UserError: the file is not such a sheet, belongs to another release, contains an unknown item or line, or an item is marked in part.
    """
    known = {item.item: item for item in items}
    marks: dict[str, dict[str, str]] = {}
    for number, row, (word,) in read_marked_rows(content, ["mark"], release, known.keys(), ["line"]):
        if row["line"] not in _list_lines(known[row["item"]]):
            raise UserError(f"line {number}: {row['item']} has no line {row['line']!r}")
        if row["line"] == MISSING and not re.fullmatch(r"\d{1,4}", word, re.ASCII):
            raise UserError(f"line {number}: {word!r} is not a number of missing ones: give 0 to {MAX_MISSING:,}")
        if row["line"] != MISSING and word not in WORDS:
            raise UserError(f"line {number}: {word!r} is not a mark: write right, wrong or unsure")
        if row["line"] in marks.setdefault(row["item"], {}):
            raise UserError(f"line {number}: {row['item']}, line {row['line']} is marked twice")
        marks[row["item"]][row["line"]] = word
    return {item: _collect(known[item], words) for item, words in marks.items()}


def _collect(item: ParseItem, words: dict[str, str]) -> LineMarks:
    if left := [line for line in _list_lines(item) if line not in words]:
        raise UserError(f"{item.item}: {len(left)} of its lines have no mark, first {left[0]!r}: mark all or none")
    numbered = {word: tuple(int(n) for n, w in words.items() if n != MISSING and w == word) for word in WORDS}
    return check(item, LineMarks(numbered["wrong"], numbered["unsure"], int(words[MISSING])))


def _list_lines(item: ParseItem) -> Iterator[str]:
    yield from map(str, range(1, len(item.lines) + 1))
    yield MISSING
