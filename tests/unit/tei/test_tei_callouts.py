"""Callouts that GROBID marks or misses become the expected citation spans."""

from __future__ import annotations

import re

import pytest

from s2orc_parse.parse_model import CitationStyle
from s2orc_parse.tei.numbers import map_numbers
from tests.unit.tei import teis

# ⟦surface⟧ is a bibr callout without target, ⟦surface|12⟧ has the target #b12, and ⟦surface|figure⟧ has another type.
# Expected: (surface, numbers of the cited entries, counted from 1; 0 is a citation without a known entry).
BRACKET = [
    # As printed, one callout each.
    ("shown ⟦[2]|1⟧ before", [("[2]", [2])]),
    ("shown ⟦[2]⟧ before", [("[2]", [2])]),
    ("shown [2] before", [("[2]", [2])]),
    ("shown [ ⟦5|4⟧ ] before", [("[ 5 ]", [5])]),
    ("method⟦[7]|6⟧.", [("[7]", [7])]),
    ("in ⟦[7]|6⟧, we", [("[7]", [7])]),
    ("(see ⟦[7]|6⟧)", [("[7]", [7])]),
    # Lists in one piece, split by GROBID, or missed.
    ("shown ⟦[1, 2]⟧", [("[1,", [1]), ("2]", [2])]),
    ("shown ⟦[1,|0⟧⟦2]|1⟧", [("[1,", [1]), ("2]", [2])]),
    ("shown ⟦[1,|0⟧ ⟦2]|1⟧", [("[1,", [1]), ("2]", [2])]),
    ("shown [⟦1|0⟧, ⟦2|1⟧]", [("[1,", [1]), ("2]", [2])]),
    ("shown ⟦[22,|21⟧⟦26,|25⟧⟦7,|6⟧⟦9|8⟧].", [("[22,", [22]), ("26,", [26]), ("7,", [7]), ("9]", [9])]),
    ("shown ⟦[1;|0⟧⟦2]|1⟧", [("[1;", [1]), ("2]", [2])]),
    ("shown [3, 9, 12] before", [("[3,", [3]), ("9,", [9]), ("12]", [12])]),
    ("shown ⟦[1 and 2]⟧", [("[1", [1]), ("2]", [2])]),
    ("shown ⟦[3]|2⟧, ⟦[4]|3⟧", [("[3]", [3]), ("[4]", [4])]),
    ("shown ⟦[3]|2⟧⟦[4]|3⟧⟦[5]|4⟧.", [("[3]", [3]), ("[4]", [4]), ("[5]", [5])]),
    ("shown ⟦[see 3, 4]⟧", [("[see 3,", [3]), ("4]", [4])]),
    # Ranges with a hyphen, en dash, em dash or minus, with and without spaces.
    ("shown ⟦[3-5]⟧", [("[3-5]", [3, 4, 5])]),
    ("shown ⟦[3–5]⟧", [("[3–5]", [3, 4, 5])]),
    ("shown ⟦[3—5]⟧", [("[3—5]", [3, 4, 5])]),
    ("shown ⟦[3−5]⟧", [("[3−5]", [3, 4, 5])]),
    ("shown ⟦[3 - 5]⟧", [("[3 - 5]", [3, 4, 5])]),
    ("shown ⟦[3 –5]⟧", [("[3 –5]", [3, 4, 5])]),
    ("shown [3-5] unmarked", [("[3-5]", [3, 4, 5])]),
    ("shown ⟦[3]|2⟧-⟦[5]|4⟧", [("[3]-[5]", [3, 4, 5])]),
    ("shown ⟦[1]|0⟧ and ⟦[3]|2⟧-⟦[5]|4⟧", [("[1]", [1]), ("[3]-[5]", [3, 4, 5])]),
    ("shown ⟦[3]|2⟧ – ⟦[5]|4⟧", [("[3] – [5]", [3, 4, 5])]),
    ("shown ⟦[3]|2⟧- ⟦[5]|4⟧, more", [("[3]- [5]", [3, 4, 5])]),
    ("shown ⟦[1, 3-5, 9]⟧", [("[1,", [1]), ("3-5,", [3, 4, 5]), ("9]", [9])]),
    ("shown ⟦[1,|0⟧⟦3-5,⟧⟦9]|8⟧", [("[1,", [1]), ("3-5,", [3, 4, 5]), ("9]", [9])]),
    ("shown ⟦[1–3, 7–8]⟧", [("[1–3,", [1, 2, 3]), ("7–8]", [7, 8])]),
    ("shown ⟦[28-33]⟧", [("[28-33]", [28, 29, 30])]),  # Only numbers in the bibliography.
    ("shown ⟦[9-3]⟧", [("[9-3]", [0])]),  # The range does not ascend.
    ("shown ⟦[3-300]⟧", [("[3-300]", [0])]),  # The range is too wide.
    # With a place in the cited work.
    ("shown ⟦[20,|19⟧⟦Ch. 26]⟧", [("[20,Ch. 26]", [20])]),
    ("one invokes [13, ⟦Lemma 1]⟧ to", [("[13, Lemma 1]", [13])]),
    ("shown ⟦[4, p. 12]|3⟧", [("[4, p. 12]", [4])]),
    ("shown ⟦[4, § 2]|3⟧", [("[4, § 2]", [4])]),
    # After a name.
    ("⟦Campana et al. [13]⟧ showed", [("[13]", [13])]),
    ("Bi et al. ⟦[6]|5⟧ showed", [("[6]", [6])]),
    # Not citations: the text remains, the span is removed.
    ("policies. ⟦(2)|1⟧ We", []),
    ("for general. [NA] ⟦(6)|5⟧ If", []),
    ("footnote.⟦4|3⟧ We", []),
    ("⟦(1,|0⟧⟦20)|19⟧", []),
    ("see Eq. ⟦(3)|2⟧ for", []),
    ("Eq. ⟦(3)|2⟧ is", []),
    ("Fig. ⟦[3]|2⟧ is", []),
    ("§ ⟦[3]|2⟧ is", []),
    ("see Eqs. ⟦[3]|2⟧ for", []),
    ("see Fig. ⟦[3]|2⟧ for", []),
    ("in Table ⟦[3]|2⟧ for", []),
    ("in Sec. ⟦[3]|2⟧ for", []),
    ("about 10^⟦[3]|2⟧ cells", []),
    ("about 10^[3] cells", []),
    ("an interval [0, 1] of", []),
    ("an interval [1, 10] of", []),
    ("with x ∈ [1, 2] and", []),
    ("with p = [3] and", []),
    ("the entry x[3] of", []),
    ("x[3] of", []),
    ("= [3] of", []),
    ("shown [3]", [("[3]", [3])]),
    ("[3] showed", [("[3]", [3])]),
    ("between [3]", []),
    ("quoting ⟦[and]⟧ offers", []),
    ("Ŷ = 𝐹 ⟦[𝑌 ]⟧, where", []),
    ("published in [2019] by", []),
    ("⟦Li .⟧ Farmers", []),
    # Formulas inside a paragraph do not shift the spans.
    ("a <formula>E = mc</formula> b ⟦[2]|1⟧", [("[2]", [2])]),
]

