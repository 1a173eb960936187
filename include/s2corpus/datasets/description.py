"""Write the description of a dataset: card, statistics, funnel, Croissant and the Hub's YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from s2corpus.snapshot import hub, report
from s2corpus.snapshot.croissant import described
from s2corpus.snapshot.meanings import read_descriptions
from s2corpus.snapshot.plots import bars

if TYPE_CHECKING:
    from s2corpus.datasets.job import Job
    from s2corpus.datasets.outputs import Outputs
    from s2corpus.datasets.protocol import Made


def write(job: Job, made: Made, metrics: dict[str, float], out: Outputs) -> None:
    """Write `stats.json`, `funnel.csv`, `funnel.svg`, `croissant.json` and the card, `README.md`."""
    funnel = made.funnel.rows()
    stats = {
        "dataset": job.spec.name,
        "snapshot": job.source.id,
        "metrics": {name: _plain(value) for name, value in sorted(metrics.items())},
        "paper": {name: _plain(value) for name, value in job.dataset.paper.items() if name in metrics},
        "funnel": [{"step": step, "outcome": outcome, "count": count} for step, outcome, count in funnel],
        "licences": report.ranked(made.licences),
    }
    out.json("stats.json", stats)
    out.content("funnel.csv", report.funnel_csv(funnel).encode())
    out.content("funnel.svg", bars(f"{job.spec.name}: funnel", [(f"{s}: {o}", n) for s, o, n in funnel]).encode())
    tables = job.dataset.tables(job.params)
    name = f"{job.spec.name}-{job.source.id}"
    about = job.spec.description or job.dataset.about
    data = [(f"{t.name}-{split}", path, t.schema) for t in tables for split, path in t.splits.items()]
    files = [*made.files, *out.made.files]
    out.json("croissant.json", described(name, about, job.source.as_of, sorted(made.licences), data, files))
    configs = {table.name: (table.schema, dict(table.splits)) for table in tables}
    head = hub.yaml_head(name, configs, files, tags=("scientific papers", "s2orc", "croissant", job.spec.dataset))
    card = head + report.card_template("s2corpus.datasets").render(
        job=job, name=name, about=about, stats=stats, rules=_rules(job)
    )
    out.content("README.md", card.encode())


def _plain(value: float) -> float | int:
    return int(value) if float(value).is_integer() else round(value, 6)


def _rules(job: Job) -> list[dict[str, Any]]:
    values = job.params.model_dump(mode="json")
    said = read_descriptions(type(job.params))
    return [{"name": n, "value": v, "meaning": " ".join(said.get(n, "").split())} for n, v in values.items()]
