"""Airflow commands that are forked from one process act as if a shell had started each."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from devtools.local.forks import Forks
from tests.waiting import until

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[4]


def environ(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT / "include"), str(ROOT))),
        "AIRFLOW_HOME": str(folder),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        # No server listens on this port.
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": "postgresql+psycopg2://nobody@127.0.0.1:1/none?connect_timeout=1",
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("forks")


@pytest.fixture(scope="module")
def forks(folder: Path) -> Iterator[Forks]:
    with Forks(environ(folder), folder, folder / "imports.log") as opened:
        yield opened


WAITS = ("db", "check", "--retry", "1000", "--retry-delay", "1")


def test_forked_command_has_arguments_log_and_status(forks: Forks, folder: Path) -> None:
    assert forks.start(["version"], folder=folder, log=folder / "version.log").wait() == 0
    assert "3.3.2" in (folder / "version.log").read_text()
    assert forks.start(["nonsense"], folder=folder, log=folder / "nonsense.log").wait() == 2
    assert "invalid choice: 'nonsense'" in (folder / "nonsense.log").read_text()


def test_forked_command_leads_a_session_in_its_folder(forks: Forks, folder: Path) -> None:
    (home := folder / "home").mkdir()
    forked = forks.start(WAITS, folder=home, log=folder / "waits.log")
    process = psutil.Process(forked.pid)
    until(lambda: "airflow db check" in " ".join(process.cmdline()), "the command has no name")
    assert os.getsid(forked.pid) == forked.pid and process.cwd() == str(home)
    assert forked.poll() is None
    process.send_signal(signal.SIGKILL)
    assert forked.wait() == forked.poll() == -signal.SIGKILL
