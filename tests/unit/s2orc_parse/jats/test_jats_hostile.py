"""Hostile JATS and JSON of Elsevier give a parse or a named outcome, and never uses much memory."""

from collections.abc import Callable

import pytest

from s2orc_parse import jats
from s2orc_parse.jats import elsevier
from s2orc_parse.parse_model import Parse
from tests.unit.s2orc_parse.jats import articles

ARTICLE = b"<article><body><p>Text.</p>%b</body></article>"
JSON = b'{"docId": "S1", "body_text": [{"sentence": "Text."}]}'
# docs/fulltexts.md: 16 MB, a million elements (with an opening and a closing tag), nested 120 deep.
MAX_SIZE, MAX_TAGS, MAX_DEPTH = 16 << 20, 2_000_000, 120
PADDING = b"<i/>".ljust(4096) * 4096
DATE = b"<pub-date><year>2020</year><month>" + b"1" * 5_000 + b"</month></pub-date>"
"""Python refuses to read integers of more than 4,300 digits."""
DATED = b"<article><front><article-meta>" + DATE + b"</article-meta></front><body><p>Text.</p></body></article>"


@pytest.mark.parametrize(
    ("convert", "data", "outcome"),
    [
        (jats.convert, b"", "empty"), (jats.convert, ARTICLE % PADDING[len(ARTICLE) - 3 :], "too_large"),
        (jats.convert, ARTICLE % (b"x" * 11_000_000), "too_large"), (jats.convert, ARTICLE % (b"<i/>" * (MAX_TAGS - 5)), "too_large"),
        (jats.convert, articles.declare_entities(10, '<article><body><p id="@">x</p></body></article>'), "entities"),
        (jats.convert, b'<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]><article>&x;</article>', "entities"),
        (jats.convert, articles.declare_entities(3, "<article>@</article>").decode().encode("utf-16"), "entities"),
        (jats.convert, ARTICLE % (b"<sec>" * (MAX_DEPTH + 1) + b"</sec>" * (MAX_DEPTH + 1)), "too_deep"),
        (jats.convert, (ARTICLE % b"")[:-10], "not_well_formed"), (jats.convert, b"<html><body><p>404</p></body></html>", "not_an_article"),
        (jats.convert, b"<articles>" + b"<article><front/></article>" * 2 + b"</articles>", "several_articles"),
        (jats.convert, b"<article><body/></article>", "no_body"),
        (jats.convert, b"<article><sub-article><body><p>A letter.</p></body></sub-article></article>", "no_body"),
        (elsevier.convert, b"", "empty"), (elsevier.convert, JSON.ljust(MAX_SIZE + 1), "too_large"),
        (elsevier.convert, b'{"docId": "S1", "body_text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too_deep"),
        (elsevier.convert, b"{", "not_well_formed"),
        (elsevier.convert, b'{"docId": "S1", "body_text": [{"sentence": "\\ud800"}]}', "not_well_formed"),
        (elsevier.convert, b"[1, 2]", "several_articles"), (elsevier.convert, b'{"paper_id": "1"}', "not_an_article"),
        (elsevier.convert, b'{"docId": "S1", "body_text": [{"sentence": " "}, {"sentence": null}, {}]}', "no_body"),
    ],
)  # fmt: skip
def test_bad_file_has_its_outcome(convert: Callable[..., Parse], data: bytes, outcome: str) -> None:
    with pytest.raises(jats.BadArticle) as bad:
        convert(data, sha1="")
    assert bad.value.outcome == outcome


@pytest.mark.parametrize(
    ("convert", "data"),
    [
        (jats.convert, ARTICLE % PADDING[len(ARTICLE) - 2 :]), (jats.convert, ARTICLE % (b"<i/>" * (MAX_TAGS - 6))),
        (jats.convert, DATED),
        (jats.convert, ARTICLE % (b"<sec>" * MAX_DEPTH + b"</sec>" * MAX_DEPTH)), (elsevier.convert, JSON.ljust(MAX_SIZE)),
    ],
)  # fmt: skip
def test_file_at_its_limits_is_read(convert: Callable[..., Parse], data: bytes) -> None:
    assert [paragraph.text for paragraph in convert(data, sha1="").body_text] == ["Text."]


def test_document_type_is_not_loaded() -> None:
    """The document type is not loaded. Without it the entities of HTML and of ISO 8879's Greek letters are read.

    Nothing else of the text changes: neither an unknown entity nor a CDATA section.
    """
    (paragraph,) = articles.parse(
        "<p>&alpha;&#x2009;&ndash; &rgr;-Virginids &OHgr; &unknown;x <![CDATA[a &mu; b]]></p>"
    ).body_text
    assert paragraph.text == "α – ρ-Virginids Ω &unknown;x a &mu; b"


def test_prefix_may_lack_its_namespace() -> None:
    """Elements cut from a larger document, a wrong URI or id lose neither the paper nor its text and formulas."""
    start = '<article xmlns:xsi="not a URI"><body><p xml:id="0">See <ext-link xlink:href="https://a.org">b</ext-link>: '
    formula = "<mml:math><mml:mi>x</mml:mi></mml:math> <odd:b>y</odd:b></p></body></article>"
    (paragraph,) = jats.convert((start + formula).encode(), sha1="").body_text
    assert paragraph.text == "See b: x y"
    assert [formula.text for formula in paragraph.eq_spans] == ["x"]


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda xml: xml.replace(b"<article ", b'<article xmlns="https://jats.nlm.nih.gov/ns/archiving/1.3/" '),
        lambda xml: xml.replace(articles.DOCTYPE.encode(), b"<pmc-articleset>").replace(b"</article>", b"</article></pmc-articleset>"),
    ],
)  # fmt: skip
def test_wrappers_do_not_change_the_parse(rewrite: Callable[[bytes], bytes]) -> None:
    data = articles.article(f"<sec><title>Ärzte</title><p>Text {articles.cite(1)}.</p></sec>", 2)
    plain, wrapped = jats.convert(data, sha1=""), jats.convert(rewrite(data), sha1="")
    assert wrapped.body_text == plain.body_text
    assert wrapped.bib_entries == plain.bib_entries
    assert wrapped.header == plain.header


def test_cells_of_spanning_tables_are_bounded() -> None:
    row = "<tr>" + '<td colspan="999">x</td>' * 50 + "</tr>"
    (table,) = articles.parse(f"<p/><table-wrap><table>{row * 50}</table></table-wrap>").ref_entries
    assert sum(map(len, table.cells or ())) < 30_000
