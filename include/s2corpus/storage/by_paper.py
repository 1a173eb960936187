"""Joining tables that are sorted by paper, in bounded memory: the papers are asked for in their order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Generic, TypeVar

Row = TypeVar("Row")


class ByPaper(Generic[Row]):
    """The rows of each paper, from rows sorted by `key`."""

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
        """The paper's rows, in order; to be asked by ascending paper id."""
        while self._paper is not None and self._paper < paper_id:
            self._advance()
        return self._rows if self._paper == paper_id else []

    def one(self, paper_id: str) -> Row | None:
        """The paper's only row, or its first; None where it has none; to be asked likewise."""
        return next(iter(self.at(paper_id)), None)
