"""The data card's head has the format of the Hub (Hub docs: Dataset Cards), and every published column has a description.

The sample records of the card contain no markup, and no text whose license forbids copies or changes.
"""

import json

import pytest
import yaml

from s2corpus.snapshot import documents, hub
from s2corpus.snapshot.report import format_record, may_show, shorten_record
from s2corpus.tables.published import describe_column


def test_names_in_head_cannot_add_keys() -> None:
    hostile = 'x\n---\n<script>alert(1)</script>\nlicense: mit\n"quoted": {a: 1}'
    head = hub.yaml_head(hostile, {}, [], tags=[hostile], count=1)
    parts = list(yaml.safe_load_all(head))
    assert parts[0]["pretty_name"] == hostile and parts[0]["tags"] == [hostile]
    assert parts[0]["license"] == "other" and len(parts) == 2
    heads = (hub.yaml_head("x", {}, [], tags=[], count=n) for n in (999, 1000, 10**9 - 1, 10**9))
    sizes = [size for head in heads for size in next(yaml.safe_load_all(head))["size_categories"]]
    assert sizes == ["n<1K", "1K<n<10K", "100M<n<1B", "n>1B"]


def test_every_published_column_has_a_description() -> None:
    schemas = {"documents": documents.SCHEMA} | {name: schema for name, (_, schema) in hub.TABLES.items()}
    columns = [(name, column) for name, schema in schemas.items() for column in schema]
    assert [(name, column.name) for name, column in columns if not describe_column(name, column)] == []


# -- sample records


def test_only_licenses_of_free_works_permit_a_sample() -> None:
    """Creative Commons approves CC0, CC BY and CC BY-SA for Free Cultural Works; ND forbids cuts, NC some uses of the card."""
    assert all(map(may_show, ("CC0-1.0", "CC-BY-4.0", "CC-BY-3.0-US", "CC-BY-SA-4.0", "MIT")))
    assert not any(map(may_show, ("CC-BY-ND-4.0", "CC-BY-NC-4.0", "NOASSERTION", "LicenseRef-publisher", "arXiv", "")))


def test_forbidden_texts_are_omitted() -> None:
    document = {"licence": "CC-BY-ND-4.0", "title": "T", "text": "secret", "model_text": None}
    record = shorten_record(document)
    assert "secret" not in str(record) and record["title"] == "T" and record["model_text"] is None


@pytest.mark.parametrize("text", ["```\n<script>", "a\u202eb\u2066c\u200d\ufeff\x7f\x9b", "<!-- & -->", "naïve 中"])
def test_json_has_no_markup_and_no_invisible_characters(text: str) -> None:
    shown = format_record({"text": text})
    assert json.loads(shown) == {"text": text}
    assert not set(shown) & set("<>&`\u202e\u2066\u200d\ufeff\x7f\x9b")
    assert all(line[0] in "{} " for line in shown.split("\n")), "no line can end the code block"
