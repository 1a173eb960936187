"""Describe a dataset: card, statistics, funnel, Croissant, the Hub's YAML, and a summary as text."""

from __future__ import annotations

from typing import Any

import orjson

from s2corpus.datasets.job import Job
from s2corpus.datasets.outputs import Outputs
from s2corpus.datasets.protocol import StepResult
from s2corpus.snapshot import hub, report
from s2corpus.snapshot.croissant import describe_dataset
from s2corpus.snapshot.manifest import read_descriptions


def write(job: Job, result: StepResult, metrics: dict[str, float], out: Outputs) -> None:
    """Write `stats.json`, `funnel.csv`, `funnel.svg`, `croissant.json` and the card, `README.md`."""
    funnel = result.list_funnel()
    stats = {
        "dataset": job.spec.name,
        "snapshot": job.source.id,
        "metrics": {name: _round_metric(value) for name, value in sorted(metrics.items())},
        "paper": {
            name: _round_metric(value) for name, value in job.dataset.published_metrics.items() if name in metrics
        },
        "funnel": [{"step": step, "outcome": outcome, "count": count} for step, outcome, count in funnel],
        "licenses": report.ranked(result.licenses),
    }
    out.write_json("stats.json", stats)
    out.write_bytes("funnel.csv", report.funnel_csv(funnel).encode())
    out.write_bytes(
        "funnel.svg", report.bars(f"{job.spec.name}: funnel", [(f"{s}: {o}", n) for s, o, n in funnel]).encode()
    )
    tables = job.dataset.tables
    name = f"{job.spec.name}-{job.source.id}"
    about = job.spec.description or job.dataset.description
    data = [(f"{t.name}-{split}", path, t.schema) for t in tables for split, path in t.splits.items()]
    files = [*result.files, *out.result.files]
    out.write_json(
        "croissant.json", describe_dataset(name, about, job.source.as_of, sorted(result.licenses), data, files)
    )
    configs = {table.name: (table.schema, dict(table.splits)) for table in tables}
    head = hub.yaml_head(name, configs, files, tags=("scientific papers", "s2orc", "croissant", job.spec.dataset))
    card = head + report.card_template("s2corpus.datasets").render(
        job=job, name=name, about=about, stats=stats, rules=_rules(job)
    )
    out.write_bytes("README.md", card.encode())


def _round_metric(value: float) -> float | int:
    return int(value) if float(value).is_integer() else round(value, 6)


def _rules(job: Job) -> list[dict[str, Any]]:
    values = job.params.model_dump(mode="json")
    meaning_by_name = read_descriptions(job.dataset.params)
    return [{"name": n, "value": v, "meaning": " ".join(meaning_by_name.get(n, "").split())} for n, v in values.items()]


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
