"""The page in Airflow's own API server: which users may see it, and its appearance in a browser."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

import httpx
import pytest

from tests.releases import ROOT
from tests.ui.conftest import PUBLISHED, SECOND, UNFINISHED, Built
from tests.ui.test_page import INJECTED, hostile_lake, stalled, words

pytestmark = [pytest.mark.services, pytest.mark.airflow, pytest.mark.slow]
PAGE = "/corpus-releases/"
RELEASE = f"{PAGE}corpus_release__sample/{PUBLISHED.rpartition('-')[2]}"
Server = tuple[str, dict[str, str], dict[str, str]]
"""address, tokens and passwords by role"""
ROLES = ("viewer", "op", "admin")


@pytest.fixture(scope="module")
def server(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start Airflow's API server with a lake full of markup, and a token for each role."""
    home = tmp_path_factory.mktemp("airflow")
    passwords = {role: secrets.token_urlsafe(12) for role in ROLES}
    (home / "passwords.json").touch(0o600)
    (home / "passwords.json").write_text(json.dumps(passwords))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "S2CORPUS"))},
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{role}:{role}" for role in ROLES),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__API__SECRET_KEY": secrets.token_hex(16),
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
        "PYTHONPATH": str(ROOT / "include"),
        "S2CORPUS_LAKE": str(hostile_lake(built, home, stalled(built, home))),
        "S2CORPUS_CATALOG": f"sqlite:///{home / 'catalog.db'}",
    }
    airflow = [sys.executable, "-m", "airflow"]
    with (home / "log").open("w") as log:
        subprocess.run([*airflow, "db", "migrate"], env=environ, stdout=log, stderr=log, check=True, cwd=home)
        subprocess.run([*airflow, "dags", "reserialize"], env=environ, stdout=log, stderr=log, check=True, cwd=home)
        process = subprocess.Popen(
            [*airflow, "api-server", "--host", "127.0.0.1", "--port", str(port)],
            env=environ,
            stdout=log,
            stderr=log,
            cwd=home,
            start_new_session=True,
        )
        try:
            yield url, _tokens(url, passwords, process, home / "log"), passwords
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)
    assert "Traceback" not in (home / "log").read_text(), (home / "log").read_text()[-3000:]


def _tokens(url: str, passwords: dict[str, str], process: Any, log: Path) -> dict[str, str]:
    deadline = time.monotonic() + 180
    while True:
        try:
            return {
                role: httpx.post(f"{url}/auth/token", json={"username": role, "password": password}).json()[
                    "access_token"
                ]
                for role, password in passwords.items()
            }
        except (httpx.TransportError, ValueError):
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()[-3000:]
            time.sleep(0.5)


def get(server: Server, path: str, role: str | None, method: str = "GET") -> httpx.Response:
    headers = {"Authorization": f"Bearer {server[1][role]}"} if role else {}
    return httpx.request(method, urljoin(server[0], path), headers=headers, timeout=60)


@pytest.mark.parametrize("path", [PAGE, RELEASE, f"{RELEASE}/quality", f"{RELEASE}/snapshot", f"{PAGE}drops"])
def test_nobody_sees_it_without_logging_in_and_every_role_does(path: str, server: Server) -> None:
    answer = get(server, path, None)
    assert answer.status_code == 401 and "sample-2023" not in answer.text
    assert f"/auth/login?next={quote(path, safe='')}" in answer.text
    for role in ROLES:
        assert get(server, path, role).status_code == 200


def test_a_wrong_token_is_none(server: Server) -> None:
    answer = httpx.get(urljoin(server[0], PAGE), headers={"Authorization": "Bearer x.y.z"}, timeout=60)
    assert answer.status_code in (401, 403) and "sample" not in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_nobody_can_do_anything_with_it(method: str, server: Server) -> None:
    for role in ROLES:
        assert get(server, RELEASE, role, method).status_code == 405


def test_a_release_that_is_not_there_says_nothing_to_who_may_not_ask(server: Server) -> None:
    absent = f"{PAGE}corpus_release__absent/20230201"
    assert get(server, absent, None).status_code == 401
    assert get(server, absent, "viewer").status_code == 404


def test_airflow_lists_the_page_in_its_menu(server: Server) -> None:
    plugins = get(server, "/api/v2/plugins", "admin").json()["plugins"]
    assert [p["name"] for p in plugins if p["source"].endswith("release_page/airflow_plugin.py")] == ["corpus_releases"]
    assert not get(server, "/api/v2/plugins/importErrors", "admin").json()["import_errors"]


