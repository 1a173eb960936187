"""docs/hostile-input.md: the page shows markup as text and leaks nothing; each route checks permission.

Links stay within the page, and wrong addresses give an error without details.
"""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseDecision, ReleaseState
from s2corpus.evaluation import store
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.summary import format_approval_request
from s2corpus.rules import EvaluationRules
from s2corpus.storage.lake import open_lake
from s2corpus.tables.intake import PDFS
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.schema import paper_shard
from tests.releases import AS_OF, PUBLISHED, SECOND, UNFINISHED, Built
from tests.ui.conftest import page_over, refuse
from tests.ui.pages import AT, INJECTED, copied, hostile_lake, pages, read, refuse_drop, words
from tests.unit.s2corpus.web.test_escaping import render


def test_every_link_has_a_target(page: Any) -> None:
    found = {at: answer.text for at, answer in pages(page)}
    assert len(found) > 50
    assert any("/text/" in at for at in found) and any("/pdf/" in at for at in found)
    assert not [at for at, text in found.items() if re.search(r'target=|style="|\son\w+=|<script(?! src)', text)]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("sample/20230201", 422), ("corpus_release__own/20230201", 404), ("corpus_release__../20230201", 422), ("nothing", 404),
        ("corpus_release__sample%2f..%2f../20230201", 404), ("drops?standing=lost", 422), ("static/app.py", 422),
        ("static/../app.py", (404, 422)), ("corpus_release__none/intervals", 404),
        ("corpus_release__sample/intervals?first=x", 422), ("corpus_release__sample/intervals?first=0001-01-01&last=9999-12-31", 200),
        *((f"corpus_release__sample/20230201/{path}", status) for path, status in (
            ("paper/zzz", 422), ("paper/ffffffffffffffe", 404), ("paper/%3Cscript%3Ealert(1)%3C/script%3E", (404, 422)),
            (f"pdf/{'0' * 40}", 404), ("pdf/..%2f..%2f..%2fetc%2fpasswd", (404, 422)), ("rejects/filter?outcome=kept&page=0", 422),
            ("rejects/clean?outcome=kept&set=../x", 422), (f"find?q={'x' * 301}", 422), ("compare?other=20230202", 404),
            ("file/%2e%2e/sample/latest.json", (404, 422)), ("file//etc/passwd", 404), ("file/..%2f..%2fsample%2flatest.json", 404),
            ("file/v2%2f..%2fmanifest.json", 404), ("file/%252e%252e%252fsample%252flatest.json", 404),
            ("file/..%5c..%5csample%5clatest.json", 404), ("file/manifest.json%00", 404), ("file/manifest.json%0d%0aX-A:%20b", 404),
            (f"file/{'a' * 301}", 422), (f"text/{'0' * 15}/page/0", 422), (f"text/{'0' * 15}/page/1", 404),
             ("documents/s2orc?by=text", 422), ("documents/s2orc?low=nan", 422), ("documents/s3", 422),
            ("documents/s2orc?first=-1", 422), (f"documents/s2orc?rule={'x' * 201}", 422), ("documents/s2orc?order=%27", 422),
        )),
    ],
)  # fmt: skip
def test_wrong_address_is_refused_without_a_traceback(path: str, status: int | tuple[int, ...], page: Any) -> None:
    answer = page.get(path)
    assert answer.status_code in (status if isinstance(status, tuple) else (status,))
    assert "Traceback" not in answer.text and "<script>" not in answer.text


def test_hostile_queries_do_not_break_the_search(page: Any) -> None:
    for query in ("<script>alert(1)</script>", "%", "\0", "10.1/x'--", "*", "\U0001f600", "(" * 300):
        answer = page.get(f"{AT[PUBLISHED]}/find", params={"q": query})
        assert answer.status_code == 200 and "<script>alert" not in answer.text, query


def test_every_response_has_a_content_security_policy(page: Any) -> None:
    for path in ("", "nothing", "static/page.css", AT[PUBLISHED]):
        headers = page.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'") and "unsafe" not in policy and "http" not in policy
        assert "frame-ancestors 'self'" in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"


def test_every_route_checks_permission_and_only_reads(built: Built) -> None:
    from fastapi.routing import APIRoute

    page = page_over(built.lake, anyone=refuse, reader=refuse)
    app = page.app.routes[-1].app
    routes = [route for route in app.routes if isinstance(route, APIRoute)]
    assert len(routes) == len(app.routes) > 10, "a route that is not ours"
    run = built.runs[PUBLISHED]
    ids = {
        "dag_id": "corpus_release__sample", "as_of": "20230201", "paper_id": run.table(PAPERS).read(["paper_id"])[0][0].as_py(),
        "sha1": run.table(PDFS).read(["file_sha1"])[0][0].as_py(), "set_": "s2orc", "stage": "filter", "path": "manifest.json",
        "number": "1",
    }  # fmt: skip
    for route in routes:
        assert route.methods == {"GET"}
        if route.path == "/static/{name}":
            continue  # Static files are public, so that a user without access sees a page with its style.
        path = route.path.replace(":path", "").format(**ids).lstrip("/")
        asked = {"q": "x", "outcome": "kept", "other": "20230301"}
        assert page.get(path, params=asked).status_code == 401, path


