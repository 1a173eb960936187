"""The profile recipe-2024 behaves as the published recipe, including its oddities (SPEC Annex A)."""

from typing import Any

import pytest

from s2corpus_reader.layout import Unit, merge_paragraphs
from tests.unit.s2corpus.stages.clean.samples import GERMAN, RECIPE, TITLE, Body, decide, english, paper, split_evenly


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        pytest.param([("Z::A", "It is so.")], ["\nA\nIt is so."], id="a header is glued before its paragraph"),
        pytest.param([("A", "One is."), ("A", "Two are.")], ["\nA\nOne is.", "Two are."], id="only the first paragraph has the header"),
        pytest.param([("A", None), ("B", "It is.")], ["\nB\nIt is."], id="of consecutive headers the last survives"),
        pytest.param([(None, "It is so."), (None, "word")], ["It is so. word"], id="without a space: joined"),
        pytest.param([(None, "It is"), (None, "so it is.")], ["It is so it is."], id="no full stop before: joined"),
        pytest.param([(None, "Is it?"), (None, "It is!"), (None, "So it is.")], ["Is it?", "It is!", "So it is."], id=".?!"),
        pytest.param([(None, "It is (as."), (None, "we saw) so.")], ["It is (as. we saw) so."], id="an open parenthesis"),
        pytest.param([(None, "(a) b."), (None, "c d) (e."), (None, "f) (g.")], ["(a) b.", "c d) (e.", "f) (g."], id="not open; not closed"),
        pytest.param([(None, ""), (None, "It is so.")], [" It is so."], id="after an empty one: joined"),
        pytest.param([(None, "It is so."), (None, "")], ["It is so. "], id="an empty one has no space: joined"),
        pytest.param([(" A\u0301 ", " e\u0301 is. ")], ["\nÁ\né is."], id="stripped and NFC"),
    ],
)  # fmt: skip
def test_paragraphs_are_merged_as_in_recipe(units: list[tuple[str | None, str | None]], expected: list[str]) -> None:
    assert [block.text for block in merge_paragraphs(Unit(*unit) for unit in units)] == expected


def sentences(words: int, paragraphs: int = 5) -> list[tuple[None, str]]:
    return split_evenly(words, paragraphs, ".")


def repeat(word: str) -> Body:
    return [*sentences(600), (None, f"{word} " * 200 + "end here.")]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "kept"),
        ({"body": sentences(501)}, "kept"),
        ({"body": sentences(500)}, "short"),  # The count must be more than 500.
        ({"body": [(None, f"{english(249, 1)} end.")] * 199 + sentences(249, 1)}, "kept"),
        ({"body": [(None, f"{english(249, 1)} end.")] * 199 + sentences(250, 1)}, "long"),  # 50,000 words
        ({"body": sentences(600, 4)}, "few_paragraphs"),
        ({"body": []}, "short"),
        ({"title": ""}, "kept"),  # Only null counts as missing.
        ({"title": None}, "no_title"),
        ({"abstract": ""}, "kept"),
        ({"abstract": None}, "no_abstract"),
        ({"date": "1970"}, "kept"),
        ({"date": "1969"}, "before_min_year"),
        ({"date": None}, "no_year"),
        # The form of the top word is tested, but not its share.
        ({"body": repeat("Of")}, "kept"),
        ({"body": repeat("DNA")}, "bad_top_word"),  # upper case after the first letter
        ({"body": repeat("a")}, "bad_top_word"),  # A word needs at least two letters.
        ({"body": repeat("naïve")}, "bad_top_word"),  # Only A–Z are allowed.
        # Paragraphs of any length have a vote. The smallest language code wins ties: `de` sorts before `en`.
        ({"body": sentences(600, 6) + [(None, GERMAN)] * 5}, "kept"),
        ({"body": sentences(600, 6) + [(None, GERMAN)] * 6}, "not_english"),
        ({"body": sentences(600, 6) + [(None, "12 ± 3.")] * 7}, "not_english"),
    ],
)
def test_document_has_the_outcome_of_its_first_failed_rule(fields: dict[str, Any], expected: str) -> None:
    assert decide(paper(**{"body": sentences(600), **fields}), rules=RECIPE).outcome == expected


def test_improbable_paragraphs_are_removed_with_their_header() -> None:
    body = [*sentences(600), ("Residue", "xqz vvkt wqx zzjh."), ("Results", f"{english(20, 9)}.")]
    expected = "\n".join([*(text for _, text in sentences(600)), f"\nResults\n{english(20, 9)}."])
    assert decide(paper(body), rules=RECIPE).text == f"{TITLE}\n\n{english(60, 99)}\n\n{expected}"


ABSTRACT = english(60, 1)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "kept"),
        ({"title": "Two words"}, "title_short"),
        ({"title": "Just three words"}, "kept"),
        ({"title": None}, "no_title"),
        ({"abstract": None}, "no_abstract"),
        ({"abstract": english(49, 1)}, "abstract_short"),
        ({"abstract": english(50, 1)}, "kept"),
        ({"abstract": english(1000, 1)}, "kept"),
        ({"abstract": english(1001, 1)}, "abstract_long"),
        ({"abstract": f"{GERMAN} " * 4}, "abstract_not_english"),
        ({"date": "1970"}, "kept"),
        ({"date": "1969"}, "before_min_year"),
        ({"date": None}, "no_year"),
        ({"abstract": f"{ABSTRACT} {'DNA ' * 9}"}, "kept"),  # Here upper case is allowed.
        ({"abstract": f"{ABSTRACT} {'l1 ' * 9}"}, "bad_top_word"),
        ({"abstract": f"{ABSTRACT} {'a ' * 9}"}, "spaced_letters"),
        ({"abstract": f"{ABSTRACT} x y z"}, "spaced_letters"),  # a run of five characters
        ({"abstract": f"{ABSTRACT} x y"}, "kept"),  # Three characters are fewer than 4.
        # If all sources are crawled, the abstract must contain a run of spaced letters (as published).
        ({"sources": ("MAG", "ScienceParse", "Unpaywall", "MergedPDFExtraction", "Anansi", "AdHoc")}, "spaced_letters"),
        ({"sources": ("MAG",), "abstract": f"{ABSTRACT} x y z"}, "kept"),
        ({"sources": ("MAG", "MAGazine")}, "kept"),
    ],
)
def test_abstract_has_the_outcome_of_its_first_failed_rule(fields: dict[str, Any], expected: str) -> None:
    assert decide(paper(**{"abstract": ABSTRACT, **fields}), "s2ag", RECIPE).outcome == expected
