"""The runbook names everything an operator may meet, and its addresses lead somewhere."""

from __future__ import annotations

import fnmatch
import re
from enum import StrEnum
from pathlib import Path

import pytest

from s2corpus.catalog.models import ReleaseState
from s2corpus.deliveries.ready import Refusal
from s2corpus.extractors import protocol
from s2corpus.papers import filter as keeping
from s2corpus.papers import openness, vote
from s2corpus.pdf import outcome as pdf
from s2corpus.pipeline import quality
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.sources import record
from s2corpus.text import documents, splits
from s2corpus.titles import linking
from s2orc_parse.latex import Outcome as LatexOutcome
from s2orc_parse.tei import read

DOCS = Path(__file__).resolve().parents[3] / "docs"
RUNBOOK = (DOCS / "runbook.md").read_text("utf-8")
WORDS = set(re.findall(r"`([^`\n]+)`", RUNBOOK))
ENUMS: tuple[type[StrEnum], ...] = (
    Refusal, record.Reason, pdf.Outcome, protocol.Outcome, read.Reason, LatexOutcome, vote.Rule, openness.Evidence, keeping.Outcome,
    linking.Reason, documents.Outcome, splits.Split, ReleaseState,
)  # fmt: skip


@pytest.mark.parametrize("words", ENUMS, ids=lambda words: f"{words.__module__}.{words.__name__}")
def test_every_outcome_word_is_in_the_runbook(words: type[StrEnum]) -> None:
    assert [word.value for word in words if word.value not in WORDS] == []


def test_every_check_is_in_the_runbook() -> None:
    names = {check.name for stage in STAGE_NAMES for check in quality.list_checks(stage)}
    assert len(names) > 50
    assert sorted(name for name in names if not any(fnmatch.fnmatch(name, word) for word in WORDS)) == []


@pytest.mark.parametrize(
    "section", [*(f"stage-{stage}" for stage in STAGE_NAMES), "approve", "publish", "late", "drops"]
)
def test_what_an_alert_points_at_is_there(section: str) -> None:
    assert f'<a id="{section}">' in RUNBOOK


@pytest.mark.parametrize("page", sorted([*DOCS.glob("*.md"), DOCS.parent / "README.md"]), ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for link, anchor in re.findall(r"\]\(([\w./-]*\.md|)(?:#([\w-]+))?\)", page.read_text("utf-8")):
        target = page.parent / link if link else page
        assert target.is_file(), f"{page.name}: {link}"
        if anchor:
            assert f'<a id="{anchor}">' in target.read_text("utf-8"), f"{page.name}: {link}#{anchor}"


def test_the_picture_of_the_pipeline_shows_the_stages() -> None:
    """`ls include/s2corpus/stages` is the README's picture: these twelve and nothing else, in the order of the registry."""
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    picture = readme.partition("## The pipeline")[2].split("```")[1]
    drawn = set(re.findall(r"[a-z]+", picture)) & {*STAGE_NAMES, "publish"}
    assert drawn == {*STAGE_NAMES, "publish"}
    folder = DOCS.parent / "include" / "s2corpus" / "stages"
    there = {path.stem for path in folder.iterdir() if not path.name.startswith("_")}
    assert there == set(STAGE_NAMES)


def test_the_readme_is_short_and_its_pictures_are_there() -> None:
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) < 90
    pictures = re.findall(r"!\[[^]]+\]\((.+?)\)", readme)
    assert len(pictures) == 2
    assert [picture for picture in pictures if not (DOCS.parent / picture).is_file()] == []
