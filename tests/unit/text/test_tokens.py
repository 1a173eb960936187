"""The kernels that look up words agree with their definitions: published hashes, split bytes, and a dictionary of shares."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.text import tokens, word_hashes

MASK = (1 << 64) - 1


@pytest.mark.parametrize(
    ("word", "published"),
    [(b"", 0xCBF29CE484222325), (b"a", 0xAF63DC4C8601EC8C), (b"foobar", 0x85944171F73967E8)],
)
def test_words_are_hashed_by_fnv_1a(word: bytes, published: int) -> None:
    """Check the values that the authors publish (draft-eastlake-fnv, appendix C)."""
    found = word_hashes.FNV
    for byte in word:
        found = np.uint64(word_hashes.fnv_step(found, np.uint32(byte)))
    assert int(found) == published
    mixed = published ^ published >> 32
    mixed = mixed * 0x9E3779B97F4A7C15 & MASK
    mixed = (mixed ^ mixed >> 29) | 1 << 63
    assert int(word_hashes.finalize(found)) == int(tokens._hash(np.frombuffer(word, np.uint8))) == mixed


def test_hashes_are_mixed_by_splitmix64() -> None:
    """Check the first value for the seed 0 (Vigna's splitmix64.c), after removing the constant that is added to the second hash."""
    added = np.uint64(-0x165667B19E3779F9 & MASK)
    assert int(word_hashes.mix(np.uint64(0), added)) == 0
    assert int(word_hashes.mix(np.uint64(1), added)) == 0xE220A8397B1DCDAF


LISTED = {"a": -1.5, "b": -2.25, "ab": -3.0, "...": -4.0, "[": -5.0, "@": -6.0, "{": -7.0, "`": -8.0, "é": -9.0}
BYTES = st.lists(
    st.sampled_from([b"a", b"A", b"b", b"B", b"Z", b"[", b"@", b"{", b"`", b"...", "é".encode(), b"\x80", b"\x7f", b"\x00"])
    | st.sampled_from([bytes([n]) for n in (8, 9, 10, 11, 12, 13, 14, 27, 28, 29, 30, 31, 32, 33)])
).map(b"".join)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(BYTES, max_size=4))
def test_ascii_words_are_summed_and_others_listed(texts: list[bytes]) -> None:
    """Check sums text by text, up to a zero byte; words are separated as in `str.split`."""
    table = tokens.ShareTable.from_shares(LISTED, -20.0)
    given = np.frombuffer(b"".join(texts), np.uint8)
    ends = np.cumsum([0, *map(len, texts)])[1:]
    totals, counts, others = tokens._sum_ascii_shares(given, ends, table.hashes, table.shares, -20.0)
    found = [(text, given[start:end].tobytes()) for text, start, end in others.tolist()]
    for number, data in enumerate(texts):
        words = [word for word in re.split(rb"[\x09-\x0d\x1c-\x20]", data.partition(b"\0")[0]) if word]
        plain = [word.decode().lower() for word in words if word.isascii()]
        assert counts[number] == len(plain)
        assert totals[number] == sum(LISTED.get(word, -20.0) for word in plain)
        assert [word for text, word in found if text == number] == [word for word in words if not word.isascii()]


@given(st.dictionaries(st.text("abcé", min_size=0, max_size=4), st.integers(-30, -1).map(float), max_size=70))
def test_every_word_has_its_share(shares: dict[str, float]) -> None:
    table = tokens.ShareTable.from_shares(shares, -50.0)
    size = len(table.hashes)
    assert size & (size - 1) == 0 and 2 * sum(map(str.isascii, shares)) <= size <= 256
    for word in {*shares, "d", "ad", "dddd"} - {""}:
        found = (
            table.other[word]
            if not word.isascii()
            else tokens._look_up_lowercased(word, table)
            if word in shares
            else -50.0
        )
        assert tokens.sum_shares([word], table) == [(shares.get(word, -50.0), 1)], (word, found)


def test_lookup_wraps_around_the_end_of_the_table() -> None:
    """Check that words hashed to the last slot of a table wrap around to its first slots and are found there."""
    words = [f"w{n}" for n in range(4_000)]
    last = [word for word in words if int(tokens._hash(np.frombuffer(word.encode(), np.uint8))) & 7 == 7][:4]
    table = tokens.ShareTable.from_shares({word: float(-n - 1) for n, word in enumerate(last)}, -50.0)
    assert len(table.hashes) == 8 and np.flatnonzero(table.hashes).tolist() == [0, 1, 2, 7]
    assert [tokens._look_up_lowercased(word, table) for word in last] == [-1.0, -2.0, -3.0, -4.0]


def test_kelvin_sign_is_looked_up_as_k() -> None:
    """Check lower-casing. A word that becomes ASCII is looked up as ASCII; another word that is not listed is unknown."""
    table = tokens.ShareTable.from_shares({"k": -3.0, "ab": -4.0}, -20.0)
    assert tokens.sum_shares(["\u212a"], table) == [(-3.0, 1)]
    assert tokens.sum_shares(["ж", "", "k"], table) == [(-20.0, 1), (0.0, 0), (-3.0, 1)]
    assert tokens._look_up_lowercased("ж", table) == -20.0


@pytest.mark.parametrize("text", ["", " ", "one two, three.", "é 中文 x", "a" * 5_000, "\ud800 lone", "e\x00f g"])
def test_words_equal_those_of_blingfire(text: str) -> None:
    import blingfire

    readable = text.encode("utf-8", "ignore").decode()
    expected = "" if not readable.strip() else blingfire.text_to_words(readable)
    data, ends = tokens.split_words([text, "after it"])
    assert data[ends[0] :].tobytes().rstrip(b"\0") == b"after it"
    found = data[: ends[0]].tobytes().decode("utf-8", "ignore")
    assert found.partition("\0")[0].split() == expected.partition("\0")[0].split()
    assert math.isfinite(tokens.sum_shares([text], tokens.ShareTable.from_shares(LISTED, -20.0))[0][0])
