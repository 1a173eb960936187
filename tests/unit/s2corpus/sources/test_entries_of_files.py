"""A damaged object of a JSON array is one rejected entry.

An XML element keeps the namespaces of its ancestors (Namespaces in XML 1.0, §6.1).
"""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.sources import Dropped, RejectReason
from s2corpus.sources.json_objects import read_json_objects
from tests.unit.s2corpus.sources.samples import entries

ITEM = '{"id": 1, "title": "On {x}", "authors": [{"last": "A"}, {"last": "B"}], "event": {"name": "x"}, "note": "a"}'


def read_objects(text: str) -> tuple[list[Any], list[Dropped]]:
    found = list(read_json_objects(io.BytesIO(text.encode("utf-8", "surrogateescape"))))
    return [item[1] for item in found if isinstance(item, tuple)], [item for item in found if isinstance(item, Dropped)]


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param(ITEM.replace('x"}, "note', 'x", "note'), id="closing bracket"),
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
        objects, dropped = read_objects(form.format(", ".join(items)))
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
def test_missing_quotation_mark_rejects_one_object(items: list[Any], data: st.DataObject, is_indented: bool) -> None:
    texts = [json.dumps(item, indent=1 if is_indented else None) for item in items]
    damaged = data.draw(st.sets(st.integers(0, len(items) - 1), min_size=1))
    for place in damaged:
        at = data.draw(st.sampled_from([at for at, sign in enumerate(texts[place]) if sign == '"']))
        texts[place] = texts[place][:at] + texts[place][at + 1 :]
    objects, dropped = read_objects(f"[{', '.join(texts)}]")
    assert objects == [item for place, item in enumerate(items) if place not in damaged]
    assert [one.where for one in dropped] == [f"item {place + 1}" for place in sorted(damaged)]
    assert {one.reason for one in dropped} == {RejectReason.MALFORMED}


DUBLIN_CORE = b"""<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"
 xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc='http://purl.org/dc/elements/1.1/'
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><ListRecords>
<record><header><identifier>oai:arXiv.org:1911.02782</identifier></header><metadata><oai_dc:dc xsi:schemaLocation="a b">
<dc:title>A corpus</dc:title><dc:creator>Lo, Kyle</dc:creator><dc:date>2019-11-07</dc:date></oai_dc:dc></metadata></record>
<record><header><identifier>oai:arXiv.org:1903.00002</identifier></header><metadata><oai_dc:dc xmlns:oai_dc="x" xmlns:dc="y">
<dc:title>Slow waves</dc:title></oai_dc:dc></metadata></record></ListRecords></OAI-PMH>"""


@pytest.mark.parametrize("chunk", [1, 50, 1 << 20])
def test_namespaces_of_the_root_apply(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("s2corpus.sources.xml_elements._CHUNK", chunk)
    corpus, waves = entries("arxiv", DUBLIN_CORE)
    assert (corpus.title, waves.title, len(corpus.authors)) == ("A corpus", "Slow waves", 1)
