"""Describe a dataset: card, statistics, funnel, Croissant, the Hub's YAML, and a summary as text."""

from __future__ import annotations

from typing import Any

import orjson

from s2corpus_datasets.job import Job
from s2corpus_datasets.outputs import Outputs
from s2corpus_datasets.protocol import StepResult
from s2corpus_reader.cards import bars, card_environment, funnel_csv, match_files, ranked, yaml_head
from s2corpus_reader.croissant import Group, describe


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
        "licenses": ranked(result.licenses),
    }
    out.write_json("stats.json", stats)
    out.write_bytes("funnel.csv", funnel_csv(funnel).encode())
    chart = bars(f"{job.spec.name}: funnel", [(f"{s}: {o}", n) for s, o, n in funnel])
    out.write_bytes("funnel.svg", chart.encode())
    tables = job.dataset.tables
    name = f"{job.spec.name}-{job.source.id}"
    about = job.spec.description or job.dataset.description
    names = [(f"{t.name}-{split}", path, t.schema) for t in tables for split, path in t.splits.items()]
    groups = [Group(table, f"files-{table}", path, schema) for table, path, schema in names]
    files = [*result.files, *out.result.files]
    data = [file for file in files if any(match_files(group.path, [file]) for group in groups)]
    noun = "a dataset made of an open-access paper corpus"
    croissant = describe(name, about, job.source.as_of, sorted(result.licenses), data, groups, noun=noun)
    out.write_json("croissant.json", croissant)
    configs = {table.name: (table.schema, dict(table.splits)) for table in tables}
    head = yaml_head(name, configs, files, tags=("scientific papers", "s2orc", "croissant", job.spec.dataset))
    card = card_environment("s2corpus_datasets").get_template("README.md.j2")
    body = card.render(job=job, name=name, about=about, stats=stats, rules=_rules(job))
    out.write_bytes("README.md", (head + body).encode())


def _round_metric(value: float) -> float | int:
    return int(value) if float(value).is_integer() else round(value, 6)


def _rules(job: Job) -> list[dict[str, Any]]:
    values = job.params.model_dump(mode="json")
    fields = job.dataset.params.model_fields
    return [
        {"name": n, "value": v, "meaning": " ".join((fields[n].description or "").split())} for n, v in values.items()
    ]


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
