"""Scratch is private: each process has one folder that no other user can enter or predict, and deletes it at its end.

Processes of one machine share a folder: the first fills it, all use it, and the last deletes it.
"""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

import s2corpus
from s2corpus.errors import UserError
from s2orc_parse.scratch import check_socket_path, find_shared, private, shared

INCLUDE = Path(s2corpus.__file__).parents[1]
MAKE = "import tempfile, time; from s2orc_parse.scratch import private; print(private(), flush=True);"


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    base = tmp_path / "scratch"
    base.mkdir(mode=0o755)
    monkeypatch.setenv("S2CORPUS_SCRATCH", str(base))
    monkeypatch.setattr("tempfile.tempdir", None)
    return base


def program(code: str) -> subprocess.Popen[str]:
    environ, pipe = {**os.environ, "PYTHONPATH": str(INCLUDE)}, subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environ)


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_each_process_has_a_private_folder_and_removes_it(base: Path) -> None:
    folder = private()
    assert (folder.parent, folder.stat().st_mode & 0o777) == (base, 0o700)
    assert private() == folder and tempfile.gettempdir() == str(folder)
    first, second = program(MAKE + "time.sleep(0.5)"), program(MAKE)
    assert read_line(first) != read_line(second)
    assert first.wait() == second.wait() == 0
    assert list(base.iterdir()) == [folder]


def test_folder_of_a_killed_process_is_removed_by_the_next(base: Path) -> None:
    killed, living = program(MAKE + "time.sleep(60)"), program(MAKE + "time.sleep(60)")
    left, living_folder = Path(read_line(killed)), Path(read_line(living))
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert left.exists()
    assert program(MAKE).wait() == 0
    assert (left.exists(), living_folder.exists()) == (False, True), "a running process keeps its folder"
    living.kill()
    living.wait()


def test_forked_process_has_its_own_folder(base: Path) -> None:
    ours = private()
    read, write = os.pipe()
    if not (child := os.fork()):
        os.write(write, str(private()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = Path(os.read(read, 1000).decode())
    assert theirs != ours and theirs.parent == base and ours.is_dir()


def test_folders_with_other_names_are_not_removed(base: Path) -> None:
    names = ("thesis", "s2corpus-new-0", "s2corpus-new-1")
    for name in names:
        (base / name).mkdir()
    (base / "s2corpus-scratch-of-old").symlink_to(base.parent)
    os.utime(base / "s2corpus-new-0", (time.time() - 7200,) * 2)
    private()
    assert [(base / name).is_dir() for name in names] == [True, False, True], "only the old one is left over"
    assert (base / "s2corpus-scratch-of-old").is_symlink() and base.parent.is_dir()


def test_missing_scratch_folder_gives_one_sentence(base: Path) -> None:
    nowhere, command = base / "nowhere", [sys.executable, "-m", "s2corpus", "select", "x.pdf"]
    for variable in ("S2CORPUS_SCRATCH", "TMPDIR"):
        environ = {**os.environ, "PYTHONPATH": str(INCLUDE), "S2CORPUS_SCRATCH": "", variable: str(nowhere)}
        said = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        assert (said.returncode, said.stderr) == (
            2,
            f"corpus: the scratch folder {nowhere} ({variable}) cannot be used (No such file or directory): "
            "create it or set another folder\n",
        )


@pytest.mark.parametrize(
    ("mode", "is_ours", "refused"),
    [(0o777, True, True), (0o1777, True, False), (0o1777, False, False), (0o755, False, True)],
)
def test_scratch_writable_by_others_is_refused(base: Path, mode: int, is_ours: bool, refused: bool) -> None:
    base.chmod(mode)
    if not is_ours:
        if os.geteuid() != 0:
            pytest.skip("only root can give a folder away")
        os.chown(base, 12345, 12345)
    if refused:
        with pytest.raises(UserError, match="other users can replace files"):
            private()
        assert list(base.iterdir()) == []
    else:
        assert private().parent == base


@pytest.mark.parametrize(("length", "fits"), [(49, True), (50, False)])
def test_scratch_path_too_long_for_sockets_is_refused(length: int, fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket's path has at most 107 bytes (unix(7)). multiprocessing puts its socket two levels below the private folder."""
    monkeypatch.setattr("tempfile.tempdir", None)
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        base = Path(short, "x" * (length - len(short) - 1))
        base.mkdir(mode=0o755)
        monkeypatch.setenv("S2CORPUS_SCRATCH", str(base))
        with (
            nullcontext() if fits else pytest.raises(UserError, match=r"has 50 bytes.*at most 49: set S2CORPUS_SCRATCH")
        ):
            check_socket_path()


USE = """
import sys
from s2orc_parse.scratch import shared
def fill(folder):
    print("filled", flush=True)
    (folder / "index").write_text("x")
with shared("one", fill) as folder:
    print((folder / "index").read_text(), flush=True)
    sys.stdin.readline()
"""


def list_folders(base: Path) -> list[str]:
    return sorted(path.name for path in (base / f"s2corpus-shared-{os.geteuid()}").iterdir())


def test_first_process_fills_and_last_removes_the_folder(base: Path) -> None:
    first = program(USE)
    assert (read_line(first), read_line(first)) == ("filled", "x")
    second = program(USE)
    assert read_line(second) == "x"
    first.communicate("\n")
    assert "one" in list_folders(base)
    second.communicate("\n")
    assert list_folders(base) == []


def test_shared_folder_is_found_while_a_process_uses_it(base: Path) -> None:
    killed = program(USE)
    read_line(killed), read_line(killed)
    folder = find_shared("one")
    assert folder is not None and folder.name == "one"
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert (find_shared("one"), list_folders(base)) == (None, [])


def test_incomplete_folder_is_filled_again(base: Path) -> None:
    def fails(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("full")

    with pytest.raises(OSError, match="full"), shared("one", fails):
        pass
    with shared("one", lambda folder: (folder / "complete").touch()) as folder:
        assert sorted(path.name for path in folder.iterdir()) == [".whole", "complete"]


def test_folder_removed_between_two_locks_is_filled_again(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exclusive lock becomes a shared one in two steps (flock(2)): another process may lock, and remove, in between."""
    fills, lock = 0, fcntl.flock

    def fill(folder: Path) -> None:
        nonlocal fills
        fills += 1
        (folder / "x").touch()

    def lock_in_two_steps(handle: int, how: int) -> None:
        if how == fcntl.LOCK_SH and fills == 1:
            lock(handle, fcntl.LOCK_UN)
            code = "from s2orc_parse.scratch import find_shared, shared; shared('other', print).__enter__()"
            program(code + "; print(find_shared('one'))").communicate()
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", lock_in_two_steps)
    with shared("one", fill) as folder:
        assert (folder / "x").exists() and fills == 2


def test_shared_folder_of_another_user_is_refused(base: Path) -> None:
    (base / f"s2corpus-shared-{os.geteuid()}").mkdir(mode=0o777)
    (base / f"s2corpus-shared-{os.geteuid()}").chmod(0o777)
    with pytest.raises(UserError, match="accessible to other users"), shared("one", lambda folder: None):
        pass
