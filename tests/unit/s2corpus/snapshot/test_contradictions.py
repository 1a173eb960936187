"""SPEC §10.14: `corpus verify` checks every line, and compares the files of a snapshot with each other.

These are the borders of its checks. test_verify.py manipulates the files of a snapshot.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson
import pyarrow as pa
import pytest

from s2corpus.outcomes import Split
from s2corpus.snapshot import documents, flat, rights, rows
from s2corpus.snapshot import read_files as checks
from s2corpus.snapshot.claims import MAX_FAULTS, Claim, Fault
from s2corpus.snapshot.comparison import Comparison
from s2corpus.snapshot.documents import IDENTIFIERS
from s2corpus.snapshot.manifest import list_rules
from s2corpus.snapshot.read_files import Verification
from s2corpus.snapshot.similarity import SimilarityCheck
from s2corpus.snapshot.verify import check_presence
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.texts import DUPLICATES, LINKS
from s2corpus.text.near_duplicates import text_key
from s2corpus_reader.files import SnapshotFile, list_files, lookup_key

FIXED = {"kind": "fixed", "train_before": "2022-12-01", "valid_until": "2023-01-03"}
RECIPE = {"profile": "recipe-2024", "unigrams": {"uri": "x", "sha256": "0" * 64}}


def rules_of(former: Mapping[str, Any] = MappingProxyType({}), **sections: Any) -> dict[str, Any]:
    """Return the rules of a manifest; `former` are rules of earlier versions."""
    spec = ReleaseSpec.model_validate({"name": "small", "split": FIXED, "export": {"files": 30}, **sections})
    return {**list_rules(spec), **former}


RULES = rules_of()
TEXT = "A title\n\nAn abstract.\n\nHead\nOne [1] two.\n\nLast"
DOCUMENT = {"id": "1", "sha1": "a" * 40, "text": TEXT}

# -- lines


def line(text: str, set_: str = "s2orc", **more: Any) -> bytes:
    value = {"id": "1", "sha1": "0", "text": text} if set_ == "s2orc" else {"id": "1", "text": text}
    return orjson.dumps(value | more, option=orjson.OPT_APPEND_NEWLINE)


@pytest.mark.parametrize(
    ("set_", "value", "message"),
    [
        ("s2orc", line(TEXT), None),
        ("s2ag", line("A title\n\nAn abstract.", "s2ag"), None),
        ("s2ag", line(TEXT, "s2ag"), "text has 4 blocks; expected title and abstract"),
        ("s2orc", line("A title\n\nAn abstract."), "text has 2 blocks; expected title, abstract and a body"),
        ("s2orc", line("A\ntitle\n\nAn abstract.\n\nBody"), "title has more than one line"),
        ("s2orc", line("A title\n\ntwo  spaces\n\nBody"), "a line is empty, or has white space other than single spaces"),
        ("s2orc", line("A title\n\nAbstract\n\ne\u0301"), "text is not in NFC"),
        ("s2orc", line(TEXT, year=2011), "keys are ['id', 'sha1', 'text', 'year']; expected for s2orc: id, sha1, text"),
        ("s2ag", line(TEXT), "keys are ['id', 'sha1', 'text']; expected for s2ag: id, text"),
        ("s2orc", line(TEXT).replace(b'","', b'", "', 1), "not canonical JSON"),
        ("s2orc", line(TEXT, id=7), "expected a JSON object with a string `id`"),
        ("s2orc", b"not json\n", "invalid JSON"),
    ],
)  # fmt: skip
def test_line_of_a_document_has_the_published_form(set_: str, value: bytes, message: str | None) -> None:
    id_, faults = checks.check_document(value, set_, recipe=False)
    assert faults == [] if message is None else len(faults) == 1 and faults[0].startswith(message)
    assert (id_ is None) == (message is not None and message.startswith(("invalid", "expected")))
    has_blocks = message is None or message.startswith(("text has", "title", "a line"))
    assert checks.check_document(value, set_, recipe=True) == (id_, [] if has_blocks else faults)


CITE = {"start": 4, "end": 7, "text": "[1]", "ref_id": "BIBREF0"}


@pytest.mark.parametrize(
    ("kind", "span", "message"),
    [
        ("cite_spans", CITE, None), ("cite_spans", CITE | {"end": 6}, "paragraph 1: the text of a span in cite_spans differs"),
        ("cite_spans", CITE | {"ref_id": "X"}, "paragraph 1: cite_spans refers to X, which is not in bib_entries"),
        ("unlinked_spans", CITE | {"ref_id": None}, None), ("ref_spans", CITE, "ref_spans refers to BIBREF0, which is not in ref_entries"),
    ],
)  # fmt: skip
def test_spans_of_a_parse_have_their_text_and_entry(kind: str, span: dict[str, Any], message: str | None) -> None:
    parse: dict[str, Any] = {"paper_id": "1", "_pdf_hash": "", "abstract": [{"text": "x"}], "body_text": []}
    parse["ref_entries"] = {"FIGREF0": {}}
    cited = [{"text": "One [1] two.", kind: [span]}]
    for part in ("body_text", "back_matter"):
        found = list(checks.check_parse({**parse, "bib_entries": {"BIBREF0": {}}, part: cited}))
        assert found == [] if message is None else len(found) == 1 and message in found[0]
    assert list(checks.check_parse(parse)) == ["keys are missing: ['bib_entries']"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, None), ({"open_access": False, "evidence": "bibliography_only"}, None), ({"evidence": ""}, "has no evidence"),
        ({"evidence": "bibliography_only"}, "is open, but its evidence is bibliography_only"),
        ({"open_access": False}, "is closed, but its evidence is declared"), ({"license": "CC BY"}, "is 'CC BY'; expected an SPDX id"),
    ],
)  # fmt: skip
def test_rights_have_evidence_and_an_spdx_id(changed: dict[str, Any], message: str | None) -> None:
    row = {"paper_id": "1", "of": "pdf", "open_access": True, "evidence": "declared", "license": "CC0-1.0"}
    found = rights.find_fault(row | changed)
    assert found is None if message is None else message in str(found)


# -- documents, metadata, parses and graph


def index_row(**changed: Any) -> dict[str, Any]:
    return {
        "id": "1", "set": "s2orc", "split": "train", "sha1": "a" * 40, "title": "A title", "date": "2022-11-30", "year": 2022,
        "text_key": text_key(TEXT), "fields_of_study": None, **dict.fromkeys(IDENTIFIERS), "words": 9, "line": 1,
        "file": f"v2/{changed.get('set', 's2orc')}/{changed.get('split', 'train')}/00", "license": "", "oa_evidence": "x",
        "abstract_source": "",
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


def comparison(index: dict[str, Any] | None = None, **sections: Any) -> tuple[Comparison, list[str]]:
    found = Comparison(rules_of(**sections), "2023-01-04T00:00:00+00:00")
    return found, list(found.add_index([index or index_row()]))


@pytest.mark.parametrize(
    ("date", "split", "expected"),
    [
        ("2022-12-01", "train", "valid"), ("2022-11-30", "valid", "train"), ("2022", "valid", None), (None, "valid", None),
    ],
)  # fmt: skip
def test_split_is_compared_if_the_date_decides_it(date: str | None, split: str, expected: str | None) -> None:
    row = index_row(date=date, split=split, year=int(date[:4]) if date else None)
    faults = [f"document 1 with date {date} is in {split}; expected {expected}"] if expected else []
    assert comparison(row)[1] == faults
    assert comparison(row, clean=RECIPE)[1] == [], "recipe-2024 splits by other rules"


def test_forged_ids_of_two_types_are_differences() -> None:
    found, _ = comparison()
    list(found.add_metadata(METADATA | {"outbound_citations": ["2", 7]}))
    said = [fault.message for fault in found.compare(["corpus/metadata/0"])]
    assert said == [Claim.CITED.message.format(id_) for id_ in ("2", "7")]


def test_repeated_citations_count_once() -> None:
    other = METADATA | {"paper_id": "2", "outbound_citations": [], "inbound_citations": ["1"]}

    def compare(*rows: Any) -> str:
        found, _ = comparison(former={"link.count_warnings": ["numeral"]})
        found.add_parse("pdf", PARSE)
        for value in (METADATA, other):
            list(found.add_metadata(value))
        table = pa.Table.from_pylist([LINK, *rows]).slice(1)
        assert list(found.check_table("graph/links/00.parquet", table)) == []
        return "".join(fault.message for fault in found.compare(["graph/links/00.parquet", "corpus/metadata/0"]))

    assert compare(LINK) == compare(LINK | {"warning": "numeral"}) == ""
    repeated = compare(LINK, LINK | {"ref_id": "BIBREF1"})
    assert "links other" in repeated and "cites other" not in repeated
    assert "cites other papers in graph/links" in compare(LINK | {"warning": "tie"})
    assert "links other" in compare() and "cites other" in compare()


OF_PARSE = {"paper_id": "1", "parse_kind": "pdf"}
RIGHTS = {"paper_id": "1", "open_access": True, "evidence": "x", "license": "MIT"}
KEYS = sorted([lookup_key("title", "atitle"), lookup_key("sha1", "a" * 40)])
COPIED = DOCUMENT | {"set": "s2orc", "split": "train", "license": "", "oa_evidence": "x", "abstract_source": ""}
TABLES: dict[Claim, tuple[pa.Schema, list[dict[str, Any]]]] = {
    Claim.TEXT: (documents.SCHEMA, [COPIED]), Claim.LICENSE: (documents.SCHEMA, [COPIED]),
    Claim.PAPER: (flat.SCHEMAS["papers"], [{"paper_id": "1", "title": "A title", **dict.fromkeys(IDENTIFIERS)}]),
    Claim.PARAGRAPHS: (flat.SCHEMAS["paragraphs"], [OF_PARSE | {"paragraph": 0, "text": "One [1] two."}]),
    Claim.BIB_ENTRIES: (flat.SCHEMAS["bib_entries"], [OF_PARSE | {"ref_id": "BIBREF0", "cited_paper_id": "2"}]),
    Claim.REF_ENTRIES: (flat.SCHEMAS["ref_entries"], [OF_PARSE | {"ref_id": "FIGREF0"}]), Claim.LINKS: (LINKS.schema, [LINK]),
    Claim.RIGHTS: (flat.SCHEMAS["rights"], [RIGHTS | {"of": "abstract"}, RIGHTS | {"of": "pdf"}]),
    Claim.KEYS: (rows.KEYS, [{"paper_id": "1", "key": key} for key in KEYS]),
}  # fmt: skip


@pytest.mark.parametrize("claim", TABLES, ids=lambda claim: claim.name)
def test_tables_repeat_the_lines(claim: Claim) -> None:
    """Each column of a claim, each added row and each lost row is a difference; folders that a snapshot does not have are ignored."""
    schema, right = TABLES[claim]
    empty = {pa.int64(): 0, pa.int32(): 0, pa.float64(): 0.0, pa.bool_(): False, pa.string(): ""}
    filled = {field.name: empty.get(field.type, []) for field in schema if not field.nullable}

    def compare(*values: dict[str, Any], folder: str = claim.folder) -> list[Fault]:
        found, _ = comparison(export={"files": 1})
        list(found.add_metadata(METADATA))
        entries = {"bib_entries": {"BIBREF0": {"link": "2"}}, "ref_entries": {"FIGREF0": {}}}
        found.add_parse("pdf", PARSE | {"body_text": [PARAGRAPH]} | entries)
        list(found.check_document(DOCUMENT, "s2orc", "train", ("v2/s2orc/train/00", 1)))
        table = pa.Table.from_pylist([filled | value for value in values], schema=schema)
        list(found.check_table(f"{claim.folder}00.parquet", table))
        ending = claim.message.partition("{}")[2]
        return [fault for fault in found.compare([f"{folder}00.parquet"]) if fault.message.endswith(ending)]

    difference = Fault(claim.folder.rstrip("/"), claim.message.format("1"))
    assert compare(*right) == []
    assert compare(*right[1:]) == [difference] and compare(folder="x/") == []
    assert compare(*right, right[0]) == [difference]
    for column in claim.columns[1:]:
        other = 7 if pa.types.is_integer(schema.field(column).type) else "x2"
        assert compare(right[0] | {column: other}, *right[1:]) == [difference], column
    owners = ({**right[0], claim.columns[0]: f"{n}"} for n in range(100, MAX_FAULTS + 102))
    assert len(compare(*owners)) == MAX_FAULTS


# -- duplicates

WORDS = " ".join(f"word{n}" for n in range(104))  # 100 n-grams of 5 words
CHANGED = WORDS.replace("word103", "other")  # 1 of them differs: the Jaccard index is 99 / 101.


def duplicate(
    paper: str, split: str = "train", reason: str | None = None, of: str | None = None, jaccard: float | None = None
) -> dict[str, Any]:
    row = {"cluster": "1", "set": "s2orc", "paper_id": paper, "split": split, "reason": reason}
    return row | {"duplicate_of": of, "jaccard": jaccard}


TEXTS = {"1": WORDS, "2": CHANGED, "9": WORDS}


def read_texts(ids: Iterable[str]) -> Iterator[tuple[str, str]]:
    yield from ((id_, TEXTS[id_]) for id_ in ids if id_ in TEXTS)


def find_duplicate_faults(rows: list[dict[str, Any]], published: dict[str, str], funnel: Mapping[Any, int]) -> set[str]:
    check = SimilarityCheck(RULES)
    assert list(check.add_duplicates(pa.Table.from_pylist(rows, schema=DUPLICATES.schema))) == []
    stats = {
        "metrics": {"split": {"rows.duplicates": float(len(rows))}} if rows else {},
        "funnel": [{"stage": "split s2orc", "outcome": str(outcome), "count": n} for outcome, n in funnel.items()],
    }  # fmt: skip
    splits = {id_: ("s2orc", split) for id_, split in published.items()}
    return set(check.find_faults(splits, stats, read_texts))


SAME = duplicate("2", Split.DUPLICATE, "text", "1", 1.0)
TITLE = duplicate("2", Split.NEAR_DUPLICATE, "title", "1")
SIMILAR = duplicate("2", Split.NEAR_DUPLICATE, "words", "1", 0.9)
PUBLISHED = duplicate("2", "train", "words", "1", 99 / 101)


VALID = [SAME, TITLE, SIMILAR, PUBLISHED, SIMILAR | {"jaccard": 0.8}]
INVALID = [
    SAME | {"jaccard": 0.9}, SAME | {"split": Split.NEAR_DUPLICATE}, TITLE | {"jaccard": 1.0}, SIMILAR | {"jaccard": 0.79},
    SIMILAR | {"jaccard": 1.1}, SIMILAR | {"jaccard": None}, PUBLISHED | {"reason": "other"},
]  # fmt: skip


@pytest.mark.parametrize("row", [*VALID, *INVALID])
def test_reason_of_a_duplicate_decides_split_and_similarity(row: dict[str, Any]) -> None:
    is_published = row["split"] == "train"
    index = {"1": "train", **({"2": "train"} if is_published else {})}
    found = find_duplicate_faults([duplicate("1"), row], index, {} if is_published else {row["split"]: 1})
    assert (found == set()) if row in VALID else any("contradicts reason" in fault for fault in found)


FIRST, THIRD = duplicate("1"), duplicate("3", "train", "words", "1", 0.9)
TWO, BOTH = {"1": "train", "2": "train"}, {"1": "train", "3": "train"}


@pytest.mark.parametrize(
    ("rows", "index", "message"),
    [
        ([duplicate("2"), THIRD], {"2": "train", "3": "train"}, "cluster 1 has 2 documents, 1 of them"),
        ([FIRST, THIRD | {"split": "valid"}], {"1": "train", "3": "valid"}, "has documents in both train and valid"),
        ([FIRST, THIRD | {"duplicate_of": "4"}], BOTH, "duplicates 4, which is not in its cluster"),
        ([FIRST, THIRD | {"paper_id": "1"}], {"1": "train"}, "a document occurs twice"),
        ([FIRST, PUBLISHED | {"jaccard": 0.97}], TWO, f"have the Jaccard index {99 / 101}; the row has 0.97"),
    ],
)
def test_contradictory_duplicates_are_named(rows: list[dict[str, Any]], index: dict[str, str], message: str) -> None:
    assert any(message in fault for fault in find_duplicate_faults(rows, index, {}))


@pytest.mark.parametrize(("least", "found"), [(0.9, True), (0.99, False)])
def test_similar_texts_in_train_and_valid_are_found(least: float, found: bool) -> None:
    overlap = SimilarityCheck(rules_of({"split.min_jaccard": least}))
    texts = TEXTS | {"3": "another text of more than five words", "4": "one two three four five six", "5": ""}
    for id_, split in (("3", "train"), ("1", "train"), ("5", "train"), ("2", "valid"), ("5", "valid"), ("4", "valid")):
        overlap.add_document(id_, split, texts[id_])
    expected = [f"documents 1 (train) and 2 (valid) are near duplicates: their Jaccard index is {99 / 101:.3f}"]
    assert list(overlap.find_faults({}, {"metrics": {}, "funnel": []}, read_texts)) == (expected if found else [])


# -- files


def test_pieces_of_several_documents_have_a_limit(published: Path) -> None:
    lake = LocalLake(published)
    manifest = orjson.loads(lake.get("manifest.json")[0])
    state = Verification(lake, manifest, list_files(manifest), comparison()[0], SimilarityCheck(RULES))
    limit = state.manifest["rules"]["export.shard_bytes"] = 1 << 20
    pieces = [(limit, 9), (limit + 1, 9), (limit + 1, 1), (limit + 1, 2)]
    for number, (size, rows_of_piece) in enumerate(pieces):
        path = f"v2/s2orc/train/00-{number:06}.jsonl.gz"
        state.files[path] = SnapshotFile(path, 2000, "0", rows_of_piece, size)
    exceeding = [
        fault.path for fault in check_presence(state) if "exceeds export.shard_bytes (1048576" in fault.message
    ]
    assert exceeding == [f"v2/s2orc/train/00-{number:06}.jsonl.gz" for number in (1, 3)]
