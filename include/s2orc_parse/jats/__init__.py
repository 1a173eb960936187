"""Convert publishers' full text (JATS and Elsevier's OA JSON) to parses (SPEC §3.23).

A converter takes a file's bytes and returns a parse. It raises `BadArticle` with an outcome if there is no parse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from s2orc_parse.jats.form import HEAD_BYTES, detect_kind
from s2orc_parse.jats.outcome import BadArticle, JatsOutcome

if TYPE_CHECKING:
    from s2orc_parse.jats.converters import CONVERTERS, VERSIONS, convert

__all__ = ["CONVERTERS", "HEAD_BYTES", "VERSIONS", "BadArticle", "JatsOutcome", "convert", "detect_kind"]


def __getattr__(name: str) -> Any:
    """Import the converters on first use: code that reads only TEI does not need them."""
    if name in ("CONVERTERS", "VERSIONS", "convert"):
        from s2orc_parse.jats import converters

        return getattr(converters, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
