"""docs/evaluation.md: two people mark the sample of a release on the page, or in sheets, and the card shows the result."""

import shutil
from functools import partial
from html import escape
from pathlib import Path

import pytest
from click.testing import CliRunner
from fastapi import Request

from s2corpus.catalog import Catalog
from s2corpus.cli import corpus
from s2corpus.evaluation import store
from s2corpus.storage.lake import open_lake
from tests.releases import PUBLISHED, Built
from tests.ui.conftest import page_over, refuse
from tests.ui.pages import copied, words

pytestmark = pytest.mark.slow
AT = "corpus_release__sample/20230201"


def who_asks(request: Request) -> str:
    return str(request.cookies.get("who", "nobody"))


@pytest.fixture(scope="module")
def drawn(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a lake in which the sample of the release is drawn, and an empty catalog."""
    folder = tmp_path_factory.mktemp("evaluated")
    lake = copied(built, folder)
    (folder / "catalog.db").unlink()
    Catalog(f"sqlite:///{folder / 'catalog.db'}").migrate()
    assert "not evaluated" in evaluate(str(lake), f"sqlite:///{folder / 'catalog.db'}")
    return folder


@pytest.fixture
def own(drawn: Path, tmp_path: Path) -> tuple[str, str]:
    """Return the lake and a catalog without marks."""
    shutil.copy(drawn / "catalog.db", tmp_path)
    return str(drawn / "lake"), f"sqlite:///{tmp_path / 'catalog.db'}"


def evaluate(lake: str, catalog: str, *options: str) -> str:
    environ = {"S2CORPUS_CATALOG": catalog, "S2CORPUS_LAKE": lake}
    answer = CliRunner(env=environ).invoke(
        corpus, ["evaluate", PUBLISHED, "--lake", lake, *options], catch_exceptions=False
    )
    assert answer.exit_code == 0, answer.output
    return answer.output


def test_only_own_form_and_permitted_users_can_mark(own: tuple[str, str]) -> None:
    item = store.load_items(open_lake(own[0]), PUBLISHED)[0].item
    form = {"item": item, "title": "right", "authors": "unsure"}
    page = page_over(*own, marker=who_asks)
    crossing = {"Sec-Fetch-Site": "cross-site", "Origin": "http://airflow.test"}
    for headers in ({}, {"Origin": "http://evil.test"}, crossing):
        assert page.post(f"{AT}/evaluation", data=form, headers=headers).status_code == 403
    site = {"Sec-Fetch-Site": "same-origin"}
    assert page.post(f"{AT}/evaluation", data={**form, "item": "other"}, headers=site).status_code == 404
    assert page.post(f"{AT}/evaluation", data={**form, "title": "maybe"}, headers=site).status_code == 422

    closed = page_over(*own, reader=refuse, marker=who_asks)
    assert closed.post(f"{AT}/evaluation", data=form, headers=site).status_code == 401
    assert page_over(*own).post(f"{AT}/evaluation", data=form, headers=site).status_code == 405, "marking is off"
    assert Catalog(own[1]).marks(PUBLISHED) == []
    for who in ("ann", "bob"):
        page.cookies.set("who", who)
        assert page.post(f"{AT}/evaluation", data=form, headers=site).status_code == 303
    marks = {(m.marker, m.item, m.title, m.authors) for m in Catalog(own[1]).marks(PUBLISHED)}
    assert marks == {("ann", item, True, None), ("bob", item, True, None)}
    assert "items marked by ann, bob" in words(page.get(f"{AT}/evaluation").text)


def test_parses_are_marked_by_line_numbers_on_the_page(own: tuple[str, str]) -> None:
    items = store.load_parses(open_lake(own[0]), PUBLISHED)
    item = next(one for one in items if one.task == "citations" and len(one.lines) > 1)
    page, site = page_over(*own, marker=who_asks), {"Sec-Fetch-Site": "same-origin"}
    shown = page.get(f"{AT}/evaluation", params={"item": item.item}).text
    assert escape(item.lines[0].printed) in shown and "without a right or unsure line" in shown
    form = {"item": item.item, "wrong": "2", "unsure": "", "missing": "3"}
    post = partial(page.post, f"{AT}/evaluation/lines")
    assert post(data=form).status_code == 403
    for bad, code in (({"wrong": "two"}, 422), ({"item": "citations:0"}, 404)):
        assert post(data={**form, **bad}, headers=site).status_code == code
    assert Catalog(own[1]).parse_marks(PUBLISHED) == []
    marked = post(data=form, headers=site)
    assert marked.status_code == 303
    (mark,) = Catalog(own[1]).parse_marks(PUBLISHED)
    assert (mark.item, mark.wrong, mark.unsure, mark.missing) == (item.item, [2], [], 3)
    right = len(item.lines) - 1
    assert f"{right} right, 1 wrong, 3 missing in 1 of {len(items) // 2} papers; by nobody" in evaluate(*own)
