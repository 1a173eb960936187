"""Language detection calls CLD3 as pycld3 does, handles blank text, and stops a vote when the result is certain."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdf2tei.language import UNKNOWN
from s2corpus.text import english_probability, language, languages
from s2corpus.text.language import TIE, english_share, majority

ENGLISH = "The results show that the concentration of proteins was well above the expected value in all samples."
GERMAN = "Die Ergebnisse zeigen, dass die Konzentration der Proteine deutlich über dem erwarteten Wert lag."
FRENCH = "Les résultats montrent que la concentration des protéines était nettement supérieure à la valeur attendue."


@pytest.mark.parametrize(("text", "expected"), [(ENGLISH, "en"), (GERMAN, "de"), (FRENCH, "fr")])
def test_language_of_a_sentence(text: str, expected: str) -> None:
    code, probability = language(text)
    assert code == expected
    assert probability > 0.9


@pytest.mark.parametrize("blank", ["", " ", "\n\t ", "\u00a0\u2003"])
def test_blank_text_has_no_language(blank: str) -> None:
    assert language(blank) == (UNKNOWN, 0.0)


def test_text_that_is_no_unicode_does_not_break_it() -> None:
    assert language(ENGLISH + "\ud800\x00")[0] == "en"


def test_english_probability_is_zero_for_another_language() -> None:
    assert english_probability(ENGLISH) > 0.9
    assert english_probability(GERMAN) == 0.0


def test_the_share_that_cld2_takes_for_english() -> None:
    pytest.importorskip("pycld2")
    assert english_share(ENGLISH) > 0.9 and english_share(GERMAN) == english_share("") == 0.0
    assert english_share("The results show") > 0.9  # The result is the best guess, however short the text.
    assert 0.3 < english_share(f"{ENGLISH} {GERMAN}") < 0.7
    assert (
        english_share(ENGLISH.replace(" ", "\x85"))
        == english_share(f"\x00{ENGLISH}\ufffe\ud800")
        == english_share(ENGLISH)
    )


def test_languages_of_an_array_keep_nulls() -> None:
    found = languages(pa.array([ENGLISH, None, ""])).to_pylist()
    assert found[0]["language"] == "en"
    assert found[1] is None
    assert found[2] == {"language": UNKNOWN, "probability": 0.0}
    assert languages(pa.array([], pa.string())).to_pylist() == []


def test_the_vote_stops_when_it_is_certain() -> None:
    vote = majority([ENGLISH] * 10, 2000)
    assert (vote.language, vote.votes) == ("en", {"en": 6})


def test_every_vote_is_cast_where_all_are_asked_for() -> None:
    vote = majority([ENGLISH] * 10 + [GERMAN], 2000, every=True)
    assert (vote.language, vote.votes) == ("en", {"en": 10, "de": 1})


def test_only_the_first_characters_count() -> None:
    assert majority([f"{ENGLISH[:80]} {GERMAN * 5}"], 80).language == "en"


@pytest.mark.parametrize("texts", [[ENGLISH, GERMAN], [ENGLISH, ENGLISH, GERMAN, GERMAN, FRENCH]])
def test_a_tie_is_no_language(texts: list[str]) -> None:
    assert majority(texts, 2000).language == TIE


def test_a_text_without_ten_letters_does_not_vote() -> None:
    cells = ["0.93", "12 ± 3", "α", "n = 40", "東京"] * 9
    assert majority([ENGLISH, *cells], 2000).language != "en"
    assert majority([ENGLISH, *cells], 2000, min_letters=10, every=True).votes == {"en": 1}
    assert majority(cells, 2000, min_letters=10).language is None


def test_no_texts_have_no_language() -> None:
    assert majority([], 2000).language is None


@given(st.lists(st.sampled_from([ENGLISH, GERMAN, FRENCH, ""]), max_size=12))
@settings(max_examples=60)
def test_stopping_early_never_changes_the_winner(texts: list[str]) -> None:
    codes = Counter(language(text)[0] for text in texts)
    best = [code for code, count in codes.items() if count == max(codes.values())]
    expected = None if not texts else best[0] if len(best) == 1 else TIE
    assert majority(texts, 2000).language == expected
    assert majority(texts, 2000, every=True).votes == dict(sorted(codes.items(), key=lambda v: (-v[1], v[0])))
