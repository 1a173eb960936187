"""The runbook and the specification have each outcome, check and rule; files and commands on pages exist.

Every command of `corpus`, `make` and `python -m devtools` exists with its options. `make docs` checks the links.
"""

import contextlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from devtools.cli import tools
from devtools.docs_reference import OUTCOMES_LINE, list_outcomes
from s2corpus.catalog.models import ReleaseState
from s2corpus.cli import corpus
from s2corpus.pipeline import checks
from s2corpus.pipeline.stages import STAGE_NAMES

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PROSE = [*sorted(DOCS.glob("*.md")), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]
TEST_FILES = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
MADE_BY_READER = {
    "include/s2corpus/sources/repository.py", "include/s2corpus/stages/venues.py", "sql/quality/venues.sql",
}  # fmt: skip
"""files of the examples in extending.md"""
RUNBOOK = (DOCS / "runbook.md").read_text("utf-8")
WORDS = set(re.findall(r"`([^`\n]+)`", RUNBOOK))
STAGE_SECTIONS = [
    ("intake",), ("select",), ("extract",), ("postprocess",), ("cluster",), ("vote", "assemble"), ("filter",), ("link",), ("clean",),
    ("split",), ("export",),
]  # fmt: skip
"""stages of each section of the specification"""
LISTS = list_outcomes()
"""name of each closed list of outcomes → its stage and rows"""

SPECIFICATION = (DOCS / "specification.md").read_text("utf-8")
RULES = set(re.findall(r"^\*\*(\d+\.\d+|A\.\d+)\*\*", SPECIFICATION, re.MULTILINE))
SECTIONS = set(re.findall(r"^## (\d+)\. ", SPECIFICATION, re.MULTILINE))
CITATION = re.compile(r"SPEC §([\d.]+\d|\d)((?:[–,] ?§?\d+(?:\.\d+)?)*)")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))
STARTS = {("corpus",): corpus, ("python", "-m", "devtools"): tools}


ANSWERS = (
    ("Which languages", "min_english", 0), ("Which languages", "cld3", 1), ("GPU", "need none", 0),
    ("GPU", "nvidia gpu", 1), ("GPU", "docling-serve", 1),
    ("hardware", "4 gb", 0), ("hardware", "core-hours", 1), ("licenses", "apache-2.0", 0), ("licenses", "trained on", 0),
    ("licenses", "tables/rights", 1), ("taken down", "corpus takedown", 0), ("taken down", "tombstones.parquet", 1),
    ("taken down", "corpus correct", 1), ("cite", "citation.cff", 0), ("how long", "the latest release gets fixes", 1),
)  # fmt: skip
"""words of a question on the first page, words of its answer, and the clicks to it"""
LINK = re.compile(r"\]\(([\w-]+\.md)?(?:#([\w.-]+))?\)")


def read_section(page: str, anchor: str | None) -> str:
    """Return the text of a page from an anchor to the next heading of the same level, or of all of it."""
    text = (DOCS / page).read_text("utf-8")
    if anchor is None:
        return text
    for heading in re.finditer(r"^(#+) (.*)$", text, re.MULTILINE):
        slug = re.sub(r"[^\w\s-]", "", re.sub("<.*?>", "", heading[2]).strip().lower()).replace(" ", "-")
        if f'id="{anchor}"' in heading[2] or slug == anchor:
            return re.split(rf"^#{{1,{len(heading[1])}}} ", text[heading.end() :], maxsplit=1, flags=re.MULTILINE)[0]
    return re.split(r"^#", text[text.index(f'id="{anchor}"') :], maxsplit=1, flags=re.MULTILINE)[0]


@pytest.mark.parametrize(("question", "answer", "clicks"), ANSWERS)
def test_answer_is_at_most_two_clicks_from_the_first_page(question: str, answer: str, clicks: int) -> None:
    """Each link leads to the section with the answer, not to a page in which it must be searched."""
    paragraphs = read_section("index.md", "frequent-questions").split("\n\n")
    (reached,) = ([one] for one in paragraphs if re.match(rf"\*\*[^*]*{question}[^*]*\?\*\*", one))
    for _ in range(clicks):
        links = (link.groups() for text in reached for link in LINK.finditer(text))
        reached = [read_section(page or "index.md", anchor) for page, anchor in links]
    assert any(answer in text.lower() for text in reached)


@pytest.mark.parametrize("name", LISTS)
def test_every_list_of_outcomes_is_in_the_runbook_and_specification(name: str) -> None:
    """Check that both pages have the line that `make docs` replaces by the table, in the section of the stage."""
    if stage := LISTS[name][0]:
        number = STAGE_SECTIONS.index(next(names for names in STAGE_SECTIONS if stage in names))
        specified = SPECIFICATION.split(f"\n## {number}. ")[1].split("\n## ")[0]
        assert name in OUTCOMES_LINE.findall(specified), f"specification, section {number}: no table of {name}"
        explained = RUNBOOK.split(f'<a id="stage-{stage}">')[1].split("<a id=")[0]
        assert name in OUTCOMES_LINE.findall(explained), f"runbook, section stage-{stage}: no table of {name}"


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_every_table_of_outcomes_has_a_list(page: Path) -> None:
    assert set(re.findall(r"^\[outcomes: ([^]]*)\]", page.read_text("utf-8"), re.MULTILINE)) <= LISTS.keys()


def test_states_of_releases_are_in_the_runbook() -> None:
    assert [state.value for state in ReleaseState if state.value not in WORDS] == []


def test_every_check_states_its_meaning_and_fix() -> None:
    """The reason is on the page, in alerts and in the reference. The fix of a check without one is to clear the stage (runbook)."""
    acceptable = [check for check in checks.list_all_checks() if check.overridable or check.severity == "warn"]
    assert len(acceptable) > 20
    assert [check.name for check in acceptable if not re.fullmatch(r".{20,}: .{10,}", check.reason)] == []


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
    if isinstance(command, click.Group) and len(rest) > 1 and not rest[1].startswith("-"):
        rest = rest[1:]
        if (command := command.get_command(context, rest[0])) is None:
            return [f"{shown}: no command {rest[0]}"]
    known = {option for param in command.get_params(context) for option in (*param.opts, *param.secondary_opts)}
    known |= {f"--{name}" for name in getattr(command.callback, "group_options", ())}
    options = [word.partition("=")[0] for word in rest[1:] if re.match(r"--?[a-z]", word)]
    return [f"{shown}: no option {option}" for option in options if option not in {*known, "--help"}]
