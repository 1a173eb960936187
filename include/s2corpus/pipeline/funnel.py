"""The funnel of a release, from what its stages measured: how many came in, who stayed, and who was left out, by reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from s2corpus.snapshot.report import ranked

_TABLES = (("select", "selected", "selected"), ("extract", "extracted", "ok"), ("postprocess", "parsed", "ok"))
"""stages that say of each PDF what became of it: stage, label, the outcome that goes on"""
SETS = ("s2orc", "s2ag")
PUBLISHED = ("train", "valid")
"""the splits that a snapshot publishes"""
_NO_OUTCOME = ("rows", "words")

Measured = Mapping[str, Mapping[str, float]]
"""metrics by stage and name"""


@dataclass(frozen=True, slots=True)
class Step:
    """One bar of the funnel: how many stayed, and who was left out, by reason, most first."""

    label: str
    count: int
    left_out: list[tuple[str, int]] = field(default_factory=list)
    stage: str = ""
    """where the left out are read, empty where they are not kept as rows"""
    set: str = ""
    starts: bool = False
    """counts something else than the bar before it"""


def funnel(metrics: Measured) -> list[Step]:
    """The bars of a release, as far as it has come."""
    steps = []
    if "intake" in metrics:
        steps.append(Step("PDFs delivered", _count(metrics, "intake", "pdfs"), starts=True))
    for stage, label, stays in _TABLES:
        if stage in metrics:
            steps.append(_step(label, outcomes(metrics, stage), stays, stage=stage))
    if "vote" in metrics:
        steps.append(Step("Papers", _count(metrics, "vote", "rows.papers"), starts=True))
    if "filter" in metrics:
        steps.append(_step("kept", outcomes(metrics, "filter"), "kept", stage="filter"))
    for set_ in SETS:
        cleaned = outcomes(metrics, "clean", f"{set_}.")
        if asked := sum(cleaned.values()):
            steps.append(Step(f"Candidates for {set_}", asked, starts=True))
            steps.append(_step(f"clean in {set_}", cleaned, "kept", stage="clean", set_=set_))
            if "split" in metrics:
                splits = outcomes(metrics, "split", f"{set_}.")
                steps.append(_step(f"published in {set_}", splits, *PUBLISHED, stage="split", set_=set_))
    return steps


def rows(metrics: Measured) -> list[tuple[str, str, int]]:
    """The whole funnel as (stage, outcome, count), in the order of the stages; what the snapshot's statistics hold."""
    found = [("intake", "pdfs", _count(metrics, "intake", "pdfs"))]
    for stage, _, _ in _TABLES:
        found += [(stage, outcome, n) for outcome, n in sorted(outcomes(metrics, stage).items())]
    found.append(("vote", "papers", _count(metrics, "vote", "rows.papers")))
    found += [("filter", outcome, n) for outcome, n in sorted(outcomes(metrics, "filter").items())]
    for stage in ("clean", "split"):
        for set_ in sorted(SETS):
            found += [(f"{stage} {set_}", o, n) for o, n in sorted(outcomes(metrics, stage, f"{set_}.").items())]
    return found


def outcomes(metrics: Measured, stage: str, prefix: str = "outcome.") -> dict[str, int]:
    """How many rows of a stage have each outcome."""
    named = {name.removeprefix(prefix): int(n) for name, n in metrics.get(stage, {}).items() if name.startswith(prefix)}
    return {word: n for word, n in named.items() if n and "." not in word and word not in _NO_OUTCOME}


def _step(label: str, counts: Mapping[str, int], *stay: str, stage: str, set_: str = "") -> Step:
    left = {word: n for word, n in counts.items() if word not in stay}
    return Step(label, sum(counts.get(word, 0) for word in stay), list(ranked(left).items()), stage, set_)


def _count(metrics: Measured, stage: str, name: str) -> int:
    return int(metrics.get(stage, {}).get(name, 0))
