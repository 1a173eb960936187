"""Build documents for cleaning from publisher JATS XML: title, abstract, date, and the body as paragraphs with their section path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

_NOT_TEXT = ("fig", "table-wrap", "disp-formula", "supplementary-material", "fn-group", "ref-list", "boxed-text")
_PARSER = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, recover=True)


def documents(folder: Path) -> list[dict[str, Any]]:
    """Return every article under `folder` that has a body, sorted by file name."""
    found = []
    for path in sorted(p for p in folder.rglob("*") if p.suffix in (".xml", ".nxml")):
        document = _document(path)
        if document["body"]:
            found.append(document)
    return found


def _document(path: Path) -> dict[str, Any]:
    root = etree.parse(str(path), _PARSER).getroot()
    etree.strip_elements(root, *_NOT_TEXT, "{*}math", "{*}tex-math", with_tail=False)
    date = root.find(".//article-meta/pub-date")
    parts = [] if date is None else [date.findtext(k) for k in ("year", "month", "day")]
    iso = "-".join(p.zfill(2) for p in parts[: parts.index(None) if None in parts else 3] if p)
    abstract = root.find(".//article-meta/abstract")
    body = root.find(".//body")
    return {
        "id": path.stem, "title": _text(root.find(".//article-meta/title-group/article-title")),
        "abstract": " ".join(_text(p) for p in abstract.iter("p")) if abstract is not None else None, "date": iso or None,
        "body": [] if body is None else list(_units(body, ())),
    }  # fmt: skip


def _units(node: etree._Element, heads: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for child in node:
        if child.tag == "sec":
            head = _text(child.find("title"))
            yield from _units(child, (*heads, head) if head else heads)
        elif child.tag == "p" and (text := _text(child)):
            yield {"section": "::".join(heads) or None, "text": text}


def _text(node: etree._Element | None) -> str:
    return "" if node is None else " ".join("".join(node.itertext()).split())
