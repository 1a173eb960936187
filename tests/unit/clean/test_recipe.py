"""The profile recipe-2024 behaves as the published recipe, including its oddities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from s2corpus.spec import CleanRules
from s2corpus.text.clean import clean_s2ag, clean_s2orc
from s2corpus.text.documents import CleanedDocument
from s2corpus.text.layout import Unit
from s2corpus.text.recipe import merge_paragraphs
from s2corpus.text.unigrams import Unigrams
from tests.unit.clean.conftest import GERMAN, english

Paper = Callable[..., CleanedDocument]


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        pytest.param([("A", "It is so.")], ["\nA\nIt is so."], id="a header is glued before its paragraph"),
        pytest.param([("A", "One is."), ("A", "Two are.")], ["\nA\nOne is.", "Two are."], id="once"),
        pytest.param([("A", None), ("B", "It is.")], ["\nB\nIt is."], id="of consecutive headers the last survives"),
        pytest.param([("A::B", "It is.")], ["\nB\nIt is."], id="so of nested ones"),
        pytest.param(
            [("A", None), ("A", "It is.")], ["\nA\nIt is."], id="a header given on its own is not a second one"
        ),
        pytest.param(
            [("A", "It is."), ("A", None), ("A", "It was.")], ["\nA\nIt is.", "\nA\nIt was."], id="given again"
        ),
        pytest.param([("A", "It is."), ("B", None)], ["\nA\nIt is."], id="a last header is lost"),
        pytest.param([(None, "It is so."), (None, "word")], ["It is so. word"], id="without a space: joined"),
        pytest.param([(None, "It is"), (None, "so it is.")], ["It is so it is."], id="no full stop before: joined"),
        pytest.param(
            [(None, "Is it?"), (None, "It is!"), (None, "So it is.")], ["Is it?", "It is!", "So it is."], id=".?!"
        ),
        pytest.param(
            [(None, "It is (as."), (None, "we saw) so.")], ["It is (as. we saw) so."], id="an open parenthesis"
        ),
        pytest.param(
            [(None, "It (is) so."), (None, "we saw) so.")], ["It (is) so.", "we saw) so."], id="closed before"
        ),
        pytest.param(
            [(None, "It is (as."), (None, "we (saw so.")], ["It is (as.", "we (saw so."], id="not closed after"
        ),
        pytest.param([(None, "It (as."), (None, "we) saw (so.")], ["It (as.", "we) saw (so."], id="opened again after"),
        pytest.param([(None, ""), (None, "It is so.")], [" It is so."], id="after an empty one: joined"),
        pytest.param([(None, "It is so."), (None, "")], ["It is so. "], id="an empty one has no space: joined"),
        pytest.param([("A", ""), ("A", "It is so.")], ["\nA It is so."], id="a header's empty paragraph"),
        pytest.param([("A", "one"), ("A", "two"), ("A", "three")], ["\nA\none two three"], id="again and again"),
        pytest.param([(" A\u0301 ", " e\u0301 is. ")], ["\nÁ\né is."], id="stripped and NFC"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_paragraphs_are_merged_as_in_the_recipe(
    units: list[tuple[str | None, str | None]], expected: list[str]
) -> None:
    assert merge_paragraphs(Unit(*unit) for unit in units) == expected


def sentences(words: int, paragraphs: int = 5) -> list[tuple[str | None, str | None]]:
    each, more = divmod(words, paragraphs)
    return [(None, f"{english(each + (i < more), i)}.") for i in range(paragraphs)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "kept"),
        ({"body": sentences(501)}, "kept"),
        ({"body": sentences(500)}, "short"),  # The count must be more than 500.
        ({"body": sentences(600, 4)}, "few_paragraphs"),
        ({"title": ""}, "kept"),  # Only null counts as missing.
        ({"title": None}, "no_title"),
        ({"abstract": ""}, "kept"),
        ({"abstract": None}, "no_abstract"),
        ({"date": "1970"}, "kept"),
        ({"date": "1969"}, "before_min_year"),
        ({"date": None}, "no_year"),
        ({"body": []}, "short"),
    ],
)
def test_document_has_the_outcome_of_its_first_failed_rule(
    paper: Paper, recipe: CleanRules, unigrams: Unigrams, fields: dict[str, Any], expected: str
) -> None:
    assert clean_s2orc(paper(**{"body": sentences(600), **fields}), recipe, unigrams).outcome == expected


@pytest.mark.parametrize(("paragraphs", "expected"), [(199, "kept"), (200, "long")])
def test_document_of_50_000_words_is_too_long(
    paper: Paper, recipe: CleanRules, unigrams: Unigrams, paragraphs: int, expected: str
) -> None:
    body = [(None, f"{english(250, i)}.") for i in range(paragraphs)]
    assert clean_s2orc(paper(body), recipe, unigrams).outcome == expected


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        ("mitosis", "kept"),
        ("Mitosis", "kept"),
        ("mitosis,", "bad_top_word"),
        ("DNA", "bad_top_word"),  # upper case after the first letter
        ("a", "bad_top_word"),  # A word needs at least two letters.
        ("naïve", "bad_top_word"),  # Only A–Z are allowed.
    ],
)
def test_recipe_tests_form_of_top_word_but_not_share(
    paper: Paper, recipe: CleanRules, unigrams: Unigrams, most: str, expected: str
) -> None:
    body = [*sentences(600), (None, f"{most} " * 200 + "end here.")]
    assert clean_s2orc(paper(body), recipe, unigrams).outcome == expected


@pytest.mark.parametrize(
    ("english_paragraphs", "german_paragraphs", "expected"),
    [(6, 5, "kept"), (6, 6, "not_english"), (6, 7, "not_english")],
)
def test_smallest_language_code_wins_ties(
    paper: Paper, recipe: CleanRules, unigrams: Unigrams, english_paragraphs: int, german_paragraphs: int, expected: str
) -> None:
    body = sentences(600, english_paragraphs) + [(None, GERMAN)] * german_paragraphs  # `de` sorts before `en`.
    assert clean_s2orc(paper(body), recipe, unigrams).outcome == expected


def test_improbable_paragraphs_are_removed_with_their_header(
    paper: Paper, recipe: CleanRules, unigrams: Unigrams
) -> None:
    body = [*sentences(600), ("Residue", "xqz vvkt wqx zzjh."), ("Results", f"{english(20, 9)}.")]
    decision = clean_s2orc(paper(body), recipe, unigrams)
    one, *more = [text for _, text in sentences(600)]
    expected = "\n".join([one or "", *map(str, more), f"\nResults\n{english(20, 9)}."])
    assert decision.text == f"A title of words\n\n{english(60, 99)}\n\n{expected}"


def ag(title: str | None, abstract: str | None, date: str | None, sources: tuple[str, ...]) -> CleanedDocument:
    return CleanedDocument("p", title, abstract, date, None, sources=sources)


LETTERS = "x y z"  # a run of five characters


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "kept"),
        ({"title": "Two words"}, "title_short"),
        ({"title": "Just three words"}, "kept"),
        ({"title": None}, "no_title"),
        ({"abstract": None}, "no_abstract"),
        ({"abstract": ""}, "abstract_not_english"),
        ({"abstract": english(49, 1)}, "abstract_short"),
        ({"abstract": english(50, 1)}, "kept"),
        ({"abstract": english(1000, 1)}, "kept"),
        ({"abstract": english(1001, 1)}, "abstract_long"),
        ({"abstract": f"{GERMAN} " * 4}, "abstract_not_english"),
        ({"date": "1969"}, "before_min_year"),
        ({"date": None}, "no_year"),
        ({"abstract": f"{english(60, 1)} {'DNA ' * 9}"}, "kept"),  # Here upper case is allowed.
        ({"abstract": f"{english(60, 1)} {'l1 ' * 9}"}, "bad_top_word"),
        ({"abstract": f"{english(60, 1)} {'a ' * 9}"}, "spaced_letters"),
        ({"abstract": f"{english(60, 1)} {LETTERS}"}, "spaced_letters"),
        ({"abstract": f"{english(60, 1)} x y"}, "kept"),  # Three characters are fewer than 4.
        # If all sources are crawled, the abstract must contain a run of spaced letters (as published).
        ({"sources": ("MAG", "ScienceParse")}, "spaced_letters"),
        ({"sources": ("MAG",), "abstract": f"{english(60, 1)} {LETTERS}"}, "kept"),
        ({"sources": ()}, "spaced_letters"),
        ({"sources": ("MAG", "Medline")}, "kept"),
    ],
)
def test_titles_and_abstracts_are_cleaned(
    recipe: CleanRules, unigrams: Unigrams, changed: dict[str, Any], expected: str
) -> None:
    values = {"title": "Results of something", "abstract": english(60, 1), "date": "2011", "sources": ("Medline",)}
    assert clean_s2ag(ag(**{**values, **changed}), recipe, unigrams).outcome == expected


def test_empty_title_is_too_short(recipe: CleanRules, unigrams: Unigrams) -> None:
    document = ag("", english(60, 1), "2011", ("Medline",))
    assert clean_s2ag(document, recipe, unigrams).outcome == "title_short"
