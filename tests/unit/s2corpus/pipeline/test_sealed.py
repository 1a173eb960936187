"""SPEC §10.15–10.17: a run follows its record, and only stored facts lead to a publication."""

import os
import pwd
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

import orjson
import pytest

from s2corpus.catalog.models import ReleaseDecision
from s2corpus.errors import UserError
from s2corpus.pipeline import acceptance, publication, quality, runner, sealed
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.snapshot import markers, pointer
from s2corpus.spec import ExportRules, ReleaseSpec, ScheduleRules
from s2corpus.storage.lake import open_lake
from tests.commands import invoke
from tests.releases import SECOND, Built, spec

pytestmark = pytest.mark.slow
NOW = datetime(2026, 11, 28, tzinfo=UTC)


@pytest.fixture
def run(built: Built, tmp_path: Path) -> Iterator[Run]:
    """Return a complete release that is not published, in a copy of the lake."""
    shutil.copytree(built.folder / "lake", tmp_path / "lake")
    found = Run(spec(), built.runs[SECOND].as_of, open_lake(str(tmp_path / "lake")), tmp_path)
    for path in (f"published/{found.snapshot_id}", "latest.json"):
        (tmp_path / "lake/snapshots/sample" / path).unlink()
    with mock.patch.dict(os.environ):
        os.environ.pop("S2CORPUS_CATALOG", None)
        yield found


def is_published(run: Run) -> bool:
    return (
        pointer.was_published(run.lake, run.snapshot_id) or pointer.read_latest(run.lake, "sample").snapshot is not None
    )


def release_key(run: Run, name: str) -> Path:
    return run.scratch / "lake" / "releases" / run.release_id / name


def remove_record(run: Run) -> None:
    release_key(run, "_run.json").unlink()


def edit_record(run: Run) -> None:
    path = release_key(run, "_run.json")
    record = orjson.loads(path.read_bytes())
    record["spec"]["select"]["max_pages"] = 1
    path.write_bytes(orjson.dumps(record))


def plan_with_another_spec(run: Run) -> None:
    sealed.seal(Run(spec().model_copy(update={"description": "another"}), run.as_of, run.lake, run.scratch))


def plan_with_other_code(run: Run) -> None:
    path = release_key(run, "_run.json")
    path.write_bytes(path.read_bytes().replace(b'"code": "', b'"code": "0'))


def plan_on_chosen_drops(run: Run) -> None:
    sealed.seal(run, drops=list(run.spec.drops))


def skip_checks(run: Run) -> None:
    """As if `link.quality` was marked as success: it stored nothing."""
    release_key(run, "_quality/link.json").unlink()


def check_other_tables(run: Run) -> None:
    """As if `link.finish` was cleared, and `link.quality` was marked as success."""
    path = release_key(run, "links/_COMMITTED.json")
    path.write_bytes(path.read_bytes() + b" ")


def edit_verdict(run: Run) -> None:
    path = release_key(run, "_quality/link.json")
    path.write_bytes(path.read_bytes().replace(b'"verdict":"pass"', b'"verdict":"warn"', 1))


def fail_check(run: Run) -> None:
    """As if a check that cannot be overridden blocked the release, and its task was marked as success."""
    path = release_key(run, "_quality/link.json")
    verdicts = orjson.loads(path.read_bytes())
    verdicts[0] |= {"verdict": "block", "offending": 1, "rows": [{"paper_id": "x"}]}
    path.write_bytes(orjson.dumps(verdicts))
    checked = release_key(run, "_checked/link.json")
    facts = orjson.loads(checked.read_bytes())
    checked.write_bytes(orjson.dumps(facts | {"verdicts": quality.hash_bytes(path.read_bytes())}))


REFUSED: dict[str, tuple[Callable[[Run], None], str]] = {
    "not planned": (remove_record, "was not planned; clear intake.plan"),
    "edited record": (edit_record, "was changed after it was written"),
    "another spec": (plan_with_another_spec, "the spec differs from the record"),
    "other code": (plan_with_other_code, "was planned with code 0"),
    "trial": (plan_on_chosen_drops, "is a trial: corpus publish"),
    "checks did not run": (skip_checks, "the checks of link did not run: clear link.quality"),
    "checks on other tables": (check_other_tables, "the checks of link ran on other tables: clear link.quality"),
    "edited verdict": (edit_verdict, "the checks of link ran on other tables: clear link.quality"),
    "failed check": (fail_check, r"link\.links_key_is_unique: 1 offending .*cannot be overridden"),
}


def test_complete_release_is_published(run: Run) -> None:
    assert not is_published(run)
    publication.publish(run)
    assert pointer.read_latest(run.lake, "sample").snapshot == run.snapshot_id


def plan_with_other_rules(run: Run) -> Run:
    rules = run.spec.model_copy(update={"select": run.spec.select.model_copy(update={"max_pages": 1})})
    edited = sealed.seal(Run(rules, run.as_of, run.lake, run.scratch))
    runner.run_stage(edited, "intake")
    return edited


def test_work_under_former_rules_is_not_published(run: Run) -> None:
    """As if a person edited the spec, planned the run again, and marked the work and checks of all later stages as success."""
    edited = plan_with_other_rules(run)
    with pytest.raises(UserError, match=r"shard 0 of round 1 of select was not processed with the current rules"):
        runner.finish(edited, "select")
    runner.run_stage(edited, "export")
    with pytest.raises(UserError, match="select ran with other rules or inputs: clear all tasks of select"):
        publication.publish(edited)
    assert not is_published(edited)


