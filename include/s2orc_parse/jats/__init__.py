"""Convert publishers' full text (JATS and Elsevier's OA JSON) to parses (SPEC §3.23).

A converter takes a file's bytes and returns a parse. It raises `BadArticle` with an outcome if there is no parse.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

from s2orc_parse.outcomes import BadArticle, JatsOutcome
from s2orc_parse.parse_model import Parse

__all__ = ["CONVERTERS", "HEAD_BYTES", "VERSIONS", "BadArticle", "JatsOutcome", "convert", "detect_kind"]
convert: Callable[..., Parse]
CONVERTERS: dict[str, Callable[..., Parse]]
"""converters by kind of parse"""
VERSIONS: dict[str, str]
"""converter versions by kind of parse; part of the key of every stored parse"""
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


def __getattr__(name: str) -> Any:
    """Import the converters on first use: code that reads only TEI does not need them."""
    if name not in ("CONVERTERS", "VERSIONS", "convert"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from s2orc_parse.jats import converter, elsevier

    modules = {"jats": converter, "elsevier": elsevier}
    globals().update(
        convert=converter.convert, CONVERTERS={kind: module.convert for kind, module in modules.items()},
        VERSIONS={kind: module.CONVERTER_VERSION for kind, module in modules.items()},
    )  # fmt: skip
    return globals()[name]
