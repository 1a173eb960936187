"""Citations by name and year are split into works, and each work links to its entry."""

from __future__ import annotations

import pytest

from s2orc_parse.bibliography.author import Author
from s2orc_parse.parse_model import BibEntry
from s2orc_parse.tei.name_year import Work, find, find_works, index_entries


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("⟦(Jones, 2011)⟧", [("(Jones, 2011)", "Jones", "2011")]),
        ("⟦(Jones 2011; Lee & Kim 1999)⟧", [("(Jones 2011;", "Jones", "2011"), ("Lee & Kim 1999)", "Lee", "1999")]),
        ("As ⟦(Jones 2011, , & Lee 1999)⟧.", [("(Jones 2011,", "Jones", "2011"), ("Lee 1999)", "Lee", "1999")]),
        ("⟦Jones (2011);),Lee 1999⟧", [("Jones (2011);),", "Jones", "2011"), ("Lee 1999", "Lee", "1999")]),
        # A year without a name takes the last name before it, inside the callout or just before it.
        ("⟦Jones (2011, 2012)⟧", [("Jones (2011,", "Jones", "2011"), ("2012)", "Jones", "2012")]),
        ("Jones ⟦(2011)⟧", [("(2011)", "Jones", "2011")]),
        ("by Jones et al. ⟦(2011, 2012)⟧", [("(2011,", "Jones", "2011"), ("2012)", "Jones", "2012")]),
        ("by van der Berg ⟦(2011)⟧", [("(2011)", "van der Berg", "2011")]),
        ("by jones ⟦(2011)⟧", [("(2011)", "", "2011")]),
        ("by Kim ⟦(Jones 2011)⟧", [("(Jones 2011)", "Jones", "2011")]),
        ("by Kim ⟦(2011; Jones 2012)⟧", [("(2011;", "Kim", "2011"), ("Jones 2012)", "Jones", "2012")]),
        # The name is searched for in the eighty characters before the callout.
        (f"{'a ' * 50}J{'o' * 78} ⟦(2011)⟧", [("(2011)", f"J{'o' * 78}", "2011")]),
        (f"{'a ' * 50}J{'o' * 79} ⟦(2011)⟧", [("(2011)", "", "2011")]),
        # These words are not names. Without another name, the name before the callout counts.
        ("⟦(See Jones 2011)⟧", [("(See Jones 2011)", "Jones", "2011")]),
        ("⟦(Jones 2011; See 2012)⟧", [("(Jones 2011;", "Jones", "2011"), ("See 2012)", "Jones", "2012")]),
        ("Kim ⟦(See 2011)⟧", [("(See 2011)", "", "2011")]),
        # Years with letters.
        ("⟦(Jones, 2011a,b)⟧", [("(Jones, 2011a,", "Jones", "2011a"), ("b)", "Jones", "2011b")]),
        (
            "⟦(Jones, 2011a, c & d; 2012)⟧",
            [("(Jones, 2011a,", "Jones", "2011a"), ("c", "Jones", "2011c"), ("d;", "Jones", "2011d"), ("2012)", "Jones", "2012")],
        ),
        ("⟦(Jones, 2011a and b)⟧", [("(Jones, 2011a", "Jones", "2011a"), ("b)", "Jones", "2011b")]),
        ("⟦(Jones, 2011, b)⟧", [("(Jones, 2011, b)", "Jones", "2011")]),
        ("⟦(Jones, 2011a,⟧b)", [("(Jones, 2011a,", "Jones", "2011a")]),
        ("⟦(Jones, 2011a, bc)⟧", [("(Jones, 2011a, bc)", "Jones", "2011a")]),
        # Valid years.
        ("⟦Jones 1500; 1499; 2099; 2100⟧", [("Jones 1500;", "Jones", "1500"), ("1499; 2099; 2100", "Jones", "2099")]),
    ],
)  # fmt: skip
def test_callout_is_split_into_works(text: str, expected: list[tuple[str, str, str]]) -> None:
    start, end = text.index("⟦"), text.index("⟧") - 1
    plain = text.replace("⟦", "").replace("⟧", "")
    found = find_works(plain, start, end)
    assert [(plain[w.start : w.end], w.surname, f"{w.year}{w.letter}") for w in found] == expected
    assert not found or (found[0].start, found[-1].end) == (start, end)


def entry(key: str, last: str, year: int | None = 2010, raw: str = "", first: str = "A") -> BibEntry:
    return BibEntry(
        key, key, authors=(Author(first, (), last, ""), Author("Z", (), "Second", "")), year=year, raw_text=raw
    )


ENTRIES = (
    entry("undated", "Undated", None),
    BibEntry("nobody", "nobody", year=2010),
    entry("two-a", "Two", raw="Two, A. 2010a."),
    entry("two-b", "Two", raw="Two, A. 2010b."),
    entry("plain-1", "Plain"),
    entry("plain-2", "Plain"),
    entry("same-1", "Same", raw="2010a"),
    entry("same-2", "Same", raw="2010a"),
    entry("one", "One"),
    entry("berg", "van der Berg"),
    entry("company", "", first="Company"),
)


@pytest.mark.parametrize(
    ("surname", "year", "letter", "expected"),
    [
        ("One", 2010, "", "one"),
        ("One", 2011, "", None),
        ("Second", 2010, "", None),  # Only the first author counts.
        ("Company", 2010, "", "company"),
        ("Undated", 2010, "", None),
        ("", 2010, "", None),
        # A complete surname, or its last word.
        ("van der Berg", 2010, "", "berg"),
        ("Berg", 2010, "", "berg"),
        ("der Berg", 2010, "", None),
        # Several entries with one name and year: the printed letter decides, otherwise their order.
        ("Two", 2010, "", None),
        ("Two", 2010, "a", "two-a"),
        ("Two", 2010, "c", None),
        ("Plain", 2010, "b", "plain-2"),
        ("Plain", 2010, "c", None),
        ("Same", 2010, "b", "same-2"),
        ("One", 2010, "a", "one"),
    ],
)
def test_work_finds_its_entry(surname: str, year: int, letter: str, expected: str | None) -> None:
    assert find(Work(0, 1, surname, year, letter), index_entries(ENTRIES)) == expected
