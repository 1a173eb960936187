"""The code blocks of docs/formats.md and docs/reading.md run unchanged in the folder of a snapshot."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import duckdb
import orjson
import pytest

DOCS = Path(__file__).resolve().parents[4] / "docs"
TEXT = "\n".join((DOCS / name).read_text("utf-8") for name in ("formats.md", "reading.md"))
BLOCKS = re.findall(r"^```(python|sql)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("language", "block"), BLOCKS, ids=[code.split("\n")[0][:40] for _, code in BLOCKS])
def test_documented_code_block_runs(
    language: str, block: str, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(published)
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    if language == "sql":
        for statement in filter(str.strip, block.split(";")):
            assert duckdb.sql(statement) is not None
        return
    for module in re.findall(r"^import (\w+)", block, re.MULTILINE):
        pytest.importorskip(module)
    block = block.replace("<folder of the snapshot>", str(published))
    block = block.replace("s3://lake/snapshots/s2_v2", str(published))
    for table in re.findall(r'load_dataset\([^\n]*"(\w+)", split', block):
        assert table in ("s2orc", "s2ag") or any((published / "tables" / table).glob("*.parquet")), table
    files = sorted((published / "v2/s2orc/train").glob("*.jsonl.gz"))
    document = next(line for file in files for line in gzip.decompress(file.read_bytes()).splitlines())
    doi = duckdb.sql("SELECT doi FROM 'index.parquet' WHERE doi IS NOT NULL AND set = 's2orc' LIMIT 1").fetchone()
    assert doi is not None
    block = block.replace("10.18653/v1/2020.acl-main.447", doi[0])
    exec(compile(block, "documentation", "exec"), {"document": orjson.loads(document), "...": ...})
