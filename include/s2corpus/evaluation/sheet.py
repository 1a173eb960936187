"""Write and read the CSV sheets for evaluation outside the browser, and check marks from the page.

In the sheet of items, each line has both sides of an item and the automatic marks. The sheet of parses (SPEC §11.6) has a line for each
citation or entry, with `right`, `wrong` or `unsure` in column `mark`. The last line of an item is named `missing`; its mark is a number.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from s2corpus.errors import UserError
from s2corpus.evaluation.sample import Item, ParseItem, ParseTask
from s2corpus_reader.escaping import escape_cell, format_csv

COLUMNS = (
    "release", "item", "task", "paper_id", "file_sha1", "ref_id", "cited_paper_id", "title", "authors", "more", "against_title",
    "against_authors", "against_more", "auto_title", "auto_authors", "mark_title", "mark_authors",
)  # fmt: skip
WORDS: Mapping[str, bool | None] = {"right": True, "wrong": False, "unsure": None}
"""valid words in `mark_title` and `mark_authors`"""
_WORD = {value: word for word, value in WORDS.items()}
Marks = dict[str, tuple[bool | None, bool | None]]
"""item → (title, authors)"""
PARSE_COLUMNS = ("release", "item", "task", "paper_id", "file_sha1", "title", "line", "printed", "read", "mark")
MISSING = "missing"
"""name of the line for the number of missing citations or entries"""
MAX_MISSING = 9_999
QUESTIONS = {
    ParseTask.CITATIONS: "Number of inline citations of the PDF's running text without a right or unsure line",
    ParseTask.BIBLIOGRAPHY: "Number of references of the PDF without a right or unsure line",
}
"""number that a person counts in the PDF"""


def format_items(release: str, items: Iterable[Item]) -> str:
    """Return the sheet for these items of a release, with empty columns for the marks."""
    rows = []
    for item in items:
        row = {
            "release": release, "item": item.item, "task": item.task.value, "paper_id": item.paper_id, "file_sha1": item.file_sha1,
            "ref_id": item.ref_id, "cited_paper_id": item.cited_paper_id,
            "title": item.judged.title or "", "authors": _names(item.judged.authors), "more": item.judged.more,
            "against_title": item.against.title or "", "against_authors": _names(item.against.authors),
            "against_more": item.against.more, "auto_title": _WORD[item.auto_title], "auto_authors": _WORD[item.auto_authors],
        }  # fmt: skip
        rows.append([row.get(name, "") for name in COLUMNS])
    # Every cell is quoted, so that a spreadsheet with semicolon separators does not split the authors.
    return format_csv([COLUMNS, *rows], quote_all=True)


def _names(authors: Iterable[str]) -> str:
    """Return names separated by semicolons. Each name is escaped because some spreadsheets begin a cell after a semicolon."""
    return "; ".join(str(escape_cell(name)) for name in authors)


def read_items(content: bytes, release: str, items: Sequence[Item]) -> Marks:
    """Return the marks of a sheet. Lines without marks are skipped.

    Raises:
        UserError: the file is not such a sheet, belongs to another release, contains an unknown item, or has an invalid mark.
    """
    columns = ("mark_title", "mark_authors")
    found: Marks = {}
    for line, row, words in read_marked_rows(content, columns, release, {item.item for item in items}):
        if wrong := [word for word in words if word not in WORDS]:
            raise UserError(f"line {line}: {wrong[0]!r} is not a mark: write right, wrong or unsure in both columns")
        found[row["item"]] = (WORDS[words[0]], WORDS[words[1]])
    return found


def read_marked_rows(
    content: bytes, columns: Sequence[str], release: str, items: Set[str], required: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, str], list[str]]]:
    """Yield line number, row and lower-case marks of each line that has a mark in one of the columns.

    The sheet must also have the columns `required`.

    Raises:
        UserError: the file is not such a sheet, belongs to another release, or contains an unknown item.
    """
    for line, row in enumerate(_read_rows(content, {"release", "item", *columns, *required}), 2):
        words = [(row[name] or "").strip().lower() for name in columns]
        if not any(words):
            continue
        if row["release"] != release:
            raise UserError(f"line {line}: release is {row['release']!r}; expected {release!r}")
        if row["item"] not in items:
            raise UserError(f"line {line}: {row['item']!r} is not an item of this release's sample")
        yield line, row, words


def _read_rows(content: bytes, needed: Set[str]) -> list[dict[str, str]]:
    """Return the rows of a CSV file by column name.

    Raises:
        UserError: the file is not CSV in UTF-8, or has not all needed columns.
    """
    try:
        reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        missing = needed - {*(reader.fieldnames or ())}
        rows = [] if missing else list(reader)
    except UnicodeDecodeError:
        raise UserError("the sheet is not text in UTF-8: save it as CSV UTF-8, with commas") from None
    except csv.Error as error:
        raise UserError(f"the sheet is not readable as CSV: {error}") from None
    if missing:
        raise UserError(
            f"the sheet has no column {', '.join(sorted(missing))}: use the sheet that --sheet wrote, saved as CSV with commas"
        )
    return rows


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


def format_parses(release: str, items: Iterable[ParseItem]) -> str:
    """Return the sheet for these items, with an empty column for the marks."""
    rows: list[tuple[object, ...]] = [PARSE_COLUMNS]
    for item in items:
        head = (release, item.item, item.task.value, item.paper_id, item.file_sha1, item.title)
        rows += [(*head, str(number), line.printed, line.read, "") for number, line in enumerate(item.lines, 1)]
        rows.append((*head, MISSING, QUESTIONS[item.task], "", ""))
    return format_csv(rows, quote_all=True)


def is_parse_sheet(content: bytes) -> bool:
    """Return whether the first line of a file has this sheet's columns of marks."""
    head = content.partition(b"\n")[0].decode("utf-8", "replace")
    return {"line", "mark"} <= {name.strip('"\ufeff\r ') for name in head.split(",")}


def read_parses(content: bytes, release: str, items: Sequence[ParseItem]) -> dict[str, LineMarks]:
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
            raise UserError(f"line {number}: {word!r} is not a number of missing items: give 0 to {MAX_MISSING:,}")
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
