"""400 drops of five PDFs arrive one after the other: each run processes all that exist when it starts (docs/what-happens-if.md)."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from devtools.local.airflow_runs import AirflowRuns
from s2corpus.deliveries.status import iterate_statuses
from s2corpus.storage.lake import open_lake
from tests.local_airflow import local_airflow
from tests.standin_grobid import StandIn
from tests.unit.s2corpus.deliveries.samples import deliver
from tests.unit.s2corpus.extractors.test_extract_stage import papers
from tests.waiting import until

pytestmark = [
    pytest.mark.services, pytest.mark.airflow, pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(3600),
]  # fmt: skip
DAG, DROPS, PDFS = "pdf_drops", 400, 5
PLANNED = re.compile(r"(\d+) events; (\d+) drops and deliveries to process")


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[AirflowRuns, StandIn]]:
    """Start all services, with a search for drops every two seconds and an extractor that counts its uploads."""
    (specs := tmp_path_factory.mktemp("specs")).joinpath("one.yaml").write_text("name: one\n")
    folder, variables = tmp_path_factory.mktemp("many"), {"S2CORPUS_DROPS_SECONDS": "2"}
    with StandIn() as grobid, local_airflow(folder, specs, GROBID_URL=grobid.url, **variables) as (_, client):
        yield client, grobid


def test_each_run_takes_all_drops_that_exist(airflow: tuple[AirflowRuns, StandIn], tmp_path: Path) -> None:
    client, grobid = airflow
    lake = open_lake("s3://corpus")
    client.wait_for_dag(DAG, 300)
    client.unpause(DAG)
    files = {f"{number}.pdf": data for number, data in enumerate(papers(PDFS).values())}
    names = [f"drops/many-{number:03}" for number in range(DROPS)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: deliver(lake, name, files), names))

    def find_runs() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = client.call("GET", f"dags/{DAG}/dagRuns?limit=200")["dag_runs"]
        return sorted(found, key=lambda run: str(run["start_date"]))

    def are_done() -> bool:
        worked = sum(row.outcome == "processed" for row in iterate_statuses(lake))
        return worked == DROPS and all(run["state"] == "success" for run in find_runs())

    until(are_done, lambda: f"runs: {[run['state'] for run in find_runs()]}", 3000, 2)
    taken = []
    for run in find_runs():
        (task,) = (t for t in client.tasks(DAG, run["dag_run_id"]) if t["task_id"] == "plan")
        (found,) = filter(None, map(PLANNED.search, client.log(DAG, run["dag_run_id"], task)))
        taken.append(int(found[2]))
    events = client.call("GET", "assets/events?limit=1000")["asset_events"]
    print(f"{DROPS} drops of {PDFS} PDFs: {len(events)} events, {len(taken)} runs, of {taken} drops")
    assert sum(taken) == DROPS, "each drop is in one run"
    assert taken.count(0) <= 1, "no run is idle, except one for an event that arrived after its drops were taken"
    assert len(taken) <= DROPS // 10
    starts_and_ends = [(run["start_date"], run["end_date"]) for run in find_runs()]
    assert all(end <= start for (_, end), (start, _) in pairwise(starts_and_ends))
    assert set(grobid.uploads.values()) == {1} and len(grobid.uploads) == PDFS, "no PDF is extracted twice"
