"""Numbers of a release made of what its stages measured: rates, outcomes, throughput."""

from __future__ import annotations

from collections.abc import Mapping

Metrics = Mapping[str, Mapping[str, float]]

RATES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "PDFs selected": ("select", ("outcome.selected",), ("rows",)),
    "PDFs extracted": ("extract", ("outcome.ok",), ("rows",)),
    "papers kept": ("filter", ("outcome.kept",), ("rows",)),
    "entries linked": ("link", ("linked",), ("rows",)),
    "s2orc kept": ("clean", ("s2orc.kept",), ("s2orc.rows",)),
}
"""rates whose trend is drawn: stage, what is counted, of what"""
HANDLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "intake": ("PDFs and records", ("pdfs", "records")),
    "select": ("PDFs", ("rows",)),
    "extract": ("PDFs", ("rows",)),
    "postprocess": ("parses", ("rows", "latex.rows", "article.rows")),
    "cluster": ("records", ("rows.clusters",)),
    "vote": ("papers", ("rows.papers",)),
    "assemble": ("entries", ("rows.entries",)),
    "filter": ("papers", ("rows",)),
    "link": ("entries", ("rows.links",)),
    "clean": ("candidates", ("rows.documents",)),
    "split": ("documents", ("rows.splits",)),
    "export": ("files", ("files",)),
}
"""what a stage's throughput counts, and the metrics that add up to it"""


def rates(metrics: Metrics) -> dict[str, float | None]:
    """The rates of a release, each a share of 1; None where there is nothing to share."""
    found: dict[str, float | None] = {}
    for label, (stage, counted, of) in RATES.items():
        values = metrics.get(stage, {})
        total = sum(values.get(name, 0) for name in of)
        found[label] = sum(values.get(name, 0) for name in counted) / total if total else None
    return found


def handled(stage: str, values: Mapping[str, float]) -> int:
    """How many of its things (see HANDLES) a stage handled."""
    _, names = HANDLES[stage]
    return int(sum(values.get(name, 0) for name in names))


def _ranked(values: Mapping[str, float], prefix: str) -> list[tuple[str, int]]:
    found = [(name.removeprefix(prefix), int(n)) for name, n in values.items() if name.startswith(prefix) and n]
    return sorted(found, key=lambda item: (-item[1], item[0]))


def outcomes(stage: str, values: Mapping[str, float]) -> list[tuple[str, int]]:
    """What came of a stage's rows, most first."""
    if stage == "link":
        return [("unlinked" if word == "none" else word, n) for word, n in _ranked(values, "reason.")]
    if stage in ("clean", "split"):
        found = [(n, int(v)) for n, v in values.items() if n.count(".") == 1 and n[:5] in ("s2orc", "s2ag.") and v]
        return sorted(
            (item for item in found if item[0].partition(".")[2] not in ("rows", "words")),
            key=lambda item: (-item[1], item[0]),
        )
    return _ranked(values, "outcome.") or _ranked(values, "documents.") or _ranked(values, "rows.")
