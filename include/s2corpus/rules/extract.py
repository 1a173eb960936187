"""Rules for the extractor."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from s2corpus.rules import Count, Fraction, Rules


class ExtractRules(Rules):
    """Parameters of the extractor (SPEC §2). Extractors other than GROBID read `options`."""

    consolidate_header: Literal[0, 1, 2] = 0
    """GROBID: complete the header from a bibliographic service (0: no, 1: all metadata, 2: only the DOI)"""
    consolidate_citations: Literal[0, 1, 2] = 0
    """GROBID: complete bibliography entries from a bibliographic service (values as in `consolidate_header`)"""
    include_raw_citations: bool = True
    """GROBID: whether the response contains the printed text of each bibliography entry"""
    segment_sentences: bool = False
    """GROBID: whether the response marks sentences"""
    ocr: Literal["off", "scans"] = "off"
    """scans: recognize the text of pages without a usable text layer (embedded extractor, extra `ocr`)"""
    max_tei_bytes: Count = 12_000_000
    """maximum size of a response; a larger response has outcome `bad_tei`, or `bad_answer` if the extractor does not write TEI"""
    options: dict[str, str] = Field(default={})
    """parameters of extractors other than GROBID, by the names of the adapter (docs/extractors.md)"""
    max_failure_rate: Fraction = 0.2
    """maximum share of PDFs with outcome gave_up in a shard; above it, the shard fails"""
