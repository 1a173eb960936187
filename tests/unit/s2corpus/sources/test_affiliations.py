"""Affiliations and ORCIDs are read from Crossref, JATS and the generic form.

They do not distinguish authors.
"""

from __future__ import annotations

from pathlib import Path

from s2corpus.sources import Record, read
from s2corpus.sources.arrow import batches, read_record
from s2orc_parse.bibliography.author import Affiliation, Author
from tests.unit.s2corpus.sources.samples import one

ORCID = "0000-0002-1825-0097"
AI2 = Affiliation("Allen Institute for AI, Seattle", "05w520734")


def test_crossref_author_has_affiliations_and_orcid() -> None:
    ids = [{"id": "https://ror.org/05w520734", "id-type": "ROR"}]
    place = {"name": "Allen Institute for AI", "place": ["Seattle"], "id": ids}
    record = one("crossref", {
        "DOI": "10.1/a", "title": ["On a"],
        "author": [{"given": "Kyle", "family": "Lo", "ORCID": f"http://orcid.org/{ORCID}", "affiliation": [place]}, {"family": "Wu"}],
    })  # fmt: skip
    assert record.authors[0].affiliations == (AI2,) and record.authors[0].orcid == ORCID
    assert record.authors[1].affiliations == () and record.authors[1].orcid is None


JATS = """<article><front><article-meta><article-id pub-id-type="doi">10.1/b</article-id>
<title-group><article-title>On b</article-title></title-group><contrib-group>
<contrib contrib-type="author"><contrib-id contrib-id-type="orcid">https://orcid.org/{orcid}</contrib-id>
<name><surname>Lo</surname><given-names>Kyle</given-names></name><xref ref-type="aff" rid="a1 a2"/></contrib>
<contrib contrib-type="author"><name><surname>Wu</surname><given-names>Ann</given-names></name>{other}</contrib></contrib-group>
<aff id="a1"><label>1</label><institution-wrap><institution-id institution-id-type="ror">https://ror.org/05w520734</institution-id>
<institution>Allen Institute for AI</institution></institution-wrap>, <city>Seattle</city><email>a@b.org</email></aff>
<aff id="a2"><sup>2</sup>Another <italic>Lab</italic>, Rome</aff></article-meta></front></article>"""


def test_jats_author_has_the_referenced_affiliations() -> None:
    """Several unreferenced affiliations are not assigned."""
    lab = Affiliation("Another Lab, Rome")
    first, second = one("jats", JATS.format(orcid=ORCID, other='<xref ref-type="aff" rid="a2">2</xref>')).authors
    assert (first.affiliations, first.orcid, second.affiliations) == ((AI2, lab), ORCID, (lab,))
    assert one("jats", JATS.format(orcid=ORCID, other="")).authors[1].affiliations == ()


def test_generic_form_and_table_preserve_affiliations() -> None:
    given = {"first": "Kyle", "last": "Lo", "affiliations": ["Rome", {"name": AI2.name, "ror": AI2.ror}]}
    record = one("jsonl", {"record_id": "x:1", "title": "On x", "authors": [{**given, "orcid": ORCID}]})
    assert record.authors[0].affiliations == (Affiliation("Rome"), AI2) and record.authors[0].orcid == ORCID
    (back,) = map(read_record, next(batches([record])).to_pylist())
    assert repr(back) == repr(record), "equality ignores affiliations"


def test_authors_with_equal_names_are_equal() -> None:
    assert Author("A", (), "Lo", "", (AI2,), ORCID) == Author("A", (), "Lo", "")


def test_most_authors_of_real_articles_have_affiliations(shared_data: Path) -> None:
    entries = [entry for file in sorted(shared_data.glob("pmc-pdf/*.nxml")) for entry in read("jats", file)]
    authors = [author for entry in entries if isinstance(entry, Record) for author in entry.authors]
    assert sum(bool(a.affiliations) for a in authors) > 0.9 * len(authors)
    assert sum(a.orcid is not None for a in authors) > 10
