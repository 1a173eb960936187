"""A running Airflow is closed to strangers. Each drop is announced and processed once, even if services are killed (docs/drops.md)."""

import os
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from devtools.local import Condition, Services
from devtools.local.airflow_runs import AirflowRuns
from devtools.local.postgres import Postgres
from s2corpus.deliveries.status import ArrivalStatus, iterate_statuses
from s2corpus.deployment.http import ask
from s2corpus.ids import RELEASE_DAG
from s2corpus.spec import releases_folder
from s2corpus.storage.lake import Lake, open_lake
from tests.standin_grobid import StandIn
from tests.unit.devtools.local.test_services import check_exposure
from tests.unit.s2corpus.deliveries.samples import deliver
from tests.unit.s2corpus.extractors.test_extract_stage import papers
from tests.waiting import until

pytestmark = [pytest.mark.services, pytest.mark.airflow, pytest.mark.slow, pytest.mark.timeout(3600)]
DAG = "pdf_drops"
AT_ONCE = 18
Running = tuple[Services, AirflowRuns, StandIn]


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Start all services in a separate state folder, with a search for drops every two seconds; yield them with an
    extractor that counts its uploads.
    """
    local = Services(tmp_path_factory.mktemp("airflow") / "state")
    specs = tmp_path_factory.mktemp("specs")
    for path in releases_folder().glob("*.yaml"):
        shutil.copy(path, specs)
    (specs / "live.yaml").write_text("name: live\nschedule: {on_drop: true}\n")
    with pytest.MonkeyPatch.context() as patch, StandIn() as grobid:
        patch.setenv("S2CORPUS_RELEASES", str(specs))
        patch.setenv("S2CORPUS_DROPS_SECONDS", "2")
        patch.setenv("GROBID_URL", grobid.url)
        try:
            endpoints = local.up()
            for name, value in endpoints.environ().items():
                patch.setenv(name, value)
            client = AirflowRuns(endpoints.airflow_url, endpoints.airflow_user, endpoints.airflow_password)
            yield local, client, grobid
        finally:
            local.down()


def test_api_requires_a_password_and_refuses_usual_ones(airflow: Running) -> None:
    url = airflow[0].endpoints().airflow_url
    for path in ("/api/v2/dags", "/api/v2/pools", "/ui/config", "/execution/variables/x"):
        assert ask(f"{url}{path}", seconds=60).status in {401, 403}, path
    for password in ("admin", "", "airflow"):
        body = {"username": "admin", "password": password}
        assert ask(f"{url}/auth/token", method="POST", body=body, seconds=60).status in {400, 401}, password


def test_sockets_are_on_the_loopback_and_secrets_are_private(airflow: Running) -> None:
    check_exposure(airflow[0], "extractor")  # The test has its own extractor.
    assert (airflow[0].state.root / "airflow/passwords.json").stat().st_mode & 0o077 == 0


def ended(lake: Lake, *folders: str) -> dict[str, ArrivalStatus]:
    """Wait until all of these folders are processed or refused; return their rows."""

    def look() -> dict[str, ArrivalStatus] | None:
        found = {row.folder: row for row in iterate_statuses(lake)}
        done = all(folder in found and found[folder].outcome.startswith(("worked", "refused")) for folder in folders)
        return found if done else None

    return until(look, f"not all of {folders[:3]} … are worked on", 1500)


def announced(client: AirflowRuns) -> set[str]:
    """Return the folders named in the asset's events. A busy machine may repeat an event, so their number is not fixed."""
    page = client.call("GET", "assets/events?limit=1000")["asset_events"]
    return {event["extra"]["payload"]["folder"] for event in page}


def runs(client: AirflowRuns) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.call("GET", f"dags/{DAG}/dagRuns?limit=100")["dag_runs"]
    return found


def all_ended(client: AirflowRuns) -> list[dict[str, Any]]:
    until(lambda: all(run["state"] in ("success", "failed") for run in runs(client)), "a run does not end", 1500)
    return runs(client)


def test_drops_are_processed_as_they_arrive(airflow: Running) -> None:
    local, client, grobid = airflow
    lake = open_lake("s3://corpus")
    pdfs = list(papers(8).values())
    client.wait_for_dag(DAG)
    client.unpause(DAG)

    # One drop arrives.
    deliver(lake, "drops/first", {"a.pdf": pdfs[0], "b.pdf": pdfs[1]})
    found = ended(lake, "drops/first/")
    assert (found["drops/first/"].outcome, found["drops/first/"].outcomes) == ("worked", {"ok": 2})
    assert grobid.requests == 2
    assert [run["state"] for run in all_ended(client)] == ["success"]
    assert announced(client) == {"drops/first/"}
    release = f"dags/{RELEASE_DAG}live/dagRuns"
    (started,) = until(lambda: client.call("GET", release)["dag_runs"], "the drop starts no release")
    assert started["data_interval_end"] == "2023-01-01T00:00:01Z", "the second after the drop's ready_at"

    # Triggerer and scheduler are killed, PostgreSQL stops, and all are restarted. Meanwhile drops arrive, and one is incomplete.
    for status in local.status():
        if status.name in ("airflow-triggerer", "airflow-scheduler"):
            os.killpg(status.pid, signal.SIGKILL)
    local._stop([Postgres(local.state)])
    assert {s.name for s in local.status() if s.condition is not Condition.RUNNING} >= {"postgres", "airflow-scheduler"}
    deliver(lake, "drops/second", {"c.pdf": pdfs[2]})
    lake.put("drops/unfinished/d.pdf", pdfs[3])
    local.up()

    # Many drops arrive together: some are bad, one is a delivery, and one existed before.
    for number in range(AT_ONCE):
        bad = number % 10 == 7
        listed = {"a.pdf": b"other"} if bad else None
        deliver(lake, f"drops/many-{number:02}", {"a.pdf": pdfs[number % 8]}, listed=listed)
    deliver(lake, "sources/dblp/1", {"records.jsonl": b'{"record_id": "dblp:1", "title": "A title of a paper"}\n'})
    deliver(lake, "drops/first", {"a.pdf": pdfs[0], "b.pdf": pdfs[1]})
    many = [f"drops/many-{number:02}/" for number in range(AT_ONCE)]
    found = ended(lake, "drops/second/", *many, "sources/dblp/1/")
    all_ended(client)
    outcomes = Counter(found[folder].outcome for folder in many)
    assert outcomes == {"worked": AT_ONCE - 2, "refused:changed": 2}
    assert found["sources/dblp/1/"].rows == 1
    assert found["drops/unfinished/"].outcome == "writing"
    assert announced(client) == {"drops/first/", "drops/second/", "sources/dblp/1/", *many}
    assert len(runs(client)) <= 2 + AT_ONCE // 4, "a run processes all drops that exist at its start"
    assert set(grobid.uploads.values()) == {1} and len(grobid.uploads) == 8, "no PDF is extracted twice"
