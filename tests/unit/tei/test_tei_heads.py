"""Headings become sections if papers do not count 1, 1.1, 2.

The tests cover letters among Roman numerals, appendices and headings without a number.
"""

from __future__ import annotations

import pytest

from s2orc_parse.tei.sections import SectionPath, Sections
from tests.unit.tei import teis
from tests.unit.tei.test_tei_structure import paths


def numbered(*heads: str) -> list[tuple[str | None, str]]:
    """Return headings that print their own numbers."""
    return [(None, head) for head in heads]


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        # Among Roman numerals, a letter is a numeral only if it is the next one. Two letters are a numeral if it is a
        # later one.
        (("I. A", "II. B", "A. C", "B. D", "C. E", "D. F", "III. G"), ["A", "B", "B::C", "B::D", "B::E", "B::F", "G"]),
        (("I. A", "II. B", "III. C", "V. D"), ["A", "B", "C", "C::D"]),
        (("I. A", "VI. B", "VI. C", "VII. D"), ["A", "B", "B::C", "D"]),
        (("I. A", "H. B", "I. C"), ["A", "A::B", "A::C"]),
        # Numbers below letters.
        (("I. A", "A. B", "1) C", "2) D", "B. E", "1) F"), ["A", "A::B", "A::B::C", "A::B::D", "A::E", "A::E::F"]),
        (("I. A", "1) B", "2) C", "3) D", "II. E", "1) F"), ["A", "A::B", "A::C", "A::D", "E", "E::F"]),
        # Without Roman numerals, a single letter before any appendix is not a number.
        (("1. A", "B. Cell"), ["A", "B. Cell"]),
        (("Appendix", "A. Cell", "B. Rest"), ["Appendix", "Cell", "Rest"]),
        # Dotted numbers belong to the section with their prefix.
        (("1. A", "1.1 B", "1.1.1 C", "1.2 D", "2.1 E", "2.2 F"), ["A", "A::B", "A::B::C", "A::D", "E", "F"]),
        (("1. A", "1.10 B", "1.1 C", "11.1 D"), ["A", "A::B", "A::C", "D"]),
        # A number alone starts no new section if its section exists already.
        (("1. A", "1.1 B", "1."), ["A", "A::B", "A"]),
    ],
)
def test_numbered_heading_has_its_parent(heads: tuple[str, ...], expected: list[str]) -> None:
    assert [path for path, _ in paths(*numbered(*heads))] == expected


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        # A heading without a number belongs to the last numbered section, if a numbered heading follows.
        (("1. A", "Aims", "Ends", "2. B"), ["A", "A::Aims", "A::Ends", "B"]),
        (("1. A", "2. B", "Aims"), ["A", "B", "Aims"]),
        (("Aims", "1. A"), ["Aims", "A"]),
        (("1. A", "Funding", "Aims", "2. B"), ["A", "Funding", "Aims", "B"]),
        # Without numbers: two of Methods, Results and Discussion contain the headings after them.
        (("Methods", "Mice", "Discussion", "Odd"), ["Methods", "Methods::Mice", "Discussion", "Discussion::Odd"]),
        (("Methods", "Mice", "Methods", "Odd"), ["Methods", "Mice", "Methods", "Odd"]),
        (("Results", "Mice", "Funding", "Odd", "Methods"), ["Results", "Results::Mice", "Funding", "Odd", "Methods"]),
    ],
)
def test_unnumbered_heading_has_its_parent(heads: tuple[str, ...], expected: list[str]) -> None:
    assert [path for path, _ in paths(*numbered(*heads))] == expected


def test_back_matter_is_outside_the_sections_of_the_body() -> None:
    body = "<div><head>Methods</head><p>a</p></div><div><head>Results</head><p>b</p></div>"
    back = "".join(
        f"<div><head>{head}</head><p>x</p></div>" for head in ("Methods", "Mice", "Results", "A. Rest", "Odd")
    )
    parse = teis.parse(body, back=f'<div type="annex">{back}</div>')
    assert [p.section for p in parse.back_matter] == ["Methods", "Mice", "Results", "Rest", "Odd"]


def test_nested_heading_belongs_to_its_div_despite_its_number() -> None:
    found = Sections()
    outer = SectionPath(("Outer",), "Outer")
    assert found.open_section(outer, "3", "Inner") == SectionPath(("Outer", "Inner"), "Outer::Inner", "3", ("3",))
    assert found.open_section(outer, None, "Plain") == SectionPath(("Outer", "Plain"), "Outer::Plain")
    assert found.open_section(outer, None, "") == outer
    assert found.open_section(outer, "?", "Odd") == SectionPath(("Outer", "Odd"), "Outer::Odd")
    assert found.open_section(outer, None, "Figure 2.") is None
