"""Masking takes personal data out of a text, and every span still stands on its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus import jats, tei
from s2corpus.text import personal
from s2corpus.text.masking import Masked, masked, masked_parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to ada.lovelace@cs.ox.ac.uk or call +44 1865 270000.", "Write to |||EMAIL_ADDRESS||| or call |||PHONE_NUMBER|||."),
        ("hosted at 131.111.8.46 and 2001:4860:4860::8888.", "hosted at |||IP_ADDRESS||| and |||IP_ADDRESS|||."),
        ("Section 3.2.1.4, accuracy@5 and syd-2::GFP", "Section 3.2.1.4, accuracy@5 and syd-2::GFP"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_text_without_personal_data(text: str, expected: str) -> None:
    assert masked(text) == expected
    assert masked(expected) == expected
    assert personal.counts(expected) == personal.counts(text)


PIECES = st.lists(
    st.sampled_from(["ada@cs.ox.ac.uk", "131.111.8.46", "+44 1865 270000", " in ", " [1] ", "(a, b)", "x"])
)


@given(PIECES, st.data())
def test_spans_move_with_the_text(pieces: list[str], data: st.DataObject) -> None:
    text = " ".join(pieces)
    found = Masked(text)
    places = personal.places(text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    (span,) = found.spans([{"start": start, "end": end, "text": text[start:end], "ref_id": "BIBREF0"}])
    assert found.text[span["start"] : span["end"]] == span["text"]
    assert 0 <= span["start"] <= span["end"] <= len(found.text)
    if not any(place.start < end and start < place.end for place in places):
        assert span["text"] == text[start:end]


def _broken(parse: Mapping[str, Any]) -> Iterator[str]:
    texts = [*parse["abstract"], *parse["body_text"], *parse["back_matter"], *parse["ref_entries"].values()]
    for value in texts:
        for name in ("cite_spans", "unlinked_spans", "ref_spans", "eq_spans"):
            for span in value.get(name, ()):
                if value["text"][span["start"] : span["end"]] != span["text"]:
                    yield f"{name} {span}"
        for span in value.get("cell_cite_spans", ()):
            if value["cells"][span["row"]][span["column"]][span["start"] : span["end"]] != span["text"]:
                yield f"cell {span}"


def test_real_articles_keep_their_spans_and_lose_their_addresses(shared_data: Path) -> None:
    taken = 0
    for name in ("pmc-pdf/PMC7906827.nxml", "jats/PMC5828200.nxml", "jats/PMC6398430.nxml"):
        parse = tei.to_s2orc(jats.convert((shared_data / name).read_bytes(), sha1="0" * 40))
        without = masked_parse(parse)
        assert not list(_broken(without))
        before, after = (
            [value["text"] for part in ("abstract", "body_text", "back_matter") for value in one[part]]
            for one in (parse, without)
        )
        taken += sum(len(personal.places(text)) for text in before)
        assert [masked(text) for text in before] == after
        assert not any(personal.places(text) for text in after)
    assert taken == 1  # the address of the Rotterdam Study's secretariat, of those who want its data
