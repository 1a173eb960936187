"""Link tables of bibliography entries to tables of papers, without a release."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.rules import LinkRules
from s2corpus.stages.link import OF_ENTRIES, OF_PAPERS, make_link_tables
from s2corpus.storage.engine import open_duckdb
from s2corpus.tables.texts import LINKS
from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.facts import IDENTIFIERS
from s2orc_parse.scratch import private


def link_tables(
    papers: pa.Table, entries: Iterable[pa.Table], rules: LinkRules | None = None, memory_mb: int = 1024
) -> pa.Table:
    """Return the links of entries in their order: `paper_id`, `score`, `reason`, `warning` and `runner_up_score`.

    Papers have `paper_id`, and entries have `citing_paper_id`, which may be null. Both have `title`, `year` and `surname` of the first
    author. They may have identifiers, `journal`, `volume` and `pages`, and entries `raw_text`. `score` is S of the two titles, null
    without a title.
    """
    with (
        tempfile.TemporaryDirectory(prefix="s2corpus-link-", dir=private()) as name,
        open_duckdb(memory_mb, Path(name)) as engine,
    ):
        given = _complete(papers, _GIVEN_PAPER)
        engine.create("given_papers", given)
        engine.create(
            "filtered",
            given.select(["paper_id"]).append_column("outcome", pa.array(["kept"] * len(given), pa.string())),
        )
        engine.create("bibliography", _GIVEN_ENTRY.empty_table())
        for rows in _number(entries):
            engine.append("bibliography", rows)
        make_link_tables(
            engine, rules or LinkRules(), (*OF_PAPERS, "entries", *OF_ENTRIES, "links: linked"), ("links",)
        )
        links = engine.fetch(
            f"SELECT cited_paper_id AS paper_id, {', '.join(_LINK)} FROM links ORDER BY CAST(ref_id AS BIGINT)"
        )
        return links.cast(pa.schema([("paper_id", pa.string()), *((n, LINKS.schema.field(n).type) for n in _LINK)]))


_LINK = ("score", "reason", "warning", "runner_up_score")
_TEXTS = dict.fromkeys(("title", "volume", "pages", *IDENTIFIERS), pa.string())
_AUTHORS = {"authors": pa.list_(pa.struct({"first": pa.string(), "last": pa.string()}))}
_GIVEN_PAPER = pa.schema(
    _TEXTS | _AUTHORS | dict.fromkeys(("paper_id", "date", "journal", "venue"), pa.string())
    | {"preprints": pa.list_(pa.struct({"doi": pa.string()}))}
)  # fmt: skip
_GIVEN_ENTRY = pa.schema(
    _TEXTS
    | _AUTHORS
    | dict.fromkeys(("paper_id", "parse_kind", "ref_id", "venue", "raw_text"), pa.string())
    | {"year": pa.int32()}
)


def _complete(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return rows with all columns of a schema; columns that they lack are null."""
    surname = one_chunk(rows["surname"])
    names = pa.StructArray.from_arrays([pa.nulls(len(rows), pa.string()), surname], names=["first", "last"])
    rows = rows.append_column("authors", pa.ListArray.from_arrays(pa.array(range(len(rows) + 1), pa.int32()), names))
    rows = rows.append_column("date", pc.utf8_lpad(rows["year"].cast(pa.string()), 4, "0"))
    columns = [rows[f.name] if f.name in rows.column_names else pa.nulls(len(rows), f.type) for f in schema]
    return pa.table(columns, schema.names).cast(schema)


def _number(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield entries with their numbers as `ref_id`."""
    numbers = count()
    for rows in tables:
        rows = rows.rename_columns([{"journal": "venue"}.get(name, name) for name in rows.column_names])
        made = {
            "paper_id": pc.fill_null(rows["citing_paper_id"], ""),
            "parse_kind": pa.array([""] * len(rows), pa.string()),
            "ref_id": pa.array([str(next(numbers)) for _ in range(len(rows))], pa.string()),
        }
        for name, column in made.items():
            rows = rows.append_column(name, column)
        yield _complete(rows, _GIVEN_ENTRY)
