"""Callouts are grouped, set the citation style and become citations by the rules of SPEC §3.10–3.16.

Each rule is tested at its limits.
"""

from __future__ import annotations

import pytest

from s2orc_parse.parse_model import CitationStyle
from s2orc_parse.tei.callouts import detect_style, group_marks
from s2orc_parse.tei.text import ReferenceMark, TextDraft
from tests.unit.tei import teis
from tests.unit.tei.test_tei_callouts import BIBLIOGRAPHY, FILLER, spans, xml

BRACKET, NAME_YEAR, OTHER = CitationStyle.BRACKET, CitationStyle.NAME_YEAR, CitationStyle.OTHER


def draft(text: str) -> TextDraft:
    """Return a text with bibr callouts in ⟦⟧ and figure callouts in ⟪⟫."""
    plain, marks, start = "", [], 0
    for character in text:
        if character in "⟦⟪":
            start = len(plain)
        elif character in "⟧⟫":
            marks.append(ReferenceMark(start, len(plain), "cite" if character == "⟧" else "figure", ()))
        else:
            plain += character
    return TextDraft(plain, marks=marks)


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
def test_callouts_with_separators_form_one_group(text: str, expected: list[str]) -> None:
    found = draft(text)
    groups = group_marks(found)
    assert [found.text[group[0].start : group[-1].end] for group in groups] == expected
    assert [mark for group in groups for mark in group] == [mark for mark in found.marks if mark.kind == "cite"]


def style(*texts: str) -> CitationStyle:
    return detect_style([draft(text) for text in texts])


@pytest.mark.parametrize(
    ("bracket", "name_year", "other", "expected"),
    [
        (3, 0, 0, BRACKET),
        (2, 0, 0, OTHER),
        (0, 3, 0, NAME_YEAR),
        (0, 2, 0, OTHER),
        (3, 2, 0, BRACKET),  # More than half.
        (3, 0, 3, OTHER),  # Exactly half.
        (4, 1, 3, OTHER),
        (5, 1, 3, BRACKET),
        (3, 2, 3, OTHER),
        (2, 3, 0, NAME_YEAR),
        (3, 3, 0, OTHER),
        (2, 7, 4, NAME_YEAR),
    ],
)
def test_style_needs_three_callouts_and_a_majority(
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
        ("a ⟦[1]⟧, ⟦[2]⟧ b", BRACKET),
        ("a ⟦[3]⟧-⟦[5]⟧ b", BRACKET),
        ("a ⟦(Lee, 2001)⟧ b", NAME_YEAR),
        ("a ⟦[Lee, 2001]⟧ b", NAME_YEAR),
        ("a ⟦(Lee, in press)⟧ b", NAME_YEAR),
        ("a ⟦1⟧ b", OTHER),
        ("a ⟦[Lee01]⟧ b", OTHER),
    ],
)
def test_callout_has_its_style(callout: str, expected: CitationStyle) -> None:
    assert style(*[callout] * 3) is expected
    said = {BRACKET: "⟦[1]⟧", NAME_YEAR: "⟦Lee 2001⟧", OTHER: "⟦Lee 2001⟧"}[expected]
    found = style(*[callout] * 2, *[said] * 2, *["⟦1⟧"] * (expected is OTHER))
    assert found is (OTHER if expected is OTHER else expected)


