"""Keywords, ISSN and email addresses of a JATS article are read (JATS 1.3 Tag Library: kwd-group, issn, corresp)."""

from __future__ import annotations

import pytest

from s2orc_parse import jats, tei
from s2orc_parse.bibliography.identifiers import normalise_issn

HEAD = """<article xmlns:xlink="http://www.w3.org/1999/xlink" xml:lang="en"><front><journal-meta>{journal}</journal-meta><article-meta>
<article-id pub-id-type="doi">10.1371/journal.pone.1</article-id><title-group><article-title>Frogs</article-title></title-group>
<contrib-group>{authors}</contrib-group><author-notes>{notes}</author-notes>{keywords}</article-meta></front>
<body><sec><title>Aims</title><p>We saw frogs.</p></sec></body></article>"""


def author(name: str, inside: str = "") -> str:
    return f"<contrib contrib-type='author'><name><surname>{name}</surname><given-names>A</given-names></name>{inside}</contrib>"


SEE = "<xref ref-type='corresp' rid='c1'>*</xref>"
NOTE = "<corresp id='c1'>Mail: <email>ada@example.org</email></corresp>"
MAIL = "<email>ada@example.org</email>"


@pytest.mark.parametrize(
    ("field", "parts", "expected"),
    [
        # Keywords of the publisher, in the article's language.
        ("keywords", {"keywords": "<kwd-group><kwd>frogs</kwd><kwd><italic>Rana</italic> sylvatica</kwd><kwd>frogs</kwd></kwd-group>"},
         ["frogs", "Rana sylvatica"]),
        ("keywords", {"keywords": "<kwd-group kwd-group-type='author'><title>Keywords</title><kwd>ponds;</kwd></kwd-group>"}, ["ponds"]),
        ("keywords", {"keywords": "<kwd-group><nested-kwd><kwd>a</kwd><nested-kwd><kwd>b</kwd></nested-kwd></nested-kwd></kwd-group>"},
         ["a", "b"]),
        ("keywords", {"keywords": "<kwd-group><compound-kwd><compound-kwd-part>code</compound-kwd-part><compound-kwd-part>G1"
                      "</compound-kwd-part></compound-kwd></kwd-group>"}, ["code: G1"]),
        ("keywords", {"keywords": "<kwd-group kwd-group-type='abbreviations'><kwd>DNA</kwd></kwd-group>"}, None),
        ("keywords", {"keywords": "<kwd-group kwd-group-type='research-organism'><kwd>Human</kwd></kwd-group>"}, None),
        ("keywords", {"keywords": "<kwd-group xml:lang='pt'><kwd>sapos</kwd></kwd-group>"
                      "<kwd-group xml:lang='en'><kwd>frogs</kwd></kwd-group>"}, ["frogs"]),
        ("keywords", {"keywords": "<kwd-group><kwd> </kwd></kwd-group>"}, None),
        # The electronic ISSN is preferred.
        ("issn", {"journal": "<issn pub-type='ppub'>0028-0836</issn><issn pub-type='epub'>1932-6203</issn>"}, "1932-6203"),
        ("issn", {"journal": "<issn publication-format='print'>0028-0836</issn>"}, "0028-0836"),
        ("issn", {"journal": "<issn>1932-6204</issn>"}, None),
        ("issn", {}, None),
        # An email address belongs to one author.
        ("emails", {"authors": author("Lee", MAIL) + author("Hu")}, ["ada@example.org", None]),
        ("emails", {"authors": author("Lee", f"<address>{MAIL}</address>")}, ["ada@example.org"]),
        ("emails", {"authors": author("Lee", SEE) + author("Hu"), "notes": NOTE}, ["ada@example.org", None]),
        ("emails", {"authors": author("Lee", SEE) + author("Hu", SEE), "notes": NOTE}, None),  # The note names no author.
        ("emails", {"authors": author("Lee", "<email>a@b.org</email><email>c@d.org</email>")}, None),
        ("emails", {"authors": author("Lee", "<email>not an address</email>")}, None),
    ],
)  # fmt: skip
def test_front_matter_gives_the_field(field: str, parts: dict[str, str], expected: object) -> None:
    text = HEAD.format(**{"journal": "", "authors": author("Lee"), "notes": "", "keywords": ""} | parts)
    assert tei.to_s2orc(jats.CONVERTERS["jats"](text.encode(), sha1="0" * 40)).get(field) == expected


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
