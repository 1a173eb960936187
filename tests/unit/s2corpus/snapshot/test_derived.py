"""SPEC §3.3 and §10: tables, charts and other forms of papers have the values of the S2ORC paper, its releases, and a paper summed
by hand.
"""

from collections import Counter, defaultdict
from contextlib import nullcontext
from copy import deepcopy
from typing import Any

import pytest

from s2corpus.rules import IGNORED_BY_RECIPE, CleanRules
from s2corpus.snapshot import documents, flat, paper_tables, report, rights
from s2corpus.snapshot import read_files as checks
from s2corpus.snapshot.census import Census, sum_tables
from s2corpus.snapshot.flat import OF_PAPERS
from s2corpus.snapshot.manifest import build_manifest, list_rules
from s2corpus.snapshot.metadata import gorc_line, metadata_row, released_parse
from s2corpus.snapshot.rows import INDEX, build_index_row
from s2corpus.spec import ReleaseSpec
from s2corpus_reader.cards import bars
from s2corpus_reader.files import SnapshotFile


def test_tables_of_a_small_corpus() -> None:
    counts = Counter({("papers", "all"): 4, ("papers", "full_text"): 2, ("year", "2020"): 3, ("year", "n/a"): 1})
    counts |= {("year_full_text", "2020"): 2, ("license", "CC0-1.0"): 1, ("license", "A"): 1, ("license", "B"): 2}
    counts |= {("license_of", "pdf: CC0-1.0"): 5, ("field", "Astronomy"): 3, ("field", "Art"): 1}
    counts |= {
        (f"agreement.title.{what}", "jats/pdf"): n
        for what, n in {"papers": 4, "equal": 3, "common": 8, "items": 10}.items()
    }
    counts |= {
        ("removed.parts", "clean.min_log_prob: section"): 2,
        ("removed.words", "clean.min_log_prob: section"): 30,
    }
    counts |= {("section_words", "Art"): 30, ("body_words", "Art"): 120}
    tables = {t["name"]: t["rows"] for t in paper_tables.tables(counts, {}, {"en": 3, "de": 1, "fr": 3}, {})}
    assert (
        " ".join(tables)
        == "pdfs filters sources parses fields inferred_fields citations tokens removed removed_sections "
        "years licenses rights languages gold agreement"
    )
    assert tables["years"] == [["n/a", 1, 0.25, 0, 0.0], ["2020", 3, 0.75, 2, 1.0]]
    assert tables["licenses"] == [["B", 2, 0.5], ["A", 1, 0.25], ["CC0-1.0", 1, 0.25]]
    assert tables["agreement"] == [["jats/pdf: title", 4, 0.75, 0.8]]
    assert tables["removed"] == [["clean.min_log_prob: section", 2, 30]]
    assert tables["removed_sections"] == [["Art", 120, 30, 0.25]]
    assert tables["rights"] == [["pdf: CC0-1.0", 5, 1.0]]
    assert [row[0] for row in tables["languages"]] == ["en", "fr", "de"]
    assert [row[:3] for row in tables["fields"][:2]] == [["Astronomy", 3, 0.75], ["Art", 1, 0.25]]
    published = (81.1, 28.9, 27.6, 8.1, 1.5, None, 73.4, 52.2, 21.5, 4.7, 1.7, 0.042)  # S2ORC, Table 3, in millions
    assert [row[3] for row in tables["sources"]] == [n and round(n / 81.1, 6) for n in published]
    assert tables["citations"][0][1:] == [0, None, 1.0] and tables["tokens"][0][1:4] == [0, 2, 0.0]


@pytest.mark.parametrize(("years", "is_valid"), [((), True), ((0, 9999), True), ((-1, 9), False), ((9, 10000), False)])
def test_years_have_four_digits(years: tuple[int, ...], is_valid: bool) -> None:
    """The plot has a bar for each year in between, so a forged year must not make it huge."""
    stats = {"funnel": [], "years": {str(year): 1 for year in years}}
    with nullcontext() if is_valid else pytest.raises(ValueError, match="expected 0 to 9999"):
        assert next(report.generate_files({}, stats, "about"))[0] == "funnel.csv"