@pytest.mark.parametrize("callout", ["a ⟦Lee⟧ b", "a ⟦2001⟧ b", "a ⟦Lee 12⟧ b", "⟦[1]⟧⟦[2]⟧", "⟦[3]⟧ ⟦[9]⟧"])
def test_unclear_callouts_do_not_count_for_the_style(callout: str) -> None:
    """These do not count: a name, a year, a number with a word, and adjacent brackets.

    GROBID writes adjacent brackets for an expanded range, regardless of the printed form.
    """
    assert style(*[callout] * 9, *["⟦[1]⟧"] * 3) is BRACKET
    assert style(*[callout] * 9, *["⟦Lee 2001⟧"] * 3) is NAME_YEAR


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Indices of variables with one or two letters are not citations; powers and similar numbers are not either.
        ("the ab[3] of", []),
        ("the abc[3] of", [("[3]", [3])]),
        ("the (ab[3] of", []),
        ("the (abc[3] of", [("[3]", [3])]),
        ("ab[3] of", []),
        ("a ab, [3] of", [("[3]", [3])]),
        ("a ab)[3] of", [("[3]", [3])]),
        ("shown [3]^2", []),
        ("shown [3]_2", []),
        ("shown [3]×2", []),
        ("shown [3]*2", []),
        ("shown [3]+2", [("[3]", [3])]),
        ("in the range of [1, 2]", []),
        ("values in [1]", []),
        ("the values [1]", [("[1]", [1])]),
        # Unmarked: only if the bibliography has every number.
        ("shown [30] before", [("[30]", [30])]),
        ("shown [31] before", []),
        ("shown [3, 31] before", []),
        ("shown [9-3] before", []),
        # Marked: a number that the bibliography lacks links to the TEI's target, or is unlinked.
        ("shown ⟦[99]|3⟧ before", [("[99]", [4])]),
        ("shown ⟦[99]⟧ before", [("[99]", [0])]),
        ("shown ⟦[98,|3⟧⟦99]|4⟧ before", [("[98,", [4]), ("99]", [5])]),
        ("shown ⟦[98, 2]|3⟧ before", [("[98,", [4]), ("2]", [2])]),
        # Other callouts that touch a group.
        ("by ⟦Lee|5⟧[3]", [("Lee", [6]), ("[3]", [3])]),
        ("by [3]⟦Lee|5⟧", [("[3]", [3]), ("Lee", [6])]),
        ("by ⟦Lee|5⟧ in ⟦[3]|2⟧ and ⟦Kim|6⟧", [("Lee", [6]), ("[3]", [3]), ("Kim", [7])]),
        ("by ⟦[*]|2⟧", [("[*]", [3])]),
        ("by ⟦*|2⟧", []),
        ("by ⟦, ; Lee|5⟧", [("Lee", [6])]),
        ("by ⟦, ;|5⟧", []),
    ],
)
def test_bracket_paper_has_these_citations(text: str, expected: list[tuple[str, list[int]]]) -> None:
    assert spans(text, BRACKET, teis.NUMBERED) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Several years: each work links by name and year. The TEI's target goes to the first work that it can mean.
        ("⟦(Doe, 1997; Jones, 2011)|5⟧", [("(Doe, 1997;", [6]), ("Jones, 2011)", [4])]),
        ("⟦(Jones, 2011; Doe, 1997)|5⟧", [("(Jones, 2011;", [4]), ("Doe, 1997)", [6])]),
        ("⟦(Jones, 2011; Müller, 2005)|2⟧", [("(Jones, 2011;", [3]), ("Müller, 2005)", [6])]),
        ("⟦(Jones, 2011; Müller, 2005)|5⟧", [("(Jones, 2011;", [4]), ("Müller, 2005)", [6])]),
        ("⟦(Jones, 2011)|5⟧", [("(Jones, 2011)", [6])]),
        ("⟦Jones|3⟧ has", [("Jones", [4])]),
        ("⟦Jones⟧ has", []),
        ("⟦2011|3⟧ was", [("2011", [4])]),
        ("⟦2011⟧ was", []),
        ("in ⟦(in press)⟧", [("(in press)", [0])]),
        ("see Table ⟦(Jones, 2011)⟧", []),
        ("⟦[3]|2⟧ says", []),
    ],
)
def test_name_year_paper_has_these_citations(text: str, expected: list[tuple[str, list[int]]]) -> None:
    assert spans(text, NAME_YEAR, BIBLIOGRAPHY) == expected


@pytest.mark.parametrize(("resolved", "expected"), [(2, None), (3, "BIBREF4")])
def test_numbers_of_other_styles_link_after_three_resolved_callouts(resolved: int, expected: str | None) -> None:
    known = "".join(f"<p>Known ⟦{n}|{n - 1}⟧.</p>" for n in range(1, resolved + 1))
    parse = teis.parse(xml(f"<div><p>As ⟦(5)⟧ says.</p>{known}</div>"), teis.NUMBERED)
    assert parse.citation_style is OTHER
    assert [(span.text, span.ref_id) for span in parse.body_text[0].cite_spans] == [("(5)", expected)]


def test_alphanumeric_labels_link_to_their_entries() -> None:
    entries = tuple(
        f'<biblStruct xml:id="b@"><note type="raw_reference">[{label}] W.</note></biblStruct>'
        for label in ("Lee01", "Kim02", "Lee01")
    )
    parse = teis.parse(xml("<div><p>As ⟦[Kim02]⟧, ⟦[Lee01]⟧ and ⟦[Doe03]⟧ or ⟦[Doe03]|1⟧ say.</p></div>"), entries)
    assert [(span.text, span.ref_id) for span in parse.body_text[0].cite_spans] == [
        ("[Kim02]", "BIBREF1"), ("[Lee01]", "BIBREF0"), ("[Doe03]", None), ("[Doe03]", "BIBREF1"),
    ]  # fmt: skip


def test_only_resolved_single_numbers_place_the_numbering() -> None:
    """In a paper with brackets, numbers in parentheses do not count."""
    known = "".join(f"<p>Known ⟦[{n}]|{n + 1}⟧.</p>" for n in (1, 2, 6, 8))
    odd = "<p>So ⟦(3)|20⟧ and ⟦[3, 4]|21⟧, ⟦[3]|99⟧ and <ref type='bibr' target='#b9 #b11'>[3]</ref>.</p>"
    parse = teis.parse(xml(f"<div><p>As ⟦[3]⟧ says.</p>{known}{odd}</div>"), teis.NUMBERED)
    assert [(span.text, span.ref_id) for span in parse.body_text[0].cite_spans] == [("[3]", "BIBREF4")]


def test_reference_spans_are_distinct_and_never_overlap_citations() -> None:
    figure = "<figure xml:id='fig_0'><head>Figure 2</head></figure>"
    mark = "<ref type='figure' target='#fig_0'>Fig. 2</ref>"
    for body, expected in (
        (f"see {mark} and Fig. 2, Fig. 2", [(4, "Fig. 2"), (15, "Fig. 2"), (23, "Fig. 2")]),
        ("see ⟦Jones 2011 in Fig. 2|3⟧ and Fig. 2", [(29, "Fig. 2")]),
        ("see Fig. ⟦2|figure⟧ so", [(9, "2")]),
    ):
        parse = teis.parse(xml(f"<div><p>{body}</p>{FILLER[NAME_YEAR]}</div>{figure}"), BIBLIOGRAPHY)
        assert [(span.start, span.text) for span in parse.body_text[0].ref_spans] == expected
        assert {span.ref_id for span in parse.body_text[0].ref_spans} == {"FIGREF0"}
