"""docs/hostile-input.md: forged snapshots and deltas take no more memory than their size allows, never block a reader, and write
nothing outside the target.
"""

import gzip
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
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
from s2corpus.snapshot.manifest import list_rules
from s2corpus.snapshot.verify import verify
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.local_lake import LocalLake
from s2corpus_reader import SnapshotError, bounded, deltas
from s2corpus_reader import parquet as parquet_files
from s2corpus_reader.difference import write_delta
from s2corpus_reader.files import SNAPSHOT_FORMAT, GzipLines, list_files
from s2corpus_reader.parquet import parquet_writer

LINES = [b'{"paper_id":"%015x"}\n' % number for number in range(20)]
METADATA, TABLE = "corpus/metadata/metadata_0.jsonl.gz", "tables/papers/00.parquet"
RULES = list_rules(ReleaseSpec.model_validate({"name": "small", "export": {"files": 30}}))


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
    folder.mkdir()
    for path, content in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    value = {
        "format": f"s2corpus-snapshot-{SNAPSHOT_FORMAT}",
        "snapshot": id_, "spec": "small", "spec_sha256": "0", "as_of": "2023-01-01T00:00:00Z", "parent": None,
        "versions": {"code": "1", "extractor": "1", "converter": "1"}, "inputs": [], "rules": RULES,
        "files": [describe(path, content) for path, content in sorted(contents.items())],
    }  # fmt: skip
    (folder / "manifest.json").write_bytes(orjson.dumps(value | others))
    return LocalLake(folder, confined=True)


def write_files(file: Path, lines: list[bytes], numbers: list[int], stats: bytes) -> dict[str, bytes]:
    with GzipLines(file) as out:
        for line in lines:
            out.write(line)
    files = {"README.md": b"a card", "stats.json": stats, METADATA: file.read_bytes()}
    table = pq.read_table(BytesIO(rows(numbers)))
    with parquet_writer(file, table.schema) as writer:
        writer.write_table(table, row_group_size=len(numbers))
    return files | {TABLE: file.read_bytes()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """Return a folder with two snapshots, `old` and `newer`, and the delta between them, and the files of the newer one."""
    folder, file = tmp_path_factory.mktemp("pair"), tmp_path_factory.mktemp("file") / "file"
    old = write_files(file, LINES[:12], list(range(500)), b"{}")
    new = write_files(file, [*LINES[:5], *LINES[7:15]], [*range(100), *range(200, 510)], b"[1]")
    before = snapshot(folder / "old", "small-20230101-00000000", old)
    after = snapshot(folder / "newer", "small-20230201-00000000", new)
    write_delta(before, after, folder / "delta")
    return folder, new


class Pair:
    """A copy of two snapshots and the delta between them, which a test forges."""

    def __init__(self, made: Path, folder: Path, files: dict[str, bytes]) -> None:
        shutil.copytree(made, folder, dirs_exist_ok=True)
        self.folder, self.out, self.made, self.files = folder, folder / "new/out", folder / "delta", files
        self.old = LocalLake(folder / "old", confined=True)
        self.plan, self.manifest = (
            orjson.loads((self.made / name).read_bytes()) for name in ("delta.json", "manifest.json")
        )

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


Forge = Callable[[Pair], object]


def step(path: str, **others: Any) -> Forge:
    return lambda pair: pair.plan["files"][path].update(others)


def content(path: str, data: bytes) -> Forge:
    return lambda pair: (pair.made / "new" / path).write_bytes(data)


def fifo(path: str) -> Forge:
    def forge(pair: Pair) -> None:
        (pair.folder / path).unlink()
        os.mkfifo(pair.folder / path)

    return forge


def outside_path(pair: Pair) -> None:
    digest = hashlib.sha256(b"a card").hexdigest()
    pair.manifest["files"].insert(0, {"path": "../escape", "bytes": 6, "sha256": digest})
    pair.plan["files"]["../escape"] = {"as": "copy", "from": "README.md"}


def repeated_rows(pair: Pair) -> None:
    pair.plan["files"][TABLE].update(pieces=[["old", 0, 10]] * 200_000, groups=[2_000_000])
    pair.find_entry(TABLE)["rows"] = 2_000_000


def outside_link(pair: Pair) -> None:
    (pair.folder / "secret").write_bytes(b"[1]")
    (pair.made / "new/stats.json").unlink()
    (pair.made / "new/stats.json").symlink_to(pair.folder / "secret")


FORGED: dict[str, Forge] = {
    "a path outside": outside_path, "no step": lambda pair: pair.plan["files"].pop(METADATA),
    "a copy of an outside file": step("README.md", **{"from": "../newer/README.md"}), "200,000 repeated pieces of rows": repeated_rows,
    "more lines than there are": step(METADATA, pieces=[["old", 8, 13]]),
    "a piece of fewer than no lines": step(METADATA, pieces=[["old", 0, 14], ["old", 5, -1]]),
    "a group of 10**18 rows": step(TABLE, groups=[10**18]), "10**18 bytes": lambda pair: pair.find_entry("README.md").update(bytes=10**18),
    "a gzip of many lines": content(METADATA, compress(b"\n" * 2_000_000)), "no Parquet": content(TABLE, b"PAR1" + bytes(40) + b"PAR1"),
    "Parquet of very many rows": content(TABLE, serialize(pa.table({"x": pa.nulls(3_000_000)}), 3_000_000)),
    "a FIFO for the plan": fifo("delta/delta.json"), "a FIFO for the copy's lines": fifo(f"old/{METADATA}"), "a link outside": outside_link,
}  # fmt: skip


@pytest.mark.parametrize("forged", FORGED)
def test_forged_delta_is_refused_without_trace(pair: Pair, forged: str) -> None:
    FORGED[forged](pair)
    if "FIFO" not in forged or "copy" in forged:
        pair.write()
    before = pair.names()
    for old in (pair.old, str(pair.folder / "old")):
        with pytest.raises(SnapshotError) as refused:
            s2corpus_reader.apply(pair.made, old, pair.out)
        assert "\n" not in str(refused.value)
        assert pair.names() == before


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
        process.send_signal(sent)
        process.wait(120)  # a busy machine is slow
    assert process.returncode
    assert pair.names() == before


@pytest.mark.parametrize(
    ("rule", "value", "is_valid"),
    [
        ("export.files", 10**18, False), ("export.files", "30", False), ("export.files", None, False), ("split.min_jaccard", 1.0, True),
        ("split.min_jaccard", "x", False), ("split.valid_days", 10**18, False), ("link.count_warnings", 5, False),
        ("clean.profile", "../x", False),
    ],
)  # fmt: skip
def test_rules_of_manifests_have_bounds_of_specs(tmp_path: Path, rule: str, value: Any, is_valid: bool) -> None:
    lake = snapshot(tmp_path / "forged", "small-20230101-00000000", {}, rules=RULES | {rule: value})
    faults = [str(fault) for fault in verify(lake)]
    assert ("malformed" not in str(faults)) if is_valid else (len(faults) == 1 and rule in faults[0])
    fewer = {name: given for name, given in RULES.items() if name != "split.near_duplicates"}
    (fault,) = verify(snapshot(tmp_path / "fewer", "small-20230101-00000000", {}, rules=fewer))
    assert str(fault) == "manifest.json: malformed: split.near_duplicates missing from the rules"


KINDS: dict[str, Callable[[Path], object]] = {
    "FIFO": os.mkfifo, "device": lambda path: path.symlink_to("/dev/zero"), "folder": lambda path: path.mkdir(),
    "link that leads out": lambda path: path.symlink_to("/etc/hostname"),
    "huge": lambda path: path.touch() or os.truncate(path, 1 << 40),  # type: ignore[func-returns-value]  # a sparse file
}  # fmt: skip
"""kinds of a path other than a small regular file"""


@pytest.mark.parametrize("kind", KINDS)
def test_verify_opens_regular_files_of_the_listed_size(tmp_path: Path, kind: str) -> None:
    names = [METADATA, TABLE, *(f"{name}.parquet" for name in ("index", "aliases", "duplicates"))]
    names += ["stats.json", "croissant.json", "README.md"]
    files = {name: compress(b"") if name.endswith(".gz") else rows([1]) for name in names}
    forged = snapshot(tmp_path / "forged", "small-20230101-00000000", files)
    for name in names:
        (tmp_path / "forged" / name).unlink()
        KINDS[kind](tmp_path / "forged" / name)
    faults = [str(fault) for fault in verify(forged)]
    assert [name for name in names if not any(fault.startswith(f"{name}:") for fault in faults)] == []


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


def test_repeated_large_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "MAX_GROUP_BYTES", 10_000)
    table = pa.table({"x": ["a" * 1000]})
    for count, expected in ((9, nullcontext()), (11, pytest.raises(bounded.TooLarge, match="a row group has more"))):
        repeated = parquet_files.Rows([("old", 0, 1)] * count, {"old": (0, 1), "new": (1, 0)})
        with expected:
            parquet_files.write_groups(table, repeated, [count], tmp_path / "out", 10**6)


