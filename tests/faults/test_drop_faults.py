"""A running Airflow is closed to strangers. Each drop is announced and processed once, even if services are killed (docs/drops.md).

A release that is interrupted on the command line continues in Airflow, and the command reports it.
"""

import json
import os
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any
from urllib.parse import quote

import pytest

from devtools.local import Condition, Services
from devtools.local.airflow_runs import AirflowRuns
from devtools.local.postgres import Postgres
from s2corpus.deliveries.expected import read_awaited
from s2corpus.deliveries.status import ArrivalStatus, iterate_statuses
from s2corpus.deployment.http import ask
from s2corpus.ids import RELEASE_DAG, ReleaseId
from s2corpus.pipeline.run import ReleaseTables
from s2corpus.spec_files import releases_folder
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.tables.intake import DELIVERIES
from tests.local_airflow import local_airflow
from tests.releases import ROOT
from tests.standin_grobid import StandIn
from tests.unit.devtools.local.test_services import check_exposure
from tests.unit.pdf2tei.samples import PROSE, TITLE, write_prose
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
    specs = tmp_path_factory.mktemp("specs")
    for path in releases_folder().glob("*.yaml"):
        shutil.copy(path, specs)
    (specs / "live.yaml").write_text("name: live\nschedule: {on_drop: true}\n")
    for name, hours, then in (("patient", 1, "fail"), ("strict", 0.001, "fail"), ("bold", 0.001, "continue")):
        expects = f'cron: null, expects: ["late-{{year}}"], expects_hours: {hours}, without_expected: {then}'
        (specs / f"{name}.yaml").write_text(f'name: {name}\ndrops: ["late-*"]\nschedule: {{{expects}}}\n')
    own = (specs / "own.yaml").read_text().replace("own-*", "careful-*").replace("name: own", "name: careful")
    (specs / "careful.yaml").write_text(f"{own}export: {{approval: other}}\n")
    folder, variables = tmp_path_factory.mktemp("airflow"), {"S2CORPUS_DROPS_SECONDS": "2"}
    with StandIn() as grobid, local_airflow(folder, specs, GROBID_URL=grobid.url, **variables) as (local, client):
        yield local, client, grobid


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
        done = all(folder in found and found[folder].outcome.startswith(("processed", "refused")) for folder in folders)
        return found if done else None

    return until(look, f"not all of {folders[:3]} … are processed", 1500)


def announced(client: AirflowRuns) -> list[int]:
    """Return the number of arrivals in each of the asset's events. A busy machine may repeat an event."""
    page = client.call("GET", "assets/events?limit=1000")["asset_events"]
    return [event["extra"]["payload"]["arrivals"] for event in page]


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
    assert (found["drops/first/"].outcome, found["drops/first/"].outcomes) == ("processed", {"ok": 2})
    assert grobid.requests == 2
    assert [run["state"] for run in all_ended(client)] == ["success"]
    assert set(announced(client)) == {1}
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
    assert outcomes == {"processed": AT_ONCE - 2, "refused:changed": 2}
    assert found["sources/dblp/1/"].rows == 1
    assert found["drops/unfinished/"].outcome == "writing"
    assert sum(announced(client)) >= len(["drops/first/", "drops/second/", "sources/dblp/1/", *many])
    assert len(announced(client)) < AT_ONCE, "an event stands for all arrivals of a poll"
    assert len(runs(client)) <= 2 + AT_ONCE // 4, "a run processes all drops that exist at its start"
    assert set(grobid.uploads.values()) == {1} and len(grobid.uploads) == 8, "no PDF is extracted twice"


Start = Callable[..., tuple[Popen[str], Path]]


@pytest.fixture
def start_release(airflow: Running, tmp_path: Path) -> Iterator[Start]:
    """Start `python -m devtools release` with a PDF that has an abstract; return the process, and the file with its standard output."""
    started: list[Popen[str]] = []

    def start(pdf: bytes, corpus: str = "own") -> tuple[Popen[str], Path]:
        folder, output = tmp_path / f"papers-{len(started)}", tmp_path / f"output-{len(started)}"
        folder.mkdir()
        (folder / "a.pdf").write_bytes(pdf)
        declared = {"name": "a.pdf", "title": TITLE, "authors": ["Ada Byron"], "abstract": f"{PROSE} {write_prose(0)}"}
        (folder / "records.jsonl").write_text(json.dumps(declared))
        command = [sys.executable, "-u", "-m", "devtools", "release", str(folder), corpus]
        environ = os.environ | {"S2CORPUS_STATE": str(airflow[0].state.root)}
        with output.open("w") as file:
            started.append(Popen(command, env=environ, stdout=file, stderr=PIPE, text=True, cwd=ROOT))
        return started[-1], output

    yield start
    for process in started:
        process.kill()
        process.communicate()


def has_printed(process: Popen[str], output: Path, text: str) -> bool:
    return text in output.read_text() or process.poll() is not None


