"""Each rule that compares names and titles is tested at its limits (S2ORC, Appendix D)."""

from typing import Any

import pytest

from s2corpus.papers.comparison import authors_match, authors_overlap, count_common_names, normalize_title, titles_match


def people(*names: str) -> list[dict[str, Any]]:
    """Return authors from `Given Middle|Last`."""
    parts = [(*(name.partition("|")[0].split() or [""]), name.partition("|")[2]) for name in names]
    return [{"first": first, "middle": middle, "last": last, "suffix": ""} for first, *middle, last in parts]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("J|Smith", "John|Smith", True),
        ("Jo|Smith", "John|Smith", False),  # Not an initial, and not equal.
        ("J A|Smith", "John|Smith", True),  # A missing middle name is no difference.
        ("J A|Smith", "John B|Smith", False),  # Each name has a part that the other lacks.
        ("John J|Smith", "J John|Smith", True),
        ("|Smith", "John|Smith", True),
        ("Smith|J", "J|Smith", True),  # The surname is the last word that is not an initial.
        ("A B|C", "AB|C", True),  # Only the space differs.
        ("Anna Lee|Lee", "Lee|Anna", True),
        ("MWJL|Schmitz", "M W J L|Schmitz", True),  # Four capitals are initials.
        ("MWJL|Schmitz", "Maria Wilhelmina Johanna L|Schmitz", True),
        ("MWJLK|Schmitz", "Maria Wilhelmina Johanna L K|Schmitz", False),  # Five capitals are a word.
        ("BO|LEE", "Bernard O|Lee", False),  # A name in capitals has no initials.
        ("Jean-Pierre|Changeux", "J.-P.|Changeux", True),
        # Both transliterations are tried for the complete name, not per word.
        ("Jürgen|Müller", "Juergen|Muller", False),
        ("Louise|Smith Jr", "Louise|Smith", True),
    ],
)  # fmt: skip
def test_names_match_if_they_can_be_one_person(one: str, other: str, same: bool) -> None:
    assert authors_match(people(one), people(other)) is same is authors_match(people(other), people(one))
    assert count_common_names(people(one), people(other)) == (int(same), 1, 1)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (["A|Bee", "C|Dee"], ["C|Dee", "A|Bee"], False),
        (["A|Bee"], ["A|Bee", "C|Dee"], False),
        (["A|Bee", "|Others"], ["A|Bee", "and|others"], True),  # "et al." is not an author.
        (["|et al."], ["A|Bee"], None),
        (["|PhD"], ["A|Bee"], None),  # A degree is not an author.
    ],
)  # fmt: skip
def test_author_lists_match_in_order(one: list[str], other: list[str], same: bool | None) -> None:
    assert authors_match(people(*one), people(*other)) is same


@pytest.mark.parametrize(
    ("entry", "paper", "share", "overlap"),
    [
        (["A|Bee", "C|Dee"], ["A|Bee", "E|Eff", "G|Gee"], 0.5, True),  # Half of the shorter list matches.
        (["A|Bee", "C|Dee"], ["A|Bee", "E|Eff", "G|Gee"], 0.51, False),
        ([], ["A|Bee"], 0.0, None),
    ],
)
def test_author_lists_overlap_by_share(entry: list[str], paper: list[str], share: float, overlap: bool | None) -> None:
    assert authors_overlap(people(*entry), people(*paper), share) is overlap


def test_each_person_is_counted_once() -> None:
    assert count_common_names(people("A|Bee", "A|Bee", "C|Dee"), people("C|Dee", "A|Bee", "E|Eff")) == (2, 3, 3)
    assert count_common_names(people("A|Bee"), people("A|Bee", "A|Bee")) == (1, 1, 2)


SPELLED = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi psi omega"


def test_greek_letters_are_spelled() -> None:
    assert [normalize_title(letter) for letter in "αβγδεζηθικλμνξοπρστυφχψω"] == SPELLED.split()


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ("Æther & Œuvre × Øre, Łódź: 5% of ħ", "aetherandoeuvrexorelodz5percentofh"),
        ("<i>In vivo</i> H<sub>2</sub>O <mml:math><mml:mi>x</mml:mi></mml:math> <b>b</b> a<c", "invivoh2oxbac"),
        (r"$\mathrm{CO}_2$ \emph{and} \textbf{so} \left(x\right) \alpha", "co2andsoxalpha"),
        ("— …", ""),
    ],
)
def test_normalized_title_ignores_differences_in_print(title: str, plain: str) -> None:
    assert normalize_title(title) == plain


def test_missing_title_neither_matches_nor_differs() -> None:
    assert titles_match(None, "T") is None and titles_match("T", "") is None
