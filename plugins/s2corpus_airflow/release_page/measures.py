"""Compute rates, outcomes and throughput of a release from the metrics of its stages."""

from __future__ import annotations

from collections.abc import Mapping

from s2corpus.pipeline.stages import stage_row

Metrics = Mapping[str, Mapping[str, float]]

RATES = {
    "PDFs selected": ("select", "outcome.selected", "rows"),
    "PDFs extracted": ("extract", "outcome.ok", "rows"),
    "papers kept": ("filter", "outcome.kept", "rows"),
    "entries linked": ("link", "linked", "rows"),
    "s2orc kept": ("clean", "s2orc.kept", "s2orc.rows"),
}
"""label of each rate with a trend → (stage, metric of the numerator, metric of the denominator)"""


def compute_rates(metrics: Metrics) -> dict[str, float | None]:
    """Return each rate of a release as a fraction; None if its denominator is 0."""
    found: dict[str, float | None] = {}
    for label, (stage, part, whole) in RATES.items():
        values = metrics.get(stage, {})
        found[label] = values.get(part, 0) / values[whole] if values.get(whole) else None
    return found


def count_items(stage: str, values: Mapping[str, float]) -> int:
    """Return the number of items that a stage processed, in the unit that its declaration states."""
    _, names = stage_row(stage).items
    return int(sum(values.get(name, 0) for name in names))


def _rank_counts(values: Mapping[str, float], prefix: str) -> list[tuple[str, int]]:
    found = [(name.removeprefix(prefix), int(n)) for name, n in values.items() if name.startswith(prefix) and n]
    return sorted(found, key=lambda item: (-item[1], item[0]))


def list_outcomes(stage: str, values: Mapping[str, float]) -> list[tuple[str, int]]:
    """Return the outcomes of a stage's rows with their counts, the most frequent first."""
    if stage == "link":
        return _rank_counts(values, "reason.")
    if stage in ("clean", "split"):
        names = (name for name in values if name.count(".") == 1 and name[:5] in ("s2orc", "s2ag."))
        return _rank_counts({n: values[n] for n in names if not n.endswith((".rows", ".words"))}, "")
    outcomes = {name.removeprefix("run."): n for name, n in values.items()}
    return _rank_counts(outcomes, "outcome.") or _rank_counts(values, "documents.") or _rank_counts(values, "rows.")
