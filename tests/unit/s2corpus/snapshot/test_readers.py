"""docs/reading.md: pandas, polars, DuckDB, Hugging Face datasets, Croissant, datatrove and Spark read a snapshot."""

from __future__ import annotations

import gzip
import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from s2corpus.snapshot import documents, hub
from s2corpus_reader.schemas import METADATA, PARSE


@pytest.fixture(scope="module")
def folder(published: Path) -> Path:
    """Return the snapshot's folder."""
    return published


SETS = [(set_, split) for set_ in ("s2orc", "s2ag") for split in ("train", "valid")]
TABLES = ["index", "papers", "paragraphs", "bib_entries", "ref_entries", "rights", "links", "contexts"]


def find_ids(folder: Path, set_: str, split: str) -> set[str]:
    index = pq.read_table(folder / "index.parquet").to_pylist()
    found = {row["id"] for row in index if (row["set"], row["split"]) == (set_, split)}
    assert found
    return found


def count_rows(folder: Path, pattern: str) -> int:
    return sum(pq.read_metadata(file).num_rows for file in folder.glob(pattern))


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return Hugging Face datasets without a network, with a separate cache."""
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    module = pytest.importorskip("datasets")
    monkeypatch.setattr(module.config, "HF_DATASETS_CACHE", tmp_path)
    return module


@pytest.mark.parametrize(("set_", "split"), SETS)
def test_pandas_polars_duckdb_and_datatrove_read_lines_and_documents(folder: Path, set_: str, split: str) -> None:
    polars, readers = pytest.importorskip("polars"), pytest.importorskip("datatrove.pipeline.readers")
    expected, lines = find_ids(folder, set_, split), f"{folder}/v2/{set_}/{split}/*.jsonl.gz"
    frames = [pd.read_json(file, lines=True, dtype=False) for file in (folder / f"v2/{set_}/{split}").iterdir()]
    assert {id_ for frame in frames if len(frame) for id_ in frame["id"]} == expected
    assert {id_ for (id_,) in duckdb.sql(f"SELECT id FROM '{lines}'").fetchall()} == expected
    keys = ["id", "sha1", "text"] if set_ == "s2orc" else ["id", "text"]
    schema = dict.fromkeys(keys, polars.String)  # Do not infer types: a file may be empty.
    assert set(polars.read_ndjson(lines, schema=schema)["id"]) == expected
    read = readers.JsonlReader(f"{folder}/v2/{set_}/{split}", glob_pattern="*.jsonl.gz").run()
    texts = {document.id: document.text for document in read}
    assert texts.keys() == expected
    assert texts == {row.id: row.text for row in readers.ParquetReader(f"{folder}/documents/{set_}/{split}").run()}


def test_duckdb_polars_and_pandas_read_documents_tables_and_graph(folder: Path) -> None:
    polars = pytest.importorskip("polars")
    for pattern in ["documents/*/*/*.parquet", "keys/*.parquet", *(path for path, _ in hub.TABLES.values())]:
        rows = count_rows(folder, pattern)
        assert duckdb.sql(f"SELECT count(*) FROM '{folder}/{pattern}'").fetchone() == (rows,), pattern
        assert polars.scan_parquet(folder / pattern).select(polars.len()).collect().item() == rows
        assert sum(len(pd.read_parquet(file)) for file in folder.glob(pattern)) == rows
    for file in folder.rglob("*.parquet"):
        metadata = pq.read_metadata(file)
        assert all(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)), file


@pytest.mark.parametrize(("set_", "split"), SETS)
def test_datasets_reads_documents_by_the_card_and_lines(folder: Path, datasets: Any, set_: str, split: str) -> None:
    expected = find_ids(folder, set_, split)
    loaded = datasets.load_dataset(str(folder), set_, split=split)
    streamed = datasets.load_dataset(str(folder), set_, split=split, streaming=True)
    assert set(loaded["id"]) == {row["id"] for row in streamed} == expected
    assert loaded.features == streamed.features == datasets.Features.from_arrow_schema(documents.SCHEMA)
    lines = datasets.load_dataset("json", data_files=str(folder / f"v2/{set_}/{split}/*.jsonl.gz"), split="train")
    assert set(lines["id"]) == expected
    assert lines.column_names == (["id", "sha1", "text"] if set_ == "s2orc" else ["id", "text"])


@pytest.mark.parametrize("table", TABLES)
def test_datasets_reads_every_table(folder: Path, datasets: Any, table: str) -> None:
    path, schema = hub.TABLES[table]
    if not (rows := count_rows(folder, path)):  # An empty table is not in the card, because it cannot be loaded.
        with pytest.raises(ValueError, match="not found"):
            datasets.load_dataset(str(folder), table, split="train")
        return
    loaded = datasets.load_dataset(str(folder), table, split="train")
    assert len(loaded) == rows
    assert loaded.features == datasets.Features.from_arrow_schema(schema)


def test_croissant_description_is_valid_and_loads(folder: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    assert not dataset.metadata.issues.errors
    assert not dataset.metadata.issues.warnings
    for set_, split in SETS:
        for name in (f"{set_}-{split}", f"documents-{set_}-{split}"):
            found = {record[f"{name}/id"].decode() for record in dataset.records(name)}
            assert found == find_ids(folder, set_, split), name
    for name, (path, _) in hub.TABLES.items():
        assert sum(1 for _ in dataset.records(name)) == count_rows(folder, path), name


def test_polars_and_datasets_read_corpus_by_its_declared_schema(folder: Path, datasets: Any) -> None:
    polars = pytest.importorskip("polars")
    papers = {
        id_ for path in folder.glob("tables/papers/*.parquet") for id_ in pq.read_table(path)["paper_id"].to_pylist()
    }
    files = folder / "corpus/metadata/*.jsonl.gz"
    metadata = polars.read_ndjson(files, schema=polars.from_arrow(METADATA.empty_table()).schema)
    features = datasets.Features.from_arrow_schema(METADATA)
    loaded = datasets.load_dataset("json", data_files=str(files), split="train", features=features)
    assert set(metadata["paper_id"]) == set(loaded["paper_id"]) == papers
    texts = pa.schema([field for field in PARSE if not pa.types.is_map(field.type)])  # polars has no map type.
    schema = polars.from_arrow(texts.empty_table()).schema
    parses = polars.read_ndjson(folder / "corpus/pdf_parses/*.jsonl.gz", schema=schema)
    tables = [pq.read_table(path)["part"].to_pylist() for path in folder.glob("tables/paragraphs/*.parquet")]
    found = parses.select(polars.col("body_text").list.len().sum()).item()
    assert found == sum(part == "body" for parts in tables for part in parts)
    for kind, declared in (("metadata", METADATA), ("pdf_parses", PARSE)):
        for path in folder.glob(f"corpus/{kind}/*.jsonl.gz"):
            for line in gzip.decompress(path.read_bytes()).splitlines():
                assert set(json.loads(line)) <= set(declared.names)


def test_datatrove_minhash_finds_no_duplicates_across_splits(folder: Path, tmp_path: Path) -> None:
    """Run datatrove's four MinHash steps on the published lines: the remaining documents have no similar pairs, and
    only similar documents are dropped.
    """
    pytest.importorskip("datatrove")
    import xxhash
    from datatrove.pipeline.dedup.minhash import (
        MinhashConfig,
        MinhashDedupBuckets,
        MinhashDedupCluster,
        MinhashDedupFilter,
        MinhashDedupSignature,
    )
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.utils.word_tokenizers import WordTokenizer

    class Spaces(WordTokenizer):  # type: ignore[misc]  # datatrove has no types
        word_tokenize = staticmethod(str.split)
        sent_tokenize = span_tokenize = staticmethod(str.split)  # never called

    def documents() -> Any:
        for set_, split in SETS:
            yield from JsonlReader(f"{folder}/v2/{set_}/{split}", glob_pattern="*.jsonl.gz").run()

    config = MinhashConfig(n_grams=5, num_buckets=14, hashes_per_bucket=8)
    signatures, buckets, removed = (f"{tmp_path}/{name}" for name in ("signatures", "buckets", "removed"))
    step = MinhashDedupSignature(signatures, config=config, language=Spaces())
    step._hash_func = lambda words: xxhash.xxh64_intdigest(words.encode())  # xxhash 4 accepts only bytes.
    step.run(documents(), 0, 1)
    for rank in range(14):
        MinhashDedupBuckets(signatures, buckets, config=config).run(None, rank, 14)
    MinhashDedupCluster(buckets, removed, config=config).run(None, 0, 1)
    kept = {document.id for document in MinhashDedupFilter(removed).run(documents(), 0, 1)}
    rows = pq.read_table(folder / "duplicates.parquet").to_pylist()
    published = {row["paper_id"] for row in rows if row["reason"] == "words" and row["split"] in ("train", "valid")}
    clusters = {row["cluster"] for row in rows if row["paper_id"] in published}
    everything = {document.id for document in documents()}
    assert published, "the release has similar texts in one split"
    assert len(everything - kept) == len(published)
    for cluster in clusters:
        members = {row["paper_id"] for row in rows if row["cluster"] == cluster} & everything
        assert len(members & kept) == 1


@pytest.mark.long
def test_spark_reads_documents_index_tables_graph_and_corpus(folder: Path, tmp_path: Path) -> None:
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    from pyspark.sql.pandas.types import from_arrow_schema

    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "1").config("spark.driver.host", "127.0.0.1")
    spark = builder.config("spark.sql.warehouse.dir", str(tmp_path)).getOrCreate()
    try:
        for pattern in ["documents/*/*/*.parquet", *(path for path, _ in hub.TABLES.values())]:
            assert spark.read.parquet(f"{folder}/{pattern}").count() == count_rows(folder, pattern), pattern
        for kind, declared in (("metadata", METADATA), ("pdf_parses", PARSE)):
            found = spark.read.schema(from_arrow_schema(declared)).json(
                f"{folder}/corpus/{kind}/*.jsonl.gz", mode="FAILFAST"
            )
            lines = [gzip.decompress(f.read_bytes()).count(b"\n") for f in folder.glob(f"corpus/{kind}/*.jsonl.gz")]
            assert found.select("paper_id").count() == sum(lines) > 20, kind
            if kind == "pdf_parses":
                entries = found.selectExpr("explode(bib_entries) AS (ref_id, entry)").select("ref_id", "entry.title")
                assert {tuple(row) for row in entries.distinct().collect()} == {("BIBREF0", "A title")}
        read = spark.read.schema("id STRING, sha1 STRING, text STRING").json(f"{folder}/v2/s2orc/train/*.jsonl.gz")
        assert {row["id"] for row in read.select("id").collect()} == find_ids(folder, "s2orc", "train")
    finally:
        spark.stop()