def test_truncated_part_is_reported_on_the_page(built: Built, tmp_path: Path) -> None:
    lake = copied(built, tmp_path)
    part = next((lake / "releases" / PUBLISHED / "papers").glob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-10])
    run, damaged = built.runs[PUBLISHED], int(part.stem.split("-")[1])
    ids = run.table(PAPERS).read(["paper_id"])[0].to_pylist()
    paper_id = next(i for i in ids if paper_shard(i, run.paper_shards) == damaged)
    said = words(read(page_over(lake), f"{AT[PUBLISHED]}/paper/{paper_id}", 503))
    assert "committed with" in said and "Traceback" not in said


def test_unexpected_error_is_logged_and_not_shown(built: Built, tmp_path: Path) -> None:
    from fastapi.testclient import TestClient

    lake = copied(built, tmp_path)
    (lake / "releases" / PUBLISHED / "_metrics" / "export.json").write_text('{"documents')
    page = page_over(lake)
    quiet = TestClient(page.app, base_url=str(page.base_url), raise_server_exceptions=False)
    answer = quiet.get(AT[PUBLISHED])
    assert answer.status_code == 500 and "This page failed" in answer.text and "JSON" not in answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize(
    ("hidden", "listed", "status"), [("corpus_release__sample", False, 200), ("pdf_drops", True, 403)]
)
def test_lists_show_only_permitted_releases_and_drops(hidden: str, listed: bool, status: int, built: Built) -> None:
    page = page_over(built.lake, visible=lambda: lambda dag_id: dag_id != hidden)
    assert ("sample" in words(read(page, ""))) is listed
    assert ("drops/" in words(read(page, "drops", status))) is (status == 200)


def test_markup_is_escaped_on_every_kind_of_page(built: Built, tmp_path: Path) -> None:
    """Check a lake with markup in titles, authors, texts, reasons, notes, and names of drops and files."""
    lake = open_lake(str(path := hostile_lake(copied(built, tmp_path))))
    store.load_items(lake, PUBLISHED, EvaluationRules())
    store.load_parses(lake, PUBLISHED, EvaluationRules())
    said: dict[str, Any] = dict.fromkeys(("reason", "accepted", "accepted_by"), INJECTED)
    said |= {"verdict": "warn", "rows": [{INJECTED: INJECTED}]}
    for release in (PUBLISHED, SECOND, UNFINISHED):
        for checked in (path / "releases" / release / "_quality").glob("*.json"):
            checked.write_bytes(orjson.dumps([verdict | said for verdict in orjson.loads(checked.read_bytes())]))
    name = "<img src=x onerror=alert(1)>"
    lake.put(f"drops/{name}/_READY", b"{}")
    lake.put(f"drops/{name}/{name}.pdf", b"x")
    refuse_drop(lake, f"drops/{name}/", INJECTED, warnings=[INJECTED])
    catalog, at = Catalog(address := f"sqlite:///{tmp_path / 'catalog.db'}"), datetime(2023, 3, 2, tzinfo=UTC)
    catalog.set_release_state(SECOND, ReleaseState.AWAITING, built.runs[SECOND].snapshot_id)
    catalog.record_decision(PUBLISHED, "publish", INJECTED, ReleaseDecision.APPROVED, INJECTED, at)
    page = page_over(path, address, marker=lambda: "ann")
    starts = ("", "drops", AT[PUBLISHED], f"{AT[PUBLISHED]}/evaluation", f"{AT[PUBLISHED]}/find?q={quote(name)}")
    shown = 0
    for where, answer in pages(page, *starts, most=2):
        own = (
            r'<script src="[^"]*" defer></script>|<img src="/corpus-releases/[\w/-]+" alt="Page \d+ of the PDF" [^<>]*>'
        )
        bare = re.sub(own, "", answer.text)
        assert "<script" not in bare and "<img" not in bare, where
        assert bare.count("7*7") == bare.count("{{7*7}}"), f"{where}: a template was evaluated"
        shown += "&lt;script&gt;alert(1)" in bare
    assert shown > 10
    run, snapshot = Run(built.runs[PUBLISHED].spec, AS_OF, lake, tmp_path), built.runs[PUBLISHED].snapshot_id
    lake.put(f"snapshots/{run.snapshot_id}/stats.json", lake.get(f"snapshots/{snapshot}/stats.json")[0])
    request = render(format_approval_request(run, {f"`{INJECTED}": INJECTED}))
    assert "<script" not in request and "<img" not in request and "&lt;script" in request
