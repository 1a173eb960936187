"""A lake in a folder lists its objects as S3 does: by key, below a prefix that need not end at a folder.

It opens only regular files: a FIFO would block forever, and a device has no end. Invalid addresses never become a folder.
"""

import os
import socket
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.errors import UserError
from s2corpus.storage.lake import NotALakeFile, open_lake
from s2corpus.storage.local_lake import LocalLake

NAMES = ["a", "a-b", "a.b", "ab", "b", "é"]
KEYS = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join), max_size=8)


@given(KEYS, st.sampled_from(["", "a", "a/", "a-", "a/a", "b/a/", "none", "none/x"]))
def test_objects_are_listed_by_key(tmp_path_factory: pytest.TempPathFactory, keys: list[str], prefix: str) -> None:
    folder = tmp_path_factory.mktemp("lake")
    lake = open_lake(str(folder))
    held: set[str] = set()
    for key in keys:
        if not any(key.startswith(f"{other}/") or other.startswith(f"{key}/") for other in held):
            lake.put(key, key.encode())
            held.add(key)
    found = [(entry.key, entry.bytes) for entry in lake.list(prefix)]
    assert found == [(key, len(key.encode())) for key in sorted(held) if key.startswith(prefix)]


def test_moved_file_becomes_the_object(tmp_path: Path) -> None:
    lake, path = open_lake(str(tmp_path / "lake")), tmp_path / "rows"
    lake.put("a/b", b"first", expect="")
    (tmp_path / "lake/a/.put-x").touch()  # A killed writer can leave a temporary file.
    path.write_text("second")
    lake.upload("a/b", path, move=True)
    assert lake.get("a/b")[0] == b"second" and not path.exists()
    assert [entry.key for entry in lake.list("")] == ["a/b"]
    assert (tmp_path / "lake/a/b").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no other file system is writable here")
def test_file_from_another_file_system_is_copied(tmp_path: Path) -> None:
    lake = open_lake(str(tmp_path / "lake"))
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder) / "rows"
        path.write_text("x")
        lake.upload("a/b", path, move=True)
        lake.download("a/b", path)
        assert path.read_text() == lake.get("a/b")[0].decode() == "x"
        assert path.stat().st_dev != (tmp_path / "lake/a/b").stat().st_dev


def test_only_regular_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake, folder, got = LocalLake(tmp_path / "lake"), tmp_path / "lake", tmp_path / "got"
    folder.mkdir()
    os.mkfifo(folder / "fifo")
    (folder / "folder").mkdir()
    (folder / "device").symlink_to("/dev/zero")
    (folder / "link_to_fifo").symlink_to("fifo")
    monkeypatch.chdir(folder)  # The path of a socket must be short.
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    download = partial(lake.download, path=got)
    acts: tuple[Callable[[str], object], ...] = (lake.get, lake.open, lake.etag, lake.check_file, download)
    for kind in ("fifo", "folder", "device", "link_to_fifo", "socket"):
        for act in acts:
            with pytest.raises(NotALakeFile, match="not a regular file"):
                act(kind)
        assert not got.exists() and lake.size(kind) is None and list(lake.list("")) == []


def test_confined_lake_follows_no_link_outside(tmp_path: Path) -> None:
    (tmp_path / "lake/real").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_bytes(b"secret")
    (tmp_path / "lake/real/file").write_bytes(b"inside")
    (tmp_path / "lake/file").symlink_to("../outside/secret")
    (tmp_path / "lake/folder").symlink_to("../outside")
    (tmp_path / "lake/inside").symlink_to("real/file")
    (tmp_path / "link").symlink_to("lake")
    for folder in ("lake", "link"):
        confined = open_lake(str(tmp_path / folder), confined=True)
        assert confined.get("inside")[0] == b"inside"
        for key in ("file", "folder/secret"):
            with pytest.raises(NotALakeFile, match="leads out of"):
                confined.get(key)
    # Operators may use symbolic links in the lake.
    assert open_lake(str(tmp_path / "lake")).get("file")[0] == b"secret"


def test_links_to_folders_and_to_nothing_are_not_listed(tmp_path: Path) -> None:
    lake = open_lake(str(tmp_path / "lake"))
    lake.put("a/x", b"12")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "y").write_bytes(b"y")
    for name, target in (("link", tmp_path / "elsewhere"), ("dangling", Path("nowhere"))):
        (tmp_path / "lake" / "a" / name).symlink_to(target)
    assert [(entry.key, entry.bytes) for entry in lake.list("")] == [("a/x", 2)]
    assert list(lake.list("a/x/")) == []


@pytest.mark.parametrize("name", ["lake", "my lake", "läke 100%", "a%20b", "lake#1?", "a:b", "\udcff"])
def test_lake_opens_by_its_own_address(name: str, tmp_path: Path) -> None:
    lake = open_lake(str(tmp_path / name))
    lake.put("a", b"1")
    assert open_lake(lake.root).get("a")[0] == b"1"
    assert open_lake(f"{lake.root}/").root == lake.root
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "address", ["", "s3://", "s3:/bucket", "s3://B", "http://host/lake", "file://host/lake", "file://", "a\0b"]
)
def test_invalid_address_gives_one_sentence(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="expected s3://bucket"):
        open_lake(address)
    assert not list(tmp_path.iterdir())
