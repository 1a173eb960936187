"""Parse untrusted TEI to an element tree. Nothing is expanded or fetched."""

from __future__ import annotations

import re

from lxml import etree

from s2orc_parse.outcomes import BadTei, TeiRefusal

MAX_BYTES = 12_000_000  # SPEC §2: a larger TEI is rejected
MAX_TAGS = 500_000  # a real TEI of 12 MB has 300,000
_BOM = b"\xef\xbb\xbf"
_DOCTYPE = re.compile(rb"(?>\s+|<\?.*?\?>|<!--.*?-->)*+<!DOCTYPE", re.DOTALL)
"""a document type declaration before the root element"""


class _LocalNames(dict[object, str]):
    """Tag → local name, cached for the first few thousand tags; "" for comments and processing instructions."""

    def __missing__(self, tag: object) -> str:
        name = tag.rpartition("}")[2] if isinstance(tag, str) else ""
        if len(self) < 4096:
            self[tag] = name
        return name


NAMES = _LocalNames()
"""Local names by tag: `NAMES[element.tag]` avoids a function call for every element."""


def local_name(element: etree._Element) -> str:
    """Return an element's name without namespace; "" for comments and processing instructions."""
    return NAMES[element.tag]


def read_tei(tei: bytes) -> etree._Element:
    """Parse a TEI document and return its root element.

    Namespaces are ignored: they differ between GROBID versions and are sometimes missing. Raises `BadTei`.
    """
    if len(tei) > MAX_BYTES or tei.count(b"<") > MAX_TAGS:
        raise BadTei(TeiRefusal.TOO_LARGE)
    if tei.startswith(_BOM):
        tei = tei[len(_BOM) :]
    tei = tei.strip()
    if not tei:
        raise BadTei(TeiRefusal.EMPTY)
    if _DOCTYPE.match(tei):  # with collect_ids=False, lxml loads a DTD in spite of load_dtd=False
        raise BadTei(TeiRefusal.DOCTYPE)
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False,
        remove_comments=True, remove_pis=True, collect_ids=False,
    )  # fmt: skip
    try:
        root = etree.fromstring(tei, parser)
    except etree.XMLSyntaxError as error:
        raise BadTei(_classify_error(tei, error)) from None
    if local_name(root) not in ("TEI", "TEI.2"):
        raise BadTei(TeiRefusal.NOT_TEI)
    return root


def _classify_error(xml: bytes, error: etree.XMLSyntaxError) -> TeiRefusal:
    """Return the reason for a parser error."""
    try:
        xml.decode("utf-8")
    except UnicodeDecodeError:
        return TeiRefusal.NOT_UTF8
    if "depth" in str(error).casefold():
        return TeiRefusal.TOO_DEEP
    return TeiRefusal.TOO_LARGE if "huge" in str(error).casefold() else TeiRefusal.NOT_WELL_FORMED
