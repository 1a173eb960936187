"""All real JATS files and generated trees obey the laws of a parse (SPEC §3.3)."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from devtools.bench.jats import list_callouts, list_citations
from s2orc_parse import jats, tei
from s2orc_parse.words import unify_characters
from s2orc_parse.xml import parse_xml
from tests.unit.parse_laws import check_laws, nest, words
from tests.unit.s2orc_parse.jats import articles

WITHOUT_BODY = {
    "elife_poa_e06828.xml", "simple-jats-doctype-1.1.xml", "simple-jats-doctype-1.1d3.xml", "xmlio_input.xml",
    "xmlio_output_convert_xlink.xml",
}  # fmt: skip
# Not running text.
AWAY = "title label fig table-wrap chem-struct-wrap disp-formula inline-formula fn supplementary-material media graphic"
RUNNING = etree.XPath(f"/article/body//p//text()[not(ancestor::*[contains(' {AWAY} ', concat(' ', name(), ' '))])]")


def test_every_real_article_obeys_the_laws(shared_data: Path) -> None:
    files = [*shared_data.glob("jats/**/*.xml"), *shared_data.glob("jats/*.nxml"), *shared_data.glob("pmc-*/*.nxml")]
    assert len(files) == 191  # PLOS, eLife and PMC
    wanted = found = 0
    for path in files:
        data = path.read_bytes()
        if path.name in WITHOUT_BODY:
            with pytest.raises(jats.BadArticle, match="no_body"):
                jats.convert(data, sha1="0" * 40)
            continue
        parse = jats.convert(data, sha1="0" * 40)
        check_laws(parse)
        line = tei.to_json_bytes(tei.to_s2orc(parse))
        assert line == tei.to_json_bytes(tei.to_s2orc(jats.convert(data, sha1="0" * 40))), path
        json.loads(line.decode("utf-8"))
        printed = list_callouts(parse_xml(data))
        wanted += printed.total()
        found += (printed & list_citations(parse)).total()
        texts = "".join("".join(p.text.split()) for p in (*parse.body_text, *parse.back_matter))
        pieces = ["".join(unify_characters(str(piece)).split()) for piece in RUNNING(parse_xml(data))]
        assert [piece for piece in pieces if piece not in texts] == [], path
        source = "".join(unify_characters("".join(parse_xml(data).itertext())).split())
        for text, count in Counter(paragraph.text for paragraph in parse.body_text if len(paragraph.text) > 80).items():
            assert count == 1 or source.count("".join(text.split())[:30]) >= count, text
    assert found >= 0.99 * wanted  # The other callouts are in headings and pictures, or print nothing.


# Generated trees contain every element that a publisher may write, in combinations that none writes.

callouts = st.builds(
    "<xref{}{}>{}</xref>".format,
    st.sampled_from(["", *(f' ref-type="{kind}"' for kind in ("bibr", "fig", "sec", "fn", "weird"))]),
    st.sampled_from(["", *(f' rid="{target}"' for target in ("R1", "R1 R2", "R99", "F1", "S1", "N1", " "))]),
    st.one_of(words, st.sampled_from(["1", "[1]", "1–3", "3", "<sup>2</sup>", ""])),
)
formulas = st.sampled_from(
    [
        "<disp-formula id='E1'><label>(1)</label><tex-math>x=y</tex-math></disp-formula>",
        "<inline-formula><mml:math><mml:mi>x</mml:mi><mml:mo> </mml:mo></mml:math></inline-formula>",
        "<inline-formula><inline-graphic/></inline-formula>",
        "<disp-formula/>",
    ]
)
inline = ("italic", "sup", "p", "list", "disp-quote", "fn", "xref", "named-content", "break")
texts = nest(words | callouts | formulas | st.just("–"), inline)
blocks = st.one_of(
    texts.map("<p>{}</p>".format),
    texts,
    st.builds("<title>{}</title>".format, texts),
    st.builds("<label>{}</label>".format, st.sampled_from(["1", "1.2.", "IV", "Box 1", " "])),
    st.builds("<list><list-item><label>•</label><p>{}</p>{}</list-item></list>".format, texts, texts),
    st.builds("<statement><label>Lemma</label><p>{}</p></statement>".format, texts),
    st.builds(
        "<fig id='F1'><label>Fig. 1</label><caption><title>{}</title><p>{}</p></caption></fig>".format, texts, texts
    ),
    st.builds(
        "<table-wrap><table><tr><td colspan='3'>{}</td><th>{}</th></tr></table></table-wrap>".format, texts, texts
    ),
    st.builds("<fn-group><fn id='N1'><label>a</label><p>{}</p></fn><fn>{}</fn></fn-group>".format, texts, texts),
)
sections = st.recursive(
    st.lists(blocks, max_size=4).map("".join),
    lambda inner: st.lists(st.builds("<sec id='S1'>{}</sec>".format, inner), max_size=3).map("".join),
    max_leaves=4,
)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(body=sections, abstract=texts, back=sections)
def test_generated_trees_obey_the_laws(body: str, abstract: str, back: str) -> None:
    parse = articles.parse(f"<p/>{body}", 3, meta=f"<abstract><p>{abstract}</p></abstract>", back=f"<ack>{back}</ack>")
    check_laws(parse)
    tei.to_json_bytes(tei.to_s2orc(parse))
    tei.to_json_bytes(tei.to_gorc(parse))
