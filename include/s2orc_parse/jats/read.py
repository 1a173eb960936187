"""Parse untrusted XML to its `article` element. Nothing is fetched and no entity is expanded."""

from __future__ import annotations

import re
from typing import cast

from lxml import etree

from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES
from s2orc_parse.outcomes import BadArticle, JatsOutcome
from s2orc_parse.xml import parse_xml

MAX_TAGS = 2_000_000  # opening and closing tags
MATHML = "{http://www.w3.org/1998/Math/MathML}"
Element = etree._Element
# Most elements have no namespace. The cheaper test comes first and excludes them.
_FOREIGN = etree.XPath("descendant-or-self::*[namespace-uri()][not(self::m:*)]", namespaces={"m": MATHML.strip("{}")})
_NAMESPACE = re.compile(rb"xmlns(?!:mml=\"http://www\.w3\.org/1998/Math/MathML\"):?([^\s=]*)")
_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);|#)")
_PLAIN_ENCODINGS = ("utf-8", "us-ascii", "iso-8859-1")  # in these encodings the bytes of a name are its letters


def read_article(data: bytes) -> Element:
    """Return the `article` of a JATS file: its root, or the only article in a wrapper (OAI-PMH, `pmc-articleset`).

    A document type may be referenced but not extended: a file that declares entities is rejected. Element names have no
    namespace, except for MathML names, which begin with `MATHML`. Raises `BadArticle`.
    """
    if len(data) > MAX_ENTRY_BYTES or data.count(b"<") > MAX_TAGS:
        raise BadArticle(JatsOutcome.TOO_LARGE)
    if not data.strip():
        raise BadArticle(JatsOutcome.EMPTY)
    try:
        root = cast(Element, parse_xml(data.lstrip()))
    except ValueError as error:
        raise BadArticle(_classify_error(str(error)), str(error)) from None
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and next(iter(declared.iterentities()), None) is not None:
        raise BadArticle(JatsOutcome.ENTITIES)
    plain = (root.getroottree().docinfo.encoding or "utf-8").casefold() in _PLAIN_ENCODINGS
    if not plain or _ENTITY.search(data):
        etree.strip_elements(root, etree.Entity, with_tail=False)
    if not plain or _has_foreign(data):
        for element in _FOREIGN(root):
            element.tag = str(element.tag).rpartition("}")[2]
    if root.tag == "article":
        return root
    articles = [found for found in root.iter("article") if found.find("front") is not None]
    if len(articles) > 1:
        raise BadArticle(JatsOutcome.SEVERAL_ARTICLES, f"{len(articles)} articles")
    if not articles:
        raise BadArticle(JatsOutcome.NOT_AN_ARTICLE, f"<{root.tag!s}>"[:100])
    return articles[0]


def _has_foreign(data: bytes) -> bool:
    """Return whether an element may have a namespace other than MathML's.

    Testing the bytes is faster than testing all elements.
    """
    prefixes = set(_NAMESPACE.findall(data))
    return b"" in prefixes or any(b"<%b:" % prefix in data for prefix in (*prefixes, b"xml"))


def _classify_error(error: str) -> JatsOutcome:
    """Return the outcome for a message of the parser."""
    error = error.casefold()
    if "depth" in error:
        return JatsOutcome.TOO_DEEP
    if "amplification" in error or "entity reference loop" in error:
        return JatsOutcome.ENTITIES
    return JatsOutcome.TOO_LARGE if "huge" in error else JatsOutcome.NOT_WELL_FORMED
