"""Arrow schemas of the JSON lines in `corpus/`, for readers that need a schema: Spark, polars and datasets.

Missing keys are null.
"""

from __future__ import annotations

import pyarrow as pa

_TEXTS = pa.list_(pa.string())
_AUTHOR = [("first", pa.string()), ("middle", _TEXTS), ("last", pa.string()), ("suffix", pa.string())]
_AFFILIATIONS = pa.list_(pa.struct([("name", pa.string()), ("ror", pa.string())]))
_AT = [("start", pa.int64()), ("end", pa.int64()), ("text", pa.string())]
_SPAN = [*_AT, ("ref_id", pa.string())]
_SPANS = pa.list_(pa.struct(_SPAN))
_UNLINKED = pa.list_(pa.struct(_AT))
_EQUATION = [*_SPAN, *((name, pa.string()) for name in ("raw_text", "latex", "mathml", "label"))]
_PARAGRAPH = [
    ("section", pa.string()),
    ("text", pa.string()),
    ("cite_spans", _SPANS),
    ("ref_spans", _SPANS),
    ("eq_spans", pa.list_(pa.struct(_EQUATION))),
    ("unlinked_spans", _UNLINKED),
    ("section_path", pa.string()),
    ("sec_num", pa.string()),
]
_PARAGRAPHS = pa.list_(pa.struct(_PARAGRAPH))
_IDS = pa.struct([(name, _TEXTS) for name in ("DOI", "arXiv", "PMID", "PMCID")])
_BIB_ENTRY = [
    ("title", pa.string()),
    ("authors", pa.list_(pa.struct(_AUTHOR))),
    ("year", pa.int64()),
    ("venue", pa.string()),
    ("link", pa.string()),
    *((name, pa.string()) for name in ("ref_id", "label", "volume", "issue", "pages", "publisher")),
    ("other_ids", _IDS),
    ("raw_text", pa.string()),
    ("urls", _TEXTS),
]
_CELL_SPAN = [("row", pa.int64()), ("column", pa.int64()), *_SPAN]
_REF_ENTRY = [
    *((name, pa.string()) for name in ("text", "type", "num", "latex")),
    ("cells", pa.list_(_TEXTS)),
    ("html", pa.string()),
    ("cite_spans", _SPANS),
    ("unlinked_spans", _UNLINKED),
    ("cell_cite_spans", pa.list_(pa.struct(_CELL_SPAN))),
]

METADATA = pa.schema(
    [
        ("paper_id", pa.string()),
        ("title", pa.string()),
        ("authors", pa.list_(pa.struct(_AUTHOR))),
        ("abstract", pa.string()),
        ("year", pa.int64()),
        *((name, pa.string()) for name in ("arxiv_id", "acl_id", "pmc_id", "pubmed_id", "doi", "venue", "journal")),
        ("mag_id", pa.string()),
        ("mag_field_of_study", _TEXTS),
        ("outbound_citations", _TEXTS),
        ("inbound_citations", _TEXTS),
        ("has_outbound_citations", pa.bool_()),
        ("has_inbound_citations", pa.bool_()),
        ("has_pdf_parse", pa.bool_()),
        *(
            (f"has_pdf_{part}", pa.bool_())
            for part in ("body_text", "parsed_abstract", "parsed_body_text", "parsed_bib_entries", "parsed_ref_entries")
        ),
        ("s2_url", pa.string()),
    ]
)
"""A line of `corpus/metadata`."""

PARSE = pa.schema(
    [
        ("paper_id", pa.string()),
        ("_pdf_hash", pa.string()),
        ("abstract", _PARAGRAPHS),
        ("body_text", _PARAGRAPHS),
        ("bib_entries", pa.map_(pa.string(), pa.struct(_BIB_ENTRY))),
        ("ref_entries", pa.map_(pa.string(), pa.struct(_REF_ENTRY))),
        ("back_matter", pa.list_(pa.struct([*_PARAGRAPH, ("back_part", pa.string())]))),
        ("citation_style", pa.string()),
        ("title", pa.string()),
        ("authors", pa.list_(pa.struct([*_AUTHOR, ("affiliations", _AFFILIATIONS), ("orcid", pa.string())]))),
        (
            "provenance",
            pa.struct(
                [(name, pa.string()) for name in ("extractor", "version", "options", "tei_sha1", "converter_version")]
            ),
        ),
        ("keywords", _TEXTS),
        ("issn", pa.string()),
        ("emails", _TEXTS),
    ]
)
"""A line of `corpus/pdf_parses`, `latex_parses`, `jats_parses` and `elsevier_parses`; `keywords` and `emails` (one for each
author) are only in `jats_parses`, `issn` also in `elsevier_parses`. The latter
also contain `article`, the source's JSON, which has no schema."""