def test_a_release_on_its_way_says_how_its_run_is(server: Server) -> None:
    """Check the status of an unfinished release. No scheduler runs here: a triggered run stays queued until the test marks it as failed."""
    runs, headers = (
        urljoin(server[0], "/api/v2/dags/corpus_release__sample/dagRuns"),
        {"Authorization": f"Bearer {server[1]['op']}"},
    )
    interval = {"data_interval_start": "2023-03-01T00:00:00Z", "data_interval_end": "2023-04-01T00:00:00Z"}
    made = httpx.post(
        runs,
        headers=headers,
        timeout=60,
        json={"logical_date": "2023-03-01T00:00:00Z", "dag_run_id": "by_hand", **interval},
    )
    assert made.status_code == 200, made.text
    address = f"{PAGE}corpus_release__sample/{UNFINISHED.rpartition('-')[2]}"
    shown = get(server, address, "viewer").text
    assert "Airflow's run by_hand : queued" in words(shown)
    assert 'href="/dags/corpus_release__sample/runs/by_hand"' in shown
    assert "stopped by a check after filter" in words(get(server, PAGE, "viewer").text), "whatever its run does"
    assert httpx.patch(f"{runs}/by_hand", headers=headers, timeout=60, json={"state": "failed"}).status_code == 200
    assert "Airflow's run by_hand : failed" in words(get(server, address, "viewer").text)


# In a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Run headless Chromium, if installed."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright's Python client is not installed")
    chromium = shutil.which("chromium") or pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


OVERLAPS = """
(() => {
  const boxes = [...document.querySelectorAll('a, button, input, select, textarea, .badge, svg text, dt, th, h1, h2, h3')]
    .filter(e => e.checkVisibility() && !e.closest('.hidden, .skip, thead') && e.getClientRects().length === 1)
    .map(e => [e, e.getBoundingClientRect()]).filter(([e, b]) => b.width > 2 && b.height > 2);
  const found = [];
  boxes.forEach(([e, a], i) => boxes.slice(i + 1).forEach(([f, b]) => {
    const over = Math.min(a.right, b.right) - Math.max(a.left, b.left), down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (over > 2 && down > 4 && !e.contains(f) && !f.contains(e)) found.push([e.outerHTML.slice(0, 90), f.outerHTML.slice(0, 90)]);
  }));
  return found.slice(0, 5);
})()
"""
"""readable or clickable elements that overlap another such element"""
FAINT = """
(() => {
  const rgb = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = c => rgb(c).slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0) return getComputedStyle(e).backgroundColor; } return 'rgb(255,255,255)'; };
  return [...new Set([...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && !e.closest('.hidden, .skip')
    && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())).map(e => {
      const style = getComputedStyle(e), [a, b] = [light(e.closest('svg') ? style.fill : style.color), light(ground(e))];
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5 ? e.outerHTML.slice(0, 90) : '';
    }))].filter(Boolean).slice(0, 5);
})()
"""
"""text with a contrast to its background below 4.5 to 1 (WCAG 2.2, AA)"""


