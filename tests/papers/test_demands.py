"""Every test states its demands, their numbers have no gap, and docs/comparison.md lists the deviations of the tests."""

from pathlib import Path

import pytest

from tests.papers.demands import PAPERS, list_deviations, list_tests, read_demands

DOC = Path(__file__).parents[2] / "docs" / "comparison.md"


@pytest.mark.parametrize("paper", PAPERS)
def test_demands_are_numbered(paper: str) -> None:
    demands = list(read_demands(paper))
    assert [demand.number for demand in demands] == list(range(1, len(demands) + 1))
    assert {demand.test for demand in demands} == {node.name for node in list_tests(paper)}
    assert all(demand.section and demand.text.endswith((".", "?", ")")) for demand in demands)


def test_documentation_lists_the_deviations() -> None:
    """`python -m tests.papers.demands` prints the list."""
    listed = DOC.read_text("utf-8").partition("<!-- deviations -->\n")[2].partition("<!-- end -->")[0]
    assert listed.strip() == list_deviations().strip()
