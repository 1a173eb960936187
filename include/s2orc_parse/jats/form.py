"""What a file is by its first bytes: publishers' XML and JSON have no name of their own."""

from __future__ import annotations

import re
from typing import Literal

HEAD_BYTES = 16_384  # enough for the prolog of an XML file, and for the first key of a JSON object
_TEI = re.compile(rb"<(?:[\w.-]+:)?TEI(?:\.2)?[\s>/]")
_ARTICLE = re.compile(rb"<(?:[\w.-]+:)?(?:article|pmc-articleset)[\s>/]|-//(?:NLM|OASIS)//DTD ")
_KEYS = re.compile(rb'"(?:docId|body_text|bib_entries)"\s*:')


def form_of(head: bytes) -> Literal["jats", "elsevier"] | None:
    """The kind of full text whose file begins with these bytes (`HEAD_BYTES` of them are enough); None if it is neither.

    Only the form is recognised; whether there is an article in it is found by reading it.
    """
    head = head[:HEAD_BYTES].replace(b"\x00", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")  # NULs: of UTF-16
    if head[:1] == b"{":
        return "elsevier" if _KEYS.search(head) else None
    if head[:1] != b"<" or _TEI.search(head):
        return None
    return "jats" if _ARTICLE.search(head) else None
