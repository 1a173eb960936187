"""docs/evaluation.md: two people mark the sample of a release on the page, or in sheets, and the card shows the result."""

from __future__ import annotations

import csv
import io
import shutil
from functools import partial
from html import escape
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from fastapi import Request

from s2corpus.catalog import Catalog
from s2corpus.commands.evaluate import command
from s2corpus.evaluation import kept
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
    answer = CliRunner(env=environ).invoke(command, [PUBLISHED, "--lake", lake, *options], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return answer.output


def test_evaluation_sample_is_reproducible(own: tuple[str, str], built: Built) -> None:
    lake = open_lake(own[0])
    items = kept.load_items(lake, PUBLISHED)
    lake.delete(f"releases/{PUBLISHED}/_evaluation/sample.json")
    evaluate(*own)
    assert kept.load_items(lake, PUBLISHED) == items
    for side in ("cited_paper_id", "paper_id"):
        links = [getattr(item, side) for item in items if item.cited_paper_id]
        assert len(set(links)) == len(links) > 2, "one entry of each paper"
    clusters = [item for item in items if item.task == "clusters"]
    truth = [paper for paper in built.truth.papers if paper.canonical_pdf and paper.filtered == "kept"]
    assert sorted(item.file_sha1 for item in clusters) == sorted(paper.canonical_pdf or "" for paper in truth)


def test_marked_sheet_gives_accuracy_with_interval(own: tuple[str, str], tmp_path: Path) -> None:
    evaluate(*own, "--sheet", str(tmp_path / "sheet.csv"))
    rows = list(csv.DictReader(io.StringIO((tmp_path / "sheet.csv").read_text("utf-8"))))
    for number, row in enumerate(rows):
        row |= {"mark_title": "right", "mark_authors": "wrong" if number == 0 else "right"}
    sheet = tmp_path / "marked.csv"
    with sheet.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    said = evaluate(*own, "--marks", str(sheet), "--by", "ann")
    n = sum(row["task"] == "clusters" for row in rows)
    assert f"Paper clustering, title: 1.000 ({n / (n + 1.959964**2):.3f}–1.000, n = {n})" in said
    assert f"Paper clustering, authors: {(n - 1) / n:.3f} (" in said and "S2ORC 0.89" in said
    assert {(mark.marker, mark.title) for mark in Catalog(own[1]).marks(PUBLISHED)} == {("ann", True)}

    (snapshot,) = kept.list_snapshots(open_lake(own[0]), PUBLISHED)
    before = open_lake(own[0]).get(f"snapshots/{snapshot}/README.md")[0].decode()
    assert "## Evaluation\n\nNot evaluated" in before
    card = evaluate(*own, "--publish", "--card")
    assert f"| Paper clustering | title | {n} | 1.000 |" in card and "| 0.93 |" in card and "Not evaluated" not in card
    assert card.split("## Evaluation")[0].strip() == before.split("## Evaluation")[0].strip()
    assert open_lake(own[0]).get(f"snapshots/{snapshot}/README.md")[0].decode() == before, "a snapshot never changes"


def test_only_own_form_and_permitted_users_can_mark(own: tuple[str, str]) -> None:
    item = kept.load_items(open_lake(own[0]), PUBLISHED)[0].item
    form = {"item": item, "title": "right", "authors": "unsure"}
    page = page_over(*own, marker=who_asks)
    for headers in (
        {},
        {"Origin": "http://evil.test"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://airflow.test"},
    ):
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
    items = kept.load_parses(open_lake(own[0]), PUBLISHED)
    item = next(one for one in items if one.task == "citations" and len(one.lines) > 1)
    page, site = page_over(*own, marker=who_asks), {"Sec-Fetch-Site": "same-origin"}
    shown = page.get(f"{AT}/evaluation", params={"item": item.item}).text
    assert escape(item.lines[0].printed) in shown and "without a right or unsure line" in shown
    assert "Inline citations</a>" in page.get(f"{AT}/evaluation").text
    form = {"item": item.item, "wrong": "2", "unsure": "", "missing": "3"}
    post = partial(page.post, f"{AT}/evaluation/lines")
    assert post(data=form).status_code == 403
    for bad, code in (({"wrong": "two"}, 422), ({"item": "citations:0"}, 404)):
        assert post(data={**form, **bad}, headers=site).status_code == code
    assert Catalog(own[1]).parse_marks(PUBLISHED) == []
    marked = post(data=form, headers=site)
    assert marked.status_code == 303 and marked.headers["location"].endswith(
        f"/evaluation?after={quote(item.item, '')}"
    )
    (mark,) = Catalog(own[1]).parse_marks(PUBLISHED)
    assert (mark.item, mark.wrong, mark.unsure, mark.missing) == (item.item, [2], [], 3)
    right = len(item.lines) - 1
    assert f"{right} right, 1 wrong, 3 missing in 1 of {len(items) // 2} papers; by nobody" in evaluate(*own)
