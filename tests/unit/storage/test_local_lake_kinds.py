"""A local lake opens only regular files: a FIFO would block forever, and a device has no end."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from s2corpus.errors import UserError
from s2corpus.storage.lake import NotALakeFile, open_lake
from s2corpus.storage.local_lake import LocalLake


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "lake"
    folder.mkdir()
    os.mkfifo(folder / "fifo")
    (folder / "folder").mkdir()
    (folder / "device").symlink_to("/dev/zero")
    (folder / "link_to_fifo").symlink_to("fifo")
    monkeypatch.chdir(folder)  # The path of a socket must be short.
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    return folder


@pytest.mark.parametrize("kind", ["fifo", "folder", "device", "link_to_fifo", "socket"])
def test_only_regular_files_are_read(folder: Path, tmp_path: Path, kind: str) -> None:
    lake = LocalLake(folder)
    for act in (
        lambda: lake.get(kind),
        lambda: lake.open(kind),
        lambda: lake.etag(kind),
        lambda: lake.check_file(kind),
        lambda: lake.download(kind, tmp_path / "got"),
        lambda: lake.download(kind, tmp_path / "got", link=True),
    ):
        with pytest.raises(NotALakeFile, match="not a regular file") as refused:
            act()
        assert isinstance(refused.value, UserError) and isinstance(refused.value, OSError)
    assert not (tmp_path / "got").exists() and lake.size(kind) is None and list(lake.list("")) == []


def test_missing_files_are_missing(tmp_path: Path) -> None:
    lake = open_lake(str(tmp_path), confined=True)
    lake.check_file("a")
    with pytest.raises(FileNotFoundError):
        lake.get("a")


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


def test_link_to_nothing_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12")
    (tmp_path / "b").symlink_to("nowhere")
    assert [(entry.key, entry.bytes) for entry in LocalLake(tmp_path).list("")] == [("a", 2)]
