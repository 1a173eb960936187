"""The sample records of the data card are short, contain no markup, and no text whose license forbids copies or changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from s2corpus.snapshot.report import format_record, may_show, precedes, shorten_record


def test_only_licenses_of_free_works_permit_a_sample() -> None:
    """Creative Commons approves CC0, CC BY and CC BY-SA for Free Cultural Works; ND forbids cuts, NC some uses of the card."""
    assert all(map(may_show, ("CC0-1.0", "CC-BY-4.0", "CC-BY-3.0-US", "CC-BY-SA-4.0", "MIT")))
    assert not any(map(may_show, ("CC-BY-ND-4.0", "CC-BY-NC-4.0", "NOASSERTION", "LicenseRef-publisher", "arXiv", "")))


def test_license_decides_before_id() -> None:
    free, other, closed = ({"id": id_, "licence": f"CC-BY{nc}-4.0"} for id_, nc in (("b", ""), ("a", ""), ("a", "-NC")))
    assert precedes(free, closed) and not precedes(closed, free)
    assert precedes(other, free) and not precedes(free, other)
    assert precedes(closed | {"licence": "NOASSERTION"}, closed | {"id": "b"}), "licenses that forbid a copy are equal"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None), (0.25, 0.25), ("a" * 160, "a" * 160), ("a" * 161, "a" * 160 + " […]"), ("word " * 40, "word " * 32 + "[…]"),
        ("\n".join("0123456789"), "\n".join("0123456789")), ("a\n" * 10, "a\n" * 10 + "[…]"),
        (["a", "b", "c"], ["a", "b", "c"]), (["a", "b", "c", "d"], ["a", "b", "c", "[…]"]),
    ],
)  # fmt: skip
def test_long_values_are_cut(value: Any, shown: Any) -> None:
    document = {"licence": "CC0-1.0", "text": "t", "model_text": None, "value": value}
    assert shorten_record(document) == {**document, "value": shown}


def test_forbidden_texts_are_omitted() -> None:
    document = {"licence": "CC-BY-ND-4.0", "title": "T", "text": "secret", "model_text": "secret"}
    record = shorten_record(document)
    assert "secret" not in str(record) and record["title"] == "T"
    assert shorten_record({**document, "model_text": None})["model_text"] is None


@pytest.mark.parametrize("text", ["```\n<script>", "a\u202eb\u2066c\u200d\ufeff\x7f\x9b", "<!-- & -->", "naïve 中"])
def test_json_has_no_markup_and_no_invisible_characters(text: str) -> None:
    shown = format_record({"text": text})
    assert json.loads(shown) == {"text": text}
    assert not set(shown) & set("<>&`\u202e\u2066\u200d\ufeff\x7f\x9b")
    assert all(line[0] in "{} " for line in shown.split("\n")), "no line can end the code block"
