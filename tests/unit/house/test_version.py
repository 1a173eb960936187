"""The code version is over every file that decides what is written: two programs never share a snapshot id."""

from __future__ import annotations

from pathlib import Path

import pytest

import s2corpus
from s2corpus.version import sources_hash

PACKAGE = Path(s2corpus.__file__).parent
WRITES_NOTHING = {".ini", ".mako", ".typed", ".pyc"}
"""the catalog's migrations, and marks for tools"""


def test_every_kind_of_file_of_the_package_counts(tmp_path: Path) -> None:
    kinds = {path.suffix for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    empty = sources_hash(tmp_path)
    for kind in sorted(kinds - WRITES_NOTHING):
        file = tmp_path / f"file{kind}"
        file.write_text("1")
        assert sources_hash(tmp_path) != empty, f"a {kind} file may change and keep the version"
        file.unlink()


@pytest.mark.parametrize("name", ["rule.py", "check.sql", "table.csv", "model.crfsuite"])
def test_an_edit_and_a_rename_change_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("1")
    first = sources_hash(tmp_path)
    (tmp_path / name).write_text("2")
    second = sources_hash(tmp_path)
    (tmp_path / name).rename(tmp_path / f"other-{name}")
    assert len({first, second, sources_hash(tmp_path)}) == 3
