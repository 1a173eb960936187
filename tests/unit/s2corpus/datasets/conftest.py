"""The datasets of a small snapshot, built once for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2corpus.datasets import runner
from s2corpus.datasets.job import Job
from s2corpus.datasets.spec import DATASETS
from tests.snapshots import write_snapshot
from tests.unit.s2corpus.datasets.small import job, papers


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a lake with one snapshot."""
    folder = tmp_path_factory.mktemp("lake")
    write_snapshot(folder, papers(), files=3)
    return folder


@pytest.fixture(scope="session")
def made(lake: Path) -> dict[str, Job]:
    """Return the published datasets by name."""
    found = {}
    for name in DATASETS:
        found[name] = job(lake, name)
        runner.make(found[name])
    return found
