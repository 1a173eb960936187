"""Dates, titles, abstracts and licenses are each normalized in one place (SPEC §3.9)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2orc_parse.bibliography.dates import make_date, parse_date
from s2orc_parse.bibliography.fields import clean_abstract, clean_locator, clean_text, clean_title, parse_licence


@pytest.mark.parametrize(
    ("value", "date", "precision"),
    [
        (1999, "1999", "year"), ("1999", "1999", "year"), ("1999-05", "1999-05", "month"), ("1999-05-31", "1999-05-31", "day"),
        ("1999-05-31T10:00:00Z", "1999-05-31", "day"), ("19990531", "1999-05-31", "day"), ([1999, 5], "1999-05", "month"),
        ("May 1999", "1999-05", "month"), ("31 May 1999", "1999-05-31", "day"), ("May 31, 1999", "1999-05-31", "day"),
        ("1999 May-Jun", "1999-05", "month"), ("1999 Spring", "1999", "year"), ("Winter 2022", "2022", "year"), ("(1999),", "1999", "year"),
        ("1998 Dec-1999 Jan", "1998-12", "month"), ("2001-02-31", "2001-02", "month"), ("2001-13", "2001", "year"),
        ([None], None, None), ("to appear", None, None), ("0000", None, None), (None, None, None), (True, None, None),
    ],
)  # fmt: skip
def test_date_and_precision_are_parsed(value: object, date: str | None, precision: str | None) -> None:
    assert parse_date(value) == (date, precision)


@given(st.integers(1400, 2100), st.none() | st.integers(-1, 14), st.none() | st.integers(-1, 33))
def test_date_is_parsed_back_to_itself(year: int, month: int | None, day: int | None) -> None:
    assert parse_date(make_date(year, month, day)[0]) == make_date(year, month, day)


@given(st.text(max_size=40))
def test_arbitrary_text_does_not_break_the_date_parser(text: str) -> None:
    date, precision = parse_date(text)
    assert (date is None) == (precision is None)


@pytest.mark.parametrize(
    ("value", "title"),
    [
        ("Deep <i>parsing</i> of\n papers &amp; more.", "Deep parsing of papers & more"),
        ("Made in the U.S.A.", "Made in the U.S.A."),
        ("Why x < y and y > z", "Why x < y and y > z"),
        # CINAHL: a letter comments on this.
        ("More on sleep... N Engl J Med. 2009 Jan 29;360(5):544-6", "More on sleep"),
        ("Sleep... and then, 2009; 3:4 beats", "Sleep... and then, 2009; 3:4 beats"),
        ("H<sub>2</sub>O", "H2O"), ("  ", None), (None, None), (7, None), ("a\x00b", "a b"),
        ("On &lt;i&gt;E. coli&lt;/i&gt;", "On E. coli"), ("On &amp;lt;i&amp;gt;E. coli&amp;lt;/i&amp;gt;", "On E. coli"),
        ("R&amp;amp;D", "R&D"), ("Where a<b and c>d", "Where a<b and c>d"), ("p&lt;0.05 but q&gt;0.1", "p<0.05 but q>0.1"),
        ("Parts ::: of it", "Parts of it"),
    ],
)  # fmt: skip
def test_title_is_cleaned(value: object, title: str | None) -> None:
    assert clean_title(value) == title


@pytest.mark.parametrize(
    ("value", "abstract"),
    [
        ("<jats:title>Abstract</jats:title><jats:p>We <jats:italic>parse</jats:italic>.</jats:p>", "We parse."),
        ("Abstract", "Abstract"),
        ("BACKGROUND: We ask. ::: METHODS: We look.", "BACKGROUND: We ask.\nMETHODS: We look."),
        ("std:::cout stays", "std:::cout stays"),
        ("<sec><title>Aim:</title><p>To ask.</p></sec><sec><title>Results</title><p>Much.</p></sec>", "Aim: To ask.\nResults: Much."),
        ("&amp;lt;p&amp;gt;of &amp;lt;i&amp;gt;E. coli&amp;lt;/i&amp;gt;&amp;lt;/p&amp;gt;", "of E. coli"),
    ],
)  # fmt: skip
def test_abstract_has_one_line_per_part(value: str, abstract: str) -> None:
    assert clean_abstract(value) == abstract


@given(st.text(alphabet="<>&;:!-/?[]=\"'ampltgi ", max_size=80))
def test_cleaning_is_idempotent(text: str) -> None:
    assert clean_text("x" * 10_000) == "x" * 3_000
    once = clean_text(text)
    assert once is None or clean_text(once) == once


@pytest.mark.parametrize(
    ("value", "licence"),
    [
        ("http://creativecommons.org/licenses/by/4.0/", "CC-BY-4.0"),
        ("https://creativecommons.org/licenses/by-nc-sa/3.0/us/", "CC-BY-NC-SA-3.0"),
        ("http://arxiv.org/licenses/nonexclusive-distrib/1.0/", "arXiv-nonexclusive-1.0"),
        ("cc-by", "CC-BY"), ("CC BY 4.0", "CC-BY-4.0"), ("cc0", "CC0-1.0"), ("publisher-specific", "publisher-specific"), ("", None),
    ],
)  # fmt: skip
def test_license_is_normalized(value: str, licence: str | None) -> None:
    assert parse_licence(value) == licence


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("12", "12"), (12, "12"), ("Vol. 12", "12"), ("pp. 288–297", "288-297"), ("e01234", "e01234"), ("288 - 297", "288-297"),
        ("S1", "S1"), ("p. 5", "5"), ("", None), ("-", None), (None, None), (True, None),
    ],
)  # fmt: skip
def test_volume_issue_and_pages_are_cleaned(value: object, kept: str | None) -> None:
    assert clean_locator(value) == kept
