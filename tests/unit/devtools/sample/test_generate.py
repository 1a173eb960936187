"""The sample has every case that its release is compared with (tests/e2e/test_sample.py)."""

from pathlib import Path

from devtools.sample import Truth


def test_sample_has_every_outcome_of_every_stage(complete: tuple[Path, Truth]) -> None:
    truth = complete[1]
    assert {p.selection for p in truth.pdfs} == {
        "unreadable", "encrypted", "too_many_pages", "landscape", "pdfalto_failed", "selected",
    }  # fmt: skip
    assert {p.filtered for p in truth.papers} == {
        "suppressed", "no_title", "no_authors", "short_text", "not_english", "kept",
    }  # fmt: skip
    assert {p.s2orc for p in truth.papers} == {
        None, "no_parse", "closed", "no_abstract", "short", "no_year", "before_min_year", "few_paragraphs", "bad_top_word", "kept",
    }  # fmt: skip
    assert {p.s2ag for p in truth.papers} == {
        None, "no_abstract", "abstract_short", "abstract_long", "no_year", "before_min_year", "kept",
    }  # fmt: skip
    assert {p.split for p in truth.papers} == {
        None, "train", "valid", "held_back:late", "held_back:undated", "held_back:duplicate",
    }  # fmt: skip
    assert {p.oa_evidence for p in truth.papers} == {None, "arxiv", "acl", "pmc", "unpaywall", "publisher", "declared"}
    assert {p.citation_style for p in truth.papers} == {None, "BRACKET", "NAME_YEAR", "OTHER"}
