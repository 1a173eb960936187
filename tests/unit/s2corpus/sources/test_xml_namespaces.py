"""An XML element that is cut out of a file keeps the namespaces of its ancestors (Namespaces in XML 1.0, §6.1)."""

from __future__ import annotations

import re

import pytest

from s2corpus.sources import Dropped, RejectReason
from tests.unit.s2corpus.sources.samples import entries

DUBLIN_CORE = b"""<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"
 xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc='http://purl.org/dc/elements/1.1/'
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><ListRecords>
<record><header><identifier>oai:arXiv.org:1911.02782</identifier></header><metadata><oai_dc:dc xsi:schemaLocation="a b">
<dc:title>A corpus</dc:title><dc:creator>Lo, Kyle</dc:creator><dc:date>2019-11-07</dc:date></oai_dc:dc></metadata></record>
<record><header><identifier>oai:arXiv.org:1903.00002</identifier></header><metadata><oai_dc:dc xmlns:oai_dc="x" xmlns:dc="y">
<dc:title>Slow waves</dc:title></oai_dc:dc></metadata></record></ListRecords></OAI-PMH>"""
ARXIV_FORMAT = b"""<o:OAI-PMH xmlns:o="http://www.openarchives.org/OAI/2.0/"><o:ListRecords xmlns:a-x="http://arxiv.org/OAI/arXiv/">
<o:record><o:header><o:identifier>oai:arXiv.org:1911.02782</o:identifier></o:header><o:metadata><a-x:arXiv><a-x:id>1911.02782</a-x:id>
<a-x:authors><a-x:author><a-x:keyname>Lo</a-x:keyname></a-x:author></a-x:authors><a-x:title>A corpus</a-x:title></a-x:arXiv>
</o:metadata></o:record></o:ListRecords></o:OAI-PMH>"""
PUBMED = b"""<set:PubmedArticleSet xmlns:set="urn:x" xmlns:m="http://www.w3.org/1998/Math/MathML"><set:PubmedArticle><set:MedlineCitation>
<set:PMID>7</set:PMID><set:Article><set:ArticleTitle>A corpus of <m:math><m:mi>x</m:mi></m:math></set:ArticleTitle></set:Article>
</set:MedlineCitation></set:PubmedArticle></set:PubmedArticleSet>"""
DBLP = b"""<dblp xmlns:x="urn:x"><article key="a/b"><author x:role="first">Kyle Lo</author><title>A corpus.</title></article></dblp>"""


@pytest.mark.parametrize(
    ("source", "content", "titles"),
    [
        ("arxiv", DUBLIN_CORE, ["A corpus", "Slow waves"]),
        ("arxiv", ARXIV_FORMAT, ["A corpus"]),
        ("dblp", DBLP, ["A corpus"]),
    ],
)
@pytest.mark.parametrize("chunk", [1, 50, 1 << 20])
def test_namespaces_of_the_root_apply(
    source: str, content: bytes, titles: list[str], chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("s2corpus.sources.xml_elements._CHUNK", chunk)
    found = entries(source, content)
    assert [record.title for record in found] == titles
    assert found[0].authors or source == "pubmed"


def test_namespaces_of_concatenated_responses_apply_to_their_own_records() -> None:
    again = re.sub(rb"\bdc:|(?<=xmlns:)dc\b", lambda found: b"d" + found.group(), DUBLIN_CORE.partition(b"?>")[2])
    assert [record.title for record in entries("arxiv", DUBLIN_CORE + again)] == ["A corpus", "Slow waves"] * 2


def test_undeclared_prefix_is_malformed() -> None:
    (dropped,) = entries("dblp", DBLP.replace(b'xmlns:x="urn:x"', b""))
    assert isinstance(dropped, Dropped) and dropped.reason is RejectReason.MALFORMED
