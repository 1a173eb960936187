"""Bibliography entries and the header contain all information, and every field has its plain form (SPEC §3.18, §3.19).

Entries without a title are kept. Authors are `{first, middle[], last, suffix}`. Identifiers are normalized.
"""

from typing import Any

import pytest

from s2orc_parse import tei
from s2orc_parse.bibliography.author import Author
from s2orc_parse.parse_model import BibEntry
from tests.unit.s2orc_parse.tei import teis


def entries(*xml: str) -> tuple[BibEntry, ...]:
    return teis.parse("<p>x</p>", xml).bib_entries


def entry(xml: str) -> BibEntry:
    (found,) = entries(f'<biblStruct xml:id="b@">{xml}</biblStruct>')
    return found


def note(raw: str) -> str:
    return f'<note type="raw_reference">{raw}</note>'


def person(first: str, last: str, *middle: str, suffix: str = "") -> str:
    names = "".join(f'<forename type="middle">{name}</forename>' for name in middle)
    gen = f"<genName>{suffix}</genName>" if suffix else ""
    return f'<persName><forename type="first">{first}</forename>{names}<surname>{last}</surname>{gen}</persName>'


def test_article_entry_has_all_fields() -> None:
    found = entry(
        '<analytic><title level="a" type="main">Cats &amp; dogs</title><author><persName><forename type="first">R</forename><forename '
        'type="middle">A</forename><surname>Schwartz</surname></persName></author><idno type="DOI">10.1000/ABC.1</idno></analytic>'
        '<monogr><idno type="ISSN">1234-5678</idno><title level="j">J Am Acad</title><title level="j" type="abbrev">JAA</title><imprint>'
        '<biblScope unit="volume">33</biblScope>'
        '<biblScope unit="issue">1</biblScope><biblScope unit="page" from="161" to="182"/><date type="published" when="1995-03">1995</date>'
        '<publisher>Elsevier</publisher></imprint></monogr><note type="raw_reference">[7] Schwartz RA. PMID: 0123456 PMC98765</note>'
        '<ptr target="https://example.org/x"/><ptr/><ptr target=" https://example.org/x "/>'
    )
    assert found == BibEntry(
        key="BIBREF0", ref_id="b0", title="Cats & dogs", authors=(Author("R", ("A",), "Schwartz", ""),), year=1995, venue="J Am Acad",
        label="7", volume="33", issue="1", pages="161--182", publisher="Elsevier", issn="1234-5678", doi="10.1000/abc.1",
        pubmed_id="123456", pmc_id="PMC98765", raw_text="[7] Schwartz RA. PMID: 0123456 PMC98765", urls=("https://example.org/x",),
    )  # fmt: skip


def test_raw_text_of_free_entry_is_its_own_text() -> None:
    free, kept, nested, plain = entries(
        "<bibl>Lee. <hi>A thing</hi>. 1999.</bibl>",
        '<bibl>Lee <note type="raw_reference">Said so.</note></bibl>',
        "<bibl>Hu.<lb/>Frogs. <bibl>Reprint.</bibl></bibl>",
        '<biblStruct><monogr><title level="m">Book</title></monogr></biblStruct>',
    )
    assert (free.raw_text, free.year, kept.raw_text, plain.raw_text) == ("Lee. A thing. 1999.", 1999, "Said so.", "")
    assert nested.raw_text == "Hu. Frogs. Reprint."


def test_entries_of_a_division_are_entries() -> None:
    found = teis.parse(
        "<p>x</p>", back="<div type='bibliography'><head>Works</head><bibl>Lee 1999</bibl><bibl>Hu 2001</bibl></div>"
    )
    assert ([one.year for one in found.bib_entries], found.back_matter) == ([1999, 2001], ())


@pytest.mark.parametrize(
    ("raws", "labels"),
    [
        (["[1] A", "[2] B"], ["1", "2"]),
        (["1. A", "2) B", "3.B"], ["1", "2", None]),
        (["[1] A", "B", "[1] C"], [None, None, None]),  # The numbers do not ascend.
        (["[Lee01] C"], ["Lee01"]),
    ],
)
def test_labels_are_read_from_entries(raws: list[str], labels: list[str | None]) -> None:
    assert [one.label for one in entries(*(f"<biblStruct>{note(raw)}</biblStruct>" for raw in raws))] == labels
    found = entry(note("[1] A") + "<label>(7).</label>")
    assert found.label == "7"


TITLE, PAGES, YEAR = ("title", "venue"), ("volume", "issue", "pages"), ("year",)
IDS = ("doi", "arxiv_id", "pubmed_id", "pmc_id")
ARXIV = ("10.48550/arxiv.2001.00001", "2001.00001", None, None)