BIBLIOGRAPHY = (
    teis.named("Smith", 2010, "Smith, A. 2010a. One."),
    teis.named("Smith", 2010, "Smith, A. 2010b. Two."),
    teis.named("Smith", 2012),
    teis.named("Jones", 2011),
    teis.named("van der Berg", 1999),
    teis.named("Müller", 2005),
    teis.named("Lyons", 2011),
    teis.named("O&apos;Neil", 2003),
)
NAME_YEAR = [
    ("as in ⟦(Jones, 2011)|3⟧.", [("(Jones, 2011)", [4])]),
    ("as in ⟦(Jones, 2011)⟧.", [("(Jones, 2011)", [4])]),
    ("⟦Jones (2011)|3⟧ shows", [("Jones (2011)", [4])]),
    ("⟦Jones (2011)⟧ shows", [("Jones (2011)", [4])]),
    ("⟦[Lyons and Waite, 2011]|6⟧", [("[Lyons and Waite, 2011]", [7])]),
    ("⟦(Jones, 2011;|3⟧⟦Müller, 2005)|5⟧", [("(Jones, 2011;", [4]), ("Müller, 2005)", [6])]),
    ("⟦(Jones, 2011; Müller, 2005)⟧", [("(Jones, 2011;", [4]), ("Müller, 2005)", [6])]),
    ("⟦(Jones, 2011; Müller, 2005)|3⟧", [("(Jones, 2011;", [4]), ("Müller, 2005)", [6])]),
    ("⟦Smith et al. (2010a, 2012)⟧", [("Smith et al. (2010a,", [1]), ("2012)", [3])]),
    ("⟦Smith et al. (2010a,|0⟧ ⟦2012)|2⟧", [("Smith et al. (2010a,", [1]), ("2012)", [3])]),
    ("⟦Smith et al. (2010a,⟧ ⟦2012)⟧", [("Smith et al. (2010a,", [1]), ("2012)", [3])]),
    ("⟦(Smith, 2010a,b; Jones 2011)⟧", [("(Smith, 2010a,", [1]), ("b;", [2]), ("Jones 2011)", [4])]),
    ("⟦Smith (2010b)⟧", [("Smith (2010b)", [2])]),
    ("⟦(Smith, 2010)⟧ or", [("(Smith, 2010)", [0])]),  # Two entries match.
    ("Smith ⟦(2012)⟧ says", [("(2012)", [3])]),
    ("⟦(van der Berg, 1999)⟧", [("(van der Berg, 1999)", [5])]),
    ("⟦O'Neil (2003)⟧", [("O'Neil (2003)", [8])]),
    ("⟦Muller (2005)⟧ without its dots", [("Muller (2005)", [6])]),
    ("⟦, Jones 2011)⟧ after a comma", [("Jones 2011)", [4])]),
    ("⟦(Doe, 1997)⟧ is not listed", [("(Doe, 1997)", [0])]),
    ("⟦(Doe, in press)⟧ is to come", [("(Doe, in press)", [0])]),
    ("Jones ( ⟦2011|formula⟧) is illustrative", [("2011", [4])]),
    ("Jones ( ⟦2011|table⟧) is illustrative", []),
    # Not citations.
    ("a footnote. ⟦4⟧ As such", []),
    ("a footnote. ⟦4|3⟧ As such", []),
    ("cases ⟦(1)|0⟧ and", []),
    ("over our training period ⟦(2001 to 2015)⟧.", []),
    ("sizes ⟦-10, 20, 40, 80⟧ and", []),
    ("{'window': ⟦[5,⟧⟦10,⟧⟦15]⟧}", []),
    ("(see ⟦Example 4.1)⟧.", []),
    ("⟦'⟧ alone", []),
]
OTHER = [  # Superscripts and numbers in parentheses: GROBID's links remain, and ranges name each entry.
    ("shown. ⟦1|0⟧ One", [("1", [1])]),
    ("shown ⟦(1)|0⟧.", [("(1)", [1])]),
    ("shown ⟦(4,|3⟧⟦5)|4⟧.", [("(4,", [4]), ("5)", [5])]),
    ("shown. ⟦3,|2⟧⟦11|10⟧", [("3,", [3]), ("11", [11])]),
    ("shown ⟦(3–5)⟧.", [("(3–5)", [3, 4, 5])]),
    ("see Fig. ⟦3|2⟧", []),
    ("shown ⟦(2)|figure⟧ and ⟦(3)|table⟧", []),
]
FILLER = {
    CitationStyle.BRACKET: "".join(f"<p>Known ⟦[{n}]|{n - 1}⟧.</p>" for n in (1, 2, 6, 8, 10, 30)),
    CitationStyle.NAME_YEAR: "<p>Known ⟦(Jones, 2011)|3⟧.</p>" * 8,
    CitationStyle.OTHER: "".join(f"<p>Known ⟦{n}|{n - 1}⟧.</p>" for n in (1, 2, 6, 8, 10, 30)),
}


