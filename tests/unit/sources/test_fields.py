"""Dates, titles, abstracts and licences, each normalised in one place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.sources.dates import make_date, parse_date
from s2corpus.sources.fields import clean_abstract, clean_text, clean_title, licence_of


@pytest.mark.parametrize(
    ("value", "date", "precision"),
    [
        (1999, "1999", "year"), ("1999", "1999", "year"), ("1999-05", "1999-05", "month"), ("1999-05-31", "1999-05-31", "day"),
        ("1999-05-31T10:00:00Z", "1999-05-31", "day"), ("19990531", "1999-05-31", "day"), ([1999, 5], "1999-05", "month"),
        ("May 1999", "1999-05", "month"), ("31 May 1999", "1999-05-31", "day"), ("May 31, 1999", "1999-05-31", "day"),
        ("1999 May-Jun", "1999-05", "month"), ("1999 Spring", "1999-04", "month"), ("(1999),", "1999", "year"),
        ("1998 Dec-1999 Jan", "1998-12", "month"), ("2001-02-31", "2001-02", "month"), ("2001-13", "2001", "year"),
        ([None], None, None), ("to appear", None, None), ("0000", None, None), (None, None, None), (True, None, None),
        ("12999", None, None), (99999, None, None), ([], None, None), (1999.0, "1999", "year"),
    ],
)  # fmt: skip
def test_dates(value: object, date: str | None, precision: str | None) -> None:
    assert parse_date(value) == (date, precision)


@given(st.integers(1400, 2100), st.none() | st.integers(-1, 14), st.none() | st.integers(-1, 33))
def test_a_date_reads_back_as_itself(year: int, month: int | None, day: int | None) -> None:
    assert parse_date(make_date(year, month, day)[0]) == make_date(year, month, day)


@given(st.text(max_size=40))
def test_no_text_breaks_the_date_parser(text: str) -> None:
    date, precision = parse_date(text)
    assert (date is None) == (precision is None)


@pytest.mark.parametrize(
    ("value", "title"),
    [
        ("Deep <i>parsing</i> of\n papers &amp; more.", "Deep parsing of papers & more"),
        ("[A translated title].", "A translated title"),
        ("Made in the U.S.A.", "Made in the U.S.A."),
        ("Why x < y and y > z", "Why x < y and y > z"),
        ("H<sub>2</sub>O", "H2O"), ("  ", None), (None, None), (7, None), ("a\x00b", "a b"),
    ],
)  # fmt: skip
def test_titles(value: object, title: str | None) -> None:
    assert clean_title(value) == title


def test_abstracts_lose_markup_and_their_own_heading() -> None:
    assert (
        clean_abstract("<jats:title>Abstract</jats:title><jats:p>We <jats:italic>parse</jats:italic>.</jats:p>")
        == "We parse."
    )
    assert clean_abstract("Abstract") == "Abstract"
    assert clean_text("x" * 10_000) == "x" * 3_000


@pytest.mark.parametrize(
    ("value", "licence"),
    [
        ("http://creativecommons.org/licenses/by/4.0/", "CC-BY-4.0"),
        ("https://creativecommons.org/licenses/by-nc-sa/3.0/us/", "CC-BY-NC-SA-3.0"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "CC0-1.0"),
        ("http://arxiv.org/licenses/nonexclusive-distrib/1.0/", "arXiv-nonexclusive-1.0"),
        ("cc-by", "CC-BY"), ("CC BY 4.0", "CC-BY-4.0"), ("cc0", "CC0-1.0"), ("publisher-specific", "publisher-specific"), ("", None),
    ],
)  # fmt: skip
def test_licences(value: str, licence: str | None) -> None:
    assert licence_of(value) == licence
