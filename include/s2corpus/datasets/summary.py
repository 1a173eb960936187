"""Summarize a finished dataset as text: its funnel, figures and location."""

from __future__ import annotations

from typing import Any

import orjson

from s2corpus.datasets.job import Job


def summary(job: Job) -> str:
    """Return the results of a published dataset as text; all numbers come from its `stats.json`."""
    stats: dict[str, Any] = orjson.loads(job.lake.get(f"{job.prefix}/stats.json")[0])
    lines = [f"Dataset {job.spec.name} of {job.source.id}", "", "  Funnel"]
    steps: dict[str, list[tuple[str, int]]] = {}
    for row in stats["funnel"]:
        steps.setdefault(row["step"], []).append((row["outcome"], row["count"]))
    for step, ((_, number), *outcomes) in steps.items():
        listed = "; ".join(f"{outcome} {count:,}" for outcome, count in outcomes)
        lines.append(f"    {step:<22}{number:>9,}   {listed}")
    paper = stats["paper"]
    lines += ["", f"  {'Figures':<34}here" + (f"{'in the paper':>25}" if paper else "")]
    for name, value in stats["metrics"].items():
        published = f"{paper[name]:>18,}" if name in paper else ""
        lines.append(f"    {name:<32}{value:<12,}{published}".rstrip())
    return "\n".join([*lines, "", f"  Files        {job.lake.uri(job.prefix)}/"])
