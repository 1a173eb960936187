"""Bibliography entries and the header keep all information, and every field has its plain form."""

from __future__ import annotations

from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from s2orc_parse import tei
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.names import make_author
from s2orc_parse.parse_model import BibEntry
from s2orc_parse.tei.people import read_author
from tests.unit.tei import teis


def entry(xml: str) -> BibEntry:
    (found,) = teis.parse("<p>x</p>", (f'<biblStruct xml:id="b@">{xml}</biblStruct>',)).bib_entries
    return found


def test_article_entry_has_all_fields() -> None:
    found = entry(
        '<analytic><title level="a" type="main">Cats &amp; dogs</title><author><persName><forename type="first">R</forename><forename '
        'type="middle">A</forename><surname>Schwartz</surname></persName></author><idno type="DOI">10.1000/ABC.1</idno></analytic>'
        '<monogr><title level="j">J Am Acad</title><title level="j" type="abbrev">JAA</title><imprint>'
        '<biblScope unit="volume">33</biblScope>'
        '<biblScope unit="issue">1</biblScope><biblScope unit="page" from="161" to="182"/><date type="published" when="1995-03">1995</date>'
        '<publisher>Elsevier</publisher></imprint></monogr><note type="raw_reference">[7] Schwartz RA. PMID: 0123456 PMC98765</note>'
        '<ptr target="https://example.org/x"/>'
    )
    assert found == BibEntry(
        key="BIBREF0", ref_id="b0", title="Cats & dogs", authors=(Author("R", ("A",), "Schwartz", ""),), year=1995, venue="J Am Acad",
        label="7", volume="33", issue="1", pages="161--182", publisher="Elsevier", doi="10.1000/abc.1", pubmed_id="123456",
        pmc_id="PMC98765", raw_text="[7] Schwartz RA. PMID: 0123456 PMC98765", urls=("https://example.org/x",),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("xml", "title", "venue"),
    [
        ('<monogr><title level="m">A book</title></monogr>', "A book", ""),
        (
            '<monogr><title level="m">A book</title></monogr><series><title level="s">A series</title></series>',
            "A book",
            "A series",
        ),
        (
            '<analytic><title level="a">A talk</title></analytic><monogr><title level="m">Proceedings</title></monogr>',
            "A talk",
            "Proceedings",
        ),
        ('<analytic><title/></analytic><monogr><title level="j">Only a journal</title></monogr>', "", "Only a journal"),
        ('<monogr><title level="j">Only a journal</title></monogr>', "", "Only a journal"),
        ("<monogr><imprint/></monogr>", "", ""),
        ("", "", ""),
    ],
)
def test_entry_without_article_title_has_title_and_venue(xml: str, title: str, venue: str) -> None:
    assert (entry(xml).title, entry(xml).venue) == (title, venue)


@pytest.mark.parametrize(
    ("xml", "year"),
    [
        ('<date type="published" when="2009">2009</date>', 2009),
        ('<date when="2009-11-03"/>', 2009),
        ("<date>submitted 2011</date>", 2011),
        ("<date>in press</date>", None),
        ('<date when="0000"/>', None),
        ('<date when="9999"/>', None),
    ],
)
def test_year_is_read_from_date_elements(xml: str, year: int | None) -> None:
    assert entry(f"<monogr><imprint>{xml}</imprint></monogr>").year == year


def test_year_is_read_from_raw_text_with_one_year() -> None:
    assert entry('<note type="raw_reference">Smith. A thing. J 3:1 (1998)</note>').year == 1998
    assert entry('<note type="raw_reference">Smith. 1984 revisited. J 3:1 (1998)</note>').year is None


@pytest.mark.parametrize(
    ("xml", "identifiers"),
    [
        (
            '<idno type="DOI">https://doi.org/10.48550/arXiv.1706.03762</idno>',
            ("10.48550/arxiv.1706.03762", "1706.03762"),
        ),
        ('<idno type="arXiv">arXiv:1706.03762v5[cs.CL]</idno>', ("10.48550/arxiv.1706.03762", "1706.03762")),
        ("<idno>arXiv:hep-th/9711200</idno>", ("10.48550/arxiv.hep-th/9711200", "hep-th/9711200")),
        ('<idno type="DOI">10.1145/nnnnnnn.nnnnnnn</idno>', (None, None)),
        ('<idno type="DOI">10.1000/x1</idno><idno type="arXiv">2001.00001</idno>', ("10.1000/x1", "2001.00001")),
        ('<ptr target="https://dx.doi.org/10.1000/X1"/>', ("10.1000/x1", None)),
        ('<ptr target="https://arxiv.org/abs/2001.00001v2"/>', ("10.48550/arxiv.2001.00001", "2001.00001")),
        (
            '<note type="raw_reference">Ann. ArXiv preprint arXiv:2001.00001.</note>',
            ("10.48550/arxiv.2001.00001", "2001.00001"),
        ),
        ('<note type="raw_reference">Ann. Pages 2001.00001 of a book.</note>', (None, None)),
        ('<idno type="ISBN">978-3-16-148410-0</idno>', (None, None)),
    ],
)
def test_identifiers_are_normalized(xml: str, identifiers: tuple[str | None, str | None]) -> None:
    found = entry(xml)
    assert (found.doi, found.arxiv_id) == identifiers


