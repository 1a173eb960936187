"""Explore the documents of a snapshot: filters, distributions of all scores, and a list of documents.

Each page reads `tables/scores` of the snapshot, up to `MOST_ROWS` rows. Papers are assigned to files by a hash, so that the first
files of a larger snapshot are a fair sample.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus.ids import ReleaseId
from s2corpus.snapshot import flat
from s2corpus.storage.duck import duckdb_connection
from s2corpus.text.signals import NAMES
from s2corpus_airflow.release_page import charts
from s2corpus_airflow.release_page.lists import PAGE
from s2corpus_airflow.release_page.releases import Archive
from s2corpus_reader.errors import SnapshotError
from s2corpus_reader.rebuild import read_rules

MOST_ROWS = 250_000
MOST_BYTES = 256 << 20
"""rows and uncompressed bytes after which a page reads no further row group"""
MEMORY_MB = 512
BINS = 40
SECTIONS = "section_log_probs"
SCORES = ("year", "words", "paragraphs", "top_share", "log_prob", SECTIONS, "removed_words")
VALUES = (*SCORES, *NAMES)
Value = StrEnum("Value", {name: name for name in VALUES if name != SECTIONS})  # type: ignore[misc]  # members are computed
"""values that sort the list and limit it to a range"""
FACETS = {"outcome": "outcome", "rule": "rules", "field": "fields_of_study", "source": "source", "license": "license"}
"""name of a filter → column"""
PUBLISHED = ("train", "valid")
_LISTS = ("rules", "fields_of_study")
_RULES = {
    "s2orc": {"words": ["min_words"], "paragraphs": ["min_paragraphs"], "top_share": ["max_top_share"]},
    "s2ag": {"words": ["min_abstract_words", "max_abstract_words"], "log_prob": ["min_log_prob"]},
}
"""set → value → rules of the section `clean` that compare it"""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a user chose: filters, and the value that sorts the list and has the large histogram."""

    outcome: str = ""
    rule: str = ""
    field: str = ""
    source: str = ""
    license: str = ""
    first: str = ""
    """first year"""
    last: str = ""
    by: str = "words"
    low: float | None = None
    """smallest value of `by`"""
    high: float | None = None
    """value of `by` that the documents do not reach"""
    order: str = "ascending"

    def link(self, **changes: Any) -> str:
        """Return the query of a page with changes; it ends with `&`."""
        values = {name: value for name, value in (asdict(self) | changes).items() if value not in ("", None)}
        return urlencode(values) + "&"

    @property
    def condition(self) -> tuple[str, list[Any]]:
        """The documents as a condition in SQL, and its parameters."""
        parts, values = ["true"], list[Any]()
        for name, column in FACETS.items():
            if value := getattr(self, name):
                parts.append(f"list_contains({column}, ?)" if column in _LISTS else f"{column} = ?")
                values.append(value)
        limits = (
            ("year", ">=", self.first),
            ("year", "<=", self.last),
            (self.by, ">=", self.low),
            (self.by, "<", self.high),
        )
        for column, compare, limit in limits:
            if limit not in ("", None):
                parts.append(f"{column} {compare} ?")
                values.append(float(limit))
        return " AND ".join(parts), values


def explore(archive: Archive, release: ReleaseId, set_: str, choice: Choice, page: int) -> dict[str, Any]:
    """Return the values of the template, or the reason why there are none."""
    snapshot = archive.release(release).snapshot
    manifest = archive.manifest(snapshot) if snapshot else None
    files = [file for file in manifest["files"] if file["path"].startswith("tables/scores/")] if manifest else []
    if manifest is None:
        return {
            "set_": set_,
            "reason": "This release has no complete snapshot. Its documents are shown after the export.",
        }
    if not files:
        return {
            "set_": set_,
            "reason": f"An earlier version made {snapshot}, without tables/scores. Build the release again.",
        }
    thresholds = _list_thresholds(manifest["rules"], set_)
    where, values = choice.condition
    table, is_sample = _read(archive, [f"snapshots/{snapshot}/{file['path']}" for file in files], set_)
    with duckdb_connection(memory_mb=MEMORY_MB, scratch=Path(tempfile.gettempdir())) as connection:
        connection.register("scores", table)
        facets = _count_facets(connection)
        columns = connection.execute(
            f"SELECT outcome, {', '.join(VALUES)} FROM scores WHERE {where}", values
        ).to_arrow_table()
        direction = "DESC" if choice.order == "descending" else "ASC"
        query = (
            f"SELECT paper_id, title, outcome, year, fields_of_study, source, license, {choice.by} AS value FROM scores WHERE {where} "
            f"ORDER BY {choice.by} {direction} NULLS LAST, paper_id LIMIT {PAGE} OFFSET {(page - 1) * PAGE}"
        )
        rows = connection.execute(query, values).to_arrow_table().to_pylist()
    columns = columns.set_column(0, "outcome", columns["outcome"].combine_chunks().dictionary_encode())
    histograms = {name: _draw(name, columns, thresholds.get(name, {})) for name in VALUES}
    main = _draw(choice.by, columns, thresholds.get(choice.by, {}), choice)
    return {
        "set_": set_, "reason": "", "choice": choice, "facets": facets, "rows": rows, "page": page, "found": len(columns),
        "more": page * PAGE < len(columns), "total": sum(n for _, n in facets["outcome"]), "main": main, "histograms": histograms,
        "values": list(Value), "sample": is_sample,
        "thresholds": thresholds.get(choice.by, {}),
    }  # fmt: skip


