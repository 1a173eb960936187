"""The sample has every case that its release is compared with (tests/e2e/test_sample.py)."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pypdfium2
import pytest

from devtools.sample import Truth, truths
from devtools.sample.compare import token_f1
from devtools.sample.truth import PaperTruth
from s2corpus import sources


def pdf(sample: Path, truth: Truth, key: str) -> bytes:
    (place, *_) = next(p.places for p in truth.pdfs if p.paper == key)
    return (sample / "drops" / place[0] / place[1]).read_bytes()


def find_paper(truth: Truth, key: str) -> PaperTruth:
    return next(p for p in truth.papers if p.key == key)


def read_text(content: bytes) -> str:
    with pypdfium2.PdfDocument(content) as document:
        return "\n".join(page.get_textpage().get_text_range() for page in document)


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


def test_one_pdf_is_in_two_drops(truth: Truth) -> None:
    assert [p.paper for p in truth.pdfs if len(p.places) > 1] == ["two-drops"]
    assert len({p.sha1 for p in truth.pdfs}) == len(truth.pdfs)


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


def read_entries(sample: Path, deliveries: str = "*") -> list[sources.Entry]:
    """Return the entries that the adapters read from the sample's deliveries."""
    files = sorted(f for f in sample.glob(f"sources/*/{deliveries}/*") if f.name != "_READY")
    return [e for f in files for e in sources.read("jsonl" if f.name == "records.jsonl" else f.parts[-3], f)]


def test_every_source_is_delivered_in_its_format(sample: Path) -> None:
    own = {f.parts[-3]: f.name for f in sample.glob("sources/*/*/*") if f.name not in ("_READY", "records.jsonl")}
    assert own == {
        "acl": "anthology.xml", "arxiv": "oai.xml", "crossref": "works.jsonl", "dblp": "dblp.xml", "jats": "articles.xml",
        "pubmed": "pubmed.xml", "s2orc": "metadata.jsonl", "unpaywall": "snapshot.jsonl",
    }  # fmt: skip
    entries = read_entries(sample)
    assert not [e for e in entries if isinstance(e, sources.Dropped)]
    generic = [line for f in sample.glob("sources/*/*/records.jsonl") for line in f.open(encoding="utf-8")]
    # The generic form is only for facts that no source's format has: the file of a record, and withdrawals.
    assert len(generic) < len(entries) / 5


def test_sample_has_conflicting_and_corrected_records(sample: Path) -> None:
    entries = read_entries(sample)
    records = [e for e in entries if isinstance(e, sources.Record)]
    by_doi: dict[str, list[sources.Record]] = {}
    for record in records:
        if record.doi:
            by_doi.setdefault(record.doi, []).append(record)
    for field in ("title", "authors", "date", "abstract"):
        values = [{repr(getattr(r, field)) for r in group} for group in by_doi.values()]
        assert any(len(v) > 1 for v in values), f"{field} never differs"
    assert {r.kind for r in records} == set(sources.RecordKind)
    assert sum(isinstance(e, sources.Deleted) for e in entries) == 2
    ids = Counter(r.record_id for r in records)
    assert ids["crossref:" + next(d for d in by_doi if d.endswith("0001"))] == 1 and max(ids.values()) == 2


def test_sample_has_the_cases_of_real_papers(sample: Path, truth: Truth) -> None:
    assert (find_paper(truth, "structured-abstract").abstract or "").count("\n") == 2
    assert b":::" in (sample / "sources/s2orc/2023-01-full/metadata.jsonl").read_bytes()
    assert ":::" not in str(truth)
    assert (
        not [p for p in truth.pdfs if p.paper == "latex-only"]
        and find_paper(truth, "latex-only").oa_evidence == "arxiv"
    )
    assert "10.70112" not in read_text(pdf(sample, truth, "two-dois"))[:600]
    assert re.search(
        r"arXiv:\d{4}\.\d{5}v1 \[[a-z-]+\.\w+(?:-\w+)?\] \d\d \w{3} \d{4}", read_text(pdf(sample, truth, "stamped"))
    )
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


def test_token_f1_is_computed() -> None:
    assert token_f1("One two, two three.", "three two TWO one") == 1
    assert token_f1("one two", "three") == 0
    assert token_f1("one two", "one three") == 0.5
