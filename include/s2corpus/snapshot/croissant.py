"""The snapshot in MLCommons Croissant 1.0, for tools that load data sets by their description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from s2corpus.snapshot.files import File

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataBiases": "cr:dataBiases",
    "dataCollection": "cr:dataCollection",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "personalSensitiveInformation": "cr:personalSensitiveInformation",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_FIELDS = {
    "id": "The paper's id.",
    "sha1": "SHA-1 of the file the text is from (s2orc only).",
    "text": "Title, abstract and, in s2orc, the body.",
}


def croissant(
    snapshot: str, description: str, as_of: str, stats: Mapping[str, Any], files: Sequence[File]
) -> dict[str, Any]:
    """What `croissant.json` says: every file with its checksum, and a record set for each set and split."""
    documents = [file for file in files if file.path.startswith("v2/")]
    groups = sorted({file.path.rpartition("/")[0] for file in documents})
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": snapshot,
        "description": description,
        "datePublished": as_of[:10],
        "citeAs": f"{snapshot}, an open-access paper corpus made by s2corpus",
        "version": "1.0.0",
        "license": sorted(stats["licences"]),
        "distribution": [
            *(_file_object(file) for file in documents),
            *(_file_set(group, documents) for group in groups),
        ],
        "recordSet": [_record_set(group) for group in groups],
    }


def _file_object(file: File) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path.replace("/", "-"),
        "contentUrl": file.path,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": "application/gzip",
        "sha256": file.sha256,
    }


def _file_set(group: str, documents: Sequence[File]) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": group,
        "name": group.replace("/", "-"),
        "encodingFormat": "application/jsonlines",
        "includes": f"{group}/*.jsonl.gz",
    }


def _record_set(group: str) -> dict[str, Any]:
    name = group.removeprefix("v2/").replace("/", "-")
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "key": {"@id": f"{name}/id"},
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "description": meaning,
                "dataType": "sc:Text",
                "source": {"fileSet": {"@id": group}, "extract": {"column": column}},
            }
            for column, meaning in _FIELDS.items()
        ],
    }
