"""How callouts are grouped, which style they make, and what is a citation: the borders of each rule of SEMANTICS §3."""

from __future__ import annotations

import pytest

from s2corpus.parse_model import CitationStyle
from s2corpus.tei.callouts import callout_groups, style_of
from s2corpus.tei.text import Draft, Mark

BRACKET, NAME_YEAR, OTHER = CitationStyle.BRACKET, CitationStyle.NAME_YEAR, CitationStyle.OTHER


def draft(text: str) -> Draft:
    """A text with its callouts in ⟦⟧, those of figures in ⟪⟫."""
    plain, marks, start = "", [], 0
    for character in text:
        if character in "⟦⟪":
            start = len(plain)
        elif character in "⟧⟫":
            marks.append(Mark(start, len(plain), "cite" if character == "⟧" else "figure", ()))
        else:
            plain += character
    return Draft(plain, marks=marks)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a ⟦1⟧", ["1"]),
        ("⟦1⟧, ⟦2⟧ and ⟦3⟧; ⟦4⟧–⟦5⟧", ["1, 2 and 3; 4–5"]),
        ("⟦1⟧⟦2⟧⟦3⟧", ["123"]),
        ("⟦1⟧ or ⟦2⟧, ⟦3⟧", ["1", "2, 3"]),
        ("⟦1⟧ ⟪Fig. 1⟫ ⟦2⟧", ["1", "2"]),
    ],
)
def test_callouts_with_separators_between_them_are_one(text: str, expected: list[str]) -> None:
    found = draft(text)
    groups = callout_groups(found)
    assert [found.text[group[0].start : group[-1].end] for group in groups] == expected
    assert [mark for group in groups for mark in group] == [mark for mark in found.marks if mark.kind == "cite"]


def style(*texts: str) -> CitationStyle:
    return style_of([draft(text) for text in texts])


@pytest.mark.parametrize(
    ("bracket", "name_year", "other", "expected"),
    [
        (3, 0, 0, BRACKET),
        (2, 0, 0, OTHER),
        (0, 3, 0, NAME_YEAR),
        (0, 2, 0, OTHER),
        (3, 2, 0, BRACKET),  # more than half
        (3, 0, 3, OTHER),  # exactly half
        (4, 1, 3, OTHER),
        (5, 1, 3, BRACKET),
        (3, 2, 3, OTHER),
        (2, 3, 0, NAME_YEAR),
        (3, 3, 0, OTHER),
        (2, 7, 4, NAME_YEAR),
    ],
)
def test_a_style_is_of_three_callouts_and_more_than_half(
    bracket: int, name_year: int, other: int, expected: CitationStyle
) -> None:
    assert style(*["a ⟦[1]⟧."] * bracket, *["a ⟦(Lee, 2001)⟧."] * name_year, *["a ⟦(1)⟧."] * other) is expected
    assert style(" b ".join(["⟦[1]⟧"] * bracket + ["⟦Lee 2001⟧"] * name_year + ["⟦1⟧"] * other)) is expected


@pytest.mark.parametrize(
    ("callout", "expected"),
    [
        ("a ⟦[1]⟧ b", BRACKET),
        ("a ⟦[1, 2]⟧ b", BRACKET),
        ("a [⟦1⟧] b", BRACKET),
        ("a [ ⟦1⟧ ] b", BRACKET),
        ("[⟦1⟧] b", BRACKET),
        ("a [b ⟦1⟧] b", OTHER),
        ("a ⟦[1,⟧ ⟦2]⟧ b", BRACKET),
        ("a ⟦(Lee, 2001)⟧ b", NAME_YEAR),
        ("a ⟦[Lee, 2001]⟧ b", NAME_YEAR),
        ("a ⟦(Lee, in press)⟧ b", NAME_YEAR),
        ("a ⟦1⟧ b", OTHER),
        ("a ⟦[Lee01]⟧ b", OTHER),
    ],
)
def test_the_style_of_a_callout(callout: str, expected: CitationStyle) -> None:
    assert style(*[callout] * 3) is expected
    said = {BRACKET: "⟦[1]⟧", NAME_YEAR: "⟦Lee 2001⟧", OTHER: "⟦Lee 2001⟧"}[expected]
    found = style(*[callout] * 2, *[said] * 2, *["⟦1⟧"] * (expected is OTHER))
    assert found is (OTHER if expected is OTHER else expected)


@pytest.mark.parametrize(
    "callout", ["a ⟦Lee⟧ b", "a ⟦2001⟧ b", "a ⟦Lee 12⟧ b", "⟦[1]⟧⟦[2]⟧", "⟦[3]⟧ ⟦[9]⟧", "⟦[1]⟧, ⟦[2]⟧"]
)
def test_what_says_nothing_of_the_style(callout: str) -> None:
    """A name, a year, a number with a word; and brackets that follow each other, as GROBID writes a range out, whatever was printed."""
    assert style(*[callout] * 9, *["⟦[1]⟧"] * 3) is BRACKET
    assert style(*[callout] * 9, *["⟦Lee 2001⟧"] * 3) is NAME_YEAR
