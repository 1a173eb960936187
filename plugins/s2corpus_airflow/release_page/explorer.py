"""Explore the documents of a snapshot: filters, distributions of all scores, and a list of documents.

Each page reads `tables/scores` of the snapshot, up to `MOST_ROWS` rows. Papers are assigned to files by a hash, so that the first
files of a larger snapshot are a fair sample.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus.ids import ReleaseId
from s2corpus.snapshot import flat
from s2corpus.storage.duck import duckdb_connection
from s2corpus.text.rules import MAX_ABSTRACT_WORDS, MAX_TOP_SHARE, MIN_ABSTRACT_WORDS, MIN_PARAGRAPHS
from s2corpus.text.signals import NAMES
from s2corpus_airflow.release_page import charts
from s2corpus_airflow.release_page.distributions import Distribution, count_values
from s2corpus_airflow.release_page.lists import PAGE
from s2corpus_airflow.release_page.releases import Archive
from s2corpus_reader.errors import SnapshotError
from s2corpus_reader.rebuild import read_rules

MOST_ROWS = 250_000
MOST_BYTES = 256 << 20
"""rows and uncompressed bytes after which a page reads no further row group"""
MEMORY_MB = 512
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
_CONSTANTS = {
    "clean.min_paragraphs": MIN_PARAGRAPHS, "clean.max_top_share": MAX_TOP_SHARE,
    "clean.min_abstract_words": MIN_ABSTRACT_WORDS, "clean.max_abstract_words": MAX_ABSTRACT_WORDS,
}  # fmt: skip
"""Rules that a manifest contains only if an earlier version made the snapshot."""


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
    histograms = {name: count_values(name, columns, thresholds.get(name, {}), PUBLISHED) for name in VALUES}
    return {
        "set_": set_, "reason": "", "choice": choice, "facets": facets, "rows": rows, "page": page, "found": len(columns),
        "more": page * PAGE < len(columns), "total": sum(n for _, n in facets["outcome"]), "main": _draw(histograms[choice.by], choice),
        "histograms": histograms,
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
    values = {**_CONSTANTS, **rules, "clean.min_log_prob": improbable}
    return {
        value: {
            rule: float(values[rule]) for name in own if isinstance(values.get(rule := f"clean.{name}"), int | float)
        }
        for value, own in names.items()
    }


def _draw(values: Distribution | None, choice: Choice) -> tuple[Any, list[Any]] | None:
    """Return the histogram of a value by outcome, and its bins as rows of a table; None without values."""
    if values is None:
        return None
    bounds = [None, *map(float, values.edges[1:-1]), None]
    rows = [
        (range_, choice.link(low=bounds[bin_], high=bounds[bin_ + 1]), counted)
        for bin_, (range_, counted) in enumerate(values.rows)
    ]
    return charts.histogram(values.layers, values.edges, values.thresholds, "", rows), [row for row in rows if row[2]]
