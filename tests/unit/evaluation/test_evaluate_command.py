"""`corpus evaluate` and `corpus compare` report in one message a release's missing data, a mistyped argument, or an error in a sheet."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from s2corpus.catalog import Catalog
from s2corpus.commands.compare import command as compare
from s2corpus.commands.evaluate import command as evaluate
from s2corpus.errors import UserError
from s2corpus.evaluation import kept
from s2corpus.evaluation.sample import EvaluationTask, Item, Side
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import FILTERED, FULLTEXTS, LINKS

TABLES: tuple[Table[Any], ...] = (MEMBERS, PAPERS, FILTERED, FULLTEXTS, LINKS)


@pytest.fixture
def empty(lake: Lake, tmp_path: Path) -> Run:
    """Return a release without papers."""
    run = Run(ReleaseSpec(name="tiny"), datetime(2023, 2, 1, tzinfo=UTC), lake, tmp_path)
    for table in TABLES:
        run.table(table).write(0, [])
        run.table(table).commit([0], {"paper_shards": 1})
    return run


def said(command: Any, *arguments: str) -> str:
    return CliRunner().invoke(command, arguments, catch_exceptions=False).output


def test_release_without_papers_has_no_items(empty: Run, tmp_path: Path) -> None:
    lake = ("--lake", empty.lake.root)
    assert said(evaluate, empty.release_id, *lake).endswith("0 of 0 items marked\n")
    lake_of_it = empty.lake
    lake_of_it.put("snapshots/tiny-20230201-00000000/README.md", b"# Card\n\n## Evaluation\n\nNot evaluated\n")
    with pytest.raises(UserError, match="the sample is empty"):
        said(evaluate, empty.release_id, *lake, "--publish")
    assert "Not evaluated" in kept.card_of(lake_of_it, "tiny-20230201-00000000")
    theirs = tmp_path / "theirs.jsonl"
    theirs.write_bytes(orjson.dumps({"id": "1", "text": "A title\n\nIts text"}) + b"\n")
    assert "1  not delivered" in said(compare, empty.release_id, *lake, "--with", "peS2o", str(theirs))
    theirs.write_bytes(b"")
    assert said(compare, empty.release_id, *lake, "--with", "peS2o", str(theirs)) == "0 papers of peS2o\n"


@pytest.mark.parametrize("release", ["tiny-20230301", "tiny", "../tiny-20230201", "tiny-20230201-00000000"])
def test_mistyped_release_gives_one_sentence(empty: Run, release: str) -> None:
    for command, more in ((evaluate, ()), (compare, ("x.jsonl", "--with", "peS2o"))):
        with pytest.raises(UserError, match=f"{release}: no such release in"):
            said(command, release, *more, "--lake", empty.lake.root)


def test_unlinked_release_has_no_sample(empty: Run) -> None:
    key = next(
        entry.key for entry in empty.lake.list(f"releases/{empty.release_id}/links/") if "_COMMITTED" in entry.key
    )
    empty.lake.delete(key)
    with pytest.raises(UserError, match="has no links yet: evaluate it when it is built"):
        said(evaluate, empty.release_id, "--lake", empty.lake.root)


@pytest.fixture
def own(empty: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Run, Item]:
    """Return a release with one item in its sample, and a catalog."""
    item = Item(
        "clusters:p1",
        EvaluationTask.CLUSTERS,
        "p1",
        "",
        "",
        "a" * 40,
        Side("=A title", ("Ann Lee",)),
        Side("A title", ("A. Lee",)),
        True,
        True,
    )
    empty.lake.put(f"releases/{empty.release_id}/_evaluation/sample.json", orjson.dumps([item.as_json()]))
    monkeypatch.setenv("S2CORPUS_CATALOG", f"sqlite:///{tmp_path / 'catalog.db'}")
    Catalog(f"sqlite:///{tmp_path / 'catalog.db'}").migrate()
    return empty, item


def marks_of(run: Run) -> list[tuple[str, bool | None, bool | None]]:
    catalog = Catalog.from_environment()
    assert catalog is not None
    return [(mark.marker, mark.title, mark.authors) for mark in catalog.marks(run.release_id)]


def test_sheet_saved_by_a_spreadsheet_is_accepted(own: tuple[Run, Item], tmp_path: Path) -> None:
    """Check a sheet with a byte order mark, Windows line ends, and words in capitals; no cell may begin with a formula."""
    run, _ = own
    sheet, lake = tmp_path / "sheet.csv", ("--lake", run.lake.root)
    assert said(evaluate, run.release_id, *lake, "--sheet", str(sheet)).startswith("1 items in ")
    text = sheet.read_text("utf-8")
    assert "'=A title" in text
    marked = "\ufeff" + text.replace('"right","right","",""', '"right","right","Right","UNSURE"').replace("\n", "\r\n")
    sheet.write_text(marked, "utf-8")
    assert "1 marks of Ann Lee" in said(evaluate, run.release_id, *lake, "--marks", str(sheet), "--by", " Ann Lee ")
    assert marks_of(run) == [("Ann Lee", True, None)]


def test_other_sheet_is_refused(own: tuple[Run, Item], tmp_path: Path) -> None:
    run, item = own
    sheet, lake = tmp_path / "sheet.csv", ("--lake", run.lake.root)
    head = "release,item,mark_title,mark_authors\n"
    for text, words in (
        ("", "the sheet has no column item, mark_authors, mark_title, release"),
        ("a,b\n1,2\n", "the sheet has no column item, mark_authors, mark_title, release"),
        ("release;item;mark_title;mark_authors\n", "saved as CSV with commas"),
        (f"{head}tiny-20230301,{item.item},right,right\n", "release is 'tiny-20230301'; expected 'tiny-20230201'"),
        (f"{head}{run.release_id},other,right,right\n", "line 2: 'other' is not an item"),
        (f"{head}{run.release_id},{item.item},yes,right\n", "line 2: 'yes' is not a mark"),
        (f"{head}{run.release_id},{item.item},right\n", "line 2: '' is not a mark"),
        (f'{head}{run.release_id},"{item.item}"x,right,right\n', "not readable as CSV"),
        (head.encode("utf-16"), "not text in UTF-8"),
    ):
        sheet.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(UserError, match=words):
            said(evaluate, run.release_id, *lake, "--marks", str(sheet), "--by", "ann")
    sheet.write_text(f"{head}{run.release_id},{item.item},right,right\n")
    for nobody in ([], ["--by", ""], ["--by", "  "]):
        with pytest.raises(UserError, match="needs --by NAME"):
            said(evaluate, run.release_id, *lake, "--marks", str(sheet), *nobody)
    with pytest.raises(UserError, match="1 of 1 items have no marks yet"):
        run.lake.put(f"snapshots/{run.release_id}-00000000/README.md", b"")
        said(evaluate, run.release_id, *lake, "--publish")
    assert marks_of(run) == []


@pytest.mark.parametrize("command", [["evaluate", "--sheet"], ["compare", "theirs.jsonl", "--with", "peS2o", "--out"]])
def test_full_disk_gives_one_sentence(own: tuple[Run, Item], tmp_path: Path, command: list[str]) -> None:
    run, _ = own
    (tmp_path / "theirs.jsonl").write_bytes(orjson.dumps({"id": "1", "text": "A title\n\nIts text"}) + b"\n")
    name, *options = command
    arguments = [name, run.release_id, *options, "/dev/full", "--lake", run.lake.root]
    done = subprocess.run(
        [sys.executable, "-m", "s2corpus", *arguments], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 3 and "the disk is full" in done.stderr and done.stderr.count("\n") == 1
