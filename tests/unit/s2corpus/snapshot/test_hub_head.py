"""The data card's head has the format of the Hub (Hub docs: Dataset Cards), and every published column has a description."""

from __future__ import annotations

import pyarrow as pa
import pytest
import yaml

from s2corpus.snapshot import documents, hub
from s2corpus.snapshot.croissant import describe_snapshot
from s2corpus.tables.published import describe_column
from s2corpus.tables.texts import LINKS
from s2corpus_reader.files import SnapshotFile


@pytest.mark.parametrize(
    ("count", "category"),
    [
        (999, "n<1K"), (1000, "1K<n<10K"), (9_999, "1K<n<10K"), (10_000, "10K<n<100K"), (99_999, "10K<n<100K"), (100_000, "100K<n<1M"),
        (10**6 - 1, "100K<n<1M"), (10**6, "1M<n<10M"), (10**7 - 1, "1M<n<10M"), (10**7, "10M<n<100M"), (10**8 - 1, "10M<n<100M"),
        (10**8, "100M<n<1B"), (10**9 - 1, "100M<n<1B"), (10**9, "n>1B"),
    ],
)  # fmt: skip
def test_size_category_follows_the_number_of_documents(count: int, category: str) -> None:
    head = hub.yaml_head("a name", {}, [], tags=["a"], count=count)
    value = yaml.safe_load(head.strip().strip("-"))
    assert value["size_categories"] == [category]
    assert list(value)[:4] == ["pretty_name", "license", "license_name", "license_link"], "as a person writes them"
    assert head.startswith("---\n") and head.endswith("\n---\n")


def test_names_in_head_cannot_add_keys() -> None:
    hostile = 'x\n---\n<script>alert(1)</script>\nlicense: mit\n"quoted": {a: 1}'
    head = hub.yaml_head(hostile, {}, [], tags=[hostile], count=1)
    parts = list(yaml.safe_load_all(head))
    assert parts[0]["pretty_name"] == hostile and parts[0]["tags"] == [hostile]
    assert parts[0]["license"] == "other" and len(parts) == 2


def test_every_published_column_has_a_description() -> None:
    schemas = {"documents": documents.SCHEMA} | {name: schema for name, (_, schema) in hub.TABLES.items()}
    columns = [(name, column) for name, schema in schemas.items() for column in schema]
    assert [(name, column.name) for name, column in columns if not describe_column(name, column)] == []
    assert describe_column("links", hub.TABLES["links"][1].field("score")) == LINKS.columns[4].meaning


@pytest.mark.parametrize(("sets", "default"), [(("s2ag", "s2orc"), "s2orc"), (("s2ag",), "s2ag")])
def test_default_configuration_is_s2orc_if_it_has_documents(sets: tuple[str, ...], default: str) -> None:
    stats = {"sets": {set_: {"train": {"documents": 1, "words": 1}} for set_ in sets}}
    files = [SnapshotFile(f"documents/{set_}/train/00.parquet", 1, "0" * 64, rows=1) for set_ in sets]
    head = yaml.safe_load(hub.front_matter(stats, files, "name").strip("-\n"))
    assert [config["config_name"] for config in head["configs"] if config.get("default")] == [default]


def test_types_and_sizes_have_the_notation_of_datasets() -> None:
    """A list of structs is `list: [fields]`, a list of values `list: type`. A split without rows is omitted."""
    strings, flags = pa.list_(pa.string()), pa.list_(pa.struct([("y", pa.bool_())]))
    lists, struct = pa.list_(pa.list_(pa.float32())), pa.struct([("x", pa.int32())])
    schema = pa.schema(zip("abcdef", [pa.string(), pa.float64(), strings, lists, struct, flags], strict=True))
    files = [SnapshotFile(f"x/{n}.parquet", 10, "0", rows=3) for n in range(2)]
    files += [SnapshotFile("x/a.json", 1, "0"), SnapshotFile("y/0.parquet", 5, "0", rows=0)]
    places = {"first": {"train": "x/*.parquet", "valid": "y/*.parquet"}, "second": {"train": "y/*.parquet"}}
    configs = {name: (schema, splits) for name, splits in places.items()}
    head = yaml.safe_load(hub.yaml_head("name", configs, files, tags=["t"]).strip("-\n"))
    assert (head["size_categories"], head["language"]) == (["n<1K"], ["en"])
    data_files = [{"split": "train", "path": "x/*.parquet"}]
    assert head["configs"] == [{"config_name": "first", "default": True, "data_files": data_files}]
    (info,) = head["dataset_info"]
    assert info["splits"] == [{"name": "train", "num_bytes": 20, "num_examples": 6}]
    assert [{**feature, "name": ""} for feature in info["features"]] == [
        {"name": "", **feature}
        for feature in (
            {"dtype": "string"}, {"dtype": "float64"}, {"list": "string"}, {"list": {"list": "float32"}},
            {"struct": [{"name": "x", "dtype": "int32"}]}, {"list": [{"name": "y", "dtype": "bool"}]},
        )
    ]  # fmt: skip


def test_croissant_describes_every_field() -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    paths = ["v2/s2orc/train/00.jsonl.gz", "documents/s2orc/train/00.parquet"]
    paths += [path.replace("*", "00") for path, _ in hub.TABLES.values()]
    stats = {"sets": {"s2orc": {"train": {"documents": 1, "words": 1}}}, "licences": {"CC-BY-4.0": 1}}
    files = [SnapshotFile(path, 1, "0" * 64, rows=1) for path in paths]
    value = describe_snapshot("name", "about", "2023-01-01T00:00:00Z", stats, files)
    metadata = mlcroissant.Dataset(jsonld=value).metadata
    assert not metadata.issues.errors and len(metadata.record_sets) == len(paths)
    fields = [field for records in metadata.record_sets for field in records.fields]
    assert fields and [field.id for field in fields if field.description in (None, "", field.name)] == []