def _read(archive: Archive, keys: list[str], set_: str) -> tuple[pa.Table, bool]:
    """Return the rows of a set from the first row groups of the files, and whether more rows follow."""
    files, root = archive.lake.filesystem()
    parts, rows, size = [flat.SCHEMAS["scores"].empty_table()], 0, 0
    is_full = False
    for key in sorted(keys):
        with pq.ParquetFile(f"{root}{key}", filesystem=files, pre_buffer=True) as parquet:
            for number in range(parquet.num_row_groups):
                if is_full := rows >= MOST_ROWS or size >= MOST_BYTES:
                    break
                group = parquet.read_row_group(number)
                rows, size = rows + group.num_rows, size + group.nbytes
                parts.append(group.cast(flat.SCHEMAS["scores"]))
        if is_full:
            break
    table = pa.concat_tables(parts)
    return table.filter(pc.equal(table["set"], set_)), is_full


def _count_facets(connection: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[str, int]]]:
    """Return the values of each filter with their numbers of documents, the most frequent first."""
    facets = {}
    for name, column in FACETS.items():
        value = f"unnest({column})" if column in _LISTS else column
        query = (
            f"SELECT value, count(*) FROM (SELECT {value} AS value FROM scores) WHERE value IS NOT NULL GROUP BY ALL"
        )
        facets[name] = connection.execute(f"{query} ORDER BY 2 DESC, 1 LIMIT 200").fetchall()
    return facets


def _list_thresholds(rules: Mapping[str, Any], set_: str) -> dict[str, dict[str, float]]:
    """Return the thresholds of each value by rule."""
    try:
        improbable = read_rules(rules).threshold
    except SnapshotError:
        improbable = None
    names = {"year": ["min_year"], SECTIONS: ["min_log_prob"], **_RULES[set_]}
    values = {**rules, "clean.min_log_prob": improbable}
    return {
        value: {
            rule: float(values[rule]) for name in own if isinstance(values.get(rule := f"clean.{name}"), int | float)
        }
        for value, own in names.items()
    }


def _draw(
    name: str, columns: pa.Table, thresholds: Mapping[str, float], choice: Choice | None = None
) -> tuple[Any, list[Any]] | None:
    """Return the histogram of a value by outcome, and with a choice its bins as rows of a table; None without values.

    The first and last bin contain the values outside of the quantiles 0.005 and 0.995.
    """
    values, outcomes = columns[name].combine_chunks(), columns["outcome"].combine_chunks()
    codes = outcomes.indices.to_numpy()
    if name == SECTIONS:
        codes, values = codes[pc.list_parent_indices(values).to_numpy()], values.flatten()
    numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    if not (is_known := np.isfinite(numbers)).all():
        numbers, codes = numbers[is_known], codes[is_known]
    if not len(numbers):
        return None
    limits = [*np.quantile(numbers[:: len(numbers) // 10_000 + 1], (0.005, 0.995)), *thresholds.values()]
    low, high = min(limits), max(limits)
    step = (high - low) / (BINS - 2) or 1.0
    if pa.types.is_integer(values.type):
        low, step = math.floor(low), math.ceil(step)
    first = min(thresholds.values(), default=low)  # an edge of the bins, so that no bin has both sides of the threshold
    edges = first - step * max(math.ceil((first - low) / step), 1) + step * np.arange(BINS + 1)
    bins = np.clip(np.floor((numbers - edges[0]) / step), 0, BINS - 1).astype(np.int64)
    bins += (numbers >= edges[bins + 1]).astype(np.int64) - (numbers < edges[bins])  # rounding
    bins = np.clip(bins, 0, BINS - 1)
    words = outcomes.dictionary.to_pylist()
    counts = np.bincount(codes * BINS + bins, minlength=len(words) * BINS).reshape(len(words), BINS)
    order = sorted(range(len(words)), key=lambda code: (words[code] not in PUBLISHED, words[code]))
    if choice is None:
        is_published = np.array([word in PUBLISHED for word in words])
        layers = [("kept", counts[is_published].sum(0)), ("excluded0", counts[~is_published].sum(0))]
        return charts.histogram(layers, edges, thresholds, f"{name}: {len(numbers):,} values"), []
    bounds = [None, *map(float, edges[1:-1]), None]
    rows = [
        (
            charts.interval(edges, bin_),
            choice.link(low=bounds[bin_], high=bounds[bin_ + 1]),
            [(words[code], int(counts[code, bin_])) for code in order if counts[code, bin_]],
        )
        for bin_ in range(BINS)
    ]
    layers = [
        ("kept" if words[code] in PUBLISHED else f"excluded{n % 2}", counts[code]) for n, code in enumerate(order)
    ]
    return charts.histogram(layers, edges, thresholds, "", rows), [row for row in rows if row[2]]