def test_interrupted_release_reports_the_continuing_run(airflow: Running, start_release: Start) -> None:
    """The next call reports that it waits for the earlier run."""
    _, client, grobid = airflow
    grobid.faults = lambda upload: "busy"  # Runs continue until they are marked as failed.
    pdfs = list(papers(11).values())[8:]
    continues = (
        r"the run (\S+) of corpus_release__own continues in Airflow\. To stop it, mark it as failed: http://\S+/\1\. "
    )
    for number, sent, awaited, says in (
        (
            0,
            signal.SIGINT,
            "Starting S3",
            r"the (started services continue to run|drop \S+ is delivered, .*)\. ",
        ),
        (1, signal.SIGINT, "Airflow run", continues),
        (2, signal.SIGTERM, "  waits for the earlier run ", continues),
    ):
        process, output = start_release(pdfs[number])
        until(partial(has_printed, process, output, awaited), f"no {awaited!r}", 300)
        process.send_signal(sent)
        _, errors = process.communicate(timeout=120)
        assert awaited in output.read_text() and process.returncode == 128 + sent, errors
        sentence = rf"python -m devtools: interrupted: {says}`make down` stops all services; their data remain"
        assert re.fullmatch(sentence, errors.strip()), errors
    for run in client.running("corpus_release__own"):
        client.call("PATCH", f"dags/corpus_release__own/dagRuns/{run}", {"state": "failed"})


@pytest.mark.long
def test_release_says_that_it_waits_for_an_approval(airflow: Running, start_release: Start) -> None:
    """So does the next call, which waits for the run that awaits it."""
    _, client, grobid = airflow
    grobid.faults = lambda upload: None
    waits = ("  waits for an approval: ", "  waits for the earlier run {}, which waits for an approval: ")
    earlier = ""
    for pdf, says in zip(list(papers(13).values())[11:], waits, strict=True):
        process, output = start_release(pdf, "careful")
        until(partial(has_printed, process, output, "approval: "), "no approval is awaited", 900)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        runs = f"/dags/{RELEASE_DAG}careful/runs/"
        link = f"{runs}{earlier}" if earlier else "/tasks/approve"
        assert any(
            line.startswith(says.format(earlier)) and line.endswith(link) for line in output.read_text().splitlines()
        ), errors
        earlier = earlier or client.running(f"{RELEASE_DAG}careful")[0]
    for run in client.running(f"{RELEASE_DAG}careful"):
        client.call("PATCH", f"dags/{RELEASE_DAG}careful/dagRuns/{quote(run)}", {"state": "failed"})


def test_release_waits_for_expected_drops(airflow: Running) -> None:
    """The sensor waits in the triggerer. After its limit the run fails or continues, as the spec states (SPEC §0.22)."""
    _, client, _ = airflow
    lake = open_lake("s3://corpus")
    deliver(lake, "drops/late-2022", {"a.pdf": b"no PDF"})
    runs = {}
    for name in ("patient", "strict", "bold"):
        client.wait_for_dag(dag := f"{RELEASE_DAG}{name}")
        client.unpause(dag)
        runs[name] = client.trigger(dag, datetime(2023, 1, 1, tzinfo=UTC), datetime(2023, 2, 1, tzinfo=UTC), {})

    def state(name: str, task: str) -> Any:
        tasks = {one["task_id"]: one["state"] for one in client.tasks(f"{RELEASE_DAG}{name}", runs[name])}
        return tasks[f"intake.{task}"]

    until(lambda: state("patient", "wait_for_drops") == "deferred", "the sensor does not wait in the triggerer")
    missing, end = read_awaited(lake, ReleaseId("patient-20230201")) or ([], None)
    assert missing == ["late-2023"] and end is not None
    assert state("patient", "plan") is None
    until(lambda: state("strict", "wait_for_drops") == "failed", "the sensor does not fail")
    until(lambda: state("bold", "plan") == "success", "the release does not continue")
    (task,) = (
        t for t in client.tasks(f"{RELEASE_DAG}strict", runs["strict"]) if t["task_id"] == "intake.wait_for_drops"
    )
    assert any("missing: late-2023" in line for line in client.log(f"{RELEASE_DAG}strict", runs["strict"], task))
    deliver(lake, "drops/late-2023", {"b.pdf": b"another"}, "2023-02-03T00:00:00Z")
    until(lambda: state("patient", "quality") == "success", "the release does not continue after the delivery")
    assert read_awaited(lake, ReleaseId("patient-20230201")) is None
    rows = ReleaseTables(lake, "patient-20230201").rows(DELIVERIES, None)
    taken = {row["delivery"]: row["outcome"] for row in rows if row["kind"] == "drop"}
    assert taken == {"late-2022": "taken", "late-2023": "taken"}
    for name, run in runs.items():
        client.call("PATCH", f"dags/{RELEASE_DAG}{name}/dagRuns/{quote(run)}", {"state": "failed"})
