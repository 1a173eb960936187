"""The head of the data card has the Hub's words for sizes (Hub docs: Dataset Cards, size_categories)."""

from __future__ import annotations

import pytest
import yaml

from s2corpus.snapshot import hub


@pytest.mark.parametrize(
    ("count", "category"),
    [
        (0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (9_999, "1K<n<10K"), (10_000, "10K<n<100K"), (100_000, "100K<n<1M"),
        (999_999, "100K<n<1M"), (10**6, "1M<n<10M"), (10**7 - 1, "1M<n<10M"), (10**7, "10M<n<100M"), (10**8 - 1, "10M<n<100M"),
        (10**8, "100M<n<1B"), (10**9 - 1, "100M<n<1B"), (10**9, "n>1B"),
    ],
)  # fmt: skip
def test_size_category_of_documents(count: int, category: str) -> None:
    head = hub.yaml_head("a name", {}, [], tags=["a"], count=count)
    value = yaml.safe_load(head.strip().strip("-"))
    assert value["size_categories"] == [category]
    assert list(value)[:4] == ["pretty_name", "license", "license_name", "license_link"], "as a person writes them"
    assert head.startswith("---\n") and head.endswith("\n---\n")


def test_names_in_head_cannot_add_keys() -> None:
    hostile = 'x\n---\n<script>alert(1)</script>\nlicense: mit\n"quoted": {a: 1}'
    head = hub.yaml_head(hostile, {}, [], tags=[hostile], count=1)
    documents = list(yaml.safe_load_all(head))
    assert documents[0]["pretty_name"] == hostile and documents[0]["tags"] == [hostile]
    assert documents[0]["license"] == "other" and len(documents) == 2
