"""Shared fixtures for tests of the page: a lake with three releases, the page of this lake, Airflow's API server, and a browser."""

import json
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest
from fastapi import HTTPException

from s2corpus.catalog import Catalog
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.sealed import seal
from s2corpus.storage.lake import open_lake
from tests.airflow_server import api_server
from tests.releases import ROOT, Built
from tests.unit.s2corpus.snapshot.test_removed import make

sys.path.insert(0, str(ROOT / "plugins"))

ROLES = ("viewer", "op", "admin")


def allow() -> None:
    """Allow every user."""


def refuse() -> None:
    """Refuse users who are not logged in."""
    raise HTTPException(401)


def page_over(lake: str | Path, catalog: str | None = None, **others: Any) -> Any:
    """Return a client of the page of a lake, mounted as Airflow mounts it."""
    from fastapi import FastAPI
    from fastapi.testclient import TestClient
    from s2corpus_airflow.release_page.app import build
    from s2corpus_airflow.release_page.releases import Archive

    paused = {"drops_paused": others.pop("drops_paused")} if "drops_paused" in others else {}
    archive = Archive(open_lake(str(lake)), Catalog(catalog) if catalog else None, others.pop("run_of", None), **paused)
    rights = {"anyone": allow, "reader": allow, "visible": lambda: lambda dag_id: True, **others}
    app = FastAPI()
    app.mount("/corpus-releases", build(lambda: archive, **rights))
    return TestClient(app, base_url="http://airflow.test/corpus-releases/", follow_redirects=False)


@pytest.fixture(scope="session")
def page(built: Built) -> Any:
    """Return a client of the page over the built release."""
    return page_over(built.lake, built.catalog)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a release of 80 papers with every outcome of clean and split."""
    made = make(tmp_path_factory.mktemp("explorer") / "plain", citations="drop")
    seal(made)
    return made


@dataclass(frozen=True)
class Server:
    """Airflow's API server over a lake full of markup. No scheduler runs, so triggered runs stay queued."""

    url: str
    tokens: Mapping[str, str]
    """by role"""
    passwords: Mapping[str, str]
    environ: Mapping[str, str]

    def call(self, path: str, role: str | None = "admin", method: str = "GET", body: object = None) -> httpx.Response:
        """Return the response to a request of a user with this role."""
        headers = {"Authorization": f"Bearer {self.tokens[role]}"} if role else {}
        return httpx.request(method, urljoin(self.url, path), headers=headers, timeout=60, json=body)

    def open(self, browser: Any, path: str, role: str = "viewer", *, width: int = 1280, scheme: str = "light") -> Any:
        """Return a new browser page at a path, logged in with this role."""
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 1500})
        context.set_default_timeout(120_000)
        context.add_cookies([{"name": "_token", "value": self.tokens[role], "url": self.url}])
        page = context.new_page()
        page.goto(urljoin(self.url, path))
        return page


@pytest.fixture(scope="session")
def server(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start Airflow's API server with one user per role."""
    from tests.ui.pages import hostile_lake, stalled

    home = tmp_path_factory.mktemp("airflow")
    passwords = {role: secrets.token_urlsafe(12) for role in ROLES}
    (home / "passwords.json").touch(0o600)
    (home / "passwords.json").write_text(json.dumps(passwords))
    settings = {
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"), "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{role}:{role}" for role in ROLES),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "S2CORPUS_LAKE": str(hostile_lake(stalled(built, home))), "S2CORPUS_CATALOG": f"sqlite:///{home / 'catalog.db'}",
    }  # fmt: skip
    with api_server(home, settings, [["dags", "reserialize"]], passwords) as (url, tokens, environ):
        yield Server(url, tokens, passwords, environ)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Run headless Chromium, if installed. Until the end of the module, its event loop prevents `asyncio.run`."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright's Python client is not installed")
    chromium = shutil.which("chromium") or pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()
