"""Front matter in JATS is read: groups, names, identifiers and conferences (JATS Tag Library 1.3)."""

from __future__ import annotations

import pytest

from s2corpus.sources import Record
from tests.unit.s2corpus.sources.samples import one

MEMBER = "<contrib contrib-type='author'><name><surname>Member</surname><given-names>Mo</given-names></name></contrib>"


def article(meta: str) -> Record:
    meta = f"{meta}<title-group><article-title>T</article-title></title-group>"
    return one("jats", f"<article><front><article-meta>{meta}</article-meta></front></article>")


@pytest.mark.parametrize(
    ("contributor", "name"),
    [
        (f"<collab>The Odd Group<contrib-group>{MEMBER}</contrib-group></collab>", ("", "The Odd Group")),
        (f"<collab>The <italic>Odd</italic> Group<xref>a</xref><contrib-group>{MEMBER}</contrib-group></collab>", ("", "The Odd Group")),
        (f"<collab><institution>Odd Institute</institution><contrib-group>{MEMBER}</contrib-group></collab>", ("", "Odd Institute")),
        ("<collab-alternatives><collab>Odd Group</collab><collab>Grupo Odd</collab></collab-alternatives>", ("", "Odd Group")),
        ("<name-alternatives><name><surname>Doe</surname><given-names>Jane</given-names></name></name-alternatives>", ("Jane", "Doe")),
        ("<string-name>Prof. Jane <surname>van der Doe</surname></string-name>", ("Jane", "van der Doe")),
        ("<string-name>Jane Doe</string-name>", ("Jane", "Doe")),
    ],
)  # fmt: skip
def test_contributor_is_a_person_or_a_group(contributor: str, name: tuple[str, str]) -> None:
    for kind in ("author", "group"):
        record = article(
            f"<article-id pub-id-type='pmid'>7</article-id><contrib-group><contrib contrib-type='{kind}'>{contributor}</contrib>"
            "<contrib><anonymous/></contrib></contrib-group>"
        )
        is_author = kind == "author" or "<collab" in contributor
        assert [(a.first, a.last) for a in record.authors] == ([name] if is_author else [])


@pytest.mark.parametrize(
    ("ids", "record_id", "doi"),
    [
        ("<article-id pub-id-type='doi'> https://doi.org/10.1371/ODD.5 </article-id>", "jats:10.1371/odd.5", "10.1371/odd.5"),
        ("<article-id pub-id-type='DOI'>doi:10.1371/odd.5</article-id>", "jats:10.1371/odd.5", "10.1371/odd.5"),
        ("<article-id pub-id-type='doi' specific-use='version'>10.7554/eLife.1.3</article-id>"
         "<article-id pub-id-type='doi'>10.7554/eLife.1</article-id>", "jats:10.7554/elife.1", "10.7554/elife.1"),
        ("<article-id pub-id-type='pmc'>77</article-id>", "jats:pmc77", None),
        ("<article-id pub-id-type='pmcid'>PMC77</article-id>", "jats:pmc77", None),
        ("<article-id pub-id-type='jstor'>2346178</article-id>", "jats:10.2307/2346178", "10.2307/2346178"),
        ("<article-id pub-id-type='publisher-id'>ab1</article-id>", "jats:ab1", None),
        ("<article-id pub-id-type='pii'>S0022</article-id>", "jats:s0022", None),
    ],
)  # fmt: skip
def test_record_id_is_the_normalized_identifier(ids: str, record_id: str, doi: str | None) -> None:
    record = article(ids)
    assert (record.record_id, record.doi) == (record_id, doi)


def test_conference_is_the_venue() -> None:
    conference = "<conference><conf-name>Conf. on Odd</conf-name></conference>"
    assert article(f"<article-id pub-id-type='pmid'>7</article-id>{conference}").venue == "Conf. on Odd"


@pytest.mark.parametrize(("source", "key"), [("crossref", "DOI"), ("unpaywall", "doi")])
def test_record_id_excludes_the_resolver(source: str, key: str) -> None:
    assert one(source, {key: "https://doi.org/10.1371/ODD.5", "title": ["T"]}).record_id == f"{source}:10.1371/odd.5"
