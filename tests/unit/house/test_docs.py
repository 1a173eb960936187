"""The runbook and the specification have each outcome, check and rule; links, files and commands on pages exist.

Every command of `corpus`, `make` and `python -m devtools` exists with its options. `tests/e2e/test_guides.py` runs the
shell blocks, which are marked `bash`. A block that it cannot run has a comment with the reason.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import click
import pytest

from devtools.cli import tools
from devtools.docs_reference import PAGES as GENERATED
from s2corpus.catalog.models import ReleaseState
from s2corpus.cli import corpus
from s2corpus.clustering.edges import REASONS
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
from tests.doc_blocks import Block, read_blocks

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
PROGRAMS = re.compile(
    r"(airflow|aws|cd|corpus|curl|docker|export|for|helm|kubectl|make|pip|python|source|uv|uvx|wget) ", re.MULTILINE
)


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


@pytest.mark.parametrize("page", sorted([*DOCS.glob("*.md"), DOCS.parent / "README.md"]), ids=lambda page: page.name)
def test_links_between_pages_have_a_target(page: Path) -> None:
    for link, anchor in re.findall(r"\]\(([\w./-]*\.md|)(?:#([\w-]+))?\)", page.read_text("utf-8")):
        if Path(link).stem in GENERATED:
            continue
        target = page.parent / link if link else page
        assert target.is_file(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target.read_text("utf-8")), f"{page.name}: {link}#{anchor}"


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_files_named_on_a_page_exist(page: Path) -> None:
    named = re.findall(
        r"`((?:dags|deploy|devtools|docs|include|plugins|sql|tests)/[\w./-]+|test_\w+\.py)`", page.read_text("utf-8")
    )
    missing = {name for name in named if not (ROOT / name).exists() and name not in TEST_FILES}
    assert missing - MADE_BY_READER == set()


def test_generated_pages_list_every_stage_field_and_check() -> None:
    checks, spec = GENERATED["reference-checks"](), GENERATED["reference-spec"]()
    assert [stage for stage in STAGE_NAMES if f"## {stage}\n" not in checks] == []
    assert re.search(r"\| `min_score` \| .* \| `0\.8` \|", spec)
    assert "S2ORC §2.6" in spec
    outcomes = GENERATED["reference-outcomes"]()
    assert [word for words in ENUMS for word in words if f"`{word.value}`" not in outcomes] == []
    assert "## corpus deliver" in GENERATED["reference-commands"]()


def anchors(text: str) -> set[str]:
    """Return the ids that a page defines explicitly, and the ids that MkDocs derives from its headings."""
    headings = re.findall(r"^#+ (?:<a id=.*</a>)?(.+)$", text, re.MULTILINE)
    slugs = {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}
    return {*re.findall(r'<a id="([\w-]+)">', text), *slugs}


def test_pipeline_picture_shows_the_stages() -> None:
    picture = (DOCS / "pictures" / "pipeline.svg").read_text("utf-8")
    boxes = re.findall(r'font-weight="600"[^>]*>([^<]+)</text>', picture)
    assert [name for name in boxes if name in STAGE_NAMES] == list(STAGE_NAMES)
    assert "publish" in boxes


def test_readme_is_short_and_has_its_pictures() -> None:
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) <= 120
    assert "include/s2corpus/pipeline/stages.py" in readme
    pictures = re.findall(r"!\[[^]]+\]\((.+?)\)", readme)
    assert len(pictures) == 3
    assert [picture for picture in pictures if not (DOCS.parent / picture).is_file()] == []


def read_section(number: str) -> str:
    """Return the text of a section; section 8 includes Annex A, which adds outcomes of `recipe-2024`."""
    text = SPECIFICATION.split(f"\n## {number}. ")[1].split("\n## ")[0]
    return text + SPECIFICATION.split("\n## Annex A.")[1] if number == "8" else text


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


def test_rules_are_numbered_without_gap() -> None:
    for section in sorted(SECTIONS, key=int):
        numbers = [int(rule.split(".")[1]) for rule in RULES if rule.split(".")[0] == section]
        assert sorted(numbers) == list(range(1, len(numbers) + 1)), section


@pytest.mark.parametrize("section", OUTCOMES)
def test_each_outcome_is_specified(section: str) -> None:
    text = read_section(section)
    # `refused:`, `failed:`, `gave_up:`, `unsafe:` and `held_back:` introduce lists of values
    missing = [v for kind in OUTCOMES[section] for v in kind if v not in text and v.rpartition(":")[2] not in text]
    assert missing == []


def test_each_reason_of_an_edge_is_specified() -> None:
    text = read_section("4")
    assert [reason for reason in REASONS if f"`{reason}`" not in text] == []


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_commands_of_a_page_exist_with_their_options(page: Path) -> None:
    problems = [problem for words in list_commands(page.read_text("utf-8")) for problem in find_problems(words)]
    assert problems == []


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_shell_blocks_are_marked_bash(page: Path) -> None:
    assert [block.code for block in read_blocks(page) if is_unmarked_shell(block)] == []
    comments = re.findall(r"<!-- not run: (.*) -->", page.read_text("utf-8"))
    assert comments == [block.excuse for block in read_blocks(page) if block.excuse], "a comment precedes no block"


def test_unknown_commands_options_and_targets_are_reported() -> None:
    page = "```text\nS2CORPUS_LAKE=x corpus deliver a --into c | cat\ncorpus publish x\nmake rain X=1\n```\nand `corpus verify X --deep`"
    assert [problem for words in list_commands(page) for problem in find_problems(words)] == [
        "corpus deliver a --into c: no option --into",
        "corpus publish x: no command publish",
        "make rain X=1: no target rain",
        "make rain X=1: no variable X",
        "corpus verify X --deep: no option --deep",
    ]


def is_unmarked_shell(block: Block) -> bool:
    """Return whether a block that is not marked `bash` begins a line with a program."""
    return block.language in ("", "text", "sh", "shell", "console") and any(
        PROGRAMS.match(line) for line in block.code.splitlines()
    )


def list_commands(page: str) -> Iterator[list[str]]:
    """Yield the words of each shown command: from code blocks and from inline code."""
    blocks = re.findall(r"^ *```(?:bash|text|)\n(.*?)^ *```", page, re.MULTILINE | re.DOTALL)
    inline = re.findall(r"(?<!`)`((?:corpus|make|python -m devtools) [^`\n]+)`", page)
    for line in [*"\n".join(blocks).replace("\\\n", " ").splitlines(), *inline]:
        for part in re.split(r"\||&&|;|<<| [<>] |\$ ", line):
            words = split_words(part)
            while words and re.match(r"\w+=", words[0]):
                words = words[1:]
            if words and (words[0] == "make" or any(tuple(words[: len(start)]) == start for start in STARTS)):
                yield words


def split_words(line: str) -> list[str]:
    """Return the words of a shell line without its comment; return an empty list for other text."""
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return []


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
