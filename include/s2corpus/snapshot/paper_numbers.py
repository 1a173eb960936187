"""The numbers of the S2ORC paper (Lo et al., 2020: §2.5, §3, Tables 2–4 and 8, Figure 2, Appendices E and G).

Those of the rows "All" are from GORC (Lo et al., 2019: Table 3).
"""

from __future__ import annotations

from s2corpus.outcomes import S2ORC_PAPERS
from s2corpus.snapshot.census import NO_FIELD

_M = 1_000_000

PAPER_FULL_TEXTS = 8.1 * _M
CLUSTERS = S2ORC_PAPERS + 95.5 * _M
"""paper clusters before the filters: 81.1M papers and 95.5M removed clusters (§2.5)"""

SOURCES = (
    (("papers", "all"), "Total papers", S2ORC_PAPERS),
    (("papers", "pdf"), "Papers w/ PDF", 28.9 * _M),
    (("papers", "bibliography"), "Papers w/ bibliographies", 27.6 * _M),
    (("full_text", "pdf"), "Papers w/ full text from PDF", PAPER_FULL_TEXTS),
    (("full_text", "latex"), "Papers w/ full text from LaTeX", 1.5 * _M),
    (("papers", "publisher_full_text"), "Papers w/ publisher's full text", None),
    (("papers", "publisher_abstract"), "Papers w/ publisher abstract", 73.4 * _M),
    (("papers", "doi"), "Papers w/ DOIs", 52.2 * _M),
    (("papers", "pubmed_id"), "Papers w/ PubMed IDs", 21.5 * _M),
    (("papers", "pmc_id"), "Papers w/ PMC IDs", 4.7 * _M),
    (("papers", "arxiv_id"), "Papers w/ arXiv IDs", 1.7 * _M),
    (("papers", "acl_id"), "Papers w/ ACL IDs", 42_000),
)
PARSES: tuple[tuple[str, str, float | None, float | None], ...] = (
    ("parses.abstract_paragraphs", "Paragraphs (abstract)", 1.1, 0.2),
    ("parses.body_paragraphs", "Paragraphs (body)", 9.9, 93.3),
    ("parses.abstract_spans", "Inline cite spans (abstract)", 0.7, 0.0),
    ("parses.body_spans", "Inline cite spans (body)", 45.2, 46.8),
    ("parses.entries", "Bibliography entries", 27.6, 21.9),
    ("parses.linked", "Linked bib. entries", 19.3, 6.8),
    ("all_parses.entries", "Bibliography entries (All)", 21.7, None),
    ("all_parses.linked", "Linked bib. entries (All)", 13.8, None),
)
FIELDS_OF_STUDY = (
    ("Medicine", 12.8 * _M, 1.8 * _M),
    ("Biology", 9.6 * _M, 1.6 * _M),
    ("Chemistry", 8.7 * _M, 484_000),
    (NO_FIELD, 7.7 * _M, 583_000),
    ("Engineering", 6.3 * _M, 228_000),
    ("Computer Science", 6.0 * _M, 580_000),
    ("Physics", 4.9 * _M, 838_000),
    ("Materials Science", 4.6 * _M, 213_000),
    ("Mathematics", 3.9 * _M, 669_000),
    ("Psychology", 3.4 * _M, 316_000),
    ("Economics", 2.3 * _M, 198_000),
    ("Political Science", 1.8 * _M, 69_000),
    ("Business", 1.8 * _M, 94_000),
    ("Geology", 1.8 * _M, 115_000),
    ("Sociology", 1.6 * _M, 93_000),
    ("Geography", 1.4 * _M, 58_000),
    ("Environmental Science", 766_000, 52_000),
    ("Art", 700_000, 16_000),
    ("History", 690_000, 22_000),
    ("Philosophy", 384_000, 15_000),
)
PAIRS, MENTIONED = 380.5 * _M, 156.5 * _M
BODY_TOKENS, ABSTRACT_TOKENS, ABSTRACTS = 25e9, 15e9, 73.4 * _M
SEVERAL_FIELDS = 677_000
