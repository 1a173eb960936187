"""Every command of `corpus`, `make` and `python -m devtools` on a page exists with its options, and shell blocks are marked `bash`.

`tests/e2e/test_guides.py` runs the shell blocks. A block that it cannot run has a comment with the reason.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from devtools.cli import tools
from s2corpus.cli import corpus
from tests.doc_blocks import DOCS, Block, read_blocks

ROOT = Path(__file__).resolve().parents[3]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))
STARTS = {("corpus",): corpus, ("python", "-m", "devtools"): tools}
PROGRAMS = re.compile(
    r"(airflow|aws|cd|corpus|curl|docker|export|for|helm|kubectl|make|pip|python|source|uv|uvx|wget) ", re.MULTILINE
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
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
