"""The page in Airflow's own API server: which users may see it, and its appearance in a browser.

A person fills in Airflow's forms.
"""

import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

import httpx
import pytest

from tests.releases import PUBLISHED, SECOND, UNFINISHED
from tests.ui.conftest import ROLES, Server
from tests.ui.pages import INJECTED, NOON, words

pytestmark = [pytest.mark.services, pytest.mark.airflow, pytest.mark.slow]
PAGE = "/corpus-releases/"
DAG = "corpus_release__s2_v2"
RELEASE = f"{PAGE}corpus_release__sample/{PUBLISHED.rpartition('-')[2]}"
SAVED = os.environ.get("S2CORPUS_PICTURES")  # CONTRIBUTING.md
REASON = "The January drop contains no bibliographies, see ticket 12."


@pytest.mark.parametrize("path", [PAGE, RELEASE, f"{RELEASE}/quality", f"{RELEASE}/snapshot", f"{PAGE}drops"])
def test_page_requires_login_and_every_role_sees_it(path: str, server: Server) -> None:
    answer = server.call(path, None)
    assert answer.status_code == 401 and "sample-2023" not in answer.text
    assert f"/auth/login?next={quote(path, safe='')}" in answer.text
    for role in ROLES:
        assert server.call(path, role).status_code == 200


def test_page_only_reads_and_reveals_nothing(server: Server) -> None:
    answer = httpx.get(urljoin(server.url, PAGE), headers={"Authorization": "Bearer x.y.z"}, timeout=60)
    assert answer.status_code in (401, 403) and "sample" not in answer.text
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert server.call(RELEASE, "admin", method).status_code == 405
    absent = f"{PAGE}corpus_release__absent/20230201"
    assert (server.call(absent, None).status_code, server.call(absent, "viewer").status_code) == (401, 404)


def test_unfinished_release_shows_the_state_of_its_run(server: Server) -> None:
    runs, interval = "/api/v2/dags/corpus_release__sample/dagRuns", ("2023-03-01T00:00:00Z", "2023-04-01T00:00:00Z")
    body = {"logical_date": interval[0], "data_interval_start": interval[0], "data_interval_end": interval[1]}
    made = server.call(runs, "op", "POST", {"dag_run_id": "by_hand", **body})
    assert made.status_code == 200, made.text
    address = f"{PAGE}corpus_release__sample/{UNFINISHED.rpartition('-')[2]}"
    shown = server.call(address, "viewer").text
    assert "Airflow's run by_hand : queued" in words(shown)
    assert 'href="/dags/corpus_release__sample/runs/by_hand"' in shown
    assert "stopped by a check after filter" in words(server.call(PAGE, "viewer").text), "whatever its run does"
    assert server.call(f"{runs}/by_hand", "op", "PATCH", {"state": "failed"}).status_code == 200
    assert "Airflow's run by_hand : failed" in words(server.call(address, "viewer").text)


def test_missing_releases_are_built_from_the_page_by_those_who_may(server: Server) -> None:
    values = "corpus=s2_v2&first=2023-01-01&last=2023-02-28"
    refused = server.call(f"{PAGE}actions/backfill?{values}", "viewer")
    assert refused.status_code == 403 and "the right to edit the DAG of s2_v2" in words(refused.text)
    plan = server.call(f"{PAGE}actions/backfill?{values}", "op").text
    assert "The release of 2023-01-01 to 2023-02-01 is built." in words(plan) and "Cost: 2 releases" in words(plan)
    assert server.call("/api/v2/backfills?dag_id=corpus_release__s2_v2").json()["total_entries"] == 0, (
        "a plan changes nothing"
    )
    (token,) = re.findall('name="token" value="([0-9a-f]+)"', plan)
    headers = {"Authorization": f"Bearer {server.tokens['op']}", "Sec-Fetch-Site": "same-origin"}
    form = dict(pair.split("=") for pair in values.split("&")) | {"token": token}
    done = httpx.post(urljoin(server.url, f"{PAGE}actions/backfill"), data=form, headers=headers, timeout=60)
    assert done.status_code == 303, done.text[-500:]
    assert server.call("/api/v2/backfills?dag_id=corpus_release__s2_v2").json()["total_entries"] == 1
    assert re.search(
        r"op backfill .* backfill \d+ of s2_v2 from 2023-01-01 to 2023-02-28 has begun",
        words(server.call(f"{PAGE}actions").text),
    )