def xml(text: str) -> str:
    """Return the text with its callouts as `ref` elements."""

    def ref(match: re.Match[str]) -> str:
        surface, _, target = match.group(1).partition("|")
        if target and not target.isdecimal():
            return f'<ref type="{target}">{surface}</ref>'
        return (
            f'<ref type="bibr" target="#b{target}">{surface}</ref>' if target else f'<ref type="bibr">{surface}</ref>'
        )

    return re.sub("⟦(.*?)⟧", ref, text)


def spans(text: str, style: CitationStyle, bibliography: tuple[str, ...]) -> list[tuple[str, list[int]]]:
    """Return the citations of the first paragraph by surface, for a paper in the given style."""
    parse = teis.parse(xml(f"<div><p>{text}</p>{FILLER[style]}</div>"), bibliography)
    assert parse.citation_style is style
    assert not teis.problems(parse)
    assert parse.body_text[0].text == " ".join(
        re.sub("<formula>.*</formula>", "EQUATION", re.sub(r"⟦(.*?)(\|\w+)?⟧", r"\1", text)).split()
    )
    found: dict[tuple[int, str], list[int]] = {}
    for span in parse.body_text[0].cite_spans:
        number = int(span.ref_id.removeprefix("BIBREF")) + 1 if span.ref_id else 0
        found.setdefault((span.start, span.text), []).append(number)
    return [(surface, numbers) for (_, surface), numbers in found.items()]


