"""Keywords, ISSN and email addresses of a JATS article are read (JATS 1.3 Tag Library: kwd-group, issn, corresp)."""

from __future__ import annotations

import pytest

from s2orc_parse import jats, tei
from s2orc_parse.bibliography.identifiers import normalise_issn

HEAD = """<article xmlns:xlink="http://www.w3.org/1999/xlink" xml:lang="en"><front><journal-meta>{journal}</journal-meta><article-meta>
<article-id pub-id-type="doi">10.1371/journal.pone.1</article-id><title-group><article-title>Frogs</article-title></title-group>
<contrib-group>{authors}</contrib-group><author-notes>{notes}</author-notes>{keywords}</article-meta></front>
<body><sec><title>Aims</title><p>We saw frogs.</p></sec></body></article>"""
ADA = (
    "<contrib contrib-type='author'><name><surname>Lovelace</surname><given-names>Ada</given-names></name>{}</contrib>"
)
ALAN = (
    "<contrib contrib-type='author'><name><surname>Turing</surname><given-names>Alan</given-names></name>{}</contrib>"
)
SEE = "<xref ref-type='corresp' rid='c1'>*</xref>"
NOTE = "<corresp id='c1'>Mail: <email>ada@example.org</email></corresp>"


def parse(journal: str = "", authors: str = ADA.format(""), notes: str = "", keywords: str = "") -> dict[str, object]:
    text = HEAD.format(journal=journal, authors=authors, notes=notes, keywords=keywords)
    return tei.to_s2orc(jats.CONVERTERS["jats"](text.encode(), sha1="0" * 40))


@pytest.mark.parametrize(
    ("group", "keywords"),
    [
        ("<kwd-group><kwd>frogs</kwd><kwd><italic>Rana</italic> sylvatica</kwd><kwd>frogs</kwd></kwd-group>", ["frogs", "Rana sylvatica"]),
        ("<kwd-group kwd-group-type='author'><title>Keywords</title><kwd>ponds;</kwd></kwd-group>", ["ponds"]),
        ("<kwd-group><nested-kwd><kwd>a</kwd><nested-kwd><kwd>b</kwd></nested-kwd></nested-kwd></kwd-group>", ["a", "b"]),
        ("<kwd-group><compound-kwd><compound-kwd-part>code</compound-kwd-part><compound-kwd-part>G1</compound-kwd-part></compound-kwd>"
         "</kwd-group>", ["code: G1"]),
        ("<kwd-group kwd-group-type='abbreviations'><kwd>DNA</kwd></kwd-group>", None),
        ("<kwd-group kwd-group-type='research-organism'><kwd>Human</kwd></kwd-group>", None),
        ("<kwd-group xml:lang='pt'><kwd>sapos</kwd></kwd-group><kwd-group xml:lang='en'><kwd>frogs</kwd></kwd-group>", ["frogs"]),
        ("<kwd-group><kwd> </kwd></kwd-group>", None),
    ],
)  # fmt: skip
def test_keywords_are_those_of_the_publisher(group: str, keywords: list[str] | None) -> None:
    assert parse(keywords=group).get("keywords") == keywords


@pytest.mark.parametrize(
    ("journal", "issn"),
    [
        ("<issn pub-type='ppub'>0028-0836</issn><issn pub-type='epub'>1932-6203</issn>", "1932-6203"),
        ("<issn publication-format='print'>0028-0836</issn>", "0028-0836"),
        ("<issn>1932-6204</issn>", None),
        ("", None),
    ],
)
def test_electronic_issn_is_preferred(journal: str, issn: str | None) -> None:
    assert parse(journal=journal).get("issn") == issn


@pytest.mark.parametrize(
    ("text", "issn"),
    [
        ("03178471", "0317-8471"),
        ("1050-124x", "1050-124X"),
        ("1050-1240", None),
        ("0317-8472", None),
        ("03178471 x", None),
        ("", None),
    ],
)
def test_issn_check_digit_is_verified(text: str, issn: str | None) -> None:
    """ISO 3297: the digits, weighted 8 to 2, plus the check digit are a multiple of 11; X is 10."""
    assert normalise_issn(text) == issn


@pytest.mark.parametrize(
    ("authors", "notes", "emails"),
    [
        (ADA.format("<email>ada@example.org</email>") + ALAN.format(""), "", ["ada@example.org", None]),
        (ADA.format("<address><email>ada@example.org</email></address>"), "", ["ada@example.org"]),
        (ADA.format(SEE) + ALAN.format(""), NOTE, ["ada@example.org", None]),
        (ADA.format(SEE) + ALAN.format(SEE), NOTE, None),  # The note names no author.
        (ADA.format("<email>a@b.org</email><email>c@d.org</email>"), "", None),
        (ADA.format("<email>not an address</email>"), "", None),
    ],
)  # fmt: skip
def test_email_address_belongs_to_one_author(authors: str, notes: str, emails: list[str | None] | None) -> None:
    assert parse(authors=authors, notes=notes).get("emails") == emails
