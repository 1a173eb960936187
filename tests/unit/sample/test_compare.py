"""A release equal to the truth gets perfect scores, and each kind of error lowers only its own row."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from devtools.sample import Truth, compare, compare_identities, truths
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
    return orjson.dumps(
        {
            "body_text": body,
            "back_matter": [],
            "bib_entries": {f"BIBREF{i}": {} for i in range(len(paper.bibliography))},
        }
    )


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
        release["papers"].append(
            {
                "paper_id": paper_id,
                "title": p.title,
                "authors": [{"first": "A", "middle": [], "last": last, "suffix": ""} for last in p.authors],
                "date": p.date,
                "canonical_pdf": p.canonical_pdf,
                "open_access": p.open_access,
                "oa_evidence": p.oa_evidence,
                "licence": p.licence,
                "abstract": p.abstract,
                "fields_of_study": [p.field] if p.field else [],
            }
        )
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


def change(table: str, column: str, value: Any, where: Callable[[dict[str, Any]], bool]) -> Callable[[Release], None]:
    def apply(release: Release) -> None:
        next(row for row in release[table] if where(row))[column] = value

    return apply


def is_paper(key: str) -> Callable[[dict[str, Any]], bool]:
    return lambda row: row["paper_id"] == f"id-{key}"


MISTAKES: list[tuple[str, Callable[[Release], None]]] = [
    ("selection", change("selections", "outcome", "unreadable", lambda r: r["outcome"] == "selected")),
    ("clusters", change("clusters", "paper_id", "id-other", lambda r: r["record_id"].startswith("arxiv:"))),
    ("title", change("papers", "title", "Something else", is_paper("regular-00"))),
    ("authors", change("papers", "authors", [], is_paper("regular-00"))),
    ("date", change("papers", "date", "2001", is_paper("regular-00"))),
    ("abstract", change("papers", "abstract", "BACKGROUND: one line", is_paper("structured-abstract"))),
    ("field of study", change("papers", "fields_of_study", [], is_paper("regular-00"))),
    (
        "citations name an entry",
        change("fulltexts", "parse", parse(cite_spans=[{"ref_id": None}]), is_paper("regular-00")),
    ),
    (
        "section: the innermost head",
        change("fulltexts", "parse", parse(section="Methods::Mice"), is_paper("regular-00")),
    ),
    ("canonical PDF", change("papers", "canonical_pdf", "0" * 40, is_paper("pair-closed"))),
    ("open access", change("papers", "open_access", True, is_paper("closed"))),
    ("open access by", change("papers", "oa_evidence", "arxiv", is_paper("regular-00"))),
    ("licence", change("papers", "licence", "CC-BY-4.0", is_paper("closed"))),
    ("declared facts", change("papers", "date", None, is_paper("retitled"))),
    ("identifiers read from PDFs", change("selections", "pmc_id", None, lambda r: r["pmc_id"] is not None)),
    ("kind of full text", change("fulltexts", "parse_kind", "pdf", is_paper("latex-only"))),
    ("sections, entries of sources", change("fulltexts", "parse", parse(), is_paper("jats-only"))),
    ("conflicts of DOIs", change("edges", "taken", True, lambda r: True)),
    ("filter", change("filtered", "outcome", "kept", is_paper("german"))),
    ("citations found", change("links", "cited_paper_id", None, lambda r: r["cited_paper_id"] is not None)),
    ("citations right", change("links", "cited_paper_id", "id-german", lambda r: r["cited_paper_id"] is None)),
    ("numeral warnings", change("links", "warning", None, lambda r: r["warning"] == "numeral")),
    ("clean: s2orc", change("documents", "outcome", "kept", is_paper("short"))),
    (
        "clean: s2ag",
        change("documents", "outcome", "abstract_short", lambda r: r["set"] == "s2ag" and r["outcome"] == "kept"),
    ),
    ("split", change("splits", "split", "train", is_paper("twin-again"))),
]


@pytest.mark.parametrize("what, mistake", MISTAKES, ids=[what for what, _ in MISTAKES])
def test_each_mistake_lowers_its_own_row(
    truth: Truth, release: Release, what: str, mistake: Callable[[Release], None]
) -> None:
    wrong = copy.deepcopy(release)
    mistake(wrong)
    comparison = compare(truth, tables(wrong))
    assert comparison.share(what) < 1
    assert next(row for row in comparison.rows if row.what == what).misses


def test_selection_of_a_later_pdf_is_a_mistake(truth: Truth, release: Release) -> None:
    wrong = copy.deepcopy(release)
    wrong["selections"].append({"file_sha1": next(p.sha1 for p in truth.pdfs if not p.seen), "outcome": "selected"})
    assert compare(truth, tables(wrong)).share("selection") < 1


def test_empty_release_scores_zero(truth: Truth, release: Release) -> None:
    empty = {name: table.slice(0, 0) for name, table in tables(release).items()}
    comparison = compare(truth, empty)
    assert comparison.share("clusters") == comparison.share("filter") == comparison.share("split") == 0
    assert comparison.text_f1 == 0


def identity_tables(truth: Truth, ids: dict[str, str], aliases: dict[str, str]) -> dict[str, pa.Table]:
    """Return clusters, papers and aliases. Each paper has the id that `ids` assigns to its key."""
    release = perfect(truth)
    clusters = [{"record_id": r, "paper_id": ids[p.key]} for p in truth.papers for r in p.record_ids]
    papers = [row | {"paper_id": ids[row["paper_id"].removeprefix("id-")]} for row in release["papers"]]
    columns = pa.schema([("alias", pa.string()), ("paper_id", pa.string())])
    return {
        "clusters": pa.Table.from_pylist(clusters),
        "papers": pa.Table.from_pylist(papers),
        "aliases": pa.Table.from_pylist([{"alias": a, "paper_id": p} for a, p in aliases.items()], columns),
    }


@pytest.mark.parametrize(
    "changed, aliases, wrong",
    [
        ({}, {"merging-published": "merging-preprint"}, []),
        ({"regular-00": "new"}, {"merging-published": "merging-preprint"}, ["ids kept"]),
        ({"split-off": "vanishing"}, {"merging-published": "merging-preprint"}, ["split off: a new id", "withdrawn: no paper"]),
        ({}, {}, ["merged: alias of the older"]),
        ({}, {"merging-published": "merging-preprint", "vanishing": "regular-00"}, ["withdrawn: no paper"]),
    ],
)  # fmt: skip
def test_transfer_of_ids_between_releases_is_compared(
    sample: Path, changed: dict[str, str], aliases: dict[str, str], wrong: list[str]
) -> None:
    january, february, _ = truths(sample)
    before = {p.key: p.key for p in january.papers}
    after = {p.key: changed.get(p.key, p.key) for p in february.papers}
    rows = compare_identities(
        (january, identity_tables(january, before, {})), (february, identity_tables(february, after, aliases))
    )
    assert [row.what for row in rows if row.misses] == wrong
    assert all(row.expected for row in rows)