def authors(*names: str) -> list[tuple[str, tuple[str, ...], str, str]]:
    xml = "".join(f"<author>{name}</author>" for name in names)
    return [(a.first, a.middle, a.last, a.suffix) for a in entry(f"<analytic>{xml}</analytic>").authors]


def person(first: str, last: str, *middle: str, suffix: str = "") -> str:
    names = "".join(f'<forename type="middle">{name}</forename>' for name in middle)
    gen = f"<genName>{suffix}</genName>" if suffix else ""
    return f'<persName><forename type="first">{first}</forename>{names}<surname>{last}</surname>{gen}</persName>'


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        (person("Ada", "Lovelace"), ("Ada", (), "Lovelace", "")),
        (person("A", "van der Schaar", "B"), ("A", ("B",), "van der Schaar", "")),
        (person("J.", "Smith"), ("J", (), "Smith", "")),
        (person("Jean-Luc", "O'Neill"), ("Jean-Luc", (), "O'Neill", "")),
        (person("Ann", "Lee", "B", "C"), ("Ann", ("B", "C"), "Lee", "")),
        (person("Martin", "King", "Luther", suffix="Jr"), ("Martin", ("Luther",), "King", "Jr")),
        (person("Martin", "King Jr."), ("Martin", (), "King", "Jr")),
        (person("John", "Smith III"), ("John", (), "Smith", "III")),
        (
            "<persName><nameLink>von</nameLink><surname>Neumann</surname><forename>John</forename></persName>",
            ("John", (), "von Neumann", ""),
        ),
        ("<persName><surname>Kannel</surname></persName>", ("", (), "Kannel", "")),
        ("Lyons, Ann", ("Ann", (), "Lyons", "")),
        ("<persName>Ann B. Lyons</persName>", ("Ann", ("B",), "Lyons", "")),
        (person("李", "明"), ("李", (), "明", "")),
    ],
)
def test_author_names_are_split_into_parts(xml: str, expected: tuple[str, tuple[str, ...], str, str]) -> None:
    assert authors(xml) == [expected]


@pytest.mark.parametrize(
    "xml",
    [
        "<persName/>",
        "",
        "<affiliation><orgName>MIT</orgName></affiliation>",
        person("", "others"),
        person("and", "others"),
        person("et", "al."),
    ],
)
def test_empty_names_and_et_al_are_not_authors(xml: str) -> None:
    assert authors(person("Ann", "Lee"), xml) == [("Ann", (), "Lee", "")]


def test_editors_are_not_authors() -> None:
    editor = f"<monogr><editor>{person('Ed', 'Itor')}</editor></monogr>"
    assert entry(f"<analytic><author>{person('Ann', 'Lee')}</author></analytic>{editor}").authors == (
        Author("Ann", (), "Lee", ""),
    )
    assert entry(editor).authors == ()


names = st.text(st.sampled_from("abAB éß李-"), min_size=1, max_size=8).filter(lambda text: text.strip(" -"))


@given(st.lists(names.map(str.split).map("".join), min_size=1, max_size=3), names)
def test_plain_tei_names_equal_parsed_names(given_names: list[str], family: str) -> None:
    forenames = "".join(f"<forename>{escape(name)}</forename>" for name in given_names)
    element = etree.fromstring(f"<author><persName>{forenames}<surname>{escape(family)}</surname></persName></author>")
    expected = make_author(" ".join(given_names), " ".join(family.split()), "")
    assert read_author(element) == expected


def test_header_gives_metadata_of_the_paper() -> None:
    source = (
        '<publicationStmt><date type="published" when="2016-02-24">24 February 2016</date></publicationStmt>'
        "<sourceDesc><biblStruct><analytic>"
        f"<author>{person('Ada', 'Lovelace')}</author><author><affiliation><orgName>MIT</orgName></affiliation></author></analytic><monogr>"
        '<title level="j">J Neuroeng</title><imprint/></monogr><idno type="MD5">AB</idno><idno type="DOI">10.1186/S12984-016-0129-6</idno>'
        "</biblStruct></sourceDesc>"
    )
    parse = teis.parse("<p>x</p>", header=source, abstract="<p>One.</p><p>Two.</p>")
    assert tei.build_header(parse) == {
        "title": "A title",
        "authors": [{"first": "Ada", "middle": [], "last": "Lovelace", "suffix": "", "affiliations": [], "orcid": None}],
            "date": "2016-02-24",
        "date_precision": "day", "venue": None, "journal": "J Neuroeng", "abstract": "One.\n\nTwo.", "doi": "10.1186/s12984-016-0129-6",
        "arxiv_id": None, "pubmed_id": None, "pmc_id": None,
    }  # fmt: skip
    assert (parse.provenance.extractor, parse.provenance.version) == ("grobid", "0.8.0")


def test_empty_header_gives_only_null_fields() -> None:
    found = tei.build_header(tei.convert(b"<TEI/>", file_sha1=""))
    assert found.pop("authors") == [] and set(found.values()) == {None}
