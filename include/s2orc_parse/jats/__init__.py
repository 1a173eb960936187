"""From publishers' full text to the parse (SEMANTICS §2, §3): JATS, and Elsevier's OA JSON.

A converter is the whole way, from a file's bytes; what gives no parse raises `BadArticle` with its outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from s2orc_parse.jats.form import HEAD_BYTES, form_of
from s2orc_parse.jats.outcome import BadArticle, Outcome

if TYPE_CHECKING:
    from s2orc_parse.jats.converters import CONVERTERS, VERSIONS, convert

__all__ = ["CONVERTERS", "HEAD_BYTES", "VERSIONS", "BadArticle", "Outcome", "convert", "form_of"]


def __getattr__(name: str) -> Any:
    """The converters, imported when they are asked for: who reads TEI only recognises forms."""
    if name in ("CONVERTERS", "VERSIONS", "convert"):
        from s2orc_parse.jats import converters

        return getattr(converters, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
