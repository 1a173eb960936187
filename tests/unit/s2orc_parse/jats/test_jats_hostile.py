"""Hostile JATS and JSON of Elsevier give a parse or a named outcome, and never uses much memory."""

from collections.abc import Callable

import pytest

from s2orc_parse import jats
from s2orc_parse.jats import elsevier
from s2orc_parse.parse_model import Parse
from tests.unit.s2orc_parse.jats import articles

TEXT = "<p>Text.</p>"


def entities(depth: int, inside: str) -> bytes:
    """Return an article with one entity that would expand to 10^depth letters, in its text or in an attribute."""
    inner = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, depth))
    body = inside.replace("@", f"&e{depth - 1};")
    return f'<?xml version="1.0"?><!DOCTYPE article [<!ENTITY e0 "x">{inner}]><article><body>{body}</body></article>'.encode()


@pytest.mark.parametrize(
    ("convert", "data", "outcome"),
    [
        (jats.convert, b"", "empty"),
        (jats.convert, b"<article>" + b"x" * 17_000_000 + b"</article>", "too_large"),
        (jats.convert, b"<article>" + b"<p/>" * 2_000_001 + b"</article>", "too_large"),
        (jats.convert, entities(10, '<p id="@">x</p>'), "entities"),
        (
            jats.convert,
            b'<!DOCTYPE article [<!ENTITY x SYSTEM "file:///etc/passwd">]><article><body><p>&x;</p></body></article>',
            "entities",
        ),
        (jats.convert, entities(3, "<p>@</p>").decode().encode("utf-16"), "entities"),
        (jats.convert, articles.article("<p>" + "<sec>" * 200 + "</sec>" * 200 + "</p>"), "too_deep"),
        (jats.convert, articles.article(TEXT)[:-40], "not_well_formed"),
        (jats.convert, b"<html><body><p>404</p></body></html>", "not_an_article"),
        (
            jats.convert,
            b"<articles>" + b"<article><front/><body><p>x</p></body></article>" * 2 + b"</articles>",
            "several_articles",
        ),
        (jats.convert, b"<article><body/></article>", "no_body"),
        (jats.convert, b"<article><sub-article><body><p>A letter.</p></body></sub-article></article>", "no_body"),
        (elsevier.convert, b"", "empty"),
        (elsevier.convert, b'{"docId": "S1", "body_text": [' + b'"' + b"x" * 17_000_000 + b'"]}', "too_large"),
        (elsevier.convert, b'{"docId": "S1", "body_text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too_deep"),
        (elsevier.convert, b"{", "not_well_formed"),
        (elsevier.convert, b'{"docId": "S1", "body_text": [{"sentence": "\\ud800"}]}', "not_well_formed"),
        (elsevier.convert, b"[1, 2]", "several_articles"),
        (elsevier.convert, b'{"paper_id": "1"}', "not_an_article"),
        (elsevier.convert, b'{"docId": "S1", "body_text": [{"sentence": " "}, {"sentence": null}, {}]}', "no_body"),
    ],
)
def test_bad_file_has_its_outcome(convert: Callable[..., Parse], data: bytes, outcome: str) -> None:
    with pytest.raises(jats.BadArticle) as bad:
        convert(data, sha1="")
    assert bad.value.outcome == outcome


def test_document_type_is_not_loaded() -> None:
    """The document type in every JATS file is not loaded; HTML's character entities are available without it."""
    (paragraph,) = articles.parse("<p>&alpha;&#x2009;&ndash; &unknown;x</p>").body_text
    assert paragraph.text == "α – x"


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
