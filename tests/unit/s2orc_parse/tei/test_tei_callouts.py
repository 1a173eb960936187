"""Callouts that GROBID marks or misses set the citation style and become citation spans (SPEC §3.10–3.16)."""

import re
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2orc_parse.parse_model import CitationStyle
from s2orc_parse.tei.numbers import map_numbers
from tests.unit.s2orc_parse.tei import teis

# ⟦surface⟧ is a bibr callout without target, ⟦surface|12⟧ has the target #b12, and ⟦surface|figure⟧ has another type.
# Expected: (surface, numbers of the cited entries, counted from 1; 0 is a citation without a known entry).
BRACKET = [
    # As printed, one callout each.
    ("shown ⟦[2]|1⟧ before", [("[2]", [2])]),
    # Lists in one piece, split by GROBID, or missed.
    ("shown ⟦[1,|0⟧ ⟦2]|1⟧", [("[1,", [1]), ("2]", [2])]),
    # Ranges with a hyphen, en dash, em dash or minus, with and without spaces.
    ("shown ⟦[1, 3–5, 9]⟧", [("[1,", [1]), ("3–5,", [3, 4, 5]), ("9]", [9])]),
    ("shown ⟦[3—5]⟧", [("[3—5]", [3, 4, 5])]),
    ("shown ⟦[3 - 5]⟧", [("[3 - 5]", [3, 4, 5])]),
    ("shown ⟦[3]|2⟧ – ⟦[5]|4⟧", [("[3] – [5]", [3, 4, 5])]),
    ("shown ⟦[28-33]⟧", [("[28-33]", [28, 29, 30])]),  # Only numbers in the bibliography.
    ("[1, 2;3 and 4 & 5]", [("[1,", [1]), ("2;", [2]), ("3", [3]), ("4", [4]), ("5]", [5])]),
    # A range contains every number from its first to its last. It must ascend and have at most a hundred more.
    ("⟦[4-4]⟧", [("[4-4]", [0])]),
    ("⟦[7-107]⟧", [("[7-107]", list(range(7, 31)))]),
    ("⟦[7-108]⟧", [("[7-108]", [0])]),
    ("⟦[7]⟧-⟦[107]⟧", [("[7]-[107]", list(range(7, 31)))]),
    ("⟦[7]⟧-⟦[108]⟧, ⟦[5]⟧-⟦[3]⟧", [("[7]", [7]), ("[108]", [0]), ("[5]", [5]), ("[3]", [3])]),
    # With a place in the cited work.
    ("shown ⟦[20,|19⟧⟦Ch. 26]⟧", [("[20,Ch. 26]", [20])]),
    # After a name.
    ("⟦Campana et al. [13]⟧ showed", [("[13]", [13])]),
    ("by ⟦, ; Lee|5⟧", [("Lee", [6])]),
    # Not citations: the text remains, the span is removed.
    ("policies. ⟦(2)|1⟧ We see.⟦4|3⟧ So ⟦5|4⟧ is", []),
    ("see Fig. ⟦[3]|2⟧, Eq. ⟦[3]|2⟧, Table ⟦[3]|2⟧ and Sec. ⟦[3]|2⟧ for", []),
    ("about 10^⟦[3]|2⟧ cells", []),
    # Formulas inside a paragraph do not shift the spans.
    ("a <formula>E = mc</formula> b ⟦[2]|1⟧", [("[2]", [2])]),
    # Not citations: intervals.
    ("in the range of [1, 2]", []),
    # Unmarked: only if the bibliography has every number.
    ("shown [30] before", [("[30]", [30])]),
    ("shown [3, 31] before", []),
    # Marked: a number that the bibliography lacks links to the TEI's target, or is unlinked.
    ("shown ⟦[99]|3⟧ before", [("[99]", [4])]),
    ("shown ⟦[99]⟧ before", [("[99]", [0])]),
]

