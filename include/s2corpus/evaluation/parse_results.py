"""Compute precision, recall and F1 of inline citations and bibliographies from people's marks (S2ORC §4, SPEC §11.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median_high
from typing import Any

from s2corpus.errors import UserError
from s2corpus.evaluation.parse_sheet import LineMarks
from s2corpus.evaluation.parses import ParseItem, ParseTask
from s2corpus.evaluation.statistics import Accuracy, combine, f1, format_interval, format_share, grouped_accuracy

PAPER = 0.89
"""published F1 of both tasks: S2ORC §4"""
LABELS = {ParseTask.CITATIONS: "Inline citations", ParseTask.BIBLIOGRAPHY: "Bibliographies"}


@dataclass(frozen=True, slots=True)
class ParseResult:
    """The result of one task."""

    task: ParseTask
    papers: int
    """number of papers in the sample"""
    marked: int
    """number of papers that at least one person marked"""
    right: int
    wrong: int
    missing: int
    precision: Accuracy | None
    recall: Accuracy | None
    f1: Accuracy | None
    kappa: float | None
    """Cohen's kappa of the two people with the most lines in common"""
    markers: tuple[str, ...]
    skipped: str | None
    """first item that nobody marked although a later one is marked"""


def parse_results(items: Sequence[ParseItem], marks: Mapping[str, Mapping[str, LineMarks]]) -> tuple[ParseResult, ...]:
    """Return the result of each task. `marks` are those of each item by person; marks of other items are ignored.

    The number of missing ones is the median of all people's numbers, the larger of two.
    """
    return tuple(_result(task, [item for item in items if item.task is task], marks) for task in ParseTask)


def _result(task: ParseTask, items: Sequence[ParseItem], marks: Mapping[str, Mapping[str, LineMarks]]) -> ParseResult:
    marked = [item for item in items if marks.get(item.item)]
    people, kappa = combine(
        (f"{item.item} {number}", marker, number not in said.wrong)
        for item in marked
        for marker, said in marks[item.item].items()
        for number in range(1, len(item.lines) + 1)
        if number not in said.unsure
    )
    counts = []
    for item in marked:
        names = (f"{item.item} {number}" for number in range(1, len(item.lines) + 1))
        lines = [people[name] for name in names if name in people]
        missing = median_high(said.missing for said in marks[item.item].values())
        counts.append((sum(lines), len(lines) - sum(lines), missing))
    right, wrong, missing = (sum(count[n] for count in counts) for n in range(3))
    return ParseResult(
        task, len(items), len(marked), right, wrong, missing,
        grouped_accuracy((r, r + w) for r, w, _ in counts), grouped_accuracy((r, r + m) for r, _, m in counts), f1(counts), kappa,
        tuple(sorted({marker for item in marked for marker in marks[item.item]})),
        next((item.item for item in items[: len(marked)] if item not in marked), None),
    )  # fmt: skip


def check_order(results: Sequence[ParseResult]) -> None:
    """Accept only marks of the first papers of the sample, which are a random sample.

    Raises:
        UserError: a paper was skipped.
    """
    for result in results:
        if result.skipped:
            raise UserError(f"{result.skipped} is not marked, but a later one is: mark the papers in their order")


def parse_card(results: Sequence[ParseResult]) -> list[str]:
    """Return the lines of the data card."""
    marked = [result for result in results if result.f1]
    if not marked:
        return ["Inline citations and bibliographies: not evaluated.", ""]
    lines = [
        "Inline citations and bibliographies of PDFs, compared with the PDF by people; 95 % intervals (Wilson, effective number of "
        "marks).",
        "",
        "| task | papers | right | wrong | missing | precision | recall | F1 | interval | agreement (kappa) | S2ORC |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {LABELS[x.task]} | {x.marked} of {x.papers} | {x.right} | {x.wrong} | {x.missing} | {format_share(x.precision)} | "
        f"{format_share(x.recall)} | {format_share(x.f1)} | {format_interval(x.f1)} | "
        f"{'–' if x.kappa is None else f'{x.kappa:.2f}'} | {PAPER:.2f} |"
        for x in marked
    ]
    return [*lines, ""]


def parses_as_json(results: Sequence[ParseResult]) -> list[dict[str, Any]]:
    """Return the results as JSON objects, in the form stored next to a snapshot."""
    return [{**asdict(result), "paper": PAPER} for result in results]


def format_parse_result(result: ParseResult) -> str:
    """Return the result of a task as one line of text."""
    label = LABELS[result.task]
    if result.f1 is None:
        return f"{label}: not evaluated ({result.papers} papers); S2ORC {PAPER:.2f}"
    agreement = "" if result.kappa is None else f"; kappa {result.kappa:.2f}"
    shares = (("precision", result.precision), ("recall", result.recall), ("F1", result.f1))
    numbers = ", ".join(f"{name} {format_share(share)} ({format_interval(share)})" for name, share in shares)
    counts = f"{result.right} right, {result.wrong} wrong, {result.missing} missing in {result.marked} of {result.papers} papers"
    return f"{label}: {numbers}; {counts}; by {', '.join(result.markers)}{agreement}; S2ORC {PAPER:.2f}"
