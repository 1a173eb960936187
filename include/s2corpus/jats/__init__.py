"""From publishers' full text to the parse (SEMANTICS §2, §3): JATS, and Elsevier's OA JSON.

A converter is the whole way, from a file's bytes; what gives no parse raises `BadArticle` with its outcome.
"""

from s2corpus.jats import converter, elsevier
from s2corpus.jats.converter import convert
from s2corpus.jats.form import HEAD_BYTES, form_of
from s2corpus.jats.outcome import BadArticle, Outcome

CONVERTERS = {"jats": converter.convert, "elsevier": elsevier.convert}
"""By the kind of parse they make."""
VERSIONS = {"jats": converter.CONVERTER_VERSION, "elsevier": elsevier.CONVERTER_VERSION}
"""Versions of the converters, likewise: part of the key of every stored parse."""

__all__ = ["CONVERTERS", "HEAD_BYTES", "VERSIONS", "BadArticle", "Outcome", "convert", "form_of"]
