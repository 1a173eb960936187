"""Measure what Airflow costs: mapped shards without work, and Airflow's share of a release's time by stage.

    python -m devtools.bench.airflow_share [--shards 300]

The script starts all local services in a separate folder. First it runs a DAG of `--shards` mapped tasks that do
nothing. Then it runs the sample release under Airflow. For comparison it calls the stages of the same release one after
the other. These calls run in one process that has imported everything, with the same S3, PostgreSQL and extractor. The
additional time of a stage under Airflow is Airflow's share.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from devtools import sample
from devtools.local import Services, services
from devtools.local.airflow import airflow_environ
from devtools.local.airflow_runs import AirflowRuns
from devtools.local.follow import follow
from devtools.local.state import project
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.spec import load_spec
from s2corpus.storage.lake import open_lake

LIMIT = 0.6  # wall-clock seconds per shard
NO_WORK = """
from airflow.sdk import DAG, task

@task
def plan(count):
    return list(range(int(count)))

@task(map_index_template="{{ shard }}")
def work(shard):
    pass

with DAG("no_work", schedule=None, params={"shards": 300}):
    work.expand(shard=plan("{{ params.shards }}"))
"""


def dags(folder: Path) -> None:
    """Let the services' Airflow read the project's DAGs and the DAG without work."""
    folder.mkdir()
    for path in (project() / "dags").iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "no_work.py").write_text(NO_WORK)
    patch.object(
        services, "airflow_environ", lambda state: airflow_environ(state) | {"AIRFLOW__CORE__DAGS_FOLDER": str(folder)}
    ).start()


def seconds(task: dict[str, Any], of: str) -> float:
    return datetime.fromisoformat(task[of]).timestamp()


def no_work(client: AirflowRuns, shards: int) -> float:
    """Return the wall-clock seconds per shard, from the start of the first mapped task to the end of the last."""
    client.wait_for_dag("no_work")
    client.unpause("no_work")
    run_id = client.call("POST", "dags/no_work/dagRuns", {"logical_date": None, "conf": {"shards": shards}})[
        "dag_run_id"
    ]
    while (state := client.state("no_work", run_id)) in ("queued", "running"):
        time.sleep(1)
    tasks = client.tasks("no_work", run_id)
    done = [task for task in tasks if task["task_id"] == "work"]
    if state != "success" or len(done) != shards:
        sys.exit(f"no_work ended as {state} with {len(done)} mapped tasks")
    (planned,) = (task for task in tasks if task["task_id"] == "plan")
    return (max(seconds(task, "end_date") for task in done) - seconds(planned, "end_date")) / shards


def release(client: AirflowRuns, start: datetime) -> dict[str, float]:
    """Return the wall-clock seconds of each stage under Airflow, from the end of the previous stage to its end."""
    dag = "corpus_release__sample"
    client.wait_for_dag(dag)
    client.unpause(dag)
    while (found := client.run_of(dag, start)) is None:
        time.sleep(0.3)
    follow(client, dag, found["dag_run_id"])
    tasks = [task for task in client.tasks(dag, found["dag_run_id"]) if task["end_date"]]
    ends = {
        stage: max(seconds(t, "end_date") for t in tasks if t["task_id"].startswith(f"{stage}."))
        for stage in STAGE_NAMES
    }
    run = client.call("GET", f"dags/{dag}/dagRuns/{found['dag_run_id'].replace('+', '%2B')}")
    before, walls = datetime.fromisoformat(run["start_date"]).timestamp(), {}
    for stage, end in ends.items():
        walls[stage], before = end - before, end
    return walls


def alone(tree: Path, scratch: Path) -> dict[str, float]:
    """Return the seconds of each stage without Airflow, in another lake of the same S3."""
    lake = open_lake("s3://corpus/alone")
    deliver_tree(lake, tree)
    run = Run(
        load_spec(project() / "include/releases/sample.yaml"), datetime.fromisoformat(sample.AS_OF), lake, scratch
    )
    walls = {}
    for stage in STAGE_NAMES:
        began = time.perf_counter()
        runner.run_stage(run, stage)
        walls[stage] = time.perf_counter() - began
    return walls


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shards", type=int, default=300)
    shards = parser.parse_args().shards
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        dags(root / "dags")
        local = Services(root / "state")
        try:
            endpoints = local.up()
            os.environ.update(endpoints.environ())
            client = AirflowRuns(endpoints.airflow_url, endpoints.airflow_user, endpoints.airflow_password)
            each = no_work(client, shards)
            print(f"{shards} mapped shards of no work: {each:.2f} s of wall a shard (asked: at most {LIMIT})\n")
            sample.generate(root / "tree")
            deliver_tree(open_lake("s3://corpus"), root / "tree")
            under = release(client, datetime(2023, 1, 1, tzinfo=UTC))
            ours = alone(root / "tree", root)
        finally:
            local.down()
    print(f"\n{'stage':12} {'under Airflow':>14} {'alone':>8} {'Airflow’s share':>16}")
    for stage in (*STAGE_NAMES, "all"):
        wall, own = (sum(under.values()), sum(ours.values())) if stage == "all" else (under[stage], ours[stage])
        print(f"{stage:12} {wall:12.1f} s {own:6.1f} s {max(0, wall - own) / wall:15.0%}")
    sys.exit(each > LIMIT)


if __name__ == "__main__":
    main()
