"""Join tables that are sorted by paper, in bounded memory. Callers request papers in ascending order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Generic, TypeVar

Row = TypeVar("Row")


class ByPaper(Generic[Row]):
    """Groups of rows by paper, from rows sorted by `key`."""

    def __init__(self, rows: Iterator[Row], key: str = "paper_id") -> None:
        def paper(row: Any) -> str:
            return str(row[key])

        self._groups = groupby(rows, key=paper)
        self._paper: str | None = None
        self._rows: list[Row] = []
        self._advance()

    def _advance(self) -> None:
        self._paper, rows = next(self._groups, (None, iter(())))
        self._rows = list(rows)

    def at(self, paper_id: str) -> list[Row]:
        """Return the rows of a paper; successive calls need ascending paper ids."""
        while self._paper is not None and self._paper < paper_id:
            self._advance()
        return self._rows if self._paper == paper_id else []

    def one(self, paper_id: str) -> Row | None:
        """Return the first row of a paper, or None; successive calls need ascending paper ids."""
        return next(iter(self.at(paper_id)), None)
