"""Rules for the extractor."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from s2corpus.rules import Count, Fraction, Rules


class ExtractRules(Rules):
    """Parameters of the extractor (SPEC §2). The first four are parameters of GROBID; other extractors read `options`."""

    consolidate_header: Literal[0, 1, 2] = 0
    consolidate_citations: Literal[0, 1, 2] = 0
    include_raw_citations: bool = True
    segment_sentences: bool = False
    ocr: Literal["off", "scans"] = "off"
    """scans: recognize the text of pages without a usable text layer (embedded extractor, extra `ocr`)"""
    max_tei_bytes: Count = 12_000_000
    """maximum size of a response; a larger one is `bad_tei`, or `bad_answer` if the extractor does not write TEI"""
    options: dict[str, str] = Field(default={})
    """parameters of extractors other than GROBID, by the names of the adapter (docs/extractors.md)"""
    max_failure_rate: Fraction = 0.2
    """maximum share of gave_up PDFs in a shard; above it, the shard fails"""