def list_axe_violations(page: Any) -> list[tuple[str, str]]:
    """Return the rule and the first element of each violation that axe-core reports."""
    from axe_playwright_python.sync_playwright import Axe

    violations = Axe().run(page).response["violations"]
    return [(violation["id"], violation["nodes"][0]["html"][:120]) for violation in violations]


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("light", 1400),
        ("dark", 400),
        pytest.param("light", 400, marks=pytest.mark.long),
        pytest.param("dark", 1400, marks=pytest.mark.long),
    ],
)
def test_a_browser_shows_it_whole_and_quiet(scheme: str, width: int, browser: Any, server: Server) -> None:
    """Check every kind of page: no console error, no dialog, no request to another server, and nothing wider than the window."""
    artefacts = ROOT / "artefacts" / "page"
    artefacts.mkdir(parents=True, exist_ok=True)
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    context.add_cookies([{"name": "_token", "value": server[1]["viewer"], "url": server[0]}])
    page, noise, elsewhere, answers = context.new_page(), [], [], []
    page.on("console", lambda m: noise.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda e: noise.append(str(e)))
    page.on("dialog", lambda d: (noise.append(f"dialog {d.message}"), d.dismiss()))
    page.on("request", lambda r: None if r.url.startswith((server[0] + PAGE, "data:")) else elsewhere.append(r.url))
    page.on("response", lambda r: answers.append((r.url, r.status)))
    address = urljoin(server[0], RELEASE)
    unfinished = address.replace(PUBLISHED.rpartition("-")[2], UNFINISHED.rpartition("-")[2])
    kinds = {"list": urljoin(server[0], PAGE), "release": address, "quality": f"{address}/quality"}
    kinds |= {"drops": urljoin(server[0], f"{PAGE}drops"), "trends": f"{address}/trends"}
    kinds |= {"intervals": urljoin(server[0], f"{PAGE}corpus_release__sample/intervals")}
    kinds |= {"compare": f"{address}/compare?other={SECOND.rpartition('-')[2]}", "stopped": unfinished}
    kinds |= {"stopped-checks": f"{unfinished}/quality"}
    kinds |= {"snapshot": f"{address}/snapshot", "documents": f"{address}/documents/s2orc"}
    page.goto(kinds["documents"])
    kinds["text"] = page.eval_on_selector(".list a", "link => link.href")
    kinds["paper"] = page.eval_on_selector(".list .quiet a", "link => link.href")
    kinds["rejects"] = f"{address}/rejects/select?outcome=unreadable"
    for name, to in kinds.items():
        page.goto(to)
        page.screenshot(path=artefacts / f"{name}-{scheme}-{width}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (
            f"{name} is wider than the window"
        )
        flat = "[...document.querySelectorAll('td[data-label]')].filter(cell => cell.offsetHeight < 16).length"
        assert page.evaluate(flat) == 0, (
            f"{name} has cells without a line of text, whose labels would lie on the next ones"
        )
        assert page.evaluate(OVERLAPS) == [], f"{name} has labels that lie on each other"
        assert page.evaluate(FAINT) == [], f"{name} has text that stands out too little"
        assert list_axe_violations(page) == [], f"{name} violates rules of axe-core"
    page.goto(kinds["paper"])
    assert page.inner_text("h1") == INJECTED
    page.goto(kinds["snapshot"])
    page.click("button[data-copy]")
    page.get_by_role("button", name="Copied").wait_for(timeout=10_000)
    context.close()
    assert (noise, elsewhere) == ([], [])
    assert all(status == 200 for _, status in answers), answers


def test_it_works_in_airflows_frame_and_by_keyboard(browser: Any, server: Server) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_cookies([{"name": "_token", "value": server[1]["viewer"], "url": server[0]}])
    page = context.new_page()
    page.goto(f"{server[0]}/plugin/corpus-releases")
    frame = page.frame_locator("iframe")
    frame.get_by_role("heading", name="Corpus releases").wait_for(timeout=60_000)
    page.screenshot(path=ROOT / "artefacts" / "page" / "in-airflow.png")
    link = frame.locator(f"th a[href$='/{SECOND.rpartition('-')[2]}']")
    for _ in range(40):  # Press Tab, as a user without a mouse does, until the release has the focus.
        page.keyboard.press("Tab")
        if link.evaluate("link => link === document.activeElement"):
            break
    page.keyboard.press("Enter")
    frame.get_by_role("heading", name=SECOND).wait_for(timeout=60_000)
    frame.locator("#q").fill("a")
    page.keyboard.press("Enter")
    frame.get_by_role("heading", name="paper(s) for").wait_for(timeout=60_000)
    context.close()


def test_a_link_to_airflows_own_pages_leaves_the_frame(browser: Any, server: Server) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.add_cookies([{"name": "_token", "value": server[1]["viewer"], "url": server[0]}])
    page = context.new_page()
    page.goto(f"{server[0]}/plugin/corpus-releases")
    frame = page.frame_locator("iframe")
    frame.get_by_role("link", name=UNFINISHED).click()
    frame.get_by_role("link", name="Airflow's run").click()
    page.wait_for_url("**/dags/corpus_release__sample/runs/by_hand**", timeout=60_000)
    page.get_by_text("by_hand").first.wait_for(timeout=60_000)
    assert page.locator("iframe").count() == 0
    context.close()


def test_who_is_not_logged_in_comes_back_after_it(browser: Any, server: Server) -> None:
    context = browser.new_context(viewport={"width": 400, "height": 900})
    page = context.new_page()
    page.goto(urljoin(server[0], RELEASE))
    page.screenshot(path=ROOT / "artefacts" / "page" / "login.png")
    assert page.evaluate("getComputedStyle(document.querySelector('.button')).borderRadius") == "5px", "it is styled"
    page.get_by_role("link", name="Log in").click()
    page.get_by_label("Username").fill("viewer")
    page.get_by_label("Password").fill(server[2]["viewer"])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"**{RELEASE}", timeout=60_000)
    context.close()