def test_limits_are_inclusive(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"[1234]")
    lake, lines = LocalLake(tmp_path), compress(b"a\nbc\n")
    assert bounded.read_bytes(lake, "a", 6) == b"[1234]"
    assert list(bounded.gzip_lines(BytesIO(lines), 5)) == [b"a\n", b"bc\n"]
    bounded.copy_file(lake, "a", tmp_path / "b", 6)
    assert (tmp_path / "b").read_bytes() == b"[1234]"
    acts: list[Callable[[], object]] = [
        lambda: bounded.read_bytes(lake, "a", 5),
        lambda: list(bounded.gzip_lines(BytesIO(lines), 4)),
        *(lambda size=size: bounded.copy_file(lake, "a", tmp_path / "b", size) for size in (0, 5, 7)),
    ]
    for act in acts:
        with pytest.raises(ValueError, match="bytes"):
            act()
    assert bounded.can_inflate_to(1, 1032) and not bounded.can_inflate_to(1, 1033)
    assert bounded.can_have_rows(1, 100_004) and not bounded.can_have_rows(1, 100_005)


@pytest.mark.parametrize(
    "value",
    [
        *({"path": path} for path in ("", "a//b", "/a", "a/../b", "-rf", "é", "a b", "a\n", "C:/a", "a\0b", "..\\a", "a" * 301, 5, None,
                                      "manifest.json", "manifest.json/a", "right", "right/a")),
        *({"bytes": size} for size in (None, True, 1.0, 1 << 63, -1, "6")), {"rows": -1}, {"rows": 1.5}, {"sha256": None}, {"sha256": 5},
        {"path": "a.parquet", "rows": 200_000}, {"content_bytes": 10**12},
    ],
)  # fmt: skip
def test_listed_file_of_another_form_is_refused(value: dict[str, Any]) -> None:
    right: dict[str, Any] = {"path": "right", "bytes": 1, "sha256": "0"}
    assert list(list_files({"files": [right, right | {"path": "a/right"}]})) == ["right", "a/right"]
    with pytest.raises(ValueError, match=r"path|size|rows|content|lists"):
        list_files({"files": [right, right | {"path": "a"} | value]})
