"""A corpus in operation, under a real scheduler on PostgreSQL: drops arrive, and releases are scheduled, approved,
rejected, stopped, accepted, cleared and backfilled. The tests depend on one another and run in order.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import orjson
import pytest

from devtools.local import Condition, Services
from devtools.local.airflow import APPROVER
from devtools.local.airflow_runs import AirflowRuns
from devtools.local.postgres import Postgres
from devtools.local.release import make_release, own_interval
from devtools.sample.deliver import write_ready
from devtools.sample.truth import Truth
from s2corpus.catalog import Catalog
from s2corpus.deliveries.adding import add_papers
from s2corpus.deliveries.status import iterate_statuses
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.pipeline import acceptance, checks, publication, runner, sealed
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.snapshot import pointer
from s2corpus.spec_files import find_spec, load_spec
from s2corpus.storage.lake import Lake, open_lake
from tests.e2e.operating import Heard, Operator, check_lineage, listening, month
from tests.local_airflow import local_airflow
from tests.releases import ROOT, snapshot_bytes
from tests.waiting import until

pytestmark = [
    pytest.mark.services,
    pytest.mark.airflow,
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.timeout(3600),  # The limit is long because the machine may be busy.
]

FIRST, SECOND, LATEST = month(3), month(2), month(1)
"""starts of the intervals; a release includes drops that were ready before its interval's end"""
REFUSED = "nothing_refused"
BLOCKED = "select.drift_of_selected_pdfs_block"
REASON = "a test scanner delivered empty files; they were counted"
SPEC = f"""
name: NAME
description: A spec in an operator's own folder
schedule: {{cron: "0 0 1 * *", start_date: {FIRST:%Y-%m-%d}, late_after_hours: 0.005}}
export: {{approval: APPROVAL, files: 3}}
quality: {{drift_min_n: 5}}
resources: {{pdfs_per_shard: 20, papers_per_shard: 40, max_tasks: 2, memory_mb: 512}}
"""


Reference = dict[tuple[str, int], tuple[str, dict[str, str]]]


@dataclass
class Operated:
    """A running Airflow, with receivers for its alerts."""

    operator: Operator
    lake: Lake
    catalog: Catalog
    heard: Heard
    specs: Path
    work: Path
    local: Services
    extracted: dict[str, str] = field(default_factory=dict)
    """the extractions that the DAG of drops made"""

    def run(self, as_of_month: int, lake: Lake | None = None, spec: str = "monthly") -> Run:
        return Run(load_spec(self.specs / f"{spec}.yaml"), month(as_of_month), lake or self.lake, self.work)

    def latest(self) -> str | None:
        return pointer.read_latest(self.lake, "monthly").snapshot

    def state(self, run: Run) -> str | None:
        """Return the state of a release in the catalog."""
        found = self.catalog.release(run.release_id)
        return found.state if found else None

    def extractions(self) -> dict[str, str]:
        """Return the ETag of every stored extraction; a repeated extraction would change the ETag."""
        return {entry.key: self.lake.etag(entry.key) for entry in self.lake.list("stored_tei/")}


