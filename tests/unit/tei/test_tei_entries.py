"""Each element of a bibliography entry or header sets the expected field.

The tests cover which of several elements counts, and which are joined.
"""

from __future__ import annotations

from typing import Any

import pytest

from s2orc_parse import tei
from s2orc_parse.parse_model import BibEntry
from s2orc_parse.tei.bibliography import _read_labels, add_arxiv
from tests.unit.tei import teis
from tests.unit.tei.test_tei_bibliography import entry, person


def entries(*xml: str) -> list[BibEntry]:
    return list(teis.parse("<p>x</p>", xml).bib_entries)


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (("b3", "b5"), [("BIBREF3", "b3"), ("BIBREF5", "b5")]),
        (("b3", "b3"), [("BIBREF0", "b3"), ("BIBREF1", "b3")]),
        (("b3", ""), [("BIBREF0", "b3"), ("BIBREF1", "b1")]),
        (("b3", "ref7"), [("BIBREF0", "b3"), ("BIBREF1", "ref7")]),
        (("b3", "b123456"), [("BIBREF0", "b3"), ("BIBREF1", "b123456")]),
    ],
)
def test_entry_keys_are_the_extractors_numbers_if_unique(ids: tuple[str, ...], expected: list[tuple[str, str]]) -> None:
    found = entries(*(f'<biblStruct xml:id="{one}"/>' if one else "<biblStruct/>" for one in ids))
    assert [(one.key, one.ref_id) for one in found] == expected


def test_raw_text_of_free_entry_is_its_own_text() -> None:
    free, kept, plain = entries(
        "<bibl>Lee. <hi>A thing</hi>. 1999.</bibl>",
        '<bibl>Lee <note type="raw_reference">Said so.</note></bibl>',
        '<biblStruct><monogr><title level="m">Book</title></monogr></biblStruct>',
    )
    assert (free.raw_text, free.year, kept.raw_text, plain.raw_text) == ("Lee. A thing. 1999.", 1999, "Said so.", "")


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ([("", "[1] A"), ("", "[2] B")], ["1", "2"]),
        ([("[1]", "A"), ("(2).", "B")], ["1", "2"]),
        ([("", "1. A"), ("", "2) B"), ("", "3.B")], ["1", "2", None]),
        ([("7", "[1] A")], ["7"]),
        ([("", "A [3] b")], ["3"]),
        ([("", "A [3] b [4]")], [None]),
        ([("", "[Lee01] A"), ("", "[Kim02] B")], ["Lee01", "Kim02"]),
        ([("", "[1] A"), ("", "B"), ("", "[1] C")], [None, None, None]),
        ([("", "[2] A"), ("", "[1] B"), ("", "[Lee01] C")], [None, None, "Lee01"]),
        ([("", "[1] A"), ("", "[x] B"), ("", "[2] C")], ["1", "x", "2"]),
        ([("", "")], [None]),
    ],
)
def test_labels_are_read_from_entries(printed: list[tuple[str, str]], expected: list[str | None]) -> None:
    assert _read_labels(printed) == expected


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        # The first of analytic, monogr and series with authors counts.
        (f"<analytic><author>{person('A', 'One')}</author><author>{person('B', 'Two')}</author></analytic>"
         f"<monogr><author>{person('C', 'Three')}</author></monogr>", ["One", "Two"]),
        (f"<analytic><author/></analytic><monogr><author>{person('C', 'Three')}</author></monogr>"
         f"<series><author>{person('D', 'Four')}</author></series>", ["Three"]),
        (f"<monogr><author>{person('C', 'Three')}</author><editor><author>{person('E', 'Five')}</author></editor></monogr>", ["Three"]),
        (f"<author>{person('A', 'One')}</author><analytic><author>{person('B', 'Two')}</author></analytic>", ["One"]),
        (f"<monogr><imprint><author>{person('A', 'One')}</author></imprint><author>{person('B', 'Two')}</author></monogr>", ["One", "Two"]),
    ],
)  # fmt: skip
def test_authors_are_from_first_level_that_names_any(xml: str, expected: list[str]) -> None:
    assert [author.last for author in entry(xml).authors] == expected


def fields(found: BibEntry, *names: str) -> tuple[object, ...]:
    return tuple(getattr(found, name) for name in names)


