"""Long work shows a bar with rate and remaining time on a terminal, and nothing elsewhere."""

import io
import sys

import pytest

from s2orc_parse.outputs import ProgressLine, format_progress


@pytest.mark.parametrize(
    ("done", "total", "seconds", "line"),
    [
        (0, 10, 0.0, "a [                    ] 0 of 10 files, 0.0 a second"),
        (5, 10, 10.0, "a [##########          ] 5 of 10 files, 0.5 a second, 10 s left"),
        (10, 10, 5.0, "a [####################] 10 of 10 files, 2.0 a second, 0 s left"),
        (1, 100, 2.0, "a [                    ] 1 of 100 files, 0.5 a second, 3 min 18 s left"),
        (1, 10_000, 1.0, "a [                    ] 1 of 10,000 files, 1.0 a second, 2 h 46 min left"),
        (7, 0, 2.0, "a 7 files, 3.5 a second"),
    ],
)
def test_bar_has_rate_and_remaining_time(done: int, total: int, seconds: float, line: str) -> None:
    assert format_progress("a", done, total, seconds, "files") == line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "is_shown"), [(io.StringIO(), False), (Terminal(), True)])
def test_bar_is_shown_on_a_terminal_only(stream: io.StringIO, is_shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    line = ProgressLine()
    line._last -= 1
    line.show(lambda: "5 of 10")
    line.clear()
    assert ("5 of 10" in stream.getvalue()) is is_shown
    assert is_shown or not stream.getvalue()
