"""A task counts its written rows and files, for its log."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from s2corpus.storage import progress


def test_rows_and_files_are_counted_within_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    progress.count("links", 1)  # Outside of a task, nothing is counted.
    with progress.counting() as outer:
        outer.began = clock[0]
        assert (outer.format_counts(), outer.rate) == ("no rows", 0.0)
        progress.count("links", 1200)
        progress.count("files", 0)
        progress.count("contexts", 60)
        before = outer.counts.copy()
        progress.count("links", 40)
        clock[0] += 10
        assert (outer.format_counts(), outer.format_counts(before)) == ("60 contexts, 1,240 links", "40 links")
        assert (outer.format_counts(Counter()), outer.seconds, outer.rate) == (outer.format_counts(), 10, 130)
        with progress.counting() as inner:
            progress.count("links", 5)
        assert (inner.format_counts(), outer.format_counts(before)) == ("5 links", "40 links")
    progress.count("links", 1)
    assert outer.counts["links"] == 1240
