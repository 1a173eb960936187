"""`corpus evaluate` and `corpus compare` report in one message a release's missing data, a mistyped argument, or an error in a sheet."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from s2corpus.catalog import Catalog
from s2corpus.errors import UserError
from s2corpus.evaluation.sample import EvaluationTask, Item, Side
from s2corpus.evaluation.sheet import read_items
from s2corpus.pipeline.run import Run
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import FILTERED, FULLTEXTS, LINKS
from tests.commands import invoke
from tests.unit.s2corpus.evaluation.conftest import RELEASE, run_command, write

TABLES: tuple[Table[Any], ...] = (MEMBERS, PAPERS, FILTERED, FULLTEXTS, LINKS)
OURS, THEIRS = Side("=A title", ("Ann Lee",)), Side("A title", ("A. Lee",))
ITEM = Item("clusters:p1", EvaluationTask.CLUSTERS, "p1", "", "", "a" * 40, OURS, THEIRS, True, True)
HEAD = "release,item,mark_title,mark_authors\n"


@pytest.fixture
def empty(run: Run) -> Run:
    for table in TABLES:
        write(run, table, [])
    return run


@pytest.mark.parametrize("release", ["tiny-20230301", "../tiny-20230201", "tiny-20230201-00000000"])
def test_mistyped_release_gives_one_sentence(empty: Run, release: str) -> None:
    for command, more in (("evaluate", ()), ("compare", ("x.jsonl", "--with", "peS2o"))):
        with pytest.raises(UserError, match=f"{release}: no such release in"):
            invoke(command, release, *more, "--lake", empty.lake.root, catch=False)


@pytest.fixture
def own(empty: Run) -> Run:
    """Return a release with one item in its sample."""
    empty.lake.put(f"releases/{RELEASE}/_evaluation/sample.json", orjson.dumps([ITEM]))
    return empty


def test_sheet_saved_by_a_spreadsheet_is_accepted(own: Run, catalog: Catalog, tmp_path: Path) -> None:
    """Check a sheet with a byte order mark, Windows line ends, and words in capitals; no cell may begin with a formula."""
    sheet = tmp_path / "sheet.csv"
    assert run_command(own, "evaluate", "--sheet", sheet).startswith("1 items in ")
    text = sheet.read_text("utf-8")
    assert "'=A title" in text
    marked = "\ufeff" + text.replace('"right","right","",""', '"right","right","Right","UNSURE"').replace("\n", "\r\n")
    sheet.write_text(marked, "utf-8")
    assert "1 marks of Ann Lee" in run_command(own, "evaluate", "--marks", sheet, "--by", " Ann Lee ")
    assert [(mark.marker, mark.title, mark.authors) for mark in catalog.marks(RELEASE)] == [("Ann Lee", True, None)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("release;item;mark_title;mark_authors\n", "saved as CSV with commas"),
        (f"{HEAD}tiny-20230301,{ITEM.item},right,right\n", "release is 'tiny-20230301'; expected 'tiny-20230201'"),
        (f"{HEAD}{RELEASE},other,right,right\n", "line 2: 'other' is not an item"),
        (f"{HEAD}{RELEASE},{ITEM.item},yes,right\n", "line 2: 'yes' is not a mark"),
        (HEAD.encode("utf-16"), "not text in UTF-8"),
    ],
)
def test_other_sheet_is_refused(text: str | bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_items(text if isinstance(text, bytes) else text.encode(), RELEASE, [ITEM])


@pytest.mark.usefixtures("catalog")
def test_marks_need_a_name_and_publication_needs_marks(own: Run, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.touch()
    for nobody in ([], ["--by", "  "]):
        with pytest.raises(UserError, match="needs --by NAME"):
            run_command(own, "evaluate", "--marks", sheet, *nobody)
    own.lake.put(f"snapshots/{RELEASE}-00000000/README.md", b"")
    with pytest.raises(UserError, match="1 of 1 items have no marks yet"):
        run_command(own, "evaluate", "--publish")