def list_axe_violations(page: Any) -> list[tuple[str, str]]:
    from axe_playwright_python.sync_playwright import Axe

    violations = Axe().run(page).response["violations"]
    return [(violation["id"], violation["nodes"][0]["html"][:120]) for violation in violations]


OVERLAPS = """() => {
  const boxes = [];
  const isHidden = (element) => element && (getComputedStyle(element).clipPath !== "none" || isHidden(element.parentElement));
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && boxes.length < 1500) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.data.trim() || parent.closest("svg, .skip, option, details:not([open]) > :not(summary)") || isHidden(parent)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const frame = parent.closest(".scroll")?.getBoundingClientRect();
    for (const box of range.getClientRects()) {
      if (frame && (box.right > frame.right || box.left < frame.left)) continue;  // behind the edge of a table that scrolls
      if (box.width > 2 && box.height > 2) boxes.push([node.data.trim().slice(0, 40), box, node]);
    }
  }
  const found = [];
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    const [a, b] = [boxes[i][1], boxes[j][1]];
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (boxes[i][2] !== boxes[j][2] && wide > 2 && high > 5) found.push(boxes[i][0] + " / " + boxes[j][0]);
  }
  return found;
}"""
"""texts whose boxes overlap, although neither is in the other"""


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 400), ("dark", 1920)])
def test_browser_shows_every_page_without_errors(scheme: str, width: int, browser: Any, server: Server) -> None:
    """Check every kind of page: no console error, no dialog, no request to another server, no overlap, nothing wider than the window."""
    page, noise, elsewhere, answers = server.open(browser, "about:blank", width=width, scheme=scheme), [], [], []
    page.on("console", lambda m: noise.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda e: noise.append(str(e)))
    page.on("dialog", lambda d: noise.append(f"dialog {d.message}"))
    page.on("dialog", lambda d: d.dismiss())
    page.on("request", lambda r: None if r.url.startswith((server.url + PAGE, "data:")) else elsewhere.append(r.url))
    page.on("response", lambda r: answers.append((r.url, r.status)))
    stopped = f"{PAGE}corpus_release__sample/{UNFINISHED.rpartition('-')[2]}"
    page.goto(urljoin(server.url, f"{RELEASE}/documents/s2orc"))
    text, paper = (page.eval_on_selector(f".list {link}", "link => link.href") for link in ("a", ".quiet a"))
    noon = f"{PAGE}corpus_release__{NOON.replace('-', '/')}"
    acts = (f"{PAGE}actions", f"{PAGE}actions/yank?snapshot=sample-20230201-00000000&reason=none")
    of_list = (
        PAGE, noon, *acts, f"{PAGE}drops", f"{PAGE}corpus_release__sample/intervals", stopped, f"{stopped}/quality",
    )  # fmt: skip
    of_release = ("", "/quality", "/trends", f"/compare?other={SECOND.rpartition('-')[2]}", "/snapshot")
    of_papers = ("/documents/s2orc", "/documents/s2orc?by=log_prob&outcome=train", "/rejects/select?outcome=unreadable")
    for path in (*of_list, *(RELEASE + rest for rest in of_release + of_papers), text, paper):
        page.goto(urljoin(server.url, path))
        too_wide = page.evaluate("document.documentElement.scrollWidth - innerWidth") > 0
        assert not too_wide, f"{path} is wider than the window"
        assert page.evaluate(OVERLAPS) == [], f"texts of {path} overlap"
        assert list_axe_violations(page) == [], f"{path} violates rules of axe-core"
    assert page.inner_text("h1") == INJECTED
    page.goto(urljoin(server.url, f"{RELEASE}/snapshot"))
    page.click("button[data-copy]")
    page.get_by_role("button", name="Copied").wait_for(timeout=10_000)
    page.context.close()
    assert (noise, elsewhere) == ([], [])
    assert all(status == 200 for _, status in answers), answers


