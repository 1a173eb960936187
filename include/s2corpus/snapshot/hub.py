"""Write the YAML head of the data card for the Hugging Face Hub and `datasets` (Hub docs: Dataset Cards)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from s2corpus.snapshot import documents, flat
from s2corpus.snapshot.rows import INDEX
from s2corpus.tables.texts import CONTEXTS, LINKS
from s2corpus_reader.cards import yaml_head
from s2corpus_reader.files import SnapshotFile

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
