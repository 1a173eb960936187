"""The pictures of the README: the DAG of a release in Airflow, and a release on the page.

If `S2CORPUS_PICTURES` is set, the tests write them to docs/pictures; otherwise they only check the pages.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.releases import ROOT
from tests.ui.test_in_airflow import RELEASE

pytestmark = [pytest.mark.services, pytest.mark.airflow, pytest.mark.slow, pytest.mark.long]
PICTURES = ROOT / "docs" / "pictures"
MAX_BYTES = 300_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return PICTURES if os.environ.get("S2CORPUS_PICTURES") else tmp_path


def test_a_release_on_the_page(browser: Any, server: Any, folder: Path) -> None:
    page = server.open(browser, RELEASE)
    page.get_by_role("heading", level=1).wait_for(timeout=60_000)
    page.screenshot(path=folder / "release.png")
    page.context.close()
    assert 0 < (folder / "release.png").stat().st_size < MAX_BYTES


def test_the_dag_of_a_release(browser: Any, server: Any, folder: Path) -> None:
    page = server.open(browser, "/dags/corpus_release__sample", width=1600, height=420)
    page.get_by_label("Show Graph").click(timeout=60_000)
    page.get_by_label("Collapse Details Panel").click()
    node = page.locator(".react-flow__node", has_text="publish")
    node.first.wait_for(timeout=60_000)
    page.locator(".react-flow__controls-fitview").click()
    page.wait_for_timeout(2_000)  # The graph moves into view.
    page.evaluate("document.querySelector('.react-flow__minimap')?.remove()")
    page.screenshot(path=folder / "dag.png")
    page.context.close()
    assert 0 < (folder / "dag.png").stat().st_size < MAX_BYTES
