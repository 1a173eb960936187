"""docs/hostile-input.md: forged snapshots and deltas take no more memory than their size allows, never block a reader, and write
nothing outside the target.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import s2corpus_reader
from s2corpus.errors import UserError
from s2corpus.snapshot import push
from s2corpus.snapshot.manifest import FORMAT, find_invalid_rule, list_rules
from s2corpus.snapshot.verify import verify
from s2corpus.spec import ReleaseSpec, load_spec
from s2corpus.storage.local_lake import LocalLake
from s2corpus_reader import SnapshotError, bounded, deltas
from s2corpus_reader import parquet as parquet_files
from s2corpus_reader.difference import write_delta
from s2corpus_reader.files import GzipLines, SnapshotFile, list_files
from s2corpus_reader.parquet import parquet_writer
from s2corpus_reader.selection import grep
from tests.releases import ROOT

LINES = [b'{"paper_id":"%015x"}\n' % number for number in range(20)]
METADATA, TABLE = "corpus/metadata/metadata_0.jsonl.gz", "tables/papers/00.parquet"
RULES = list_rules(ReleaseSpec.model_validate({"name": "small"}))


def compress(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def rows(numbers: list[int]) -> bytes:
    table = pa.table({"paper_id": [f"{n:015x}" for n in numbers], "title": [f"title {n}" for n in numbers]})
    return serialize(table)


def serialize(table: pa.Table, group: int = 1024) -> bytes:
    out = BytesIO()
    with pq.ParquetWriter(out, table.schema, compression="zstd", write_statistics=table.schema.names[:1]) as writer:
        writer.write_table(table, row_group_size=group)
    return out.getvalue()


def compress_blocks(count: int, block: bytes) -> bytes:
    """Return a gzip file that repeats a block."""
    out = BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1, mtime=0) as file:
        for _ in range(count):
            file.write(block)
    return out.getvalue()


def describe(path: str, content: bytes) -> dict[str, Any]:
    value: dict[str, Any] = {"path": path, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    if path.endswith(".gz"):
        lines = gzip.decompress(content)
        digest = hashlib.sha256(lines).hexdigest()
        value |= {"rows": lines.count(b"\n"), "content_bytes": len(lines), "content_sha256": digest}
    elif path.endswith(".parquet"):
        value["rows"] = pq.ParquetFile(BytesIO(content)).metadata.num_rows
    return value


def snapshot(folder: Path, id_: str, contents: Mapping[str, bytes], **others: Any) -> LocalLake:
    """Write a folder with some files and a manifest that lists them."""
    folder.mkdir()
    for path, content in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    value = {
        "format": FORMAT, "snapshot": id_, "spec": "small", "spec_sha256": "0", "as_of": "2023-01-01T00:00:00Z", "parent": None,
        "versions": {"code": "1", "extractor": "1", "converter": "1"}, "inputs": [], "rules": RULES,
        "files": [describe(path, content) for path, content in sorted(contents.items())],
    }  # fmt: skip
    (folder / "manifest.json").write_bytes(orjson.dumps(value | others))
    return LocalLake(folder, confined=True)


def gzip_lines(file: Path, lines: list[bytes]) -> bytes:
    with GzipLines(file) as out:
        for line in lines:
            out.write(line)
    return file.read_bytes()


def parquet(file: Path, numbers: list[int]) -> bytes:
    table = pq.read_table(BytesIO(rows(numbers)))
    with parquet_writer(file, table.schema) as writer:
        writer.write_table(table, row_group_size=max(len(numbers), 1))
    return file.read_bytes()


TEXT = {"README.md": b"a card", "stats.json": b"{}"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """Return a folder with two snapshots, `old` and `newer`, and the delta between them, and the files of the newer one."""
    folder, file = tmp_path_factory.mktemp("pair"), tmp_path_factory.mktemp("file") / "file"
    files = {METADATA: gzip_lines(file, LINES[:12]), TABLE: parquet(file, list(range(500))), **TEXT}
    old = snapshot(folder / "old", "small-20230101-00000000", files)
    files = {
        METADATA: gzip_lines(file, [*LINES[:5], *LINES[7:15]]),
        TABLE: parquet(file, [*range(100), *range(200, 510)]),
        **TEXT,
        "stats.json": b"[1]",
    }
    write_delta(old, snapshot(folder / "newer", "small-20230201-00000000", files), folder / "delta")
    return folder, files


class Pair:
    """A copy of two snapshots and the delta between them, which a test forges."""

    def __init__(self, made: Path, folder: Path, files: dict[str, bytes]) -> None:
        shutil.copytree(made, folder, dirs_exist_ok=True)
        self.folder, self.out, self.made, self.files = folder, folder / "new/out", folder / "delta", files
        self.old = LocalLake(folder / "old", confined=True)
        self.plan = orjson.loads((self.made / "delta.json").read_bytes())
        self.manifest = orjson.loads((self.made / "manifest.json").read_bytes())

    def find_entry(self, path: str) -> dict[str, Any]:
        found: dict[str, Any] = next(file for file in self.manifest["files"] if file["path"] == path)
        return found

    def write(self) -> None:
        data = orjson.dumps(self.manifest)
        (self.made / "manifest.json").write_bytes(data)
        self.plan["to_manifest_sha256"] = hashlib.sha256(data).hexdigest()
        (self.made / "delta.json").write_bytes(orjson.dumps(self.plan))

    def names(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}


@pytest.fixture
def pair(made: tuple[Path, dict[str, bytes]], tmp_path: Path) -> Pair:
    return Pair(made[0], tmp_path, made[1])


def test_whole_delta_gives_new_snapshot(pair: Pair) -> None:
    assert {step["as"] for step in pair.plan["files"].values()} == {"copy", "lines", "rows", "whole"}
    left = pair.out.parent / ".out.partial/folder"  # of a killed process
    left.mkdir(parents=True)
    (left / "README.md").write_bytes(b"half")
    assert s2corpus_reader.apply(pair.made, pair.old, pair.out) == "small-20230201-00000000"
    assert {path: (pair.out / path).read_bytes() for path in pair.files} == pair.files
    assert {path.name for path in pair.out.parent.iterdir()} == {"out"}


def _path(path: Any) -> Callable[[Pair], object]:
    def forge(pair: Pair) -> None:
        pair.manifest["files"].insert(0, {"path": path, "bytes": 6, "sha256": hashlib.sha256(b"a card").hexdigest()})
        pair.plan["files"][str(path)] = {"as": "copy", "from": "README.md"}

    return forge


def _step(path: str, **others: Any) -> Callable[[Pair], object]:
    return lambda pair: pair.plan["files"][path].update(others)


def _sizes(path: str, **others: Any) -> Callable[[Pair], object]:
    return lambda pair: pair.find_entry(path).update(others)


def _repeated(path: str) -> Callable[[Pair], object]:
    def forge(pair: Pair) -> None:
        pair.plan["files"][path].update(pieces=[["old", 0, 10]] * 200_000, groups=[2_000_000])
        pair.find_entry(path)["rows"] = 2_000_000

    return forge


def _content(path: str, content: bytes) -> Callable[[Pair], object]:
    return lambda pair: (pair.made / "new" / path).write_bytes(content)


def _fifo(path: str) -> Callable[[Pair], object]:
    def forge(pair: Pair) -> None:
        (pair.folder / path).unlink()
        os.mkfifo(pair.folder / path)

    return forge


def _link(pair: Pair) -> None:
    (pair.folder / "secret").write_bytes(b"[1]")
    (pair.made / "new/stats.json").unlink()
    (pair.made / "new/stats.json").symlink_to(pair.folder / "secret")


FORGED: dict[str, Callable[[Pair], object]] = {
    "a path outside": _path("../escape"),
    "no step": lambda pair: pair.plan["files"].pop(METADATA),
    "a step of another kind": _step(METADATA, **{"as": "magic"}),
    "a step that is a list": lambda pair: pair.plan["files"].update({METADATA: []}),
    "a copy of another file": _step("README.md", **{"from": "stats.json"}),
    "a copy of an outside file": _step("README.md", **{"from": "../newer/README.md"}),
    "lines of an outside file": _step(METADATA, of=["../newer/" + METADATA]),
    "lines of one file twice": _step(METADATA, of=[METADATA, METADATA]),
    "200,000 repeated pieces of lines": _repeated(METADATA),
    "200,000 repeated pieces of rows": _repeated(TABLE),
    "pieces backwards": _step(METADATA, pieces=[["old", 5, 7], ["old", 0, 6]]),
    "more lines than there are": _step(METADATA, pieces=[["old", 8, 13]]),
    "more rows than there are": _step(TABLE, pieces=[["old", 100, 410]]),
    "a piece from before the first": _step(METADATA, pieces=[["old", -1, 13]]),
    "a piece of fewer than no lines": _step(METADATA, pieces=[["old", 0, 14], ["old", 5, -1]]),
    "a piece of true lines": _step(METADATA, pieces=[["old", 0, 12], ["old", 0, True]]),
    "a piece of another file": _step(METADATA, pieces=[["other", 0, 13]]),
    "groups of other rows": _step(TABLE, groups=[1]),
    "a group of 10**18 rows": _step(TABLE, groups=[10**18]),
    "10**18 bytes": _sizes("README.md", bytes=10**18),
    "a smaller size than the content has": _sizes(METADATA, content_bytes=30),
    "a large gzip": _content(METADATA, compress(bytes(20_000_000))),
    "a gzip of many lines": _content(METADATA, compress(b"\n" * 2_000_000)),
    "no file of lines": lambda pair: (pair.made / "new" / METADATA).unlink(),
    "a large file": _content("stats.json", bytes(20_000_000)),
    "a short file": _content("stats.json", b""),
    "no gzip": _content(METADATA, b"no gzip"),
    "no Parquet": _content(TABLE, b"PAR1" + bytes(40) + b"PAR1"),
    "another schema": _content(TABLE, serialize(pa.table({"x": [1]}))),
    "Parquet of very many rows": _content(TABLE, serialize(pa.table({"x": pa.nulls(3_000_000)}), 3_000_000)),
    "a FIFO for the plan": _fifo("delta/delta.json"),
    "a FIFO for rows": _fifo(f"delta/new/{TABLE}"),
    "a FIFO for the copy's lines": _fifo(f"old/{METADATA}"),
    "a FIFO for the copy's rows": _fifo(f"old/{TABLE}"),
    "a link outside": _link,
}


@pytest.mark.parametrize(
    ("forged", "is_lake"), [*((name, True) for name in FORGED), *((name, False) for name in FORGED if "copy" in name)]
)
def test_forged_delta_is_refused_without_trace(pair: Pair, forged: str, is_lake: bool) -> None:
    FORGED[forged](pair)
    if not forged.startswith("a FIFO for the") or "copy" in forged:
        pair.write()
    before = pair.names()
    with pytest.raises(SnapshotError) as refused:
        s2corpus_reader.apply(pair.made, pair.old if is_lake else str(pair.folder / "old"), pair.out)
    assert "\n" not in str(refused.value)
    assert pair.names() == before
    assert not Path("/tmp/escape").exists()


@pytest.mark.parametrize("paths", [["README.md", "../../escape/x"], ["README.md", "README.md"]])
def test_names_are_checked_before_any_folder_is_made(tmp_path: Path, paths: list[str]) -> None:
    whole = snapshot(tmp_path / "whole", "small-20230101-00000000", {"README.md": b"a card"})
    files = [{"path": path, "bytes": 6, "sha256": "0"} for path in paths]
    forged = snapshot(tmp_path / "forged", "small-20230201-00000000", {"README.md": b"other"}, files=files)
    before = set(tmp_path.rglob("*"))
    acts: list[Callable[[], object]] = [
        lambda: write_delta(whole, forged, tmp_path / "made/delta"),
        lambda: write_delta(forged, whole, tmp_path / "made/delta"),
        lambda: push.push_to_lake(forged, LocalLake(tmp_path / "pushed")),
    ]
    for act in acts:
        with pytest.raises(SnapshotError, match="is damaged"):
            act()
        assert set(tmp_path.rglob("*")) == before


def test_two_processes_do_not_write_one_folder(pair: Pair) -> None:
    with deltas.new_folder(pair.out) as folder:
        (folder / "file").touch()
        with pytest.raises(SnapshotError, match="another process is writing"):
            s2corpus_reader.apply(pair.made, pair.old, pair.out)
        assert (folder / "file").exists()
    assert [path.name for path in pair.out.iterdir()] == ["file"]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_apply_leaves_nothing(pair: Pair, sent: signal.Signals) -> None:
    code = (
        "import signal, sys, time; from s2corpus import cli; from s2corpus_reader import deltas\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # Background jobs of a shell ignore this signal.
        "copy = deltas.copy_file\n"
        "deltas.copy_file = lambda *a: (copy(*a), print('copied', flush=True), time.sleep(60))\n"
        "sys.argv[1:] = ['apply', *sys.argv[1:]]; cli.main()"
    )
    before = pair.names()
    words = [str(pair.made), "--copy", str(pair.folder / "old"), "--out", str(pair.out)]
    with subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"copied\n"
        assert pair.names() > before
        process.send_signal(sent)
        process.wait(30)
    assert process.returncode
    assert pair.names() == before


def test_full_disk_is_refused_before_writing(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    before = pair.names()
    free = shutil.disk_usage(pair.folder)._replace(free=10)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: free)
    with pytest.raises(SnapshotError, match="10 are free"):
        s2corpus_reader.apply(pair.made, pair.old, pair.out)
    assert pair.names() == before


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("export.files", 10**18), ("export.files", 0), ("export.files", -3), ("export.files", "30"), ("export.files", 2.5),
        ("split.shingle_words", -1), ("split.minhash_bands", -20), ("split.min_jaccard", 5.0), ("clean.profile", "../x"),
        ("export.shard_bytes", 1), ("export.corpus_files", 10**9),
    ],
)  # fmt: skip
def test_rules_of_manifests_have_bounds_of_specs(tmp_path: Path, rule: str, value: Any) -> None:
    bands = {"split.minhash_rows": -6} if rule == "split.minhash_bands" else {}
    forged = snapshot(tmp_path / "forged", "small-20230101-00000000", {}, rules=RULES | bands | {rule: value})
    faults = [str(fault) for fault in verify(forged)]
    assert len(faults) == 1 and "malformed" in faults[0] and rule in faults[0]
    if rule == "export.files":
        with pytest.raises(SnapshotError, match="is damaged"):
            s2corpus_reader.open(str(tmp_path / "forged"))


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("split.min_jaccard", 0.0), ("split.min_jaccard", 1.0), ("split.minhash_seed", 0), ("link.count_warnings", ["tie"]),
    ],
)  # fmt: skip
def test_bounds_of_specs_are_valid_in_manifests(tmp_path: Path, rule: str, value: Any) -> None:
    missing = {name: value for name, value in RULES.items() if name != "split.max_group"}
    (fault,) = verify(snapshot(tmp_path / "forged", "small-20230101-00000000", {}, rules=missing))
    assert str(fault) == "manifest.json: malformed: split.max_group missing from the rules"
    lake = snapshot(tmp_path / "bound", "small-20230101-00000000", {}, rules=RULES | {rule: value})
    assert not [str(fault) for fault in verify(lake) if "malformed" in str(fault)]


def test_rules_of_our_specs_have_no_fault() -> None:
    for spec in (ROOT / "include/releases").glob("*.yaml"):
        assert find_invalid_rule(orjson.loads(orjson.dumps(list_rules(load_spec(spec))))) is None, spec
    assert find_invalid_rule({"future.rule": 10**18, "export.future": [], "no section": 1}) is None


def test_long_line_is_not_held_in_memory(tmp_path: Path) -> None:
    content = compress_blocks(bounded.MAX_LINE_BYTES // (1 << 20) + 2, b" " * (1 << 20))
    size, path = bounded.MAX_LINE_BYTES + (2 << 20), "v2/s2orc/train/00.jsonl.gz"
    listed = {
        "path": path,
        "bytes": len(content),
        "sha256": "0",
        "rows": 1,
        "content_bytes": size,
        "content_sha256": "0",
    }
    forged = snapshot(tmp_path / "forged", "small-20230101-00000000", {"README.md": b""}, files=[listed])
    (tmp_path / "forged" / path).parent.mkdir(parents=True)
    (tmp_path / "forged" / path).write_bytes(content)
    fault = f"{path}, line 1: a line has more than {bounded.MAX_LINE_BYTES:,} bytes"
    assert fault in map(str, verify(forged))
    with pytest.raises(SnapshotError, match="a line has more"):
        next(grep(s2corpus_reader.open(forged.root), "x", ["s2orc"], ["train"]))


@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "outside", "nothing"])
def test_verify_opens_regular_files_only(tmp_path: Path, kind: str) -> None:
    names = [METADATA, TABLE, *(f"{name}.parquet" for name in ("index", "aliases", "duplicates"))]
    names += ["stats.json", "croissant.json", "README.md"]
    files = {name: compress(b"") if name.endswith(".gz") else rows([1]) for name in names}
    forged = snapshot(tmp_path / "forged", "small-20230101-00000000", files)
    (tmp_path / "secret").write_bytes(b"secret")
    for name in names:
        path = tmp_path / "forged" / name
        path.unlink()
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            target = {"device": Path("/dev/zero"), "outside": tmp_path / "secret", "nothing": Path("nowhere")}
            path.symlink_to(target[kind])
    faults = [str(fault) for fault in verify(forged)]
    for name in names:
        assert any(fault.startswith(f"{name}:") for fault in faults), name


def test_verify_reads_no_more_than_listed(tmp_path: Path) -> None:
    forged = snapshot(tmp_path / "forged", "small-20230101-00000000", {"README.md": b"a card", METADATA: compress(b"")})
    for name in ("README.md", METADATA):
        with (tmp_path / "forged" / name).open("r+b") as out:
            out.truncate(1 << 40)  # A sparse file: reading all of it takes minutes.
    faults = [str(fault) for fault in verify(forged)]
    assert "README.md: the SHA-256 differs from the manifest" in faults
    assert any(fault.startswith(f"{METADATA}: ") and "differs from the manifest" in fault for fault in faults)


def test_manifest_is_a_regular_file_of_limited_size(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "manifest.json")
    with pytest.raises(UserError, match="not a regular file"):
        list(verify(LocalLake(tmp_path)))
    (tmp_path / "manifest.json").unlink()
    with (tmp_path / "manifest.json").open("wb") as out:
        out.truncate(bounded.MAX_JSON_BYTES + 1)
    (fault,) = verify(LocalLake(tmp_path))
    assert str(fault) == "manifest.json: manifest.json has more than 67,108,864 bytes"


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (pa.table({"x": pa.nulls(2_000_000)}), "2,000,000 rows"),
        (pa.table({"x": pa.array(["a" * 100_000] * 1_000).dictionary_encode().cast(pa.string())}), "bytes of values"),
    ],
    ids=["rows", "one value again and again"],
)
def test_parquet_is_in_proportion_to_its_size(tmp_path: Path, table: pa.Table, says: str) -> None:
    (tmp_path / "a.parquet").write_bytes(serialize(table, len(table)))
    with pytest.raises(bounded.TooLarge, match=says):
        parquet_files.read_table(LocalLake(tmp_path), "a.parquet")


@pytest.mark.parametrize("size", [0, 1, 5, 7])
def test_files_have_exactly_their_bytes(tmp_path: Path, size: int) -> None:
    (tmp_path / "a").write_bytes(b"123456")
    with pytest.raises(ValueError, match="bytes"):
        bounded.copy_file(LocalLake(tmp_path), "a", tmp_path / "b", size)
    bounded.copy_file(LocalLake(tmp_path), "a", tmp_path / "b", 6)
    assert (tmp_path / "b").read_bytes() == b"123456"


def test_limits_are_inclusive(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"[1234]")
    lake = LocalLake(tmp_path)
    assert bounded.read_bytes(lake, "a", 6) == b"[1234]"
    with pytest.raises(bounded.TooLarge):
        bounded.read_bytes(lake, "a", 5)
    with pytest.raises(ValueError, match="not a JSON object"):
        bounded.read_object(lake, "a")
    assert list(bounded.gzip_lines(BytesIO(compress(b"a\nbc\n")), 5)) == [b"a\n", b"bc\n"]
    with pytest.raises(bounded.TooLarge, match="content"):
        list(bounded.gzip_lines(BytesIO(compress(b"a\nbc\n")), 4))
    assert bounded.can_inflate_to(1, 1032) and not bounded.can_inflate_to(1, 1033)
    assert bounded.can_have_rows(1, 100_004) and not bounded.can_have_rows(1, 100_005)


@pytest.mark.parametrize(
    "value",
    [
        *({"path": path} for path in ("", "a//b", "a/", "/a", "./a", "a/../b", "-rf", "é", "a b", "a\n", "C:/a", "a\0b", "..\\a", ".x",
                                      "a" * 301, 5, None)),
        *({"bytes": size} for size in (None, True, 1.0, 1 << 63, -1, "6")), {"rows": -1}, {"rows": 1.5}, {"sha256": None}, {"sha256": 5},
        {"path": "a.parquet", "rows": 200_000}, {"content_bytes": 10**12},
    ],
)  # fmt: skip
def test_listed_file_of_another_form_is_refused(value: dict[str, Any]) -> None:
    right: dict[str, Any] = {"path": "a", "bytes": 1, "sha256": "0"}
    SnapshotFile(**right)
    with pytest.raises(ValueError, match=r"path|size|rows|content"):
        list_files({"files": [right | value]})


def test_pieces_of_many_groups_give_their_rows(tmp_path: Path) -> None:
    table = pa.table({"x": list(range(100))})
    numbers = parquet_files.Rows([("old", 5, 3), ("new", 0, 4), ("old", 50, 2)], {"old": (0, 90), "new": (90, 10)})
    parquet_files.write_groups(table, numbers, [2, 6, 1], tmp_path / "out", 10_000)
    made = pq.ParquetFile(tmp_path / "out")
    assert made.read()["x"].to_pylist() == [5, 6, 7, 90, 91, 92, 93, 50, 51]
    assert [made.metadata.row_group(i).num_rows for i in range(3)] == [2, 6, 1]
    numbers = parquet_files.Rows([("old", 5, 3)], {"old": (0, 90), "new": (90, 10)})
    with pytest.raises(ValueError, match="there are no rows"):
        parquet_files.write_groups(table, numbers, [4], tmp_path / "out", 10_000)


def test_repeated_large_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "MAX_GROUP_BYTES", 10_000)
    table = pa.table({"x": ["a" * 1000]})
    for count, refused in ((9, False), (11, True)):
        numbers = parquet_files.Rows([("old", 0, 1)] * count, {"old": (0, 1), "new": (1, 0)})
        if refused:
            with pytest.raises(bounded.TooLarge, match="a row group has more"):
                parquet_files.write_groups(table, numbers, [count], tmp_path / "out", 10**6)
        else:
            parquet_files.write_groups(table, numbers, [count], tmp_path / "out", 10**6)


@pytest.mark.parametrize(
    ("paths", "says"),
    [
        (["manifest.json"], "lists manifest.json itself"), (["a", "a"], "lists a twice"),
        (["a", "a/b"], "lists a as a file and as a folder"), (["a/b/c", "a/b"], "lists a/b as a file and as a folder"),
        (["manifest.json/a"], "lists manifest.json as a file and as a folder"),
    ],
)  # fmt: skip
def test_names_in_conflict_are_refused(paths: list[str], says: str) -> None:
    def listed(paths: Sequence[str]) -> list[str]:
        return list(list_files({"files": [{"path": path, "bytes": 1, "sha256": "0"} for path in paths]}))

    with pytest.raises(ValueError, match=says):
        listed(paths)
    assert listed(("a", "b/a", "ab")) == ["a", "b/a", "ab"]
