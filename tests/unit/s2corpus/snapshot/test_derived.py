"""SPEC §3.3 and §10: tables, charts and other forms of papers have the values of the S2ORC paper, its releases, and a paper summed
by hand.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import nullcontext
from copy import deepcopy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from s2corpus.rules import IGNORED_BY_RECIPE
from s2corpus.snapshot import documents, flat, paper_tables, report, rights
from s2corpus.snapshot import read_files as checks
from s2corpus.snapshot.census import Census, sum_tables
from s2corpus.snapshot.documents import ParquetFile
from s2corpus.snapshot.manifest import build_manifest, describe_rule, list_rules
from s2corpus.snapshot.metadata import gorc_line, metadata_row, released_parse
from s2corpus.snapshot.rows import INDEX, build_index_row, write_groups
from s2corpus.snapshot.store import Store
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from s2corpus.tables.published import OF_PAPERS, describe_column
from s2corpus_reader.files import SnapshotFile, describe_file

# S2ORC (Lo et al., 2020), transcribed: millions of papers in Tables 2 and 3, means in Table 4, papers in Figure 2 and Appendix G.
FILTERS = {"no_title": 0.0204, "no_authors": 0.3311, "short_text": 80.0, "not_english": 15.2, "kept": 81.1}
SOURCES = {
    "Total papers": 81.1, "Papers w/ PDF": 28.9, "Papers w/ bibliographies": 27.6, "Papers w/ full text from PDF": 8.1,
    "Papers w/ full text from LaTeX": 1.5, "Papers w/ publisher abstract": 73.4, "Papers w/ DOIs": 52.2, "Papers w/ PubMed IDs": 21.5,
    "Papers w/ PMC IDs": 4.7, "Papers w/ arXiv IDs": 1.7, "Papers w/ ACL IDs": 0.042,
}  # fmt: skip
SOURCE_KEYS = (
    ("papers", "all"), ("papers", "pdf"), ("papers", "bibliography"), ("full_text", "pdf"), ("full_text", "latex"),
    ("papers", "publisher_abstract"), ("papers", "doi"), ("papers", "pubmed_id"), ("papers", "pmc_id"), ("papers", "arxiv_id"),
    ("papers", "acl_id"),
)  # fmt: skip
PARSES = {
    "Paragraphs (abstract)": (1.1, 0.2), "Paragraphs (body)": (9.9, 93.3), "Inline cite spans (abstract)": (0.7, 0.0),
    "Inline cite spans (body)": (45.2, 46.8), "Bibliography entries": (27.6, 21.9), "Linked bib. entries": (19.3, 6.8),
}  # fmt: skip
PARSE_KEYS = ("abstract_paragraphs", "body_paragraphs", "abstract_spans", "body_spans", "entries", "linked")
FIELDS = """Medicine 12.8 1.8, Biology 9.6 1.6, Chemistry 8.7 .484, n/a 7.7 .583, Engineering 6.3 .228, Computer_Science 6.0 .580,
Physics 4.9 .838, Materials_Science 4.6 .213, Mathematics 3.9 .669, Psychology 3.4 .316, Economics 2.3 .198, Political_Science 1.8 .069,
Business 1.8 .094, Geology 1.8 .115, Sociology 1.6 .093, Geography 1.4 .058, Environmental_Science .766 .052, Art .700 .016,
History .690 .022, Philosophy .384 .015"""


def test_counts_of_the_paper_give_its_shares() -> None:
    """If a release had the counts of the S2ORC paper, both columns would agree in each row."""
    counts = Counter({key: round(1e6 * n) for key, n in zip(SOURCE_KEYS, SOURCES.values(), strict=True)})
    for key, (pdf, latex) in zip(PARSE_KEYS, PARSES.values(), strict=True):
        counts["parses." + key, "pdf"], counts["parses." + key, "latex"] = round(10 * pdf), round(10 * latex)
    counts["all_parses.entries", "pdf"], counts["all_parses.linked", "pdf"] = 217, 138
    for kind in ("pdf", "latex"):
        counts["parses.parses", kind] = counts["all_parses.parses", kind] = 10
    fields = {name.replace("_", " "): (float(n), float(m)) for name, n, m in (row.split() for row in FIELDS.split(","))}
    for name, (n, m) in fields.items():
        counts["field", name], counts["field_full_text", name] = round(1e6 * n), round(1e6 * m)
    counts["papers", "full_text"], counts["papers", "several_fields"] = 8_100_000, 677_000
    counts["citations", "pairs"], counts["citations", "mentioned"] = 380_500_000, 156_500_000
    counts["papers", "abstract"], counts["tokens", "abstract"] = 73_400_000, 15 * 10**9
    counts["tokens", "body"] = 25 * 10**9
    removed = {name: round(1e6 * n) for name, n in FILTERS.items()}
    tables = {table["name"]: table["rows"] for table in paper_tables.tables(counts, removed, {}, {})}

    for name, length in (("sources", 12), ("fields", 21), ("citations", 2)):
        rows = [row for row in tables[name] if row[3] is not None]
        assert [row[2] for row in rows] == [row[3] for row in rows], name
        assert [row[5] for row in rows if row[4:] and row[4]] == [row[6] for row in rows if row[4:] and row[4]], name
        assert len(tables[name]) == length
    assert {row[0]: row[2] for row in tables["sources"]} == {
        **{label: round(n / 81.1, 6) for label, n in SOURCES.items()}, "Papers w/ publisher's full text": 0.0,
    }  # fmt: skip
    assert tables["fields"][0] == ["Medicine", 12_800_000, 0.157830, 0.157830, 1_800_000, 0.222222, 0.222222]
    assert tables["parses"] == [
        ["Full texts", 10, 10, 0, 0, None, None],
        *([label, pdf, latex, None, None, pdf, latex] for label, (pdf, latex) in PARSES.items()),
        ["Bibliography entries (All)", 21.7, 0.0, None, None, 21.7, None],
        ["Linked bib. entries (All)", 13.8, 0.0, None, None, 13.8, None],
    ]
    assert tables["tokens"] == [
        ["Body text", 25 * 10**9, 8_100_000, 3086.42, 3086.42], ["Abstracts", 15 * 10**9, 73_400_000, 204.36, 204.36],
    ]  # fmt: skip
    # §2.5: the filters removed 95.5M of 176.6M clusters.
    assert [(row[0], row[3]) for row in tables["filters"]] == [
        ("No title", 0.000116), ("No authors", 0.001875), ("Too few characters of text", 0.453001), ("Not English", 0.086070),
        ("Suppressed", None), ("Kept", 0.459230),
    ]  # fmt: skip
    assert tables["filters"][-1][1:3] == [81_100_000, round(81.1 / sum(FILTERS.values()), 6)]


def test_tables_of_a_small_corpus() -> None:
    counts = Counter({("papers", "all"): 4, ("papers", "full_text"): 2, ("year", "2020"): 3, ("year", "n/a"): 1})
    counts |= {("year_full_text", "2020"): 2, ("licence", "CC0-1.0"): 1, ("licence", "A"): 1, ("licence", "B"): 2}
    counts |= {("licence_of", "pdf: CC0-1.0"): 5, ("field", "Astronomy"): 3, ("field", "Art"): 1}
    tables = {t["name"]: t["rows"] for t in paper_tables.tables(counts, {}, {"en": 3, "de": 1, "fr": 3}, {})}
    assert (
        " ".join(tables) == "pdfs filters sources parses fields citations tokens years licences rights languages gold"
    )
    assert tables["years"] == [["n/a", 1, 0.25, 0, 0.0], ["2020", 3, 0.75, 2, 1.0]]
    assert tables["licences"] == [["B", 2, 0.5], ["A", 1, 0.25], ["CC0-1.0", 1, 0.25]]
    assert tables["rights"] == [["pdf: CC0-1.0", 5, 1.0]]
    assert [row[0] for row in tables["languages"]] == ["en", "fr", "de"]
    assert [row[:3] for row in tables["fields"][:2]] == [["Astronomy", 3, 0.75], ["Art", 1, 0.25]]
    assert tables["citations"][0][1:] == [0, None, 1.0] and tables["tokens"][0][1:4] == [0, 2, 0.0]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "count", "–"), ("a word", "share", "a word"), (1234.0, "count", "1,234"), (0, "share", "0.0%"), (0.001, "share", "0.1%"),
        (0.00052, "share", "0.052%"), (9.9, "mean", "9.9"), (12.0, "mean", "12"), (0.4, "count", "0"),
    ],
)  # fmt: skip
def test_values_are_printed_by_their_unit(value: Any, unit: str, text: str) -> None:
    assert paper_tables.format_value(value, unit) == text


@pytest.mark.parametrize(("years", "is_valid"), [((), True), ((0, 9999), True), ((-1, 9), False), ((9, 10000), False)])
def test_years_have_four_digits(years: tuple[int, ...], is_valid: bool) -> None:
    """The plot has a bar for each year in between, so a forged year must not make it huge."""
    stats = {"funnel": [], "years": {str(year): 1 for year in years}}
    with nullcontext() if is_valid else pytest.raises(ValueError, match="expected 0 to 9999"):
        assert next(report.generate_files({}, stats, "about"))[0] == "funnel.csv"


def test_bars_are_in_proportion_to_their_counts() -> None:
    svg = report.bars("A & <b>", [("first <i>", 4000), ("second", 1000), ("none", 0)])
    assert re.findall(r'width="(\d+)" height="18"', svg) == ["420", "105", "0"]
    assert "<title>A &amp; &lt;b&gt;</title>" in svg and ">first &lt;i&gt;</text>" in svg and ">4,000</text>" in svg
    assert ' width="0" height="18"' in report.bars("0", [("a", 0)])


@pytest.mark.parametrize(
    ("rows", "labels", "bars"),
    [
        ([], [], []), ([(1999, 1), (2001, 2)], [1999, 2000, 2001], [75, 0, 150]), ([(1999, 4), (2008, 2)], [2000], [150, *[0] * 8, 75]),
        ([(1980, 0), (2020, 300)], [1980, 1990, 2000, 2010, 2020], [*[0] * 40, 150]),
    ],
)  # fmt: skip
def test_columns_have_a_bar_for_each_year(rows: list[tuple[int, int]], labels: list[int], bars: list[int]) -> None:
    svg = report.columns("Years", rows)
    found = re.findall(r'y="(\d+)" width="8" height="(\d+)" fill="#3b6ea5"><title>(\d+): ', svg)
    assert found == [(str(190 - tall), str(tall), str(rows[0][0] + i)) for i, tall in enumerate(bars)]
    assert re.findall(r'y="206">(\d+)</text>', svg) == [str(year) for year in labels]


SPAN = {"start": 0, "end": 3, "text": "[1]", "ref_id": "BIBREF0"}
FREE = {"start": 8, "end": 11, "text": "[9]"}
EQUATION = {"start": 4, "end": 5, "text": "x", "ref_id": "EQREF0", "latex": "$x$", "mathml": "<m/>"}
PARSE: dict[str, Any] = {
    "paper_id": "1", "_pdf_hash": "a" * 40, "title": "On a", "keywords": ["k"], "issn": "0", "emails": ["e"], "article": "x",
    "abstract": [{"section": "Abstract", "text": "[1] two three", "cite_spans": [SPAN], "ref_spans": []}],
    "body_text": [
        {"section": "", "text": "[1] four five [9]", "cite_spans": [SPAN], "unlinked_spans": [FREE], "sec_num": "1",
         "ref_spans": [{**SPAN, "ref_id": "FIGREF0"}, {**SPAN, "ref_id": "LISTREF0"}], "eq_spans": [EQUATION]},
        {"section": "B", "section_path": "A::B", "text": "six", "cite_spans": [{**SPAN, "ref_id": None}], "ref_spans": []},
    ],
    "back_matter": [{"section": "Thanks", "text": "seven", "cite_spans": [], "ref_spans": [], "back_part": "acknowledgement"}],
    "bib_entries": {
        "BIBREF0": {"title": "T", "authors": [], "year": 2001, "venue": "V", "link": "2", "volume": "3", "pages": "1-2", "ref_id": "b0",
                    "other_ids": {"DOI": ["10.1/x"], "arXiv": []}, "raw_text": "raw"},
        "BIBREF1": {"title": "U", "authors": [], "year": None, "venue": "", "link": None},
    },
    "ref_entries": {
        "FIGREF0": {"text": "Figure", "type": "figure", "num": "1", "latex": None},
        "LISTREF0": {"text": "Code", "type": "listing", "html": "<p>", "cells": [["a"]], "cite_spans": [SPAN], "unlinked_spans": [FREE],
                     "cell_cite_spans": [{**SPAN, "row": 1, "column": 2}]},
    },
}  # fmt: skip


def origin_of(source: str, rule: str, licence: str | None) -> dict[str, Any]:
    return {"source": source, "rule": rule, "licence": licence}


def paper(**others: Any) -> dict[str, Any]:
    closed = released_parse(deepcopy(PARSE), {"BIBREF1": "3"}, open_access=False)
    value = {
        **dict.fromkeys(OF_PAPERS), "paper_id": "1", "title": "On a", "abstract": "one two", "date": "2020-05",
        "licence": "CC-BY-4.0",
        "fields_of_study": ["Art", "Law"], "canonical_pdf": "a" * 40, "outbound": ["2", "3", "4"], "publisher_abstract": True,
        "authors": [{"first": "A", "middle": [], "last": "B", "suffix": "", "orcid": "0"}], "doi": "10.1/a", "record_ids": ["x:1", "s2:7"],
        "mag_ids": ["9", "8"], "abstract_from": origin_of("crossref", "majority", None),
        "parses": {"pdf": PARSE, "latex": closed},
        "fulltexts": {
            "pdf": {"open_access": True, "oa_evidence": "declared", "file_sha1": "a" * 40, "licence": "CC0-1.0"},
            "latex": {"open_access": False, "oa_evidence": "x", "file_sha1": "b" * 40, "licence": None},
        },
    }  # fmt: skip
    return value | others


def test_closed_parse_has_its_bibliography_only() -> None:
    closed = released_parse(deepcopy(PARSE), {"BIBREF1": "3"}, open_access=False)
    assert {entry: value["link"] for entry, value in closed["bib_entries"].items()} == {"BIBREF0": None, "BIBREF1": "3"}
    assert {name: value for name, value in closed.items() if name != "bib_entries"} == {
        "paper_id": "1", "_pdf_hash": "a" * 40, "title": None, "abstract": [], "body_text": [], "back_matter": [], "ref_entries": {},
    }  # fmt: skip
    assert released_parse(deepcopy(PARSE), {"BIBREF0": "2"}, open_access=True) == PARSE
    assert released_parse({"bib_entries": {}}, {}, open_access=False)["bib_entries"] == {}


def test_census_counts_a_paper() -> None:
    census = Census(("latex", "pdf"))
    census.add(paper())
    census.add(paper(
        parses={}, fulltexts={}, date=None, abstract=None, doi=None, canonical_pdf=None, fields_of_study=None, outbound=[],
        publisher_abstract=False,
    ))  # fmt: skip
    expected = {
        ("papers", "all"): 2, **{("papers", name): 1 for name in (
            "pdf", "bibliography", "full_text", "publisher_abstract", "abstract", "doi", "several_fields")},
        ("full_text", "pdf"): 1, ("field", "Art"): 1, ("field", "n/a"): 1, ("year", "2020"): 1, ("year", "n/a"): 1,
        ("field_full_text", "Art"): 1, ("year_full_text", "2020"): 1, ("licence", "CC-BY-4.0"): 1,
        ("licence_of", "abstract: CC-BY-4.0"): 1, ("licence_of", "pdf: CC0-1.0"): 1, ("licence_of", "latex: NOASSERTION"): 1,
        ("tokens", "abstract"): 2, ("tokens", "body"): 5, ("citations", "pairs"): 3, ("citations", "mentioned"): 1,
        **{("all_parses." + name, kind): n for kind in ("pdf", "latex") for name, n in (("parses", 1), ("entries", 2), ("linked", 1))},
        **{("parses." + name, "pdf"): n for name, n in (
            ("parses", 1), ("abstract_paragraphs", 1), ("body_paragraphs", 2), ("abstract_spans", 1), ("body_spans", 1), ("entries", 2),
            ("linked", 1))},
    }  # fmt: skip
    assert dict(census.counts) == expected
    assert sum_tables([census.table(), census.table()]) == {key: 2 * n for key, n in expected.items()}
    other = Census(("pdf",))
    other.add(paper(parses={"jats": PARSE}, fulltexts={"jats": paper()["fulltexts"]["pdf"]}))
    assert other.counts["papers", "publisher_full_text"] == 1 and ("tokens", "body") not in other.counts


def test_form_of_release_20190928() -> None:
    line = gorc_line(paper())
    assert line is not None
    assert (line["paper_id"], line["s2_pdf_hash"], line["metadata"]["year"]) == ("1", "a" * 40, "2020")
    assert line["metadata"]["authors"] == [{"first": "A", "middle": [], "last": "B", "suffix": ""}]
    assert list(line["metadata"]) == [
        "title", "authors", "abstract", "year", "arxiv_id", "acl_id", "pmc_id", "pubmed_id", "doi", "venue", "journal",
    ]  # fmt: skip
    parse = line["grobid_parse"]
    assert parse["ref_entries"] == {"FIGREF0": {"text": "Figure", "latex": None, "type": "figure"}}
    first = parse["body_text"][0]
    span = {"start": 0, "end": 3, "text": "[1]", "latex": None, "ref_id": "BIBREF0"}
    assert first["cite_spans"] == [span, {"start": 8, "end": 11, "text": "[9]", "latex": None, "ref_id": None}]
    assert first["ref_spans"] == [span | {"ref_id": "FIGREF0"}, span | {"ref_id": None}]
    assert first["eq_spans"] == [{"start": 4, "end": 5, "text": "x", "latex": "$x$", "ref_id": "EQREF0"}]
    assert [p["section"] for p in (*parse["abstract"], *parse["body_text"])] == ["Abstract", None, "B"]
    plain: dict[str, Any] = {"volume": "", "issn": "", "pages": "", "other_ids": {}, "links": None, "authors": []}
    ids = {"doi": ["10.1/x"], "arxiv": []}
    known = {"year": 2001, "venue": "V", "volume": "3", "pages": "1-2", "other_ids": ids, "links": "2"}
    assert parse["bib_entries"] == {
        "BIBREF0": plain | known | {"ref_id": "b0", "title": "T"},
        "BIBREF1": plain | {"ref_id": "BIBREF1", "title": "U", "year": None, "venue": ""},
    }
    assert line["latex_parse"]["body_text"] == [] and len(line["latex_parse"]["bib_entries"]) == 2
    assert gorc_line(paper(parses={"jats": PARSE})) is None
    only = gorc_line(paper(parses={"latex": PARSE}, date=None))
    assert only is not None and only["s2_pdf_hash"] is only["grobid_parse"] is only["metadata"]["year"] is None


def test_metadata_of_release_20200705() -> None:
    row = metadata_row(paper(), ["2"], [], PARSE)
    assert set(row) == checks.PARSED_KEYS and list(checks.check_metadata(row)) == []
    assert (row["year"], row["mag_id"], row["s2_url"]) == (2020, "8", "https://api.semanticscholar.org/CorpusID:7")
    flags = ("outbound_citations", "inbound_citations", "pdf_parse", "pdf_body_text", "pdf_parsed_ref_entries")
    names = [f"has_{name}" for name in flags]
    assert [row[name] for name in names] == [True, False, True, True, True]
    closed = paper()["parses"]["latex"]
    unknown = {"date": None, "mag_ids": None, "fields_of_study": [], "authors": None, "record_ids": ["s2:x", "x:7"]}
    row = metadata_row(paper(**unknown), [], ["2"], closed)
    assert [row[name] for name in names] == [False, True, True, False, False] and row["has_pdf_parsed_bib_entries"]
    assert [row[n] for n in ("year", "mag_id", "mag_field_of_study", "s2_url", "authors")] == [*[None] * 4, []]
    assert set(metadata_row(paper(), [], [], None)) == checks.METADATA_KEYS


def test_flat_tables_have_parts_in_order() -> None:
    found = list(flat.rows(paper()))
    counts = Counter(table for table, _, _ in found)
    assert counts == {"papers": 1, "rights": 3, "paragraphs": 4, "bib_entries": 4, "ref_entries": 2}
    (row,) = [row for table, row, _ in found if table == "papers"]
    assert (row["parses"], row["year"], row["outbound_citations"]) == (["latex", "pdf"], 2020, ["2", "3", "4"])
    paragraphs = [row for table, row, _ in found if table == "paragraphs"]
    names = ("paragraph", "part", "back_part", "section", "section_path", "sec_num")
    assert [[row[name] for name in names] for row in paragraphs] == [
        [0, "abstract", None, "Abstract", "Abstract", None], [1, "body", None, "", "", "1"], [2, "body", None, "B", "A::B", None],
        [3, "back", "acknowledgement", "Thanks", "Thanks", None],
    ]  # fmt: skip
    described = describe_column("paragraphs", flat.SCHEMAS["paragraphs"].field("part"))
    assert described == "part of the parse: {}, {} or {}".format(*dict.fromkeys(row["part"] for row in paragraphs))
    assert paragraphs[1]["cite_spans"] == [SPAN, FREE | {"ref_id": None}] and paragraphs[1]["eq_spans"] == [EQUATION]
    entries = [row for table, row, _ in found if table == "bib_entries" and row["parse_kind"] == "pdf"]
    assert entries[0] == {
        "paper_id": "1", "parse_kind": "pdf", "ref_id": "BIBREF0", "title": "T", "authors": [], "year": 2001, "venue": "V", "volume": "3",
        "issue": None, "pages": "1-2", "doi": "10.1/x", "arxiv_id": None, "pubmed_id": None, "pmc_id": None, "raw_text": "raw",
        "cited_paper_id": "2",
    }  # fmt: skip
    figure, code = [row for table, row, _ in found if table == "ref_entries"]
    assert (figure["num"], figure["cells"], figure["cite_spans"]) == ("1", None, [])
    assert code["cite_spans"] == [SPAN, FREE | {"ref_id": None}]
    assert code["cell_cite_spans"] == [{**SPAN, "row": 1, "column": 2}]


@pytest.mark.parametrize(
    ("origin", "evidence", "licence"),
    [
        (origin_of("crossref", "majority", "CC-BY-SA-4.0"), "crossref", "CC-BY-SA-4.0"),
        (origin_of("crossref", "majority", None), "crossref", "CC-BY-4.0"),
        (origin_of("grobid", "pdf", "CC-BY-SA-4.0"), "grobid", "CC-BY-4.0"),
        (origin_of("", "", "CC-BY-SA-4.0"), "", "CC-BY-SA-4.0"),
        (None, "", "CC-BY-4.0"),
    ],
)  # fmt: skip
def test_rights_of_a_paper(origin: dict[str, Any] | None, evidence: str, licence: str) -> None:
    abstract, latex, pdf = rights.rows(paper(abstract_from=origin))
    opened = {"paper_id": "1", "open_access": True}
    assert abstract == opened | {"of": "abstract", "evidence": evidence, "licence": licence}
    assert latex == {"paper_id": "1", "of": "latex", "sha1": "b" * 40, "open_access": False, "evidence": "bibliography_only",
                     "licence": "NOASSERTION"}  # fmt: skip
    assert pdf == opened | {"of": "pdf", "sha1": "a" * 40, "evidence": "declared", "licence": "CC0-1.0"}
    assert [row["of"] for row in rights.rows(paper(abstract=""))] == ["latex", "pdf"]


def test_statistics_count_documents_by_facts() -> None:
    row = {"id": "1", "set": "s2orc", "split": "train", "words": 3, "licence": "MIT", "file": "x", "line": 1}
    known = {
        "date": "2022-11-30",
        "oa_evidence": "declared",
        "editorial": "retracted",
        "fields_of_study": ["Law", "Art"],
    }
    published, empty = report.IndexStatistics(), dict.fromkeys(INDEX.names)
    published.add(pa.Table.from_pylist([empty | row, empty | row | known], schema=INDEX))
    stats = report.build_stats(published, [], {"de": 1, "en": 2}, {}, {})
    assert stats["sets"] == {"s2orc": {"train": {"documents": 2, "words": 6}, "valid": {"documents": 0, "words": 0}}}
    assert (stats["years"], stats["licences"]) == ({"2022": 1}, {"MIT": 2})
    assert (stats["oa_evidence"], stats["editorial"]) == ({"declared": 1, "none": 1}, {"retracted": 1})
    assert list(stats["fields_of_study"].items()) == [("Art", 1), ("Law", 1), ("unknown", 1)]
    assert list(stats["languages"]) == ["en", "de"]


def test_files_of_a_snapshot_have_receipts(lake: Lake, tmp_path: Path) -> None:
    id_ = "small-20230101-00000000"

    def described(name: str, content: bytes) -> tuple[SnapshotFile, Path]:
        (tmp_path / name).write_bytes(content)
        return describe_file(name, tmp_path / name, 1), tmp_path / name

    store = Store(lake, id_, "receipts", "inputs")
    files = [described("a", b"1"), described("b", b"2")]
    store.put(files)
    assert store.find_unchanged(["a", "b", "c"]) == {file.path: file for file, _ in files}
    assert Store(lake, id_, "receipts", "other inputs").find_unchanged(["a"]) == {}
    lake.put(f"snapshots/{id_}/a", b"4")
    assert list(store.find_unchanged(["a", "b"])) == ["b"], "the file was changed"
    pq.write_table(pa.table({"x": [1, 2, 3], "y": [4, 5, 6]}), tmp_path / "f", row_group_size=2)
    store.put_fragments({"f": tmp_path / "f"})
    assert store.has_fragments(["f"]) and not store.has_fragments(["f", "g"])
    assert [t.to_pydict() for t in store.read_fragment("f", ["y"])] == [{"y": [4, 5]}, {"y": [6]}]


def test_manifest_is_sorted_and_has_rules_of_content() -> None:
    recipe = {"profile": "recipe-2024", "unigrams": {"uri": "x", "sha256": "0" * 64}}
    spec = ReleaseSpec(name="small", drops=("2*",))
    names, plain = list_rules(ReleaseSpec.model_validate({"name": "small", "clean": recipe})), list_rules(spec)
    assert {name.partition(".")[0] for name in names}.isdisjoint({"schedule", "resources", "quality", "drops"})
    assert not any(name.startswith("export.approval") for name in plain)
    ignored = {f"clean.{name}" for name in IGNORED_BY_RECIPE if f"clean.{name}" in plain}
    assert set(plain) - set(names) == ignored != set()
    value = build_manifest(
        spec, snapshot="id", as_of="2023", parent=None, versions={"z": "1", "a": "2"}, inputs=[],
        files=[SnapshotFile("b", 1, "0"), SnapshotFile("a", 1, "0")], overrides={"y": "1", "x": "2"},
    )  # fmt: skip
    assert [file["path"] for file in value["files"]] == ["a", "b"] and value["rules"] == plain
    assert (list(value["versions"]), list(value["overrides"]), value["drops"]) == (["a", "z"], ["x", "y"], ["2*"])
    assert describe_rule("select.max_pages") == "maximum pages of a paper (S2ORC App. B)"
    assert [describe_rule(rule) for rule in ("none.x", "name.x", "select.unheard_of")] == ["", "", ""]


# -- rows and row groups


def read_groups(path: Path) -> list[int]:
    metadata = pq.ParquetFile(path).metadata
    return [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]


def test_row_groups_do_not_depend_on_batches(tmp_path: Path) -> None:
    schema = pa.schema([("x", pa.int64())])
    table, file = pa.table({"x": range(11)}, schema=schema), tmp_path / "file"
    written = set()
    for size in (1, 3, 11):
        assert write_groups(file, schema, table.to_batches(max_chunksize=size), 4) == 11
        written.add(file.read_bytes())
    assert len(written) == 1 and read_groups(file) == [4, 4, 3]
    assert write_groups(file, schema, table.slice(0, 8).to_batches(), 4) == 8 and read_groups(file) == [4, 4]


def test_document_files_end_row_groups_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_ROWS", 2)
    schema = pa.schema([("x", pa.int64())])

    def groups(sizes: list[int], group: int | None = 10) -> list[int]:
        with ParquetFile(tmp_path / "file", schema, group) as file:
            for number, size in enumerate(sizes):
                file.write({"x": number}, size)
        assert pq.read_table(tmp_path / "file")["x"].to_pylist() == list(range(len(sizes)))
        return read_groups(tmp_path / "file")

    assert groups([]) == [] and groups([10, 1]) == [1, 1] and groups([9, 1, 4, 4, 4, 1]) == [2, 3, 1]
    assert groups([1 << 21, 1 << 21, 1], None) == [2, 1]


@pytest.mark.parametrize(
    ("parse", "layer", "expected"),
    [
        (None, None, [None] * 7),
        ({}, None, [None, 0, 2, 1, 1, 0, 0]),
        ({"provenance": {"extractor": "grobid", "version": "0.8"}}, "ocr 1 2, no_words 7", ["grobid 0.8", 2, 2, 1, 1, 0, 0]),
        ({"provenance": {"extractor": "x"}, "ref_entries": {"a": {"type": "figure"}, "b": {"type": "table"}, "c": {"type": "figure"}}},
         "no_words 1 2", ["x", 0, 2, 1, 1, 2, 1]),
    ],
)  # fmt: skip
def test_row_of_a_document_describes_its_parse(parse: Any, layer: str | None, expected: list[Any]) -> None:
    whole = {"body_text": PARSE["body_text"], "bib_entries": {"BIBREF0": {}}, "ref_entries": {}}
    text = "A title\n\nAn abstract.\n\nFour five six"
    document = {
        **dict.fromkeys(documents.SCHEMA.names), "paper_id": "1", "text": text, "date": "2020-05-01", "title": "A title",
        "text_layer": layer, "parse": None if parse is None else whole | parse,
    }  # fmt: skip
    row = documents.build_row(document, "s2orc", count_tokens=len, format_model_text=lambda row: row["title"].upper())
    counted = [f"num_{name}" for name in ("ocr_pages", "citations", "bib_entries", "equations", "figures", "tables")]
    assert [row[name] for name in ("extractor", *counted)] == expected
    names = ("id", "year", "num_tokens", "model_text", "set", "num_words")
    assert [row[name] for name in names] == ["1", 2020, len(text), "A TITLE", "s2orc", 7]
    plain = documents.build_row(document | {"date": None}, "s2ag")
    assert [plain[name] for name in (*names[1:4], "section_types")] == [None, None, None, []]
    indexed = build_index_row({**dict.fromkeys(INDEX.names), **document, "text_key": 1}, "s2orc", "v2/x", 7)
    assert [indexed[name] for name in ("id", "words", "year", "line")] == ["1", 7, 2020, 7]
    assert list(indexed) == INDEX.names
