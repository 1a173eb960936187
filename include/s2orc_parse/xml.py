"""Read untrusted XML: no DTD, no network, no entities except the character entities of HTML."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from html.entities import html5
from typing import Any

from lxml import etree

_QUALIFIED = etree.XPath("descendant-or-self::*[namespace-uri()]")
_CHARACTER_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]{1,31});")


def _expand_entity(match: re.Match[bytes]) -> bytes:
    characters = html5.get(match.group(1).decode() + ";")
    return match.group() if characters is None else "".join(f"&#{ord(c)};" for c in characters).encode()


def parse_xml(text: bytes, encoding: str | None = None) -> Any:
    """Parse XML and return the root element.

    No DTD is read and no network is used. Only HTML's character entities are expanded, which include those of the DTDs
    of DBLP and JATS. libxml2 limits depth and size.

    Pass `encoding` for an element that was cut from a file; its namespaces are removed. Complete documents declare
    their encoding themselves. Raises ValueError if the text is not well-formed.
    """
    if encoding is not None:
        try:
            text = text.decode(encoding, "replace").encode()
        except LookupError as error:
            raise ValueError(str(error)) from error
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True,
        remove_pis=True, encoding=encoding and "utf-8",
    )  # fmt: skip
    try:
        root = etree.fromstring(_CHARACTER_ENTITY.sub(_expand_entity, text), parser)
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
    return " ".join("".join(element.itertext()).split())


def iter_text(element: Any, skipped: Container[str]) -> Iterator[str]:
    """Yield the texts of an element and its descendants, without the content of descendants with a skipped name."""
    yield element.text or ""
    for child in element:
        if str(child.tag).rpartition("}")[2] not in skipped:
            yield from iter_text(child, skipped)
        yield child.tail or ""
