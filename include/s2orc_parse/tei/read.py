"""Parse untrusted TEI to an element tree. Nothing is expanded or fetched."""

from __future__ import annotations

from enum import StrEnum

from lxml import etree

MAX_BYTES = 12_000_000  # SPEC §2: a larger TEI is rejected
MAX_TAGS = 500_000  # a real TEI of 12 MB has 300,000
_BOM = b"\xef\xbb\xbf"


class TeiRefusal(StrEnum):
    """The reason why a TEI gives no parse."""

    EMPTY = "empty"
    TOO_LARGE = "too_large"
    NOT_UTF8 = "not_utf8"
    DOCTYPE = "doctype"  # no extractor writes one, and entity definitions allow expansion attacks
    TOO_DEEP = "too_deep"
    NOT_WELL_FORMED = "not_well_formed"
    NOT_TEI = "not_tei"


class BadTei(Exception):
    """The TEI cannot be parsed, for the given `reason`."""

    def __init__(self, reason: TeiRefusal) -> None:
        super().__init__(reason.value)
        self.reason = reason


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
    if _has_doctype(tei):  # with collect_ids=False, lxml loads a DTD in spite of load_dtd=False
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


def _has_doctype(xml: bytes) -> bool:
    """Return whether a document type declaration precedes the root element."""
    at = 0
    while True:
        while xml[at : at + 1].isspace():
            at += 1
        for opening, closing in ((b"<?", b"?>"), (b"<!--", b"-->")):
            if xml.startswith(opening, at):
                end = xml.find(closing, at + len(opening))
                at = end + len(closing) if end >= 0 else len(xml)
                break
        else:
            return xml.startswith(b"<!DOCTYPE", at)