@pytest.mark.parametrize(
    ("xml", "title", "venue"),
    [
        ('<analytic><title level="a">A</title><title level="a">B</title></analytic>', "A", ""),
        ("<analytic><title>A</title></analytic><monogr><title>M</title></monogr>", "A", "M"),
        ('<analytic><title level="a">A</title></analytic><monogr><title level="m">M</title><title level="j">J</title></monogr>', "A", "J"),
        ('<analytic><title level="a">A</title></analytic><monogr><title level="j"/><title level="s">S</title></monogr>', "A", "S"),
        ('<monogr><title level="m">M</title><meeting>A meeting <placeName>Rome</placeName></meeting></monogr>', "M", "A meeting"),
        ('<monogr><title level="m">M</title><meeting/><meeting>Second</meeting><meeting>Third</meeting></monogr>', "M", "Second"),
        ('<monogr><title level="j">J</title><meeting>A meeting</meeting></monogr>', "", "J"),
    ],
)  # fmt: skip
def test_entry_has_title_and_venue(xml: str, title: str, venue: str) -> None:
    assert fields(entry(xml), "title", "venue") == (title, venue)


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        ('<biblScope unit="volume">3</biblScope><biblScope unit="issue">4</biblScope>', ("3", "4", "")),
        ('<biblScope unit="vol">3</biblScope><biblScope type="issue">4</biblScope>', ("3", "4", "")),
        ('<biblScope unit="page" from="1" to="9"/>', ("", "", "1--9")),
        ('<biblScope unit="page" from="1" to="1"/>', ("", "", "1")),
        ('<biblScope unit="page" from="1"/>', ("", "", "1")),
        ('<biblScope unit="page" from="1">1-9</biblScope>', ("", "", "1")),
        ('<biblScope unit="page" to="9"/>', ("", "", "9")),
        ('<biblScope unit="page" from="1"/><biblScope unit="page" to="9"/>', ("", "", "1--9")),
        ('<biblScope unit="page" from="9"/><biblScope unit="page" to="9"/>', ("", "", "9")),
        ('<biblScope unit="page" from="198"/><biblScope unit="page" to="198"/>', ("", "", "198")),
        ('<biblScope unit="page" from="198" to="198"/>', ("", "", "198")),
        ('<biblScope unit="page">17</biblScope><biblScope unit="page">18</biblScope>', ("", "", "17")),
        ('<biblScope unit="pp">17-18</biblScope>', ("", "", "17-18")),
        ('<biblScope unit="page">1</biblScope><biblScope unit="pp">2</biblScope>', ("", "", "1")),
    ],
)
def test_entry_has_volume_issue_and_pages(xml: str, expected: tuple[str, str, str]) -> None:
    assert fields(entry(f"<monogr><imprint>{xml}</imprint></monogr>"), "volume", "issue", "pages") == expected


@pytest.mark.parametrize(
    ("xml", "year"),
    [
        ('<date when="1400"/>', 1400),
        ('<date when="1399"/>', None),
        ('<date when="2100"/>', 2100),
        ('<date when="2101"/>', None),
        ("<date>1987</date>", 1987),
        ('<date when="soon">1987</date>', 1987),
        ('<date when="1986">1987</date>', 1986),
        ('<date when="1986-07"/>', 1986),
        ('<date when="19867"/>', None),
        ("<date>1986</date><date>1987</date>", 1986),
        ("<date>soon</date><date>1987</date>", 1987),
    ],
)
def test_year_of_entry_is_between_1400_and_2100(xml: str, year: int | None) -> None:
    assert entry(f"<monogr><imprint>{xml}</imprint></monogr>").year == year


@pytest.mark.parametrize(
    ("raw", "year"),
    [
        ("Lee 1999.", 1999),
        ("Lee 1999a; 1999b", 1999),
        ("Lee 1999; 2001", None),
        ("Lee 1999-2001", 2001),
        ("Lee 11999", None),
        ("Lee 1499, 2100", None),
    ],
)
def test_year_of_raw_text_is_taken_only_if_unique(raw: str, year: int | None) -> None:
    assert entry(f'<note type="raw_reference">{raw}</note>').year == year
    assert entry(f'<monogr><date when="1980"/></monogr><note type="raw_reference">{raw}</note>').year == 1980


IDS = ("doi", "arxiv_id", "pubmed_id", "pmc_id")


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        ('<idno type="PMID">12</idno><idno type="pubmed">13</idno>', (None, None, "12", None)),
        ('<idno type="pubmed">13</idno>', (None, None, "13", None)),
        ('<idno type="PMCID">PMC12345</idno>', (None, None, None, "PMC12345")),
        ('<idno type="pmc">12345</idno>', (None, None, None, "PMC12345")),
        ("<idno>10.1000/ab</idno>", ("10.1000/ab", None, None, None)),
        ('<idno type="ISBN">10.1000/ab</idno>', (None, None, None, None)),
        ('<idno type="doi">10.1000/ab</idno><ptr target="https://doi.org/10.1000/cd"/>', ("10.1000/ab", None, None, None)),
        ('<ptr target="https://doi.org/10.1000/cd"/><ptr target="https://doi.org/10.1000/ef"/>', ("10.1000/cd", None, None, None)),
        ('<ptr target="https://doi.org/x"/><ptr target="https://example.org/10.1000/cd"/>', (None, None, None, None)),
        ('<note>PMID: 0012</note><note>PMC 12345.</note>', (None, None, "12", "PMC12345")),
        ('<note type="raw_reference">Lee. PMID:34. PMC6789</note><note>PMID: 12</note>', (None, None, "34", "PMC6789")),
        ('<note>doi 2101.00009, arXiv:2001.00001</note>', ("10.48550/arxiv.2001.00001", "2001.00001", None, None)),
        ('<note>PMC123</note>', (None, None, None, None)),
    ],
)  # fmt: skip
def test_identifiers_are_read_at_every_level(xml: str, expected: tuple[str | None, ...]) -> None:
    assert fields(entry(xml), *IDS) == expected


