"""Compute the result of people's marks: accuracy of each task with its interval, agreement, and the text of the card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from s2corpus.evaluation.parse_results import ParseResult, parse_card, parses_as_json
from s2corpus.evaluation.sample import EvaluationTask, Item, by_task
from s2corpus.evaluation.statistics import Accuracy, accuracy, combine, format_interval, format_share

PAPER = {
    (EvaluationTask.CLUSTERS, "title"): 0.93, (EvaluationTask.CLUSTERS, "authors"): 0.89, (EvaluationTask.PDF_LINKS, "title"): 1.00,
    (EvaluationTask.PDF_LINKS, "authors"): 0.96, (EvaluationTask.LATEX_LINKS, "title"): 1.00, (EvaluationTask.LATEX_LINKS, "authors"): 0.92,
}  # fmt: skip
"""published accuracies: S2ORC Table 5 (GORC Table 4)"""
LABELS = {
    EvaluationTask.CLUSTERS: "Paper clustering",
    EvaluationTask.PDF_LINKS: "Bibliography linking (PDF)",
    EvaluationTask.LATEX_LINKS: "Bibliography linking (LaTeX)",
}
FIELDS = ("title", "authors")


@dataclass(frozen=True, slots=True)
class ItemMarks:
    """One person's marks of one item: whether title and authors are right; None means undecidable."""

    item: str
    marker: str
    title: bool | None
    authors: bool | None


@dataclass(frozen=True, slots=True)
class ResultLine:
    """One row of the result: a task and a field."""

    task: EvaluationTask
    field: str
    items: int
    automatic: Accuracy | None
    """accuracy of the automatic marks; None without such marks"""
    people: Accuracy | None
    """accuracy by people's marks: an item is right if most of its marks are right, and wrong on a tie"""
    kappa: float | None
    """Cohen's kappa of the two people with the most items in common"""
    paper: float


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an evaluation."""

    lines: tuple[ResultLine, ...]
    markers: tuple[str, ...]
    marked: int
    """number of items that at least one person marked"""
    items: int
    parses: tuple[ParseResult, ...] = ()

    @property
    def done(self) -> bool:
        """True if at least one person marked every item of titles, authors and links."""
        return self.items > 0 and self.marked == self.items


def result(items: Sequence[Item], marks: Sequence[ItemMarks], parses: tuple[ParseResult, ...] = ()) -> Result:
    """Return the result of the marks for these items; marks of other items are ignored."""
    ids = {item.item for item in items}
    marks = [mark for mark in marks if mark.item in ids]
    lines = tuple(_line(task, field, of_task, marks) for task, of_task in by_task(items).items() for field in FIELDS)
    markers = tuple(sorted({mark.marker for mark in marks}))
    return Result(lines, markers, len({mark.item for mark in marks}), len(items), parses)


def _line(task: EvaluationTask, field: str, items: Sequence[Item], marks: Sequence[ItemMarks]) -> ResultLine:
    auto = [mark for item in items if (mark := getattr(item, f"auto_{field}")) is not None]
    mine = {item.item for item in items}
    people, agreement = combine(
        (m.item, m.marker, right) for m in marks if m.item in mine and (right := getattr(m, field)) is not None
    )
    return ResultLine(
        task, field, len(items), accuracy(auto), accuracy(list(people.values())), agreement, PAPER[task, field]
    )


def card(found: Result) -> str:
    """Return the evaluation section of the data card, in Markdown."""
    lines = ["## Evaluation", ""]
    if not found.done:
        marked = f" ({found.marked} of {found.items} items are marked)" if found.marked else ""
        return "\n".join([*lines, f"Titles, authors and links: not evaluated{marked}.", "", *parse_card(found.parses)])
    lines += [
        f"By the criteria of S2ORC (§4, Appendix D), {found.items} items marked by {len(found.markers)} "
        f"{'person' if len(found.markers) == 1 else 'people'}; 95 % intervals (Wilson).",
        "",
        "| task | field | items | accuracy | interval | agreement (kappa) | automatic comparison | S2ORC |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {LABELS[line.task]} | {line.field} | {line.items} | {format_share(line.people)} | {format_interval(line.people)} | "
        f"{'–' if line.kappa is None else f'{line.kappa:.2f}'} | {format_share(line.automatic)} | {line.paper:.2f} |"
        for line in found.lines
        if line.items
    ]
    return "\n".join([*lines, "", *parse_card(found.parses)])


def as_json(found: Result) -> dict[str, Any]:
    """Return the result as JSON, in the form stored next to a snapshot."""
    return {
        "items": found.items, "marked": found.marked, "markers": list(found.markers),
        "lines": [asdict(line) for line in found.lines],
        "parses": parses_as_json(found.parses),
    }  # fmt: skip


def format_result_line(line: ResultLine) -> str:
    """Return a row of the result as one line of text."""
    people = (
        f"{format_share(line.people)} ({format_interval(line.people)}, n = {line.people.of})"
        if line.people
        else "not evaluated"
    )
    agreement = "" if line.kappa is None else f"; kappa {line.kappa:.2f}"
    automatic = f"{format_share(line.automatic)} of {line.automatic.of}" if line.automatic else "–"
    return f"{LABELS[line.task]}, {line.field}: {people}{agreement}; automatic {automatic} ({line.items} items); S2ORC {line.paper:.2f}"
