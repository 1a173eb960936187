"""The specification (docs/specification.md) has each rule that the code cites, and each outcome that a stage gives."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

import pytest

from s2corpus.clustering.edges import REASONS
from s2corpus.deliveries.ready import Refusal
from s2corpus.extractors.protocol import ExtractOutcome as Extraction
from s2corpus.papers.filter import FilterOutcome as Filtered
from s2corpus.papers.openness import Evidence
from s2corpus.papers.vote import VoteRule
from s2corpus.pdf.outcome import SelectOutcome as Selected
from s2corpus.text.documents import CleanOutcome as Cleaned
from s2corpus.text.splits import Split
from s2corpus.titles.linking import LinkReason, LinkWarning
from s2orc_parse.jats.outcome import JatsOutcome
from s2orc_parse.latex.outcome import LatexOutcome

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/specification.md").read_text(encoding="utf-8")
RULES = set(re.findall(r"^\*\*(\d+\.\d+|A\.\d+)\*\*", PAGE, re.MULTILINE))
SECTIONS = set(re.findall(r"^## (\d+)\. ", PAGE, re.MULTILINE))
_CITATION = re.compile(r"SPEC §([\d.]+\d|\d)((?:[–,] ?§?\d+(?:\.\d+)?)*)")
_OUTCOMES: dict[str, tuple[type[StrEnum], ...]] = {
    "0": (Refusal,),
    "1": (Selected,),
    "2": (Extraction,),
    "3": (LatexOutcome, JatsOutcome),
    "5": (Evidence, VoteRule),
    "6": (Filtered,),
    "7": (LinkReason, LinkWarning),
    "8": (Cleaned,),
    "9": (Split,),
}


def _read_section(number: str) -> str:
    """Return the text of a section; section 8 includes Annex A, which adds outcomes of `recipe-2024`."""
    text = PAGE.split(f"\n## {number}. ")[1].split("\n## ")[0]
    return text + PAGE.split("\n## Annex A.")[1] if number == "8" else text


def test_each_cited_rule_exists() -> None:
    cited = {}
    for folder in ("include", "dags", "plugins", "devtools", "sql", "tests"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".sql") and path != Path(__file__):
                for first, more in _CITATION.findall(path.read_text(encoding="utf-8")):
                    for rule in (first, *re.findall(r"\d+(?:\.\d+)?", more)):
                        cited[rule] = f"{path.relative_to(ROOT)} cites {rule}"
    assert len(cited) > 20
    assert [where for rule, where in cited.items() if rule not in RULES | SECTIONS] == []


def test_rules_are_numbered_without_gap() -> None:
    for section in sorted(SECTIONS, key=int):
        numbers = [int(rule.split(".")[1]) for rule in RULES if rule.split(".")[0] == section]
        assert sorted(numbers) == list(range(1, len(numbers) + 1)), section


@pytest.mark.parametrize("section", _OUTCOMES)
def test_each_outcome_is_specified(section: str) -> None:
    text = _read_section(section)
    # `refused:`, `failed:`, `gave_up:`, `unsafe:` and `held_back:` introduce lists of values
    missing = [v for kind in _OUTCOMES[section] for v in kind if v not in text and v.rpartition(":")[2] not in text]
    assert missing == []


def test_each_reason_of_an_edge_is_specified() -> None:
    text = _read_section("4")
    assert [reason for reason in REASONS if f"`{reason}`" not in text] == []
