"""Delivered markup is text on every kind of page (docs/hostile-input.md): also in Chromium without the Content-Security-Policy."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseDecision, ReleaseState
from s2corpus.evaluation import kept
from s2corpus.rules import EvaluationRules
from s2corpus.storage.lake import open_lake
from tests.releases import PUBLISHED, SECOND, UNFINISHED, Built
from tests.ui.conftest import page_over
from tests.ui.pages import AT, copied, hostile_lake, pages, refuse_drop

NAME = "<img src=x onerror=window.pwned=1>"
MARKUP = (
    "</title></textarea></style><script>window.pwned=2</script><svg onload=window.pwned=3><img src=x onerror=window.pwned=4>"
    "\" onfocus=window.pwned=5 autofocus ' onmouseover=window.pwned=6 javascript:window.pwned=7 <!-- {{7*7}} ]]>"
)
MEASURE = """() => {
    for (const element of document.querySelectorAll("*"))
        for (const kind of ["mouseover", "focus"]) element.dispatchEvent(new Event(kind));
    const made = "img:not([src^='data:']), script:not([src]), [onload], [onerror], [onfocus], [onmouseover], a[href^='javascript:' i]";
    return [window.pwned ?? null, document.querySelectorAll(made).length, document.documentElement.textContent.includes("window.pwned")];
}"""


@pytest.fixture(scope="module")
def hostile(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the page of a lake with markup in titles, authors, texts, reasons, notes, and names of drops and files."""
    folder = tmp_path_factory.mktemp("markup")
    path = hostile_lake(copied(built, folder), MARKUP)
    lake = open_lake(str(path))
    kept.load_items(lake, PUBLISHED, EvaluationRules())
    kept.load_parses(lake, PUBLISHED, EvaluationRules())
    said = {"verdict": "warn", "reason": MARKUP, "accepted": MARKUP, "accepted_by": MARKUP, "rows": [{MARKUP: MARKUP}]}
    for release in (PUBLISHED, SECOND, UNFINISHED):
        for checked in (path / "releases" / release / "_quality").glob("*.json"):
            checked.write_bytes(orjson.dumps([verdict | said for verdict in orjson.loads(checked.read_bytes())]))
    lake.put(f"drops/{NAME}/_READY", b"{}")
    lake.put(f"drops/{NAME}/{NAME}.pdf", b"x")
    refuse_drop(lake, f"drops/{NAME}/", MARKUP, warnings=[MARKUP])
    address = f"sqlite:///{folder / 'catalog.db'}"
    catalog, at = Catalog(address), datetime(2023, 3, 2, tzinfo=UTC)
    catalog.set_release_state(SECOND, ReleaseState.AWAITING, built.runs[SECOND].snapshot_id)
    catalog.record_decision(PUBLISHED, "publish", MARKUP, ReleaseDecision.APPROVED, MARKUP, at)
    return page_over(path, address, marker=lambda: "ann")


@pytest.fixture(scope="module")
def answers(hostile: Any) -> dict[str, Any]:
    """Return the response of each kind of page, twice if there are several pages of a kind, by its address."""
    starts = ("", "drops", AT[PUBLISHED], f"{AT[PUBLISHED]}/evaluation")
    found = dict(pages(hostile, *starts, most=2))
    search = f"{hostile.base_url}{AT[PUBLISHED]}/find?q={quote(NAME)}"
    return found | {search: hostile.get(search)}


def test_markup_is_escaped(answers: dict[str, Any]) -> None:
    shown = 0
    for at, answer in answers.items():
        bare = re.sub(r'<script src="[^"]*" defer></script>', "", answer.text)
        assert "<script" not in bare and "<img" not in bare and "<svg onload" not in bare, at
        assert bare.count("&lt;!-- ") == bare.count("&lt;!-- {{7*7}}"), f"{at}: a template was evaluated"
        shown += "&lt;script&gt;window.pwned" in bare
    assert shown > 10


def test_no_markup_runs_in_chromium(hostile: Any, answers: dict[str, Any], browser: Any) -> None:
    static = {name: hostile.get(f"static/{name}") for name in ("page.css", "page.js")}
    shown, wrong = 0, []
    for with_policy in (True, False):
        context = browser.new_context()

        def serve(route: Any, with_policy: bool = with_policy) -> None:
            url = route.request.url
            answer = static.get(url.rpartition("/")[2]) or answers.get(url)
            if answer is None:
                wrong.append(f"{url} is asked for")
                route.abort()
                return
            headers = {name: value for name, value in answer.headers.items() if with_policy or "policy" not in name}
            route.fulfill(status=answer.status_code, headers=headers, body=answer.content)

        context.route("**/*", serve)
        page = context.new_page()
        page.on("dialog", lambda dialog: wrong.append(f"dialog {dialog.message}"))
        page.on("dialog", lambda dialog: dialog.dismiss())
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        for at in answers:
            page.goto(at)
            ran, made, has_markup = page.evaluate(MEASURE)
            if ran is not None or made:
                wrong.append(f"{at}: {ran} ran, {made} elements were made")
            shown += has_markup
        context.close()
    assert not wrong
    assert shown > 20, "the markup is there, as text"
