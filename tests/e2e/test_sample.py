"""The release of the complete sample equals the sample's truth, and each kind of error lowers only its own row of the comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pyarrow as pa
import pytest

from devtools.sample import Truth, compare
from devtools.sample.compare import TABLES, _paper_ids
from s2corpus.pipeline.run import Run
from s2corpus.tables import schema

pytestmark = pytest.mark.slow
Tables = dict[str, pa.Table]
PARAGRAPH = {"section": "Mice", "section_path": "Methods::Mice", "cite_spans": [{"ref_id": "BIBREF0"}]}


@pytest.fixture(scope="module")
def tables(sampled: tuple[Run, Truth]) -> Tables:
    return {name: sampled[0].table(schema.TABLES[name]).read() for name in TABLES}


def test_release_equals_the_truth(sampled: tuple[Run, Truth], tables: Tables) -> None:
    comparison = compare(sampled[1], tables)
    assert [miss for row in comparison.rows for miss in row.misses] == []
    assert all(row.expected > 0 for row in comparison.rows)
    assert comparison.text_f1 > 0.995
    assert "selection" in str(comparison) and "100%" in str(comparison)


def parse(**changes: Any) -> bytes:
    body = [{**PARAGRAPH, **changes}]
    return orjson.dumps({"body_text": body, "back_matter": [], "bib_entries": {"BIBREF0": {}}})


def of(key: str) -> Callable[[dict[str, Any]], bool]:
    return lambda row: row["paper"] == key


MISTAKES: list[tuple[str, str, str, Any, Callable[[dict[str, Any]], object]]] = [
    ("selection", "selections", "outcome", "unreadable", lambda r: r["outcome"] == "selected"),
    ("clusters", "clusters", "paper_id", "id-other", lambda r: r["record_id"].startswith("arxiv:")),
    ("title", "papers", "title", "Something else", of("regular-00")),
    ("authors", "papers", "authors", [], of("regular-00")),
    ("date", "papers", "date", "2001", of("regular-00")),
    ("abstract", "papers", "abstract", "BACKGROUND: one line", of("structured-abstract")),
    ("field of study", "papers", "fields_of_study", [], of("regular-00")),
    ("citations name an entry", "fulltexts", "parse", parse(cite_spans=[{"ref_id": None}]), of("regular-00")),
    ("section: the innermost head", "fulltexts", "parse", parse(section="Methods::Mice"), of("regular-00")),
    ("canonical PDF", "papers", "canonical_pdf", "0" * 40, of("pair-closed")),
    ("open access", "papers", "open_access", True, of("closed")),
    ("open access by", "papers", "oa_evidence", "arxiv", of("regular-00")),
    ("licence", "papers", "licence", "CC-BY-4.0", of("closed")),
    ("declared facts", "papers", "date", None, of("retitled")),
    ("identifiers read from PDFs", "selections", "pmc_id", None, lambda r: r["pmc_id"] is not None),
    ("kind of full text", "fulltexts", "parse_kind", "pdf", of("latex-only")),
    ("sections, entries of sources", "fulltexts", "parse", parse(), of("jats-only")),
    ("conflicts of DOIs", "edges", "taken", True, lambda r: not r["taken"]),
    ("filter", "filtered", "outcome", "kept", of("german")),
    ("citations found", "links", "cited_paper_id", None, lambda r: of("regular-00")(r) and r["cited_paper_id"]),
    ("citations right", "links", "cited_paper_id", "f" * 15, of("regular-00")),
    ("numeral warnings", "links", "warning", None, lambda r: r["warning"] == "numeral"),
    ("clean: s2orc", "documents", "outcome", "kept", lambda r: of("short")(r) and r["set"] == "s2orc"),
    ("clean: s2ag", "documents", "outcome", "abstract_short", lambda r: r["set"] == "s2ag" and r["outcome"] == "kept"),
    ("split", "splits", "split", "train", of("twin-again")),
]


@pytest.mark.parametrize(("what", "table", "column", "value", "where"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_each_mistake_lowers_its_own_row(
    sampled: tuple[Run, Truth],
    tables: Tables,
    what: str,
    table: str,
    column: str,
    value: Any,
    where: Callable[[dict[str, Any]], object],
) -> None:
    keys = {paper_id: key for key, paper_id in _paper_ids(sampled[1], tables).items()}
    rows = tables[table].to_pylist()
    wrong = next(row for row in rows if where({**row, "paper": keys.get(row.get("paper_id"))}))
    wrong[column] = value
    comparison = compare(sampled[1], tables | {table: pa.Table.from_pylist(rows, tables[table].schema)})
    assert comparison.share(what) < 1


def test_empty_release_scores_zero(sampled: tuple[Run, Truth], tables: Tables) -> None:
    comparison = compare(sampled[1], {name: table.slice(0, 0) for name, table in tables.items()})
    assert comparison.share("clusters") == comparison.share("filter") == comparison.share("split") == 0
    assert comparison.text_f1 == 0
