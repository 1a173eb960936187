"""Every dataset has the same bytes each time, is described, and only its changed parts are rebuilt."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import orjson
import pytest

from s2corpus.datasets import runner
from s2corpus.datasets.description import summary
from s2corpus.datasets.job import Job
from s2corpus.datasets.protocol import StepResult
from s2corpus.datasets.source import SortedRows, open_published_snapshot
from s2corpus.datasets.spec import DATASETS, load_dataset_spec
from s2corpus.errors import QualityBlocked, UserError
from s2corpus.storage.lake import open_lake
from s2corpus_reader.files import file_number
from tests.snapshots import write_snapshot
from tests.unit.s2corpus.datasets.conftest import build_unchecked, content, job, make, papers, stats


@pytest.mark.parametrize("name", DATASETS)
def test_same_snapshot_and_rules_give_same_bytes(name: str, lake: Path, made: dict[str, Job], tmp_path: Path) -> None:
    again = job(lake, name, tmp_path)
    build_unchecked(again)
    runner.check(again)
    assert content(again) == content(made[name])


@pytest.mark.parametrize("name", DATASETS)
def test_published_dataset_is_described(name: str, made: dict[str, Job]) -> None:
    one = made[name]
    manifest = orjson.loads(one.lake.get(f"{one.prefix}/manifest.json")[0])
    for file in manifest["files"]:
        data = one.lake.get(f"{one.prefix}/{file['path']}")[0]
        assert (len(data), hashlib.sha256(data).hexdigest()) == (file["bytes"], file["sha256"])
    assert {file["path"] for file in manifest["files"]} >= {"README.md", "stats.json", "funnel.csv", "croissant.json"}
    for step in {row["step"] for row in stats(one)["funnel"]}:
        entered, *counts = (row["count"] for row in stats(one)["funnel"] if row["step"] == step)
        assert entered == sum(counts) > 0, step
    assert stats(one)["licences"]["CC-BY-4.0"] > 0


@pytest.mark.parametrize("name", DATASETS)
def test_second_snapshot_processes_changed_shards_only(name: str, lake: Path, made: dict[str, Job]) -> None:
    grown = papers()
    changed = file_number(grown[0]["paper_id"], 3)
    grown[0]["title"] = "Another title"
    folder = write_snapshot(lake, grown, files=3, day="20260501")
    later = job(lake, name, snapshot=folder)
    assert [shard for shard in range(3) if later.read_counts(shard) is None] == [changed]
    runner.plan(later)
    assert later.read_state("plan")["new"] == [changed]
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", DATASETS)
def test_snapshot_without_papers_gives_an_empty_dataset(name: str, tmp_path: Path) -> None:
    metrics = stats(make(tmp_path, name, []))["metrics"]
    assert not any(metrics.get(figure) for figure in ("sentences", "contexts", "papers", "articles"))


def test_lost_file_blocks_publishing(lake: Path, tmp_path: Path) -> None:
    one = job(lake, "contexts", tmp_path)
    build_unchecked(one)
    one.lake.delete(f"{one.prefix}/contexts/00.parquet")
    with pytest.raises(QualityBlocked, match="files_complete: 1"):
        runner.check(one)
    assert one.lake.size(f"{one.prefix}/manifest.json") is None


def test_snapshot_with_null_license_is_read(tmp_path: Path) -> None:
    """Check a snapshot of an early release, in which a license could be null."""
    one = make(tmp_path, "contexts", [{**row, "licence": None} for row in papers()])
    assert one.read_counts(0).licences.keys() == {"NOASSERTION"}  # type: ignore[union-attr]  # a made shard has counts


def test_published_files_are_unchanged_and_lost_files_restored(
    lake: Path, made: dict[str, Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = made["contexts"]
    before = content(one)
    one.lake.delete(f"{one.prefix}/contexts/01.parquet")
    runner.make(one)
    assert content(one) == before
    # Another version of a library could also draw other negatives.
    monkeypatch.setattr("s2corpus.datasets.contexts._REJECTION_FACTOR", 0)
    with pytest.raises(UserError, match=r"is published, and contexts/0\d.parquet was built again with different"):
        runner.make(one)
    assert content(one) == before


def test_number_of_tasks_follows_size_of_the_snapshot(lake: Path) -> None:
    one = job(lake, "contexts")
    assert runner.batches(one, [0, 1, 2]) == [[0, 1, 2]]
    size = one.source.count_bytes
    one.source.count_bytes = lambda shard: size(shard) + (200 << 20)  # type: ignore[method-assign]  # a larger file than the disk should hold
    assert runner.batches(one, [0, 1, 2]) == [[0], [1], [2]]
    one.spec = one.spec.model_copy(update={"max_tasks": 2})
    assert runner.batches(one, [0, 1, 2]) == [[0], [1, 2]]


def test_figures_are_shown_with_those_of_the_paper(made: dict[str, Job]) -> None:
    for name, figure, theirs in (
        ("citeworth", "check_worthy_share", 0.3176), ("pretraining", "papers_share.biomedicine", 0.427),
        ("elsevier", "coverage.author_highlights", 0.6131),
    ):  # fmt: skip
        one = made[name]
        assert stats(one)["paper"][figure] == theirs and figure in stats(one)["metrics"]
        assert f"| {theirs} |" in one.lake.get(f"{one.prefix}/README.md")[0].decode()
        assert re.search(rf"{figure} +[\d.,]+ +{theirs}\n", summary(one))


def test_other_rules_with_the_same_name_are_refused(lake: Path, made: dict[str, Job]) -> None:
    with pytest.raises(UserError, match="published with other rules"):
        runner.plan(job(lake, "contexts", window=1))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dataset: nothing", "'nothing' is not a dataset: expected one of citeworth"),
        ("dataset: contexts\nparams: {windows: 3}", "windows: got 3"),
        ("dataset: contexts\nparams: {kinds: [word]}", "kinds.0: got 'word'"),
        ("dataset: citeworth\nparams: {dev_share: 3}", "dev_share: got 3"),
        ("dataset: citeworth\nparams: {dev_share: 0.5, test_share: 0.5}", "leave nothing to train on"),
        ("dataset: [", "not readable as YAML"),
    ],
)
def test_wrong_spec_is_refused_with_the_reason(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(f"name: x\n{text}\n")
    with pytest.raises(UserError, match=said):
        load_dataset_spec(tmp_path / "x.yaml")
    (tmp_path / "x.yaml").write_text("name: y\ndataset: contexts\n")
    with pytest.raises(UserError, match="expected the name of the file, 'x'"):
        load_dataset_spec(tmp_path / "x.yaml")


def test_snapshot_is_found_by_release_and_as_of(lake: Path) -> None:
    with pytest.raises(UserError, match="no snapshot of real as of 2026-04-01T00:00:00Z is published"):
        open_published_snapshot(open_lake(str(lake)), "real", "2026-04-01T00:00:00Z")
    with pytest.raises(UserError, match="is not a timestamp"):
        open_published_snapshot(open_lake(str(lake)), "real", "today")


def test_tasks_may_count_inputs_and_outcomes_of_one_step() -> None:
    read, wrote = StepResult(), StepResult()
    read.add_input("papers", 6)
    for outcome, number in (("late", 1), ("kept", 2), ("short", 2), ("long", 1)):
        wrote.add_outcome("papers", outcome, number)
    total = StepResult.from_json(read.as_json())
    total.add(StepResult.from_json(wrote.as_json()))
    assert [row[1:] for row in total.list_funnel()] == [("in", 6), ("kept", 2), ("short", 2), ("late", 1), ("long", 1)]


def test_rows_are_found_by_ascending_ids() -> None:
    found = SortedRows(iter([("b", 2), ("d", 4)]))
    assert [found.find(id_) for id_ in "abbcde"] == [None, 2, 2, None, 4, None]
