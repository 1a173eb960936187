"""SPEC §10.10–10.12: export gives equal bytes for any division of the work, and never changes a published snapshot."""

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from lxml import etree

from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.snapshot.pointer import publish
from s2corpus.snapshot.verify import verify
from s2corpus.spec import ExportRules, ReleaseSpec
from s2corpus.stages.export import ExportStage
from s2corpus.storage.local_lake import LocalLake
from tests.unit.s2corpus.snapshot.release import COUNT, content, papers, release, work


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return release(tmp_path_factory.mktemp("release"))


@pytest.mark.parametrize(("buckets", "backwards", "corpus"), [(4, True, 6), (12, False, 6), (12, True, 4)])
def test_division_of_the_work_does_not_change_bytes(tmp_path: Path, buckets: int, backwards: bool, corpus: int) -> None:
    spec = ReleaseSpec.model_validate({"name": "small", "export": {"files": 6, "corpus_files": corpus}})
    one, other = (
        release(tmp_path / str(number), buckets=number, backwards=backwards and number > 1, spec=spec)
        for number in (1, buckets)
    )
    assert content(one) == content(other)


@pytest.mark.parametrize(
    ("rules", "papers", "expected"),
    [
        ({}, 0, (1, 1)), ({}, 5000, (1, 1)), ({}, 5001, (2, 2)), ({}, 10001, (4, 4)), ({}, 10**9, (32, 32)),
        ({"corpus_files": 100}, 3, (1, 100)), ({"files": 30}, 3, (30, 30)),
    ],
)  # fmt: skip
def test_number_of_files_follows_papers_or_spec(rules: dict[str, int], papers: int, expected: tuple[int, int]) -> None:
    """Files double, so that few releases move papers between files (SPEC §10.1)."""
    assert ExportRules.model_validate(rules).count_files(papers) == expected


def test_snapshot_has_all_its_files_and_counts(run: Run) -> None:
    snapshot = LocalLake(Path(run.lake.uri(f"snapshots/{run.snapshot_id}")))
    assert list(verify(snapshot)) == []
    stats = json.loads(snapshot.get("stats.json")[0])
    assert stats["metrics"]["intake"] == {"pdfs": 0, "outcome.taken": 1}, "a later build finds more folders to refuse"
    assert stats["metrics"]["assemble"] == {"entries.with_id": 1}, (
        "the name of the metric says which differ, not a part of it"
    )
    published = {(s, x) for s, splits in stats["sets"].items() for x, counted in splits.items() if counted["documents"]}
    assert published == {(set_, split) for set_ in ("s2orc", "s2ag") for split in ("train", "valid")}
    counts = {(row["stage"], row["outcome"]): row["count"] for row in stats["funnel"]}
    totals = Counter[str]()
    for (stage, _), count in counts.items():
        totals[stage] += count
    assert totals["filter"] == counts["vote", "papers"]
    assert totals["clean s2orc"] == counts["filter", "kept"]
    assert totals["clean s2ag"] == totals["clean s2orc"] - counts["clean s2orc", "kept"]
    for set_ in ("s2orc", "s2ag"):
        assert totals[f"split {set_}"] == counts[f"clean {set_}", "kept"]
    for name in ("funnel.svg", "years.svg"):
        assert etree.QName(etree.fromstring(snapshot.get(name)[0])).localname == "svg"


def read_lines(run: Run, folder: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the path and value of every line below a folder of the snapshot."""
    keys = [entry.key for entry in run.lake.list(f"snapshots/{run.snapshot_id}/{folder}/")]
    return [(key, orjson.loads(line)) for key in keys for line in gzip.decompress(run.lake.get(key)[0]).splitlines()]


def test_text_of_a_closed_paper_is_not_published(run: Run) -> None:
    closed = {paper.row["paper_id"] for paper in papers(COUNT) if not paper.row["open_access"]}
    shown = [parse for _, parse in read_lines(run, "corpus/pdf_parses") if parse["paper_id"] in closed]
    assert shown and all(parse["bib_entries"] for parse in shown)
    assert not any(parse["body_text"] or parse["abstract"] or parse["back_matter"] for parse in shown)


@pytest.mark.parametrize("set_", ["s2orc", "s2ag"])
def test_full_text_names_its_open_file_and_abstract_does_not(run: Run, set_: str) -> None:
    access = {paper.row["paper_id"]: paper.row["access"] for paper in papers(COUNT)}
    lines = read_lines(run, f"v2/{set_}")
    assert lines
    for path, line in lines:
        number = int(hashlib.sha1(line["id"].encode(), usedforsecurity=False).hexdigest()[:16], 16) % 6  # SPEC §10.2
        assert path.endswith(f"/{number:02d}.jsonl.gz")
        opened = [text["sha1"] for text in access[line["id"]] if text["open_access"]]
        assert ([line["sha1"]] == opened) if set_ == "s2orc" else ("sha1" not in line)


def test_metadata_has_the_keys_of_20200705(run: Run, shared_data: Path) -> None:
    with (shared_data / "s2orc" / "metadata_20200705_sample.jsonl").open("rb") as lines:
        expected = {parsed["has_pdf_parse"]: set(parsed) for parsed in map(orjson.loads, lines)}
    assert {row["has_pdf_parse"]: set(row) for _, row in read_lines(run, "corpus/metadata")} == expected


def test_existing_files_are_not_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = release(tmp_path)
    before = content(run)
    damaged = f"snapshots/{run.snapshot_id}/v2/s2orc/train/03.jsonl.gz"
    run.lake.put(damaged, b"half a file")
    written: list[str] = []

    def record(name: str, write: Callable[..., Any]) -> None:
        def recorded(lake: LocalLake, key: str, *given: Any, **options: Any) -> Any:
            written.append(key)
            return write(lake, key, *given, **options)

        monkeypatch.setattr(LocalLake, name, recorded)

    record("upload", LocalLake.upload)
    record("put", LocalLake.put)
    work(run, ExportStage())
    assert [key for key in written if key.startswith("snapshots/")] == [damaged]
    assert content(run) == before


def test_published_snapshot_never_changes(tmp_path: Path) -> None:
    run = release(tmp_path)
    publish(run.lake, run.snapshot_id)
    before = content(run)
    with pytest.raises(UserError, match=r"is published and cannot change, but .* differs"):
        release(tmp_path, seed=1)
    assert content(run) == before
    release(tmp_path)  # The same content may be exported again.
    assert content(run) == before
    run.lake.put(f"snapshots/{run.snapshot_id}/manifest.json", b'{"files": [')
    release(tmp_path)  # A damaged manifest is restored, as corpus doctor says.
    assert content(run) == before
