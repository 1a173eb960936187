"""`corpus clean` reads files and writes kept and dropped documents; an error message names the position of the error."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from s2corpus.commands.clean import command
from s2corpus.errors import UserError
from s2corpus.text import files
from s2corpus.text.documents import CleanOutcome
from s2corpus.text.files import format_outcomes, read_document, read_documents
from s2corpus.text.layout import Unit
from tests.unit.s2corpus.stages.clean.samples import GERMAN, english


def document(id_: str, **fields: Any) -> dict[str, Any]:
    seed = int(hashlib.sha256(id_.encode()).hexdigest()[:6], 16)
    body = [{"section": "Results", "text": english(101, seed + i)} for i in range(5)]
    values = {
        "title": f"Significant findings of paper {id_}",
        "abstract": english(60, seed),
        "year": 2011,
        "body": body,
    }
    return {"id": id_, **values, **fields}


DOCUMENTS = [
    document("b", sha1="0" * 40),
    document("a", date="2022-12-05", year=None),
    document("late", date="2023-02", year=None),
    document("vague", year=2022),
    document("untitled", title=None),
    document("short", body=[{"section": None, "text": english(90, i)} for i in range(5)]),
    document("german", body=[{"section": None, "text": GERMAN}] * 9),
    {**document("b"), "id": "duplicate", "date": "2012-01-02"},
]


def run(source: Path, out: Path, *options: str, set_: str = "s2orc", dropped: Path | None = None) -> None:
    arguments = [
        "--in",
        str(source),
        "--set",
        set_,
        "--out",
        str(out),
        *(["--dropped", str(dropped)] if dropped else []),
    ]
    CliRunner().invoke(command, [*arguments, *options], standalone_mode=False, catch_exceptions=False)


def clean(
    folder: Path, documents: list[Any], *options: str, set_: str = "s2orc"
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the kept and the dropped documents."""
    source, *outputs = (folder / f"{name}.jsonl" for name in ("in", "out", "dropped"))
    source.write_text("".join(json.dumps(document) + "\n" for document in documents))
    run(source, outputs[0], *options, set_=set_, dropped=outputs[1])
    kept, dropped = ([json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in outputs)
    return kept, dropped


def test_every_document_is_kept_or_dropped_with_a_reason(tmp_path: Path) -> None:
    """The order of the documents does not matter."""
    kept, dropped = clean(tmp_path, DOCUMENTS)
    assert {line["id"]: line["split"] for line in kept} == {
        "b": "train", "a": "valid", "late": "held_back:late", "vague": "held_back:undated", "duplicate": "held_back:duplicate",
    }  # fmt: skip
    assert {line["id"]: (line["reason"], line["words"], line["language_votes"]) for line in dropped} == {
        "untitled": ("no_title", None, None), "short": ("short", 450, {"en": 3}), "german": ("not_english", 9 * 17, {"de": 5}),
    }  # fmt: skip
    assert [list(line) for line in kept[:2]] == [["id", "sha1", "text", "split"], ["id", "text", "split"]]
    again = clean(tmp_path, random.Random(3).sample(DOCUMENTS, len(DOCUMENTS)))
    for found, expected in zip(again, (kept, dropped), strict=True):
        assert sorted(found, key=lambda line: str(line["id"])) == sorted(expected, key=lambda line: str(line["id"]))


def test_titles_and_abstracts_are_cleaned(tmp_path: Path) -> None:
    kept, dropped = clean(tmp_path, [document("a"), {"id": "b", "title": "T", "abstract": None}], set_="s2ag")
    assert [(line["id"], line["text"].count("\n\n")) for line in kept] == [("a", 1)]
    assert [line["reason"] for line in dropped] == ["no_abstract"]


def test_recipe_has_no_upper_date_of_valid(tmp_path: Path) -> None:
    words = tmp_path / "words.csv"
    words.write_text("word,count\n" + "".join(f"{word},1000000000\n" for word in sorted(set(english(3000).split()))))
    dates = {"a": "2024", "b": "2024-08-01", "c": "2030"}
    documents = [document(id_, date=date, year=None) for id_, date in dates.items()]
    for each in documents:
        each["body"] = [{**unit, "text": unit["text"] + "."} for unit in each["body"]]
    kept, _ = clean(tmp_path, documents, "--profile", "recipe-2024", "--unigrams", str(words))
    assert [line["split"] for line in kept] == ["train", "valid", "valid"]


def test_parquet_is_read_and_written(tmp_path: Path) -> None:
    source, out, dropped = (tmp_path / f"{name}.parquet" for name in ("in", "out", "dropped"))
    pq.write_table(pa.Table.from_pylist([{"sha1": None, **d, "date": d.get("date")} for d in DOCUMENTS]), source)
    run(source, out, dropped=dropped)
    kept, rejected = clean(tmp_path, DOCUMENTS)
    assert [line["text"] for line in pq.read_table(out).to_pylist()] == [line["text"] for line in kept]
    votes = {row["id"]: row["language_votes"] for row in pq.read_table(dropped).to_pylist()}
    assert votes == {row["id"]: row["language_votes"] and list(row["language_votes"].items()) for row in rejected}


def test_rolling_split_needs_a_date(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text("name: s\nsplit: {kind: rolling}\n")
    with pytest.raises(UserError, match="needs --as-of"):
        clean(tmp_path, DOCUMENTS[:1], "--spec", str(tmp_path / "spec.yaml"))


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([{"id": "a", "titel": "x"}], r"in\.jsonl, line 1: unknown key 'titel'; expected id, sha1, title"),
        ([document("a"), {"title": "x"}], r"line 2: id is None; expected str"),
        ([document("a"), document("a")], r"line 2: duplicate id 'a'"),
        ([document("a", title=3)], r"title is 3; expected str or null"),
        ([document("a", date="May 2011")], r"date is 'May 2011'; expected YYYY, YYYY-MM or YYYY-MM-DD"),
        ([document("a", year=0)], r"year is 0; expected 1 to 9999"),
        ([document("a", body=[{"text": "x", "head": "y"}])], r"line 1, body\[0\]: unknown key 'head'"),
        ([document("a", body="text")], r"body is 'text'; expected list"),
        ([["a"]], r"line 1: got list; expected one JSON object per line"),
        ([document("a", body=["x"])], r"line 1, body\[0\]: 'x' given; expected {section, text}"),
    ],
)
def test_error_names_file_and_line(tmp_path: Path, documents: list[Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        clean(tmp_path, documents)


def test_error_names_the_unwritable_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"file/out\.jsonl cannot be written"):
        clean(tmp_path, DOCUMENTS, "--out", str(tmp_path / "file" / "out.jsonl"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--profile", "card"), "profile card needs --unigrams"),
        (("--profile", "card-wordfreq", "--unigrams", "list.csv"), "card-wordfreq has its own list"),
        (("--profile", "card", "--unigrams", "/nowhere/list.csv"), "no such file"),
    ],
)
def test_profile_card_needs_a_word_list(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError, match=message):
        clean(tmp_path, DOCUMENTS, *options)


@pytest.mark.parametrize(
    ("year", "found"),
    [(1, "0001"), (9999, "9999"), (None, None), (0, "expected 1"), (10_000, "expected 1"), (True, "expected int")],
)
def test_year_must_be_between_1_and_9999(year: int | None, found: str | None) -> None:
    if found is None or found.isdecimal():
        assert read_document({"id": "a", "year": year}, "here").date == found
    else:
        with pytest.raises(UserError, match=f"here: year is {year}; {found}"):
            read_document({"id": "a", "year": year}, "here")


def test_optional_keys_have_defaults() -> None:
    body = [{"text": "x"}, {"section": "A"}, {"section": None, "text": None}, {}]
    found = read_document({"id": "a", "body": body}, "here")
    assert found.body == (Unit(None, "x"), Unit("A", None), Unit(None, None), Unit(None, None))
    opened = [read_document({"id": "a", "open_access": given}, "here").open_access for given in (None, True, False)]
    assert (found.open_access, opened) == (True, [True, True, False])


def test_error_names_the_row_of_a_parquet_file(tmp_path: Path) -> None:
    rows = [{"id": "a"}, {"id": "b"}, {"id": "a"}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    with pytest.raises(UserError, match=r"in\.parquet, row 3: duplicate id 'a'"):
        list(read_documents(tmp_path / "in.parquet"))


@pytest.mark.parametrize("count", [0, 256, 257])
def test_parquet_of_any_length_is_complete_and_ordered(tmp_path: Path, count: int) -> None:
    rows = [{"id": f"{n:03d}"} for n in range(count)]
    source, dropped = tmp_path / "in.parquet", tmp_path / "dropped.parquet"
    pq.write_table(pa.Table.from_pylist(rows, pa.schema([("id", pa.string())])), source)
    run(source, tmp_path / "out.parquet", set_="s2ag", dropped=dropped)
    assert [row["id"] for row in pq.read_table(dropped).to_pylist()] == [row["id"] for row in rows]
    groups = pq.ParquetFile(dropped).metadata
    sizes = [groups.row_group(number).num_rows for number in range(groups.num_row_groups)]
    assert sizes == [256] * (count // 256) + [count % 256]


def test_gzipped_output_has_the_same_bytes_in_every_run(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(document) + "\n" for document in DOCUMENTS[:2]))
    out, again, plain = tmp_path / "out.jsonl.gz", tmp_path / "again.jsonl.gz", tmp_path / "out.jsonl"
    for path in (out, again, plain):
        run(source, path)
    assert out.read_bytes() == again.read_bytes()
    assert out.read_bytes()[:8] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00"  # The gzip header contains no name and no time.
    assert gzip.decompress(out.read_bytes()) == plain.read_bytes()
    assert [one.paper_id for one in read_documents(source)] == ["b", "a"]
    packed = tmp_path / "in.jsonl.gz"
    packed.write_bytes(gzip.compress(source.read_bytes()))
    assert list(read_documents(packed)) == list(read_documents(source))


def test_line_longer_than_64_megabytes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert files.MAX_LINE == 64 << 20
    monkeypatch.setattr(files, "MAX_LINE", 12)
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"id":"ab"}\n\n \n{"id":"cd"}\n')
    assert [one.paper_id for one in read_documents(path)] == ["ab", "cd"]
    path.write_bytes(b'{"id":"ab"}\n{"id":"cde"}\n')
    with pytest.raises(UserError, match=r"in\.jsonl, line 2: longer than 12 bytes"):
        list(read_documents(path))


def test_outcomes_are_listed_by_count_with_kept_first() -> None:
    outcomes = {CleanOutcome.SHORT: 2, "long": 2, "no_title": 3, CleanOutcome.KEPT: 1}
    assert format_outcomes(outcomes) == "8 documents: 1 kept, 3 no_title, 2 long, 2 short"
    assert format_outcomes({}) == "0 documents: none"
