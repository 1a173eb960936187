"""SPEC §10.15–10.19: no sequence of actions of the role Operator publishes what `corpus build` would refuse.

Random sequences run under a real scheduler. The spec `guarded` requires an approval, and no person ever approves: nothing of it may be
published. The spec `open` requires none, and is edited meanwhile: each published snapshot has the bytes that `corpus build` gives for one
of its two versions.
"""

import hashlib
import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from devtools.local.airflow_runs import AirflowRuns
from devtools.sample.truth import Truth
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.errors import TransientError, UserError
from s2corpus.pipeline.run import Run
from s2corpus.snapshot import markers, pointer
from s2corpus.spec_files import load_spec
from s2corpus.storage.lake import Lake, open_lake
from tests.e2e.operating import ENDED, Operator, month
from tests.local_airflow import local_airflow
from tests.releases import build, snapshot_bytes

pytestmark = [pytest.mark.services, pytest.mark.airflow, pytest.mark.slow, pytest.mark.timeout(3600)]

START, AS_OF = month(2), month(1)
SPEC = f"""
name: NAME
schedule: {{cron: "0 0 1 * *", start_date: {START:%Y-%m-%d}, end_date: {START:%Y-%m-%d}}}
select: {{max_pages: PAGES}}
export: {{approval: APPROVAL, files: 3}}
resources: {{pdfs_per_shard: 40, papers_per_shard: 400, memory_mb: 512}}
"""
APPROVAL = {"guarded": "other", "open": "none"}
PAGES = (50, 3)
QUICK, LONG = range(1), range(1, 25)
ACTIONS_PER_SEQUENCE = 8


@dataclass
class Actor:
    """The actions of an operator, each with random arguments. Airflow may refuse any of them."""

    client: AirflowRuns
    specs: Path
    random: random.Random
    name: str
    log: list[str] = field(default_factory=list)

    @property
    def dag(self) -> str:
        return f"corpus_release__{self.name}"

    def runs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.call("GET", f"dags/{self.dag}/dagRuns?limit=100", absent={}).get(
            "dag_runs", []
        )
        return found

    def a_run(self) -> str:
        return str(self.random.choice(self.runs())["dag_run_id"])

    def a_task(self, run: str) -> dict[str, Any]:
        return self.random.choice(self.client.tasks(self.dag, run))

    def trigger(self) -> None:
        drops = self.random.choice([None, None, ["*"]])
        end = self.random.choice([AS_OF, AS_OF, AS_OF.replace(year=AS_OF.year + 4)])
        self.client.trigger(self.dag, START, end, {"drops": drops} if drops else {})

    def backfill(self) -> None:
        dates = {"from_date": START.isoformat(), "to_date": START.isoformat(), "reprocess_behavior": "completed"}
        self.client.call("POST", "backfills", {"dag_id": self.dag, "max_active_runs": 1, **dates})

    def mark_task(self) -> None:
        run = self.a_run()
        task = self.random.choice([self.a_task(run)["task_id"], "approve", "publish", "export.quality"])
        state = self.random.choice(["success", "success", "success", "failed", "skipped"])
        self.log[-1] += f" {task} {state}"
        path = f"dags/{self.dag}/dagRuns/{quote(run)}/taskInstances/{task}"
        self.client.call("PATCH", path, {"new_state": state})

    def mark_stage(self) -> None:
        """Mark the tasks of a stage as success, one after the other."""
        run, stage = self.a_run(), self.random.choice(["select", "cluster", "vote", "link", "clean", "export"])
        self.log[-1] += f" {stage}"
        for task in sorted({t["task_id"] for t in self.client.tasks(self.dag, run) if t["task_id"].startswith(stage)}):
            with suppress(UserError):
                path = f"dags/{self.dag}/dagRuns/{quote(run)}/taskInstances/{task}"
                self.client.call("PATCH", path, {"new_state": "success"})

    def mark_run(self) -> None:
        state = self.random.choice(["success", "failed", "queued"])
        self.log[-1] += f" {state}"
        self.client.call("PATCH", f"dags/{self.dag}/dagRuns/{quote(self.a_run())}", {"state": state})

    def clear(self) -> None:
        run = self.a_run()
        task = self.random.choice([self.a_task(run)["task_id"], "intake.plan", "publish", "export.quality"])
        downstream = self.random.random() < 0.5
        self.log[-1] += f" {task} {downstream}"
        body = {"dry_run": False, "dag_run_id": run, "task_ids": [task], "only_failed": False}
        self.client.call("POST", f"dags/{self.dag}/clearTaskInstances", {**body, "include_downstream": downstream})

    def edit(self) -> None:
        pages = self.random.choice(PAGES)
        self.log[-1] += f" {pages}"
        write_spec(self.specs, self.name, pages)

    def rename(self) -> None:
        """Rename the spec's file for some seconds: its DAG disappears, and comes back."""
        path = self.specs / f"{self.name}.yaml"
        path.rename(path.with_suffix(".away"))
        time.sleep(self.random.choice([1, 8]))
        path.with_suffix(".away").rename(path)

    def pause(self) -> None:
        self.client.call("PATCH", f"dags/{self.dag}", {"is_paused": True})
        time.sleep(2)
        self.client.unpause(self.dag)

    def delete(self) -> None:
        """The role may not delete runs; an administrator may, and this publishes nothing either."""
        self.client.call("DELETE", f"dags/{self.dag}/dagRuns/{quote(self.a_run())}")

    def create_event(self) -> None:
        asset = f"corpus_snapshot__{self.name}"
        found = self.client.call("GET", f"assets?name_pattern={asset}")["assets"]
        self.client.call("POST", "assets/events", {"asset_id": found[0]["id"], "extra": {}})

    def wait(self) -> None:
        time.sleep(self.random.choice([2, 10, 25]))

    def act(self) -> None:
        actions: list[Callable[[], None]] = [
            self.trigger, self.backfill, self.mark_task, self.mark_task, self.mark_stage, self.mark_run, self.clear,
            self.clear, self.edit, self.rename, self.pause, self.delete, self.create_event, self.wait, self.wait,
        ]  # fmt: skip
        action = self.random.choice(actions)
        self.log.append(action.__name__)
        try:
            action()
        except (UserError, TransientError, IndexError) as refused:  # IndexError: there is no run yet
            self.log[-1] += f" (refused: {str(refused)[:60]})"


