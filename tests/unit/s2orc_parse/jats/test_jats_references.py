"""Each reference of a JATS article, as publishers write it, gives the expected entry (SPEC §3.23, JATS Tag Library 1.3)."""

import pytest

from pdf2tei.references.fields import parse_bibliography_item
from s2orc_parse import jats
from s2orc_parse.parse_model import BibEntry
from tests.unit.s2orc_parse.jats import articles
from tests.unit.s2orc_parse.jats.articles import cite


def reference(fields: str, kind: str = "journal", element: str = "element-citation") -> BibEntry:
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
        ('<pub-id pub-id-type="jstor">2346178</pub-id>', {"doi": "10.2307/2346178"}),
        ('<pub-id pub-id-type="other">PMC77</pub-id><pub-id>PMID: 55</pub-id>', {"pubmed_id": "55", "pmc_id": "PMC77"}),
        ("<article-title>On<break/>frogs<xref ref-type='fn' rid='n'>1</xref></article-title><fpage>1</fpage><page-range>1–5</page-range>",
         {"title": "On frogs", "pages": "1--5"}),
        ('<data-title>D</data-title><pub-id pub-id-type="accession" xlink:href="https://x.org/1">D1</pub-id>', {"urls": ("https://x.org/1",)}),
        ('See <ext-link xlink:href="https://x.org"/>.', {"raw_text": "See https://x.org."}),
        ('<pub-id pub-id-type="medline">98765432</pub-id><pub-id pub-id-type="pii">S0022</pub-id>', {}),
    ],
)  # fmt: skip
def test_entries_have_all_tagged_fields(fields: str, wanted: dict[str, object]) -> None:
    found = reference(fields)
    expected = {**dict.fromkeys(("doi", "pubmed_id", "pmc_id", "arxiv_id")), "authors": [], **wanted}
    assert {name: getattr(found, name) for name in expected} | {"authors": [a.last for a in found.authors]} == expected
    assert (found.ref_id, found.label) == ("R1", "1")


def test_reference_without_fields_has_its_printed_text() -> None:
    found = reference(
        "Haug, H. &amp; Lin, J. (2003). <italic>J. Appl.</italic> <bold>46</bold>, 33.", element="mixed-citation"
    )
    assert (found.title, found.year, found.raw_text) == ("", 2003, "Haug, H. & Lin, J. (2003). J. Appl. 46, 33.")


@pytest.mark.parametrize(
    ("kind", "fields", "title", "venue"),
    [
        ("journal", "<source>J. Chem. Soc.</source><year>1999</year><volume>1</volume><fpage>2</fpage>", "", "J. Chem. Soc."),
        ("book", "<source>A book</source><fpage>5</fpage><publisher-name>Press</publisher-name>", "A book", ""),
        ("book", "<chapter-title>A chapter</chapter-title><source>A book</source>", "A chapter", "A book"),
        ("confproc", "<source>Proceedings of Odd</source><fpage>5</fpage>", "", "Proceedings of Odd"),
    ],
)  # fmt: skip
def test_source_is_venue_of_parts_and_title_of_books(kind: str, fields: str, title: str, venue: str) -> None:
    for element in ("element-citation", "mixed-citation", "nlm-citation"):
        found = reference(fields, kind, element)
        assert (found.title, found.venue) == (title, venue)


