"""Export gives equal bytes for any division of the work, writes nothing twice, and never changes a published snapshot."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pyarrow.parquet as pq
import pytest

from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.snapshot import pointer
from s2corpus.snapshot.pointer import publish
from s2corpus.snapshot.verify import verify
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.clean import CleanStage
from s2corpus.stages.export import ExportStage
from s2corpus.stages.export.group import list_groups
from s2corpus.stages.split import SplitStage
from s2corpus.storage.lake import Lake
from s2corpus.storage.local_lake import LocalLake
from tests.unit.snapshot.release import lay_out, papers, through, work

SPEC = ReleaseSpec.model_validate({"name": "small", "export": {"files": 6}})
COUNT = 80


def release(
    folder: Path,
    *,
    count: int = COUNT,
    buckets: int = 1,
    seed: int = 0,
    backwards: bool = False,
    spec: ReleaseSpec = SPEC,
) -> Run:
    """Build a release including its export."""
    folder.mkdir(parents=True, exist_ok=True)
    run = lay_out(LocalLake(folder / "lake"), folder, spec, papers(count, seed=seed), buckets=buckets)
    return through(run, CleanStage(), SplitStage(), ExportStage(), backwards=backwards)


def content(run: Run) -> dict[str, str]:
    """Return path → SHA-256 of every file of the snapshot."""
    prefix = f"snapshots/{run.snapshot_id}/"
    return {
        entry.key.removeprefix(prefix): hashlib.sha256(run.lake.get(entry.key)[0]).hexdigest()
        for entry in run.lake.list(prefix)
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return release(tmp_path_factory.mktemp("release"))


@pytest.mark.parametrize(("buckets", "backwards"), [(2, False), (4, True), (6, True), (12, False)])
def test_number_and_order_of_buckets_do_not_change_bytes(
    tmp_path: Path, run: Run, buckets: int, backwards: bool
) -> None:
    assert content(release(tmp_path, buckets=buckets, backwards=backwards)) == content(run)


def test_snapshot_has_all_its_files_and_counts(run: Run) -> None:
    snapshot = LocalLake(Path(run.lake.uri(f"snapshots/{run.snapshot_id}")))
    assert list(verify(snapshot)) == []
    stats = json.loads(snapshot.get("stats.json")[0])
    published = [(s, x) for s, splits in stats["sets"].items() for x, counted in splits.items() if counted["documents"]]
    assert published == [("s2ag", "train"), ("s2ag", "valid"), ("s2orc", "train"), ("s2orc", "valid")]
    index = pq.read_table(run.lake.uri(f"snapshots/{run.snapshot_id}/index.parquet")).to_pylist()
    assert len(index) == sum(c["documents"] for splits in stats["sets"].values() for c in splits.values())
    assert sum(row["words"] for row in index) == sum(c["words"] for s in stats["sets"].values() for c in s.values())


def test_funnel_sums_to_its_input(run: Run) -> None:
    funnel = json.loads(run.lake.get(f"snapshots/{run.snapshot_id}/stats.json")[0])["funnel"]

    def total(stage: str) -> int:
        return sum(row["count"] for row in funnel if row["stage"] == stage)

    def count(stage: str, outcome: str) -> int:
        return sum(row["count"] for row in funnel if (row["stage"], row["outcome"]) == (stage, outcome))

    assert total("filter") == count("vote", "papers")
    assert total("clean s2orc") == count("filter", "kept")
    assert total("clean s2ag") == total("clean s2orc") - count("clean s2orc", "kept")
    for set_ in ("s2orc", "s2ag"):
        assert total(f"split {set_}") == count(f"clean {set_}", "kept")


def test_text_of_a_closed_paper_is_not_published(run: Run) -> None:
    parses = [line for path, line in corpus_lines(run) if "pdf_parses" in path]
    closed = {paper.row["paper_id"] for paper in papers(COUNT) if not paper.row["open_access"]}
    shown = [parse for parse in parses if parse["paper_id"] in closed]
    assert shown
    assert not any(parse["body_text"] or parse["abstract"] or parse["back_matter"] for parse in shown)
    assert all(parse["bib_entries"] for parse in shown)


@pytest.mark.parametrize("set_", ["s2orc", "s2ag"])
def test_full_text_names_its_open_file_and_abstract_does_not(run: Run, set_: str) -> None:
    import gzip

    access = {paper.row["paper_id"]: paper.row["access"] for paper in papers(COUNT)}
    lines = [
        orjson.loads(line)
        for entry in run.lake.list(f"snapshots/{run.snapshot_id}/v2/{set_}/")
        for line in gzip.decompress(run.lake.get(entry.key)[0]).splitlines()
    ]
    assert lines
    for line in lines:
        opened = [text["sha1"] for text in access[line["id"]] if text["open_access"]]
        assert ([line["sha1"]] == opened) if set_ == "s2orc" else ("sha1" not in line)


def corpus_lines(run: Run) -> list[tuple[str, dict[str, Any]]]:
    import gzip

    found = []
    for entry in run.lake.list(f"snapshots/{run.snapshot_id}/corpus/"):
        found += [(entry.key, orjson.loads(line)) for line in gzip.decompress(run.lake.get(entry.key)[0]).splitlines()]
    return found


def test_metadata_cites_both_ways(run: Run) -> None:
    rows = {line["paper_id"]: line for path, line in corpus_lines(run) if "metadata" in path}
    pairs = {(citing, cited) for citing, row in rows.items() for cited in row["outbound_citations"]}
    assert pairs
    assert pairs == {(citing, cited) for cited, row in rows.items() for citing in row["inbound_citations"]}


def test_metadata_has_the_keys_of_20200705(run: Run, shared_data: Path) -> None:
    with (shared_data / "s2orc" / "metadata_20200705_sample.jsonl").open("rb") as lines:
        expected = {parsed["has_pdf_parse"]: set(parsed) for parsed in map(orjson.loads, lines)}
    rows = [line for path, line in corpus_lines(run) if "metadata" in path]
    assert {row["has_pdf_parse"]: set(row) for row in rows} == expected


class Counting:
    """A lake that records every write."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self.uploaded: list[str] = []

    def upload(self, key: str, path: Path) -> None:
        self.uploaded.append(key)
        self._lake.upload(key, path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lake, name)


