"""Detect the format of a file from its first bytes. Publishers' XML and JSON files have no distinct names."""

from __future__ import annotations

import re
from typing import Literal

HEAD_BYTES = 16_384  # enough for the prolog of an XML file, and for the first key of a JSON object
_TEI = re.compile(rb"<(?:[\w.-]+:)?TEI(?:\.2)?[\s>/]")
_ARTICLE = re.compile(rb"<(?:[\w.-]+:)?(?:article|pmc-articleset)[\s>/]|-//(?:NLM|OASIS)//DTD ")
_KEYS = re.compile(rb'"(?:docId|body_text|bib_entries)"\s*:')


def detect_kind(head: bytes) -> Literal["jats", "elsevier"] | None:
    """Return the kind of full text of a file that begins with these bytes (`HEAD_BYTES` suffice), or None.

    Only the format is checked. The converter checks whether the file contains an article.
    """
    head = head[:HEAD_BYTES].replace(b"\x00", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")  # UTF-16 contains NUL bytes
    if head[:1] == b"{":
        return "elsevier" if _KEYS.search(head) else None
    if head[:1] != b"<" or _TEI.search(head):
        return None
    return "jats" if _ARTICLE.search(head) else None
