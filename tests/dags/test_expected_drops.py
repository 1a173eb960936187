"""SPEC §0.22: the wait for expected drops ends with the missing drops, or with the error of a lake that cannot be read."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from s2corpus.errors import TransientError, UserError
from s2corpus.storage.lake import open_lake
from tests.unit.s2corpus.deliveries.samples import deliver

pytestmark = pytest.mark.airflow
OVER = "2023-01-01T00:00:00+00:00"
FOLDERS = {"a-2023-01": "drops/a-2023-01/"}


def wait(folders: dict[str, str]) -> Any:
    """Return the payload of the trigger's event after the end of the wait."""
    from s2corpus_airflow.expected_drops import ExpectedDrops

    async def first() -> Any:
        return (await anext(ExpectedDrops(folders, OVER, 0.1).run())).payload

    return asyncio.run(first())


def finish(event: dict[str, Any]) -> None:
    from s2corpus_airflow.expected_drops import WaitForDrops

    WaitForDrops(task_id="wait_for_drops", spec="sample", seconds=1).finish({}, event)


def test_wait_ends_when_drop_is_ready(airflow_home: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S2CORPUS_LAKE", str(tmp_path))
    assert wait(FOLDERS) == {"missing": ["a-2023-01"], "error": None}
    with pytest.raises(UserError, match="missing: a-2023-01"):
        finish(wait(FOLDERS))
    deliver(open_lake(str(tmp_path)), "drops/a-2023-01", {"a.pdf": b"A"})
    assert wait(FOLDERS) == {"missing": [], "error": None}
    finish(wait(FOLDERS))


def test_lake_that_cannot_be_read_is_not_a_missing_drop(airflow_home: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "S2CORPUS_LAKE": "s3://corpus", "S2CORPUS_S3_ENDPOINT_URL": "http://127.0.0.1:9", "S2CORPUS_S3_REGION_NAME": "us-east-1",
        "S2CORPUS_S3_AWS_ACCESS_KEY_ID": "a", "S2CORPUS_S3_AWS_SECRET_ACCESS_KEY": "b",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    event = wait(FOLDERS)
    assert event["missing"] == [] and "127.0.0.1:9" in event["error"]
    with pytest.raises(TransientError, match="the lake could not be read"):
        finish(event)
