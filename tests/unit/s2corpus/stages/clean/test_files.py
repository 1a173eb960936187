"""`corpus clean` reads files and writes kept and dropped documents; an error message names the position of the error."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from s2corpus.commands.clean import command
from s2corpus.errors import UserError
from s2corpus.text import files
from s2corpus.text.files import read_document, read_documents
from s2corpus_reader.layout import Unit
from tests.unit.s2corpus.stages.clean.samples import GERMAN, english


def document(id_: str, **fields: Any) -> dict[str, Any]:
    seed = int(hashlib.sha256(id_.encode()).hexdigest()[:6], 16)
    body = [{"section": "Results", "text": english(101, seed + i)} for i in range(5)]
    title, abstract = f"Significant findings of paper {id_}", english(60, seed)
    return {"id": id_, "title": title, "abstract": abstract, "year": 2011, "body": body, **fields}


DOCUMENTS = [
    document("b", sha1="0" * 40), document("a", date="2022-12-05", year=None), document("late", date="2023-02", year=None),
    document("vague", year=2022), document("untitled", title=None),
    document("short", body=[{"section": None, "text": english(90, i)} for i in range(5)]),
    document("german", body=[{"section": None, "text": GERMAN}] * 9), {**document("b"), "id": "duplicate", "date": "2012-01-02"},
]  # fmt: skip


def run(source: Path, out: Path, *options: str) -> str:
    arguments = ["--in", str(source), "--set", "s2orc", "--out", str(out), *options]
    return CliRunner().invoke(command, arguments, standalone_mode=False, catch_exceptions=False).output


def clean(folder: Path, documents: list[Any], *options: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    source, *outputs = (folder / f"{name}.jsonl" for name in ("in", "out", "dropped"))
    source.write_text("".join(json.dumps(document) + "\n" for document in documents))
    printed = run(source, outputs[0], "--dropped", str(outputs[1]), *options)
    assert printed.startswith(f"{len(documents)} documents: ")
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
    assert clean(tmp_path, DOCUMENTS[::-1]) == (kept[::-1], dropped[::-1])
    assert files.format_outcomes({"short": 2, "no_title": 2, "kept": 1}) == "5 documents: 1 kept, 2 no_title, 2 short"


def test_recipe_has_no_upper_date_of_valid(tmp_path: Path) -> None:
    words = tmp_path / "words.csv"
    words.write_text("word,count\n" + "".join(f"{word},1000000000\n" for word in sorted(set(english(3000).split()))))
    dates = {"a": "2024", "b": "2024-08-01", "c": "2030"}
    body = [{"text": f"{english(101, n)}."} for n in range(5)]
    documents = [document(id_, date=date, year=None, body=body) for id_, date in dates.items()]
    sha256 = hashlib.sha256(words.read_bytes()).hexdigest()
    (tmp_path / "own.yaml").write_text(
        f"name: own\nclean: {{profile: recipe-2024, unigrams: {{uri: {words}, sha256: {sha256}}}}}\n"
        f"split: {{train_before: 2024-08-01, valid_until: 2024-08-01}}\n"
    )
    kept, _ = clean(tmp_path, documents, "--spec", str(tmp_path / "own.yaml"))
    assert [line["split"] for line in kept] == ["train", "valid", "valid"]


def test_parquet_is_read_and_written(tmp_path: Path) -> None:
    source, out, dropped = (tmp_path / f"{name}.parquet" for name in ("in", "out", "dropped"))
    pq.write_table(pa.Table.from_pylist([{"sha1": None, **d, "date": d.get("date")} for d in DOCUMENTS]), source)
    run(source, out, "--dropped", str(dropped))
    kept, rejected = clean(tmp_path, DOCUMENTS)
    assert [line["text"] for line in pq.read_table(out).to_pylist()] == [line["text"] for line in kept]
    votes = {row["id"]: row["language_votes"] for row in pq.read_table(dropped).to_pylist()}
    assert votes == {row["id"]: row["language_votes"] and list(row["language_votes"].items()) for row in rejected}
    pq.write_table(pa.Table.from_pylist([{"id": "x"}, {"id": "x"}]), source)
    with pytest.raises(UserError, match=r"in\.parquet, row 2: duplicate id 'x'"):
        list(read_documents(source))


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([{"id": "a", "titel": "x"}], r"in\.jsonl, line 1: unknown key 'titel'; expected id, sha1, title"),
        ([document("a"), document("a")], r"line 2: duplicate id 'a'"),
        ([document("a", date="May 2011")], r"date is 'May 2011'; expected YYYY, YYYY-MM or YYYY-MM-DD"),
        ([document("a", year=10_000)], r"year is 10000; expected 1 to 9999"),
        ([document("a", body=["x"])], r"line 1, body\[0\]: 'x' given; expected {section, text}"),
    ],
)
def test_error_names_file_and_line(tmp_path: Path, documents: list[Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        clean(tmp_path, documents)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--spec", "card.yaml"), "unigrams"),
        (("--out", "/dev/null/out.jsonl"), r"out\.jsonl cannot be written"),
        (("--spec", "rolling.yaml"), "needs --as-of"),
    ],
)
def test_wrong_options_are_refused(
    tmp_path: Path, options: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "card.yaml").write_text("name: card\nclean: {profile: card}\n")
    (tmp_path / "rolling.yaml").write_text("name: s\nsplit: {kind: rolling}\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        clean(tmp_path, DOCUMENTS, *options)


def test_optional_keys_have_defaults() -> None:
    body = [{"text": "x"}, {"section": "A"}, {"section": None, "text": None}, {}]
    found = read_document({"id": "a", "body": body}, "here")
    assert found.body == (Unit(None, "x"), Unit("A", None), Unit(None, None), Unit(None, None))
    assert [read_document({"id": "a", "year": year}, "here").date for year in (1, 9999)] == ["0001", "9999"]


def test_gzipped_output_has_the_same_bytes_in_every_run(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(document) + "\n" for document in DOCUMENTS[:2]))
    out, again, plain = tmp_path / "out.jsonl.gz", tmp_path / "again.jsonl.gz", tmp_path / "out.jsonl"
    for path in (out, again, plain):
        run(source, path)
    assert out.read_bytes() == again.read_bytes() and out.read_bytes()[4:8] == bytes(4), "without a time"
    assert gzip.decompress(out.read_bytes()) == plain.read_bytes()
    packed = tmp_path / "in.jsonl.gz"
    packed.write_bytes(gzip.compress(source.read_bytes()))
    assert list(read_documents(packed)) == list(read_documents(source))


def test_too_long_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE", 12)
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"id":"ab"}\n\n \n{"id":"cd"}\n')
    assert [one.paper_id for one in read_documents(path)] == ["ab", "cd"]
    path.write_bytes(b'{"id":"ab"}\n{"id":"cde"}\n')
    with pytest.raises(UserError, match=r"in\.jsonl, line 2: longer than 12 bytes"):
        list(read_documents(path))
