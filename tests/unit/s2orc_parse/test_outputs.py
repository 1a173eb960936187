"""Commands write complete output files or none, and report the reason."""

from __future__ import annotations

import errno
import os
from collections import namedtuple
from pathlib import Path

import pytest

from s2corpus.errors import TransientError, UserError
from s2orc_parse import outputs

FREE = namedtuple("FREE", ["f_bavail", "f_frsize"])


def test_output_replaces_the_file_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("before")
    with outputs.atomic_path(path) as beside:
        beside.write_text("after")
        assert path.read_text() == "before"
    assert path.read_text() == "after" and [p.name for p in tmp_path.iterdir()] == ["out"]
    with pytest.raises(ValueError, match="ours"), outputs.atomic_path(path) as beside:
        beside.write_text("half")
        raise ValueError("ours")
    assert path.read_text() == "after" and [p.name for p in tmp_path.iterdir()] == ["out"]
    (link := tmp_path / "link").symlink_to(path)
    with outputs.open_atomic(link) as file:
        file.write(b"by the link")
    assert link.is_symlink() and path.read_text() == "by the link"


@pytest.mark.parametrize(
    ("number", "says", "kind"),
    [
        (errno.EROFS, "the file system is read-only", UserError),
        (errno.EFBIG, "the file would be larger than is allowed", UserError),
        (errno.EACCES, "you have no right to write there", UserError),
        (errno.EIO, os.strerror(errno.EIO), UserError),
        (errno.ENOSPC, "the disk is full", TransientError),
        (errno.EDQUOT, "the quota is used up", TransientError),
    ],
)
def test_error_is_explained_in_words(
    tmp_path: Path, number: int, says: str, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "statvfs", lambda folder: FREE(255, 4096))
    path = tmp_path / "out"
    for name in (str(path), None) if number != errno.EIO else (str(path),):
        with (
            pytest.raises(kind, match=f"out cannot be written: {says}; the old file is unchanged"),
            outputs.atomic_path(path),
        ):
            raise OSError(number, os.strerror(number), *([name] if name else []))
    assert not list(tmp_path.iterdir())


def test_errors_of_other_files_are_not_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda folder: FREE(256, 4096))  # 1 MiB: another disk is full.
    for number, name in ((errno.EACCES, "other"), (errno.ENOSPC, "out"), (errno.EIO, None)):
        with pytest.raises(OSError, match=os.strerror(number)) as left, outputs.atomic_path(tmp_path / "out"):
            raise OSError(number, os.strerror(number), *([str(tmp_path / name)] if name else []))
        assert left.value.errno == number


def test_pipe_is_written_directly(tmp_path: Path) -> None:
    with outputs.atomic_path(Path("/dev/null")) as beside:
        assert beside == Path("/dev/null")
    with outputs.open_atomic(tmp_path / "out") as file:
        file.write(b"1")
    os.umask(before := os.umask(0))
    assert (tmp_path / "out").read_bytes() == b"1" and (tmp_path / "out").stat().st_mode & 0o777 == 0o666 & ~before


def test_names_are_printable_on_one_line() -> None:
    assert outputs.printable("naïve file.pdf") == "naïve file.pdf"
    assert outputs.printable(os.fsdecode(b"caf\xe9")) == "caf\\xe9"
    assert outputs.printable("a\nb\x1b[31m\u2028c\u2029") == "a\\nb\\x1b[31m\\u2028c\\u2029"
