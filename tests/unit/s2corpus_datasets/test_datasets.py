"""Every dataset has the same bytes each time, is described, and only its changed parts are rebuilt.

Vectors of papers (GORC §6.1) are nearest within a field, and both pictures show them.
"""

import hashlib
import shutil
from pathlib import Path

import orjson
import pytest

from s2corpus_datasets import runner
from s2corpus_datasets.job import Job
from s2corpus_datasets.protocol import DatasetBlocked, StepResult
from s2corpus_datasets.shelf import find_similar_papers, list_datasets
from s2corpus_datasets.spec import DATASETS, load_dataset_spec
from s2corpus_reader.files import file_number
from s2orc_parse.errors import UserError
from tests.snapshots import write_snapshot
from tests.unit.s2corpus_datasets.conftest import build_unchecked, citing, content, job, make, papers, rows, stats

PAPER = f"{7:015x}"
CITEWORTHY = "We saw {} frogs in the ponds. They are common in the north. They were shown in the south [1]."


@pytest.mark.parametrize("name", DATASETS.names)
def test_no_dataset_contains_the_token_of_formulas(name: str) -> None:
    """Display formulas are not text: parses have the token `EQUATION` in their place."""
    one = DATASETS.load(name)
    given = {"citeworth": {"min_citations": 1}, "elsevier": {"min_sentences": 1, "max_removed_share": 1}}
    params = one.params.model_validate(given.get(name, {}))
    texts = CITEWORTHY.format("many"), CITEWORTHY.format("EQUATION"), "Here is EQUATION EQUATION [1].", "EQUATION"
    rows = list(one.rows(params, citing(*texts), StepResult()))
    text = " ".join(repr(value) for row in rows for key, value in row.items() if (name, key) != ("figures", "caption"))
    assert rows and "EQUATION" not in text


@pytest.mark.parametrize("name", DATASETS.names)
def test_same_snapshot_and_rules_give_same_bytes(name: str, lake: Path, made: dict[str, Job], tmp_path: Path) -> None:
    again = job(lake, name, tmp_path)
    build_unchecked(again)
    runner.check(again)
    assert content(again) == content(made[name])


@pytest.mark.parametrize("name", DATASETS.names)
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
    assert stats(one)["licenses"]["CC-BY-4.0"] > 0


@pytest.mark.parametrize("name", DATASETS.names)
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


@pytest.mark.parametrize("name", DATASETS.names)
def test_snapshot_without_papers_gives_no_dataset(name: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetBlocked, match="not_empty: 1"):
        make(tmp_path, name, [])
    assert not list(tmp_path.glob("datasets/*/*/manifest.json"))


def test_published_files_are_unchanged_and_lost_files_restored(
    lake: Path, made: dict[str, Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = made["contexts"]
    before = content(one)
    Path(one.lake.uri(f"{one.prefix}/contexts/01.parquet")).unlink()
    runner.make(one)
    assert content(one) == before
    # Another version of a library could also draw other negatives.
    monkeypatch.setattr("s2corpus_datasets.contexts._REJECTION_FACTOR", 0)
    with pytest.raises(UserError, match=r"is published, and contexts/0\d.parquet was built again with different"):
        runner.make(one)
    assert content(one) == before


def test_other_rules_with_the_same_name_are_refused(lake: Path, made: dict[str, Job]) -> None:
    with pytest.raises(UserError, match="published with other rules"):
        runner.plan(job(lake, "contexts", window=1))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dataset: nothing", "no dataset is called 'nothing': expected one of citeworth"),
        ("dataset: citeworth\nparams: {dev_share: 0.5, test_share: 0.5}", "leave nothing to train on"),
        ("dataset: contexts\nparams: {window: 1, window: 2}", "the key 'window' is given twice"),
        ("dataset: contexts\ntask_hours: .inf", "task_hours: got inf"),
    ],
)
def test_wrong_spec_is_refused_with_the_reason(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(f"name: x\n{text}\n")
    with pytest.raises(UserError, match=said):
        load_dataset_spec(tmp_path / "x.yaml")
    (tmp_path / "x.yaml").write_text("name: y\ndataset: contexts\n")
    with pytest.raises(UserError, match="expected the name of the file, 'x'"):
        load_dataset_spec(tmp_path / "x.yaml")


def test_published_datasets_of_a_snapshot_are_listed_with_their_size(made: dict[str, Job]) -> None:
    one = made["elsevier"]
    listed = {row["name"]: row for row in list_datasets(one.lake, one.source.id)}
    assert listed.keys() == made.keys()
    for name, row in listed.items():
        files = content(made[name])
        assert (row["files"], row["bytes"]) == (
            len(files) - 1,
            sum(map(len, files.values())) - len(files["/manifest.json"]),
        )
    assert list_datasets(one.lake, "real-20260101-00000000") == []


def test_similar_papers_are_those_of_the_neighbors(made: dict[str, Job]) -> None:
    one = made["vectors"]
    expected = [row for row in rows(one, "neighbors/") if row["paper_id"] == PAPER]
    found = find_similar_papers(one.lake, one.source.id, PAPER)
    assert found == sorted(expected, key=lambda row: int(row["rank"])) and len(found) == 3
    assert find_similar_papers(one.lake, one.source.id, "e" * 15) == []
    assert find_similar_papers(one.lake, "real-20260101-00000000", PAPER) is None


def test_neighbors_share_fields_and_pictures_show_papers(made: dict[str, Job]) -> None:
    one = made["vectors"]
    metrics = stats(one)["metrics"]
    assert metrics["neighbors_same_field"] > 2 * metrics["chance_same_field"]
    circles = {name: content(one, name)[f"/{name}"].count(b"<circle") for name in ("picture.svg", "arxiv.svg")}
    assert circles == {"picture.svg": 60, "arxiv.svg": 20}
