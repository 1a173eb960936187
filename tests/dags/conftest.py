"""Fixtures that all tests of DAGs share: the folders of DAGs and plugins on the path, and the DAGs of the project's specs."""

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.releases import ROOT

sys.path[:0] = [str(ROOT / "dags"), str(ROOT / "plugins")]


@pytest.fixture(scope="session", autouse=True)
def airflow_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give Airflow a temporary home."""
    os.environ.setdefault("AIRFLOW_HOME", str(tmp_path_factory.mktemp("airflow")))


@pytest.fixture(scope="session")
def dags(airflow_home: None) -> dict[str, Any]:
    """Return the DAGs of all specs in include/releases."""
    import corpus_release

    return {name: dag for name, dag in vars(corpus_release).items() if name.startswith("corpus_release__")}


@pytest.fixture(scope="session")
def sample(dags: dict[str, Any]) -> Any:
    """Return the DAG of the spec `sample`."""
    return dags["corpus_release__sample"]


@pytest.fixture
def load(airflow_home: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that imports a DAG file again, with an empty lake and the given variables."""

    def load(name: str, **variables: str) -> Any:
        for variable, value in {"S2CORPUS_LAKE": str(tmp_path / "lake"), **variables}.items():
            monkeypatch.setenv(variable, value)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return importlib.import_module(name)

    return load
