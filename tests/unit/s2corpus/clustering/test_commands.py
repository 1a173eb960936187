"""Commands turn a file of records into filtered papers, and report wrong inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from s2corpus.commands import records
from s2corpus.commands.papers import cluster_command, explain_command, filter_command, vote_command
from s2corpus.errors import UserError

LINES: list[dict[str, Any]] = [
    {"record_id": "crossref:1", "source": "crossref", "kind": "publisher", "title": "Deep parsing of scientific papers",
     "authors": "Ada Lovelace and Alan Turing", "date": "2020-05", "doi": "10.18653/v1/x1"},
    {"record_id": "arxiv:1", "source": "arxiv", "title": "Deep Parsing of Scientific Papers.", "authors": "Lovelace, Ada", "year": 2019,
     "arxiv_id": "1911.02782", "abstract": "We parse scientific papers and say how well that went. " * 3},
    {"record_id": "crossref:2", "source": "crossref", "kind": "publisher", "title": "Deep parsing of scientific papers", "year": 2020,
     "authors": "Ada Lovelace", "doi": "10.18653/v1/x2"},
]  # fmt: skip


def run(command: click.Command, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def given(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path


def test_commands_turn_records_into_kept_papers(given: Path, tmp_path: Path) -> None:
    r, c, e, p, f = (tmp_path / name for name in ("r.parquet", "c.parquet", "e.parquet", "p.parquet", "f.jsonl"))
    assert "3 entries, 3 records" in run(records.command, "jsonl", given, "--out", r).output
    told = run(cluster_command, "--records", r, "--out", c, "--edges", e, "--explain").output
    assert "arxiv:1 — crossref:1: S_title = 1.000" in told and "3 records, 2 papers, 1 conflicts" in told
    assert pq.read_table(c).column_names == ["record_id", "paper_id"]
    assert "cut" in run(explain_command, "crossref:2", "--clusters", c, "--edges", e).output
    assert "2 papers" in run(vote_command, "--records", r, "--clusters", c, "--out", p).output
    assert "1 kept, 1 short_text" in run(filter_command, "--papers", p, "--out", f).output
    assert {json.loads(line)["outcome"] for line in f.read_text().splitlines()} == {"kept", "short_text"}
    run(vote_command, "--records", given, "--clusters", c, "--out", p.with_suffix(".jsonl"))
    (paper,) = [row for row in map(json.loads, p.with_suffix(".jsonl").read_text().splitlines()) if row["arxiv_id"]]
    assert paper["doi"] == "10.18653/v1/x1" and paper["provenance"]["abstract"]["source"] == "arxiv"


def test_parquet_with_the_keys_of_generic_lines_is_read_as_such_lines(given: Path, tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(LINES), tmp_path / "own.parquet")
    for name, out in ((given, "lines.jsonl"), (tmp_path / "own.parquet", "rows.jsonl")):
        run(cluster_command, "--records", name, "--out", tmp_path / out)
    assert (tmp_path / "rows.jsonl").read_text() == (tmp_path / "lines.jsonl").read_text() != ""


def test_suffix_of_each_output_selects_its_format(given: Path, tmp_path: Path) -> None:
    columns = {"out": {"record_id", "paper_id"}, "aliases": {"alias", "paper_id"}, "edges": set[str]()}
    for suffix in ("parquet", "jsonl"):
        paths = {name: tmp_path / f"{name}.{suffix}" for name in columns}
        run(
            cluster_command, "--records", given, *(part for name, path in paths.items() for part in (f"--{name}", path))
        )
    for name, expected in columns.items():
        lines = [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text("utf-8").splitlines()]
        assert lines == pq.read_table(tmp_path / f"{name}.parquet").to_pylist()
        assert all(expected <= line.keys() for line in lines)
    assert len(lines) > 0, "there are edges"


def test_second_run_retains_the_ids_of_the_first(given: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "1.parquet", tmp_path / "2.parquet"
    run(cluster_command, "--records", given, "--out", first)
    before = LINES[0] | {"record_id": "acl:0", "source": "acl"}
    given.write_text("".join(json.dumps(line) + "\n" for line in [before, *LINES]))
    run(cluster_command, "--records", given, "--out", second, "--parent", first)
    old, new = (dict(zip(*pq.read_table(path).to_pydict().values(), strict=True)) for path in (first, second))
    assert all(new[record_id] == paper for record_id, paper in old.items()) and new["acl:0"] == old["crossref:1"]


def test_last_of_duplicate_records_counts(given: Path, tmp_path: Path) -> None:
    given.write_text(json.dumps(LINES[0]) + "\n" + json.dumps(LINES[0] | {"title": "Corrected"}) + "\n")
    run(cluster_command, "--records", given, "--out", tmp_path / "c.parquet")
    run(vote_command, "--records", given, "--clusters", tmp_path / "c.parquet", "--out", tmp_path / "p.parquet")
    assert pq.read_table(tmp_path / "p.parquet")["title"].to_pylist() == ["Corrected"]


def test_option_support_selects_similar_or_equal_votes(tmp_path: Path) -> None:
    similar, equal = "Deep parsing of scientific papers", "Deep parsing"
    titles = {
        "acl": equal, "dblp": equal, "arxiv": similar, "pubmed": "Deep parsng of scientific papers",
        "s2": "Deep parsing of scientifc papers",
    }  # fmt: skip
    given, c, p = (tmp_path / name for name in ("in.jsonl", "c.parquet", "p.parquet"))
    lines = [{"record_id": f"{source}:1", "source": source, "title": title} for source, title in titles.items()]
    given.write_text("".join(json.dumps(line) + "\n" for line in lines))
    pq.write_table(pa.table({"record_id": [line["record_id"] for line in lines], "paper_id": ["a" * 15] * 5}), c)
    for support, title in (((), similar), (("--support", "equal"), equal), (("--support", "similar"), similar)):
        run(vote_command, "--records", given, "--clusters", c, "--out", p, *support)
        assert pq.read_table(p)["title"].to_pylist() == [title]


def test_line_without_record_is_named(tmp_path: Path) -> None:
    lines = {'{"record_id": "a:1", "titel": 1}': "titel", "{": "line 1: malformed", '{"title": "T"}': "no_id"}
    for line, says in lines.items():
        (tmp_path / "in.jsonl").write_text(line)
        with pytest.raises(UserError, match=says):
            run(cluster_command, "--records", tmp_path / "in.jsonl", "--out", tmp_path / "c.parquet")


def test_wrong_input_gives_one_sentence(given: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "o.parquet", tmp_path / "other.parquet"
    pq.write_table(pa.table({"record_id": ["a:1"], "name_of_paper": ["A paper"]}), other)
    for command, arguments in (
        (records.command, ("crosref", given, "--out", out)),
        (records.command, ("crossref", tmp_path / "none", "--out", out)),
        (cluster_command, ("--records", tmp_path / "none.parquet", "--out", out)),
        (cluster_command, ("--records", given, "--out", tmp_path / "no" / "folder.parquet")),
        (cluster_command, ("--records", given, "--out", out, "--parent", given)),
        (cluster_command, ("--records", other, "--out", out)),
        (vote_command, ("--records", given, "--clusters", given, "--out", out)),
        (explain_command, ("crossref:1",)),
        (filter_command, ("--papers", given, "--out", out)),
    ):
        with pytest.raises(UserError, match=r"expected|no source|no clusters|cannot be written"):
            run(command, *arguments)
