"""Read the published datasets of a lake: the datasets of a snapshot, their statistics, and similar papers by vectors."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus_datasets.lake import Lake, read_json
from s2corpus_reader.files import file_number

Row = dict[str, Any]


def list_datasets(lake: Lake, snapshot: str) -> list[Row]:
    """Return the published datasets of a snapshot, by name: `stats.json`, with the manifest's `version` and `rules`."""
    found = []
    for name in lake.folders("datasets/"):
        folder = f"datasets/{name}/{snapshot}"
        manifest, stats = (read_json(lake, f"{folder}/{file}.json") for file in ("manifest", "stats"))
        if manifest is None or stats is None:
            continue
        size = sum(file["bytes"] for file in manifest["files"]) + manifest.get("listed_bytes", 0)
        files = len(manifest["files"]) + manifest.get("listed_files", 0)
        rules = {key: manifest[key] for key in ("dataset", "version", "rules")}
        found.append({**stats, **rules, "name": name, "folder": lake.uri(folder), "bytes": size, "files": files})
    return found


def find_similar_papers(lake: Lake, snapshot: str, paper_id: str) -> list[Row] | None:
    """Return the nearest papers by a snapshot's vectors, nearest first: `rank, neighbor_id, cosine, title, field`.

    The list is empty if the paper has no vector. The result is None if the snapshot has no such dataset.
    """
    for name in lake.folders("datasets/"):
        manifest = read_json(lake, f"datasets/{name}/{snapshot}/manifest.json")
        if manifest is None or manifest["dataset"] != "vectors":
            continue
        shards = sum(file["path"].startswith("neighbors/") for file in manifest["files"])
        data, _ = lake.get(f"datasets/{name}/{snapshot}/neighbors/{file_number(paper_id, shards):02d}.parquet")
        table = pq.read_table(pa.BufferReader(data)).filter(pc.field("paper_id") == paper_id).sort_by("rank")
        rows: list[Row] = table.to_pylist()
        return rows
    return None
