"""A secret is in a variable, or from the file that the variable with the suffix `_FILE` names (docs/deployment.md)."""

import re
from pathlib import Path

import pytest

from s2corpus.catalog import Catalog
from s2corpus.errors import UserError
from s2corpus.secret_files import read_secret

TOKEN = "S2CORPUS_EXTRACTOR_TOKEN"


def test_secret_is_read_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (TOKEN, f"{TOKEN}_FILE"):
        monkeypatch.delenv(name, raising=False)
    assert read_secret(TOKEN) is None
    (tmp_path / "token").write_text("a-b c\n")
    monkeypatch.setenv(f"{TOKEN}_FILE", str(tmp_path / "token"))
    assert read_secret(TOKEN) == "a-b c"
    (tmp_path / "token").chmod(0o644)
    (tmp_path / "token").write_text("rotated")
    assert read_secret(TOKEN) == "rotated"
    monkeypatch.setenv(TOKEN, "of the variable")
    assert read_secret(TOKEN) == "of the variable"


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot be read"), (b"\xff", "cannot be read"), (b" \n", "is empty: write the secret into it")],
)
def test_unreadable_file_is_named(
    content: bytes | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "catalog"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.delenv("S2CORPUS_CATALOG", raising=False)
    monkeypatch.setenv("S2CORPUS_CATALOG_FILE", str(path))
    with pytest.raises(UserError, match=f"S2CORPUS_CATALOG_FILE: {re.escape(str(path))} {message}"):
        Catalog.from_environment()
