"""The converters of publishers' full text, and their versions."""

from __future__ import annotations

from s2orc_parse.jats import converter, elsevier
from s2orc_parse.jats.converter import convert

CONVERTERS = {"jats": converter.convert, "elsevier": elsevier.convert}
"""Converters by kind of parse."""
VERSIONS = {"jats": converter.CONVERTER_VERSION, "elsevier": elsevier.CONVERTER_VERSION}
"""Converter versions by kind of parse; part of the key of every stored parse."""

__all__ = ["CONVERTERS", "VERSIONS", "convert"]