BIBLIOGRAPHY = (
    teis.make_entry("Smith", 2010, "Smith, A. 2010a. One."),
    teis.make_entry("Smith", 2010, "Smith, A. 2010b. Two."),
    teis.make_entry("Smith", 2012),
    teis.make_entry("Jones", 2011).replace(
        "</author>", "</author><author><persName><surname>Second</surname></persName></author>"
    ),
    teis.make_entry("van der Berg", 1999),
    teis.make_entry("Müller", 2005),
    teis.make_entry("Lyons", 2011),
    teis.make_entry("O&apos;Neil", 2003),
    teis.make_entry("Plain", 2010),
    teis.make_entry("Plain", 2010),
)
NAME_YEAR = [
    ("⟦Jones (2011)⟧ shows", [("Jones (2011)", [4])]),
    ("⟦[Lyons and Waite, 2011]|6⟧", [("[Lyons and Waite, 2011]", [7])]),
    ("⟦(Jones, 2011; Müller, 2005)⟧", [("(Jones, 2011;", [4]), ("Müller, 2005)", [6])]),
    ("⟦Smith et al. (2010a, 2012)⟧", [("Smith et al. (2010a,", [1]), ("2012)", [3])]),
    ("⟦(Smith, 2010a,b; Jones 2011)⟧", [("(Smith, 2010a,", [1]), ("b;", [2]), ("Jones 2011)", [4])]),
    ("⟦(Smith, 2010)⟧ or", [("(Smith, 2010)", [0])]),  # Two entries match.
    ("Jones ( ⟦2011|formula⟧) is illustrative", [("2011", [4])]),
    # Not citations.
    ("over our training period ⟦(2001 to 2015)⟧.", []),
    # A year without a name takes the last name before it, inside the callout or in the eighty characters before it.
    ("by Jones et al. ⟦(2011, 1999)⟧", [("(2011,", [4]), ("1999)", [0])]),
    ("by van der Berg ⟦(1999)⟧", [("(1999)", [5])]),
    ("⟦JONES (2011)⟧, ⟦Second (2011)⟧", [("JONES (2011)", [4]), ("Second (2011)", [0])]),
    # The printed letter decides among entries of one name and year, otherwise their order.
    ("⟦(Smith, 2010a, b & c; 2012)⟧", [("(Smith, 2010a,", [1]), ("b", [2]), ("c;", [0]), ("2012)", [3])]),
    ("⟦Plain (2010a)⟧ or ⟦Plain (2010b)⟧", [("Plain (2010a)", [9]), ("Plain (2010b)", [10])]),
    ("⟦(Doe, n.d.)⟧ is not listed", [("(Doe, n.d.)", [0])]),
    # The TEI's target links the first work without an entry.
    ("⟦(Doe, 1997; Jones, 2011)|5⟧", [("(Doe, 1997;", [6]), ("Jones, 2011)", [4])]),
]
OTHER = [  # Superscripts and numbers in parentheses: GROBID's links remain, and ranges name each entry.
    ("shown. ⟦1|0⟧ One", [("1", [1])]),
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

    return re.sub("⟦(.*?)⟧", ref, text.replace("& ", "&amp; "))


@pytest.mark.parametrize(
    ("style", "bibliography", "text", "expected"),
    [
        *((CitationStyle.BRACKET, teis.NUMBERED, *row) for row in BRACKET),
        *((CitationStyle.NAME_YEAR, BIBLIOGRAPHY, *row) for row in NAME_YEAR),
        *((CitationStyle.OTHER, teis.NUMBERED, *row) for row in OTHER),
    ],
)
def test_callouts_become_citation_spans(
    style: CitationStyle, bibliography: tuple[str, ...], text: str, expected: list[tuple[str, list[int]]]
) -> None:
    parse = teis.parse(xml(f"<div><p>{text}</p>{FILLER[style]}</div>"), bibliography)
    assert parse.citation_style is style
    (paragraph, *_) = parse.body_text
    printed = re.sub("<formula>.*</formula>", "EQUATION", re.sub(r"⟦(.*?)(\|\w+)?⟧", r"\1", text))
    assert paragraph.text == " ".join(printed.split()).replace("( ", "(")
    found: dict[tuple[int, str], list[int]] = {}
    for span in paragraph.cite_spans:
        number = int(span.ref_id.removeprefix("BIBREF")) + 1 if span.ref_id else 0
        found.setdefault((span.start, span.text), []).append(number)
    assert [(surface, numbers) for (_, surface), numbers in found.items()] == expected


def labeled(*labels: object) -> tuple[str, ...]:
    """Return entries with printed labels."""
    return tuple(
        f'<biblStruct xml:id="b@"><note type="raw_reference">[{label}] W.</note></biblStruct>' for label in labels
    )


def known(*callouts: str) -> str:
    return "".join(f"<p>Known {callout}.</p>" for callout in callouts)


def ref(targets: str, surface: str) -> str:
    return f'As <ref type="bibr" target="{targets}">{surface}</ref> has.'


BY_NAME = (FILLER[CitationStyle.NAME_YEAR], BIBLIOGRAPHY)
LINKS: list[tuple[str, str, tuple[str, ...], list[tuple[str, int | None]]]] = [
    # Numbers match the printed labels: GROBID lost entries 3 and 6.
    ("A ⟦[1]⟧ b ⟦[5, 7]⟧ c ⟦[3]⟧ d ⟦[3-6]⟧.", "", labeled(1, 2, 4, 5, 7),
     [("[1]", 0), ("[5,", 3), ("7]", 4), ("[3]", None), ("[3-6]", 2), ("[3-6]", 3)]),
    ("As ⟦[Kim02]⟧, ⟦[Lee01]⟧ and ⟦[Doe03]⟧ or ⟦[Doe03]|1⟧ say.", "", labeled("Lee01", "Kim02", "Lee01"),
     [("[Kim02]", 1), ("[Lee01]", 0), ("[Doe03]", None), ("[Doe03]", 1)]),
    # All entries that the TEI names are linked. If none exists, name and year decide.
    (ref("#b3 #b6", "(Jones, 2011)"), *BY_NAME, [("(Jones, 2011)", 3), ("(Jones, 2011)", 6)]),
    (ref("#b99", "(Jones, 2011)"), *BY_NAME, [("(Jones, 2011)", 3)]),
    # Numbers without brackets are linked after three resolved callouts.
    ("As ⟦(5)⟧ says.", known("⟦1|0⟧", "⟦2|1⟧"), teis.NUMBERED, [("(5)", None)]),
    ("As ⟦(5)⟧ says.", known("⟦1|0⟧", "⟦2|1⟧", "⟦3|2⟧"), teis.NUMBERED, [("(5)", 4)]),
    # Only resolved single numbers place the numbering. With brackets, numbers in parentheses do not count.
    ("As ⟦[3]⟧ says.", known(*(f"⟦[{n}]|{n + 1}⟧" for n in (1, 2, 6, 8)), "⟦(3)|20⟧", "⟦[3, 4]|21⟧", "⟦[3]|99⟧", ref("#b9 #b11", "[3]")),
     teis.NUMBERED, [("[3]", 4)]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "others", "bibliography", "expected"), LINKS)
def test_callouts_link_by_labels_targets_and_resolved_numbers(
    text: str, others: str, bibliography: tuple[str, ...], expected: list[tuple[str, int | None]]
) -> None:
    found = teis.parse(xml(f"<div><p>{text}</p>{others}</div>"), bibliography)
    spans = found.body_text[0].cite_spans
    assert [(s.text, int(s.ref_id.removeprefix("BIBREF")) if s.ref_id else None) for s in spans] == expected


STYLES = [
    # A style needs three callouts and more than half.
    ("⟦[1,⟧ ⟦2]⟧ b " * 3, "BRACKET"),
    ("⟦[1]⟧ b " * 2, "OTHER"),
    ("⟦(Lee, 2001)⟧ b " * 3, "NAME_YEAR"),
    ("⟦[1]⟧ b " * 3 + "⟦1⟧ b " * 3, "OTHER"),
    # Forms.
    ("⟦[Lee, 2001]⟧ b ⟦(Lee, in press)⟧ b ⟦Lee 2001⟧", "NAME_YEAR"),
    ("⟦[Lee01]⟧ b " * 3 + "⟦Lee 2001⟧ b " * 3, "OTHER"),
    # Adjacent callouts count if a separator is between them. GROBID expands a range without separators.
    ("⟦[1]⟧, ⟦[2]⟧. Then ⟦[3]⟧-⟦[5]⟧", "BRACKET"),
    # Not counted: a name, a year, a number with a word, an expanded range.
    *((f"{callout} b " * 9 + "⟦[1]⟧ b " * 3, "BRACKET") for callout in ("⟦Lee⟧", "⟦2001⟧", "⟦Lee 12⟧")),
    ("⟦[1]⟧⟦[2]⟧ b " * 9 + "⟦Lee 2001⟧ b " * 3, "NAME_YEAR"),
]


@pytest.mark.parametrize(("text", "style"), STYLES)
def test_majority_of_three_callouts_decides_the_style(text: str, style: str) -> None:
    assert teis.parse(xml(f"<p>As {text} says.</p>")).citation_style == style


def test_reference_spans_are_distinct_and_never_overlap_citations() -> None:
    figure = "<figure xml:id='fig_0'><head>Figure 2</head></figure>"
    mark = "<ref type='figure' target='#fig_0'>Fig. 2</ref>"
    for body, expected in (
        (f"see {mark} and Fig. 2, Fig. 2", [(4, "Fig. 2"), (15, "Fig. 2"), (23, "Fig. 2")]),
        ("see ⟦Jones 2011 in Fig. 2|3⟧ and Fig. 2", [(29, "Fig. 2")]),
    ):
        parse = teis.parse(xml(f"<div><p>{body}</p>{FILLER[CitationStyle.NAME_YEAR]}</div>{figure}"), BIBLIOGRAPHY)
        assert [(span.start, span.text) for span in parse.body_text[0].ref_spans] == expected
        assert {span.ref_id for span in parse.body_text[0].ref_spans} == {"FIGREF0"}


@given(st.dictionaries(st.integers(1, 9), st.tuples(st.integers(1, 3), st.integers(0, 6)), min_size=1, max_size=6))
def test_map_follows_largest_consistent_set_of_votes(votes: dict[int, tuple[int, int]]) -> None:
    """`votes` maps a number to its count and place. Greater numbers must have later places."""
    found = map_numbers([None] * 7, [(number, at) for number, (count, at) in votes.items() for _ in range(count)], 7)
    chains = [
        chain
        for size in range(1, len(votes) + 1)
        for chain in combinations(sorted(votes), size)
        if all(votes[a][1] < votes[b][1] for a, b in pairwise(chain))
    ]
    heaviest = max(sum(votes[number][0] for number in chain) for chain in chains)
    assert any(
        sum(votes[number][0] for number in chain) == heaviest and all(found.get(n) == votes[n][1] for n in chain)
        for chain in chains
    )
    assert all(a < b for a, b in pairwise(at for _, at in sorted(found.items())))
