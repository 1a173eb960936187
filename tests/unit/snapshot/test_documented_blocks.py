"""The code blocks of docs/formats.md and docs/reading.md run unchanged in the folder of a snapshot."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pytest

from s2corpus.snapshot.pointer import publish
from tests.unit.snapshot.test_export import release

DOCS = Path(__file__).resolve().parents[3] / "docs"
TEXT = "\n".join((DOCS / name).read_text("utf-8") for name in ("formats.md", "reading.md"))
BLOCKS = re.findall(r"^```(python|sql)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a snapshot's folder; its spec has the name used on the page."""
    run = release(tmp_path_factory.mktemp("blocks"))
    publish(run.lake, run.snapshot_id)
    return Path(run.lake.uri(f"snapshots/{run.snapshot_id}"))


@pytest.mark.parametrize(("language", "block"), BLOCKS, ids=[code.split("\n")[0][:40] for _, code in BLOCKS])
def test_documented_code_block_runs(
    language: str, block: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    if language == "sql":
        for statement in filter(str.strip, block.split(";")):
            assert duckdb.sql(statement) is not None
        return
    for module in re.findall(r"^import (\w+)", block, re.MULTILINE):
        pytest.importorskip(module)
    block = block.replace("<folder of the snapshot>", str(folder)).replace("s3://lake/snapshots/s2_v2", str(folder))
    for table in re.findall(r'load_dataset\([^\n]*"(\w+)", split', block):
        if table not in ("s2orc", "s2ag") and not any((folder / "tables" / table).glob("*.parquet")):
            pytest.fail(f"{table} is no table of a snapshot")
    lines = (folder / "v2/s2orc/train").glob("*.jsonl.gz")
    names: dict[str, Any] = {"document": _some_document(sorted(lines)), "...": ...}
    known = orjson.loads((folder / "manifest.json").read_bytes())
    assert known["snapshot"]
    doi = duckdb.sql("SELECT doi FROM 'index.parquet' WHERE doi IS NOT NULL AND set = 's2orc' LIMIT 1").fetchone()
    assert doi is not None
    exec(compile(block.replace("10.18653/v1/2020.acl-main.447", doi[0]), "documentation", "exec"), names)


def _some_document(files: list[Path]) -> dict[str, Any]:
    import gzip

    for file in files:
        for line in gzip.decompress(file.read_bytes()).splitlines():
            found: dict[str, Any] = orjson.loads(line)
            return found
    raise AssertionError("no document")
