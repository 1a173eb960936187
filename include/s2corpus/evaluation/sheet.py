"""Write and read the CSV sheet for evaluation outside the browser.

Each line has one item: both sides and the automatic marks.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from s2corpus.errors import UserError
from s2corpus.escaping import escape_cell, format_csv
from s2corpus.evaluation.sample import Item

COLUMNS = (
    "release", "item", "task", "paper_id", "file_sha1", "ref_id", "cited_paper_id", "title", "authors", "more", "against_title",
    "against_authors", "against_more", "auto_title", "auto_authors", "mark_title", "mark_authors",
)  # fmt: skip
WORDS: Mapping[str, bool | None] = {"right": True, "wrong": False, "unsure": None}
"""valid words in `mark_title` and `mark_authors`"""
_WORD = {value: word for word, value in WORDS.items()}
Marks = dict[str, tuple[bool | None, bool | None]]
"""item → (title, authors)"""


def written(release: str, items: Iterable[Item]) -> str:
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


def read(content: bytes, release: str, items: Sequence[Item]) -> Marks:
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
