"""Describe snapshots in MLCommons Croissant 1.0, for tools that load data by its description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pyarrow as pa

from s2corpus.snapshot import documents, hub
from s2corpus.snapshot.columns import describe_column
from s2corpus_reader.croissant import Group, describe
from s2corpus_reader.files import SnapshotFile

_LINE_SCHEMAS = {
    "s2orc": pa.schema([(name, pa.string()) for name in ("id", "sha1", "text")]),
    "s2ag": pa.schema([(name, pa.string()) for name in ("id", "text")]),
}
"""The keys of a line of each set."""


def describe_snapshot(
    snapshot: str, description: str, as_of: str, stats: Mapping[str, Any], files: Sequence[SnapshotFile]
) -> dict[str, Any]:
    """Return the content of `croissant.json`.

    It lists every data file with its checksum. Each set and split has a record set for JSON lines and one for Parquet; each table has one.
    """
    data = [file for file in files if file.path.endswith((".jsonl.gz", ".parquet"))]
    lines = sorted({file.path.rpartition("/")[0] for file in data if file.path.startswith("v2/")})
    groups = [
        Group(folder.removeprefix("v2/").replace("/", "-"), folder, f"{folder}/*.jsonl.gz", _LINE_SCHEMAS[folder.split("/")[1]])
        for folder in lines
    ]  # fmt: skip
    tables = {
        f"documents-{set_}-{split}": (f"documents/{set_}/{split}/*.parquet", documents.SCHEMA)
        for set_, splits in stats["sets"].items()
        for split in splits
    } | dict(hub.TABLES)
    groups += [Group(name, f"files-{name}", path, schema) for name, (path, schema) in tables.items()]
    noun = "an open-access paper corpus"
    licenses = sorted(stats["licenses"])
    return describe(snapshot, description, as_of, licenses, data, groups, noun=noun, describe_column=describe_column)


def is_current(
    found: Mapping[str, Any], manifest: Mapping[str, Any], stats: Mapping[str, Any], *, with_columns: bool
) -> bool:
    """Return whether croissant.json (`found`) lists the same files and licenses as manifest and statistics, in any order.

    `with_columns`: compare the columns too, which a later version of the code may extend.
    """
    files = [SnapshotFile(**file) for file in manifest["files"]]
    expected = describe_snapshot(manifest["snapshot"], found["description"], manifest["as_of"], stats, files)

    def sort_files(value: Mapping[str, Any]) -> bytes:
        distribution = sorted(value["distribution"], key=lambda item: str(item["@id"]))
        columns = value["recordSet"] if with_columns else None
        return orjson.dumps({**value, "distribution": distribution, "recordSet": columns}, option=orjson.OPT_SORT_KEYS)

    return sort_files(found) == sort_files(expected)