def test_doi_and_arxiv_id_of_preprint_imply_each_other() -> None:
    assert add_arxiv({}) == {}
    assert add_arxiv({"doi": "10.1000/ab"}) == {"doi": "10.1000/ab"}
    both = {"doi": "10.48550/arxiv.2001.00001", "arxiv_id": "2001.00001"}
    assert add_arxiv({"doi": both["doi"]}) == both == add_arxiv({"arxiv_id": both["arxiv_id"]})
    other = {"doi": "10.48550/arxiv.2001.00001", "arxiv_id": "2002.00002"}
    assert add_arxiv(other) == other


def test_entry_has_publisher_issn_notes_and_addresses() -> None:
    found = entry(
        '<monogr><idno type="ISSN">1234-5678</idno><idno type="eISSN">8765-4321</idno><imprint><publisher>One</publisher>'
        '<publisher>Two</publisher></imprint></monogr><ptr target="http://a"/><ptr/><ptr target="http://b"/><ptr target=" http://a "/>'
        "<label>[5]</label><label>6</label>"
    )
    assert fields(found, "issn", "publisher", "urls", "label") == ("1234-5678", "One", ("http://a", "http://b"), "5")
    assert entry('<idno type="eISSN">8765-4321</idno>').issn == "8765-4321"


def header(inside: str) -> dict[str, Any]:
    return tei.build_header(teis.parse("<p>x</p>", header=inside))


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        ('<date type="published" when="2001-02-03"/>', ("2001-02-03", "day")),
        ('<date when="2003"/><date type="e-published" when="2002-04"/>', ("2002-04", "month")),
        ('<date type="collection-published" when="2004"/><date type="published" when="2001"/>', ("2001", "year")),
        ('<date type="collection-published" when="2004"/><date type="e-published" when="2005"/>', ("2005", "year")),
        ('<date type="published">soon</date><date when="2003"/>', ("2003", "year")),
        ('<date type="published">3 May 2003</date>', ("2003-05-03", "day")),
        ('<date type="submitted" when="2003"/>', (None, None)),
        ('<date when="2003"/><date when="2001"/>', ("2001", "year")),
    ],
)
def test_header_date_has_its_precision(xml: str, expected: tuple[str | None, str | None]) -> None:
    found = header(f"<publicationStmt>{xml}</publicationStmt>")
    assert (found["date"], found["date_precision"]) == expected


def test_header_has_titles_and_identifiers() -> None:
    monogr = '<monogr><title level="j">J</title><title level="j">K</title><title>M</title><title level="s">S</title>{}</monogr>'
    found = header(
        f'<sourceDesc><biblStruct><analytic><title level="a">Other</title><idno type="DOI">10.1000/a</idno></analytic>'
        f'{monogr.format("")}<idno type="PMID">5</idno></biblStruct></sourceDesc>'
    )
    assert (found["title"], found["venue"], found["journal"]) == ("A title", "M", "J")
    assert (found["doi"], found["pubmed_id"]) == ("10.1000/a", "5")
    assert (
        header('<sourceDesc><biblStruct><monogr><title level="s">S</title></monogr></biblStruct></sourceDesc>')["venue"]
        == "S"
    )
    elsewhere = '<sourceDesc><biblStruct><note><idno type="DOI">10.1000/a</idno></note></biblStruct></sourceDesc>'
    assert header(elsewhere)["doi"] is None
    for name in ("analytic", "monogr"):
        inside = f'<sourceDesc><biblStruct><{name}><idno type="DOI">10.1000/a</idno></{name}></biblStruct></sourceDesc>'
        assert header(inside)["doi"] == "10.1000/a"
    assert header('<publicationStmt><idno type="DOI">10.1000/a</idno></publicationStmt>')["doi"] == "10.1000/a"


def test_header_authors_are_from_first_list_with_names() -> None:
    lists = "".join(f"<biblStruct><analytic>{inside}</analytic></biblStruct>" for inside in (
        "<author><persName/></author>", f"<author>{person('A', 'One')}</author>", f"<author>{person('B', 'Two')}</author>",
    ))  # fmt: skip
    authors = header(f"<sourceDesc>{lists}</sourceDesc>")["authors"]
    assert [author["last"] for author in authors] == ["One"]
