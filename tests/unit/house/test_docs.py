"""The runbook and the specification have each outcome, check and rule; files and commands on pages exist.

Every command of `corpus`, `make` and `python -m devtools` exists with its options. `make docs` checks the links.
"""

import contextlib
import fnmatch
import re
import shlex
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import click
import pytest

from devtools.cli import tools
from s2corpus.catalog.models import ReleaseState
from s2corpus.cli import corpus
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
from s2orc_parse.jats.outcome import JatsOutcome
from s2orc_parse.latex import LatexOutcome
from s2orc_parse.tei import read

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PROSE = [*sorted(DOCS.glob("*.md")), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]
TEST_FILES = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
MADE_BY_READER = {"include/s2corpus/stages/venues.py", "sql/quality/venues.sql"}
"""files of the example stage in extending.md"""
RUNBOOK = (DOCS / "runbook.md").read_text("utf-8")
WORDS = set(re.findall(r"`([^`\n]+)`", RUNBOOK))
ENUMS: tuple[type[StrEnum], ...] = (
    Refusal, record.RejectReason, pdf.SelectOutcome, protocol.ExtractOutcome, read.TeiRefusal, LatexOutcome, vote.VoteRule,
    openness.Evidence, keeping.FilterOutcome, linking.LinkReason, documents.CleanOutcome, splits.Split, ReleaseState,
)  # fmt: skip

SPECIFICATION = (DOCS / "specification.md").read_text("utf-8")
RULES = set(re.findall(r"^\*\*(\d+\.\d+|A\.\d+)\*\*", SPECIFICATION, re.MULTILINE))
SECTIONS = set(re.findall(r"^## (\d+)\. ", SPECIFICATION, re.MULTILINE))
CITATION = re.compile(r"SPEC §([\d.]+\d|\d)((?:[–,] ?§?\d+(?:\.\d+)?)*)")
OUTCOMES: dict[str, tuple[type[StrEnum], ...]] = {
    "0": (Refusal,), "1": (pdf.SelectOutcome,), "2": (protocol.ExtractOutcome,), "3": (LatexOutcome, JatsOutcome),
    "5": (openness.Evidence, vote.VoteRule), "6": (keeping.FilterOutcome,), "7": (linking.LinkReason, linking.LinkWarning),
    "8": (documents.CleanOutcome,), "9": (splits.Split,),
}  # fmt: skip
"""section of the specification → outcomes of the stage"""
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))
STARTS = {("corpus",): corpus, ("python", "-m", "devtools"): tools}


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
def test_every_anchor_of_an_alert_exists(section: str) -> None:
    assert f'<a id="{section}">' in RUNBOOK


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_files_named_on_a_page_exist(page: Path) -> None:
    named = re.findall(
        r"`((?:dags|deploy|devtools|docs|include|plugins|sql|tests)/[\w./-]+|test_\w+\.py)`", page.read_text("utf-8")
    )
    missing = {name for name in named if not (ROOT / name).exists() and name not in TEST_FILES}
    assert missing - MADE_BY_READER == set()


def test_each_cited_rule_exists() -> None:
    cited = {}
    for folder in ("include", "dags", "plugins", "devtools", "sql", "tests"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".sql") and path != Path(__file__):
                for first, more in CITATION.findall(path.read_text(encoding="utf-8")):
                    for rule in (first, *re.findall(r"\d+(?:\.\d+)?", more)):
                        cited[rule] = f"{path.relative_to(ROOT)} cites {rule}"
    assert len(cited) > 20
    assert [where for rule, where in cited.items() if rule not in RULES | SECTIONS] == []


@pytest.mark.parametrize("section", OUTCOMES)
def test_each_outcome_is_specified(section: str) -> None:
    text = SPECIFICATION.split(f"\n## {section}. ")[1].split("\n## ")[0]
    if section == "8":
        text += SPECIFICATION.split("\n## Annex A.")[1]  # `recipe-2024` adds outcomes.
    # `refused:`, `failed:`, `gave_up:`, `unsafe:` and `held_back:` introduce lists of values
    missing = [v for kind in OUTCOMES[section] for v in kind if v not in text and v.rpartition(":")[2] not in text]
    assert missing == []


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_commands_of_a_page_exist_with_their_options(page: Path) -> None:
    problems = [problem for words in list_commands(page.read_text("utf-8")) for problem in find_problems(words)]
    assert problems == []


def list_commands(page: str) -> Iterator[list[str]]:
    """Yield the words of each shown command: from code blocks and from inline code."""
    blocks = re.findall(r"^ *```(?:bash|text|)\n(.*?)^ *```", page, re.MULTILINE | re.DOTALL)
    inline = re.findall(r"(?<!`)`((?:corpus|make|python -m devtools) [^`\n]+)`", page)
    for line in [*"\n".join(blocks).replace("\\\n", " ").splitlines(), *inline]:
        for part in re.split(r"\||&&|;|<<| [<>] |\$ ", line):
            words: list[str] = []
            with contextlib.suppress(ValueError):  # The text is no shell line.
                words = shlex.split(part, comments=True)
            while words and re.match(r"\w+=", words[0]):
                words = words[1:]
            if words and (words[0] == "make" or any(tuple(words[: len(start)]) == start for start in STARTS)):
                yield words


def find_problems(words: list[str]) -> list[str]:
    """Return a message for each command, option or target that does not exist."""
    shown = " ".join(words)
    if words[0] == "make":
        targets = [word for word in words[1:] if re.fullmatch(r"[a-z][a-z-]*", word)]
        variables = [word.partition("=")[0] for word in words[1:] if re.match(r"[A-Z]+=", word)]
        return [f"{shown}: no target {target}" for target in targets if target not in TARGETS] + [
            f"{shown}: no variable {variable}" for variable in variables if f"$({variable})" not in MAKEFILE
        ]
    start = next(start for start in STARTS if tuple(words[: len(start)]) == start)
    group, rest = STARTS[start], words[len(start) :]
    if not rest or rest[0].startswith(("-", "…")) or not re.fullmatch(r"[a-z-]+", rest[0]):
        return []
    context = click.Context(group)
    command = group.get_command(context, rest[0])
    if command is None:
        return [f"{shown}: no command {rest[0]}"]
    known = {option for param in command.get_params(context) for option in (*param.opts, *param.secondary_opts)}
    options = [word.partition("=")[0] for word in rest[1:] if re.match(r"--?[a-z]", word)]
    return [f"{shown}: no option {option}" for option in options if option not in {*known, "--help"}]
