"""The image's /entrypoint and /clean-logs do what the Airflow chart expects of the scripts in Airflow's own image."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[4] / "deploy" / "image"


def test_only_old_and_large_logs_are_deleted(tmp_path: Path) -> None:
    """A log is kept for 15 days unless variables state days, minutes or a size."""

    def clean(**variables: str) -> set[str]:
        days = {"logs/a b/old.log": 16, "logs/new.log": 14, "logs/newest.log": 1, "logs/old.pid": 100, "other.log": 100}
        for name, age in days.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(b"x" * 400_000)
            os.utime(tmp_path / name, (time.time() - age * 86_400,) * 2)
        environ = {"PATH": os.environ["PATH"], "AIRFLOW_HOME": str(tmp_path), **variables}
        subprocess.run(["bash", SCRIPTS / "clean-logs", "--once"], env=environ, check=True)
        return {name for name in days if not (tmp_path / name).exists()}

    assert clean() == {"logs/a b/old.log"}
    short = {"AIRFLOW__LOG_RETENTION_DAYS": "13", "AIRFLOW__LOG_RETENTION_MINUTES": "60"}
    assert clean(**short) == {"logs/a b/old.log", "logs/new.log"}
    assert clean(AIRFLOW__LOG_MAX_SIZE_BYTES="900000") == {"logs/a b/old.log", "logs/new.log"}
