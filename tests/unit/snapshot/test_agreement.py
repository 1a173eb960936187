"""The check of an index computes the split from a document's date."""

from __future__ import annotations

from typing import Any

import pytest

from s2corpus.snapshot.agreement import Agreement
from s2corpus.snapshot.documents import IDENTIFIERS
from s2corpus.snapshot.manifest import rules_of
from s2corpus.spec import ReleaseSpec

FIXED = {"kind": "fixed", "train_before": "2022-12-01", "valid_until": "2023-01-03"}
SPEC = ReleaseSpec.model_validate({"name": "small", "split": FIXED})


def row(date: str | None, split: str) -> dict[str, Any]:
    return {
        "id": "1", "date": date, "year": int(date[:4]) if date else None, "split": split, "set": "s2orc", "title": "A title", "sha1": None,
        "text_key": 1, "fields_of_study": [], **dict.fromkeys(IDENTIFIERS),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("date", "split", "says"),
    [
        ("2022-11-30", "train", []),
        ("2022-12-01", "valid", []),
        ("2022-12-01", "train", ["document 1 with date 2022-12-01 is in train; expected valid"]),
        ("2022-11-30", "valid", ["document 1 with date 2022-11-30 is in valid; expected train"]),
        ("2022", "train", []),  # The year is partly before the border and partly after it.
        ("2022", "valid", []),
        (None, "train", []),
        (None, "valid", []),
    ],
)
def test_split_is_compared_where_the_date_gives_one(date: str | None, split: str, says: list[str]) -> None:
    agreement = Agreement({rule.name: rule.value for rule in rules_of(SPEC)}, "2023-01-04T00:00:00+00:00")
    assert list(agreement.add_index([row(date, split)])) == says
