"""SPEC §10.13: at a terminal, `corpus yank` asks for confirmation before it withdraws a snapshot; in a script, it does not ask."""

from __future__ import annotations

import os
import pty
import sys
from collections.abc import Callable, Iterator

import click
import pytest

from s2corpus.commands.publishing import yank_command as command
from s2corpus.snapshot import pointer
from s2corpus.storage.lake import Lake

SNAPSHOT = "spec-20230101-00000000"
Yank = Callable[..., str]


@pytest.fixture
def yank(lake: Lake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Yank]:
    """Yield a function that runs the command, at a terminal if there is a typed answer, and returns its output."""
    lake.put(f"snapshots/{SNAPSHOT}/manifest.json", b'{"files": []}')
    pointer.publish(lake, SNAPSHOT)
    ours, theirs = pty.openpty()

    def run(*words: str, answer: bytes | None = None) -> str:
        with os.fdopen(os.dup(theirs)) if answer is not None else open(os.devnull) as stdin:  # noqa: PTH123  # both are streams
            os.write(ours, answer or b"")
            monkeypatch.setattr(sys, "stdin", stdin)
            command.main(
                [SNAPSHOT, "--reason", "half of it was missing", *words, "--lake", lake.root], standalone_mode=False
            )
        return capsys.readouterr().out

    yield run
    os.close(ours)
    os.close(theirs)


def test_answer_no_cancels_and_yes_withdraws(lake: Lake, yank: Yank, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(click.Abort):
        yank(answer=b"n\n")
    assert f"Withdraw {SNAPSHOT} from {lake.root}? [y/N]" in capsys.readouterr().out
    assert pointer.read_latest(lake, "spec").snapshot == SNAPSHOT
    assert "is withdrawn" in yank(answer=b"y\n")
    assert pointer.read_latest(lake, "spec").snapshot is None


def test_option_yes_and_scripts_skip_the_question(lake: Lake, yank: Yank) -> None:
    assert "[y/N]" not in yank("--yes", answer=b"")
    pointer.restore(lake, SNAPSHOT, "it was all there")
    assert "[y/N]" not in yank()
    assert pointer.read_latest(lake, "spec").snapshot is None
