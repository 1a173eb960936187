"""Helpers for the tests of operation: an Airflow with test specs, receivers for its alerts, and the actions of an operator."""

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as MessageHandler
from sqlalchemy import create_engine, text

from devtools.local.airflow import ADMIN
from devtools.local.airflow_runs import AirflowRuns
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.tables.schema import TABLES
from tests.http_server import Request, serve
from tests.releases import ROOT
from tests.waiting import until

ENDED = ("success", "failed")


def month(ago: int) -> datetime:
    """Return the first instant (UTC) of the month that is `ago` months before the current month."""
    now = datetime.now(UTC)
    months = now.year * 12 + now.month - 1 - ago
    return datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC)


@dataclass
class Heard:
    """The alerts that the webhook and the mail server received."""

    url: str
    smtp_port: int
    posts: list[tuple[str, Any]] = field(default_factory=list)
    mails: list[Message] = field(default_factory=list)

    def texts(self, subject: str) -> list[str]:
        """Return the alerts with this first line."""
        return [body["text"] for path, body in self.posts if body["text"].splitlines()[0] == subject]

    def about(self, subject: str) -> list[Message]:
        """Return the mails with these words in the subject."""
        return [mail for mail in self.mails if subject in " ".join(mail["Subject"].split())]


@contextmanager
def listening() -> Iterator[Heard]:
    """Run a webhook and a mail server in this process; yield the received messages."""
    heard = Heard("", 0)

    def note(request: Request) -> tuple[int, bytes, dict[str, str]]:
        heard.posts.append((request.path, json.loads(request.body)))
        return 200, b"", {}

    class Mails(MessageHandler):
        def handle_message(self, message: Message) -> None:
            heard.mails.append(message)

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        heard.smtp_port = free.getsockname()[1]
    mails = Controller(Mails(), hostname="127.0.0.1", port=heard.smtp_port)
    mails.start()
    try:
        with serve(note) as heard.url:
            yield heard
    finally:
        mails.stop()


