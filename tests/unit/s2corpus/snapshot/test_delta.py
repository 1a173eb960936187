"""docs/reading.md: a delta lists the changes between snapshots with their reasons, consecutive deltas give the last snapshot byte for
byte, and snapshots are versions of Iceberg tables.
"""

from __future__ import annotations

import gzip
import resource
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import orjson
import pyarrow.parquet as pq
import pytest

from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.snapshot import hub, iceberg
from s2corpus.snapshot.verify import verify
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import open_lake
from s2corpus.storage.local_lake import LocalLake
from s2corpus_reader import SnapshotError
from s2corpus_reader.following import follow
from tests.commands import invoke
from tests.unit.s2corpus.snapshot.release import Paper, build, lay_out, papers, snapshot_folder

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

CHANGES = ("added", "removed", "moved", "changed")
SPEC = ReleaseSpec.model_validate({"name": "small"})


def month(number: int) -> Iterator[Paper]:
    """Yield the papers of a month. Every month has 12 more; some of the first papers are filtered out, removed or rewritten."""
    for i, paper in enumerate(papers(60 + 12 * number)):
        if number and i == 13:
            yield replace(paper, kept=False)
        elif number and i == 16:
            continue  # No source has this paper any more.
        elif number == 2 and 20 < i < 30 and paper.parse:
            first, *rest = paper.parse["body_text"]
            body = [{**first, "text": f"{first['text']} Corrected."}, *rest]
            yield replace(paper, parse={**paper.parse, "body_text": body})
        else:
            yield paper


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Publish four monthly snapshots, each with the previous one as its parent; return their folders.

    They have 2, 2, 4 and 4 files, as a corpus that doubles.
    """
    folder = tmp_path_factory.mktemp("months")
    lake = LocalLake(folder / "lake")
    found: list[Run] = []
    for number in range(4):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("s2corpus.spec._PAPERS_PER_FILE", 40)
            laid = lay_out(
                lake, folder, SPEC, month(number), buckets=1, parent=found[-1].snapshot_id if found else None
            )
        run = Run(SPEC, laid.as_of + timedelta(days=31 * number), lake, folder)
        if run.release_id != laid.release_id:
            for entry in list(lake.list(f"releases/{laid.release_id}/")):
                if "/_export/" not in entry.key:
                    lake.put(entry.key.replace(laid.release_id, run.release_id), lake.get(entry.key)[0])
        snapshot_folder(build(run))
        found.append(run)
    assert [run.file_counts for run in found] == [(2, 2), (2, 2), (4, 4), (4, 4)]
    return [Path(lake.uri(f"snapshots/{run.snapshot_id}")) for run in found]


def _same(one: Path, other: Path) -> bool:
    files = [
        {str(f.relative_to(root)): f.read_bytes() for f in root.rglob("*") if f.is_file()} for root in (one, other)
    ]
    return files[0] == files[1]


def registered_tags(catalog: Catalog) -> set[str]:
    tables = [catalog.load_table(identifier) for identifier in catalog.list_tables("small")]
    return {name for table in tables for name, ref in table.metadata.refs.items() if ref.snapshot_ref_type == "tag"}


def run(*words: object) -> str:
    return invoke(*words, catch=False).output


def test_consecutive_deltas_give_the_last_snapshot(snapshots: list[Path], tmp_path: Path) -> None:
    at = snapshots[0]
    for number, (old, new) in enumerate(pairwise(snapshots)):
        made = run("delta", old, new, "--out", tmp_path / f"delta-{number}")
        assert " 0 with changed lines" not in made
        run("apply", tmp_path / f"delta-{number}", "--copy", at, "--out", tmp_path / f"copy-{number}")
        at = tmp_path / f"copy-{number}"
        assert _same(at, new)
    assert list(verify(open_lake(str(at)), parent=open_lake(str(snapshots[-2])))) == []
    for folder, suffix in (("v2", "*.jsonl.gz"), ("documents", "*.parquet")):
        roots = (tmp_path / "delta-0/new", snapshots[1])
        new_bytes, all_bytes = (sum(path.stat().st_size for path in (root / folder).rglob(suffix)) for root in roots)
        assert 0 < new_bytes < all_bytes / 2, folder


def test_every_removed_document_has_a_reason_and_a_tombstone(snapshots: list[Path]) -> None:
    index, changes, stones = (
        [{row["id"]: row for row in pq.read_table(folder / f"{name}.parquet").to_pylist()} for folder in folders]
        for name, folders in (("index", snapshots), ("changes", snapshots[1:]), ("tombstones", snapshots))
    )
    for old, new, rows, parent, folder in zip(index, index[1:], changes, snapshots, snapshots[1:], strict=False):
        ids = {change: sorted(id_ for id_, row in rows.items() if row["change"] == change) for change in CHANGES}
        assert set(ids["added"]) == set(new) - set(old) and set(ids["removed"]) == set(old) - set(new)
        assert all(rows[id_]["reason"] for id_ in ids["removed"])
        summary = orjson.loads((folder / "diff.json").read_bytes())
        assert summary["parent"] == parent.name
        assert sum(summary["same"]["documents"].values()) == len(set(new) - set(rows))
        for change, found in ids.items():
            counted = sum(summary[change]["documents"].values())
            assert (counted, summary[change]["first_ids"]) == (len(found), found[:100])
    assert {row["reason"] for row in changes[0].values() if row["change"] == "removed"} == {"no_authors", "gone"}
    assert 3 < sum(row["change"] == "changed" for row in changes[1].values()) < 9
    assert not stones[0] and len(stones[1]) == 2
    for id_, stone in stones[1].items():  # They remain for readers of older snapshots.
        assert stone["removed_in"] == snapshots[1].name
        assert id_ in index[3] or stones[3][id_] == stone
    listed = run("diff", snapshots[0], snapshots[1], "--list").splitlines()
    assert {line.split("\t")[0] for line in listed} >= {"added", "removed"}


def test_other_or_damaged_copy_or_plan_is_refused(snapshots: list[Path], tmp_path: Path) -> None:
    delta, damaged = tmp_path / "delta", Path(shutil.copytree(snapshots[0], tmp_path / "damaged"))
    run("delta", snapshots[0], snapshots[1], "--out", delta)
    victim = damaged / "v2/s2ag/train/00.jsonl.gz"
    victim.write_bytes(gzip.compress(gzip.decompress(victim.read_bytes()).replace(b'"text":"On', b'"text":"At')))
    for copy, name, content, says in (
        (snapshots[2], None, b"", "is not small-"),
        (damaged, None, b"", "is damaged"),
        (snapshots[0], "manifest.json", b"{}", "differs from delta.json"),
        (snapshots[0], "delta.json", b"[]", "is not a delta"),
    ):
        if name:
            (delta / name).write_bytes(content)
        with pytest.raises(UserError, match=says):
            run("apply", delta, "--copy", copy, "--out", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_copy_follows_earlier_snapshot_of_its_spec(snapshots: list[Path], tmp_path: Path) -> None:
    folder, copies = shutil.copytree(snapshots[0].parent, tmp_path / "snapshots"), tmp_path / "copies"
    shutil.copytree(snapshots[0], folder / "other-20230101-00000000")
    for name in ("other-20230101-00000000", snapshots[2].name):  # another spec, and a later snapshot
        (copies / name).mkdir(parents=True)
        (copies / name / "manifest.json").write_bytes(b"{}")
    assert _same(follow(str(folder / snapshots[1].name), copies), snapshots[1])


def test_first_copy_continues_after_an_interruption(snapshots: list[Path], tmp_path: Path) -> None:
    source, copy = shutil.copytree(snapshots[0], tmp_path / "source"), tmp_path / "copies" / snapshots[0].name
    copy.mkdir(parents=True)
    (copy / "stats.json").write_bytes(b"half")
    (copy / "README.md").write_bytes((source / "README.md").read_bytes())
    (source / "README.md").write_bytes(b"changed after it was copied")
    assert _same(follow(str(source), copy.parent), snapshots[0])
    (copy / "manifest.json").unlink()
    (copy / "README.md").unlink()
    for damaged in (b"x", (snapshots[0] / "README.md").read_bytes()[::-1]):
        (source / "README.md").write_bytes(damaged)
        with pytest.raises(SnapshotError, match=r"README\.md"):
            follow(str(source), copy.parent)
        assert not (copy / "manifest.json").exists()


def test_full_disk_leaves_no_part_of_a_manifest(snapshots: list[Path], tmp_path: Path) -> None:
    copy = Path(shutil.copytree(snapshots[0], tmp_path / snapshots[0].name))
    (copy / "manifest.json").unlink()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            follow(str(snapshots[0]), tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not (copy / "manifest.json").exists()
    assert _same(follow(str(snapshots[0]), tmp_path), snapshots[0])


@pytest.fixture
def catalog(tmp_path: Path) -> str:
    pytest.importorskip("pyiceberg")
    return f"sqlite:///{tmp_path}/catalog.db"


def test_registered_snapshots_are_versions_of_the_same_tables(snapshots: list[Path], catalog: str) -> None:
    before = {path: path.stat().st_mtime_ns for path in snapshots[0].parent.rglob("*") if path.is_file()}
    for folder in (*snapshots[:2], snapshots[1]):  # A second registration changes nothing.
        said = run("register", folder, "--catalog", catalog)
        assert f"index: {pq.read_metadata(folder / 'index.parquet').num_rows} rows" in said
    assert before == {path: path.stat().st_mtime_ns for path in snapshots[0].parent.rglob("*") if path.is_file()}
    loaded = iceberg.open_catalog(catalog)
    for name in ("documents", "index", "papers", "links"):
        table = loaded.load_table(f"small.{name}")
        pattern = "documents/*/*/*.parquet" if name == "documents" else hub.TABLES[name][0]
        for folder in snapshots[:2]:
            version = table.snapshot_by_name(iceberg.format_name(folder.name))
            assert version is not None and (folder == snapshots[0] or version == table.current_snapshot())
            rows = {str(path): pq.read_metadata(path).num_rows for path in folder.glob(pattern)}
            scan = table.scan(snapshot_id=version.snapshot_id)
            paths = {urlsplit(task.file.file_path).path for task in scan.plan_files()}
            assert paths == {path for path, n in rows.items() if n} and scan.to_arrow().num_rows == sum(rows.values())
    with pytest.raises(UserError, match="is the newest version"):
        run("register", snapshots[1].name, "--catalog", catalog, "--forget")
    run("register", snapshots[0], "--catalog", catalog)  # The older snapshot is the newest version again.
    assert "documents" in run("register", snapshots[1].name, "--catalog", catalog, "--forget")
    assert registered_tags(iceberg.open_catalog(catalog)) == {iceberg.format_name(snapshots[0].name)}


def test_prune_needs_the_catalog_of_registered_files(snapshots: list[Path], catalog: str, tmp_path: Path) -> None:
    lake = Path(shutil.copytree(snapshots[0].parents[1], tmp_path / "lake"))
    first, *_, last = (lake / "snapshots" / folder.name for folder in snapshots)
    for folder in (first, last):
        run("register", folder, "--catalog", catalog)
    with pytest.raises(UserError, match="registered in an Iceberg catalog"):
        run("prune", "small", "--keep", 1, "--snapshots", "--delete", "--lake", lake)
    assert (first / "manifest.json").exists()
    said = run("prune", "small", "--keep", 1, "--snapshots", "--delete", "--lake", lake, "--catalog", catalog)
    assert f"{first.name}: removed from " in said and f"{first.name}: deleted " in said
    assert not (first / "manifest.json").exists()
    loaded = iceberg.open_catalog(catalog)
    assert registered_tags(loaded) == {iceberg.format_name(last.name)}
