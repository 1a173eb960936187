"""The image's /entrypoint and /clean-logs do what the Airflow chart expects of the scripts in Airflow's own image."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[4] / "deploy" / "image"
DAY = 24 * 60 * 60


def run_entrypoint(folder: Path, *arguments: str) -> list[str]:
    """Run the entrypoint; `airflow` and `python` print their name and arguments, one per line. Return these lines."""
    for name in ("airflow", "python"):
        program = folder / name
        program.write_text('#!/bin/sh\necho "${0##*/}"\nfor word; do echo "$word"; done\n')
        program.chmod(0o755)
    environ = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([SCRIPTS / "entrypoint", *arguments], env=environ, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "program"),
    [
        (["airflow", "jobs", "check", "--local"], ["airflow", "jobs", "check", "--local"]),
        (["jobs", "check", "--local"], ["airflow", "jobs", "check", "--local"]),
        (["python", "-m", "celery", "two words"], ["python", "-m", "celery", "two words"]),
        (["bash", "-c", "exec airflow db migrate"], ["airflow", "db", "migrate"]),
        ([], ["airflow"]),
        (["bash", "-c", "umask"], ["0002"]),  # group-writable
    ],
)
def test_entrypoint_runs_the_command(tmp_path: Path, arguments: list[str], program: list[str]) -> None:
    assert run_entrypoint(tmp_path, *arguments) == program


def write_log(path: Path, days: float, size: int = 1) -> Path:
    """Write a file with a modification time `days` days ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (time.time() - days * DAY,) * 2)
    return path


def clean(home: Path, **variables: str) -> None:
    environ = {"PATH": os.environ["PATH"], "AIRFLOW_HOME": str(home)} | variables
    subprocess.run(["bash", SCRIPTS / "clean-logs", "--once"], env=environ, check=True)


def test_only_old_logs_are_deleted(tmp_path: Path) -> None:
    old = write_log(tmp_path / "logs" / "dag_id=a b" / "attempt=1.log", 16)
    kept = [
        write_log(tmp_path / "logs" / "dag_id=new" / "attempt=1.log", 14),
        write_log(tmp_path / "logs" / "not-a-log.pid", 100),
        write_log(tmp_path / "beside.log", 100),
    ]
    clean(tmp_path)
    assert not old.exists() and all(path.exists() for path in kept)


def test_retention_is_days_and_minutes_and_a_size(tmp_path: Path) -> None:
    clean(tmp_path)  # A folder without logs is not an error.
    old, new = (write_log(tmp_path / "logs" / f"{days}.log", days) for days in (1.2, 1.05))
    clean(tmp_path, AIRFLOW__LOG_RETENTION_DAYS="1", AIRFLOW__LOG_RETENTION_MINUTES="144")
    assert not old.exists() and new.exists()
    oldest, newer, newest = (write_log(tmp_path / "logs" / f"{days}.log", days, 400_000) for days in (3, 2, 1))
    pid = write_log(tmp_path / "logs" / "new.pid", 0, 100)
    clean(tmp_path, AIRFLOW__LOG_MAX_SIZE_BYTES="900000")
    assert not oldest.exists() and newer.exists() and newest.exists()
    clean(tmp_path, AIRFLOW__LOG_MAX_SIZE_BYTES="10")
    assert not newest.exists() and pid.exists()