def imprint(xml: str) -> str:
    return f"<monogr><imprint>{xml}</imprint></monogr>"


@pytest.mark.parametrize(
    "case",
    [
        (TITLE, '<analytic><title level="a">A</title></analytic><monogr><title level="m">M</title><title level="j">J</title></monogr>',
         "A", "J"),
        (PAGES, imprint('<biblScope unit="page" from="1"/><biblScope unit="page" to="9"/>'), "", "", "1--9"),
        (PAGES, imprint('<biblScope unit="pages">1–9</biblScope>'), "", "", "1–9"),
        (TITLE, '<analytic><title level="a">On <hi>frogs</hi><lb/>and<note>n</note></title></analytic>', "On frogs and", ""),
        (TITLE, '<analytic><title level="a">A</title></analytic><relatedItem><biblStruct><monogr><title level="j">J</title></monogr>'
         "</biblStruct></relatedItem>", "A", ""),
        # A year is between 1400 and 2100.
        (YEAR, imprint('<date when="1400"/>'), 1400),
        (YEAR, imprint('<date when="1399"/>'), None),
        (YEAR, imprint('<date when="2100"/>'), 2100),
        (YEAR, imprint('<date when="2101"/>'), None),
        # A year of the raw text is taken only if it is unique and no date exists.
        (YEAR, note("Lee 1999a; 1999b"), 1999),
        (YEAR, note("Lee 1999; 2001"), None),
        (YEAR, f'<monogr><date when="1980"/></monogr>{note("Lee 1999")}', 1980),
        # Identifiers of every level.
        (IDS, '<idno type="arXiv">arXiv:2001.00001v5[cs.CL]</idno>', *ARXIV),
        (IDS, '<idno type="DOI">10.48550/arXiv.2001.00001</idno>', *ARXIV),
        (IDS, '<ptr target="https://doi.org/10.1000/cd"/><ptr target="https://doi.org/10.1000/ef"/>', "10.1000/cd", None, None, None),
        (IDS, '<note type="raw_reference">Lee. PMID:34. PMC6789</note><note>PMID: 12</note>', None, None, "34", "PMC6789"),
        (IDS, '<note type="raw_reference">Ann. Pages 2001.00001 of a book. PMC123</note>', None, None, None, None),
    ],
)  # fmt: skip
def test_entry_has_its_fields(case: tuple[Any, ...]) -> None:
    names, xml, *expected = case
    found = entry(xml)
    assert [getattr(found, name) for name in names] == expected


def authors(*persons: str) -> str:
    return "<analytic>" + "".join(f"<author>{one}</author>" for one in persons) + "</analytic>"


ANN, BO, CY = person("Ann", "Lee"), person("Bo", "Hu"), person("Cy", "Wu")


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        # Names are split into first|middle|last|suffix.
        (authors(person("A", "van der Schaar", "B")), ["A|B|van der Schaar|"]),
        (authors(person("Martin", "King", "Luther", suffix="Jr"), person("Ann", "King Jr")), ["Martin|Luther|King|Jr", "Ann||King|Jr"]),
        (authors(person("JW", "Lee"), person("Jean-Luc", "O'Neill"), person("李", "Ğéß")), ["J|W|Lee|", "Jean-Luc||O'Neill|", "李||Ğéß|"]),
        (authors("<persName><nameLink>van</nameLink><nameLink>der</nameLink><surname>Berg</surname></persName>"), ["||van der Berg|"]),
        (authors("<persName><surname>Berg</surname><nameLink>van</nameLink></persName>"), ["||van Berg|"]),
        # Empty names and "et al." are not authors.
        (authors(ANN, "<persName>and others</persName>"), ["Ann||Lee|"]),
        # The first of analytic, monogr and series with authors counts.
        (f"<analytic><author/></analytic><monogr><author>{BO}</author></monogr><series><author>{CY}</author></series>", ["Bo||Hu|"]),
    ],
)  # fmt: skip
def test_entry_has_its_authors(xml: str, expected: list[str]) -> None:
    found = entry(xml).authors
    assert ["|".join((one.first, " ".join(one.middle), one.last, one.suffix)) for one in found] == expected


