"""Keys of unchanged texts are computed once, and the cache contains only the keys of the last release."""

from __future__ import annotations

import logging
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from s2corpus.storage.lake import Lake
from s2corpus.storage.signatures import Signatures


def sign(lake: Lake, *texts: str) -> list[str]:
    """Sign texts as one release does; return the texts for which keys were computed."""
    computed: list[str] = []
    cache = Signatures(lake, "keys")

    def compute(text: str) -> list[int]:
        computed.append(text)
        return [len(text), -1]

    for text in texts:
        assert cache.get_keys(text, partial(compute, text)) == [len(text), -1]
    cache.keep()
    return computed


def test_only_new_texts_are_signed(lake: Lake) -> None:
    assert sign(lake, "a", "bc", "\ud800") == ["a", "bc", "\ud800"]
    etag = lake.etag("keys")
    assert sign(lake, "bc", "a", "\ud800") == [] and lake.etag("keys") == etag
    assert sign(lake, "bc", "def") == ["def"]
    assert sign(lake, "a", "bc", "def") == ["a"], "the last release did not use this key"


def other_columns() -> bytes:
    out = pa.BufferOutputStream()
    pq.write_table(pa.table({"x": [1]}), out)
    return bytes(out.getvalue())


@pytest.mark.parametrize("damage", [b"", b"PAR1", other_columns()])
def test_damaged_cache_is_computed_again(lake: Lake, damage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    lake.put("keys", damage)
    with caplog.at_level(logging.WARNING):
        assert sign(lake, "a") == ["a"]
    assert "keys is damaged" in caplog.text
    assert sign(lake, "a") == []
