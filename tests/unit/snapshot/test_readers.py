"""Common tools can read a snapshot: pandas, DuckDB, Hugging Face datasets, MLCommons Croissant."""

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
from s2corpus.snapshot.pointer import publish
from s2corpus_reader.schemas import METADATA, PARSE
from tests.unit.snapshot.test_export import release


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a snapshot's folder."""
    run = release(tmp_path_factory.mktemp("readers"))
    publish(run.lake, run.snapshot_id)
    return Path(run.lake.uri(f"snapshots/{run.snapshot_id}"))


@pytest.fixture(scope="module")
def expected(folder: Path) -> set[str]:
    """Return the ids of s2orc/train."""
    index = pq.read_table(folder / "index.parquet").to_pylist()
    found = {row["id"] for row in index if (row["set"], row["split"]) == ("s2orc", "train")}
    assert len(found) > 20
    return found


def _ids(folder: Path, set_: str, split: str) -> set[str]:
    index = pq.read_table(folder / "index.parquet").to_pylist()
    return {row["id"] for row in index if (row["set"], row["split"]) == (set_, split)}


def test_pandas_reads_the_lines(folder: Path, expected: set[str]) -> None:
    files = sorted((folder / "v2/s2orc/train").glob("*.jsonl.gz"))
    frames = [pd.read_json(file, lines=True, dtype=False) for file in files]
    assert {id_ for frame in frames if len(frame) for id_ in frame["id"]} == expected


