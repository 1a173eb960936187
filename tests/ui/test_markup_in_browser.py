"""A browser shows delivered markup as text: Chromium opens the page with and without its Content-Security-Policy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlsplit

import orjson
import pytest

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseDecision, ReleaseState
from s2corpus.deliveries import status
from s2corpus.deliveries.ready import Refusal
from s2corpus.evaluation import kept
from s2corpus.rules.evaluation import EvaluationRules
from s2corpus.storage.lake import open_lake
from tests.ui import test_page
from tests.ui.conftest import PUBLISHED, SECOND, UNFINISHED, Built, page_over

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
def hostile(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Yield the page of a lake with markup in titles, authors, texts, reasons, notes, and names of drops and files."""
    folder = tmp_path_factory.mktemp("markup")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(test_page, "INJECTED", MARKUP)
        path = test_page.hostile_lake(built, folder)
        lake = open_lake(str(path))
        kept.sample_of(lake, PUBLISHED, EvaluationRules())
        kept.parses_of(lake, PUBLISHED, EvaluationRules())
    for release in (PUBLISHED, SECOND, UNFINISHED):
        for checked in (path / "releases" / release / "_quality").glob("*.json"):
            verdicts = orjson.loads(checked.read_bytes())
            others = {
                "verdict": "warn",
                "reason": MARKUP,
                "accepted": MARKUP,
                "accepted_by": MARKUP,
                "rows": [{MARKUP: MARKUP}],
            }
            checked.write_bytes(orjson.dumps([verdict | others for verdict in verdicts]))
    lake.put(f"drops/{NAME}/_READY", b"{}")
    lake.put(f"drops/{NAME}/{NAME}.pdf", b"x")
    mark = status.hash_ready_file(lake, f"drops/{NAME}/")
    assert mark is not None
    refused = status.ArrivalStatus(
        f"drops/{NAME}/",
        mark,
        status.ArrivalState.REFUSED,
        refusal=Refusal.CHANGED,
        detail=MARKUP,
        warnings=[MARKUP],
    )
    status.put_row(lake, refused)
    shutil.copy(built.folder / "catalog.db", folder / "catalog.db")
    address = f"sqlite:///{folder / 'catalog.db'}"
    catalog = Catalog(address)
    catalog.set_release_state(SECOND, ReleaseState.AWAITING, built.runs[SECOND].snapshot_id)
    catalog.record_decision(
        PUBLISHED, "publish", MARKUP, ReleaseDecision.APPROVED, MARKUP, datetime(2023, 3, 2, tzinfo=UTC)
    )
    yield page_over(str(path), address, marker=lambda: "ann")


def test_no_markup_runs_in_chromium(hostile: Any, browser: Any) -> None:
    answers: dict[str, Any] = {}
    for start in ("", "drops", test_page.AT[PUBLISHED], f"{test_page.AT[PUBLISHED]}/evaluation"):
        for at, _ in test_page.pages(hostile, start):
            kind = tuple(part if len(part) < 15 else "…" for part in urlsplit(at).path.split("/"))
            # Some pages of each kind are enough.
            if sum(known == kind for known in (answer[0] for answer in answers.values())) < 3:
                answers[at] = (kind, hostile.get(at, follow_redirects=True))
    found = f"{hostile.base_url}{test_page.AT[PUBLISHED]}/find?q={quote(NAME)}"
    answers[found] = (("found",), hostile.get(found))
    static = {name: hostile.get(f"static/{name}") for name in ("page.css", "page.js")}
    shown, wrong = 0, []
    for with_policy in (True, False):
        context = browser.new_context()

        def serve(route: Any, with_policy: bool = with_policy) -> None:
            url = route.request.url
            answer = static.get(url.rpartition("/")[2]) or next(
                (a for at, (_, a) in answers.items() if at == url), None
            )
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