def test_author_has_affiliations_and_orcid() -> None:
    found = entry(
        '<author><persName><surname>Lee</surname></persName><idno type="ORCID">0000-0002-1825-0097</idno>'
        "<affiliation><orgName>Lab</orgName><orgName>MIT</orgName><orgName>MIT</orgName><address><settlement>Boston</settlement>"
        "<region>MA</region><country>US</country><postCode>1</postCode></address></affiliation>"
        '<affiliation><note type="raw_affiliation"><label>1</label> Kyoto</note><orgName>No</orgName></affiliation></author>'
    )
    author = found.authors[0].as_dict()
    assert author["orcid"] == "0000-0002-1825-0097"
    names = [one["name"] if isinstance(one, dict) else one for one in author["affiliations"]]
    assert names == ["Lab, MIT, Boston, MA, US", "Kyoto"]


def header(inside: str) -> dict[str, Any]:
    return tei.build_header(teis.parse("<p>x</p>", header=inside))


def test_header_gives_metadata_of_the_paper() -> None:
    source = (
        '<publicationStmt><date when="2003"/><date type="published">24 February 2016</date></publicationStmt><sourceDesc>'
        "<biblStruct><analytic><author><persName/></author></analytic></biblStruct><biblStruct><analytic>"
        f"<author>{person('Ada', 'Lovelace')}</author><author><affiliation><orgName>MIT</orgName></affiliation></author></analytic><monogr>"
        '<title level="j">J Neuroeng</title><title level="j">K</title><title>M</title><title level="s">S</title><imprint/></monogr>'
        '<idno type="MD5">AB</idno><idno type="DOI">10.1186/S12984-016-0129-6</idno><idno type="PMID">5</idno></biblStruct>'
        f"<biblStruct><analytic><title>Other</title><author>{person('B', 'Two')}</author></analytic></biblStruct></sourceDesc>"
    )
    parse = teis.parse("<p>x</p>", header=source, abstract="<p>One.</p><p>Two.</p>")
    ada = Author("Ada", (), "Lovelace", "").as_dict() | {"affiliations": [], "orcid": None}
    assert tei.build_header(parse) == {
        "title": "A title", "authors": [ada], "date": "2016-02-24", "date_precision": "day", "venue": "M", "journal": "J Neuroeng",
        "abstract": "One.\n\nTwo.", "doi": "10.1186/s12984-016-0129-6", "arxiv_id": None, "pubmed_id": "5", "pmc_id": None,
    }  # fmt: skip
    assert (parse.provenance.extractor, parse.provenance.version) == ("grobid", "0.8.0")
    found = header('<publicationStmt><date when="2003"/><date type="e-published" when="2002-04"/></publicationStmt>')
    assert (found["date"], found["date_precision"]) == ("2002-04", "month")
    assert header("<sourceDesc><biblStruct><title level='s'>S</title></biblStruct></sourceDesc>")["venue"] == "S"


@pytest.mark.parametrize(
    ("statement", "date"),
    [
        ("<date notBefore='2001-02'>spring</date>", "2001-02"),
        ("<date from='2001' to='2002'/>", "2001"),
        ("<date>2001</date>", "2001"),
    ],
)
def test_header_of_other_programs(statement: str, date: str) -> None:
    xml = teis.document("<p>x</p>", header=f"<publicationStmt>{statement}</publicationStmt>").decode()
    xml = xml.replace("</titleStmt>", "<author><persName>Ann Lee</persName></author></titleStmt>").replace(
        "<abstract></abstract>", ""
    )
    xml = xml.replace("<body>", "<front><div type='abstract'><p>Frogs.</p></div></front><body>")
    found = tei.convert(xml.encode(), file_sha1="0" * 40)
    assert (found.header.date, [a.last for a in found.header.authors], [p.text for p in found.abstract]) == (
        date,
        ["Lee"],
        ["Frogs."],
    )


def test_subtitle_is_part_of_the_title() -> None:
    """TEI gives it a title of its own: `<title level="a" type="sub">`."""
    titles = '<analytic><title level="a" type="main">On rivers</title><title level="a" type="sub">A survey</title></analytic>'
    data = teis.document("<p>x</p>", (f'<biblStruct xml:id="b0">{titles}</biblStruct>',)).replace(
        b"</titleStmt>", b'<title level="a" type="sub">Part of it</title></titleStmt>'
    )
    parse = tei.convert(data, file_sha1="")
    assert (parse.header.title, parse.bib_entries[0].title) == ("A title: Part of it", "On rivers: A survey")


@pytest.mark.parametrize(("name", "doi"), [("analytic", "10.1000/a"), ("monogr", "10.1000/a"), ("note", None)])
def test_identifier_counts_only_if_it_is_of_the_paper(name: str, doi: str | None) -> None:
    inside = f'<{name}><idno type="DOI">10.1000/a</idno></{name}>'
    assert header(f"<sourceDesc><biblStruct>{inside}</biblStruct></sourceDesc>")["doi"] == doi
