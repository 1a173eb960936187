"""Processes of one machine share a folder: the first fills it, all use it, and the last deletes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import s2corpus
from s2corpus.errors import UserError
from s2orc_parse.scratch import shared

USE = """
import sys
from s2orc_parse.scratch import shared
def fill(folder):
    print("filled", flush=True)
    (folder / "index").write_text("x")
with shared("one", fill) as folder:
    print((folder / "index").read_text(), flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("S2CORPUS_SCRATCH", str(tmp_path))
    return tmp_path


def user(base: Path) -> subprocess.Popen[str]:
    environ = {**os.environ, "PYTHONPATH": str(Path(s2corpus.__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, "-c", USE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
    )


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def list_folders(base: Path) -> list[str]:
    return sorted(path.name for path in (base / f"s2corpus-shared-{os.geteuid()}").iterdir())


def test_first_process_fills_and_last_removes_the_folder(base: Path) -> None:
    first = user(base)
    assert (line(first), line(first)) == ("filled", "x")
    second = user(base)
    assert line(second) == "x"
    first.communicate("\n")
    assert "one" in list_folders(base)
    second.communicate("\n")
    assert list_folders(base) == []


def test_folder_of_killed_processes_is_removed_and_filled_again(base: Path) -> None:
    killed = user(base)
    line(killed), line(killed)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert "one" in list_folders(base)
    with shared("other", lambda folder: None):
        assert list_folders(base) == ["other", "other.lock"]


def test_incomplete_folder_is_filled_again(base: Path) -> None:
    def fails(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("full")

    with pytest.raises(OSError, match="full"), shared("one", fails):
        pass
    with shared("one", lambda folder: (folder / "complete").touch()) as folder:
        assert sorted(path.name for path in folder.iterdir()) == [".whole", "complete"]


def test_shared_folder_of_another_user_is_refused(base: Path) -> None:
    (base / f"s2corpus-shared-{os.geteuid()}").mkdir(mode=0o777)
    (base / f"s2corpus-shared-{os.geteuid()}").chmod(0o777)
    with pytest.raises(UserError, match="accessible to other users"), shared("one", lambda folder: None):
        pass
