"""Evaluation of a release: two people mark its sample concurrently in two browsers, sheets are exported and imported,
and the card shows the result.
"""

from __future__ import annotations

import csv
import io
import shutil
import socket
import threading
from collections.abc import Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from click.testing import CliRunner
from fastapi import Request

from s2corpus.catalog import Catalog
from s2corpus.commands.evaluate import command
from s2corpus.evaluation import kept, results
from s2corpus.storage.lake import open_lake
from tests.releases import PUBLISHED, Built
from tests.ui.conftest import page_over, refuse
from tests.ui.pages import copied

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


def marking_page(lake: str, catalog: str) -> Any:
    """Return the page. Every user may mark; the marker's name is in a cookie."""
    return page_over(lake, catalog, marker=who_asks)


def test_evaluation_sample_is_reproducible(own: tuple[str, str], built: Built) -> None:
    lake = open_lake(own[0])
    items = kept.load_items(lake, PUBLISHED)
    lake.delete(f"releases/{PUBLISHED}/_evaluation/sample.json")
    evaluate(*own)
    assert kept.load_items(lake, PUBLISHED) == items
    cited = [item.cited_paper_id for item in items if item.cited_paper_id]
    assert len(set(cited)) == len(cited) > 2
    citing = [item.paper_id for item in items if item.cited_paper_id]
    assert len(set(citing)) == len(citing), "one entry of each paper"
    clusters = [item for item in items if item.task == "clusters"]
    truth = [paper for paper in built.truth.papers if paper.canonical_pdf and paper.filtered == "kept"]
    assert sorted(item.file_sha1 for item in clusters) == sorted(paper.canonical_pdf or "" for paper in truth)
    assert all(item.auto_title for item in clusters), "the sample's PDFs print their titles"


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
    assert "## Years" in card.split("## Evaluation")[1]
    kept_beside = orjson.loads(open_lake(own[0]).get(f"snapshots/sample/evaluated/{snapshot}.json")[0])
    assert kept_beside["markers"] == ["ann"] and kept_beside["marked"] == len(rows)
    assert open_lake(own[0]).get(f"snapshots/{snapshot}/README.md")[0].decode() == before, "a snapshot never changes"


def test_only_own_form_and_permitted_users_can_mark(own: tuple[str, str]) -> None:
    item = kept.load_items(open_lake(own[0]), PUBLISHED)[0].item
    form = {"item": item, "title": "right", "authors": "unsure"}
    page = marking_page(*own)
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
    assert page.post(f"{AT}/evaluation", data=form, headers=site).status_code == 303
    assert [(m.item, m.title, m.authors) for m in Catalog(own[1]).marks(PUBLISHED)] == [(item, True, None)]


def test_parses_are_marked_by_line_numbers_on_the_page(own: tuple[str, str]) -> None:
    items = kept.load_parses(open_lake(own[0]), PUBLISHED)
    item = next(one for one in items if one.task == "citations" and len(one.lines) > 1)
    page, site = marking_page(*own), {"Sec-Fetch-Site": "same-origin"}
    shown = page.get(f"{AT}/evaluation", params={"item": item.item}).text
    assert escape(item.lines[0].printed) in shown and "without a right or unsure line" in shown
    assert "Inline citations</a>" in page.get(f"{AT}/evaluation").text
    form = {"item": item.item, "wrong": "2", "unsure": "", "missing": "3"}
    post = partial(page.post, f"{AT}/evaluation/lines")
    assert post(data=form).status_code == 403
    for bad, code in (
        ({"wrong": str(len(item.lines) + 1)}, 422),
        ({"wrong": "two"}, 422),
        ({"unsure": "2"}, 422),
        ({"missing": "-1"}, 422),
        ({"item": "citations:0"}, 404),
    ):
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


@pytest.fixture
def address(own: tuple[str, str]) -> Iterator[str]:
    """Serve the page over HTTP; yield the address of the evaluation."""
    import uvicorn

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(marking_page(*own).app, port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
    yield f"http://127.0.0.1:{port}/corpus-releases/{AT}/evaluation"
    server.should_exit = True
    thread.join(10)


@pytest.mark.long
@pytest.mark.services
def test_two_people_mark_concurrently(own: tuple[str, str], address: str, browser: Any) -> None:
    items = kept.load_items(open_lake(own[0]), PUBLISHED)
    people = {}
    for name in ("ann", "bob"):
        context = browser.new_context()
        context.add_cookies([{"name": "who", "value": name, "url": address}])
        people[name] = context.new_page()
        people[name].goto(address)
    seen: dict[str, set[str]] = {name: set() for name in people}
    while any(len(of) < len(items) for of in seen.values()):  # The two people mark alternately.
        for name, page in people.items():
            left = [item.item for item in items if item.item not in seen[name]]
            if not left:
                continue
            page.goto(f"{address}?item={left[0]}")
            shown = page.locator("#item").get_attribute("data-item")
            assert shown == left[0]
            assert page.locator("#item table").inner_text().count("Title") == 1
            page.check("input[name=title][value=right]")
            wrong = name == "bob" and not seen[name]
            page.check(f"input[name=authors][value={'wrong' if wrong else 'right'}]")
            page.click("text=Keep and go on")
            seen[name].add(str(shown))
    people["ann"].goto(address)
    progress = people["ann"].locator("#progress").inner_text()
    for page in people.values():
        page.context.close()
    assert f"{len(items)} of {len(items)} items marked by ann, bob" in progress
    marks = Catalog(own[1]).marks(PUBLISHED)
    assert len(marks) == 2 * len(items) and all(mark.at is not None for mark in marks)
    found = results.result(items, kept.list_marks(Catalog(own[1]), PUBLISHED))
    assert found.done
    authors = next(line for line in found.lines if (line.task, line.field) == ("clusters", "authors"))
    assert authors.people is not None and authors.people.right == authors.items - 1, "split marks are not right"
    assert authors.kappa == 0.0, "ann marks all as right, so chance explains it"
