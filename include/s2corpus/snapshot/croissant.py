"""Describe snapshots and datasets in MLCommons Croissant 1.0, for tools that load data by its description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import orjson
import pyarrow as pa

from s2corpus.snapshot import documents, hub
from s2corpus.snapshot.columns import describe_column
from s2corpus_reader.files import SnapshotFile

_TERMS = (
    "citeAs", "column", "dataBiases", "dataCollection", "equivalentProperty", "extract", "field", "fileObject", "fileProperty",
    "fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "personalSensitiveInformation",
    "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform",
)  # fmt: skip
"""names in the Croissant namespace"""
_CONTEXT: dict[str, Any] = dict(
    sorted(
        {
            **{name: f"cr:{name}" for name in _TERMS},
            "@language": "en",
            "@vocab": "https://schema.org/",
            "conformsTo": "dct:conformsTo",
            "cr": "http://mlcommons.org/croissant/",
            "data": {"@id": "cr:data", "@type": "@json"},
            "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
            "dct": "http://purl.org/dc/terms/",
            "examples": {"@id": "cr:examples", "@type": "@json"},
            "rai": "http://mlcommons.org/croissant/RAI/",
            "sc": "https://schema.org/",
        }.items()
    )
)
"""the JSON-LD context of Croissant 1.0, sorted by name"""
_PARQUET = "application/x-parquet"
_MEDIA_TYPES = {".parquet": _PARQUET, ".json": "application/json"}
_LINE_SCHEMAS = {
    "s2orc": pa.schema([(name, pa.string()) for name in ("id", "sha1", "text")]),
    "s2ag": pa.schema([(name, pa.string()) for name in ("id", "text")]),
}
"""The keys of a line of each set."""
_TYPES = {"string": "sc:Text", "int32": "sc:Integer", "int64": "sc:Integer", "double": "sc:Float", "bool": "sc:Boolean"}
"""Croissant types. Columns of other types (lists of structs) are not described."""


def describe_snapshot(
    snapshot: str, description: str, as_of: str, stats: Mapping[str, Any], files: Sequence[SnapshotFile]
) -> dict[str, Any]:
    """Return the content of `croissant.json`.

    It lists every data file with its checksum. Each set and split has a record set for JSON lines and one for Parquet; each table has one.
    """
    data = [file for file in files if file.path.endswith((".jsonl.gz", ".parquet"))]
    lines = sorted({file.path.rpartition("/")[0] for file in data if file.path.startswith("v2/")})
    groups = [
        _Group(folder.removeprefix("v2/").replace("/", "-"), folder, f"{folder}/*.jsonl.gz", _LINE_SCHEMAS[folder.split("/")[1]])
        for folder in lines
    ]  # fmt: skip
    tables = {
        f"documents-{set_}-{split}": (f"documents/{set_}/{split}/*.parquet", documents.SCHEMA)
        for set_, splits in stats["sets"].items()
        for split in splits
    } | dict(hub.TABLES)
    groups += [_Group(name, f"files-{name}", path, schema) for name, (path, schema) in tables.items()]
    return _describe(snapshot, description, as_of, sorted(stats["licenses"]), data, groups, is_snapshot=True)


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


def describe_dataset(
    name: str,
    description: str,
    as_of: str,
    licenses: Sequence[str],
    tables: Sequence[tuple[str, str, pa.Schema]],
    files: Sequence[SnapshotFile],
) -> dict[str, Any]:
    """Return the Croissant description of a dataset derived from a snapshot.

    `tables` contains (name, path with one `*`, columns). Tables without files are omitted.
    """
    groups = [_Group(table, f"files-{table}", path, schema) for table, path, schema in tables]
    data = [file for file in files if any(hub.match_files(group.path, [file]) for group in groups)]
    return _describe(name, description, as_of, licenses, data, groups, is_snapshot=False)


class _Group(NamedTuple):
    """The files of one record set."""

    name: str
    id: str
    path: str
    """with one `*`"""
    schema: pa.Schema


def _describe(
    name: str,
    description: str,
    as_of: str,
    licenses: Sequence[str],
    data: Sequence[SnapshotFile],
    groups: Sequence[_Group],
    *,
    is_snapshot: bool,
) -> dict[str, Any]:
    """Describe the files, the groups that have files, and the fields of each group."""
    noun = "an open-access paper corpus" if is_snapshot else "a dataset made of an open-access paper corpus"
    present = [group for group in groups if hub.match_files(group.path, data)]
    return {
        "@context": deepcopy(_CONTEXT),  # Tools change the description that they are given.
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": description,
        "datePublished": as_of[:10],
        "citeAs": f"{name}, {noun} made by s2corpus",
        "version": "1.0.0",
        "license": list(licenses),
        "distribution": [*map(_file_object, data), *map(_file_set, present)],
        "recordSet": [_record_set(group, is_snapshot=is_snapshot) for group in present],
    }


def _file_object(file: SnapshotFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path.replace("/", "-"),
        "contentUrl": file.path,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": _MEDIA_TYPES.get(PurePosixPath(file.path).suffix, "application/gzip"),
        "sha256": file.sha256,
    }


def _file_set(group: _Group) -> dict[str, Any]:
    lines = "application/jsonlines" if ".json" in group.path else "text/plain"
    return {
        "@type": "cr:FileSet",
        "@id": group.id,
        "name": group.id.replace("/", "-"),
        "encodingFormat": _PARQUET if group.path.endswith(".parquet") else lines,
        "includes": group.path,
    }


def _record_set(group: _Group, *, is_snapshot: bool) -> dict[str, Any]:
    name = group.name
    fields = {}
    for column in group.schema:
        repeated = pa.types.is_list(column.type)
        kind = _TYPES.get(str(column.type.value_type if repeated else column.type))
        meaning = describe_column(name, column) if is_snapshot or column.name in ("id", "sha1") else None
        if kind is not None:
            fields[column.name] = {
                "@type": "cr:Field",
                "@id": f"{name}/{column.name}",
                "name": column.name,
                "description": meaning or column.name.replace("_", " "),
                "dataType": kind,
                **({"repeated": True} if repeated else {}),
                "source": {"fileSet": {"@id": group.id}, "extract": {"column": column.name}},
            }
    key = {"key": {"@id": f"{name}/id"}} if "id" in fields else {}
    return {"@type": "cr:RecordSet", "@id": name, "name": name, **key, "field": list(fields.values())}
