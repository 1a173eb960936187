"""Masking removes personal data from a text, and every span still covers its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.text import personal
from s2corpus.text.personal import MaskedText, mask_parse, mask_text
from s2orc_parse import jats, tei


def test_masking_changes_only_personal_data_of_a_parse() -> None:
    address, mask = "ada@cs.ox.ac.uk", "|||EMAIL_ADDRESS|||"
    text = f"By {address} [1]"
    span = {"start": 19, "end": 22, "text": "[1]", "ref_id": "BIBREF0"}
    moved = {**span, "start": 23, "end": 26}
    paragraph = {"text": text, "section": "A", "cite_spans": [span], "ref_spans": [], "unlinked_spans": [span]}
    masked_one = {**paragraph, "text": f"By {mask} [1]", "cite_spans": [moved], "unlinked_spans": [moved]}
    cells = [["x", text], [address]]
    parse = {
        "paper_id": address, "title": text, "abstract": [paragraph], "body_text": [paragraph, {"text": "x"}], "back_matter": [],
        "bib_entries": {"BIBREF0": {"title": text, "venue": "", "raw_text": address, "year": 1, "doi": address}},
        "ref_entries": {
            "TABREF0": {"text": text, "html": address, "cells": cells, "cite_spans": [span],
                        "cell_cite_spans": [{**span, "row": 0, "column": 1}]},
            "FIGREF0": {"text": "x", "html": None, "cells": None},
            "TABREF1": {"text": "x", "cells": [["x"]]},
        },
        "article": {"a": [address, 1, None, {"b": address}], "c": 2.5},
    }  # fmt: skip
    masked_cells = [["x", f"By {mask} [1]"], [mask]]
    assert mask_parse(parse) == {
        "paper_id": address, "title": f"By {mask} [1]", "abstract": [masked_one], "body_text": [masked_one, {"text": "x"}],
        "back_matter": [],
        "bib_entries": {"BIBREF0": {"title": f"By {mask} [1]", "venue": "", "raw_text": mask, "year": 1, "doi": address}},
        "ref_entries": {
            "TABREF0": {"text": f"By {mask} [1]", "html": mask, "cells": masked_cells, "cite_spans": [moved],
                        "cell_cite_spans": [{**moved, "row": 0, "column": 1}]},
            "FIGREF0": {"text": "x", "html": None, "cells": None},
            "TABREF1": {"text": "x", "cells": [["x"]]},
        },
        "article": {"a": [mask, 1, None, {"b": mask}], "c": 2.5},
    }  # fmt: skip
    empty: dict[str, Any] = {"body_text": [], "bib_entries": {}, "ref_entries": {}}
    assert mask_parse(empty) == empty


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 3, (0, 3)),
        (3, 18, (3, 22)),  # exactly the address
        (0, 4, (0, 22)),  # A span that ends within the address covers the complete mask.
        (17, 20, (3, 24)),
        (18, 18, (22, 22)),
        (3, 3, (3, 3)),
        (23, 38, (27, 46)),
        (39, 40, (47, 48)),
    ],
)
def test_masked_offset_is_computed(start: int, end: int, expected: tuple[int, int]) -> None:
    found = MaskedText("By ada@cs.ox.ac.uk and bob@cs.ox.ac.uk, so")
    assert found.text == "By |||EMAIL_ADDRESS||| and |||EMAIL_ADDRESS|||, so"
    assert found.map_range(start, end) == expected


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
    (span,) = found.spans([{"start": start, "end": end, "text": text[start:end], "ref_id": "BIBREF0"}])
    assert found.text[span["start"] : span["end"]] == span["text"]
    assert 0 <= span["start"] <= span["end"] <= len(found.text)
    if not any(place.start < end and start < place.end for place in places):
        assert span["text"] == text[start:end]


def list_broken_spans(parse: Mapping[str, Any]) -> Iterator[Any]:
    for value in (*parse["abstract"], *parse["body_text"], *parse["back_matter"], *parse["ref_entries"].values()):
        spans = [
            span for name in ("cite_spans", "unlinked_spans", "ref_spans", "eq_spans") for span in value.get(name, ())
        ]
        placed = [(value["text"], span) for span in spans]
        placed += [(value["cells"][s["row"]][s["column"]], s) for s in value.get("cell_cite_spans", ())]
        yield from (span for text, span in placed if text[span["start"] : span["end"]] != span["text"])


def test_masked_real_articles_have_valid_spans_and_no_addresses(shared_data: Path) -> None:
    """The secretariat of the Rotterdam Study publishes one address for data requests."""
    found = []
    for name in ("pmc-pdf/PMC7906827.nxml", "jats/PMC5828200.nxml", "jats/PMC6398430.nxml"):
        parse = tei.to_s2orc(jats.convert((shared_data / name).read_bytes(), sha1="0" * 40))
        masked = mask_parse(parse)
        assert not list(list_broken_spans(masked))
        before, after = (
            [value["text"] for part in ("abstract", "body_text", "back_matter") for value in one[part]]
            for one in (parse, masked)
        )
        assert [mask_text(text) for text in before] == after
        assert not any(map(personal.find_personal_data, after))
        found += [place for text in before for place in personal.find_personal_data(text)]
    assert len(found) == 1
