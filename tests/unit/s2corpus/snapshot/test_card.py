"""The data card's head has the format of the Hub (Hub docs: Dataset Cards), and every published column has a description.

The sample records of the card are short and contain no markup, and no text whose license forbids copies or changes.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
import yaml

from s2corpus.snapshot import documents, hub
from s2corpus.snapshot.croissant import describe_snapshot
from s2corpus.snapshot.report import format_record, may_show, precedes, shorten_record
from s2corpus.tables.published import describe_column
from s2corpus_reader.files import SnapshotFile


@pytest.mark.parametrize(
    ("count", "category"),
    [
        (999, "n<1K"), (1000, "1K<n<10K"), (9_999, "1K<n<10K"), (10_000, "10K<n<100K"), (10**6 - 1, "100K<n<1M"), (10**6, "1M<n<10M"),
        (10**9 - 1, "100M<n<1B"), (10**9, "n>1B"),
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


@pytest.mark.parametrize(("sets", "default"), [(("s2ag", "s2orc"), "s2orc"), (("s2ag",), "s2ag")])
def test_default_configuration_is_s2orc_if_it_has_documents(sets: tuple[str, ...], default: str) -> None:
    stats = {"sets": {set_: {"train": {"documents": 1, "words": 1}} for set_ in sets}}
    files = [SnapshotFile(f"documents/{set_}/train/00.parquet", 1, "0" * 64, rows=1) for set_ in sets]
    head = yaml.safe_load(hub.front_matter(stats, files, "name").strip("-\n"))
    assert [config["config_name"] for config in head["configs"] if config.get("default")] == [default]


def test_types_and_sizes_have_the_notation_of_datasets() -> None:
    """A list of structs is `list: [fields]`, a list of values `list: type`. A split without rows is omitted."""
    flags, struct = pa.list_(pa.struct([("y", pa.bool_())])), pa.struct([("x", pa.int32())])
    schema = pa.schema([("a", pa.string()), ("b", pa.list_(pa.list_(pa.float32()))), ("c", struct), ("d", flags)])
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
    assert info["features"] == [
        {"name": "a", "dtype": "string"},
        {"name": "b", "list": {"list": "float32"}},
        {"name": "c", "struct": [{"name": "x", "dtype": "int32"}]},
        {"name": "d", "list": [{"name": "y", "dtype": "bool"}]},
    ]


def test_every_published_column_has_a_description() -> None:
    schemas = {"documents": documents.SCHEMA} | {name: schema for name, (_, schema) in hub.TABLES.items()}
    columns = [(name, column) for name, schema in schemas.items() for column in schema]
    assert [(name, column.name) for name, column in columns if not describe_column(name, column)] == []


def test_croissant_describes_every_field() -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    paths = ["v2/s2orc/train/00.jsonl.gz", "documents/s2orc/train/00.parquet"]
    paths += [path.replace("*", "00") for path, _ in hub.TABLES.values()]
    stats = {"sets": {"s2orc": {"train": {"documents": 1, "words": 1}}}, "licences": {"CC-BY-4.0": 1}}
    files = [SnapshotFile(path, 7, "0" * 64, rows=1) for path in paths]
    value = describe_snapshot("name", "about", "2023-01-01T00:00:00Z", stats, files)
    assert (value["datePublished"], value["license"]) == ("2023-01-01", ["CC-BY-4.0"])
    first = next(part for part in value["distribution"] if part.get("contentUrl") == paths[0])
    assert (first["contentSize"], first["sha256"], first["encodingFormat"]) == ("7 B", "0" * 64, "application/gzip")
    metadata = mlcroissant.Dataset(jsonld=value).metadata
    assert not metadata.issues.errors and len(metadata.record_sets) == len(paths)
    fields = [field for records in metadata.record_sets for field in records.fields]
    assert fields and [field.id for field in fields if field.description in (None, "", field.name)] == []


# -- sample records


def test_only_licenses_of_free_works_permit_a_sample() -> None:
    """Creative Commons approves CC0, CC BY and CC BY-SA for Free Cultural Works; ND forbids cuts, NC some uses of the card."""
    assert all(map(may_show, ("CC0-1.0", "CC-BY-4.0", "CC-BY-3.0-US", "CC-BY-SA-4.0", "MIT")))
    assert not any(map(may_show, ("CC-BY-ND-4.0", "CC-BY-NC-4.0", "NOASSERTION", "LicenseRef-publisher", "arXiv", "")))
    free, other, closed = ({"id": id_, "licence": f"CC-BY{nc}-4.0"} for id_, nc in (("b", ""), ("a", ""), ("a", "-NC")))
    assert precedes(free, closed) and not precedes(closed, free), "the license decides before the id"
    assert precedes(other, free) and not precedes(free, other)
    assert precedes(closed | {"licence": "NOASSERTION"}, closed | {"id": "b"}), "licenses that forbid a copy are equal"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None), ("a" * 160, "a" * 160), ("a" * 161, "a" * 160 + " […]"), ("word " * 40, "word " * 32 + "[…]"),
        ("\n".join("0123456789"), "\n".join("0123456789")), ("a\n" * 10, "a\n" * 10 + "[…]"),
        (["a", "b", "c"], ["a", "b", "c"]), (["a", "b", "c", "d"], ["a", "b", "c", "[…]"]),
    ],
)  # fmt: skip
def test_long_values_are_cut(value: Any, shown: Any) -> None:
    document = {"licence": "CC0-1.0", "text": "t", "model_text": None, "value": value}
    assert shorten_record(document) == {**document, "value": shown}


def test_forbidden_texts_are_omitted() -> None:
    document = {"licence": "CC-BY-ND-4.0", "title": "T", "text": "secret", "model_text": None}
    record = shorten_record(document)
    assert "secret" not in str(record) and record["title"] == "T" and record["model_text"] is None


@pytest.mark.parametrize("text", ["```\n<script>", "a\u202eb\u2066c\u200d\ufeff\x7f\x9b", "<!-- & -->", "naïve 中"])
def test_json_has_no_markup_and_no_invisible_characters(text: str) -> None:
    shown = format_record({"text": text})
    assert json.loads(shown) == {"text": text}
    assert not set(shown) & set("<>&`\u202e\u2066\u200d\ufeff\x7f\x9b")
    assert all(line[0] in "{} " for line in shown.split("\n")), "no line can end the code block"
