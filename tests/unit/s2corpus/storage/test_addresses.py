"""Valid lake addresses open. Invalid addresses are rejected and never become a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2corpus.errors import UserError
from s2corpus.storage.lake import lake_uri, open_lake


@pytest.mark.parametrize("name", ["lake", "my lake", "läke 100%", "a%20b", "lake#1?", "a:b", "\udcff"])
def test_lake_opens_by_its_own_address(name: str, tmp_path: Path) -> None:
    lake = open_lake(str(tmp_path / name))
    lake.put("a", b"1")
    assert open_lake(lake.root).get("a")[0] == b"1"
    assert open_lake(f"{lake.root}/").root == lake.root
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "address", ["", " ", "s3://", "s3:/bucket", "s3://B", "http://host/lake", "hf://a/b", "file://host/lake", "file://", "a\0b"]
)  # fmt: skip
def test_invalid_address_gives_one_sentence_and_no_folder(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="expected s3://bucket"):
        open_lake(address)
    assert not list(tmp_path.iterdir())


def test_environment_names_the_lake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S2CORPUS_LAKE", "s3://lake/prefix")
    assert lake_uri() == "s3://lake/prefix"
    monkeypatch.setenv("S2CORPUS_LAKE", "")
    with pytest.raises(UserError, match="set S2CORPUS_LAKE"):
        lake_uri()
    monkeypatch.delenv("S2CORPUS_LAKE")
    with pytest.raises(UserError, match="set S2CORPUS_LAKE"):
        lake_uri()
