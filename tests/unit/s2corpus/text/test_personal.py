"""E-mail addresses, phone numbers and IP addresses are counted and masked; similar strings are not."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.text import personal
from s2corpus.text.personal import mask_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to ada.lovelace@cs.ox.ac.uk or call +44 1865 270000.", ["ada.lovelace@cs.ox.ac.uk", "+44 1865 270000"]),
        ("Tel.: +1 (650) 253-0000, Fax: (+86) 10 6255 7418", ["+1 (650) 253-0000", "+86) 10 6255 7418"]),
        ("hosted at 131.111.8.46 and 2001:4860:4860::8888.", ["131.111.8.46", "2001:4860:4860::8888"]),
        ("Section 3.2.1.4, version 2.0.10.3, at 12:30:45", []),
        ("31.30.29.28 numbers a section, 32.1.2.3 and 8.8.8.32 do not", ["32.1.2.3", "8.8.8.32"]),
        ("2a00:1450:: is too short, 2a00:1450:4001:: is not", ["2a00:1450:4001::"]),
        ("2a00:1450:4001::1 and 2a00:1450:4001::2", ["2a00:1450:4001::1", "2a00:1450:4001::2"]),
        ("a@cs.ox.ac.uk, b@cs.ox.ac.uk", ["a@cs.ox.ac.uk", "b@cs.ox.ac.uk"]),
        (f"{'a' * 64}@cs.ox.ac.uk", [f"{'a' * 64}@cs.ox.ac.uk"]),
        ("the private 10.0.0.1 and ::1, and 999.1.1.1", []),
        ("syd-2::GFP and lin-31::cre; the ratio 1:2:3:4", []),
        ("accuracy@5, 3 @ 2 GHz, user@localhost, foo@example.test", []),
        ("x + 12345678901, p = +0.05 (+12 %), +1 234", []),
        ("", []),
    ],
)
def test_personal_data_in_a_text_is_found_and_masked(text: str, expected: list[str]) -> None:
    found = personal.find_personal_data(text)
    assert [text[place.start : place.end] for place in found] == expected
    masked = text
    for place, data in zip(found, expected, strict=True):
        masked = masked.replace(data, personal.MASKS[place.kind], 1)
    assert mask_text(text) == masked == mask_text(masked)
    assert personal.count_personal_data(masked) == personal.count_personal_data(text)


@given(st.text(alphabet="a1.@:+- (f", max_size=60))
def test_places_are_in_order_and_counted(text: str) -> None:
    found = personal.find_personal_data(text)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    assert sum(personal.count_personal_data(text).values()) == len(found)
