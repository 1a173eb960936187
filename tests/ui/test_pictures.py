"""The pictures of the README: the DAG of a release in Airflow, and a release on the page.

If `S2CORPUS_PICTURES` is set, the tests write them to docs/pictures; otherwise they only check the pages.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from tests.releases import ROOT
from tests.ui.test_in_airflow import RELEASE, browser, server

__all__ = ["browser", "server"]
pytestmark = [pytest.mark.services, pytest.mark.airflow, pytest.mark.slow, pytest.mark.long]
PICTURES = ROOT / "docs" / "pictures"
MAX_BYTES = 300_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return PICTURES if os.environ.get("S2CORPUS_PICTURES") else tmp_path


def open_page(browser: Any, server: Any, path: str, width: int, height: int) -> Any:
    context = browser.new_context(color_scheme="light", viewport={"width": width, "height": height})
    context.add_cookies([{"name": "_token", "value": server[1]["viewer"], "url": server[0]}])
    page = context.new_page()
    page.goto(urljoin(server[0], path))
    return page


def test_a_release_on_the_page(browser: Any, server: Any, folder: Path) -> None:
    page = open_page(browser, server, RELEASE, 1280, 900)
    page.get_by_role("heading", level=1).wait_for(timeout=60_000)
    page.screenshot(path=folder / "release.png")
    page.context.close()
    assert 0 < (folder / "release.png").stat().st_size < MAX_BYTES


def test_the_dag_of_a_release(browser: Any, server: Any, folder: Path) -> None:
    page = open_page(browser, server, "/dags/corpus_release__sample", 1600, 420)
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
