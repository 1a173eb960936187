"""A release equal to the truth gets perfect scores, and each kind of error lowers only its own row."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import orjson
import pyarrow as pa
import pytest

from devtools.sample import Truth, compare
from devtools.sample.compare import TABLES, expected_text
from devtools.sample.truth import PaperTruth

pytestmark = pytest.mark.slow

PARAGRAPH = {"section": "Mice", "section_path": "Methods::Mice", "cite_spans": [{"ref_id": "BIBREF0"}]}
PARSE = {"body_text": [PARAGRAPH], "back_matter": [], "bib_entries": {"BIBREF0": {}}}
PARSED = orjson.dumps(PARSE)
Release = dict[str, list[dict[str, Any]]]


def parse(**changes: Any) -> bytes:
    return orjson.dumps({**PARSE, "body_text": [{**PARAGRAPH, **changes}]})


def source_of(paper: PaperTruth) -> bytes:
    """Return a parse with the sections and entries of the truth."""
    body = [{**PARAGRAPH, "section": b.section, "section_path": b.section} for b in paper.body]
    entries: dict[str, Any] = {f"BIBREF{i}": {} for i in range(len(paper.bibliography))}
    return orjson.dumps({"body_text": body, "back_matter": [], "bib_entries": entries})


def perfect(truth: Truth) -> Release:
    """Return the tables of a release that equals the truth."""
    release: Release = {name: [] for name in TABLES}
    ids = {p.key: f"id-{p.key}" for p in truth.papers}
    release["selections"] = [
        {"file_sha1": p.sha1, "outcome": p.selection, "doi": p.doi, "arxiv_id": p.arxiv_id, "pmc_id": p.pmc_id}
        for p in truth.pdfs
        if p.seen
    ]
    release["edges"] = [{"left": record, "right": "z", "taken": False} for record in truth.conflicts]
    for p in truth.papers:
        paper_id = ids[p.key]
        release["clusters"] += [{"record_id": r, "paper_id": paper_id} for r in p.record_ids]
        names = ("title", "date", "canonical_pdf", "open_access", "oa_evidence", "licence", "abstract")
        authors = [{"first": "A", "middle": [], "last": last, "suffix": ""} for last in p.authors]
        facts = {"authors": authors, "fields_of_study": [p.field] if p.field else []}
        release["papers"].append({"paper_id": paper_id, **facts, **{name: getattr(p, name) for name in names}})
        for kind in p.fulltexts:
            release["fulltexts"].append(
                {"paper_id": paper_id, "parse_kind": kind, "parse": PARSED if kind == "pdf" else source_of(p)}
            )
        release["filtered"].append({"paper_id": paper_id, "outcome": p.filtered})
        for i, entry in enumerate(p.bibliography):
            cited = ids[entry.links_to] if entry.links_to else ids["part-ii"] if entry.warning else None
            release["links"].append(
                {"paper_id": paper_id, "ref_id": f"BIBREF{i}", "cited_paper_id": cited, "warning": entry.warning}
            )
        for set_ in ("s2orc", "s2ag"):
            if outcome := getattr(p, set_):
                text = expected_text(p) if outcome == "kept" else None
                release["documents"].append({"set": set_, "paper_id": paper_id, "outcome": outcome, "text": text})
                if outcome == "kept":
                    release["splits"].append({"set": set_, "paper_id": paper_id, "split": p.split})
    return release


def tables(release: Release) -> dict[str, pa.Table]:
    return {name: pa.Table.from_pylist(rows) for name, rows in release.items()}


@pytest.fixture(scope="module")
def release(truth: Truth) -> Release:
    return perfect(truth)


def test_truth_scores_one_against_itself(truth: Truth, release: Release) -> None:
    comparison = compare(truth, tables(release))
    assert [row.what for row in comparison.rows if row.misses] == []
    assert all(row.share == 1 and row.expected > 0 for row in comparison.rows)
    assert comparison.text_f1 == 1
    assert "selection" in str(comparison) and "100%" in str(comparison)


def is_paper(key: str) -> Callable[[dict[str, Any]], bool]:
    return lambda row: row["paper_id"] == f"id-{key}"


MISTAKES: list[tuple[str, str, str, Any, Callable[[dict[str, Any]], bool]]] = [
    ("selection", "selections", "outcome", "unreadable", lambda r: r["outcome"] == "selected"),
    ("clusters", "clusters", "paper_id", "id-other", lambda r: r["record_id"].startswith("arxiv:")),
    ("title", "papers", "title", "Something else", is_paper("regular-00")),
    ("authors", "papers", "authors", [], is_paper("regular-00")),
    ("date", "papers", "date", "2001", is_paper("regular-00")),
    ("abstract", "papers", "abstract", "BACKGROUND: one line", is_paper("structured-abstract")),
    ("field of study", "papers", "fields_of_study", [], is_paper("regular-00")),
    ("citations name an entry", "fulltexts", "parse", parse(cite_spans=[{"ref_id": None}]), is_paper("regular-00")),
    ("section: the innermost head", "fulltexts", "parse", parse(section="Methods::Mice"), is_paper("regular-00")),
    ("canonical PDF", "papers", "canonical_pdf", "0" * 40, is_paper("pair-closed")),
    ("open access", "papers", "open_access", True, is_paper("closed")),
    ("open access by", "papers", "oa_evidence", "arxiv", is_paper("regular-00")),
    ("licence", "papers", "licence", "CC-BY-4.0", is_paper("closed")),
    ("declared facts", "papers", "date", None, is_paper("retitled")),
    ("identifiers read from PDFs", "selections", "pmc_id", None, lambda r: r["pmc_id"] is not None),
    ("kind of full text", "fulltexts", "parse_kind", "pdf", is_paper("latex-only")),
    ("sections, entries of sources", "fulltexts", "parse", parse(), is_paper("jats-only")),
    ("conflicts of DOIs", "edges", "taken", True, lambda r: True),
    ("filter", "filtered", "outcome", "kept", is_paper("german")),
    ("citations found", "links", "cited_paper_id", None, lambda r: r["cited_paper_id"] is not None),
    ("citations right", "links", "cited_paper_id", "id-german", lambda r: r["cited_paper_id"] is None),
    ("numeral warnings", "links", "warning", None, lambda r: r["warning"] == "numeral"),
    ("clean: s2orc", "documents", "outcome", "kept", is_paper("short")),
    ("clean: s2ag", "documents", "outcome", "abstract_short", lambda r: r["set"] == "s2ag" and r["outcome"] == "kept"),
    ("split", "splits", "split", "train", is_paper("twin-again")),
]


@pytest.mark.parametrize(("what", "table", "column", "value", "where"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_each_mistake_lowers_its_own_row(
    truth: Truth,
    release: Release,
    what: str,
    table: str,
    column: str,
    value: Any,
    where: Callable[[dict[str, Any]], bool],
) -> None:
    wrong = copy.deepcopy(release)
    next(row for row in wrong[table] if where(row))[column] = value
    comparison = compare(truth, tables(wrong))
    assert comparison.share(what) < 1
    assert next(row for row in comparison.rows if row.what == what).misses


def test_empty_release_scores_zero(truth: Truth, release: Release) -> None:
    empty = {name: table.slice(0, 0) for name, table in tables(release).items()}
    comparison = compare(truth, empty)
    assert comparison.share("clusters") == comparison.share("filter") == comparison.share("split") == 0
    assert comparison.text_f1 == 0
