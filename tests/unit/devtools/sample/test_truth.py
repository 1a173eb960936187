"""The sample has every case that its release is compared with (tests/e2e/test_sample.py)."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from devtools.sample import Truth, truths
from devtools.sample.truth import PaperTruth
from s2corpus import sources


def find_paper(truth: Truth, key: str) -> PaperTruth:
    return next(p for p in truth.papers if p.key == key)


def test_sample_has_every_outcome_of_every_stage(truth: Truth) -> None:
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


@pytest.mark.parametrize(
    "style, form",
    [
        ("BRACKET", r"\[\d+\]"),
        ("BRACKET", r"\[\d+(, \d+)*-\d+\]"),  # [1, 3-5]
        ("BRACKET", r"\[\d+\]–\[\d+\]"),  # [3]–[5]
        ("NAME_YEAR", r"\(\w+ and \w+, \d{4}"),
        ("NAME_YEAR", r"\[\w+ and \w+, \d{4}"),
        ("NAME_YEAR", r"\w+ et al\. \(\d{4}[ab]?\)"),
        ("OTHER", r"^\d+–\d+$"),
    ],
)
def test_sample_has_every_form_of_citation(truth: Truth, style: str, form: str) -> None:
    surfaces = [s for p in truth.papers if p.citation_style == style for b in p.body for s, _ in b.callouts]
    assert any(re.search(form, s) for s in surfaces)


def test_sample_has_conflicting_and_corrected_records(sample: Path) -> None:
    files = sorted(f for f in sample.glob("sources/*/*/*") if f.name != "_READY")
    entries = [e for f in files for e in sources.read("jsonl" if f.name == "records.jsonl" else f.parts[-3], f)]
    records = [e for e in entries if isinstance(e, sources.Record)]
    for field in ("title", "authors", "date", "abstract"):
        values = {(r.doi, repr(getattr(r, field))) for r in records if r.doi}
        assert len(values) > len({doi for doi, _ in values}), f"{field} never differs"
    assert {r.kind for r in records} == set(sources.RecordKind)
    assert sum(isinstance(e, sources.Deleted) for e in entries) == 2
    assert max(Counter(r.record_id for r in records).values()) == 2


def test_sample_has_the_cases_of_real_papers(sample: Path, truth: Truth) -> None:
    assert (find_paper(truth, "structured-abstract").abstract or "").count("\n") == 2
    assert b":::" in (sample / "sources/s2orc/2023-01-full/metadata.jsonl").read_bytes()
    assert ":::" not in str(truth)
    assert find_paper(truth, "latex-only").oa_evidence == "arxiv"
    assert "latex-only" not in {p.paper for p in truth.pdfs}
    assert [p.paper for p in truth.pdfs if len(p.places) > 1] == ["two-drops"]
    assert {p.field for p in truth.papers} > {"Computer Science", "Medicine", "Physics", None}


def test_three_months_add_merge_split_and_withdraw_papers(sample: Path) -> None:
    january, february, march = truths(sample)
    keys = [{p.key for p in t.papers} for t in (january, february, march)]
    assert keys[1] - keys[0] == {"added-february", "split-off"}
    assert keys[0] - keys[1] == {"merging-published", "vanishing"}
    assert keys[2] - keys[1] == {"added-march"} and keys[1] - keys[2] == {"doi-typo-record"}
    assert february.merged == (("merging-published", "merging-preprint"),)
    assert february.split_off == (("split-off", "splitting"),)
    assert march.merged == (("doi-typo-record", "doi-typo"),)
    assert [find_paper(t, "pdf-follows").s2orc for t in (january, february)] == ["no_parse", "kept"]


@pytest.fixture
def sample(complete: tuple[Path, Truth]) -> Path:
    return complete[0]


@pytest.fixture
def truth(complete: tuple[Path, Truth]) -> Truth:
    return complete[1]