def test_duckdb_reads_the_lines(folder: Path, expected: set[str]) -> None:
    found = duckdb.sql(f"SELECT id, length(text) FROM '{folder}/v2/s2orc/train/*.jsonl.gz'").fetchall()
    assert {id_ for id_, _ in found} == expected
    words = duckdb.sql(f"SELECT sum(words) FROM '{folder}/index.parquet'").fetchone()
    stats = json.loads((folder / "stats.json").read_bytes())
    assert words == (sum(counted["words"] for splits in stats["sets"].values() for counted in splits.values()),)
    graph = duckdb.sql(f"SELECT count(*) FROM '{folder}/graph/links/*.parquet' WHERE cited_paper_id IS NULL").fetchone()
    assert graph == (0,)


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return Hugging Face datasets without a network, with a separate cache."""
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    module = pytest.importorskip("datasets")
    monkeypatch.setattr(module.config, "HF_DATASETS_CACHE", tmp_path)
    return module


SETS = [(set_, split) for set_ in ("s2orc", "s2ag") for split in ("train", "valid")]
TABLES = ["index", "papers", "paragraphs", "bib_entries", "ref_entries", "rights", "links", "contexts"]


@pytest.mark.parametrize(("set_", "split"), SETS)
def test_datasets_reads_the_folder_by_its_card(folder: Path, datasets: Any, set_: str, split: str) -> None:
    expected = _ids(folder, set_, split)
    loaded = datasets.load_dataset(str(folder), set_, split=split)
    assert set(loaded["id"]) == expected and expected
    streamed = datasets.load_dataset(str(folder), set_, split=split, streaming=True)
    assert {row["id"] for row in streamed} == expected
    features = datasets.Features.from_arrow_schema(documents.SCHEMA)
    assert loaded.features == features == streamed.features


@pytest.mark.parametrize("table", TABLES)
def test_datasets_reads_every_table(folder: Path, datasets: Any, table: str) -> None:
    path, schema = hub.TABLES[table]
    rows = sum(pq.read_metadata(file).num_rows for file in folder.glob(path))
    if not rows:  # An empty table is not in the card, because it cannot be loaded.
        with pytest.raises(ValueError, match="not found"):
            datasets.load_dataset(str(folder), table, split="train")
        return
    loaded = datasets.load_dataset(str(folder), table, split="train")
    assert len(loaded) == rows
    assert loaded.features == datasets.Features.from_arrow_schema(schema)


@pytest.mark.parametrize(("set_", "split"), SETS)
def test_datasets_reads_the_lines(folder: Path, datasets: Any, set_: str, split: str) -> None:
    loaded = datasets.load_dataset("json", data_files=str(folder / f"v2/{set_}/{split}/*.jsonl.gz"), split="train")
    assert set(loaded["id"]) == _ids(folder, set_, split)
    assert loaded.column_names == (["id", "sha1", "text"] if set_ == "s2orc" else ["id", "text"])


def test_features_of_the_card_equal_those_of_datasets(folder: Path, datasets: Any) -> None:
    huggingface_hub = pytest.importorskip("huggingface_hub")
    card = huggingface_hub.DatasetCard.load(folder / "README.md")
    declared = {info["config_name"]: info for info in card.data.to_dict()["dataset_info"]}
    assert declared["s2ag"]["features"] == datasets.Features.from_arrow_schema(documents.SCHEMA)._to_yaml_list()
    for name, (_, schema) in hub.TABLES.items():
        if name not in ("ref_entries", "contexts"):  # These tables have no rows here.
            assert declared[name]["features"] == datasets.Features.from_arrow_schema(schema)._to_yaml_list()
    stats = json.loads((folder / "stats.json").read_bytes())["sets"]
    for set_, splits in stats.items():
        found = {split["name"]: split["num_examples"] for split in declared[set_]["splits"]}
        assert found == {split: counted["documents"] for split, counted in splits.items()}
    assert card.data.size_categories == ["n<1K"]


@pytest.mark.parametrize(("set_", "split"), SETS)
def test_polars_reads_the_documents(folder: Path, set_: str, split: str) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.read_parquet(folder / f"documents/{set_}/{split}/*.parquet")
    assert set(frame["id"]) == _ids(folder, set_, split)
    keys = ["id", "sha1", "text"] if set_ == "s2orc" else ["id", "text"]
    schema = dict.fromkeys(keys, polars.String)  # Do not infer types: a file may be empty.
    assert set(polars.read_ndjson(folder / f"v2/{set_}/{split}/*.jsonl.gz", schema=schema)["id"]) == set(frame["id"])
    for name, (path, _) in hub.TABLES.items():
        assert polars.read_parquet(folder / path).height == sum(
            pq.read_metadata(file).num_rows for file in folder.glob(path)
        ), name


def test_parquet_files_have_no_empty_row_group(folder: Path) -> None:
    for file in folder.rglob("*.parquet"):
        metadata = pq.read_metadata(file)
        assert all(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)), file


def test_parquet_copy_equals_the_lines(folder: Path) -> None:
    for set_, split in SETS:
        for file in sorted((folder / f"documents/{set_}/{split}").glob("*.parquet")):
            lines = gzip.decompress((folder / f"v2/{set_}/{split}/{file.stem}.jsonl.gz").read_bytes()).splitlines()
            rows = pq.read_table(file).to_pylist()
            assert [row["id"] for row in rows] == [json.loads(line)["id"] for line in lines]
            for row, line in zip(rows, lines, strict=True):
                said = json.loads(line)
                assert row["text"] == said["text"]
                assert row["sha1"] == said.get("sha1")
                assert row["num_words"] == len(said["text"].split())


def test_croissant_description_is_valid_and_loads(folder: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    assert not dataset.metadata.issues.errors
    assert not dataset.metadata.issues.warnings
    for set_, split in SETS:
        for name in (f"{set_}-{split}", f"documents-{set_}-{split}"):
            found = {record[f"{name}/id"] for record in dataset.records(name)}
            assert {id_.decode() for id_ in found} == _ids(folder, set_, split), name
    for name, (path, _) in hub.TABLES.items():
        rows = sum(pq.read_metadata(file).num_rows for file in folder.glob(path))
        assert sum(1 for _ in dataset.records(name)) == rows, name


CORPUS = ["metadata", "pdf_parses"]


def test_polars_and_datasets_read_corpus_by_its_declared_schema(folder: Path, datasets: Any) -> None:
    polars = pytest.importorskip("polars")
    papers = {
        paper
        for path in folder.glob("tables/papers/*.parquet")
        for paper in pq.read_table(path)["paper_id"].to_pylist()
    }
    metadata = polars.read_ndjson(
        folder / "corpus/metadata/*.jsonl.gz", schema=polars.from_arrow(METADATA.empty_table()).schema
    )
    assert set(metadata["paper_id"]) == papers
    loaded = datasets.load_dataset(
        "json", data_files=str(folder / "corpus/metadata/*.jsonl.gz"), split="train",
        features=datasets.Features.from_arrow_schema(METADATA),
    )  # fmt: skip
    assert set(loaded["paper_id"]) == papers
    texts = pa.schema([field for field in PARSE if not pa.types.is_map(field.type)])  # polars has no map type.
    parses = polars.read_ndjson(
        folder / "corpus/pdf_parses/*.jsonl.gz", schema=polars.from_arrow(texts.empty_table()).schema
    )
    paragraphs = parses.select(polars.col("body_text").list.len().sum()).item()
    assert paragraphs == sum(
        sum(part == "body" for part in pq.read_table(path)["part"].to_pylist())
        for path in folder.glob("tables/paragraphs/*.parquet")
    )


def test_every_line_of_corpus_has_its_declared_schema(folder: Path) -> None:
    for kind, schema in (("metadata", METADATA), ("pdf_parses", PARSE)):
        for path in folder.glob(f"corpus/{kind}/*.jsonl.gz"):
            for line in gzip.decompress(path.read_bytes()).splitlines():
                assert set(json.loads(line)) <= set(schema.names)


def test_duckdb_polars_and_pandas_read_documents_tables_and_graph(folder: Path) -> None:
    polars = pytest.importorskip("polars")
    for pattern in ["documents/*/*/*.parquet", "keys/*.parquet", *(path for path, _ in hub.TABLES.values())]:
        files = sorted(folder.glob(pattern))
        rows = sum(pq.read_metadata(file).num_rows for file in files)
        assert duckdb.sql(f"SELECT count(*) FROM '{folder}/{pattern}'").fetchone() == (rows,), pattern
        assert polars.scan_parquet(folder / pattern).select(polars.len()).collect().item() == rows
        assert sum(len(pd.read_parquet(file)) for file in files) == rows


@pytest.fixture(scope="module")
def datatrove(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return pytest.importorskip("datatrove")


@pytest.mark.parametrize(("set_", "split"), SETS)
def test_datatrove_reads_the_documents(folder: Path, datatrove: Any, set_: str, split: str) -> None:
    from datatrove.pipeline.readers import JsonlReader, ParquetReader

    lines = list(JsonlReader(f"{folder}/v2/{set_}/{split}", glob_pattern="*.jsonl.gz").run())
    rows = list(ParquetReader(f"{folder}/documents/{set_}/{split}").run())
    assert {document.id for document in lines} == _ids(folder, set_, split) == {document.id for document in rows}
    assert {d.id: d.text for d in lines} == {d.id: d.text for d in rows}


def test_datatrove_minhash_finds_no_duplicates_across_splits(folder: Path, datatrove: Any, tmp_path: Path) -> None:
    """Run datatrove's four MinHash steps on the published lines: the remaining documents have no similar pairs, and
    only similar documents are dropped.
    """
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
            rows = sum(pq.read_metadata(file).num_rows for file in folder.glob(pattern))
            assert spark.read.parquet(f"{folder}/{pattern}").count() == rows, pattern
        for kind in CORPUS:
            schema = from_arrow_schema(METADATA if kind == "metadata" else PARSE)
            found = spark.read.schema(schema).json(f"{folder}/corpus/{kind}/*.jsonl.gz", mode="FAILFAST")
            lines = [gzip.decompress(f.read_bytes()).count(b"\n") for f in folder.glob(f"corpus/{kind}/*.jsonl.gz")]
            assert found.select("paper_id").count() == sum(lines) > 20, kind
            if kind == "pdf_parses":
                entries = found.selectExpr("explode(bib_entries) AS (ref_id, entry)").select("ref_id", "entry.title")
                assert {tuple(row) for row in entries.distinct().collect()} == {("BIBREF0", "A title")}
        read = spark.read.schema("id STRING, sha1 STRING, text STRING").json(f"{folder}/v2/s2orc/train/*.jsonl.gz")
        assert {row["id"] for row in read.select("id").collect()} == _ids(folder, "s2orc", "train")
    finally:
        spark.stop()
