"""A damaged object of a JSON array is one rejected entry, and no other record is lost."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.sources import Dropped, RejectReason
from s2corpus.sources.json_objects import read_json_objects

ITEM = '{"id": 1, "title": "On {x}", "authors": [{"last": "A"}, {"last": "B"}], "event": {"name": "x"}, "note": "a"}'


def read(text: str) -> tuple[list[Any], list[Dropped]]:
    found = list(read_json_objects(io.BytesIO(text.encode("utf-8", "surrogateescape"))))
    return [item[1] for item in found if isinstance(item, tuple)], [item for item in found if isinstance(item, Dropped)]


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param(ITEM.replace('x"}, "note', 'x", "note'), id="closing bracket"),
        pytest.param(ITEM.replace(", ", " ", 1), id="comma"),
        pytest.param(ITEM.replace('"event": ', ""), id="key"),
        pytest.param(ITEM.replace('"a"', '"{" bad'), id="bracket in a string"),
        pytest.param(ITEM.replace('"a"', '"\udcff"'), id="not UTF-8"),
        pytest.param(ITEM.replace('"a"', "[" * 5000 + "]" * 5000), id="nested too deep"),
    ],
)
@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_damaged_object_is_one_rejected_entry(damaged: str, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("s2corpus.sources.json_objects._CHUNK", chunk)
    good = json.loads(ITEM)
    for items, form in (([damaged, ITEM, ITEM], "[{}]"), ([ITEM, damaged, ITEM], '{{"status": "ok", "items" : [{}]}}')):
        objects, dropped = read(form.format(", ".join(items)))
        assert objects == [good, good]
        assert [(one.reason, one.where) for one in dropped] == [
            (RejectReason.MALFORMED, f"item {number}") for number, item in enumerate(items, 1) if item == damaged
        ]


WORDS = st.text("ab,: ", min_size=1, max_size=4).map("w{}".format)
ITEMS = st.lists(
    st.dictionaries(
        WORDS, WORDS | st.integers() | st.lists(st.fixed_dictionaries({"x": WORDS}), max_size=3), min_size=1
    ),
    min_size=2,
    max_size=6,
)


@given(ITEMS, st.data(), st.booleans())
def test_missing_quotation_mark_rejects_its_object_only(
    items: list[Any], data: st.DataObject, is_indented: bool
) -> None:
    texts = [json.dumps(item, indent=1 if is_indented else None) for item in items]
    damaged = data.draw(st.sets(st.integers(0, len(items) - 1), min_size=1))
    for place in damaged:
        at = data.draw(st.sampled_from([at for at, sign in enumerate(texts[place]) if sign == '"']))
        texts[place] = texts[place][:at] + texts[place][at + 1 :]
    objects, dropped = read(f"[{', '.join(texts)}]")
    assert objects == [item for place, item in enumerate(items) if place not in damaged]
    assert [one.where for one in dropped] == [f"item {place + 1}" for place in sorted(damaged)]
    assert {one.reason for one in dropped} == {RejectReason.MALFORMED}


@pytest.mark.parametrize(
    ("text", "where"),
    [(f"[{ITEM}, {ITEM[:-1]}", "item 2"), (f'[{ITEM}, {{"id": "', "item 2")],
)
def test_array_without_end_has_an_unreadable_rest(text: str, where: str) -> None:
    objects, dropped = read(text)
    assert objects == [json.loads(ITEM)]
    assert [(one.reason, one.where) for one in dropped] == [(RejectReason.UNREADABLE_REST, where)]
