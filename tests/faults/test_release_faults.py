"""A release continues after faults while Airflow builds it, and its snapshot has the same bytes as an undisturbed release."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from devtools.local import Endpoints, Services
from devtools.local.airflow_runs import AirflowRuns
from devtools.local.postgres import Postgres
from devtools.sample.truth import Truth
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.storage.parts import DamagedPart
from s2corpus.tables.texts import DOCUMENTS
from tests.e2e.operating import Operator
from tests.faults.credentials import Keys
from tests.faults.proxy import Mode, Proxy
from tests.releases import AS_OF, snapshot_bytes, spec
from tests.waiting import until

pytestmark = [pytest.mark.services, pytest.mark.airflow, pytest.mark.long]
DAG = "corpus_release__sample"
START = AS_OF.replace(month=1)


class Disturbed(Services):
    """The local services. Airflow's tasks reach S3 and the extractor through proxies, with their keys in a file."""

    def __init__(self, state: Path) -> None:
        super().__init__(state)
        self.state.create()
        self.state.choose_ports({})
        ports = self.state.ports()
        self.s3, self.extractor = Proxy(ports["s3"]), Proxy(ports["extractor"])
        self.keys = Keys(self.state, state.parent / "credentials")

    def endpoints(self) -> Endpoints:
        found = super().endpoints()
        variables = {k: v for k, v in found.variables.items() if not k.startswith(("AWS_ACCESS", "AWS_SECRET"))}
        variables |= {
            "AWS_ENDPOINT_URL": self.s3.url,
            "AWS_SHARED_CREDENTIALS_FILE": str(self.keys.file),
            "GROBID_URL": self.extractor.url,
        }
        return Endpoints(variables, found.airflow_url, found.airflow_user, found.airflow_password)


@dataclass
class Airflow:
    """A running Airflow that builds the tiny sample's release, and the faults that tests can cause."""

    local: Disturbed
    operator: Operator
    days: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def lake(self) -> Lake:
        """Return the lake, opened with the current keys."""
        return open_lake("s3://corpus")

    def fresh(self) -> str:
        """Remove everything from the lake except deliveries, and start the release's run; return the run's id."""
        lake = self.lake
        for entry in list(lake.list("")):
            if not entry.key.startswith(("drops/", "sources/", "suppress.jsonl")):
                lake.delete(entry.key)
        client = self.operator.client
        client.wait_for_dag(DAG)
        if client.run_of(DAG, START):
            return self.another()
        client.unpause(DAG)
        return self.operator.run_of(START)

    def another(self) -> str:
        """Start another run of the same release with a unique logical date; return the run's id."""
        return self.operator.client.trigger(DAG, START, AS_OF, {}, logical_date=START + timedelta(days=next(self.days)))

    def running(self, run: str, *stages: str) -> dict[str, Any]:
        """Wait until a task of these stages runs; return the task."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            for task in self.operator.tasks(run).values():
                if task["task_id"].startswith(stages) and task["state"] == "running" and task["pid"]:
                    return task
            assert self.operator.client.state(DAG, run) in ("queued", "running"), self.operator.why(run)
            time.sleep(0.05)
        raise AssertionError(f"no task of {stages} ever ran: {self.operator.why(run)}")

    def _ended(self, run: str, key: tuple[str, int]) -> dict[str, Any] | None:
        found: dict[str, Any] = self.operator.tasks(run)[key]
        return None if found["state"] == "running" else found

    def kill_a_worker(self, run: str, *stages: str) -> str:
        """Kill the process of a task of these stages shortly after its start, before it ends; return the task's name."""
        for moment in (0.7, 0.3, *[0.0] * 20):
            victim = self.running(run, *stages)
            time.sleep(moment)
            try:
                os.kill(victim["pid"], signal.SIGKILL)
            except ProcessLookupError:  # The task ended first.
                continue
            key = victim["task_id"], victim["map_index"]
            task = until(partial(self._ended, run, key), f"{key} lives")
            # Otherwise, the task had already reported success.
            if task["state"] != "success" or task["try_number"] > 1:
                return f"{victim['task_id']}[{victim['map_index']}]"
        raise AssertionError(f"no task of {stages} could be killed before its end")

    def said(self, run: str, task: dict[str, Any], attempt: int = 1) -> str:
        """Return the log of one attempt of a task."""
        return "\n".join(self.operator.client.log(DAG, run, {**task, "try_number": attempt}))

    def tried_again(self, run: str) -> dict[str, str]:
        """Return the log of the first attempt of each task that has more than one attempt."""
        return {
            f"{name}[{index}]": self.said(run, task)
            for (name, index), task in self.operator.tasks(run).items()
            if task["try_number"] > 1
        }

    def published(self) -> dict[str, str]:
        return snapshot_bytes(Run(spec(), AS_OF, self.lake, Path("/tmp")))


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory, tiny: tuple[Path, Truth]) -> Iterator[Airflow]:
    local = Disturbed(tmp_path_factory.mktemp("airflow") / "state")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "GROBID_URL", "S2CORPUS_EXTRACTOR_TOKEN"):
            patch.delenv(name, raising=False)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        try:
            local.up({"s3"})
            local.keys.rotate()
            endpoints = local.up()
            patch.setenv("AWS_ENDPOINT_URL", super(Disturbed, local).endpoints().variables["AWS_ENDPOINT_URL"])
            patch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(local.keys.file))
            patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
            deliver_tree(open_lake("s3://corpus"), tiny[0])
            client = AirflowRuns(endpoints.airflow_url, endpoints.airflow_user, endpoints.airflow_password)
            yield Airflow(local, Operator(client, DAG))
        finally:
            local.down()
            for proxy in (local.s3, local.extractor):
                proxy.turn(Mode.REFUSE)


