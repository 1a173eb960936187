"""Read the demands of the papers from the tests that show them: `python -m tests.papers.demands` prints the list of docs/comparison.md.

A docstring has one demand, or several below a first line: `<number>. <section>: <demand>.` A test of a deviation continues with the
paragraph `Deviation: … Reason: …`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAPERS = {
    "s2orc": "S2ORC", "s2_v2_card": "The S2 V2 card", "gorc": "GORC", "citeworth": "CiteWorth", "elsevier": "The Elsevier OA CC-BY corpus",
}  # fmt: skip
"""beginning of the names of the test files → the paper, in the order of the documentation"""
_DEMAND = re.compile(r"(\d+)\. ([^:]+): (.+)")
_DEVIATION = re.compile(r"Deviation: (.+)\nReason: (.+)", re.DOTALL)


@dataclass(frozen=True)
class Demand:
    """A demand of a paper: its number, its section and text, and if we deviate from it, what we do instead and why."""

    paper: str
    number: int
    section: str
    text: str
    test: str
    deviation: str | None = None
    reason: str | None = None


def read_demands(paper: str) -> Iterator[Demand]:
    """Yield the demands that the tests of a paper state, in the order of their numbers."""
    found = (demand for node in list_tests(paper) for demand in _read_test(paper, node))
    yield from sorted(found, key=lambda demand: demand.number)


def list_tests(paper: str) -> list[ast.FunctionDef]:
    """Return the tests of a paper, which may be in several files."""
    trees = [ast.parse(path.read_text("utf-8")) for path in sorted(Path(__file__).parent.glob(f"test_{paper}*.py"))]
    nodes = [node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [node for node in nodes if node.name.startswith("test_")]


def _read_test(paper: str, node: ast.FunctionDef) -> Iterator[Demand]:
    paragraphs = (ast.get_docstring(node) or "").split("\n\n")
    found = _DEVIATION.match(paragraphs[-1])
    deviation, reason = map(_to_line, found.groups()) if found else (None, None)
    for line in re.split(r"\n(?=\d+\. )", "\n".join(paragraphs)):
        if match := _DEMAND.match(_to_line(line.partition("\n\n")[0].partition("\nDeviation:")[0])):
            yield Demand(paper, int(match[1]), match[2], match[3], node.name, deviation, reason)


def _to_line(text: str) -> str:
    return " ".join(text.split())


def list_deviations() -> str:
    """Return the deviations as a Markdown list below the name of each paper."""
    lines: list[str] = []
    for paper, name in PAPERS.items():
        lines += [f"### {name}", ""]
        for demand in read_demands(paper):
            if demand.deviation:
                text = demand.text
                lines += [f"- {demand.section}: {text[0].upper()}{text[1:]}", f"    - **Ours:** {demand.deviation}"]
                lines.append(f"    - **Reason:** {demand.reason}")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    print(list_deviations())