def test_page_works_by_keyboard_in_airflows_frame_and_its_links_leave_it(browser: Any, server: Server) -> None:
    page = server.open(browser, "/plugin/corpus-releases")
    frame = page.frame_locator("iframe")
    frame.get_by_role("heading", name="Corpus releases").wait_for(timeout=60_000)
    link = frame.locator(f"th a[href$='/{UNFINISHED.rpartition('-')[2]}']")
    for _ in range(40):  # Press Tab, as a user without a mouse does, until the release has the focus.
        page.keyboard.press("Tab")
        if link.evaluate("link => link === document.activeElement"):
            break
    page.keyboard.press("Enter")
    frame.get_by_role("heading", name=UNFINISHED).wait_for(timeout=60_000)
    frame.get_by_role("link", name="Airflow's run").click()
    page.wait_for_url("**/dags/corpus_release__sample/runs/by_hand**", timeout=60_000)
    page.get_by_text("by_hand").first.wait_for(timeout=60_000)
    assert page.locator("iframe").count() == 0
    page.context.close()


@pytest.mark.long
def test_pictures_of_the_documentation_are_made(browser: Any, server: Server, tmp_path: Path) -> None:
    intervals = f"{PAGE}corpus_release__sample/intervals?first=2023-01-01&last=2023-06-30"
    pictures = {"release": (RELEASE, 1280, 900), "intervals": (intervals, 1280, 480)}
    pictures["explorer"] = f"{RELEASE}/documents/s2orc?by=log_prob", 1280, 900
    second = f"{PAGE}corpus_release__sample/{SECOND.rpartition('-')[2]}"
    pictures["document"] = f"{second}/documents/s2orc?by=words&order=descending", 1280, 900
    pictures["dag"] = "/dags/corpus_release__sample", 1600, 420
    for name, (path, width, height) in pictures.items():
        page = server.open(browser, path)
        page.set_viewport_size({"width": width, "height": height})
        if name == "dag":
            page.get_by_label("Show Graph").click()
            page.get_by_label("Collapse Details Panel").click()
            page.locator(".react-flow__node", has_text="publish").first.wait_for()
            page.locator(".react-flow__controls-fitview").click()
            page.wait_for_timeout(2_000)  # The graph moves into view.
            page.evaluate("document.querySelector('.react-flow__minimap')?.remove()")
        if name == "document":
            page.click(".list > li > a")
            page.wait_for_load_state("networkidle")
        page.screenshot(path=Path(SAVED or tmp_path, f"{name}.png"))
        page.context.close()


def test_run_by_hand_has_its_parameters_and_the_last_interval(browser: Any, server: Server, tmp_path: Path) -> None:
    """Check the form's promise: a run at 10:30 on March 15 makes the release of February."""
    page = server.open(browser, f"/dags/{DAG}", "op")
    page.get_by_test_id("trigger-dag-button").click()
    form = page.get_by_role("dialog").first
    form.get_by_text("A single run builds").wait_for()
    form.get_by_test_id("datetime-input").first.click()
    page.get_by_placeholder("YYYY/MM/DD").last.fill("2023/03/15")
    page.get_by_placeholder("HH:mm").last.fill("10:30")
    page.keyboard.press("Escape")
    form.locator("textarea[name=element_drops]").fill("2023-01-*\npublisher-a-2023-01-15")
    editor = form.locator("#element_accept")
    editor.click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(json.dumps({"link.drift_of_linked_entries_block": REASON}))
    page.keyboard.press("Control+Shift+End")  # The editor closes brackets and quotes itself.
    page.keyboard.press("Delete")
    form.screenshot(path=Path(SAVED or tmp_path, "form-run.png"))
    form.get_by_role("button", name="Trigger", exact=True).click()
    form.wait_for(state="hidden")
    (run,) = server.call(f"/api/v2/dags/{DAG}/dagRuns?limit=1&order_by=-id").json()["dag_runs"]
    assert (run["data_interval_start"], run["data_interval_end"]) == ("2023-02-01T00:00:00Z", "2023-03-01T00:00:00Z")
    assert run["conf"] == {
        "drops": ["2023-01-*", "publisher-a-2023-01-15"],
        "accept": {"link.drift_of_linked_entries_block": REASON},
    }
    page.context.close()
