"""One parser reads the author names of every source (SPEC §3.20).

`tests/data/author_names.txt` has lists of names in many languages and forms. The expected form is `given|surname`,
`given|surname|suffix`, or `|name of a group`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.sources import Author
from s2orc_parse.bibliography.names import make_author, parse_authors, parse_name, surname_key

LISTS = (Path(__file__).parents[3] / "data" / "author_names.txt").read_text("utf-8").splitlines()


def short(author: Author) -> str:
    given_names = " ".join([author.first, *author.middle]).strip()
    return "|".join(filter(None, (f"{given_names}|{author.last}", author.suffix)))


@pytest.mark.parametrize("line", LISTS, ids=lambda line: line.split(" => ")[0].encode("ascii", "replace").decode())
def test_author_string_is_split_into_names(line: str) -> None:
    text, _, expected = line.partition(" => ")
    assert "; ".join(map(short, parse_authors(text))) == expected


@pytest.mark.parametrize(
    ("given_name", "family", "suffix", "author"),
    [
        ("Lucy Lu", "Wang", None, "Lucy Lu|Wang"),
        ("Sammy", "Davis", "Jr.", "Sammy|Davis|Jr"),
        ("", "Gates, Bill", None, "Bill|Gates"),  # Crossref: the complete name in one field.
        ("Bill Gates", "", None, "Bill|Gates"),
        ("", "The ATLAS Collaboration", None, "|The ATLAS Collaboration"),
    ],
)
def test_separate_name_parts_become_an_author(given_name: str, family: str, suffix: str | None, author: str) -> None:
    found = make_author(given_name, family, suffix)
    assert found is not None and short(found) == author


def test_surnames_are_compared_without_accents_hyphens_and_case() -> None:
    keys = {surname_key(parse_name(name)) for name in ("Hector Garcia-Molina", "H. García-Molina", "H. GARCIA-MOLINA")}  # type: ignore[arg-type]  # each name is readable
    assert keys == {"garciamolina"}


@settings(max_examples=100)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_arbitrary_text_gives_named_authors(text: str) -> None:
    for author in parse_authors(text):
        assert author.last or author.first


@given(
    st.lists(
        st.tuples(st.sampled_from(["Ada", "Kyle", "Lucy Lu"]), st.sampled_from(["Lovelace", "Lo", "Wang"])),
        min_size=2,
        max_size=5,
    )
)
def test_usual_forms_give_equal_authors(names: list[tuple[str, str]]) -> None:
    inverted = "; ".join(f"{last}, {first}" for first, last in names)
    natural = ", ".join(f"{first} {last}" for first, last in names)
    joined = " and ".join(f"{first} {last}" for first, last in names)
    assert parse_authors(inverted) == parse_authors(natural) == parse_authors(joined)
