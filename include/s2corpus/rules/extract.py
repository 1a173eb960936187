"""What the extractor is asked for."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from s2corpus.rules import Count, Fraction, Rules


class Extract(Rules):
    """What the extractor is asked for (SEMANTICS: Extract). The first four are GROBID's; other extractors take `options`."""

    consolidate_header: Literal[0, 1, 2] = 0
    consolidate_citations: Literal[0, 1, 2] = 0
    include_raw_citations: bool = True
    segment_sentences: bool = False
    ocr: Literal["off", "scans"] = "off"
    """scans: pages without text, or whose text layer is unusable, are read from their pictures (embedded extractor, extra `ocr`)"""
    max_tei_bytes: Count = 12_000_000
    """a larger answer is `bad_tei`, or `bad_answer` of an extractor that does not write TEI"""
    options: dict[str, str] = Field(default={})
    """what an extractor other than GROBID is asked for, by the names that its adapter knows (docs/extractors.md)"""
    max_failure_rate: Fraction = 0.2
    """share of a shard's PDFs that may end as gave_up before the shard fails"""
