"""At a terminal, `corpus yank` asks for confirmation before it withdraws a snapshot; in a script, it does not ask."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from s2corpus.snapshot import pointer
from s2corpus.storage.lake import Lake, open_lake

SNAPSHOT = "spec-20230101-00000000"
ARGUMENTS = ["yank", SNAPSHOT, "--reason", "half of it was missing"]


@pytest.fixture
def published(tmp_path: Path) -> Lake:
    """Return a lake with one published snapshot."""
    lake = open_lake(str(tmp_path))
    lake.put(f"snapshots/{SNAPSHOT}/file", b"1")
    manifest = {"files": [{"path": "file", "bytes": 1}]}
    lake.put(f"snapshots/{SNAPSHOT}/manifest.json", json.dumps(manifest).encode())
    pointer.publish(lake, SNAPSHOT)
    return lake


def at_a_terminal(lake: Path, answer: bytes, *more: str) -> tuple[int, str]:
    """Run the command at a terminal with this typed answer; return the exit status and the terminal's output."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "s2corpus", *ARGUMENTS, *more, "--lake", str(lake)]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True)
    os.close(theirs)
    os.write(ours, answer)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # The other side is closed.
        pass
    os.close(ours)
    return process.wait(60), shown.decode()


def test_answer_no_cancels_and_yes_withdraws(published: Lake, tmp_path: Path) -> None:
    code, shown = at_a_terminal(tmp_path, b"n\n")
    assert code != 0 and f"Withdraw {SNAPSHOT} from {tmp_path}? [y/N]" in shown
    assert pointer.read_latest(published, "spec").snapshot == SNAPSHOT
    code, shown = at_a_terminal(tmp_path, b"y\n")
    assert code == 0 and "is withdrawn" in shown
    assert pointer.read_latest(published, "spec").snapshot is None


def test_option_yes_and_scripts_skip_the_question(published: Lake, tmp_path: Path) -> None:
    code, shown = at_a_terminal(tmp_path, b"", "--yes")
    assert code == 0 and "Withdraw" not in shown
    pointer.restore(published, SNAPSHOT, "it was all there")
    done = subprocess.run(
        [sys.executable, "-m", "s2corpus", *ARGUMENTS, "--lake", str(tmp_path)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "Withdraw" not in done.stdout + done.stderr and pointer.read_latest(published, "spec").snapshot is None
