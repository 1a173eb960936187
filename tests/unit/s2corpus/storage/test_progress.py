"""A task counts its written rows and files, for its log."""

from __future__ import annotations

from s2corpus.storage.part import count, counting, format_counts


def test_rows_and_files_are_counted_within_a_task() -> None:
    count("links", 1)  # Outside of a task, nothing is counted.
    with counting() as outer:
        assert format_counts(outer) == "no rows"
        for name, n in (("links", 1240), ("files", 0), ("contexts", 60)):
            count(name, n)
        with counting() as inner:
            count("links", 5)
    count("links", 1)
    assert (format_counts(outer), format_counts(inner)) == ("60 contexts, 1,240 links", "5 links")
