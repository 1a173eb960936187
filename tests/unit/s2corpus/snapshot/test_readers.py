"""docs/formats.md, docs/reading.md: the code blocks run unchanged in the folder of a snapshot, and other tools read each file."""

import gzip
import os
import re
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pandas
import pyarrow.parquet as pq
import pytest
import tokenizers

from s2corpus.snapshot import documents, hub
from s2corpus_reader.schemas import PARSE

DOCS = Path(__file__).resolve().parents[4] / "docs"
TEXT = "\n".join((DOCS / name).read_text("utf-8") for name in ("formats.md", "reading.md"))
ALL = re.findall(r"^```(python|sql)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
BLOCKS = [(language, code) for language, code in ALL if "s3.example.org" not in code]
"""`tests/unit/s2corpus_reader/test_examples.py` runs the others on S3."""
SETS = [(set_, split) for set_ in ("s2orc", "s2ag") for split in ("train", "valid")]


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
    block = block.replace("<your folder>/documents", str(tmp_path))
    block = block.replace("s3://lake/snapshots/s2_v2", str(published))
    files = sorted((published / "v2/s2orc/train").glob("*.jsonl.gz"))
    document = next(line for file in files for line in gzip.decompress(file.read_bytes()).splitlines())
    doi = duckdb.sql("SELECT doi FROM 'index.parquet' WHERE doi IS NOT NULL AND set = 's2orc' LIMIT 1").fetchone()
    assert doi is not None
    block = block.replace("10.18653/v1/2020.acl-main.447", doi[0])
    exec(compile(block, "documentation", "exec"), {"document": orjson.loads(document), "...": ...})


def find_ids(folder: Path, set_: str, split: str) -> set[str]:
    index = pq.read_table(folder / "index.parquet").to_pylist()
    found = {row["id"] for row in index if (row["set"], row["split"]) == (set_, split)}
    assert found
    return found


def count_rows(folder: Path, pattern: str) -> int:
    return sum(pq.read_metadata(file).num_rows for file in folder.glob(pattern))


def test_pandas_polars_and_duckdb_read_lines_and_parquet(published: Path) -> None:
    """Check also that no row group is empty (SPEC §10.10)."""
    polars = pytest.importorskip("polars")
    for set_, split in SETS:
        expected, lines = find_ids(published, set_, split), f"v2/{set_}/{split}/*.jsonl.gz"
        frames = [pandas.read_json(file, lines=True, dtype=False) for file in published.glob(lines)]
        assert {id_ for frame in frames if len(frame) for id_ in frame["id"]} == expected
        assert {id_ for (id_,) in duckdb.sql(f"SELECT id FROM '{published}/{lines}'").fetchall()} == expected
        keys = ["id", "sha1", "text"] if set_ == "s2orc" else ["id", "text"]
        found = polars.read_ndjson(published / lines, schema=dict.fromkeys(keys, polars.String))
        assert set(found["id"]) == expected
    for file in published.rglob("*.parquet"):
        metadata = pq.read_metadata(file)
        assert len(pandas.read_parquet(file)) == polars.read_parquet(file).height == metadata.num_rows
        assert all(metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)), file