def test_bars_of_charts_are_in_proportion_and_add_no_markup() -> None:
    svg = bars("A & <b>", [("first <i>", 4000), ("second", 1000), ("none", 0)])
    assert "<title>A &amp; &lt;b&gt;</title>" in svg and ">first &lt;i&gt;</text>" in svg
    rows = [('y="32"', 420), ('y="56"', 105), ('y="80"', 0)]
    assert all(f'{y} width="{width}" height="18"' in svg for y, width in rows) and 'height="112"' in svg


SPAN = {"start": 0, "end": 3, "text": "[1]", "ref_id": "BIBREF0"}
FREE = {"start": 8, "end": 11, "text": "[9]"}
EQUATION = {"start": 4, "end": 5, "text": "x", "ref_id": "EQREF0", "latex": "$x$", "mathml": "<m/>"}
PARSE: dict[str, Any] = {
    "paper_id": "1", "_pdf_hash": "a" * 40, "title": "On a", "keywords": ["k"], "issn": "0", "emails": ["e"], "article": "x",
    "authors": [{"first": "A", "middle": [], "last": "B", "suffix": "", "affiliations": [], "orcid": None}],
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


def paper(**others: Any) -> dict[str, Any]:
    closed = released_parse(deepcopy(PARSE), {"BIBREF1": "3"}, open_access=False)
    value = {
        **dict.fromkeys(OF_PAPERS), "paper_id": "1", "title": "On a", "abstract": "one two", "date": "2020-05",
        "license": "CC-BY-4.0",
        "fields_of_study": ["Art", "Law"], "canonical_pdf": "a" * 40, "outbound": ["2", "3", "4"], "publisher_abstract": True,
        "authors": [{"first": "A", "middle": [], "last": "B", "suffix": "", "orcid": "0"}], "doi": "10.1/a", "record_ids": ["x:1", "s2:7"],
        "mag_ids": ["9", "8"], "abstract_from": {"source": "crossref", "rule": "majority", "license": None},
        "parses": {"pdf": PARSE, "latex": closed},
        "fulltexts": {
            "pdf": {"open_access": True, "oa_evidence": "declared", "file_sha1": "a" * 40, "license": "CC0-1.0"},
            "latex": {"open_access": False, "oa_evidence": "x", "file_sha1": "b" * 40, "license": None},
        },
    }  # fmt: skip
    return value | others


def test_closed_parse_has_its_bibliography_only() -> None:
    closed = released_parse(deepcopy(PARSE), {"BIBREF1": "3"}, open_access=False)
    assert {entry: value["link"] for entry, value in closed["bib_entries"].items()} == {"BIBREF0": None, "BIBREF1": "3"}
    assert {name: value for name, value in closed.items() if name != "bib_entries"} == {
        "paper_id": "1", "_pdf_hash": "a" * 40, "title": None, "authors": [], "abstract": [], "body_text": [], "back_matter": [],
        "ref_entries": {},
    }  # fmt: skip
    assert released_parse(deepcopy(PARSE), {"BIBREF0": "2"}, open_access=True) == PARSE
    assert released_parse({"bib_entries": {}}, {}, open_access=False)["bib_entries"] == {}


def test_census_counts_a_paper() -> None:
    census = Census(("latex", "pdf"))
    census.add(paper())
    nothing = dict.fromkeys(("date", "abstract", "doi", "canonical_pdf", "fields_of_study"))
    census.add(paper(parses={}, fulltexts={}, outbound=[], publisher_abstract=False, **nothing))
    facts = ("pdf", "bibliography", "full_text", "publisher_abstract", "abstract", "doi", "several_fields")
    parses = {"parses": 1, "abstract_paragraphs": 1, "body_paragraphs": 2, "abstract_spans": 1, "body_spans": 1}
    parses |= {"entries": 2, "linked": 1}
    expected = {
        ("papers", "all"): 2, **{("papers", name): 1 for name in facts}, ("full_text", "pdf"): 1, ("field", "Art"): 1, ("field", "n/a"): 1,
        ("year", "2020"): 1, ("year", "n/a"): 1, ("field_full_text", "Art"): 1, ("year_full_text", "2020"): 1, ("license", "CC-BY-4.0"): 1,
        ("license_of", "abstract: CC-BY-4.0"): 1, ("license_of", "pdf: CC0-1.0"): 1, ("license_of", "latex: NOASSERTION"): 1,
        ("tokens", "abstract"): 2, ("tokens", "body"): 5,
        ("body_words", "Art"): 5, ("citations", "pairs"): 3, ("citations", "mentioned"): 1,
        **{(f"all_parses.{name}", kind): parses[name] for kind in ("pdf", "latex") for name in ("parses", "entries", "linked")},
        **{(f"parses.{name}", "pdf"): n for name, n in parses.items()},
        **{  # The closed form has the same entries: two titles, one identifier, one year.
            (f"agreement.{name}.{what}", "latex/pdf"): n
            for name, items in {"references": 2, "identifiers": 1, "years": 1}.items()
            for what, n in {"papers": 1, "equal": 1, "common": items, "items": items}.items()
        },
    }  # fmt: skip
    assert dict(census.counts) == expected
    assert sum_tables([census.table(), census.table()]) == {key: 2 * n for key, n in expected.items()}


def test_form_of_release_20190928() -> None:
    line = gorc_line(paper())
    assert line is not None
    assert (line["paper_id"], line["s2_pdf_hash"], line["metadata"]["year"]) == ("1", "a" * 40, "2020")
    assert list(line["metadata"]) == [
        "title", "authors", "abstract", "year", "arxiv_id", "acl_id", "pmc_id", "pubmed_id", "doi", "venue", "journal",
    ]  # fmt: skip
    parse = line["grobid_parse"]
    assert (parse["title"], parse["authors"]) == ("On a", line["metadata"]["authors"]), "GORC App. E"
    assert not {"title", "authors"} & set(line["latex_parse"]), "no metadata of LaTeX sources (S2ORC §2.2)"
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


def test_metadata_of_release_20200705() -> None:
    row = metadata_row(paper(), ["2"], [], PARSE)
    assert set(row) == checks.PARSED_KEYS and list(checks.check_metadata(row)) == []
    assert (row["year"], row["mag_id"], row["s2_url"]) == (2020, "8", "https://api.semanticscholar.org/CorpusID:7")
    assert row["authors"] == [{"first": "A", "middle": [], "last": "B", "suffix": ""}], "no ORCID (SPEC §10.5)"
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
    tables: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for table, row, _ in flat.rows(paper() | {"decisions": []}, CleanRules()):
        tables[table].append(row)
    counts = {table: len(rows) for table, rows in tables.items()}
    assert counts == {"papers": 1, "rights": 3, "paragraphs": 4, "bib_entries": 4, "ref_entries": 2}
    (row,) = tables["papers"]
    assert (row["parses"], row["year"], row["outbound_citations"]) == (["latex", "pdf"], 2020, ["2", "3", "4"])
    names = ("paragraph", "part", "back_part", "section", "section_path", "sec_num")
    assert [[row[name] for name in names] for row in tables["paragraphs"]] == [
        [0, "abstract", None, "Abstract", "Abstract", None], [1, "body", None, "", "", "1"], [2, "body", None, "B", "A::B", None],
        [3, "back", "acknowledgement", "Thanks", "Thanks", None],
    ]  # fmt: skip
    first, free = tables["paragraphs"][1], FREE | {"ref_id": None}
    assert first["cite_spans"] == [SPAN, free] and first["eq_spans"] == [EQUATION]
    entry = next(row for row in tables["bib_entries"] if row["parse_kind"] == "pdf")
    known = {"ref_id": "BIBREF0", "title": "T", "year": 2001, "volume": "3", "pages": "1-2", "doi": "10.1/x"}
    assert entry == entry | known | {"cited_paper_id": "2", "issue": None, "arxiv_id": None, "raw_text": "raw"}
    figure, code = tables["ref_entries"]
    assert (figure["num"], figure["cells"], figure["cite_spans"]) == ("1", None, [])
    assert code["cite_spans"] == [SPAN, free] and code["cell_cite_spans"] == [{**SPAN, "row": 1, "column": 2}]


@pytest.mark.parametrize(
    ("source", "rule", "stated", "license"),
    [
        ("crossref", "majority", "CC-BY-SA-4.0", "CC-BY-SA-4.0"), ("crossref", "majority", None, "CC-BY-4.0"),
        ("grobid", "pdf", "CC-BY-SA-4.0", "CC-BY-4.0"), ("", "", "CC-BY-SA-4.0", "CC-BY-SA-4.0"), (None, "", None, "CC-BY-4.0"),
    ],
)  # fmt: skip
def test_rights_of_a_paper(source: str | None, rule: str, stated: str | None, license: str) -> None:
    origin = None if source is None else {"source": source, "rule": rule, "license": stated}
    abstract, latex, pdf = rights.rows(paper(abstract_from=origin))
    opened, closed = {"paper_id": "1", "open_access": True}, {"paper_id": "1", "open_access": False}
    assert abstract == opened | {"of": "abstract", "evidence": source or "", "license": license}
    evidence = {"evidence": "bibliography_only", "license": "NOASSERTION"}
    assert latex == closed | evidence | {"of": "latex", "sha1": "b" * 40}
    assert pdf == opened | {"of": "pdf", "sha1": "a" * 40, "evidence": "declared", "license": "CC0-1.0"}
    assert [row["of"] for row in rights.rows(paper(abstract=""))] == ["latex", "pdf"]


def test_manifest_is_sorted_and_has_rules_of_content() -> None:
    recipe = {"profile": "recipe-2024", "unigrams": {"uri": "x", "sha256": "0" * 64}}
    spec = ReleaseSpec(name="small", drops=("2*",))
    names, plain = list_rules(ReleaseSpec.model_validate({"name": "small", "clean": recipe})), list_rules(spec)
    assert {name.partition(".")[0] for name in names}.isdisjoint({"schedule", "resources", "quality", "drops"})
    assert not any(name.startswith("export.approval") for name in plain)
    ignored = {f"clean.{name}" for name in IGNORED_BY_RECIPE if f"clean.{name}" in plain}
    assert set(plain) - set(names) == ignored != set()
    value = build_manifest(
        spec, snapshot="id", as_of="2023", parent=None, versions={"z": "1", "a": "2"}, inputs=[], file_count=1,
        files=[SnapshotFile("b", 1, "0"), SnapshotFile("a", 1, "0")], overrides={"y": "1", "x": "2"},
    )  # fmt: skip
    assert [file["path"] for file in value["files"]] == ["a", "b"] and value["rules"] == plain | {"export.files": 1}
    assert (list(value["versions"]), list(value["overrides"]), value["drops"]) == (["a", "z"], ["x", "y"], ["2*"])


# -- rows and row groups


@pytest.mark.parametrize(
    ("parse", "layer", "expected"),
    [
        (None, None, [None] * 7),
        ({}, None, [None, 0, 2, 1, 1, 0, 0]),
        ({"provenance": {"extractor": "grobid", "version": "0.8"}}, "ocr 1 2, no_words 7", ["grobid 0.8", 2, 2, 1, 1, 0, 0]),
        ({"ref_entries": {kind: {"type": kind, "text": ""} for kind in ("figure", "table")}}, "no_words 1 2", [None, 0, 2, 1, 1, 1, 1]),
    ],
)  # fmt: skip
def test_row_of_a_document_describes_its_parse(parse: Any, layer: str | None, expected: list[Any]) -> None:
    whole = {"abstract": [], "body_text": PARSE["body_text"], "bib_entries": {"BIBREF0": {}}, "ref_entries": {}}
    text = "A title\n\nAn abstract.\n\nFour five six"
    document = {
        **dict.fromkeys(documents.SCHEMA.names), "paper_id": "1", "text": text, "date": "2020-05-01", "title": "A title",
        "text_layer": layer, "parse": None if parse is None else whole | parse,
    }  # fmt: skip
    row = documents.build_row(document, "s2orc", len, lambda row: row["title"].upper(), rules=CleanRules())
    counted = [f"num_{name}" for name in ("ocr_pages", "citations", "bib_entries", "equations", "figures", "tables")]
    assert [row[name] for name in ("extractor", *counted)] == expected
    assert row == row | {"id": "1", "year": 2020, "num_tokens": len(text), "model_text": "A TITLE", "num_words": 7}
    indexed = build_index_row({**dict.fromkeys(INDEX.names), **document, "text_key": 1}, "s2orc", "v2/x", 7)
    assert indexed == indexed | {"id": "1", "words": 7, "year": 2020, "line": 7} and list(indexed) == INDEX.names
    names = "set split file line date doi license oa_evidence fields_of_study words sha1"  # SPEC §10.7
    assert {*names.split()} < {*indexed}
