"""Every dataset has the same bytes each time, is described, and only its changed parts are rebuilt."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import orjson
import pytest

from s2corpus.datasets import runner
from s2corpus.datasets.job import Job
from s2corpus.datasets.registry import DATASETS
from s2corpus.datasets.source import open_published_snapshot
from s2corpus.datasets.spec import DatasetSpec, load_dataset_spec
from s2corpus.datasets.summary import summary
from s2corpus.errors import QualityBlocked, UserError
from s2corpus.storage.lake import open_lake
from s2corpus_reader.files import file_number
from tests.snapshots import write_snapshot
from tests.unit.datasets.small import content, job, papers


@pytest.mark.parametrize("name", DATASETS)
def test_same_snapshot_and_rules_give_same_bytes(name: str, lake: Path, made: dict[str, Job], tmp_path: Path) -> None:
    again = job(lake, name, tmp_path)
    shards = runner.plan(again)
    runner.work(again, shards[::-1])
    runner.choose(again)
    for shard in shards[::-1]:
        runner.write(again, [shard])
    runner.finish(again)
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
    stats = orjson.loads(one.lake.get(f"{one.prefix}/stats.json")[0])
    steps: dict[str, list[int]] = {}
    for row in stats["funnel"]:
        steps.setdefault(row["step"], []).append(row["count"])
    for step, (entered, *outcomes) in steps.items():
        assert entered == sum(outcomes) > 0, step
    assert stats["licences"]["CC-BY-4.0"] > 0


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
    one = job(tmp_path, name, snapshot=write_snapshot(tmp_path, [], files=2))
    assert not any(runner.make(one).get(figure) for figure in ("sentences", "contexts", "papers", "articles"))
    assert one.published() is not None


def test_lost_file_blocks_publishing(lake: Path, tmp_path: Path) -> None:
    one = job(lake, "contexts", tmp_path)
    shards = runner.plan(one)
    runner.work(one, shards)
    runner.choose(one)
    runner.write(one, shards)
    runner.finish(one)
    one.lake.delete(f"{one.prefix}/contexts/00.parquet")
    with pytest.raises(QualityBlocked, match="files_complete: 1"):
        runner.check(one)
    assert one.lake.size(f"{one.prefix}/manifest.json") is None


def test_snapshot_with_null_license_is_read(tmp_path: Path) -> None:
    """Check a snapshot of an early release, in which a license could be null."""
    one = job(tmp_path, "contexts", snapshot=write_snapshot(tmp_path, [{**row, "licence": None} for row in papers()]))
    runner.make(one)
    assert one.read_counts(0).licences.keys() == {"NOASSERTION"}  # type: ignore[union-attr]  # a made shard has counts


def test_published_files_are_unchanged_and_lost_files_restored(
    lake: Path, made: dict[str, Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = made["contexts"]
    before = content(one)
    one.lake.delete(f"{one.prefix}/contexts/01.parquet")
    runner.make(one)
    assert content(one) == before
    monkeypatch.setattr(
        "s2corpus.datasets.contexts._REJECTION_FACTOR", 0
    )  # Another version of a library could also draw other negatives.
    with pytest.raises(
        UserError, match=r"is published, and contexts/0\d.parquet was built again with different content"
    ):
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
        stats = orjson.loads(one.lake.get(f"{one.prefix}/stats.json")[0])
        assert stats["paper"][figure] == theirs and figure in stats["metrics"]
        assert f"| {theirs} |" in one.lake.get(f"{one.prefix}/README.md")[0].decode()
        assert re.search(rf"{figure} +[\d.,]+ +{theirs}\n", summary(one))


def test_other_rules_with_the_same_name_are_refused(lake: Path, made: dict[str, Job]) -> None:
    spec = DatasetSpec(name="contexts", dataset="contexts", params={"window": 1})
    with pytest.raises(UserError, match="published with other rules"):
        runner.plan(Job(spec, made["contexts"].source, open_lake(str(lake))))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: x\ndataset: nothing\n", "'nothing' is not a dataset: expected one of citeworth"),
        ("name: x\ndataset: contexts\nparams: {windows: 3}\n", "windows: got 3"),
        ("name: x\ndataset: contexts\nparams: {kinds: [word]}\n", "kinds.0: got 'word'"),
        ("name: x\ndataset: citeworth\nparams: {dev_share: 3}\n", "dev_share: got 3"),
        (
            "name: x\ndataset: citeworth\nparams: {dev_share: 0.5, test_share: 0.5}\n",
            "dev_share and test_share leave nothing to train on",
        ),
        ("name: y\ndataset: contexts\n", "expected the name of the file, 'x'"),
        ("name: [", "not readable as YAML"),
    ],
)
def test_wrong_spec_is_refused_with_the_reason(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(UserError, match=said.replace("[", r"\[")):
        load_dataset_spec(tmp_path / "x.yaml")


def test_snapshot_is_found_by_release_and_as_of(lake: Path) -> None:
    with pytest.raises(UserError, match="no snapshot of real as of 2026-04-01T00:00:00Z is published"):
        open_published_snapshot(open_lake(str(lake)), "real", "2026-04-01T00:00:00Z")
    with pytest.raises(UserError, match="is not a timestamp"):
        open_published_snapshot(open_lake(str(lake)), "real", "today")
