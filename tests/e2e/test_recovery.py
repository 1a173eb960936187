"""docs/recovery.md: each prefix of the lake and the catalog are lost one after the other, named by `corpus doctor`, and restored."""

import os
import shutil
from collections.abc import Mapping
from unittest import mock

import orjson
import pytest
from click.testing import Result

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseDecision
from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run
from s2corpus.snapshot import pointer
from s2corpus.snapshot.verify import verify
from s2corpus.storage.lake import open_lake
from tests.commands import invoke
from tests.releases import PUBLISHED, SECOND, UNFINISHED, Built, build, snapshot_bytes, spec

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def environment(copy: Built, extractor: Mapping[str, str]) -> object:
    with mock.patch.dict(os.environ, {**extractor, "S2CORPUS_CATALOG": copy.catalog}):
        yield


def doctor(copy: Built, *options: str) -> Result:
    return invoke("doctor", "--lake", copy.lake, *options)


def lose(copy: Built, prefix: str) -> None:
    path = copy.folder / "lake" / prefix
    assert path.exists()
    path.unlink() if path.is_file() else shutil.rmtree(path)


def test_undamaged_corpus_has_no_disagreement(copy: Built) -> None:
    assert doctor(copy).output == "0 disagreements, 0 repaired\n"


def test_lost_catalog_is_rebuilt_from_the_lake(copy: Built) -> None:
    old = Catalog(copy.catalog)
    old.record_decision(SECOND, "publish", "ann", ReleaseDecision.APPROVED, "checked", copy.runs[SECOND].as_of)
    results = {id_: [(q.stage, q.name, q.verdict) for q in old.quality(id_)] for id_ in copy.runs}
    (copy.folder / "catalog.db").unlink()
    assert "has no tables: run corpus catalog upgrade" in str(doctor(copy).exception)
    for arguments in (["upgrade"], ["check"], ["rebuild", "--lake", copy.lake]):
        assert invoke("catalog", *arguments, catch=False).exit_code == 0
    assert Catalog(copy.catalog).releases() == [], "a dry run adds nothing"
    assert "3 releases of the lake are missing" in doctor(copy).output
    assert doctor(copy, "--repair").exit_code == 0
    new = Catalog(copy.catalog)
    assert {r.release: r.state for r in new.releases()} == {
        PUBLISHED: "published", SECOND: "published", UNFINISHED: "failed",
    }  # fmt: skip
    assert {id_: [(q.stage, q.name, q.verdict) for q in new.quality(id_)] for id_ in copy.runs} == results
    assert doctor(copy).exit_code == 0


def test_approval_and_override_are_restored(copy: Built) -> None:
    run = copy.runs[SECOND]
    approval = {"by": "ann", "at": "2023-03-02T00:00:00+00:00", "note": "checked by hand"}
    lose(copy, f"snapshots/sample/published/{run.snapshot_id}")
    pointer.publish(run.lake, run.snapshot_id, approval)
    runner.accept(run, {"link.recall_reaches_the_goal": "the sample is small"}, "ben")
    (copy.folder / "catalog.db").unlink()
    assert invoke("catalog", "upgrade").exit_code == 0
    assert invoke("catalog", "rebuild", "--lake", copy.lake, "--write").exit_code == 0
    decisions = Catalog(copy.catalog).approvals(SECOND)
    assert {(d.what, d.who, d.answer, d.reason) for d in decisions} == {
        ("publish", "ann", "approved", "checked by hand"),
        ("link.recall_reaches_the_goal", "ben", "accepted", "the sample is small"),
    }


@pytest.mark.parametrize("damage", ["lost", "damaged", "behind"])
def test_pointer_is_repaired(damage: str, copy: Built) -> None:
    path = copy.folder / "lake/snapshots/sample/latest.json"
    content = path.read_bytes()
    before = orjson.loads(content)
    if damage == "lost":
        path.unlink()
    else:
        path.write_bytes(content.replace(b"2023", b"20") if damage == "damaged" else b'{"snapshot": null}')
    found = doctor(copy)
    assert found.exit_code == 1
    assert "cure: corpus doctor --repair" in found.output
    assert doctor(copy, "--repair").exit_code == 0
    after = orjson.loads(path.read_bytes())
    assert {**after, "sequence": 0} == {**before, "sequence": 0}
    assert after["sequence"] > before["sequence"], "a repair is a move; rule 10.18"
    assert doctor(copy).exit_code == 0


def test_lost_snapshot_is_built_again_with_equal_bytes(copy: Built) -> None:
    run = copy.runs[SECOND]
    bytes_ = snapshot_bytes(run)
    lose(copy, f"snapshots/{run.snapshot_id}")
    found = doctor(copy)
    assert found.exit_code == 1
    assert f"run the release {SECOND} again" in found.output
    again = Run(spec(), run.as_of, run.lake, copy.folder)
    build(again)
    assert snapshot_bytes(again) == bytes_
    assert doctor(copy).exit_code == 0


@pytest.mark.long
@pytest.mark.parametrize(
    "prefix", ["releases", "stored_tei", "stored_parses", "arrivals", "batches", "snapshots/sample/published"]
)
def test_lost_prefix_is_restored_by_a_rebuild(prefix: str, copy: Built) -> None:
    if not (copy.folder / "lake" / prefix).exists():
        pytest.skip("this sample has no such folder")
    run = copy.runs[SECOND]
    bytes_ = snapshot_bytes(run)
    lose(copy, prefix)
    for id_ in (PUBLISHED, SECOND):
        build(Run(spec(), copy.runs[id_].as_of, run.lake, copy.folder))
    assert snapshot_bytes(run) == bytes_
    assert not list(verify(open_lake(f"{copy.lake}/snapshots/{run.snapshot_id}")))


def test_snapshots_do_not_need_the_deliveries(copy: Built) -> None:
    lose(copy, "drops")
    lose(copy, "sources")
    assert doctor(copy).exit_code == 0
    assert not list(verify(open_lake(f"{copy.lake}/snapshots/{copy.runs[SECOND].snapshot_id}")))
