"""Equal arguments give a sample with equal bytes, and an incomplete sample is completed.

The sample has every case that its release is compared with (tests/e2e/test_sample.py).
"""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import pytest

from devtools import sample
from devtools.sample import Truth, truths
from s2corpus.errors import UserError


def contents(folder: Path) -> dict[str, str]:
    files = sorted(f for f in folder.rglob("*") if f.is_file())
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def test_equal_seed_gives_equal_bytes_with_any_workers(tiny: tuple[Path, Truth], tmp_path: Path) -> None:
    sample.tiny(tmp_path, workers=3)
    assert contents(tiny[0]) == contents(tmp_path)


def test_incomplete_sample_is_completed(tiny: tuple[Path, Truth], tmp_path: Path) -> None:
    shutil.copytree(tiny[0], tmp_path, dirs_exist_ok=True)
    (tmp_path / "drops/2023-01-a/bracket.pdf").unlink()
    sample.tiny(tmp_path)
    assert contents(tmp_path) == contents(tiny[0])


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(UserError, match="not empty and holds no sample"):
        sample.tiny(tmp_path)
    assert [f.name for f in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.fixture
def truth(complete: tuple[Path, Truth]) -> Truth:
    return complete[1]


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


def test_sample_has_every_form_of_citation(truth: Truth) -> None:
    """Check [1], [1, 3-5], [3]–[5], names in round and square brackets, names before the year, and raised ranges."""
    forms = {
        "BRACKET": (r"\[\d+\]", r"\[\d+(, \d+)*-\d+\]", r"\[\d+\]–\[\d+\]"),
        "NAME_YEAR": (r"\(\w+ and \w+, \d{4}", r"\[\w+ and \w+, \d{4}", r"\w+ et al\. \(\d{4}[ab]?\)"),
        "OTHER": (r"^\d+–\d+$",),
    }
    for style, patterns in forms.items():
        surfaces = [s for p in truth.papers if p.citation_style == style for b in p.body for s, _ in b.callouts]
        assert [form for form in patterns if not any(re.search(form, s) for s in surfaces)] == []


def test_three_months_add_merge_split_and_withdraw_papers(complete: tuple[Path, Truth]) -> None:
    january, february, march = truths(complete[0])
    keys = [{p.key for p in t.papers} for t in (january, february, march)]
    assert keys[1] - keys[0] == {"added-february", "split-off"}
    assert keys[0] - keys[1] == {"merging-published", "vanishing"}
    assert keys[2] - keys[1] == {"added-march"} and keys[1] - keys[2] == {"doi-typo-record"}
    assert february.merged == (("merging-published", "merging-preprint"),)
    assert february.split_off == (("split-off", "splitting"),)
    assert march.merged == (("doi-typo-record", "doi-typo"),)
    follows = [p.s2orc for t in (january, february) for p in t.papers if p.key == "pdf-follows"]
    assert follows == ["no_parse", "kept"]
