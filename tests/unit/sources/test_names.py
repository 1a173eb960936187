"""One parser reads the author names of every source."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.sources import Author
from s2orc_parse.bibliography.names import make_author, parse_authors, parse_name, surname_key


def short(authors: tuple[Author, ...]) -> list[str]:
    return [
        " ".join([a.first, *a.middle]).strip() + "|" + a.last + (f"|{a.suffix}" if a.suffix else "") for a in authors
    ]


@pytest.mark.parametrize(
    ("text", "authors"),
    [
        ("Lo, Kyle; Wang, Lucy Lu", ["Kyle|Lo", "Lucy Lu|Wang"]),
        ("Kyle Lo, Lucy Lu Wang", ["Kyle|Lo", "Lucy Lu|Wang"]),
        ("Kyle Lo and Lucy Lu Wang", ["Kyle|Lo", "Lucy Lu|Wang"]),
        ("A. Blum, M. Furst, and R. J. Lipton", ["A|Blum", "M|Furst", "R J|Lipton"]),
        ("Lo, Kyle and Wang, Lucy Lu", ["Kyle|Lo", "Lucy Lu|Wang"]),  # BibTeX.
        ("Freund, Y., Seung, H. S., & Tishby, N.", ["Y|Freund", "H S|Seung", "N|Tishby"]),
        ("cesa-bianchi, n., y. freund, and m. warmuth.", ["n|cesa-bianchi", "y|freund", "m|warmuth"]),
        ("freund y., schapire r.e.:", ["y|freund", "r e|schapire"]),
        ("Smith JA, Doe B", ["J A|Smith", "B|Doe"]),  # PubMed.
        ("Smith, J.", ["J|Smith"]),
        ("Martin Luther King Jr., Jane Doe", ["Martin Luther|King|Jr", "Jane|Doe"]),
        ("King, Martin Luther, Jr.", ["Martin Luther|King|Jr"]),
        ("Ludwig van Beethoven; García Márquez, Gabriel", ["Ludwig|van Beethoven", "Gabriel|García Márquez"]),
        ("J&#233;r&#244;me Sim&eacute;on et al.", ["Jérôme|Siméon"]),
        ("D.P. Helmbold, J.-P. Serre", ["D P|Helmbold", "J.-P.|Serre"]),
        ("Plato", ["|Plato"]),
        ("", []),
        (" ,; ", []),
        ("123", []),
    ],
)
def test_author_string_is_split_into_names(text: str, authors: list[str]) -> None:
    assert short(parse_authors(text)) == authors


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
    assert found is not None and short((found,)) == [author]


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
