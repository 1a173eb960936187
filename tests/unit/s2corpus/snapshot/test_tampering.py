"""SPEC §10.14: `corpus verify` finds changed values and damaged files.

Each test lists the changed file again with its new size and checksum. The publication then reveals the change by the
manifest's checksum. Without the publication, the other files of the snapshot contradict the changed value.
"""

import gzip
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import s2corpus_reader
from s2corpus.errors import UserError
from s2corpus.snapshot.croissant import describe_snapshot
from s2corpus.snapshot.reader import published_manifests
from s2corpus.snapshot.report import generate_files
from s2corpus.snapshot.verify import verify
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import open_lake
from s2corpus_reader.files import SnapshotFile
from tests.unit.s2corpus.snapshot.release import release, snapshot_folder

REPEATED = {
    "v2/s2orc/train/": ("id", "sha1", "text"),
    "v2/s2ag/train/": ("id", "text"),
    "corpus/metadata/": ("paper_id", "title", "abstract", "doi", "year", "inbound_citations", "outbound_citations"),
    "corpus/pdf_parses/": ("paper_id", "_pdf_hash", "body_text", "bib_entries"),
    "index.parquet": (
        "id", "set", "split", "file", "line", "date", "doi", "license", "oa_evidence", "words", "text_key",
    ),
    "documents/s2orc/train/": ("id", "text", "split"),
    "tables/paragraphs/": ("paper_id", "text"),
    "tables/bib_entries/": ("paper_id", "cited_paper_id"),
    "tables/rights/": ("paper_id", "of", "open_access", "license", "evidence"),
    "graph/links/": ("paper_id", "cited_paper_id"),
    "duplicates.parquet": ("paper_id", "split", "reason", "duplicate_of", "jaccard"),
}  # fmt: skip
"""columns of each kind of file that another file of the snapshot repeats"""
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[: len(data) // 2], "bit flipped": lambda data: data[:50] + bytes([data[50] ^ 4]) + data[51:],
    "emptied": lambda data: b"", "zeros appended": lambda data: data + bytes(64), "null": lambda data: b"null",
}  # fmt: skip


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder `snapshots/` with a published snapshot."""
    folder = tmp_path_factory.mktemp("tampering")
    spec = ReleaseSpec.model_validate({"name": "small", "export": {"files": 2}})
    snapshot_folder(release(folder, spec=spec, count=60))
    return folder / "lake" / "snapshots"


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    content = b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)
    path.write_bytes(gzip.compress(content, mtime=0))


def changed(value: Any) -> Any:
    """Return another value of the same type."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return value + "x" if not value.isdigit() else str(int(value) + 1)
        case list():
            return value[1:] if value else ["x"]
        case dict():
            return {key: changed(inner) for key, inner in value.items()}
    return "x"


def first_file(folder: Path, start: str) -> Path:
    """Return the first file below `start` that has rows."""
    files = [folder / start] if start.endswith(".parquet") else sorted((folder / start).iterdir())
    return next(
        file for file in files if (pq.read_metadata(file).num_rows if file.suffix == ".parquet" else read_lines(file))
    )


def change_column(folder: Path, start: str, column: str) -> None:
    """Change the first value of a column that is not null."""
    path = first_file(folder, start)
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        rows = table.to_pylist()
    else:
        rows = read_lines(path)
    row = next(row for row in rows if row.get(column) not in (None, [], {}))
    row[column] = changed(row[column])
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows, table.schema), path)
    else:
        write_lines(path, rows)


def list_again(folder: Path) -> None:
    """Rewrite the manifest's list of files, so that every size and checksum fits."""
    path = folder / "manifest.json"
    manifest = orjson.loads(path.read_bytes())
    for file in manifest["files"]:
        data = (folder / file["path"]).read_bytes()
        file |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        if file["path"].endswith(".gz"):
            content = gzip.decompress(data)
            file |= {"content_bytes": len(content), "content_sha256": hashlib.sha256(content).hexdigest()}
    path.write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def describe_again(folder: Path) -> None:
    """Rewrite the data card and the Croissant file, which repeat sizes and checksums."""
    stats, old = (orjson.loads((folder / name).read_bytes()) for name in ("stats.json", "croissant.json"))
    for name in ("croissant.json", "README.md"):
        manifest = orjson.loads((folder / "manifest.json").read_bytes())
        if name == "README.md":
            data = dict(generate_files(manifest, stats, old["description"]))[name]
        else:
            files = [SnapshotFile(**file) for file in manifest["files"]]
            data = orjson.dumps(
                describe_snapshot(manifest["snapshot"], old["description"], manifest["as_of"], stats, files)
            )
        (folder / name).write_bytes(data)
        list_again(folder)


