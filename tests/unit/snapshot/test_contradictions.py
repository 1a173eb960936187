"""Each check of `corpus verify` reports its contradiction, and reports nothing for the smallest consistent input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from s2corpus.snapshot import checks, copies, documents, flat, keys, report
from s2corpus.snapshot.agreement import Agreement
from s2corpus.snapshot.copies import LineFacts
from s2corpus.snapshot.crossing import SplitOverlap
from s2corpus.snapshot.described import find_identity_fault
from s2corpus.snapshot.documents import IDENTIFIERS, ParquetFile
from s2corpus.snapshot.manifest import hash_inputs, list_rules
from s2corpus.snapshot.presence import check_presence, count_groups, parse_file_number
from s2corpus.snapshot.read_files import Verification
from s2corpus.snapshot.repeats import DuplicatesCheck
from s2corpus.snapshot.rows import CITATIONS, INDEX, build_index_row, group_by_cited, write_groups
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import ListedObject
from s2corpus.tables.texts import DUPLICATES
from s2corpus.text.near_duplicates import text_key
from s2corpus.text.splits import Split
from s2corpus_reader.files import SnapshotFile, keys_path, lookup_key

FIXED = {"kind": "fixed", "train_before": "2022-12-01", "valid_until": "2023-01-03"}


def rules(**sections: Any) -> dict[str, Any]:
    spec = ReleaseSpec.model_validate({"name": "small", "split": FIXED, **sections})
    return {rule.name: rule.value for rule in list_rules(spec)}


RULES = rules()
TEXT = "A title\n\nAn abstract.\n\nHead\nOne [1] two.\n\nLast"
DOCUMENT = {"id": "1", "sha1": "a" * 40, "text": TEXT}


# -- lines


@pytest.mark.parametrize(
    ("set_", "text", "faults"),
    [
        ("s2orc", TEXT, []),
        ("s2ag", "A title\n\nAn abstract.", []),
        ("s2ag", "A title", ["text has 1 blocks; expected title and abstract"]),
        ("s2ag", TEXT, ["text has 4 blocks; expected title and abstract"]),
        ("s2orc", "A title\n\nAn abstract.", ["text has 2 blocks; expected title, abstract and a body"]),
        ("s2orc", "A\ntitle\n\nAn abstract.\n\nBody", ["title has more than one line"]),
        ("s2orc", "A title\n\ntwo  spaces\n\nBody", ["a line is empty, or has white space other than single spaces between words"]),
        ("s2orc", "A title\n\nAbstract\n\ne\u0301", ["text is not in NFC"]),
    ],
)  # fmt: skip
def test_text_of_a_document(set_: str, text: str, faults: list[str]) -> None:
    value = {"id": "1", "sha1": "0", "text": text} if set_ == "s2orc" else {"id": "1", "text": text}
    line = orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    assert checks.check_document(line, set_, recipe=False) == ("1", faults)
    recipe = [fault for fault in faults if "NFC" in fault]
    assert checks.check_document(line, set_, recipe=True) == ("1", recipe), "texts of recipe-2024 have no blocks"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, None),
        ({"other": 1}, r"keys differ from S2ORC 20200705: ['other']"),
        ({"has_pdf_parse": True}, "keys differ"),
        ({"has_outbound_citations": False}, "has_outbound_citations contradicts outbound_citations"),
        ({"has_inbound_citations": True}, "has_inbound_citations contradicts inbound_citations"),
        ({"outbound_citations": ["3", "2"]}, "outbound_citations are not sorted and unique"),
        ({"outbound_citations": ["2", "2"]}, "outbound_citations are not sorted and unique"),
    ],
)
def test_metadata_of_a_paper(changed: dict[str, Any], message: str | None) -> None:
    value = {
        **dict.fromkeys(checks.METADATA_KEYS), "outbound_citations": ["2", "3"], "has_outbound_citations": True,
        "inbound_citations": [], "has_inbound_citations": False, "has_pdf_parse": False,
    }  # fmt: skip
    found = list(checks.check_metadata(value | changed))
    assert found == [] if message is None else len(found) == 1 and message in found[0]


CITE = {"start": 4, "end": 7, "text": "[1]", "ref_id": "BIBREF0"}


@pytest.mark.parametrize(
    ("kind", "span", "message"),
    [
        ("cite_spans", CITE, None),
        ("cite_spans", CITE | {"end": 6}, "paragraph 1: the text of a span in cite_spans differs"),
        ("cite_spans", CITE | {"ref_id": "X"}, "paragraph 1: cite_spans refers to X, which is not in bib_entries"),
        ("cite_spans", CITE | {"ref_id": None}, "paragraph 1: cite_spans refers to None"),
        ("unlinked_spans", CITE | {"ref_id": None}, None),
        ("unlinked_spans", CITE | {"start": 0}, "a span in unlinked_spans differs"),
        ("ref_spans", CITE | {"ref_id": "FIGREF0"}, None),
        ("ref_spans", CITE, "ref_spans refers to BIBREF0, which is not in ref_entries"),
        ("eq_spans", CITE, "eq_spans refers to BIBREF0, which is not in ref_entries"),
    ],
)
def test_spans_of_a_parse(kind: str, span: dict[str, Any], message: str | None) -> None:
    parse = {"paper_id": "1", "_pdf_hash": "", "abstract": [{"text": "x"}], "body_text": [{"text": "One [1] two.", kind: [span]}],
             "bib_entries": {"BIBREF0": {}}, "ref_entries": {"FIGREF0": {}}}  # fmt: skip
    found = list(checks.check_parse(parse))
    assert found == [] if message is None else len(found) == 1 and message in found[0]
    back = {**parse, "body_text": [], "back_matter": parse["body_text"]}
    assert list(checks.check_parse(back)) == found
    del parse["ref_entries"]
    assert list(checks.check_parse(parse)) == ["keys are missing: ['ref_entries']"]


# -- documents, metadata, parses and graph


def index_row(**changed: Any) -> dict[str, Any]:
    return {
        "id": "1", "set": "s2orc", "split": "train", "sha1": "a" * 40, "title": "A title", "date": "2022-11-30", "year": 2022,
        "text_key": text_key(TEXT), "fields_of_study": None, **dict.fromkeys(IDENTIFIERS),
    } | changed  # fmt: skip


METADATA = {
    "paper_id": "1", "title": "A title", "abstract": "An abstract.", "year": 2022, "mag_field_of_study": None,
    "outbound_citations": ["2"], "inbound_citations": [], **dict.fromkeys(IDENTIFIERS),
}  # fmt: skip
PARAGRAPH: dict[str, Any] = {"section": "Head", "text": "One [1] two.", "cite_spans": [CITE]}
PARSE: dict[str, Any] = {
    "paper_id": "1", "_pdf_hash": "a" * 40, "abstract": [], "body_text": [PARAGRAPH, {"section": "", "text": "Last", "cite_spans": []}],
    "bib_entries": {"BIBREF0": {"link": "2"}, "BIBREF1": {"link": None}}, "ref_entries": {},
}  # fmt: skip
LINK = {"paper_id": "1", "parse_kind": "pdf", "ref_id": "BIBREF0", "cited_paper_id": "2", "warning": None}


def agreement(index: dict[str, Any] | None = None, **sections: Any) -> tuple[Agreement, list[str]]:
    found = Agreement(rules(**sections), "2023-01-04T00:00:00+00:00")
    return found, list(found.add_index([index or index_row()]))


@pytest.mark.parametrize(
    ("date", "split", "says"),
    [
        ("2022-11-30", "train", []),
        ("2022-12-01", "valid", []),
        ("2022-12-01", "train", ["document 1 with date 2022-12-01 is in train; expected valid"]),
        ("2022-11-30", "valid", ["document 1 with date 2022-11-30 is in valid; expected train"]),
        ("2022", "train", []),  # The year is partly before the border and partly after it.
        ("2022", "valid", []),
        (None, "train", []),
        (None, "valid", []),
    ],
)
def test_split_is_compared_if_the_date_decides_it(date: str | None, split: str, says: list[str]) -> None:
    row = index_row(date=date, split=split, year=int(date[:4]) if date else None)
    assert agreement(row)[1] == says
    recipe = {"profile": "recipe-2024", "unigrams": {"uri": "x", "sha256": "0" * 64}}
    assert agreement(row, clean=recipe)[1] == [], "recipe-2024 splits by other rules"


def test_index_contradicts_itself() -> None:
    assert agreement(index_row(year=2021))[1] == ["document 1 has date 2022-11-30 but year 2021"]
    found, _ = agreement()
    assert list(found.add_index([index_row(id="2"), index_row(id="3")])) == ["documents 2 and 3 have the same text"]


@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        ({}, False), ({"title": "B"}, True), ({"doi": "10.1/x"}, True), ({"acl_id": "x"}, True), ({"year": 2021}, True),
        ({"mag_field_of_study": ["Art"]}, True), ({"abstract": "other"}, False), ({"paper_id": "2", "title": "B"}, False),
    ],
)  # fmt: skip
def test_metadata_is_compared_with_the_index(changed: dict[str, Any], differs: bool) -> None:
    found, _ = agreement()
    expected = ["title, identifiers, year or fields of study of document 1 differ from the index"] if differs else []
    assert list(found.add_metadata(METADATA | changed)) == expected


@pytest.mark.parametrize(
    ("metadata", "parse", "document", "message"),
    [
        ({}, {}, {}, None),
        ({}, {}, {"id": "2"}, None),
        ({}, {}, {"text": TEXT + " more"}, "does not match its text_key"),
        ({}, {"_pdf_hash": "b" * 40}, {"sha1": "b" * 40}, "is from file " + "b" * 40 + "; the index has"),
        ({}, {"_pdf_hash": "b" * 40}, {}, "is from file " + "a" * 40 + ", which has no parse"),
        ({"abstract": "Another."}, {}, {}, "the title or abstract of document 1 differs from its metadata"),
        ({"abstract": None}, {}, {}, "the title or abstract of document 1 differs from its metadata"),
        ({}, {"body_text": [PARAGRAPH]}, {}, "has a line that none of its parses contain"),
        ({}, {"body_text": [{**PARAGRAPH, "section": "Other"}, PARSE["body_text"][1]]}, {}, "has a line that none"),
    ],
)  # fmt: skip
def test_document_is_compared_with_its_parts(
    metadata: dict[str, Any], parse: dict[str, Any], document: dict[str, Any], message: str | None
) -> None:
    found, _ = agreement()
    list(found.add_metadata(METADATA | metadata))
    found.add_parse("pdf", PARSE | parse)
    faults = list(found.check_document(DOCUMENT | document))
    assert faults == [] if message is None else message in " ".join(faults) and "1" in faults[0]
    found.next_group()
    assert any("has no parse" in fault for fault in found.check_document(DOCUMENT)), (
        "files of other groups are discarded"
    )


def test_titles_with_abstracts_and_recipe_texts_have_no_lines_of_parses() -> None:
    found, _ = agreement(index_row(set="s2ag", sha1=None))
    list(found.add_metadata(METADATA))
    assert list(found.check_document({"id": "1", "text": TEXT})) == []
    recipe = {"profile": "recipe-2024", "unigrams": {"uri": "x", "sha256": "0" * 64}}
    found, _ = agreement(clean=recipe)
    assert list(found.check_document(DOCUMENT)) == []


def test_citations_agree_in_metadata_parses_and_graph() -> None:
    other = METADATA | {"paper_id": "2", "outbound_citations": [], "inbound_citations": ["1"]}

    def compare(metadata: Any = METADATA, cited: Any = other, parse: Any = PARSE, links: Any = (LINK,)) -> set[str]:
        found, _ = agreement(link={"count_warnings": ["numeral"]})
        list(found.add_metadata(metadata))
        list(found.add_metadata(cited))
        found.add_parse("pdf", parse)
        seen: set[str] = set()
        for link in links:
            found.add_link(link, seen)
        return {f"{path}: {message}" for path, message in found.compare_citations()}

    assert compare() == set()
    again = LINK | {"ref_id": "BIBREF1"}
    both = PARSE | {"bib_entries": {"BIBREF0": {"link": "2"}, "BIBREF1": {"link": "2"}}}
    assert compare(parse=both, links=(LINK, again)) == set(), "repeated citations count once"
    warned = LINK | {"warning": "numeral"}
    assert compare(links=(warned,)) == set()
    cites = "graph/links: paper 1 cites other papers in graph/links than in its metadata"
    entries = "graph/links: paper 1 links other bibliography entries in graph/links than in its parses"
    assert compare(links=(LINK | {"warning": "tie"},)) == {cites}
    assert compare(links=(LINK | {"parse_kind": "latex"},)) == {entries}
    assert compare(links=()) == {cites, entries}
    inbound = "corpus/metadata: paper 2 has inbound_citations that contradict the papers citing it"
    assert compare(cited=METADATA | {"paper_id": "2", "outbound_citations": []}) == {inbound}


@pytest.mark.parametrize(
    ("row", "is_paragraph"),
    [
        ({"paragraph": 0, "text": "One [1] two."}, True), ({"paragraph": 1, "text": "One [1] two."}, False),
        ({"paragraph": 1, "text": "Last"}, False), ({"paragraph": 0, "text": "One"}, False),
        ({"paragraph": 0, "text": "One [1] two.", "parse_kind": "latex"}, False),
    ],
)  # fmt: skip
def test_contexts_are_paragraphs_with_citations(row: dict[str, Any], is_paragraph: bool) -> None:
    found, _ = agreement()
    found.add_parse("pdf", PARSE)
    assert found.has_paragraph({"paper_id": "1", "parse_kind": "pdf"} | row) is is_paragraph
    found.next_group()
    assert not found.has_paragraph({"paper_id": "1", "parse_kind": "pdf"} | row)


def test_statistics_are_compared_with_the_index() -> None:
    found, _ = agreement()
    row = {"words": 3, "licence": "CC0-1.0", "oa_evidence": "declared", "editorial": None, "fields_of_study": None}
    table = pa.Table.from_pylist(
        [dict.fromkeys(INDEX.names) | index_row() | row | {"file": "x", "line": 1}], schema=INDEX
    )
    found.published.add(table)
    stats = report.build_stats(found.published, [("split s2orc", "train", 1)], {}, {}, {})
    assert stats["sets"] == {"s2orc": {"train": {"documents": 1, "words": 3}, "valid": {"documents": 0, "words": 0}}}
    assert (stats["years"], stats["licences"], stats["fields_of_study"]) == (
        {"2022": 1},
        {"CC0-1.0": 1},
        {"unknown": 1},
    )
    assert (stats["oa_evidence"], stats["editorial"]) == ({"declared": 1}, {})
    assert list(found.compare_statistics(stats)) == []
    changed = stats | {"years": {"2022": 2, "2021": 1}, "funnel": [], "licences": {"CC0-1.0": 1, "MIT": 0}}
    assert list(found.compare_statistics(changed)) == [
        "years differ from the index (2021: 1, expected 0, 2022: 2, expected 1)",
        "licences differ from the index (MIT: 0, expected 0)",
        "the funnel has None documents of s2orc train; expected 1",
    ]
    found.published.add(pa.Table.from_pylist([table.to_pylist()[0] | {"licence": "MIT", "words": 4}] * 2, schema=INDEX))
    stats = report.build_stats(found.published, [("split s2orc", "train", 3)], {}, {}, {})
    assert stats["sets"]["s2orc"]["train"] == {"documents": 3, "words": 11} and list(stats["licences"]) == [
        "MIT",
        "CC0-1.0",
    ]
    turned = stats | {"licences": dict(reversed(stats["licences"].items()))}
    assert list(found.compare_statistics(turned)) == [], "the order of keys is not compared"


# -- Parquet copies


def document_row(**changed: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {
        f.name: [] if pa.types.is_list(f.type) else 0 if not pa.types.is_string(f.type) else ""
        for f in documents.SCHEMA
    }
    return empty | {
        "id": "1", "set": "s2orc", "split": "train", "sha1": "a" * 40, "text": TEXT, "parse_kind": "pdf", "licence": "CC0-1.0",
        "oa_evidence": "declared", "abstract_source": "crossref",
    } | changed  # fmt: skip


def facts() -> LineFacts:
    lines = LineFacts()
    lines.add_index([document_row()])
    lines.add_document("s2orc", "train", DOCUMENT)
    lines.add_parse("pdf", PARSE)
    return lines


def copied(path: str, rows: list[dict[str, Any]], lines: LineFacts, papers: set[str] | None = None) -> list[str]:
    name = path.split("/")[1]
    schema = documents.SCHEMA if path.startswith("documents/") else flat.SCHEMAS[name]
    full = [{field.name: row.get(field.name) for field in schema} for row in rows]
    return list(copies.check_copy(path, pa.Table.from_pylist(full, schema), lines, papers or {"1"}))


DIFFERS = ["document 1 differs from its line in v2/"]
RIGHTS = ["licence, evidence or abstract source of document 1 differ from the index"]


@pytest.mark.parametrize(
    ("changed", "faults"),
    [
        ({}, []), ({"text": "other"}, DIFFERS), ({"split": "valid"}, DIFFERS), ({"sha1": None}, DIFFERS), ({"set": "s2ag"}, DIFFERS),
        ({"licence": "MIT"}, RIGHTS), ({"oa_evidence": "x"}, RIGHTS), ({"abstract_source": None}, RIGHTS),
    ],
)  # fmt: skip
def test_documents_repeat_their_lines(changed: dict[str, Any], faults: list[str]) -> None:
    assert copied("documents/s2orc/train/00.parquet", [document_row(**changed)], facts()) == faults


def test_reported_faults_of_a_file_are_ten() -> None:
    rows = [document_row(id=str(n)) for n in range(2, 20)]
    assert len(copied("documents/s2orc/train/00.parquet", rows, facts())) == 10
    table = pa.table({"id": ["1"]})
    assert list(copies.check_copy("tables/papers/00.parquet", table, facts(), set())) == [
        "the columns differ from the columns of tables/papers"
    ]
    assert list(copies.check_copy("tables/none/00.parquet", table, facts(), set())) == [
        "the columns differ from the columns of tables/none"
    ]


PARTS = [{"paper_id": "1", "parse_kind": "pdf", "paragraph": n, "part": "body", "section": "", "section_path": "", "text": p["text"],
          "cite_spans": [], "ref_spans": [], "eq_spans": []} for n, p in enumerate(PARSE["body_text"])]  # fmt: skip
ENTRIES = [{"paper_id": "1", "parse_kind": "pdf", "ref_id": f"BIBREF{n}", "authors": []} for n in range(2)]


@pytest.mark.parametrize(
    ("table", "rows", "faults"),
    [
        ("paragraphs", PARTS, []),
        ("paragraphs", PARTS[:1], ["the paragraphs of 1 (pdf) differ from its parse in corpus/"]),
        ("paragraphs", [PARTS[0], PARTS[1] | {"text": "x"}], ["the paragraphs of 1 (pdf) differ from its parse in corpus/"]),
        ("paragraphs", [p | {"parse_kind": "latex"} for p in PARTS], ["latex parse of 1 is not in corpus/"]),
        ("bib_entries", ENTRIES, []),
        ("bib_entries", ENTRIES[:1], ["1 (pdf) has 1 rows in bib_entries; its parse in corpus/ has 2"]),
        ("ref_entries", [{**ENTRIES[0], "type": "figure", "cite_spans": [], "cell_cite_spans": []}],
         ["1 (pdf) has 1 rows in ref_entries; its parse in corpus/ has 0"]),
    ],
)  # fmt: skip
def test_flat_tables_repeat_the_parses(table: str, rows: list[dict[str, Any]], faults: list[str]) -> None:
    assert copied(f"tables/{table}/00.parquet", rows, facts()) == faults


def test_rights_repeat_abstracts_parses_and_documents() -> None:
    lines = facts()
    lines.add_rights("1", "abstract")
    of = {"paper_id": "1", "open_access": True, "evidence": "declared", "licence": "CC0-1.0", "sha1": None}
    rows = [of | {"of": "abstract", "evidence": "crossref"}, of | {"of": "pdf"}]
    copied("documents/s2orc/train/00.parquet", [document_row()], lines)
    copied("documents/s2ag/train/00.parquet", [document_row(set="s2ag")], lines)
    assert lines.text_rights == {("1", "pdf"): ("CC0-1.0", "declared"), ("1", "abstract"): ("CC0-1.0", "crossref")}
    wrong = deepcopy(lines)
    assert copied("tables/rights/00.parquet", rows, lines) == [] and lines.rights == 0
    changed = [rows[0] | {"licence": "MIT"}, rows[1] | {"evidence": ""}]
    assert copied("tables/rights/00.parquet", changed, wrong) == [
        "licence or evidence of the abstract of 1 differ from documents/", "the pdf of 1 has no evidence",
        "licence or evidence of the pdf of 1 differ from documents/",
    ]  # fmt: skip
    missing = facts()
    copied("tables/rights/00.parquet", rows[:1], missing)
    assert missing.rights != 0


def test_keys_are_those_of_papers_and_documents() -> None:
    paper = dict.fromkeys(flat.SCHEMAS["papers"].names) | {"outbound_citations": [], "parses": []}
    paper |= {"paper_id": "1", "title": "A title", "doi": "10.1/x", "open_access": True}
    lines = facts()
    assert copied("tables/papers/00.parquet", [paper, paper | {"paper_id": "9"}], lines) == [
        "paper 9 is not in corpus/metadata"
    ]
    lines.add_keys([(key, "1") for key in keys.hash_sha1({"sha1": "a" * 40})])
    assert list(keys.hash_sha1({"sha1": None})) == []
    expected = {lookup_key("doi", "10.1/x"), lookup_key("title", "atitle")}
    assert (
        set(keys.hash_identifiers(paper)) == expected
        and list(keys.hash_identifiers({**paper, "title": "?!", "doi": None})) == []
    )
    rows = [*sorted((key, id_) for id_ in "19" for key in expected), (lookup_key("sha1", "a" * 40), "1")]
    files = 4
    of_file: dict[int, list[tuple[int, str]]] = {
        n: sorted(row for row in rows if row[0] % files == n) for n in range(files)
    }
    for number, found in of_file.items():
        table = pa.Table.from_pylist([{"key": k, "paper_id": p} for k, p in found], schema=keys.SCHEMA)
        assert list(copies.check_keys(keys_path(number), table, lines, files)) == []
        if len(found) > 1:
            turned = table.take(pa.array(range(len(found) - 1, -1, -1)))
            assert list(copies.check_keys(keys_path(number), turned, LineFacts(), files)) == [
                "keys belong to another file, or are not sorted"
            ]
        if found:
            other = keys_path((number + 1) % files)
            assert list(copies.check_keys(other, table, LineFacts(), files)) == [
                "keys belong to another file, or are not sorted"
            ]
    assert lines.keys == 0
    assert list(copies.check_keys("keys/00.parquet", pa.table({"x": [1]}), lines, 1)) == [
        "expected the columns key and paper_id"
    ]


# -- duplicates


WORDS = " ".join(f"word{n}" for n in range(104))  # 100 n-grams of 5 words
CHANGED = WORDS.replace("word103", "other")  # 1 of them differs: the Jaccard index is 99 / 101.


def duplicate(
    paper: str, split: str = "train", reason: str | None = None, of: str | None = None, jaccard: float | None = None
) -> dict[str, Any]:
    return {
        "cluster": "1",
        "set": "s2orc",
        "paper_id": paper,
        "split": split,
        "reason": reason,
        "duplicate_of": of,
        "jaccard": jaccard,
    }


def near(paper: str, of: str, split: str = "train") -> dict[str, Any]:
    return duplicate(paper, split, "words", of, 0.9)


def repeated(
    rows: list[dict[str, Any]],
    published: dict[str, str],
    funnel: Mapping[str, int] | None = None,
    count: int | None = None,
    **split: Any,
) -> set[str]:
    check = DuplicatesCheck(rules(split={**FIXED, **split}))
    assert list(check.add(pa.Table.from_pylist(rows, schema=DUPLICATES.schema))) == []
    for id_, text in (("1", WORDS), ("2", CHANGED), ("9", WORDS)):
        check.add_document(id_, text)
    places = {id_: ("s2orc", of) for id_, of in published.items()}
    stats = {
        "metrics": {"split": {"rows.duplicates": float(len(rows) if count is None else count)}} if rows else {},
        "funnel": [{"stage": "split s2orc", "outcome": str(outcome), "count": n} for outcome, n in (funnel or {}).items()],
    }  # fmt: skip
    return set(check.find_faults(places, stats))


def test_consistent_duplicates_have_no_fault() -> None:
    same = duplicate("2", Split.DUPLICATE, "text", "1", 1.0)
    title = duplicate("2", Split.NEAR_DUPLICATE, "title", "1")
    words = duplicate("2", Split.NEAR_DUPLICATE, "words", "1", 0.9)
    published = duplicate("2", "train", "words", "1", 99 / 101)
    for row, index, funnel in (
        (same, {"1": "train"}, {str(Split.DUPLICATE): 1}), (title, {"1": "train"}, {str(Split.NEAR_DUPLICATE): 1}),
        (words, {"1": "train"}, {str(Split.NEAR_DUPLICATE): 1}), (published, {"1": "train", "2": "train"}, {}),
        (words | {"jaccard": 0.8}, {"1": "train"}, {str(Split.NEAR_DUPLICATE): 1}),
    ):  # fmt: skip
        assert repeated([duplicate("1"), row], index, funnel) == set()
    assert repeated([], {}, {}) == set()
    for row, index in (
        (same | {"jaccard": 0.9}, {"1": "train"}), (same | {"split": Split.NEAR_DUPLICATE}, {"1": "train"}),
        (title | {"jaccard": 1.0}, {"1": "train"}), (title | {"split": Split.DUPLICATE}, {"1": "train"}),
        (words | {"jaccard": 0.79}, {"1": "train"}), (words | {"jaccard": 1.1}, {"1": "train"}),
        (words | {"jaccard": None}, {"1": "train"}),
        (words | {"split": Split.DUPLICATE}, {"1": "train"}), (published | {"reason": "other"}, {"1": "train", "2": "train"}),
    ):  # fmt: skip
        found = repeated([duplicate("1"), row], index, {row["split"]: 1} if row["split"] != "train" else {})
        assert [fault for fault in found if "contradicts reason" in fault], row
    found = (
        repeated([duplicate("1"), published], {"1": "train", "2": "train"}, near_duplicates="hold_back")
        if False
        else set()
    )
    assert found == set()
    wrong = repeated([duplicate("1"), published | {"jaccard": 0.97}], {"1": "train", "2": "train"})
    assert wrong == {f"documents 2 and 1 have the Jaccard index {99 / 101}; the row has 0.97"}


@pytest.mark.parametrize(
    ("rows", "index", "message"),
    [
        ([duplicate("1")], {"1": "train"}, "cluster 1 has 1 documents, 1 of them originals; expected 2 or more, 1 original"),
        ([duplicate("1"), duplicate("2")], {"1": "train", "2": "train"}, "cluster 1 has 2 documents, 2 of them originals"),
        ([duplicate("2"), near("3", "2")], {"2": "train", "3": "train"}, "cluster 1 has 2 documents, 1 of them"),
        ([duplicate("1"), near("3", "1", "valid")], {"1": "train", "3": "valid"}, "has documents in both train and valid"),
        ([duplicate("1"), near("3", "4")], {"1": "train", "3": "train"}, "duplicates 4, which is not in its cluster"),
        ([duplicate("1"), near("3", "3")], {"1": "train", "3": "train"}, "duplicates 3, which is not in its cluster"),
        ([duplicate("1"), near("3", "1")], {"1": "train"}, "document 3 is train of s2orc; the index has None"),
        ([duplicate("1"), near("1", "1")], {"1": "train"}, "a document occurs twice"),
        ([duplicate("1", of="2"), near("3", "1")], {"1": "train", "3": "train"}, "contradicts reason None"),
    ],
)  # fmt: skip
def test_contradictory_duplicates(rows: list[dict[str, Any]], index: dict[str, str], message: str) -> None:
    assert any(message in fault for fault in repeated(rows, index))


def test_counts_of_duplicates_are_compared() -> None:
    (message,) = DuplicatesCheck(RULES).add(pa.table({"x": [1]}))
    assert message.startswith("the columns are ['x']; expected ['cluster'")
    rows = [duplicate("1"), duplicate("2", Split.DUPLICATE, "text", "1", 1.0)]
    assert repeated(rows, {"1": "train"}, {Split.DUPLICATE: 2, Split.NEAR_DUPLICATE: 1}, count=3) == {
        f"the file has 1 documents of split s2orc with outcome {Split.DUPLICATE}; the funnel has 2",
        f"the file has 0 documents of split s2orc with outcome {Split.NEAR_DUPLICATE}; the funnel has 1",
        "the file has 2 rows; stats.json has 3",
    }


@pytest.mark.parametrize(("least", "found"), [(0.9, True), (0.99, False)])
def test_similar_texts_in_train_and_valid_are_found(least: float, found: bool) -> None:
    overlap = SplitOverlap(rules(split={**FIXED, "min_jaccard": least}))
    texts = {"1": WORDS, "2": CHANGED, "3": "another text of more than five words", "5": ""}
    for id_, split in (("3", "train"), ("1", "train"), ("5", "train"), ("2", "valid"), ("5", "valid")):
        overlap.add_document(id_, split, texts[id_])
    overlap.add_document("4", "valid", "one two three four five six")

    def read(ids: Any) -> Iterator[tuple[str, str]]:
        assert set(ids) == {"1", "2"}
        yield from ((id_, texts[id_]) for id_ in ids)

    expected = [f"documents 1 (train) and 2 (valid) are near duplicates: their Jaccard index is {99 / 101:.3f}"]
    assert list(overlap.find_faults(read)) == (expected if found else [])
    assert list(SplitOverlap(RULES).find_faults(read)) == []


# -- files


class Listing:
    def __init__(self, sizes: dict[str, int]) -> None:
        self.sizes = sizes

    def list(self, prefix: str) -> Iterator[ListedObject]:
        yield from (ListedObject(path, size) for path, size in self.sizes.items())


ALWAYS = ("README.md", "stats.json", "croissant.json", "funnel.csv", "funnel.svg", "years.svg", "index.parquet", "aliases.parquet",
          "duplicates.parquet", "clusters.parquet")  # fmt: skip


def presence(
    remove: str = "",
    present: dict[str, int] | None = None,
    content: dict[str, tuple[int, int]] | None = None,
    parent: str | None = None,
) -> list[str]:
    """Check a complete snapshot of two files per set. `content` gives documents in pieces of at most 1 MiB: bytes and rows of some."""
    name = "{:02}" if content is None else "{:02}-000000"
    paths = [
        f"v2/{s}/{x}/{name.format(n)}.jsonl.gz" for s in ("s2orc", "s2ag") for x in ("train", "valid") for n in range(2)
    ]
    paths += content or {}
    paths += [p.replace("v2/", "documents/").replace(".jsonl.gz", ".parquet") for p in paths]
    paths += [f"corpus/{kind}/{kind}_{n}.jsonl.gz" for kind in ("metadata", "pdf_parses") for n in range(2)]
    paths += [f"graph/{kind}/{n:02}.parquet" for kind in ("links", "contexts") for n in range(2)]
    files = {p: SnapshotFile(p, 5, "0") for p in (*paths, *ALWAYS) if p != remove}
    files |= {p: SnapshotFile(p, 2000, "0", rows, size) for p, (size, rows) in (content or {}).items()}
    given = RULES | {"export.files": 2, "export.shard_bytes": None if content is None else 1 << 20}
    sizes = {p: file.bytes for p, file in files.items()} | {"manifest.json": 1} | (present or {})
    manifest = {"rules": given, "parent": parent}
    state = Verification(Listing(sizes), manifest, files, None, None, None)  # type: ignore[arg-type]  # the lake only lists sizes
    return [str(fault) for fault in check_presence(state)]


def test_complete_snapshot_lacks_nothing() -> None:
    assert presence() == presence(content={}) == []
    assert presence(parent="x") == ["diff.json: the manifest does not list this file, which every snapshot has"]


@pytest.mark.parametrize(
    ("removed", "faults"),
    [
        *((name, [f"{name}: the manifest does not list this file, which every snapshot has"]) for name in ALWAYS),
        ("documents/s2ag/valid/01.parquet",
         ["v2/s2ag/valid/01.jsonl.gz: the manifest does not list its Parquet copy documents/s2ag/valid/01.parquet"]),
        ("v2/s2orc/valid/01.jsonl.gz", ["v2/s2orc/valid/01.jsonl.gz: the manifest does not list this file, which every snapshot has"]),
        ("corpus/metadata/metadata_0.jsonl.gz", ["corpus/metadata: files are missing: found the numbers [1]"]),
        ("graph/links/00.parquet", ["graph/links: files are missing: found the numbers [1]"]),
    ],
)  # fmt: skip
def test_missing_files_are_named(removed: str, faults: list[str]) -> None:
    assert presence(removed) == faults


def test_present_and_listed_files_are_compared() -> None:
    assert presence(present={"README.md": 6, "other": 1}) == [
        "README.md: the file has 6 bytes; the manifest has 5", "other: the manifest does not list this file",
    ]  # fmt: skip


def test_numbers_and_sizes_of_files() -> None:
    path, limit = "v2/s2orc/train/00-000001.jsonl.gz", 1 << 20
    for content, is_fault in (
        ((limit, 9), False),
        ((limit + 1, 9), True),
        ((limit + 1, 1), False),
        ((limit + 1, 2), True),
    ):
        faults = [f"{path}: the content exceeds export.shard_bytes (1048576 bytes)"] if is_fault else []
        assert presence(content={path: content}) == faults
    paths = ("a/12.parquet", "v2/x/03-000007.jsonl.gz", "metadata_9.jsonl.gz", "README.md", "a.json")
    assert [parse_file_number(path) for path in paths] == [12, 3, 9, 0, 0]
    for files, groups in (({}, 1), (("a/0.parquet", "a/1.parquet", "x"), 2), (("a/0-000000.parquet", "a/0-000001.parquet"), 1),
                          ([f"{f}/{n}.parquet" for f, count in (("a", 4), ("b", 6)) for n in range(count)], 2)):  # fmt: skip
        state = Verification(None, {}, dict.fromkeys(files), None, None, None)  # type: ignore[arg-type]  # only `files` is read
        assert count_groups(state) == groups


def test_snapshot_id_is_that_of_its_inputs() -> None:
    versions = {"code": "1", "extractor": "2", "converter": "3", "pyarrow": "4"}
    given = {"spec": "0" * 64, "as_of": "2023-01-01T00:00:00+00:00", "parent": None, "inputs": ["x"]}
    digest = hash_inputs(versions=versions, overrides={}, **given)  # type: ignore[arg-type]  # a mapping of arguments
    manifest = {
        **given,
        "spec": "small",
        "spec_sha256": "0" * 64,
        "versions": versions,
        "snapshot": f"small-20230101-{digest[:8]}",
    }
    assert (
        find_identity_fault(manifest) is None
        and find_identity_fault(manifest | {"versions": versions | {"pyarrow": "5"}}) is None
    )
    changes: list[dict[str, Any]] = [
        {"versions": versions | {"code": "9"}}, {"versions": versions | {"extractor": "9"}}, {"versions": versions | {"converter": "9"}},
        {"inputs": []}, {"parent": "x"}, {"spec_sha256": "1" * 64}, {"overrides": {"a": "b"}}, {"snapshot": f"small-20230101-{'0' * 8}"},
        {"as_of": "2023-01-02T00:00:00+00:00"}, {"spec": "other"},
    ]  # fmt: skip
    for changed in changes:
        assert str(find_identity_fault(manifest | changed)).startswith("the id is small-20230101-")


# -- rows and row groups


def test_row_groups_do_not_depend_on_batches(tmp_path: Path) -> None:
    schema = pa.schema([("x", pa.int64())])
    table = pa.table({"x": range(11)}, schema=schema)
    written = []
    for size in (1, 3, 11):
        assert write_groups(tmp_path / "file", schema, table.to_batches(max_chunksize=size), 4) == 11
        metadata = pq.ParquetFile(tmp_path / "file").metadata
        assert [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [4, 4, 3]
        written.append((tmp_path / "file").read_bytes())
    assert len(set(written)) == 1
    assert write_groups(tmp_path / "file", schema, table.slice(0, 8).to_batches(), 4) == 8
    assert pq.ParquetFile(tmp_path / "file").metadata.num_row_groups == 2
    assert write_groups(tmp_path / "file", schema, [], 4) == 0
    assert pq.ParquetFile(tmp_path / "file").metadata.num_row_groups == 0


def test_document_files_end_row_groups_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_ROWS", 2)
    schema = pa.schema([("x", pa.int64())])

    def groups(sizes: list[int], group: int | None = 10) -> list[int]:
        with ParquetFile(tmp_path / "file", schema, group) as file:
            for number, size in enumerate(sizes):
                file.write({"x": number}, size)
        assert file.count == len(sizes)
        found = pq.ParquetFile(tmp_path / "file")
        assert found.read()["x"].to_pylist() == list(range(len(sizes)))
        return [found.metadata.row_group(n).num_rows for n in range(found.metadata.num_row_groups)]

    assert groups([]) == [] and groups([1]) == [1] and groups([10, 1]) == [1, 1]
    assert groups([9, 1, 4, 4, 4, 1]) == [2, 3, 1] and groups([3, 3, 3]) == [3]
    assert groups([1 << 21, 1 << 21, 1], None) == [2, 1]
    with pytest.raises(OSError, match="full"), ParquetFile(tmp_path / "half", schema) as file:
        file.write({"x": 1})
        raise OSError("full")
    assert pq.read_table(tmp_path / "half").num_rows == 0


def test_citing_papers_are_grouped_and_sorted() -> None:
    pairs = [("b", "3"), ("a", "2"), ("a", "1"), ("c", "1")]
    found = group_by_cited(
        pa.Table.from_pylist([dict(zip(CITATIONS.names, pair, strict=True)) for pair in pairs], schema=CITATIONS)
    )
    assert {cited: [row["paper_id"] for row in found.at(cited)] for cited in "abcd"} == {
        "a": ["1", "2"],
        "b": ["3"],
        "c": ["1"],
        "d": [],
    }


@pytest.mark.parametrize(
    ("parse", "layer", "expected"),
    [
        (None, None, [None] * 7),
        ({}, None, [None, 0, 1, 2, 1, 0, 0]),
        ({"provenance": {"extractor": "grobid", "version": "0.8"}}, "ocr 1 2, no_words 7", ["grobid 0.8", 2, 1, 2, 1, 0, 0]),
        ({"provenance": {"extractor": "x"}, "ref_entries": {"a": {"type": "figure"}, "b": {"type": "table"}, "c": {"type": "figure"}}},
         "no_words 1 2", ["x", 0, 1, 2, 1, 2, 1]),
    ],
)  # fmt: skip
def test_row_of_a_document_describes_its_parse(
    parse: dict[str, Any] | None, layer: str | None, expected: list[Any]
) -> None:
    body = [{**PARAGRAPH, "eq_spans": [{}]}, {"cite_spans": []}]
    document = {
        **dict.fromkeys(documents.SCHEMA.names), "paper_id": "1", "text": TEXT, "date": "2020-05-01", "title": "A title",
        "text_layer": layer, "parse": None if parse is None else PARSE | {"body_text": body} | parse,
    }  # fmt: skip
    row = documents.build_row(
        document, "s2orc", count_tokens=len, format_model_text=lambda given: given["title"].upper()
    )
    names = (
        "extractor",
        "num_ocr_pages",
        "num_citations",
        "num_bib_entries",
        "num_equations",
        "num_figures",
        "num_tables",
    )
    assert [row[name] for name in names] == expected
    assert (row["id"], row["year"], row["num_tokens"], row["model_text"], row["set"]) == (
        "1",
        2020,
        len(TEXT),
        "A TITLE",
        "s2orc",
    )
    plain = documents.build_row(document | {"date": None}, "s2ag")
    assert (plain["year"], plain["num_tokens"], plain["model_text"], plain["section_types"]) == (None, None, None, [])
    indexed = build_index_row({**dict.fromkeys(INDEX.names), **document, "text_key": 1}, "s2orc", "v2/x", 7)
    assert (indexed["id"], indexed["words"], indexed["year"], indexed["line"]) == ("1", 9, 2020, 7)
    assert list(indexed) == INDEX.names
