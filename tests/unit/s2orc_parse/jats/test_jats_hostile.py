"""Hostile JATS gives a parse or a named outcome, and never uses much memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from s2orc_parse import jats
from tests.unit.s2orc_parse.jats import articles

TEXT = "<p>Text.</p>"


def entities(depth: int, inside: str) -> bytes:
    """Return an article with one entity that would expand to 10^depth letters, in its text or in an attribute."""
    inner = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, depth))
    body = inside.replace("@", f"&e{depth - 1};")
    return f'<?xml version="1.0"?><!DOCTYPE article [<!ENTITY e0 "x">{inner}]><article><body>{body}</body></article>'.encode()


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"<article>" + b"x" * 17_000_000 + b"</article>", "too_large"),
        (b"<article>" + b"<p/>" * 2_000_001 + b"</article>", "too_large"),
        (entities(10, "<p>@</p>"), "entities"),
        (entities(10, '<p id="@">x</p>'), "entities"),
        (
            b'<!DOCTYPE article [<!ENTITY x SYSTEM "file:///etc/passwd">]><article><body><p>&x;</p></body></article>',
            "entities",
        ),
        (b'<!DOCTYPE article [<!ENTITY % x SYSTEM "http://127.0.0.1/x.dtd"> %x;]><article/>', "entities"),
        (entities(3, "<p>@</p>").decode().encode("utf-16"), "entities"),
        (articles.article("<p>" + "<sec>" * 200 + "</sec>" * 200 + "</p>"), "too_deep"),
        (articles.article(TEXT)[:-40], "not_well_formed"),
        (articles.article(TEXT).replace(b"Text", b"T\xe9xt"), "not_well_formed"),
        (b"<article><body><p>\x00</p></body></article>", "not_well_formed"),
        (b"<html><body><p>404</p></body></html>", "not_an_article"),
        (
            b"<articles>" + b"<article><front/><body><p>x</p></body></article>" * 2 + b"</articles>",
            "several_articles",
        ),
        (b"<article><front/></article>", "no_body"),
        (b"<article><body/></article>", "no_body"),
        (b"<article><sub-article><body><p>A letter.</p></body></sub-article></article>", "no_body"),
        (articles.article("<sec>" * 300 + "</sec>" * 300), "too_deep"),
    ],
)
def test_bad_file_has_its_outcome(data: bytes, outcome: str) -> None:
    with pytest.raises(jats.BadArticle) as bad:
        jats.convert(data, sha1="")
    assert bad.value.outcome == outcome


def test_document_type_is_not_loaded() -> None:
    """The document type in every JATS file is not loaded; HTML's character entities are available without it."""
    (paragraph,) = articles.parse("<p>&alpha;&#x2009;&ndash; &unknown;x</p>").body_text
    assert paragraph.text == "α – x"


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda xml: b"\xef\xbb\xbf" + xml,
        lambda xml: b"\n " + xml.partition(b"?>")[2],
        lambda xml: xml.replace(b"<article ", b'<article xmlns="https://jats.nlm.nih.gov/ns/archiving/1.3/" '),
        lambda xml: xml.replace(articles.DOCTYPE.encode(), b"<pmc-articleset>").replace(b"</article>", b"</article></pmc-articleset>"),
        lambda xml: xml.replace(b"<p>", b"<!-- c --><p><?pi?>"),
        lambda xml: xml.decode().replace("UTF-8", "ISO-8859-1").encode("latin-1"),
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
