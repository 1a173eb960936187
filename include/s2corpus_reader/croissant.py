"""Describe files of data in MLCommons Croissant 1.0, for tools that load data by its description. Needs the extra `cards`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import pyarrow as pa

from s2corpus_reader.cards import match_files
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
_TYPES = {"string": "sc:Text", "int32": "sc:Integer", "int64": "sc:Integer", "double": "sc:Float", "bool": "sc:Boolean"}
"""Croissant types. Columns of other types (lists of structs) are not described."""


class Group(NamedTuple):
    """The files of one record set."""

    name: str
    id: str
    path: str
    """with one `*`"""
    schema: pa.Schema


def describe(
    name: str,
    description: str,
    as_of: str,
    licenses: Sequence[str],
    data: Sequence[SnapshotFile],
    groups: Sequence[Group],
    *,
    noun: str,
    describe_column: Callable[[str, pa.Field], str | None] = lambda table, column: None,
) -> dict[str, Any]:
    """Describe the files, the groups that have files, and the fields of each group.

    `noun` is the kind of data, for the citation. `describe_column` returns the meaning of a group's column; without it, the column's
    name is the description.
    """
    present = [group for group in groups if match_files(group.path, data)]
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
        "recordSet": [_record_set(group, describe_column) for group in present],
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


def _file_set(group: Group) -> dict[str, Any]:
    lines = "application/jsonlines" if ".json" in group.path else "text/plain"
    return {
        "@type": "cr:FileSet",
        "@id": group.id,
        "name": group.id.replace("/", "-"),
        "encodingFormat": _PARQUET if group.path.endswith(".parquet") else lines,
        "includes": group.path,
    }


def _record_set(group: Group, describe_column: Callable[[str, pa.Field], str | None]) -> dict[str, Any]:
    name = group.name
    fields = {}
    for column in group.schema:
        repeated = pa.types.is_list(column.type)
        kind = _TYPES.get(str(column.type.value_type if repeated else column.type))
        meaning = describe_column(name, column)
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