# references of 10.1371/journal.pone.0081648, 10.1371/journal.pone.0087236 and 10.1107/S1744309111002077, whose files tag no title
@pytest.mark.parametrize(
    ("printed", "title", "authors", "place"),
    [
        ("Stocker TF (2013) The closing door of climate targets. Science 339, 280–282.",
         "The closing door of climate targets", ["Stocker"], ("Science", "339", "280--282")),
        ("Leksell L. The stereotactic method and radiosurgery of the brain. Acta Chir Scand. 1951;102(4):316–9.",
         "The stereotactic method and radiosurgery of the brain", ["Leksell"], ("Acta Chir Scand", "102", "316--9")),
        ("Hotez PJ (2013) The Disease next door. Foreign Policy March 25, 2013, accessed April 20, 2013.",
         "The Disease next door", ["Hotez"], ("", "", "")),
        # a journal, the title of another part, and the first half of a title
        ("Ogita, H., Rikitake, Y., Miyoshi, J. &amp; Takai, Y. (2010). Proc. Jpn Acad. Ser. B Phys. Biol. Sci. 86, 621–629.",
         "", [], ("", "", "")),
        ("Roček Z (2000) Mesozoic anurans. In: Heatwole H, Carroll RL, editors, Amphibian Biology, Vol. 4. Palaeontology. "
         "The evolutionary history of amphibians. Chipping Norton: Surrey Beatty. pp. 1295–1331.", "", [], ("", "", "")),
        ("Petron G, Frost GJ (2013) Reply to comment on “Hydrocarbon emissions characterization in the Colorado Front Range "
         "– A pilot study” by Michael A. Levi. J Geophys Res 118, D018487.", "", [], ("", "", "")),
    ],
)  # fmt: skip
def test_printed_reference_gives_only_a_certain_title(
    printed: str, title: str, authors: list[str], place: tuple[str, ...]
) -> None:
    back = (
        f'<ref-list><ref id="R1"><mixed-citation publication-type="other">{printed}</mixed-citation></ref></ref-list>'
    )
    data = articles.article("<p>Text.</p>", back=back)
    entry = jats.convert(data, sha1="", parse_reference=parse_bibliography_item).bib_entries[0]
    found = (entry.title, [author.last for author in entry.authors], (entry.venue, entry.volume, entry.pages))
    assert found == (title, authors, place)


PRINTED = "<mixed-citation>LEE, A. Um rio. Rev. Odd, v. 1, p. 3, 2001. Doi: 10.5555/rio.1</mixed-citation>"
STRUCTURED = (
    '<element-citation publication-type="journal"><name><surname>LEE</surname><given-names>A.</given-names></name>'
    "<article-title>Um rio</article-title><source>Rev. Odd</source><year>2001</year></element-citation>"
)


@pytest.mark.parametrize(
    ("forms", "titles"),
    [
        (PRINTED + STRUCTURED, ["Um rio"]),  # SciELO PS: both forms of one work
        (STRUCTURED + PRINTED, ["Um rio"]),
        (f"<citation-alternatives>{PRINTED}{STRUCTURED}</citation-alternatives>", ["Um rio"]),
        (PRINTED + STRUCTURED + PRINTED + STRUCTURED, ["Um rio", "Um rio"]),
        (STRUCTURED + STRUCTURED, ["Um rio", "Um rio"]),  # two works of one reference
    ],
)
def test_forms_of_one_citation_are_one_entry(forms: str, titles: list[str]) -> None:
    body = f"<p>Ver {cite(1, 'Lee, 2001')}.</p>"
    data = articles.article(body).replace(b"<ref-list>", f'<ref-list><ref id="R1">{forms}</ref>'.encode())
    found = jats.convert(data, sha1="0" * 40)
    assert [entry.title for entry in found.bib_entries] == titles
    assert len(found.body_text[0].cite_spans) == len(titles)
    if PRINTED in forms:
        (first, *_) = found.bib_entries
        assert (first.doi, first.raw_text[:8], [a.last for a in first.authors]) == (
            "10.5555/rio.1", "LEE, A. ", ["LEE"],
        )  # fmt: skip


@pytest.mark.parametrize(
    "fields",
    [
        '<date-in-citation content-type="access-date"><day>3</day><month>5</month><year>2019</year></date-in-citation>',
        "<access-date>2019 May 3</access-date>", "<comment>Accessed 3 May 2019</comment>",
    ],
)  # fmt: skip
def test_date_of_access_is_not_the_year(fields: str) -> None:
    assert reference(f"<article-title>Page</article-title>{fields}").year is None
    assert reference(f"<article-title>Page</article-title><year>2001</year>{fields}").year == 2001
