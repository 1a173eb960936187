"""The funnel of a release from its metrics: items per step, and excluded items by reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from s2corpus.pipeline.stages import stage_row
from s2corpus_reader.cards import ranked

_PDF_STAGES = {"select": "selected", "extract": "extracted", "postprocess": "parsed"}
"""stages with one outcome for each PDF, and the label of the remaining PDFs"""
SETS = ("s2orc", "s2ag")
_NOT_OUTCOMES = ("rows", "words")
"""metrics with a name like an outcome"""

Measured = Mapping[str, Mapping[str, float]]
"""metrics by stage and name"""


@dataclass(frozen=True, slots=True)
class Step:
    """One bar of the funnel: the number of remaining items, and excluded items by reason, most frequent first."""

    label: str
    count: int
    left_out: list[tuple[str, int]] = field(default_factory=list)
    stage: str = ""
    """stage with the table that lists the excluded items; empty if no table lists them"""
    set: str = ""
    starts: bool = False
    """whether the bar counts another kind of items than the previous bar"""


def build_funnel(metrics: Measured) -> list[Step]:
    """Return the bars of all finished stages."""
    steps = []
    if "intake" in metrics:
        left_out = list(ranked(read_outcomes(metrics, "intake", "files.")).items())
        steps.append(Step("PDFs delivered", _count(metrics, "intake", "pdfs"), left_out, starts=True))
    for stage, label in _PDF_STAGES.items():
        if stage in metrics:
            steps.append(_make_step(label, read_outcomes(metrics, stage), stage))
    if "vote" in metrics:
        steps.append(Step("Papers", _count(metrics, "vote", "rows.papers"), starts=True))
    if "filter" in metrics:
        steps.append(_make_step("kept", read_outcomes(metrics, "filter"), "filter"))
    for set_ in SETS:
        cleaned = read_outcomes(metrics, "clean", f"{set_}.")
        if candidates := sum(cleaned.values()):
            steps.append(Step(f"Candidates for {set_}", candidates, starts=True))
            steps.append(_make_step(f"clean in {set_}", cleaned, "clean", set_))
            if "split" in metrics:
                splits = read_outcomes(metrics, "split", f"{set_}.")
                steps.append(_make_step(f"published in {set_}", splits, "split", set_))
    return steps


def list_rows(metrics: Measured) -> list[tuple[str, str, int]]:
    """Return the complete funnel as (stage, outcome, count) by stage, as in the snapshot's statistics."""
    rows = [("intake", "pdfs", _count(metrics, "intake", "pdfs"))]
    rows += [("intake", outcome, n) for outcome, n in sorted(read_outcomes(metrics, "intake", "files.").items())]
    for stage in _PDF_STAGES:
        rows += [(stage, outcome, n) for outcome, n in sorted(read_outcomes(metrics, stage).items())]
    rows.append(("vote", "papers", _count(metrics, "vote", "rows.papers")))
    rows += [("filter", outcome, n) for outcome, n in sorted(read_outcomes(metrics, "filter").items())]
    for stage in ("clean", "split"):
        for set_ in sorted(SETS):
            rows += [(f"{stage} {set_}", o, n) for o, n in sorted(read_outcomes(metrics, stage, f"{set_}.").items())]
    return rows


def read_outcomes(metrics: Measured, stage: str, prefix: str = "outcome.") -> dict[str, int]:
    """Return the number of rows of a stage by outcome."""
    counts = {
        name.removeprefix(prefix): int(n) for name, n in metrics.get(stage, {}).items() if name.startswith(prefix)
    }
    return {outcome: n for outcome, n in counts.items() if n and "." not in outcome and outcome not in _NOT_OUTCOMES}


def _make_step(label: str, counts: Mapping[str, int], stage: str, set_: str = "") -> Step:
    words = stage_row(stage).outcomes[0].words
    excluded = {outcome: n for outcome, n in counts.items() if outcome not in words or not words[outcome].is_kept}
    return Step(label, sum(counts.values()) - sum(excluded.values()), list(ranked(excluded).items()), stage, set_)


def _count(metrics: Measured, stage: str, name: str) -> int:
    return int(metrics.get(stage, {}).get(name, 0))
