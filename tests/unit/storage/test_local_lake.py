"""A lake in a folder lists its objects as S3 does: by key, below a prefix that need not end at a folder."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.storage.lake import open_lake

NAMES = ["a", "a-b", "a.b", "ab", "b", "é"]
KEYS = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join), max_size=8)


@given(KEYS, st.sampled_from(["", "a", "a/", "a-", "a/a", "b/a/", "none", "none/x"]))
def test_objects_are_listed_in_the_order_of_keys(
    tmp_path_factory: pytest.TempPathFactory, keys: list[str], prefix: str
) -> None:
    folder = tmp_path_factory.mktemp("lake")
    lake = open_lake(str(folder))
    held: set[str] = set()
    for key in keys:
        if not any(key.startswith(f"{other}/") or other.startswith(f"{key}/") for other in held):
            lake.put(key, key.encode())
            held.add(key)
    found = [(entry.key, entry.bytes) for entry in lake.list(prefix)]
    assert found == [(key, len(key.encode())) for key in sorted(held) if key.startswith(prefix)]


def test_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    lake = open_lake(str(tmp_path / "lake"))
    lake.put("a/x", b"x")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "y").write_bytes(b"y")
    (tmp_path / "lake" / "a" / "link").symlink_to(tmp_path / "elsewhere")
    assert [entry.key for entry in lake.list("")] == ["a/x"]
    assert list(lake.list("a/x/")) == []


def test_moved_file_becomes_the_object(tmp_path: Path) -> None:
    lake, path = open_lake(str(tmp_path / "lake")), tmp_path / "rows"
    for text in ("first", "second"):
        path.write_text(text)
        lake.upload("a/b", path, move=True)
        assert lake.get("a/b")[0].decode() == text
        assert not path.exists()
    assert [entry.key for entry in lake.list("")] == ["a/b"]
    assert (tmp_path / "lake/a/b").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no other file system is writable here")
def test_file_from_another_file_system_is_copied(tmp_path: Path) -> None:
    lake = open_lake(str(tmp_path / "lake"))
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder) / "rows"
        path.write_text("x")
        lake.upload("a/b", path, move=True)
        lake.download("a/b", path, link=True)
        assert path.read_text() == lake.get("a/b")[0].decode() == "x"
        assert path.stat().st_dev != (tmp_path / "lake/a/b").stat().st_dev
    assert [entry.key for entry in lake.list("")] == ["a/b"]


def test_linked_object_is_never_changed_through_the_link(tmp_path: Path) -> None:
    lake, path = open_lake(str(tmp_path / "lake")), tmp_path / "index"
    for text in (b"first", b"second"):
        lake.put(text.decode(), text)
    for key in ("first", "first", "second"):
        lake.download(key, path, link=True)
        assert path.samefile(tmp_path / "lake" / key)
    lake.put("second", b"third")
    assert (path.read_bytes(), lake.get("first")[0], lake.get("second")[0]) == (b"second", b"first", b"third")


def test_files_of_writers_are_not_listed(tmp_path: Path) -> None:
    """A killed writer can leave a temporary file, and conditional writes use a lock."""
    lake = open_lake(str(tmp_path / "lake"))
    lake.put("a/b", b"1", expect="")
    (tmp_path / "lake/a/.put-x").touch()
    assert {path.name for path in (tmp_path / "lake").rglob("*")} == {"a", "b", ".put-x", ".lock"}
    assert [entry.key for entry in lake.list("")] == ["a/b"]