@dataclass
class Cluster:
    """A running Airflow with both specs, and the snapshots that `corpus build` publishes."""

    client: AirflowRuns
    lake: Lake
    specs: Path
    allowed: dict[str, dict[str, str]]
    """snapshot id → the SHA-256 of its files"""


def write_spec(specs: Path, name: str, pages: int) -> None:
    text = SPEC.replace("NAME", name).replace("APPROVAL", APPROVAL.get(name, "none")).replace("PAGES", str(pages))
    (specs / "new").write_text(text)
    (specs / "new").rename(specs / f"{name}.yaml")


@pytest.fixture(scope="module")
def cluster(tiny: tuple[Path, Truth], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start all services, deliver the tiny sample, and build both versions of `open` without Airflow."""
    work = tmp_path_factory.mktemp("law")
    (specs := work / "specs").mkdir()
    for name in APPROVAL:
        write_spec(specs, name, PAGES[0])
    with local_airflow(work, specs, S2CORPUS_DATASETS=str(work)) as (_, client):
        lake, allowed = open_lake("s3://corpus"), {}
        deliver_tree(lake, tiny[0])
        with pytest.MonkeyPatch.context() as without_catalog:
            without_catalog.delenv("S2CORPUS_CATALOG")
            for pages in PAGES:
                write_spec(specs, "open", pages)
                folder = work / f"pages-{pages}"
                run = Run(load_spec(specs / "open.yaml"), AS_OF, open_lake(str(folder / "lake")), folder)
                deliver_tree(run.lake, tiny[0])
                snapshot = build(run)
                allowed[snapshot] = snapshot_bytes(run)
        assert len(allowed) == 2, "the two versions differ"
        for name in APPROVAL:
            client.wait_for_dag(f"corpus_release__{name}")
        yield Cluster(client, lake, specs, allowed)


def check_law(cluster: Cluster, actor: Actor) -> None:
    """Check everything that is published now."""
    guarded = [entry.key for entry in cluster.lake.list("snapshots/guarded/")]
    assert guarded == [], actor.log
    latest = pointer.read_latest(cluster.lake, "open").snapshot
    published = {str(snapshot) for snapshot in markers.list_markers(cluster.lake, "open", "published")}
    assert published | ({latest} if latest else set()) <= cluster.allowed.keys(), actor.log
    for snapshot in published:
        prefix = f"snapshots/{snapshot}/"
        files = {entry.key: cluster.lake.get(entry.key)[0] for entry in cluster.lake.list(prefix)}
        found = {key.removeprefix(prefix): hashlib.sha256(data).hexdigest() for key, data in files.items()}
        assert found == cluster.allowed[snapshot], actor.log


def read_sequences(cluster: Cluster) -> list[int]:
    """Return the sequence numbers of the events of `open`."""
    (asset,) = [
        found
        for found in cluster.client.call("GET", "assets?name_pattern=corpus_snapshot__open")["assets"]
        if found["name"] == "corpus_snapshot__open"
    ]
    events = cluster.client.call("GET", f"assets/events?asset_id={asset['id']}&limit=100")["asset_events"]
    return [event["extra"]["sequence"] for event in events if "sequence" in event["extra"]]


def check_events(cluster: Cluster) -> None:
    """Check that each sequence number was sent once, and no later than the pointer has moved (SPEC §10.18)."""
    sent = read_sequences(cluster)
    assert len(sent) == len(set(sent)), sent
    assert max(sent, default=0) <= pointer.read_latest(cluster.lake, "open").sequence


def run_sequence(cluster: Cluster, seed: int) -> None:
    """Act at random, check the law after each action, then let the runs end and check it again."""
    rng = random.Random(seed)
    actor = Actor(cluster.client, cluster.specs, rng, rng.choice(sorted(APPROVAL)))
    cluster.client.unpause(actor.dag)
    actor.log.append(f"seed {seed}, {actor.name}: trigger")
    with suppress(UserError):
        actor.client.trigger(actor.dag, START, AS_OF, {})
    for _ in range(ACTIONS_PER_SEQUENCE):
        actor.act()
        check_law(cluster, actor)
    deadline = time.monotonic() + 120
    waiting = ("awaiting_input", "up_for_retry")
    while time.monotonic() < deadline:
        active = [run["dag_run_id"] for run in actor.runs() if run["state"] not in ENDED]
        if all(any(t["state"] in waiting for t in actor.client.tasks(actor.dag, run)) for run in active):
            break
        time.sleep(2)
        check_law(cluster, actor)
    check_law(cluster, actor)
    check_events(cluster)
    print("\n".join(actor.log))
    for run in actor.runs():  # the next sequence begins without runs in progress
        if run["state"] not in ENDED:
            with suppress(UserError, TransientError):
                actor.client.call("PATCH", f"dags/{actor.dag}/dagRuns/{quote(run['dag_run_id'])}", {"state": "failed"})


@pytest.mark.long
def test_run_of_a_renamed_spec_publishes_and_sends_one_event(cluster: Cluster) -> None:
    """Without any publication, the law would be true but empty. Publishing again sends no event."""
    write_spec(cluster.specs, "open", PAGES[0])
    actor = Actor(cluster.client, cluster.specs, random.Random(0), "open")
    cluster.client.unpause(actor.dag)
    run = actor.client.trigger(actor.dag, START, AS_OF, {})
    operator = Operator(cluster.client, actor.dag)
    operator.wait(run, "intake.plan", "success")
    write_spec(cluster.specs, "current", PAGES[0])
    (cluster.specs / "open.yaml").unlink()
    assert operator.end(run, 600) == "success", operator.why(run)
    cluster.client.wait_for_dag("corpus_release__current")
    assert cluster.client.call("GET", "variables/s2corpus_run__open", absent={}) == {}
    latest = pointer.read_latest(cluster.lake, "open")
    assert latest.snapshot in cluster.allowed and latest.sequence == 1
    check_law(cluster, actor)
    assert read_sequences(cluster) == [1]
    (cluster.specs / "current.yaml").unlink()
    write_spec(cluster.specs, "open", PAGES[0])
    operator.clear(run, "publish")
    assert operator.end(run, 300) == "success", operator.why(run)
    assert operator.state(run, "publish") == "skipped"
    assert read_sequences(cluster) == [1]


@pytest.mark.parametrize("seed", [*QUICK, *(pytest.param(seed, marks=pytest.mark.long) for seed in LONG)])
def test_no_sequence_of_actions_publishes_what_build_refuses(cluster: Cluster, seed: int) -> None:
    run_sequence(cluster, seed)
