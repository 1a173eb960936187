"""Bytes from outside → an element tree, or a reason why not. Nothing is expanded, fetched or trusted."""

from __future__ import annotations

from enum import StrEnum

from lxml import etree

MAX_BYTES = 12_000_000  # SEMANTICS §2: a larger TEI is refused
MAX_TAGS = 500_000  # a real TEI of 12 MB has 300,000
_BOM = b"\xef\xbb\xbf"


class Reason(StrEnum):
    """Why a TEI gives no parse."""

    EMPTY = "empty"
    TOO_LARGE = "too_large"
    NOT_UTF8 = "not_utf8"
    DOCTYPE = "doctype"  # no extractor writes one; entities are how XML is made to explode
    TOO_DEEP = "too_deep"
    NOT_WELL_FORMED = "not_well_formed"
    NOT_TEI = "not_tei"


class BadTei(Exception):
    """This is not TEI that can be parsed; `reason` says why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class _Names(dict[object, str]):
    """Tag → local name, kept for the first few thousand tags met; "" for comments and processing instructions."""

    def __missing__(self, tag: object) -> str:
        name = tag.rpartition("}")[2] if isinstance(tag, str) else ""
        if len(self) < 4096:
            self[tag] = name
        return name


NAMES = _Names()
"""An element's name without its namespace, by its tag: `NAMES[element.tag]`, where a call for every element would be felt."""


def local_name(element: etree._Element) -> str:
    """An element's name without its namespace; "" for comments and processing instructions."""
    return NAMES[element.tag]


def read(tei: bytes) -> etree._Element:
    """The root of a TEI document.

    Namespaces are ignored (they differ between GROBID versions and are sometimes missing). Raises `BadTei`.
    """
    if len(tei) > MAX_BYTES or tei.count(b"<") > MAX_TAGS:
        raise BadTei(Reason.TOO_LARGE)
    if tei.startswith(_BOM):
        tei = tei[len(_BOM) :]
    tei = tei.strip()
    if not tei:
        raise BadTei(Reason.EMPTY)
    if _has_doctype(tei):  # asked here: where ids may repeat (collect_ids) lxml loads a DTD whatever load_dtd says
        raise BadTei(Reason.DOCTYPE)
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False,
        remove_comments=True, remove_pis=True, collect_ids=False,
    )  # fmt: skip
    try:
        root = etree.fromstring(tei, parser)
    except etree.XMLSyntaxError as error:
        raise BadTei(_why(tei, error)) from None
    if local_name(root) not in ("TEI", "TEI.2"):
        raise BadTei(Reason.NOT_TEI)
    return root


def _why(xml: bytes, error: etree.XMLSyntaxError) -> Reason:
    """Why the parser gave up."""
    try:
        xml.decode("utf-8")
    except UnicodeDecodeError:
        return Reason.NOT_UTF8
    return Reason.TOO_DEEP if "depth" in str(error).casefold() else Reason.NOT_WELL_FORMED


def _has_doctype(xml: bytes) -> bool:
    """Whether a document type declaration stands before the root element."""
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