@pytest.fixture(scope="module")
def delivered(tiny: tuple[Path, Truth], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the tiny sample, a drop of files that are not PDFs, ready only in the second month, and a drop
    that differs from its `_READY`.
    """
    folder = tmp_path_factory.mktemp("delivered") / "tree"
    shutil.copytree(tiny[0], folder)
    broken = {f"{number:02d}.pdf": f"no PDF, number {number}\n".encode() for number in range(20)}
    write_ready(folder / "drops" / "2023-09-broken", broken, (SECOND + timedelta(days=3)).isoformat())
    write_ready(folder / "drops" / "2023-09-other", {"00.pdf": b"listed"}, (SECOND + timedelta(days=4)).isoformat())
    (folder / "drops" / "2023-09-other" / "00.pdf").write_bytes(b"another")
    return folder


@pytest.fixture(scope="module")
def operated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operated]:
    """Start all services with a folder of test specs, and configure both alert channels as an operator would."""
    work = tmp_path_factory.mktemp("operated")
    specs = work / "specs"
    specs.mkdir()
    for name, approval in (("monthly", "other"), ("beside", "none")):
        (specs / f"{name}.yaml").write_text(SPEC.replace("NAME", name).replace("APPROVAL", approval))
    shutil.copy(ROOT / "include" / "releases" / "own.yaml", specs)
    (datasets := work / "datasets").mkdir()
    (datasets / "contexts.yaml").write_text("name: contexts\ndataset: contexts\nreleases: [monthly]\n")
    lineage = {"transport": {"type": "file", "log_file_path": str(work / "lineage"), "append": True}}
    (work / "openlineage.yml").write_bytes(orjson.dumps(lineage))
    variables = {
        "S2CORPUS_DATASETS": str(datasets), "S2CORPUS_DROPS_SECONDS": "1", "OPENLINEAGE_CONFIG": str(work / "openlineage.yml"),
    }  # fmt: skip
    with listening() as heard:
        variables["S2CORPUS_ALERTS_WEBHOOK"] = f"{heard.url}/hook/secret-token"
        with local_airflow(work, specs, **variables) as (local, client):
            mail = {"from_email": "corpus@example.org", "to": "ann@example.org, bob@example.org"}
            connection = {
                "connection_id": "s2corpus_alerts_mail", "conn_type": "smtp", "host": "127.0.0.1", "port": heard.smtp_port,
                "extra": orjson.dumps({**mail, "disable_ssl": True, "disable_tls": True}).decode(),
            }  # fmt: skip
            client.call("POST", "connections", connection)
            approver = AirflowRuns(local.endpoints().airflow_url, APPROVER, local.state.secrets()["airflow-approver"])
            operator = Operator(client, "corpus_release__monthly", approver)
            for dag in (operator.dag, "corpus_dataset__contexts__monthly"):
                client.wait_for_dag(dag)
            client.unpause("corpus_dataset__contexts__monthly")
            lake, catalog = open_lake("s3://corpus"), Catalog(os.environ["S2CORPUS_CATALOG"])
            yield Operated(operator, lake, catalog, heard, specs, work, local)


@pytest.fixture(scope="module")
def reference(operated: Operated, delivered: Path) -> Reference:
    """Build the same releases one after the other without Airflow. Return snapshot id and bytes by spec and month."""
    built: dict[tuple[str, int], tuple[str, dict[str, str]]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("S2CORPUS_CATALOG")
        lake = open_lake(str(operated.work / "reference"))
        deliver_tree(lake, delivered)
        for spec, ago in (("monthly", 2), ("monthly", 1), ("beside", 0)):
            run = operated.run(ago, lake, spec)
            if ago == 1:
                acceptance.accept(lake, run.release_id, {BLOCKED: REASON}, "somebody else", checks.list_all_checks())
            run = sealed.seal(run)
            for name in STAGE_NAMES:
                runner.run_stage(run, name)
            sealed.store_answer(run, "approved", APPROVER, "", f"{run.as_of:%Y-%m-%d}")
            publication.publish(run)
            built[spec, ago] = (run.snapshot_id, snapshot_bytes(run))
    return built


def test_drops_are_processed_before_any_release(operated: Operated, delivered: Path) -> None:
    operated.operator.client.wait_for_dag("pdf_drops")
    operated.operator.client.unpause("pdf_drops")
    folders = {f"{path.parent.relative_to(delivered).as_posix()}/" for path in delivered.glob("**/_READY")}
    deliver_tree(operated.lake, delivered)

    def ended() -> set[str]:
        rows = iterate_statuses(operated.lake)
        return {row.folder for row in rows if row.outcome.startswith(("processed", "refused"))}

    until(lambda: ended() == folders, lambda: [str(row) for row in iterate_statuses(operated.lake)])
    operated.extracted |= operated.extractions()
    assert operated.extracted


def test_canceled_release_resumes_from_the_cleared_stage(operated: Operated) -> None:
    operator = operated.operator
    operator.client.unpause(operator.dag)
    run = operator.run_of(LATEST)
    operator.wait(run, "cluster.work", "running", "success")
    operator.cancel(run)
    assert operator.end(run) == "failed"
    before = operator.tasks(run)
    operator.clear(run, "cluster.work")
    operator.wait(run, "approve", "awaiting_input")
    after = operator.tasks(run)
    began = {key: (t["start_date"], t["try_number"]) for key, t in before.items()}
    again = {key for key, t in after.items() if began.get(key) not in (None, (t["start_date"], t["try_number"]))}
    first = STAGE_NAMES.index("cluster")
    assert not {task for task, _ in again if task.partition(".")[0] in STAGE_NAMES[:first]}, "it does nothing twice"
    assert ("cluster.work", -1) in again
    assert operated.extractions() == operated.extracted, "the release sends nothing to the extractor"


def test_scheduled_release_is_published_after_approval(operated: Operated) -> None:
    operator, run = operated.operator, operated.operator.run_of(LATEST)
    release = operated.run(0)
    operator.wait(run, "approve", "awaiting_input")
    assert operated.latest() is None, "nothing is published before somebody approves"
    assert operated.state(release) == "awaiting"
    asked = operator.answer(run, "Approve", "looks right")
    assert release.snapshot_id in asked and "It has no parent" in asked
    assert operator.end(run) == "success"
    assert operated.latest() == release.snapshot_id
    (said,) = operated.catalog.approvals(release.release_id)
    assert (said.what, said.who, said.answer, said.reason) == ("publish", APPROVER, "approved", "looks right")
    mark = orjson.loads(operated.lake.get(f"snapshots/monthly/published/{release.snapshot_id}")[0])
    assert (mark["approved"]["by"], mark["approved"]["note"]) == (APPROVER, "looks right")
    assert operated.state(release) == "published"
    dataset = Operator(operator.client, "corpus_dataset__contexts__monthly")
    list_runs = f"dags/{dataset.dag}/dagRuns"
    (made,) = until(lambda: operator.client.call("GET", list_runs)["dag_runs"], "publishing started no dataset")
    assert (made["run_type"], made["partition_key"]) == ("asset_triggered", f"{release.as_of:%Y-%m-%dT%H:%M:%SZ}")
    assert dataset.end(made["dag_run_id"]) == "success", dataset.why(made["dag_run_id"])
    assert operated.lake.size(f"datasets/contexts/{release.snapshot_id}/manifest.json")


def test_backfilled_release_waits_for_the_earlier_one(operated: Operated) -> None:
    operator = operated.operator
    operator.backfill(FIRST, SECOND, operated.local.state.root)
    first, second, latest = (operator.run_of(start) for start in (FIRST, SECOND, LATEST))
    operator.wait(first, "approve", "awaiting_input")
    operator.clear(latest, "intake.plan")
    operator.wait(latest, "intake.plan", "up_for_reschedule")
    assert operator.state(second, "intake.plan") != "success", "its parent is not published yet"
    before = operator.tasks(first)["approve", -1]["try_number"]
    operator.answer(first, "Approve", "mine", as_starter=True)
    operator.wait_for_try(first, "approve", before + 1)
    refused = f"admin started its run and may not approve {operated.run(2).release_id}"
    operator.answer(first, "Approve", "")
    assert operator.end(first) == "success"
    operator.wait(second, "intake.plan", "success")
    assert operator.state(latest, "intake.plan") != "success", "no other release slips in between two of a backfill"
    operator.cancel(latest)
    said = operated.catalog.approvals(operated.run(2).release_id)
    assert [(a.who, a.answer) for a in said] == [("admin", "refused"), (APPROVER, "approved")]
    assert said[0].reason.startswith(refused)
    assert operated.heard.texts(f"{operated.run(2).release_id}: approval refused")
    assert operated.extractions() == operated.extracted
    assert pointer.was_published(operated.lake, operated.run(2).snapshot_id)
    assert operated.latest() == operated.run(0).snapshot_id, "an earlier month does not become the latest"
    offending = [q.offending for q in operated.catalog.quality(operated.run(2).release_id) if q.name == REFUSED]
    assert offending == [0], "a drop that was broken later is not counted"


def test_failing_check_stops_the_release_with_an_alert(operated: Operated) -> None:
    operator, run = operated.operator, operated.operator.run_of(SECOND)
    release = operated.run(1)
    assert operator.end(run) == "failed"
    tasks = operator.tasks(run)
    assert tasks["select.quality", -1]["state"] == "failed"
    assert not {
        task for (task, _), t in tasks.items() if t["state"] == "success" and task.startswith(("extract", "export"))
    }
    assert operated.state(release) == "stopped"
    subject = f"{release.release_id}: select (quality) failed"
    mails = until(lambda: operated.heard.about(subject), "no mail was sent")
    (told,) = operated.heard.texts(subject)
    assert BLOCKED in told and "docs/runbook.md#stage-select" in told and len(mails) == 1
    assert operated.heard.texts(f"{release.release_id}: late"), "the deadline passed while it waited"


def test_overridden_check_continues_and_rejection_publishes_nothing(operated: Operated) -> None:
    operator, run = operated.operator, operated.operator.run_of(SECOND)
    release = operated.run(1)
    words = ["accept", release.release_id, BLOCKED, "--reason", REASON, "--by", "ann"]
    subprocess.run([sys.executable, "-m", "s2corpus", *words], check=True)
    before = operator.tasks(run)
    operator.clear(run, "select.quality")
    asked = operator.answer(run, "Reject", "one month without it")
    assert f"overridden by ann: {REASON}" in asked
    assert f"since its parent `{operated.run(2).snapshot_id}`" in asked
    assert operator.end(run) == "success", "a rejection is an answer, not a failure"
    after = operator.tasks(run)
    assert after["publish", -1]["state"] == "skipped"
    for task in (("intake.plan", -1), ("intake.quality", -1), ("select.work", 0)):
        assert after[task]["start_date"] == before[task]["start_date"], f"{task} was done again"
    assert not pointer.was_published(operated.lake, release.snapshot_id)
    assert operated.state(release) == "rejected"
    assert [(a.what, a.who, a.answer, a.reason) for a in operated.catalog.approvals(release.release_id)] == [
        (BLOCKED, "ann", "accepted", REASON),
        ("publish", APPROVER, "rejected", "one month without it"),
    ]
    assert [q.offending for q in operated.catalog.quality(release.release_id) if q.name == REFUSED] == [1]


def test_second_approval_publishes_the_undisturbed_bytes(operated: Operated, reference: Reference) -> None:
    operator, run = operated.operator, operated.operator.run_of(SECOND)
    operator.clear(run, "approve")
    operator.answer(run, "Approve", "as agreed")
    assert operator.end(run) == "success"
    for ago in (2, 1):
        release = operated.run(ago)
        assert (release.snapshot_id, snapshot_bytes(release)) == reference["monthly", ago]
    manifest = orjson.loads(operated.lake.get(f"snapshots/{operated.run(1).snapshot_id}/manifest.json")[0])
    assert manifest["overrides"] == {BLOCKED: REASON}


def test_second_backfill_has_the_same_bytes(operated: Operated, reference: Reference) -> None:
    operator, published = operated.operator, operated.latest()
    operator.wait_for_backfills()
    command = [sys.executable, "-m", "airflow", "backfill", "create", "--dag-id", operator.dag]
    command += ["--from-date", f"{FIRST:%Y-%m-%d}", "--to-date", f"{LATEST:%Y-%m-%d}"]
    subprocess.run([*command, "--reprocess-behavior", "completed", "--max-active-runs", "3"], check=True)
    for start in (FIRST, SECOND):
        assert operator.end(operator.run_of(start)) == "success", "an approved release needs no second approval"
    for ago in (2, 1):
        release = operated.run(ago)
        assert (release.snapshot_id, snapshot_bytes(release)) == reference["monthly", ago]
    run, release = operator.run_of(LATEST), operated.run(0)
    operator.let_pass_the_time_to_answer(run)
    assert operator.end(run) == "success"
    assert operator.tasks(run)["publish", -1]["state"] == "skipped", "no answer in time is a rejection"
    assert release.parent == reference["monthly", 1][0], "the release published before it is its parent"
    assert operated.latest() == published != release.snapshot_id
    assert operated.catalog.approvals(release.release_id)[-1].answer == "no answer"
    assert operated.heard.texts(f"{release.release_id}: not published")
    assert operated.extractions() == operated.extracted


def test_two_folders_of_one_day_are_two_releases(operated: Operated, delivered: Path, tmp_path: Path) -> None:
    """Do twice what `make release PDFS=…` does."""
    made = []
    pdfs = sorted((delivered / "drops").glob("*/*.pdf"))[:4]
    for number in (0, 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        for path in pdfs[2 * number : 2 * number + 2]:
            shutil.copy(path, folder)
        added = add_papers(operated.lake, load_spec(find_spec("own")), folder)
        start, end = own_interval(added.uploaded.ready_at)
        made.append(make_release(operated.local.endpoints(), "own", start, end, scheduled=False))
    first, second = made
    assert first.as_of.date() == second.as_of.date() and first.release_id != second.release_id
    assert first.snapshot_id != second.snapshot_id
    assert pointer.read_latest(operated.lake, "own").snapshot == second.snapshot_id
    check_lineage(operated.work / "lineage", second)


def test_killed_workers_and_restarts_do_not_change_bytes(operated: Operated, reference: Reference) -> None:
    """Kill a worker in each stage. PostgreSQL restarts, the scheduler is killed, and a second run of the interval waits."""
    beside, local = Operator(operated.operator.client, "corpus_release__beside"), operated.local
    beside.client.unpause(beside.dag)
    run, release = beside.run_of(LATEST), operated.run(0, spec="beside")
    second = beside.client.trigger(beside.dag, LATEST, month(0), {}, logical_date=LATEST + timedelta(days=1))
    killed = set()
    for stage in STAGE_NAMES:
        killed.add(beside.kill_a_worker(run, stage))
        if stage == "select":
            local._stop([Postgres(local.state)])
            local.up()
        elif stage == "cluster":
            (scheduler,) = (status for status in local.status() if status.name == "airflow-scheduler")
            os.killpg(scheduler.pid, signal.SIGKILL)
            until(lambda: Condition.STOPPED in {status.condition for status in local.status()}, "the scheduler lives")
            local.up()
    assert beside.client.state(beside.dag, second) == "queued"
    assert beside.end(run) == "success", beside.why(run)
    assert killed <= {key for key, task in beside.tasks(run).items() if task["try_number"] > 1}
    assert beside.end(second) == "success", beside.why(second)
    did = {task for (task, _), t in beside.tasks(second).items() if t["state"] == "success"}
    assert {f"{stage}.{step}" for stage in STAGE_NAMES for step in ("work", "quality")} < did
    made, (id_, expected) = snapshot_bytes(release), reference["beside", 0]
    assert (release.snapshot_id, [n for n in made | expected if made.get(n) != expected.get(n)]) == (id_, [])
