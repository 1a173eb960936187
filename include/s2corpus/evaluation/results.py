"""Compute the result of people's marks: accuracy, precision, recall and F1 with intervals, agreement, and the text of the card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median_high
from typing import Any

from s2corpus.evaluation.sample import EvaluationTask, Item, ParseItem, ParseTask, by_task
from s2corpus.evaluation.sheet import LineMarks
from s2corpus.evaluation.statistics import (
    Accuracy,
    accuracy,
    combine,
    f1,
    format_interval,
    format_share,
    grouped_accuracy,
)

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
PARSE_F1 = 0.89
"""published F1 of both tasks: S2ORC §4"""
PARSE_LABELS = {ParseTask.CITATIONS: "Inline citations", ParseTask.BIBLIOGRAPHY: "Bibliographies"}


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
    """first item without a mark before an item with a mark"""


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
        "parses": [{**asdict(parse), "paper": PARSE_F1} for parse in found.parses],
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


def parse_results(items: Sequence[ParseItem], marks: Mapping[str, Mapping[str, LineMarks]]) -> tuple[ParseResult, ...]:
    """Return the result of each task. `marks` are the marks of each item by person; marks of other items are ignored.

    The number of missing lines is the median of all people's numbers, the larger of two.
    """
    return tuple(_parse_result(task, [item for item in items if item.task is task], marks) for task in ParseTask)


def _parse_result(
    task: ParseTask, items: Sequence[ParseItem], marks: Mapping[str, Mapping[str, LineMarks]]
) -> ParseResult:
    marked = [item for item in items if marks.get(item.item)]
    people, kappa = combine(
        (f"{item.item} {number}", marker, number not in mark.wrong)
        for item in marked
        for marker, mark in marks[item.item].items()
        for number in range(1, len(item.lines) + 1)
        if number not in mark.unsure
    )
    counts = []
    for item in marked:
        names = (f"{item.item} {number}" for number in range(1, len(item.lines) + 1))
        lines = [people[name] for name in names if name in people]
        missing = median_high(mark.missing for mark in marks[item.item].values())
        counts.append((sum(lines), len(lines) - sum(lines), missing))
    right, wrong, missing = (sum(count[n] for count in counts) for n in range(3))
    return ParseResult(
        task, len(items), len(marked), right, wrong, missing,
        grouped_accuracy((r, r + w) for r, w, _ in counts), grouped_accuracy((r, r + m) for r, _, m in counts), f1(counts), kappa,
        tuple(sorted({marker for item in marked for marker in marks[item.item]})),
        next((item.item for item in items[: len(marked)] if item not in marked), None),
    )  # fmt: skip


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
        f"| {PARSE_LABELS[x.task]} | {x.marked} of {x.papers} | {x.right} | {x.wrong} | {x.missing} | {format_share(x.precision)} | "
        f"{format_share(x.recall)} | {format_share(x.f1)} | {format_interval(x.f1)} | "
        f"{'–' if x.kappa is None else f'{x.kappa:.2f}'} | {PARSE_F1:.2f} |"
        for x in marked
    ]
    return [*lines, ""]


def format_parse_result(result: ParseResult) -> str:
    """Return the result of a task as one line of text."""
    label = PARSE_LABELS[result.task]
    if result.f1 is None:
        return f"{label}: not evaluated ({result.papers} papers); S2ORC {PARSE_F1:.2f}"
    agreement = "" if result.kappa is None else f"; kappa {result.kappa:.2f}"
    shares = (("precision", result.precision), ("recall", result.recall), ("F1", result.f1))
    numbers = ", ".join(f"{name} {format_share(share)} ({format_interval(share)})" for name, share in shares)
    counts = f"{result.right} right, {result.wrong} wrong, {result.missing} missing in {result.marked} of {result.papers} papers"
    return f"{label}: {numbers}; {counts}; by {', '.join(result.markers)}{agreement}; S2ORC {PARSE_F1:.2f}"