def test_existing_files_are_not_written_again(tmp_path: Path) -> None:
    run = release(tmp_path)
    before = content(run)
    damaged = f"snapshots/{run.snapshot_id}/v2/s2orc/train/03.jsonl.gz"
    run.lake.put(damaged, b"half a file")
    counting = Counting(run.lake)
    again = Run(run.spec, run.as_of, counting, run.scratch)  # type: ignore[arg-type]  # a lake that counts
    work(again, ExportStage())
    assert [key for key in counting.uploaded if key.startswith("snapshots/")] == [damaged]
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


def test_later_release_has_another_id_and_a_diff(tmp_path: Path) -> None:
    first = release(tmp_path)
    publish(first.lake, first.snapshot_id)
    later = lay_out(first.lake, tmp_path, SPEC, papers(COUNT + 10), buckets=1, parent=first.snapshot_id)
    run = Run(SPEC, first.as_of + timedelta(days=31), first.lake, tmp_path)
    for entry in list(first.lake.list(f"releases/{later.release_id}/")):
        if "/_export/" not in entry.key:
            run.lake.put(entry.key.replace(later.release_id, run.release_id), run.lake.get(entry.key)[0])
    through(run, CleanStage(), SplitStage(), ExportStage())
    assert publish(run.lake, run.snapshot_id).snapshot == run.snapshot_id
    changes = json.loads(run.lake.get(f"snapshots/{run.snapshot_id}/diff.json")[0])
    assert changes["parent"] == first.snapshot_id
    old, new = (set(index_ids(each)) for each in (first, run))
    assert new > old
    assert sum(changes["added"]["documents"].values()) == len(new - old)
    assert changes["added"]["first_ids"] == sorted(new - old)
    assert [changes[kind]["documents"] for kind in ("removed", "moved", "changed")] == [{}, {}, {}]
    assert pointer.list_published(run.lake, "small") == [first.snapshot_id, run.snapshot_id]


def index_ids(run: Run) -> list[str]:
    ids: list[str] = pq.read_table(run.lake.uri(f"snapshots/{run.snapshot_id}/index.parquet"))["id"].to_pylist()
    return ids


def test_card_shows_first_permitted_document_of_each_set(run: Run) -> None:
    """Check the sample records: all columns of the smallest id under CC BY; without one, the smallest id without its text."""
    folder = Path(run.lake.uri(f"snapshots/{run.snapshot_id}"))
    card = (folder / "README.md").read_text("utf-8")
    blocks = re.findall(r"^### (\w+)\n\n```json\n(.*?)^```$", card, re.MULTILINE | re.DOTALL)
    shown = {name: json.loads(block) for name, block in blocks}
    assert set(shown) == {"s2orc", "s2ag"} and all(len(block) < 8_000 for _, block in blocks)
    for set_, record in shown.items():
        rows = sorted(pq.read_table(folder / "documents" / set_).to_pylist(), key=lambda row: str(row["id"]))
        first = next((row for row in rows if row["licence"] == "CC-BY-4.0"), rows[0])
        assert list(record) == list(first)
        assert {n: v for n, v in record.items() if n not in ("text", "section_types")} == {
            name: value for name, value in first.items() if name not in ("text", "section_types")
        }
        text = "the license does not permit" if first["licence"] == "NOASSERTION" else first["text"][:40]
        assert text in record["text"]


@pytest.mark.parametrize("kind", ["README.md", "croissant.json", "funnel.svg", "years.svg", "funnel.csv"])
def test_descriptive_file_has_its_content(run: Run, kind: str) -> None:
    text = run.lake.get(f"snapshots/{run.snapshot_id}/{kind}")[0].decode()
    assert {"README.md": run.snapshot_id, "funnel.csv": "stage,outcome,count"}.get(kind, "") in text
    if kind.endswith(".svg"):
        from lxml import etree

        assert etree.QName(etree.fromstring(text.encode())).localname == "svg"


@pytest.mark.parametrize(
    ("buckets", "files", "corpus"), [(1, 30, 100), (7, 30, 30), (300, 30, 100), (60, 30, 30), (12, 6, 4)]
)
def test_every_file_belongs_to_one_group_of_buckets(buckets: int, files: int, corpus: int) -> None:
    spec = ReleaseSpec.model_validate({"name": "small", "export": {"files": files, "corpus_files": corpus}})
    found = list_groups(cast(Run, SimpleNamespace(spec=spec, paper_shards=buckets)))
    assert sorted(nn for numbers, _, _ in found for nn in numbers) == list(range(files))
    assert sorted(nn for _, numbers, _ in found for nn in numbers) == list(range(corpus))
    # A paper is represented by its hash; its bucket and its files are remainders of the hash.
    for paper in range(1000):
        for numbers, corpus_numbers, of_group in found:
            for number, count in ((numbers, files), (corpus_numbers, corpus)):
                assert paper % count not in number or paper % buckets in of_group
