"""Front matter in JATS is read: groups, names, identifiers and conferences (JATS Tag Library 1.3)."""

from __future__ import annotations

import pytest

from s2corpus.sources import Record
from s2orc_parse.bibliography.author import Affiliation
from tests.unit.s2corpus.sources.samples import one

MEMBER = "<contrib contrib-type='author'><name><surname>Member</surname><given-names>Mo</given-names></name></contrib>"


def article(meta: str) -> Record:
    meta = f"{meta}<title-group><article-title>T</article-title></title-group>"
    return one("jats", f"<article><front><article-meta>{meta}</article-meta></front></article>")


@pytest.mark.parametrize(
    ("contributor", "name"),
    [
        (f"<collab>The <italic>Odd</italic> Group<xref>a</xref><contrib-group>{MEMBER}</contrib-group></collab>", ("", "The Odd Group")),
        (f"<collab><institution>Odd Institute</institution><contrib-group>{MEMBER}</contrib-group></collab>", ("", "Odd Institute")),
        ("<collab-alternatives><collab>Odd Group</collab><collab>Grupo Odd</collab></collab-alternatives>", ("", "Odd Group")),
        ("<name-alternatives><name><surname>Doe</surname><given-names>Jane</given-names></name></name-alternatives>", ("Jane", "Doe")),
        ("<string-name>Prof. Jane <surname>van der Doe</surname></string-name>", ("Jane", "van der Doe")),
    ],
)  # fmt: skip
def test_contributor_is_a_person_or_a_group(contributor: str, name: tuple[str, str]) -> None:
    record = article(
        f"<article-id pub-id-type='pmid'>7</article-id><contrib-group><contrib contrib-type='author'>{contributor}</contrib>"
        f"<contrib contrib-type='group'><string-name>Jo</string-name></contrib><contrib><anonymous/></contrib></contrib-group>"
    )
    assert [(a.first, a.last) for a in record.authors] == [name]


@pytest.mark.parametrize(
    ("ids", "record_id", "doi"),
    [
        ("<article-id pub-id-type='doi'> https://doi.org/10.1371/ODD.5 </article-id>", "jats:10.1371/odd.5", "10.1371/odd.5"),
        ("<article-id pub-id-type='doi' specific-use='version'>10.7554/eLife.1.3</article-id>"
         "<article-id pub-id-type='doi'>10.7554/eLife.1</article-id>", "jats:10.7554/elife.1", "10.7554/elife.1"),
        ("<article-id pub-id-type='pmc'>77</article-id>", "jats:pmc77", None),
        ("<article-id pub-id-type='jstor'>2346178</article-id>", "jats:10.2307/2346178", "10.2307/2346178"),
        ("<article-id pub-id-type='pii'>S0022</article-id>", "jats:s0022", None),
    ],
)  # fmt: skip
def test_record_id_is_the_normalized_identifier(ids: str, record_id: str, doi: str | None) -> None:
    record = article(ids)
    assert (record.record_id, record.doi) == (record_id, doi)


AFFILIATED = """<article-id pub-id-type="doi">10.1/b</article-id><contrib-group>
<contrib contrib-type="author"><contrib-id contrib-id-type="orcid">https://orcid.org/0000-0002-1825-0097</contrib-id>
<name><surname>Lo</surname><given-names>Kyle</given-names></name><xref ref-type="aff" rid="a1 a2"/></contrib>
<contrib contrib-type="author"><name><surname>Wu</surname><given-names>Ann</given-names></name>{other}</contrib></contrib-group>
<aff id="a1"><label>1</label><institution-wrap><institution-id institution-id-type="ror">https://ror.org/05w520734</institution-id>
<institution>Allen Institute for AI</institution></institution-wrap>, <city>Seattle</city><email>a@b.org</email></aff>
<aff id="a2"><sup>2</sup>Another <italic>Lab</italic>, Rome</aff>"""


def test_author_has_the_referenced_affiliations() -> None:
    """Several unreferenced affiliations are not assigned."""
    lab = Affiliation("Another Lab, Rome")
    first, second = article(AFFILIATED.format(other='<xref ref-type="aff" rid="a2">2</xref>')).authors
    assert first.affiliations == (Affiliation("Allen Institute for AI, Seattle", "05w520734"), lab)
    assert (first.orcid, second.affiliations) == ("0000-0002-1825-0097", (lab,))
    assert article(AFFILIATED.format(other="")).authors[1].affiliations == ()


def test_conference_is_the_venue() -> None:
    conference = "<conference><conf-name>Conf. on Odd</conf-name></conference>"
    assert article(f"<article-id pub-id-type='pmid'>7</article-id>{conference}").venue == "Conf. on Odd"
