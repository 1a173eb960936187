"""The converters of publishers' full text, and their versions."""

from __future__ import annotations

from s2orc_parse.jats import converter, elsevier
from s2orc_parse.jats.converter import convert

CONVERTERS = {"jats": converter.convert, "elsevier": elsevier.convert}
"""By the kind of parse they make."""
VERSIONS = {"jats": converter.CONVERTER_VERSION, "elsevier": elsevier.CONVERTER_VERSION}
"""Versions of the converters, likewise: part of the key of every stored parse."""

__all__ = ["CONVERTERS", "VERSIONS", "convert"]
