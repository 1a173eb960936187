"""E-mail addresses, phone numbers and IP addresses are counted and masked; similar strings are not. Every span still covers its words."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.text import personal
from s2corpus.text.personal import MaskedText, mask_parse, mask_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to ada.lovelace@cs.ox.ac.uk or call +44 1865 270000.", ["ada.lovelace@cs.ox.ac.uk", "+44 1865 270000"]),
        ("Tel.: +1 (650) 253-0000, Fax: (+86) 10 6255 7418", ["+1 (650) 253-0000", "+86) 10 6255 7418"]),
        ("hosted at 131.111.8.46 and 2001:4860:4860::8888.", ["131.111.8.46", "2001:4860:4860::8888"]),
        ("Section 3.2.1.4, version 2.0.10.3, at 12:30:45", []), ("the private 10.0.0.1 and ::1, and 999.1.1.1", []),
        ("syd-2::GFP and lin-31::cre; the ratio 1:2:3:4", []), ("accuracy@5, 3 @ 2 GHz, user@localhost, foo@example.test", []),
        ("x + 12345678901, p = +0.05 (+12 %), +1 234", []),
    ],
)  # fmt: skip
def test_personal_data_in_a_text_is_found_and_masked(text: str, expected: list[str]) -> None:
    found = personal.find_personal_data(text)
    assert [text[place.start : place.end] for place in found] == expected
    masked = text
    for place, data in zip(found, expected, strict=True):
        masked = masked.replace(data, personal.MASKS[place.kind], 1)
    assert mask_text(text) == masked == mask_text(masked)
    assert personal.count_personal_data(masked) == personal.count_personal_data(text)


def test_masking_changes_only_personal_data_of_a_parse() -> None:
    address = "ada@cs.ox.ac.uk"

    def parse(said: str) -> dict[str, Any]:
        text, start = f"By {said} [1]", 4 + len(said)
        span = {"start": start, "end": start + 3, "text": "[1]", "ref_id": "BIBREF0"}
        spans = {key: [span] for key in ("cite_spans", "ref_spans", "unlinked_spans", "eq_spans")}
        table = {"cells": [["x", text], [said]], "cell_cite_spans": [{**span, "row": 0, "column": 1}]}
        paragraph = {"text": text, "section": "A", **spans}
        return {
            "paper_id": address, "title": text, "abstract": [paragraph], "body_text": [paragraph, {"text": "x"}], "back_matter": [],
            "bib_entries": {"BIBREF0": {"title": text, "venue": "", "raw_text": said, "year": 1, "doi": address}},
            "ref_entries": {
                "TABREF0": {"text": text, "html": said, "cite_spans": [span], **table},
                "FIGREF0": {"text": "x", "html": None, "cells": None},
            },
            "article": {"a": [said, 1, None, {"b": said}], "c": 2.5},
        }  # fmt: skip

    assert mask_parse(parse(address)) == parse("|||EMAIL_ADDRESS|||")


def test_span_that_ends_within_personal_data_covers_its_mask() -> None:
    found = MaskedText("By ada@cs.ox.ac.uk and bob@cs.ox.ac.uk, so")
    assert found.text == "By |||EMAIL_ADDRESS||| and |||EMAIL_ADDRESS|||, so"
    assert (found.map_range(0, 4), found.map_range(17, 20), found.map_range(18, 18)) == ((0, 22), (3, 24), (22, 22))


PIECES = st.lists(
    st.sampled_from(["ada@cs.ox.ac.uk", "131.111.8.46", "+44 1865 270000", " in ", " [1] ", "(a, b)", "x"])
)


@given(PIECES, st.data())
def test_spans_move_with_the_masked_text(pieces: list[str], data: st.DataObject) -> None:
    text = " ".join(pieces)
    found = MaskedText(text)
    places = personal.find_personal_data(text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert all(a.end <= b.start for a, b in itertools.pairwise(places))
    (span,) = found.spans([{"start": start, "end": end, "text": text[start:end], "ref_id": "BIBREF0"}])
    assert found.text[span["start"] : span["end"]] == span["text"]
    assert 0 <= span["start"] <= span["end"] <= len(found.text)
    if not any(place.start < end and start < place.end for place in places):
        assert span["text"] == text[start:end]
