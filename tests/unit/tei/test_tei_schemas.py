"""The output has the published schemas, the tables' columns, and canonical bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from s2corpus.tables.intake import RECORDS
from s2orc_parse import tei


def shapes(value: Any, at: str = "") -> dict[str, set[str]]:
    """Return the JSON types at each path. The keys of entries (BIBREF0) count as one path."""
    found: dict[str, set[str]] = {at: {type(value).__name__}}
    items: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        items = [(f"{at}.{'*' if at.endswith('_entries') else key}", inner) for key, inner in value.items()]
    elif isinstance(value, list):
        items = [(f"{at}[]", inner) for inner in value]
    for path, inner in items:
        for name, types in shapes(inner, path).items():
            found.setdefault(name, set()).update(types)
    return found


def published(folder: Path, name: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in sorted((folder / "s2orc" / "doc2json_fixtures" / "s2orc" / name).glob("*.json")):
        for at, types in shapes(json.loads(path.read_bytes())).items():
            found.setdefault(at, set()).update(types)
    assert found
    return found


def written(shared_data: Path, write: Any) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in sorted(shared_data.glob("pairs/*.tei.xml")):
        for at, types in shapes(
            json.loads(tei.to_json_bytes(write(tei.convert(path.read_bytes(), file_sha1="a" * 40))))
        ).items():
            found.setdefault(at, set()).update(types)
    return found


def test_parse_has_every_key_of_20200705_with_its_type(shared_data: Path) -> None:
    theirs, ours = published(shared_data, "20200705"), written(shared_data, tei.to_s2orc)
    assert set(theirs) - set(ours) == set()
    for path, types in theirs.items():
        allowed = {*types, "NoneType"} if path in (".paper_id", ".bib_entries.*.year", ".bib_entries.*.link") else types
        assert ours[path] <= allowed | ({"NoneType"} if path.endswith("ref_spans[].ref_id") else set()), path


def test_citation_spans_name_entries_and_unlinked_spans_are_separate(shared_data: Path) -> None:
    unlinked = 0
    for path in sorted([*shared_data.glob("pairs/*.tei.xml"), *shared_data.glob("pmc-with-tei/*.tei.xml")]):
        parse = tei.convert(path.read_bytes(), file_sha1="a" * 40)
        written, gorc = tei.to_s2orc(parse), tei.to_gorc(parse)
        for paragraph, theirs in zip(
            written["abstract"] + written["body_text"], gorc["abstract"] + gorc["body_text"], strict=True
        ):
            assert {span["ref_id"] for span in paragraph["cite_spans"]} <= set(written["bib_entries"])
            for span in paragraph["unlinked_spans"]:
                assert (
                    list(span) == ["start", "end", "text"]
                    and paragraph["text"][span["start"] : span["end"]] == span["text"]
                )
            unlinked += len(paragraph["unlinked_spans"])
            assert sum(span["ref_id"] is None for span in theirs["cite_spans"]) == len(paragraph["unlinked_spans"])
    assert unlinked > 5  # 13 in these 23 papers: works that are missing from GROBID's bibliography.


def test_gorc_object_has_exactly_the_published_keys(shared_data: Path) -> None:
    theirs, ours = published(shared_data, "20190928"), written(shared_data, tei.to_gorc_line)
    inside = {at for at in theirs if at.startswith(".grobid_parse") and "other_ids." not in at and "spans[]" not in at}
    assert {
        at for at in ours if at.startswith(".grobid_parse") and "other_ids." not in at and "spans[]" not in at
    } == inside
    assert {at for at in ours if at.count(".") == 1} == {at for at in theirs if at.count(".") == 1}
    assert {at for at in ours if at.startswith(".metadata.") and at.count(".") == 2} <= set(theirs)
    spans = [at for at in ours if ".cite_spans[]." in at]
    assert sorted(at.rpartition(".")[2] for at in spans if "body_text" in at) == [
        "end",
        "latex",
        "ref_id",
        "start",
        "text",
    ]


def test_header_rows_match_the_table_of_records(shared_data: Path) -> None:
    for path in sorted(shared_data.glob("pairs/*.tei.xml")):
        parse = tei.convert(path.read_bytes(), file_sha1="a" * 40)
        header = tei.build_header(parse)
        columns = pa.schema([field for field in RECORDS.schema if field.name in header])
        assert set(header) == set(columns.names)
        pa.Table.from_pylist([header], schema=columns)
