"""Build the statistics, the funnel and the data card of a snapshot."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jinja2
import pyarrow as pa

from s2corpus.escaping import escape_cell, escape_markdown
from s2corpus.snapshot import documents, hub, samples
from s2corpus.snapshot.manifest import Manifest
from s2corpus.snapshot.paper_tables import format_value
from s2corpus.tables.published import describe_column

FunnelRow = tuple[str, str, int]
"""stage, outcome, count"""


@dataclass(slots=True)
class IndexStatistics:
    """Counts over the index: documents and words by set and split, and documents by year, licence and other properties."""

    documents: Counter[tuple[str, str]] = field(default_factory=Counter)
    words: Counter[tuple[str, str]] = field(default_factory=Counter)
    years: Counter[int] = field(default_factory=Counter)
    licences: Counter[str] = field(default_factory=Counter)
    oa_evidence: Counter[str] = field(default_factory=Counter)
    editorial: Counter[str] = field(default_factory=Counter)
    fields_of_study: Counter[str] = field(default_factory=Counter)
    samples: dict[str, dict[str, Any]] = field(default_factory=dict)
    """set → index row of the document that the data card shows"""

    def add(self, index: pa.Table) -> None:
        """Add rows of the index to the counts."""
        for row in index.to_pylist():
            at = (row["set"], row["split"])
            self.documents[at] += 1
            if row["set"] not in self.samples or samples.precedes(row, self.samples[row["set"]]):
                self.samples[row["set"]] = row
            self.words[at] += row["words"]
            if row["date"]:
                self.years[int(row["date"][:4])] += 1
            self.licences[row["licence"]] += 1
            self.oa_evidence[row["oa_evidence"] or "none"] += 1
            self.editorial.update([row["editorial"]] if row["editorial"] else [])
            self.fields_of_study.update(row["fields_of_study"] or ["unknown"])


def build_stats(
    published: IndexStatistics,
    funnel: Sequence[FunnelRow],
    languages: Mapping[str, int],
    sources: Mapping[str, int],
    metrics: Mapping[str, Mapping[str, float]],
) -> dict[str, Any]:
    """Return the content of `stats.json`."""
    return {
        "sets": {
            set_: {
                split: {"documents": published.documents[set_, split], "words": published.words[set_, split]}
                for split in ("train", "valid")
            }
            for set_ in sorted({set_ for set_, _ in published.documents})
        },
        "funnel": [{"stage": s, "outcome": o, "count": n} for s, o, n in funnel],
        "languages": ranked(languages),
        "years": {str(year): n for year, n in sorted(published.years.items())},
        "licences": ranked(published.licences),
        "oa_evidence": ranked(published.oa_evidence),
        "editorial": ranked(published.editorial),
        "fields_of_study": ranked(published.fields_of_study),
        "sources": ranked(sources),
        "metrics": {stage: dict(sorted(values.items())) for stage, values in sorted(metrics.items())},
    }


def ranked(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts, sorted by descending count, then by name."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def funnel_csv(funnel: Sequence[FunnelRow]) -> str:
    """Return the funnel as CSV with the columns stage, outcome and count."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("stage", "outcome", "count"))
    writer.writerows([escape_cell(cell) for cell in row] for row in funnel)
    return out.getvalue()


@cache
def card_template(package: str) -> jinja2.Template:
    """Return the data-card template `templates/README.md.j2` of a package."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown: `text` escapes external values, `cell` keeps the Markdown of our own texts
    )
    environment.filters["cell"] = lambda value: str(value).replace("|", "\\|").replace("\n", " ")
    environment.filters["record"] = samples.format_record
    environment.filters["text"] = escape_markdown
    environment.filters["shown"] = format_value
    environment.filters["thousands"] = lambda value: f"{value:,}"
    return environment.get_template("README.md.j2")


def data_card(manifest: Manifest, stats: Mapping[str, Any], description: str) -> str:
    """Return the data card, `README.md`: the sections of the S2 V2 card with the values of the release."""
    rules = {rule.name: rule.value for rule in manifest.rules}
    head = hub.front_matter(stats, manifest.files, str(manifest.snapshot))
    return head + card_template("s2corpus.snapshot").render(
        manifest=manifest,
        stats=stats,
        description=description,
        rules=rules,
        columns=[(column.name, describe_column("documents", column)) for column in documents.SCHEMA],
    )
