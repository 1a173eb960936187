"""References in JATS give the work's title, venue, printed text and identifiers (JATS Tag Library 1.3)."""

from __future__ import annotations

import pytest

from s2orc_parse import jats
from s2orc_parse.parse_model import BibEntry
from tests.unit.s2orc_parse.jats import articles

LEE = "<name><surname>Lee</surname><given-names>A</given-names></name>"
HU = "<name><surname>Hu</surname><given-names>B</given-names></name>"


def entry(fields: str, kind: str = "journal", element: str = "element-citation") -> BibEntry:
    ref = f'<ref id="R1"><label>1.</label><{element} publication-type="{kind}">{fields}</{element}></ref>'
    data = articles.article("<p>x</p>").replace(b"<ref-list>", f"<ref-list>{ref}".encode())
    (found,) = jats.convert(data, sha1="").bib_entries
    return found


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        (
            '<person-group person-group-type="author"><name><surname>van Dam</surname><given-names>J. K.</given-names></name><etal/>'
            '</person-group><person-group person-group-type="editor"><name><surname>Ed</surname></name></person-group><year>2004a</year>'
            "<article-title>On <italic>E. coli</italic></article-title><source>Nature</source><volume>3</volume><issue>2</issue>"
            '<fpage>10</fpage><lpage>19</lpage><pub-id pub-id-type="doi">10.1038/NATURE.1</pub-id><pub-id pub-id-type="pmid">0123</pub-id>'
            '<pub-id pub-id-type="pmcid">PMC77</pub-id>',
            {"title": "On E. coli", "year": 2004, "venue": "Nature", "volume": "3", "issue": "2", "pages": "10--19",
             "doi": "10.1038/nature.1", "pubmed_id": "123", "pmc_id": "PMC77", "authors": ["van Dam"]},
        ),
        (
            "<collab>The Group</collab><source>A book</source><publisher-name>Press</publisher-name><year>1999</year>",
            {"title": "A book", "venue": "", "publisher": "Press", "year": 1999, "authors": ["The Group"]},
        ),
        (
            '<string-name>Ann B. Lee</string-name><article-title>Deep</article-title><source>arXiv</source><comment>arXiv:1706.03762v2 '
            '<ext-link xlink:href="http://dx.doi.org/10.48550/arXiv.1706.03762">link</ext-link></comment>',
            {"title": "Deep", "arxiv_id": "1706.03762", "doi": "10.48550/arxiv.1706.03762", "year": None, "authors": ["Lee"]},
        ),
        # Identifiers are read by their type.
        ('<pub-id pub-id-type="doi">https://doi.org/10.1371/ODD.1</pub-id>', {"doi": "10.1371/odd.1"}),
        ('<pub-id pub-id-type="jstor">2346178</pub-id>', {"doi": "10.2307/2346178"}),
        ('<pub-id pub-id-type="other">PMC77</pub-id><pub-id>PMID: 55</pub-id>', {"pubmed_id": "55", "pmc_id": "PMC77"}),
        ('<pub-id pub-id-type="arxiv">1706.03762v2</pub-id>', {"doi": "10.48550/arxiv.1706.03762", "arxiv_id": "1706.03762"}),
        ('<pub-id pub-id-type="doi" xlink:href="https://doi.org/10.1371/odd.1"/>', {"doi": "10.1371/odd.1"}),
        ('<pub-id pub-id-type="medline">98765432</pub-id><pub-id pub-id-type="pii">S0022</pub-id>', {}),
        ('<ext-link xlink:href="https://www.jstor.org/stable/2346178">x</ext-link>', {"doi": "10.2307/2346178"}),
    ],
)  # fmt: skip
def test_entries_have_all_tagged_fields(fields: str, wanted: dict[str, object]) -> None:
    found = entry(fields)
    expected = {**dict.fromkeys(("doi", "pubmed_id", "pmc_id", "arxiv_id")), "authors": [], **wanted}
    assert {name: getattr(found, name) for name in expected} | {"authors": [a.last for a in found.authors]} == expected
    assert (found.ref_id, found.label) == ("R1", "1")


def test_reference_without_fields_has_its_printed_text() -> None:
    found = entry(
        "Haug, H. &amp; Lin, J. (2003). <italic>J. Appl.</italic> <bold>46</bold>, 33.", element="mixed-citation"
    )
    assert (found.title, found.year, found.raw_text) == ("", 2003, "Haug, H. & Lin, J. (2003). J. Appl. 46, 33.")


@pytest.mark.parametrize(
    ("kind", "fields", "title", "venue"),
    [
        ("journal", "<source>J. Chem. Soc.</source><year>1999</year><volume>1</volume><fpage>2</fpage>", "", "J. Chem. Soc."),
        ("journal", "<source>A tool for trees version 3 [computer program]</source>", "A tool for trees version 3 [computer program]", ""),
        ("other", "<source>Statistical inference</source><volume>191 p</volume>", "Statistical inference", ""),
        ("book", "<source>A book</source><fpage>5</fpage><publisher-name>Press</publisher-name>", "A book", ""),
        ("book", "<chapter-title>A chapter</chapter-title><source>A book</source>", "A chapter", "A book"),
        ("confproc", "<article-title>Work</article-title><conf-name>Conf. on Odd</conf-name>", "Work", "Conf. on Odd"),
        ("confproc", "<source>Proceedings of Odd</source><fpage>5</fpage>", "", "Proceedings of Odd"),
    ],
)  # fmt: skip
def test_source_is_venue_of_parts_and_title_of_books(kind: str, fields: str, title: str, venue: str) -> None:
    for element in ("element-citation", "mixed-citation", "nlm-citation"):
        found = entry(fields, kind, element)
        assert (found.title, found.venue) == (title, venue)


@pytest.mark.parametrize(
    ("fields", "raw"),
    [
        (
            f"<person-group>{LEE}{HU}</person-group><article-title>On odd things</article-title><source>J. Odd</source>"
            "<year>2001</year><volume>12</volume><issue>3</issue><fpage>45</fpage><lpage>50</lpage>"
            '<pub-id pub-id-type="doi">10.1371/odd.1</pub-id>',
            "Lee A, Hu B. On odd things. J. Odd. 2001;12(3):45-50. 10.1371/odd.1",
        ),
        (
            f"\n {LEE}\n {HU}\n <year>2001</year>\n <article-title>Why?</article-title>\n <source>J Odd</source> <volume>12</volume>",
            "Lee A, Hu B. 2001. Why? J Odd. 12",
        ),
    ],
)
def test_citation_of_fields_is_printed_with_separators(fields: str, raw: str) -> None:
    assert entry(fields).raw_text == raw
    assert entry(fields, element="mixed-citation").raw_text == raw


def test_group_author_of_reference_has_its_own_name() -> None:
    members = f"<contrib-group><contrib>{LEE}</contrib></contrib-group>"
    found = entry(f"<collab>The <italic>Odd</italic> Group{members}</collab>{HU}<article-title>Work</article-title>")
    assert [(a.first, a.last) for a in found.authors] == [("", "The Odd Group"), ("B", "Hu")]
