"""The pages of the documentation fit screens of 400 and 1280 pixels: only code, tables and pictures scroll sideways."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.http_server import serve_folder
from tests.releases import ROOT

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Build the site as `make docs` does; yield its folder and address."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True)
    with serve_folder(folder) as url:
        yield folder, url


@pytest.mark.parametrize("width", [400, 1280])
def test_page_fits_the_screen_and_pictures_are_legible(site: tuple[Path, str], browser: Any, width: int) -> None:
    folder, address = site
    pages = sorted(file.parent.relative_to(folder).as_posix() for file in folder.rglob("index.html"))
    assert len(pages) > 30
    page = browser.new_page(viewport={"width": width, "height": 900})
    measured = {}
    for name in pages:
        page.goto(f"{address}/{name}/", wait_until="load")
        measured[name] = (
            page.evaluate("document.documentElement.scrollWidth"),
            page.evaluate("Math.min(...[...document.querySelectorAll('article p > img')].map(image => image.width))"),
        )
    page.close()
    assert {name: found for name, found in measured.items() if found[0] > width or (found[1] or 640) < 600} == {}
