"""Measure a page of the document explorer over 100,000 documents, as ratio to a plain DuckDB scan of the same file.

`python -m devtools.bench.explorer [documents]`
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import numpy as np
import orjson
import pyarrow as pa
from fastapi.testclient import TestClient

from s2corpus.snapshot import flat
from s2corpus.storage.lake import open_lake
from s2corpus_reader.files import describe_file
from s2corpus_reader.parquet import ParquetFile

sys.path.insert(0, str(Path(__file__).parents[2] / "plugins"))
from s2corpus_airflow.release_page.app import build
from s2corpus_airflow.release_page.releases import Archive

SNAPSHOT = "large-20230101-00000000"
FIELDS = ["Medicine", "Biology", "Chemistry", "Physics", "Computer Science"]
OUTCOMES = ["train", "valid", "clean.short", "clean.few_paragraphs", "split.held_back:late"]
RULES = {
    "clean.profile": "card",
    "clean.min_words": 500,
    "clean.min_paragraphs": 5,
    "clean.max_top_share": 0.3,
    "clean.min_year": 1970,
}


def write_scores(path: Path, count: int) -> None:
    """Write rows with random values, 20 sections each."""
    rng = np.random.default_rng(1)
    table = ParquetFile(path, flat.SCHEMAS["scores"])
    for number in range(count):
        row: dict[str, Any] = {
            name: float(value) for name, value in zip(flat.SCHEMAS["scores"].names, rng.gamma(2, 0.1, 60), strict=False)
        }
        row |= {
            "paper_id": f"{number:015x}", "set": "s2orc", "outcome": OUTCOMES[min(int(rng.geometric(0.5)), 5) - 1],
            "rules": ["clean.body_only", "clean.min_log_prob"][: rng.integers(3)], "source": ["pdf", "jats"][rng.integers(2)],
            "title": f"The yield of method {number} in field {rng.integers(10**6)}", "fields_of_study": [FIELDS[rng.integers(5)]],
            "license": ["CC-BY-4.0", "CC0-1.0"][rng.integers(2)], "section_log_probs": rng.normal(-15, 3, 20).tolist(),
            "year": 1990 + int(rng.integers(33)), "words": int(rng.lognormal(8, 0.6)), "paragraphs": int(rng.integers(3, 90)),
        }  # fmt: skip
        for field in flat.SCHEMAS["scores"]:
            if pa.types.is_integer(field.type):
                row[field.name] = int(row[field.name])
        table.write(row, 400)
    table.close()


def seconds(run: Callable[[], object], times: int = 7) -> float:
    """Return the median duration of a call."""
    durations = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        durations.append(time.perf_counter() - start)
    return median(durations)


def main(count: int) -> None:
    """Print the median time of each page, and its ratio to a scan of all columns."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "snapshots", SNAPSHOT)
        path = folder / "tables" / "scores" / "00.parquet"
        path.parent.mkdir(parents=True)
        Path(name, "releases", SNAPSHOT[:-9]).mkdir(parents=True)
        Path(name, "releases", SNAPSHOT[:-9], "_run.json").write_text("{}")
        write_scores(path, count)
        files = [describe_file("tables/scores/00.parquet", path, count).as_json()]
        (folder / "manifest.json").write_bytes(orjson.dumps({"rules": RULES, "files": files}))
        archive = Archive(open_lake(name))
        app = build(lambda: archive, anyone=lambda: None, reader=lambda: None, visible=lambda: lambda dag_id: True)
        page = TestClient(app)
        names = ", ".join(f"max({name})" for name in flat.SCHEMAS["scores"].names)
        scan = seconds(lambda: duckdb.sql(f"SELECT {names} FROM '{path}'").fetchall())
        print(
            f"{count:,} documents, {path.stat().st_size / 1e6:.1f} MB; a DuckDB scan of all columns takes {scan:.2f} s"
        )
        address = "/corpus_release__large/20230101/documents/s2orc?by="
        for query in (
            "words",
            "log_prob&low=0.1&high=0.2",
            "words&outcome=clean.short&field=Biology&order=descending",
            "words&page=900",
        ):
            answer = page.get(address + query)
            assert answer.status_code == 200, answer.text
            took = seconds(partial(page.get, address + query))
            print(
                f"  ?by={query}: {took:.2f} s, {took / scan:.1f} times the scan, {len(answer.content) / 1e3:.0f} kB of HTML"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
