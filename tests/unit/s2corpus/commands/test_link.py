"""`corpus link` reads entries and papers in JSON Lines and Parquet alike: authors, years and identifiers in every usual form."""

from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from s2corpus.commands import link as linking
from s2corpus.errors import UserError

TITLE = "Growth of frogs in two northern ponds"
ADA = {"first": "Ada", "middle": [], "last": "Lovelace", "suffix": ""}
PAPERS: list[dict[str, Any]] = [
    {"paper_id": "p1", "title": TITLE, "authors": [ADA], "year": 2001, "doi": None},
    {"paper_id": "p2", "title": TITLE, "authors": [{**ADA, "last": "Turing"}], "year": 1999, "doi": "10.1158/ABC"},
]


def link(folder: Path, suffix: str, entries: list[dict[str, Any]], papers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the linked paper of each entry."""
    paths = [folder / f"{name}{suffix}" for name in ("entries", "papers", "links")]
    for path, rows in zip(paths, (entries, papers), strict=False):
        if suffix == ".parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
        else:
            path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    given = ["--entries", str(paths[0]), "--papers", str(paths[1]), "--out", str(paths[2])]
    CliRunner().invoke(linking.command, given, catch_exceptions=False)
    links = pq.read_table(paths[2]).to_pylist() if suffix == ".parquet" else map(orjson.loads, paths[2].open("rb"))
    return {row["entry_id"]: row["paper_id"] for row in links}


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
@pytest.mark.parametrize(
    "facts",
    [{"authors": ["Ada Lovelace"], "year": "2001"}, {"authors": "Lovelace, A.", "date": "2001-02"}],
    ids=["names", "text"],
)
def test_authors_and_years_decide_between_equal_titles(facts: dict[str, Any], suffix: str, tmp_path: Path) -> None:
    entries = [{"entry_id": "e1", "title": TITLE, **facts}]
    assert link(tmp_path, suffix, entries, PAPERS) == {"e1": "p1"}
    entries = [{"entry_id": "e1", "title": None, "doi": "https://doi.org/10.1158/abc"}]
    assert link(tmp_path, suffix, entries, PAPERS) == {"e1": "p2"}


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_printed_text_links_without_a_title(suffix: str, tmp_path: Path) -> None:
    entries = [{"entry_id": "e1", "raw_text": f"Lovelace, A. (2001). {TITLE}. Ponds, 3, 4-9."}]
    assert link(tmp_path, suffix, entries, PAPERS) == {"e1": "p1"}


@pytest.mark.parametrize(
    "printed",
    [
        "D. Chandler and P. G. Wolynes, J. Chem. Phys. 74, 4078 (1981).",
        "See https://doi.org/10.1063/1.441588, and references therein.",
    ],
    ids=["place", "doi"],
)
def test_printed_place_or_doi_links_without_a_title(printed: str, tmp_path: Path) -> None:
    """The reference style of the American Physical Society has no titles."""
    title = "Exploiting the isomorphism between quantum theory and classical statistical mechanics of polyatomic fluids"
    paper = {
        "paper_id": "p", "title": title, "authors": ["David Chandler", "Peter G. Wolynes"], "year": 1981,
        "journal": "The Journal of Chemical Physics", "volume": "74", "pages": "4078-4095", "doi": "10.1063/1.441588",
    }  # fmt: skip
    assert link(tmp_path, ".jsonl", [{"entry_id": "e", "raw_text": printed}], [paper]) == {"e": "p"}


@pytest.mark.parametrize(
    ("entry", "paper", "message"),
    [
        ({"entry_id": "e"}, PAPERS[0], "every row has entry_id and title or raw_text"),
        ({"entry_id": "e", "title": "x", "isbn": "1"}, PAPERS[0], "unknown key isbn: expected some of entry_id"),
        ({"entry_id": "e", "title": "x"}, {"paper_id": "", "title": "x"}, "a paper_id is empty or repeated"),
    ],
)
def test_wrong_rows_are_named(entry: dict[str, Any], paper: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        link(tmp_path, ".jsonl", [entry], [paper])
