"""`corpus prune` deletes unneeded data, and nothing that a reader or a later release reads (docs/releases.md#disk)."""

import os
import shutil
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from unittest import mock

import pytest

from s2corpus.catalog import Catalog
from s2corpus.corpora.cleanup import LOG_DAYS
from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.snapshot import pointer
from s2corpus.snapshot.verify import verify
from s2corpus.storage.lake import open_lake
from s2corpus.tables.papers import MEMBERS
from tests.commands import invoke
from tests.releases import PUBLISHED, SECOND, UNFINISHED, Built, build, snapshot_bytes, spec
from tests.ui.conftest import page_over
from tests.ui.pages import AT, read, words

pytestmark = pytest.mark.slow
NEXT = datetime(2023, 6, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def environment(copy: Built, extractor: Mapping[str, str]) -> object:
    variables = {
        "S2CORPUS_CATALOG": copy.catalog, "S2CORPUS_LAKE": copy.lake, "S2CORPUS_STATE": str(copy.folder / "state"),
    }  # fmt: skip
    with mock.patch.dict(os.environ, {**extractor, **variables}):
        yield


def files_in(folder: str) -> dict[str, int]:
    return {entry.key: entry.bytes for entry in open_lake(folder).list("")}


def test_dry_run_names_what_is_deleted_and_changes_nothing(copy: Built) -> None:
    before = files_in(copy.lake)
    planned = invoke("prune", "--keep", 1)
    assert files_in(copy.lake) == before
    assert f"tables of releases\t{PUBLISHED}\twould delete" in planned.output and SECOND not in planned.output
    done = invoke("prune", "--keep", 1, "--delete")
    assert done.exit_code == 0 and planned.stdout.replace("would delete", "deleted") == done.stdout
    gone = before.keys() - files_in(copy.lake).keys()
    assert f"{len(gone):,} files" in done.stderr
    assert all(key.startswith(f"releases/{PUBLISHED}/") for key in gone)
    assert invoke("prune", "--keep", 1).stdout == ""


def test_next_release_restore_and_readers_need_no_deleted_table(built: Built, copy: Built) -> None:
    """The next release of the pruned lake equals the release of an untouched lake, byte for byte."""
    (untouched := copy.folder / "untouched").mkdir()
    shutil.copytree(built.lake, untouched / "lake")
    reference = Run(spec(), NEXT, open_lake(str(untouched / "lake")), untouched)
    with mock.patch.dict(os.environ):
        del os.environ["S2CORPUS_CATALOG"]
        build(reference)
    assert invoke("prune", "--keep", 1, "--delete").exit_code == 0
    assert invoke("doctor").output.startswith("0 disagreements")
    second = copy.runs[SECOND]
    paper = second.table(MEMBERS).read(["paper_id"])["paper_id"][0].as_py()
    assert invoke("explain", paper, "--release", SECOND).exit_code == 0
    pruned = invoke("explain", paper, "--release", PUBLISHED)
    assert isinstance(pruned.exception, UserError) and "were pruned; its snapshot is unchanged" in str(pruned.exception)
    lake = open_lake(copy.lake)
    pointer.yank(lake, second.snapshot_id, "the test withdraws this snapshot")
    assert pointer.restore(lake, second.snapshot_id, "the test restores it").snapshot == second.snapshot_id
    following = Run(spec(), NEXT, lake, copy.folder)
    build(following)
    assert following.parent == second.snapshot_id
    assert (following.snapshot_id, snapshot_bytes(following)) == (reference.snapshot_id, snapshot_bytes(reference))
    for name, parent in ((PUBLISHED, None), (SECOND, PUBLISHED)):
        folders = [open_lake(lake.uri(f"snapshots/{built.runs[one].snapshot_id}")) for one in (name, parent) if one]
        assert not list(verify(folders[0], parent=folders[1] if parent else None))


def test_pruned_release_is_built_again_with_the_same_bytes(built: Built, copy: Built) -> None:
    invoke("prune", "--keep", 1, "--delete")
    first = copy.runs[PUBLISHED]
    expected = built.runs[PUBLISHED].snapshot_id
    shutil.rmtree(copy.folder / "lake" / "snapshots" / expected)
    assert build(first) == expected
    assert snapshot_bytes(first) == snapshot_bytes(built.runs[PUBLISHED])
    assert invoke("explain", first.table(MEMBERS).read()["paper_id"][0].as_py(), "--release", PUBLISHED).exit_code == 0


def test_pruned_snapshot_is_called_pruned(built: Built, copy: Built) -> None:
    first, page = built.runs[PUBLISHED].snapshot_id, page_over(copy.lake, copy.catalog)
    assert invoke("prune", "sample", "--keep", 1, "--snapshots", "--delete").exit_code == 0
    assert f"{first}\tpruned\t" in invoke("list").output
    assert "pruned" in words(read(page, AT[PUBLISHED])) and "unfinished" in words(read(page, AT[UNFINISHED]))
    gone = page.get(f"{AT[PUBLISHED]}/documents/s2orc")
    assert gone.status_code == 410 and "were pruned" in words(gone.text)
    with pytest.raises(UserError, match=r"was pruned: its files were deleted\. Run its release again"):
        pointer.restore(open_lake(copy.lake), first, "the test restores it")


def test_running_release_keeps_its_tables(copy: Built) -> None:
    first = copy.runs[PUBLISHED]
    Catalog(copy.catalog).start_stage(PUBLISHED, "sample", first.as_of, "intake")
    assert PUBLISHED not in invoke("prune", "--keep", 1).output


def test_unused_stores_batches_and_old_logs_are_deleted(copy: Built) -> None:
    lake, logs = open_lake(copy.lake), copy.folder / "state" / "logs"
    unused = ("stored_tei/old/0.1/0", "stored_parses/0", "registered/0", "batches/done")
    for folder in unused:
        lake.put(f"{folder}/a.json", b"{}")
    lake.put("batches/done/processed.json", b"{}")
    lake.put("batches/begun/plan.json", b"{}")
    logs.mkdir(parents=True)
    for name, days in (("old.log", LOG_DAYS + 1), ("new.log", LOG_DAYS - 1)):
        (logs / name).write_text(name)
        os.utime(logs / name, (0, time.time() - days * 86_400))
    lake.put("arrivals/open/drops/a/0.json", b"{}")
    assert "batches of drops" not in invoke("prune", "--keep", 9).output, "a run may read them"
    lake.delete("arrivals/open/drops/a/0.json")
    before = files_in(copy.lake)
    done = invoke("prune", "--keep", 9, "--delete")
    assert done.exit_code == 0, done.output
    assert sorted(before.keys() - files_in(copy.lake).keys()) == sorted(
        [*(f"{folder}/a.json" for folder in unused), "batches/done/processed.json"]
    )
    assert [path.name for path in logs.iterdir()] == ["new.log"]