@pytest.mark.parametrize(("text", "expected"), BRACKET)
def test_bracketed_callouts_become_citation_spans(text: str, expected: list[tuple[str, list[int]]]) -> None:
    assert spans(text, CitationStyle.BRACKET, teis.NUMBERED) == expected


@pytest.mark.parametrize(("text", "expected"), NAME_YEAR)
def test_name_and_year_callouts_become_citation_spans(text: str, expected: list[tuple[str, list[int]]]) -> None:
    assert spans(text, CitationStyle.NAME_YEAR, BIBLIOGRAPHY) == expected


@pytest.mark.parametrize(("text", "expected"), OTHER)
def test_superscript_and_round_callouts_become_citation_spans(text: str, expected: list[tuple[str, list[int]]]) -> None:
    assert spans(text, CitationStyle.OTHER, teis.NUMBERED) == expected


@pytest.mark.parametrize(
    ("callouts", "style"),
    [
        (["[1]", "[2]", "[3, 4]"], "BRACKET"),
        (["[1]", "[2]"], "OTHER"),  # Too few callouts.
        (["(Ann, 2001)", "Bob et al. (2002)", "[Cleo and Dan, 2003]"], "NAME_YEAR"),
        (["(Ann, 2001)", "(Bob, 2002)", "(Cleo, 2003)", "[1]", "[2]", "[3]"], "OTHER"),  # Mixed styles.
        (["1", "2", "3"], "OTHER"),
        (["(1)", "(2)", "(3)"], "OTHER"),
        (["[ABC19]", "[Knu84]", "[LW11]"], "OTHER"),
        ([], "OTHER"),
        (
            ["1", "2", "3", "4", "[5]⟧⟦[6]⟧⟦[7]", "[8]⟧⟦[9]", "[10]⟧⟦[11]", "[12]⟧⟦[13]", "[14]⟧⟦[15]"],
            "OTHER",
        ),  # Superscript numbers.
    ],  # Bracketed ranges that GROBID expanded do not count.
)
def test_style_is_the_majority_of_the_callouts(callouts: list[str], style: str) -> None:
    body = "".join(f"<p>Known ⟦{callout}⟧ fact.</p>" for callout in callouts)
    assert teis.parse(xml(f"<div>{body}</div>"), teis.NUMBERED).citation_style == style


