"""The end of a dataset, readably: its funnel, its figures, and where it is."""

from __future__ import annotations

from typing import Any

import orjson

from s2corpus.datasets.job import Job


def summary(job: Job) -> str:
    """What came of a published dataset, as text: every number from its `stats.json`."""
    stats: dict[str, Any] = orjson.loads(job.lake.get(f"{job.prefix}/stats.json")[0])
    lines = [f"Dataset {job.spec.name} of {job.source.id}", "", "  Funnel"]
    steps: dict[str, list[tuple[str, int]]] = {}
    for row in stats["funnel"]:
        steps.setdefault(row["step"], []).append((row["outcome"], row["count"]))
    for step, ((_, number), *outcomes) in steps.items():
        said = "; ".join(f"{outcome} {count:,}" for outcome, count in outcomes)
        lines.append(f"    {step:<22}{number:>9,}   {said}")
    lines += ["", "  Figures"]
    lines += [f"    {name:<32}{value:,}" for name, value in stats["metrics"].items()]
    return "\n".join([*lines, "", f"  Files        {job.lake.uri(job.prefix)}/"])
