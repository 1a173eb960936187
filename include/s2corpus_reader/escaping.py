"""Escape external text for formats that execute or render their content: Markdown with HTML, and CSV in spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

_MARKDOWN = re.compile(r"([\\`*\[\]|~])")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""First characters of a formula in a spreadsheet (OWASP: CSV Injection)."""
_SPACES = " \u00a0\u3000\u200b\ufeff"


def escape_markdown(value: object) -> str:
    """Return one line of Markdown that shows the text unchanged, without HTML, links, images and table cells."""
    text = " ".join(str(value).split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", text)


def escape_cell(value: object) -> object:
    """Return a CSV cell that no spreadsheet executes: text that starts like a formula gets a leading quote."""
    if not isinstance(value, str):
        return value
    if "\r" in value:  # Python's csv does not quote \r, but spreadsheets start a row at it.
        value = value.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{value}" if value.lstrip(_SPACES).startswith(_FORMULA) else value


def format_csv(rows: Iterable[Iterable[object]], *, quote_all: bool = False) -> str:
    """Return rows as CSV with escaped cells and line feeds."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL)
    writer.writerows(map(escape_cell, row) for row in rows)
    return out.getvalue()
