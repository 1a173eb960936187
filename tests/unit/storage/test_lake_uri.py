"""The lake is read from the environment."""

from __future__ import annotations

import pytest

from s2corpus.errors import UserError
from s2corpus.storage.lake import lake_uri


@pytest.mark.parametrize("value", [None, ""])
def test_lake_must_be_named(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("S2CORPUS_LAKE", raising=False)
    if value is not None:
        monkeypatch.setenv("S2CORPUS_LAKE", value)
    with pytest.raises(UserError, match="set S2CORPUS_LAKE"):
        lake_uri()


def test_named_lake_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S2CORPUS_LAKE", "s3://lake/prefix")
    assert lake_uri() == "s3://lake/prefix"
