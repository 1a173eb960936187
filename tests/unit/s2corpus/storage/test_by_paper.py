"""Rows of a sorted table are read by ascending paper id."""

from __future__ import annotations

from s2corpus.storage.by_paper import ByPaper

ROWS = [{"paper_id": "b", "n": 1}, {"paper_id": "b", "n": 2}, {"paper_id": "d", "n": 3}]


def test_rows_of_a_paper_are_returned() -> None:
    table = ByPaper(iter(ROWS))
    found = {paper: [row["n"] for row in table.at(paper)] for paper in "abbcde"}
    assert found == {"a": [], "b": [1, 2], "c": [], "d": [3], "e": []}


def test_first_row_of_a_paper_is_returned() -> None:
    table = ByPaper(iter(ROWS))
    found = [row["n"] if (row := table.one(paper)) else None for paper in "abcd"]
    assert found == [None, 1, None, 3]