@pytest.mark.parametrize(("set_", "split"), SETS)
def test_datatrove_reads_lines_and_documents(published: Path, set_: str, split: str) -> None:
    readers = pytest.importorskip("datatrove.pipeline.readers")
    expected = find_ids(published, set_, split)
    lines = readers.JsonlReader(f"{published}/v2/{set_}/{split}", glob_pattern="*.jsonl.gz")
    documents = readers.ParquetReader(f"{published}/documents/{set_}/{split}", glob_pattern="*.parquet")
    for found in (list(lines()), list(documents())):
        assert {one.id for one in found} == expected and all(one.text for one in found)


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return Hugging Face datasets without a network, with a separate cache."""
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    module = pytest.importorskip("datasets")
    monkeypatch.setattr(module.config, "HF_DATASETS_CACHE", tmp_path)
    return module


@pytest.mark.parametrize(("set_", "split"), SETS)
def test_datasets_reads_lines_and_documents(published: Path, datasets: Any, set_: str, split: str) -> None:
    expected, lines = find_ids(published, set_, split), f"{published}/v2/{set_}/{split}"
    loaded = datasets.load_dataset(str(published), set_, split=split)
    assert set(loaded["id"]) == expected
    assert loaded.features == datasets.Features.from_arrow_schema(documents.SCHEMA)
    loaded = datasets.load_dataset("json", data_files=f"{lines}/*.jsonl.gz", split="train")
    assert loaded.column_names == (["id", "sha1", "text"] if set_ == "s2orc" else ["id", "text"])
    assert set(loaded["id"]) == expected


def test_datasets_reads_every_table(published: Path, datasets: Any) -> None:
    for table, (path, schema) in hub.TABLES.items():
        if rows := count_rows(published, path):  # An empty table is not in the card, because it cannot be loaded.
            loaded = datasets.load_dataset(str(published), table, split="train")
            assert len(loaded) == rows
            assert loaded.features == datasets.Features.from_arrow_schema(schema)


def test_croissant_description_is_valid_and_loads(published: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset = mlcroissant.Dataset(jsonld=published / "croissant.json")
    assert not dataset.metadata.issues.errors and not dataset.metadata.issues.warnings
    for set_, split in SETS:
        for name in (f"{set_}-{split}", f"documents-{set_}-{split}"):
            found = {record[f"{name}/id"].decode() for record in dataset.records(name)}
            assert found == find_ids(published, set_, split), name
    for name, (path, _) in hub.TABLES.items():
        assert sum(1 for _ in dataset.records(name)) == count_rows(published, path), name


@pytest.mark.long
def test_dolma_tags_and_tokenizes_the_export(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the blocks of the page in order with the program itself."""
    if shutil.which("dolma") is None:
        pytest.skip(
            "Dolma is not installed: `uv venv dolma && uv pip install -p dolma dolma`, and dolma/bin on the PATH"
        )
    export, commands = re.findall(r"```\w+\n([^`]*\bdocuments/00.jsonl.gz.*?|dolma tag .*?)```", TEXT, re.DOTALL)
    monkeypatch.chdir(published)
    (tmp_path / "mine/documents").mkdir(parents=True)
    exec(compile(export.replace("<your folder>", str(tmp_path / "mine")), "documentation", "exec"), {})
    (file,) = (tmp_path / "mine/documents").iterdir()
    lines = [orjson.loads(line) for line in read_lines(file.parent)]
    for number, line in enumerate(lines):  # The papers of the fixture have one length.
        line["text"] = " ".join(line["text"].split()[: 60 + 5 * number])
    file.write_bytes(gzip.compress(b"".join(orjson.dumps(line) + b"\n" for line in lines)))
    words = {line["id"]: len(line["text"].split()) for line in lines}
    (tmp_path / "tokenizers/punkt").mkdir(parents=True)
    vocabulary = {word: number for number, word in enumerate(["[UNK]", "<eos>", "<pad>", *map(str, range(300))])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    subprocess.run(
        ["bash", "-euc", commands],
        cwd=tmp_path, env={**os.environ, "NLTK_DATA": str(tmp_path)}, check=True, timeout=1800,
    )  # fmt: skip
    mixed = {orjson.loads(line)["id"] for line in read_lines(tmp_path / "mixed/documents")}
    assert mixed == {id_ for id_, count in words.items() if count > 100} and mixed != words.keys()
    (tokens,) = (tmp_path / "tokens").glob("*.npy")
    assert tokens.stat().st_size == 2 * sum(words[id_] + 1 for id_ in mixed)


def read_lines(folder: Path) -> list[bytes]:
    return [line for file in folder.glob("*.gz") for line in gzip.decompress(file.read_bytes()).splitlines()]


@pytest.mark.long
def test_spark_reads_corpus(published: Path, tmp_path: Path) -> None:
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    from pyspark.sql.pandas.types import from_arrow_schema

    builder = sql.SparkSession.builder.master("local[1]").config("spark.driver.host", "127.0.0.1")
    spark = builder.config("spark.sql.warehouse.dir", str(tmp_path)).config("spark.ui.enabled", "false").getOrCreate()
    try:
        read = spark.read.schema(from_arrow_schema(PARSE))
        found = read.json(f"{published}/corpus/pdf_parses/*.jsonl.gz", mode="FAILFAST")
        entries = found.selectExpr("explode(bib_entries) AS (ref_id, entry)").select("ref_id", "entry.title")
        assert {tuple(row) for row in entries.distinct().collect()} == {("BIBREF0", "A title")}
    finally:
        spark.stop()
