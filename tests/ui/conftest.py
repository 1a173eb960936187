"""Shared fixtures for tests of the page: a lake with three releases, and the page of this lake."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from devtools.sample.truth import Truth
from s2corpus.catalog import Catalog
from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.snapshot.pointer import publish
from s2corpus.storage.lake import open_lake
from tests.releases import ROOT, copy_lake, run_in, spec

sys.path.insert(0, str(ROOT / "plugins"))

PUBLISHED, SECOND, UNFINISHED = "sample-20230201", "sample-20230301", "sample-20230401"


@dataclass(frozen=True)
class Built:
    """A lake with two published releases and one that stopped after the filter, and its catalog."""

    folder: Path
    truth: Truth
    runs: Mapping[str, Run]

    @property
    def lake(self) -> str:
        return str(self.folder / "lake")

    @property
    def catalog(self) -> str:
        return f"sqlite:///{self.folder / 'catalog.db'}"


# A wider scope is wrong: the variables set here would disable the services of other tests.
@pytest.fixture(scope="package")
def built(
    released: tuple[Run, Truth], extractor: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Built]:
    folder = tmp_path_factory.mktemp("page")
    copy_lake(released, folder)
    found = Built(folder, released[1], {})
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**extractor, "S2CORPUS_CATALOG": found.catalog}.items():
            patch.setenv(name, value)
        Catalog(found.catalog).migrate()
        first = run_in(folder, spec())
        runs = {
            run.release_id: run
            for run in (
                first,
                *(Run(first.spec, datetime(2023, month, 1, tzinfo=UTC), first.lake, folder) for month in (3, 4)),
            )
        }
        for id_, run in runs.items():
            for stage in STAGE_NAMES[: STAGE_NAMES.index("filter") + 1] if id_ == UNFINISHED else STAGE_NAMES:
                runner.run_stage(run, stage)
            if id_ != UNFINISHED:
                publish(run.lake, run.snapshot_id)
        yield Built(folder, released[1], runs)


def allow() -> None:
    """Allow every user."""


def page_over(lake: str, catalog: str | None = None, **others: Any) -> Any:
    """Return a client of the page of a lake, mounted as Airflow mounts it."""
    from fastapi import FastAPI
    from fastapi.testclient import TestClient
    from release_page.app import build
    from release_page.releases import Archive

    paused = {"drops_paused": others.pop("drops_paused")} if "drops_paused" in others else {}
    archive = Archive(open_lake(lake), Catalog(catalog) if catalog else None, others.pop("run_of", None), **paused)
    rights = {"anyone": allow, "reader": allow, "visible": lambda: lambda dag_id: True, **others}
    app = FastAPI()
    app.mount("/corpus-releases", build(lambda: archive, **rights))
    return TestClient(app, base_url="http://airflow.test/corpus-releases/", follow_redirects=False)


@pytest.fixture(scope="package")
def page(built: Built) -> Any:
    return page_over(built.lake, built.catalog)
