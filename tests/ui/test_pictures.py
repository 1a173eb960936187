"""Pictures of the documentation: the DAG of a release in Airflow, a release and its intervals on the page.

`test_forms` makes the pictures of the forms. If `S2CORPUS_PICTURES` is set, the tests write to docs/pictures.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.ui.test_in_airflow import PAGE, RELEASE

pytestmark = [pytest.mark.services, pytest.mark.airflow, pytest.mark.slow, pytest.mark.long]
MAX_BYTES = 300_000


@pytest.mark.parametrize(
    ("name", "path", "height"),
    [
        ("release.png", RELEASE, 900),
        ("intervals.png", f"{PAGE}corpus_release__sample/intervals?first=2023-01-01&last=2023-06-30", 480),
    ],
)
def test_picture_of_a_page_is_current(
    browser: Any, server: Any, pictures: Path, name: str, path: str, height: int
) -> None:
    page = server.open(browser, path, height=height)
    page.get_by_role("heading", level=1).wait_for(timeout=60_000)
    page.screenshot(path=pictures / name)
    page.context.close()
    assert 0 < (pictures / name).stat().st_size < MAX_BYTES


def test_picture_of_the_dag_is_current(browser: Any, server: Any, pictures: Path) -> None:
    page = server.open(browser, "/dags/corpus_release__sample", width=1600, height=420)
    page.get_by_label("Show Graph").click(timeout=60_000)
    page.get_by_label("Collapse Details Panel").click()
    node = page.locator(".react-flow__node", has_text="publish")
    node.first.wait_for(timeout=60_000)
    page.locator(".react-flow__controls-fitview").click()
    page.wait_for_timeout(2_000)  # The graph moves into view.
    page.evaluate("document.querySelector('.react-flow__minimap')?.remove()")
    page.screenshot(path=pictures / "dag.png")
    page.context.close()
    assert 0 < (pictures / "dag.png").stat().st_size < MAX_BYTES
