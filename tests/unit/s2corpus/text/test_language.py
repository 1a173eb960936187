"""Language detection calls CLD3 as pycld3 does, handles blank text, and stops a vote when the result is certain."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdf2tei.pages.language import UNKNOWN, language
from s2corpus.text.language import TIE, english_probability, english_share, vote_language

ENGLISH = "The results show that the concentration of proteins was well above the expected value in all samples."
GERMAN = "Die Ergebnisse zeigen, dass die Konzentration der Proteine deutlich über dem erwarteten Wert lag."
FRENCH = "Les résultats montrent que la concentration des protéines était nettement supérieure à la valeur attendue."


@pytest.mark.parametrize(
    ("text", "code"),
    [(ENGLISH, "en"), (GERMAN, "de"), (FRENCH, "fr"), (f"{ENGLISH}\ud800\x00", "en"), ("", UNKNOWN), ("\n\t\u00a0\u2003", UNKNOWN)],
)  # fmt: skip
def test_text_has_its_language(text: str, code: str) -> None:
    found, probability = language(text)
    assert (found, probability > 0.9) == (code, code != UNKNOWN)
    assert english_probability(text) == (probability if code == "en" else 0.0)


def test_cld2_returns_the_share_of_english() -> None:
    pytest.importorskip("pycld2")
    assert english_share("The results show") > 0.9 and english_share(GERMAN) == english_share("") == 0.0
    assert 0.3 < english_share(f"{ENGLISH} {GERMAN}") < 0.7
    assert english_share(f"\x00{ENGLISH}\ufffe\ud800") == english_share(ENGLISH)


CELLS = ["0.93", "12 ± 3", "α", "n = 40", "東京"] * 9
"""texts with fewer than ten letters"""


@pytest.mark.parametrize(
    ("texts", "options", "winner", "votes"),
    [
        ([ENGLISH] * 10, {}, "en", {"en": 6}),  # The vote stops when the result is certain.
        ([ENGLISH] * 2 + [GERMAN], {}, "en", {"de": 1, "en": 2}),
        ([ENGLISH, ENGLISH, GERMAN, GERMAN, FRENCH], {}, TIE, {"en": 2, "de": 2, "fr": 1}),
        (["The results", *CELLS], {"min_letters": 10}, "en", {"en": 1}),  # ten letters
        (["It was ours", *CELLS], {"min_letters": 10}, None, {}),  # nine letters
        ([], {}, None, {}),
    ],
)
def test_language_with_most_votes_wins(
    texts: list[str], options: dict[str, Any], winner: str | None, votes: dict[str, int]
) -> None:
    vote = vote_language(texts, 2000, **options)
    assert (vote.language, vote.votes) == (winner, votes)


def test_only_the_first_characters_count() -> None:
    assert vote_language([f"{ENGLISH[:80]} {GERMAN * 5}"], 80).language == "en"
    assert vote_language(["0" * 80 + ENGLISH], 80, min_letters=10).votes == {}


@given(st.lists(st.sampled_from([ENGLISH, GERMAN, FRENCH, ""]), max_size=12))
@settings(max_examples=60)
def test_stopping_early_never_changes_the_winner(texts: list[str]) -> None:
    codes = Counter(language(text)[0] for text in texts)
    best = [code for code, count in codes.items() if count == max(codes.values())]
    expected = None if not texts else best[0] if len(best) == 1 else TIE
    assert vote_language(texts, 2000).language == expected
