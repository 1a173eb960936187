"""The page draws charts and formats numbers correctly."""

from __future__ import annotations

import re

import pytest

from tests.ui import conftest  # noqa: F401 (puts the plugins on the path)


def test_bar_length_is_its_share() -> None:
    from release_page.charts import bar

    drawn = bar([("kept", "kept: 3", 3), ("excluded excluded0", "short: 1", 1)], 4, "kept: 3")
    assert re.findall(r'x="([\d.]+)%" width="([\d.]+)%"', drawn) == [("0.00", "75.00"), ("75.00", "25.00")]


def test_zero_of_zero_is_an_empty_bar() -> None:
    from release_page.charts import bar

    assert 'width="0.00%"' in bar([("kept", "none", 0)], 0, "none")


@pytest.mark.parametrize("values", [[], [None], [0.5], [None, 0.5, None], [0.1, 0.9], [0.0, 0.0]])
def test_line_chart_has_one_mark_per_value(values: list[float | None]) -> None:
    from release_page.charts import line

    drawn = line([(str(i), value) for i, value in enumerate(values)], "a rate")
    marks = re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', drawn)
    assert len(marks) == sum(value is not None for value in values)
    assert all(0 <= float(x) <= 160 and 0 <= float(y) <= 36 for x, y in marks)


def test_each_verdict_has_a_shape_and_words() -> None:
    from release_page.charts import verdicts

    drawn = verdicts([("a", "pass", 0), ("b", "warn", 2), ("c", "block", 9), ("d", "", 0)], "a check")
    assert re.findall(r'<(\w+) class="(\w+)"', drawn)[1:] == [
        ("circle", "pass"),
        ("path", "warn"),
        ("path", "block"),
        ("path", "none"),
    ]
    assert "<title>c: block, 9 offending</title>" in drawn and "d: did not run" in drawn


@pytest.mark.parametrize(
    ("how", "value", "written"),
    [
        ("duration", None, "–"),
        ("duration", 0.04, "0.0 s"),
        ("duration", 59.9, "59.9 s"),
        ("duration", 3599.6, "1 h 00 min"),
        ("duration", 61, "1 min 01 s"),
        ("size", 999, "999 B"),
        ("size", 1000, "1.0 kB"),
        ("size", 123_456_789, "123 MB"),
        ("thousands", 1234567.0, "1,234,567"),
        ("share", 0.8888, "88.9%"),
        ("moment", "2023-01-12T06:00:00.000000Z", "2023-01-12 06:00"),
        ("plain", None, "–"),
        ("plain", ["a", "b"], "a; b"),
        ("plain", [{"first": "Ada", "middle": ["G"], "last": "Tanaka", "suffix": ""}], "Ada G Tanaka"),
        ("plain", {"b": 1}, '{"b": 1}'),
    ],
)
def test_values_are_formatted_for_readers(how: str, value: object, written: str) -> None:
    from release_page import render

    assert getattr(render, how)(value) == written