def test_numbers_match_printed_labels_of_the_bibliography() -> None:
    labelled = tuple(
        f'<biblStruct xml:id="b@"><analytic><title level="a">W</title></analytic><note type="raw_reference">[{n}] W.</note></biblStruct>'
        for n in (1, 2, 4, 5, 7)  # GROBID lost entries 3 and 6.
    )
    parse = teis.parse(xml("<div><p>A ⟦[1]⟧ b ⟦[4]⟧ c ⟦[5, 7]⟧ d ⟦[3]⟧.</p></div>"), labelled)
    assert [entry.label for entry in parse.bib_entries] == ["1", "2", "4", "5", "7"]
    assert [(s.text, s.ref_id) for s in parse.body_text[0].cite_spans] == [
        ("[1]", "BIBREF0"), ("[4]", "BIBREF2"), ("[5,", "BIBREF3"), ("7]", "BIBREF4"), ("[3]", None)
    ]  # fmt: skip


@pytest.mark.parametrize("first", ["", "See ⟦Fig. 1|figure⟧. ", "See ⟦[?]⟧. "])
def test_without_labels_numbers_follow_resolved_callouts(first: str) -> None:
    """This also holds after a mark in the same text that resolves no number."""
    # GROBID split entry 3 into three entries.
    split = f"<p>{first}A ⟦[1]|0⟧ b ⟦[2]|1⟧ c ⟦[4]|5⟧ d ⟦[6]|7⟧ e ⟦[3]⟧ f ⟦[5]⟧ g ⟦[7]⟧.</p>"
    parse = teis.parse(xml(f"<div>{split}</div>"), teis.NUMBERED)
    assert [s.ref_id for s in parse.body_text[0].cite_spans if s.text != "[?]"] == [
        "BIBREF0", "BIBREF1", "BIBREF5", "BIBREF7", None, "BIBREF6", "BIBREF8"
    ]  # fmt: skip


def test_without_labels_and_votes_numbers_count_from_one() -> None:
    assert map_numbers([None, None, None], [], 3) == {1: 0, 2: 1, 3: 2}


def test_written_out_superscript_ranges_do_not_count_as_brackets() -> None:
    written_out = "".join(f"<p>Known ⟦[{n}]⟧⟦[{n + 1}]⟧⟦[{n + 2}]⟧ fact.</p>" for n in (1, 2, 3))
    assert teis.parse(xml(f"<div>{written_out}</div>"), teis.NUMBERED).citation_style == "OTHER"


def test_tables_of_callouts_have_at_least_60_cases() -> None:
    assert len(BRACKET) + len(NAME_YEAR) + len(OTHER) >= 60


@pytest.mark.parametrize(
    ("surface", "targets", "expected"),
    [
        ("(Jones, 2011)", "#b3", [("(Jones, 2011)", "BIBREF3")]),
        (
            "(Jones, 2011)",
            "#b3 #b6",
            [("(Jones, 2011)", "BIBREF3"), ("(Jones, 2011)", "BIBREF6")],
        ),  # All entries that the TEI names.
        ("(Jones, 2011)", "#b3 #b99 #b3", [("(Jones, 2011)", "BIBREF3")]),
        ("(Jones, 2011)", "#b99", [("(Jones, 2011)", "BIBREF3")]),  # If no target exists, name and year decide.
        ("(Jones, in press)", "#b3", [("(Jones, in press)", "BIBREF3")]),
        ("Jones", "#b3 #b6", [("Jones", "BIBREF3"), ("Jones", "BIBREF6")]),
    ],
)
def test_callout_with_several_targets_gives_one_span_per_work(
    surface: str, targets: str, expected: list[tuple[str, str]]
) -> None:
    body = f'<div><p>As <ref type="bibr" target="{targets}">{surface}</ref> has.</p>{xml(FILLER[CitationStyle.NAME_YEAR])}</div>'
    found = teis.parse(body, BIBLIOGRAPHY)
    assert not teis.problems(found)
    assert [(span.text, span.ref_id) for span in found.body_text[0].cite_spans] == expected