def test_worker_killed_in_each_stage_is_retried(airflow: Airflow, reference: dict[str, str]) -> None:
    run = airflow.fresh()
    killed: dict[str, str] = {}
    for stage in STAGE_NAMES:
        killed[stage] = airflow.kill_a_worker(run, f"{stage}.")
    assert airflow.operator.end(run) == "success", airflow.operator.why(run)
    again = airflow.tried_again(run)
    assert set(killed.values()) <= set(again), "a kill was too late to disturb"
    assert all("Process terminated by signal" in again[name] for name in killed.values())
    assert airflow.published() == reference


def test_restarts_and_a_second_run_do_not_change_bytes(airflow: Airflow, reference: dict[str, str]) -> None:
    run = airflow.fresh()
    client, local = airflow.operator.client, airflow.local
    airflow.running(run, "select.")
    second = airflow.another()
    local._stop([Postgres(local.state)])
    time.sleep(3)
    local.up()
    victim = airflow.kill_a_worker(run, "extract.", "postprocess.")
    airflow.running(run, "cluster.", "vote.", "assemble.")
    (scheduler,) = (status for status in local.status() if status.name == "airflow-scheduler")
    os.killpg(scheduler.pid, signal.SIGKILL)
    local.up()
    assert client.state(DAG, second) == "queued"
    assert airflow.operator.end(run) == "success", airflow.operator.why(run)
    again = airflow.tried_again(run)
    assert victim in again, "the kill was too late to disturb"
    assert airflow.published() == reference
    assert airflow.operator.end(second) == "success", airflow.operator.why(second)
    did = {task for (task, _), t in airflow.operator.tasks(second).items() if t["state"] == "success"}
    assert {f"{stage}.{step}" for stage in STAGE_NAMES for step in ("work", "finish", "quality")} < did
    assert airflow.published() == reference


def test_outages_rotated_keys_and_truncated_part_are_survived(airflow: Airflow, reference: dict[str, str]) -> None:
    run = airflow.fresh()
    local = airflow.local
    airflow.running(run, "extract.work")
    for proxy in (local.s3, local.extractor):
        proxy.turn(Mode.REFUSE)
    time.sleep(60)
    for proxy in (local.s3, local.extractor):
        proxy.turn(Mode.PASS)
    airflow.running(run, "link.", "filter.")
    local.keys.rotate()
    table = Run(spec(), AS_OF, open_lake("s3://corpus"), Path("/tmp")).table(DOCUMENTS)
    part = until(lambda: table.keys(0)[0] if table.is_complete() else None, "documents are not committed")
    data, _ = table.lake.get(part)
    table.lake.put(part, data[: len(data) // 2])
    with pytest.raises(DamagedPart):
        table.read()
    assert airflow.operator.end(run, 600) == "failed"
    again = airflow.tried_again(run)
    assert "extract.work[0]" in again and "TransientError: " in again["extract.work[0]"]
    why = airflow.operator.why(run)
    assert part.rpartition("/")[2] in why
    airflow.operator.clear(run, "clean.work")
    assert airflow.operator.end(run) == "success", airflow.operator.why(run)
    assert airflow.published() == reference