def has_fault(folder: Path) -> bool:
    opened = open_lake(str(folder))
    try:
        return next(verify(opened, published_sha256s=published_manifests(opened)), None) is not None
    except UserError:
        return True


@pytest.fixture
def copy(snapshots: Path, tmp_path: Path) -> Path:
    """Return a copy of the snapshot that a test may change."""
    (snapshot,) = (folder for folder in snapshots.iterdir() if (folder / "manifest.json").exists())
    return Path(shutil.copytree(snapshots, tmp_path / "lake" / "snapshots")) / snapshot.name


def remove_publication(folder: Path) -> None:
    for sibling in folder.parent.iterdir():
        if sibling != folder:
            shutil.rmtree(sibling)


@pytest.mark.parametrize(
    ("start", "column"), [(start, column) for start, columns in REPEATED.items() for column in columns]
)
def test_changed_value_contradicts_another_file(start: str, column: str, copy: Path) -> None:
    remove_publication(copy)
    change_column(copy, start, column)
    list_again(copy)
    describe_again(copy)
    assert has_fault(copy)


def test_publication_reveals_a_value_that_one_file_contains(copy: Path) -> None:
    assert not has_fault(copy)
    change_column(copy, "corpus/metadata/", "authors")
    list_again(copy)
    describe_again(copy)
    assert has_fault(copy)


def test_files_in_pieces_of_version_1_0_0_are_valid(copy: Path) -> None:
    """`export.shard_bytes` of version 1.0.0 divided a file by size: `00-000000`, `00-000001`."""
    remove_publication(copy)
    manifest = orjson.loads((copy / "manifest.json").read_bytes())
    index = pq.read_table(copy / "index.parquet")
    listed = index.to_pylist()
    places: dict[tuple[str, int], tuple[str, int]] = {}
    for file in [file for file in manifest["files"] if file["path"].startswith(("v2/", "documents/"))]:
        manifest["files"].remove(file)
        whole = copy / file["path"]
        table = pq.read_table(whole) if whole.suffix == ".parquet" else None
        rows = read_lines(whole) if table is None else table.to_pylist()
        half = (len(rows) + 1) // 2
        for number, part in enumerate((rows[:half], rows[half:])):
            path = file["path"].replace(whole.name, f"{whole.name[:2]}-{number:06}{whole.name[2:]}")
            if table is None:
                write_lines(copy / path, part)
                places |= {(file["path"], number * half + n): (path, n) for n in range(1, len(part) + 1)}
            else:
                pq.write_table(pa.Table.from_pylist(part, table.schema), copy / path)
            manifest["files"].append({**file, "path": path, "rows": len(part)})
        whole.unlink()
    for row in listed:
        row["file"], row["line"] = places[row["file"], row["line"]]
    pq.write_table(pa.Table.from_pylist(listed, index.schema), copy / "index.parquet")
    manifest["rules"]["export.shard_bytes"] = 1 << 20
    (copy / "manifest.json").write_bytes(orjson.dumps(manifest))
    list_again(copy)
    describe_again(copy)
    assert list(verify(open_lake(str(copy)))) == []
    snapshot = s2corpus_reader.open(str(copy))
    for row in (listed[0], listed[-1]):
        document = snapshot.document(row["id"])
        assert document is not None and document["id"] == row["id"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_file_is_found(damage: str, copy: Path) -> None:
    for path in sorted(path for path in copy.rglob("*") if path.is_file() and path.stat().st_size > 64):
        data = path.read_bytes()
        path.write_bytes(DAMAGES[damage](data))
        assert has_fault(copy), path.relative_to(copy)
        path.write_bytes(data)
    assert not has_fault(copy)


def test_missing_and_unlisted_files_are_found(copy: Path) -> None:
    for path in sorted(path for path in copy.rglob("*") if path.is_file()):
        moved = path.rename(path.with_name(path.name + "x"))
        assert has_fault(copy), path.relative_to(copy)
        moved.rename(path)