def test_plan_under_former_rules_is_not_processed(run: Run) -> None:
    """As if `extract.plan` was marked as success after the selection had changed."""
    edited = plan_with_other_rules(run)
    runner.run_stage(edited, "select")
    runner.work(edited, "extract", [shard.index for shard in edited.read_plan("extract")])
    with pytest.raises(UserError, match="the plan of extract was not processed with the current rules"):
        runner.finish(edited, "extract")


def test_replaced_work_does_not_count(run: Run) -> None:
    """As if a person edited the spec, let one stage work, and restored the spec and marked the stage as success."""
    edited = plan_with_other_rules(run)
    runner.work(edited, "select", [0])
    restored = sealed.seal(Run(run.spec, run.as_of, run.lake, run.scratch))
    runner.run_stage(restored, "intake")
    with pytest.raises(UserError, match="shard 0 of round 1 of select was not processed"):
        runner.finish(restored, "select")
    runner.work(restored, "select", [0])
    runner.finish(restored, "select")


@pytest.mark.parametrize("case", REFUSED)
def test_missing_fact_prevents_publication(case: str, run: Run) -> None:
    disturb, says = REFUSED[case]
    disturb(run)
    with pytest.raises(UserError, match=says):
        publication.publish(run)
    assert not is_published(run)


def with_approval(run: Run, started_by: str = "ann") -> Run:
    rules = run.spec.model_copy(update={"export": run.spec.export.model_copy(update={"approval": "other"})})
    assert rules.digest == run.spec.digest
    return sealed.seal(Run(rules, run.as_of, run.lake, run.scratch), started_by=started_by)


def test_only_a_stored_approval_of_this_snapshot_publishes(run: Run) -> None:
    run = with_approval(run)
    with pytest.raises(UserError, match=r"no person has approved .* Marking a task as success is no approval"):
        publication.publish(run)
    publication.record_answer(run, ReleaseDecision.REJECTED, "bob", "", NOW, "ann")
    with pytest.raises(UserError, match="no person has approved"):
        publication.publish(run)
    with pytest.raises(acceptance.AnotherPerson):
        publication.record_answer(run, ReleaseDecision.APPROVED, "ann", "mine", NOW, "ann")
    publication.record_answer(run, ReleaseDecision.APPROVED, "bob", "read ten texts", NOW, "ann")
    planned_again = with_approval(sealed.seal(run, started_by="someone else"))
    assert planned_again.snapshot_id == run.snapshot_id
    publication.publish(planned_again)
    assert markers.list_markers(run.lake, "sample", "published")[run.snapshot_id]["approved"]["by"] == "bob"


def test_approval_of_another_run_does_not_count(run: Run) -> None:
    run = with_approval(run)
    publication.record_answer(run, ReleaseDecision.APPROVED, "bob", "", NOW, "ann")
    again = sealed.seal(run, started_by="bob")
    with pytest.raises(UserError, match="no person has approved"):
        publication.publish(again)


def test_person_publishes_a_trial_by_command(run: Run) -> None:
    plan_on_chosen_drops(run)
    publish = ("publish", run.snapshot_id, "--lake", run.lake.root, "--reason")
    refused = invoke(*publish, "short")
    assert "is not a reason" in str(refused.exception)
    done = invoke(*publish, "two people read the trial", catch=False)
    assert f"{run.snapshot_id} is published" in done.output
    assert is_published(run)


def test_command_approves_with_the_name_of_its_account(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables of the environment name no other approver."""
    account = pwd.getpwuid(os.getuid()).pw_name
    monkeypatch.setenv("LOGNAME", "bob")
    arguments = ["publish", run.snapshot_id, "--lake", run.lake.root, "--reason", "read ten texts"]
    with_approval(run, started_by=account)
    refused = invoke(*arguments)
    assert f"{account} started its run and may not approve" in str(refused.exception)
    with_approval(run, started_by="ann")
    invoke(*arguments, catch=False)
    assert markers.list_markers(run.lake, "sample", "published")[run.snapshot_id]["approved"]["by"] == account


def test_tasks_read_the_record_and_not_the_spec_file(run: Run) -> None:
    planned = sealed.seal(run, name="scheduled__1", drops=["x*"], accepted={"a": "b"}, started_by="ann")
    opened = sealed.open_run(run.lake, run.release_id, "scheduled__1", run.scratch)
    assert opened.spec == planned.spec
    assert opened.spec.drops == ("x*",)
    with pytest.raises(UserError, match=r"scheduled__1 planned the release .* after this run"):
        sealed.open_run(run.lake, run.release_id, "manual__1", run.scratch)


@pytest.mark.parametrize(
    ("start", "end", "says"),
    [
        (datetime(2029, 12, 1), datetime(2030, 1, 1), "in the future"),
        (datetime(2022, 12, 1), datetime(2023, 1, 1), "before the spec's start date 2023-01-01"),
        (datetime(2024, 2, 1), datetime(2024, 3, 1), "after the spec's end date 2024-01-31"),
    ],
)
def test_interval_outside_the_spec_or_in_the_future_is_refused(start: datetime, end: datetime, says: str) -> None:
    schedule = ScheduleRules.model_validate({"start_date": "2023-01-01", "end_date": "2024-01-31"})
    with pytest.raises(UserError, match=says):
        sealed.check_interval(schedule, start.replace(tzinfo=UTC), end.replace(tzinfo=UTC), NOW)


def test_release_of_the_future_is_not_planned(tmp_path: Path) -> None:
    run = Run(
        ReleaseSpec(name="t", export=ExportRules()), datetime.now(UTC) + timedelta(days=1), open_lake(str(tmp_path)), tmp_path,
    )  # fmt: skip
    with pytest.raises(UserError, match="in the future"):
        sealed.seal(run)


def test_every_stage_is_checked(run: Run) -> None:
    for stage in STAGE_NAMES:
        quality.check_stored(run, stage)
