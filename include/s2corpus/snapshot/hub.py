"""Write the YAML head of the data card for the Hugging Face Hub and `datasets` (Hub docs: Dataset Cards)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import yaml

from s2corpus.snapshot import documents, flat
from s2corpus.snapshot.rows import INDEX
from s2corpus.tables.texts import CONTEXTS, LINKS
from s2corpus_reader.files import SnapshotFile

_SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"),
          (10**8, "10M<n<100M"), (10**9, "100M<n<1B"))  # fmt: skip
_ARROW_NAMES = {"double": "float64", "float": "float32"}

TABLES: Mapping[str, tuple[str, pa.Schema]] = {
    "index": ("index.parquet", INDEX),
    **{name: (f"tables/{name}/*.parquet", schema) for name, schema in flat.SCHEMAS.items()},
    **{table.name: (f"graph/{table.name}/*.parquet", table.schema) for table in (LINKS, CONTEXTS)},
}
"""Configurations other than the sets: path and columns. Each has the single split `train`."""


def front_matter(stats: Mapping[str, Any], files: Sequence[SnapshotFile], pretty_name: str) -> str:
    """Return the YAML head: a configuration with splits for each set, and one for each table. The default is s2orc if it has rows."""
    sets = {
        set_: (documents.SCHEMA, {split: f"documents/{set_}/{split}/*.parquet" for split in stats["sets"][set_]})
        for set_ in sorted(stats["sets"], reverse=True)  # the first is the default: s2orc
    }
    tables = {name: (schema, {"train": path}) for name, (path, schema) in TABLES.items()}
    count = sum(counted["documents"] for splits in stats["sets"].values() for counted in splits.values())
    tags = ("scientific papers", "open access", "s2orc", "croissant")
    return yaml_head(pretty_name, sets | tables, files, tags=tags, count=count)


def yaml_head(
    pretty_name: str,
    configs: Mapping[str, tuple[pa.Schema, Mapping[str, str]]],
    files: Sequence[SnapshotFile],
    *,
    tags: Sequence[str],
    count: int | None = None,
) -> str:
    """Return the YAML head of a card.

    `configs` maps a configuration to its columns, and each split to a path with at most one `*`. `count` is the number of documents
    (default: number of rows). `license` is `other` because each document has its own SPDX id.
    """
    sets: dict[str, dict[str, tuple[str, int, int]]] = {}  # path, bytes and rows by configuration and split
    for name, (_, splits) in configs.items():
        for split, path in splits.items():
            found = match_files(path, files)
            if rows := sum(file.rows or 0 for file in found):  # `datasets` rejects a configuration without rows
                sets.setdefault(name, {})[split] = path, sum(file.bytes for file in found), rows
    if count is None:
        count = sum(rows for splits in sets.values() for _, _, rows in splits.values())
    value = {
        "pretty_name": pretty_name,
        "license": "other",
        "license_name": "per-document",
        "license_link": "README.md",
        "language": ["en"],
        "task_categories": ["text-generation"],
        "tags": list(tags),
        "size_categories": [next((name for most, name in _SIZES if count < most), "n>1B")],
        "configs": [
            {
                "config_name": name,
                **({"default": True} if number == 0 else {}),
                "data_files": [{"split": split, "path": path} for split, (path, _, _) in splits.items()],
            }
            for number, (name, splits) in enumerate(sets.items())
        ],
        "dataset_info": [
            {
                "config_name": name,
                "features": [{"name": field.name, **_feature(field.type)} for field in configs[name][0]],
                "splits": [
                    {"name": split, "num_bytes": size, "num_examples": rows}
                    for split, (_, size, rows) in splits.items()
                ],
            }
            for name, splits in sets.items()
        ],
    }
    return f"---\n{yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120)}---\n"


def match_files(path: str, files: Iterable[SnapshotFile]) -> list[SnapshotFile]:
    """Return the files that match a path with at most one `*`."""
    folder, _, suffix = path.partition("*")
    return [file for file in files if file.path.startswith(folder) and file.path.endswith(suffix)]


def _feature(type_: pa.DataType) -> dict[str, Any]:
    """Return a column type in the notation of `datasets`."""
    if pa.types.is_list(type_):
        item = _feature(type_.value_type)
        return {"list": item.get("struct") or (item if "list" in item else item["dtype"])}
    if pa.types.is_struct(type_):
        return {"struct": [{"name": field.name, **_feature(field.type)} for field in type_]}
    return {"dtype": _ARROW_NAMES.get(str(type_), str(type_))}
