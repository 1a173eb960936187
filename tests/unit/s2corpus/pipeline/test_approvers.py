"""SPEC §10.12: a user who started a release, or delivered new data in it, cannot approve it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseDecision
from s2corpus.deliveries.upload import deliver, new_delivery
from s2corpus.pipeline import runner
from s2corpus.pipeline.acceptance import AnotherPerson, excluded_people, find_objection
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import load_stage
from s2corpus.spec import ExportRules, ReleaseSpec
from s2corpus.storage.lake import Lake
from s2corpus.tables.parses import EXTRACTIONS, PARSES

PARENT = "t-20230101-00000000"
NOW = datetime(2023, 2, 2, tzinfo=UTC)


def delivered(lake: Lake, folder: Path, drop: str, by: str, ready_at: str) -> None:
    """Deliver a drop as this user, with this time in `_READY`."""
    folder.mkdir(exist_ok=True)
    (folder / f"{drop}.pdf").write_bytes(b"%PDF " + drop.encode())
    deliver(lake, new_delivery("drop", "", drop, by=by), {"a.pdf": folder / f"{drop}.pdf"})
    ready = orjson.loads(lake.get(f"drops/{drop}/_READY")[0])
    lake.put(f"drops/{drop}/_READY", orjson.dumps({**ready, "ready_at": ready_at}))


@pytest.fixture
def release(lake: Lake, tmp_path: Path) -> Run:
    """Return a release after intake. ann delivered before its parent; bob and an anonymous user delivered after it."""
    for drop, by, at in (("old", "ann", "2022-12-15"), ("new", "Bob", "2023-01-15"), ("other", "", "2023-01-16")):
        delivered(lake, tmp_path / "papers", drop, by, f"{at}T00:00:00Z")
    lake.put(f"snapshots/t/published/{PARENT}", b"{}")
    lake.put(f"snapshots/{PARENT}/manifest.json", b'{"spec": "t", "drops": ["*"]}')
    lake.put(f"snapshots/{PARENT}/stats.json", b"{}")
    run = Run(
        ReleaseSpec(name="t", export=ExportRules(approval=True)), datetime(2023, 2, 1, tzinfo=UTC), lake, tmp_path
    )
    runner.work(run, "intake", runner.plan(run, "intake"))
    runner.run_rounds(run, "intake", first=1)
    load_stage("intake").finish(run)
    for table, facts in ((EXTRACTIONS, {"extractor": "e"}), (PARSES, {"converter": "c"})):
        run.table(table).write(0, [])
        run.table(table).commit([0], facts)
    return run


@pytest.mark.parametrize(
    ("who", "started_by", "did"),
    [
        ("bob", None, "delivered drops/new"),
        (" BOB ", "carol", "delivered drops/new"),
        ("carol", "carol", "started its run"),
        ("ann", "carol", None),  # ann's delivery was approved with the parent.
        ("admin", None, None),  # The schedule started this release.
    ],
)
def test_deliverer_and_starter_cannot_approve(release: Run, who: str, started_by: str | None, did: str | None) -> None:
    said = find_objection(release, who, started_by)
    assert said is None if did is None else said is not None and said.startswith(f"{who} {did} and may not approve")


def test_request_names_who_cannot_approve_unless_anyone_can(release: Run) -> None:
    assert excluded_people(release, "carol") == {"Bob": "delivered drops/new", "carol": "started its run"}
    assert excluded_people(release, "bob") == {"bob": "started its run"}
    spec = release.spec.model_copy(update={"export": ExportRules(approval=True, approver="anyone")})
    assert find_objection(Run(spec, release.as_of, release.lake, release.scratch), "bob", "bob") is None
    assert spec.digest == release.spec.digest, "who approves decides no bytes"


def test_refused_approval_is_recorded_and_anybody_may_reject(
    release: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    catalog.migrate()
    catalog.start_stage(release.release_id, "t", release.as_of, "intake")
    monkeypatch.setenv("S2CORPUS_CATALOG", f"sqlite:///{tmp_path / 'catalog.db'}")
    with pytest.raises(AnotherPerson, match=r"bob delivered drops/new .*: another person must answer") as refused:
        runner.record_answer(release, ReleaseDecision.APPROVED, "bob", "mine", NOW)
    (said,) = catalog.approvals(release.release_id)
    assert (said.who, said.answer, said.reason) == ("bob", "refused", str(refused.value))
    runner.record_answer(release, ReleaseDecision.REJECTED, "bob", "a scanner failed", NOW)
    runner.record_answer(release, ReleaseDecision.APPROVED, "dora", "looks right", NOW, "bob")
    assert [a.answer for a in catalog.approvals(release.release_id)] == ["refused", "rejected", "approved"]
