"""Mentions of figures, tables, formulas and sections have the expected borders and link to the expected entry."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from s2orc_parse.parse_model import RefEntry, RefType
from s2orc_parse.tei.crossrefs import RefIndex, follows_reference_word
from s2orc_parse.tei.sections import NO_SECTION, Sections
from s2orc_parse.tei.statements import Statements

ENTRIES = (
    RefEntry("FIGREF0", RefType.FIGURE, "", "1"),
    RefEntry("FIGREF1", RefType.FIGURE, "", "2"),
    RefEntry("FIGREF2", RefType.FIGURE, "", "2"),  # A mention never links to the second figure with this number.
    RefEntry("FIGREF3", RefType.FIGURE, ""),
    RefEntry("TABREF0", RefType.TABLE, "", "II"),
    RefEntry("EQREF0", RefType.FORMULA, "", "A.2"),
    RefEntry("EQREF1", RefType.FORMULA, "", "3"),
)
NUMBERED = (("3", "Model"), ("3.1", "Gates"), ("4", "End"))


def sections(*numbered: tuple[str, str]) -> Sections:
    found = Sections(numbered)
    for n, head in numbered:
        found.open_section(NO_SECTION, n, head)
    return found


def index(entries: Sequence[RefEntry] = ENTRIES, numbered: Sequence[tuple[str, str]] = NUMBERED) -> RefIndex:
    return RefIndex(entries, sections(*numbered), Statements([]))


@pytest.mark.parametrize(
    ("kind", "printed", "expected"),
    [
        (RefType.FIGURE, "2", "FIGREF1"),
        (RefType.FIGURE, "(2)", "FIGREF1"),
        (RefType.FIGURE, "2a", "FIGREF1"),
        (RefType.FIGURE, "Fig. 2", "FIGREF1"),
        (RefType.FIGURE, "9", None),
        (RefType.FIGURE, "", None),
        (RefType.FIGURE, "()", None),
        (RefType.TABLE, "II", "TABREF0"),
        (RefType.TABLE, "2", None),
        (RefType.FORMULA, "(A.2)", "EQREF0"),
        (RefType.FORMULA, "A 2", "EQREF0"),
        (RefType.FORMULA, "A-2", None),
        (RefType.SECTION, "9", None),
    ],
)
def test_printed_number_finds_its_entry(kind: RefType, printed: str, expected: str | None) -> None:
    assert index().find(kind, printed) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Figure 1", [("Figure 1", "FIGREF0")]),
        ("see figs. 1, 2 and 9", [("figs. 1", "FIGREF0"), ("2", "FIGREF1")]),
        ("a Figure 9, 2 and (1)", [("2", "FIGREF1"), ("(1)", "FIGREF0")]),
        ("(Fig. 2a)", [("Fig. 2a", "FIGREF1")]),
        ("FIG. 1", [("FIG. 1", "FIGREF0")]),
        ("Figure 1 Figure 2", [("Figure 1", "FIGREF0"), ("Figure 2", "FIGREF1")]),
        ("a ffig. 1 fig. 1", [("fig. 1", "FIGREF0")]),
        ("bigfigure 1", []),
        ("Tables III, II", [("II", "TABREF0")]),
        ("TABLE II", [("TABLE II", "TABREF0")]),
        ("Eqs. (A.2)-(3)", [("Eqs. (A.2)", "EQREF0"), ("(3)", "EQREF1")]),
        ("eq. 3", [("eq. 3", "EQREF1")]),
        ("Sections 4, 3.1", [("Sections 4", "SECREF0"), ("3.1", "SECREF1")]),
        ("§ 4", [("§ 4", "SECREF0")]),
        ("of § 4", [("§ 4", "SECREF0")]),
        ("§§ 3 and 4", [("§§ 3", "SECREF0"), ("4", "SECREF1")]),
    ],
)
def test_mention_links_only_to_an_existing_entry(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(text[start:end], key) for start, end, key in index().mentions(text)] == expected


def test_mentions_are_searched_only_for_existing_kinds() -> None:
    text = "Figure 1, Table II, Eq. (3), Section 4"
    for entry, expected in zip((ENTRIES[0], ENTRIES[4], ENTRIES[6]), ("Figure 1", "Table II", "Eq. (3)"), strict=True):
        assert [text[start:end] for start, end, _ in index([entry], []).mentions(text)] == [expected]
    assert [text[start:end] for start, end, _ in index([], [("4", "End")]).mentions(text)] == ["Section 4"]
    assert list(index([], []).mentions(text)) == []


def test_section_entries_are_ordered_by_first_mention() -> None:
    found = index()
    assert [found.find(RefType.SECTION, number) for number in ("4", "3.1", "4", "3.1.", "3-1")] == [
        "SECREF0", "SECREF1", "SECREF0", "SECREF1", "SECREF1",
    ]  # fmt: skip
    assert found.section_entries() == [
        RefEntry("SECREF0", RefType.SECTION, "End", "4"),
        RefEntry("SECREF1", RefType.SECTION, "Gates", "3.1"),
    ]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", False),
        ("a ", False),
        ("Eq. ", True),
        ("see Table ", True),
        ("(Fig. ", True),
        ("([Eqns. ", True),
        ("SECTION ", True),
        ("a table of ", False),
        ("xequations ", False),
        ("§", True),
        ("see §§ ", True),
        ("10^", True),
        ("as Fig", True),
        ("by equations.......", True),  # The rule checks sixteen characters.
        ("by equations........", False),
    ],
)
def test_number_after_word_for_float_is_not_a_citation(before: str, expected: bool) -> None:
    assert follows_reference_word(f"{before}[3] table", len(before)) is expected
