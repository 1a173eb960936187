"""Read untrusted XML: no DTD, no network, no entities except the character entities of HTML."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from html.entities import html5
from typing import Any, TypeVar, cast

from lxml import etree

from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES
from s2orc_parse.outcomes import BadArticle, BadTei, JatsOutcome, Outcome, TeiRefusal

T = TypeVar("T", bound=Outcome)
_ERRORS = {"depth": "too_deep", "amplification": "entities", "entity reference loop": "entities", "huge": "too_large"}
_QUALIFIED = etree.XPath("descendant-or-self::*[namespace-uri()]")
_ENTITY = re.compile(
    rb"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z_:\x80-\xff][\w.:\x80-\xff-]*+);|<!\[CDATA\[(?s:.*?)(?:\]\]>|\Z)"
)
_GREEK = "a=α b=β g=γ d=δ e=ε z=ζ ee=η th=θ i=ι k=κ l=λ m=μ n=ν x=ξ o=ο p=π r=ρ sf=ς s=σ t=τ u=υ ph=φ kh=χ ps=ψ oh=ω"
_ENTITIES = {name.removesuffix(";"): text for name, text in html5.items() if name.endswith(";")}
for _name, _letter in re.findall(r"(\w+)=(\w)", f"{_GREEK} {_GREEK.replace('sf=ς ', '').upper()}"):
    _ENTITIES[f"{_name}gr"] = _letter
"""the entities of HTML, which include most of ISO 8879, and those of isogrk1, as `&agr;`"""
NAMESPACES_OF_DTDS = {
    b"mml": b'"http://www.w3.org/1998/Math/MathML"',
    b"xlink": b'"http://www.w3.org/1999/xlink"',
    b"xsi": b'"http://www.w3.org/2001/XMLSchema-instance"',
}
"""prefixes that the DTDs of PubMed and JATS declare"""
_NAMESPACES, _BAD_ID = etree.ErrorDomains.NAMESPACE, etree.ErrorTypes.DTD_XMLID_VALUE
_FIRST_TAG = re.compile(rb"<[A-Za-z_][\w.:-]*")


def _expand_entity(match: re.Match[bytes]) -> bytes:
    """Return an entity as numbers of its characters, an unknown one as it is printed, and a CDATA section unchanged."""
    if match.group(1) is None:
        return match.group()
    characters = _ENTITIES.get(match.group(1).decode("latin-1"))
    return b"&amp;%b;" % match.group(1) if characters is None else "".join(f"&#{ord(c)};" for c in characters).encode()


def _declare_prefixes(text: bytes) -> bytes:
    """Return XML whose first element declares the prefixes of the DTDs that the text declares nowhere."""
    missing = b"".join(
        b" xmlns:%b=%b" % item for item in NAMESPACES_OF_DTDS.items() if b"xmlns:%b=" % item[0] not in text
    )
    return _FIRST_TAG.sub(rb"\g<0>" + missing, text, count=1)


def _parse(text: bytes, encoding: str | None, *, collect_ids: bool = True) -> etree._Element:
    """Parse XML, even if a prefix has no namespace or an `xml:id` is not a name. Both are errors for libxml2, but lose no text."""

    def make_parser(recover: bool) -> etree.XMLParser[etree._Element]:
        return etree.XMLParser(
            encoding=encoding, resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, remove_comments=True,
            remove_pis=True, collect_ids=collect_ids, recover=recover,
        )  # fmt: skip

    parser = make_parser(recover=False)
    try:
        return etree.fromstring(text, parser)
    except etree.XMLSyntaxError:
        errors = list(parser.error_log)
        if not errors or any(one.domain != _NAMESPACES and one.type != _BAD_ID for one in errors):
            raise
    root = etree.fromstring(_declare_prefixes(text), make_parser(recover=True))
    for element in root.iter(etree.Element):
        if not str(element.tag).startswith("{"):
            element.tag = str(element.tag).rpartition(":")[2]
    return root


def parse_xml(text: bytes, encoding: str | None = None) -> Any:
    """Parse XML and return the root element.

    No DTD is read and no network is used. Only the character entities of HTML and ISO are expanded, which include those
    of the DTDs of DBLP and JATS. libxml2 limits depth and size.

    Pass `encoding` for an element that was cut from a file; its namespaces are removed. Complete documents declare
    their encoding themselves. Raises ValueError if the text is not well-formed.
    """
    if encoding is not None:
        try:
            text = text.decode(encoding, "replace").encode()
        except LookupError as error:
            raise ValueError(str(error)) from error
    try:
        root = _parse(_ENTITY.sub(_expand_entity, text), encoding and "utf-8")
    except (etree.XMLSyntaxError, LookupError) as error:
        raise ValueError(str(error)[:200]) from error
    if encoding is not None:
        for element in _QUALIFIED(root):
            element.tag = element.tag.rpartition("}")[2]
    return root


def extract_text(element: Any) -> str:
    """Return all text below an element with normalized white space; return "" for None."""
    if element is None:
        return ""
    # Most elements contain one text.
    text = "".join(element.itertext()) if len(element) else element.text or ""
    return " ".join(text.split())


def iter_text(element: Any, skipped: Container[str]) -> Iterator[str]:
    """Yield the texts of an element and its descendants, without the content of descendants with a skipped name."""
    yield element.text or ""
    for child in element:
        if str(child.tag).rpartition("}")[2] not in skipped:
            yield from iter_text(child, skipped)
        yield child.tail or ""


MAX_TAGS = 2_000_000  # opening and closing tags
MATHML = "{http://www.w3.org/1998/Math/MathML}"
Element = etree._Element
# Most elements have no namespace. The cheaper test comes first and excludes them.
_FOREIGN = etree.XPath("descendant-or-self::*[namespace-uri()][not(self::m:*)]", namespaces={"m": MATHML.strip("{}")})
_NAMESPACE = re.compile(rb"xmlns(?!:mml=\"http://www\.w3\.org/1998/Math/MathML\"):?([^\s=]*)")
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
        raise BadArticle(_classify_error(error, JatsOutcome), str(error)) from None
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and next(iter(declared.iterentities()), None) is not None:
        raise BadArticle(JatsOutcome.ENTITIES)
    plain = (root.getroottree().docinfo.encoding or "utf-8").casefold() in _PLAIN_ENCODINGS
    if not plain:
        etree.strip_elements(root, etree.Entity, with_tail=False)
    prefixes = set(_NAMESPACE.findall(data))  # Testing the bytes is faster than testing all elements.
    if not plain or b"" in prefixes or any(b"<%b:" % prefix in data for prefix in (*prefixes, b"xml")):
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


def _classify_error(error: object, outcomes: type[T]) -> T:
    """Return the outcome for a message of the parser."""
    words = [word for sign, word in _ERRORS.items() if sign in str(error).casefold()]
    return next((outcome for word in words for outcome in outcomes if outcome == word), outcomes("not_well_formed"))


MAX_TEI_BYTES = 12_000_000  # SPEC §2: a larger TEI is rejected
MAX_TEI_TAGS = 500_000  # a real TEI of 12 MB has 300,000
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
    if len(tei) > MAX_TEI_BYTES or tei.count(b"<") > MAX_TEI_TAGS:
        raise BadTei(TeiRefusal.TOO_LARGE)
    if tei.startswith(_BOM):
        tei = tei[len(_BOM) :]
    tei = tei.strip()
    if not tei:
        raise BadTei(TeiRefusal.EMPTY)
    if _DOCTYPE.match(tei):  # with collect_ids=False, lxml loads a DTD in spite of load_dtd=False
        raise BadTei(TeiRefusal.DOCTYPE)
    try:
        root = _parse(tei, "utf-8", collect_ids=False)
    except etree.XMLSyntaxError as error:
        is_utf8 = tei.decode("utf-8", "ignore").encode() == tei
        raise BadTei(_classify_error(error, TeiRefusal) if is_utf8 else TeiRefusal.NOT_UTF8) from None
    if local_name(root) not in ("TEI", "TEI.2"):
        raise BadTei(TeiRefusal.NOT_TEI)
    return root