class Operator:
    """One DAG and the actions of an operator over Airflow's REST API."""

    def __init__(self, client: AirflowRuns, dag: str, approver: AirflowRuns | None = None) -> None:
        self.client, self.dag, self.approver = client, dag, approver or client

    def run_of(self, start: datetime, seconds: float = 90) -> str:
        """Wait for the run of an interval and return its id."""
        found = until(lambda: self.client.run_of(self.dag, start), f"no run of {self.dag} from {start}", seconds)
        return str(found["dag_run_id"])

    def tasks(self, run: str) -> dict[tuple[str, int], dict[str, Any]]:
        """Return the instances of a run's tasks, by task and map index."""
        return {(t["task_id"], t["map_index"]): t for t in self.client.tasks(self.dag, run)}

    def state(self, run: str, task: str) -> str | None:
        """Return the state that all instances of a task have."""
        states = {t["state"] for (name, _), t in self.tasks(run).items() if name == task}
        return next(iter(states)) if len(states) == 1 else None

    def wait(self, run: str, task: str, *states: str, seconds: float = 900) -> None:
        """Wait until a task is in one of the states; fail if the run ends first."""
        deadline = time.monotonic() + seconds
        while (state := self.state(run, task)) not in states:
            ended = self.client.state(self.dag, run) in ENDED
            assert not ended or self.state(run, task) in states, self.why(run)
            assert time.monotonic() < deadline, f"{task} of {run} is {state}, not {states}: {self.why(run)}"
            time.sleep(0.3)

    def end(self, run: str, seconds: float = 900) -> str:
        """Wait until a run ends and return its final state."""
        until(
            lambda: self.client.state(self.dag, run) in ENDED, lambda: f"{run} does not end: {self.why(run)}", seconds, 1,
        )  # fmt: skip
        return self.client.state(self.dag, run)

    def why(self, run: str) -> str:
        """Describe the unfinished tasks of a run, with the last lines of the first failed task's log."""
        left = [t for t in self.tasks(run).values() if t["state"] not in ("success", None)]
        failed = [t for t in left if t["state"] == "failed"]
        log = self.client.log(self.dag, run, failed[0])[-25:] if failed else []
        return "\n".join([*(f"{t['task_id']}[{t['map_index']}]: {t['state']}" for t in left), *log])

    def wait_to_be_asked(self, run: str) -> None:
        """Wait for the approval request, then wait five seconds, as a person would before answering.

        The scheduler notices up to a loop later that the requesting process has ended. If a task is answered and queued
        again before that, the scheduler treats it as killed. The task then requests approval again (Airflow 3.3.2,
        `process_executor_events`; docs/runbook.md#approve).
        """
        self.wait(run, "approve", "awaiting_input")
        time.sleep(5)

    def answer(self, run: str, option: str, note: str, *, as_starter: bool = False) -> str:
        """Answer the request for approval, as the approver or as the user who starts the runs; return the request's text."""
        self.wait_to_be_asked(run)
        path = f"dags/{self.dag}/dagRuns/{quote(run)}/taskInstances/approve/-1/hitlDetails"
        asked: str = self.client.call("GET", path)["body"]
        answering = self.client if as_starter else self.approver
        answering.call("PATCH", path, {"chosen_options": [option], "params_input": {"note": note}})
        return asked

    def wait_for_try(self, run: str, task: str, number: int, seconds: float = 300) -> None:
        """Wait until the task's try number reaches `number`."""
        until(lambda: self.tasks(run)[task, -1]["try_number"] >= number, lambda: self.why(run), seconds)

    def let_pass_the_time_to_answer(self, run: str) -> None:
        """Simulate the expiry of the approval by changing the deadline in Airflow's database."""
        self.wait_to_be_asked(run)
        with create_engine(os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"]).begin() as database:
            passed = "UPDATE task_instance SET trigger_timeout = now() WHERE dag_id = :dag AND run_id = :run AND task_id = 'approve'"
            database.execute(text(passed), {"dag": self.dag, "run": run})

    def kill_a_worker(self, run: str, stage: str) -> tuple[str, int]:
        """Kill the process of a task of a stage shortly after its start, before it ends; return the task."""

        engine = create_engine(os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"], pool_pre_ping=True)
        select = "SELECT task_id, map_index, pid FROM task_instance WHERE dag_id = :dag AND run_id = :run"
        running = text(f"{select} AND task_id LIKE :tasks AND state = 'running' AND pid IS NOT NULL")

        def find_running() -> Any:
            """Ask the database: on a busy machine, a task can start and end between two answers of the API."""
            with engine.connect() as database:
                return database.execute(running, {"dag": self.dag, "run": run, "tasks": f"{stage}.%"}).first()

        for moment in (0.7, 0.3, *[0.0] * 20):
            victim = until(find_running, lambda: f"no task of {stage} ran: {self.why(run)}", 300, 0.05)
            key = victim.task_id, victim.map_index
            time.sleep(moment)
            with suppress(ProcessLookupError):  # The task may have ended.
                os.kill(victim.pid, signal.SIGKILL)
                until(lambda key=key: self.tasks(run)[key]["state"] != "running", f"{key} lives")  # type: ignore[misc]  # the default binds the loop's variable
                if (task := self.tasks(run)[key])["state"] != "success" or task["try_number"] > 1:
                    return key  # Otherwise, the task had already reported success.
        raise AssertionError(f"no task of {stage} could be killed before its end")

    def clear(self, run: str, *tasks: str) -> None:
        """Clear tasks and all downstream tasks."""
        body = {"dry_run": False, "dag_run_id": run, "task_ids": list(tasks)}
        body |= {"include_downstream": True, "only_failed": False}
        self.client.call("POST", f"dags/{self.dag}/clearTaskInstances", body)

    def cancel(self, run: str) -> None:
        """Mark a run as failed, which stops it."""
        self.client.call("PATCH", f"dags/{self.dag}/dagRuns/{quote(run)}", {"state": "failed"})

    def wait_for_backfills(self, seconds: float = 300) -> None:
        """Wait until the scheduler has marked the DAG's backfills as complete. It checks rarely and refuses another backfill before."""

        def ended() -> bool:
            backfills = self.client.call("GET", f"backfills?dag_id={self.dag}")["backfills"]
            return all(each["completed_at"] for each in backfills)

        until(ended, f"the backfill of {self.dag} does not end", seconds)

    def backfill(self, first: datetime, last: datetime, state: Path) -> None:
        """Start a backfill of the dates from `first` to `last` as docs/releases.md does, with the local services in `state`."""
        page = (ROOT / "docs" / "releases.md").read_text("utf-8")
        (addresses,) = re.findall(r"`(eval [^`]+)`", page)
        (command,) = re.findall(r"(?m)^airflow backfill create .*$", page)
        for given, value in (
            ("corpus_release__s2_v2", self.dag), ("2026-08-01", f"{first:%Y-%m-%d}"), ("2026-09-01", f"{last:%Y-%m-%d}"),
        ):  # fmt: skip
            command = command.replace(given, value)
        person = {"LOGNAME": ADMIN, "S2CORPUS_STATE": str(state)}  # Airflow names the user of the shell as the starter
        environment = os.environ | person | {"PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"}
        subprocess.run(["bash", "-euc", f"{addresses}\n{command}"], env=environment, cwd=ROOT, check=True)


def check_lineage(events_file: Path, run: Run) -> None:
    """Check that OpenLineage's events in a file contain every table of the release by its address, with its columns and checks."""
    prefix = f"releases/{run.release_id}/"
    tables = {f"{prefix}{t}" for t in TABLES if run.lake.size(f"{prefix}{t}/_COMMITTED.json") is not None}
    expected = {("s3://corpus", name) for name in (*tables, f"snapshots/{run.snapshot_id}")}

    def complete() -> list[dict[str, Any]]:
        events = [orjson.loads(line) for line in events_file.read_text().splitlines()]
        return [event for event in events if event["eventType"] == "COMPLETE"]

    def written() -> dict[tuple[str, str], Any]:
        return {(d["namespace"], d["name"]): d for event in complete() for d in event["outputs"]}

    until(lambda: expected <= written().keys(), lambda: expected - written().keys())
    papers = written()["s3://corpus", f"{prefix}papers"]
    assert [field["name"] for field in papers["facets"]["schema"]["fields"]] == TABLES["papers"].schema.names
    assert papers["outputFacets"]["outputStatistics"]["rowCount"] == run.table(TABLES["papers"]).committed().rows
    told = {
        event["job"]["name"].split(".")[1]: [
            facet["assertions"]
            for dataset in event["inputs"]
            if (facet := dataset.get("inputFacets", {}).get("dataQualityAssertions"))
        ]
        for event in complete()
        if event["job"]["name"].endswith(".quality") and any(d["name"].startswith(prefix) for d in event["inputs"])
    }
    assert set(told) == set(STAGE_NAMES)
    assert all(checked and all(checked) for checked in told.values())
