"""Build the statistics, the funnel, the charts and the data card of a snapshot, with one sample document of each set."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import MAXYEAR
from functools import cache, lru_cache
from html import escape
from typing import Any

import jinja2
import pyarrow as pa

from s2corpus.escaping import escape_cell, escape_markdown
from s2corpus.papers.licenses import rank_strictness
from s2corpus.snapshot import documents, hub
from s2corpus.snapshot.columns import describe_column
from s2corpus.snapshot.manifest import describe_rule
from s2corpus.snapshot.paper_tables import format_value
from s2corpus_reader.files import SnapshotFile

FunnelRow = tuple[str, str, int]
"""stage, outcome, count"""
_PROPERTIES = ("licenses", "oa_evidence", "editorial", "fields_of_study")
_CUT = "[…]"
_CHARACTERS, _LINES, _ITEMS = 160, 10, 3
"""maximum number of characters per line, of lines per text and of items per list"""
_TEXTS = ("text", "model_text")
_UNSAFE = re.compile("[<>&`\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""markup, and invisible characters that change the order of the text"""
_BAR, _GAP, _LABEL, _WIDTH = 18, 6, 260, 420


@dataclass(slots=True)
class IndexStatistics:
    """Counts over the index: documents and words by set and split, and documents by year, license and other properties."""

    documents: Counter[tuple[str, str]] = field(default_factory=Counter)
    words: Counter[tuple[str, str]] = field(default_factory=Counter)
    years: Counter[int] = field(default_factory=Counter)
    others: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in _PROPERTIES})
    """property → value → documents"""
    samples: dict[str, dict[str, Any]] = field(default_factory=dict)
    """set → index row of the document that the data card shows"""

    def add(self, index: pa.Table) -> None:
        """Add rows of the index to the counts."""
        for row in index.to_pylist():
            at = (row["set"], row["split"])
            self.documents[at] += 1
            if row["set"] not in self.samples or precedes(row, self.samples[row["set"]]):
                self.samples[row["set"]] = row
            self.words[at] += row["words"]
            if row["date"]:
                self.years[int(row["date"][:4])] += 1
            self.others["licenses"][row["license"]] += 1
            self.others["oa_evidence"][row["oa_evidence"] or "none"] += 1
            self.others["editorial"].update(filter(None, [row["editorial"]]))
            self.others["fields_of_study"].update(row["fields_of_study"] or ["unknown"])


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
        **{name: ranked(counts) for name, counts in published.others.items()},
        "sources": ranked(sources),
        "metrics": {stage: dict(sorted(values.items())) for stage, values in sorted(metrics.items())},
    }


def compare_statistics(published: IndexStatistics, stats: Mapping[str, Any]) -> Iterator[str]:
    """Yield contradictions between stats.json and the index."""
    expected = build_stats(published, (), {}, {}, {})
    for name in ("sets", "years", *_PROPERTIES):
        if stats[name] != expected[name]:
            given, due = stats[name], expected[name]
            keys = sorted(key for key in given | due if given.get(key) != due.get(key))
            differences = ", ".join(f"{key}: {given.get(key, 0)}, expected {due.get(key, 0)}" for key in keys)
            yield f"{name} differ from the index ({differences or 'different order'})"
    funnel = {(row["stage"], row["outcome"]): row["count"] for row in stats["funnel"]}
    for (set_, split), count in sorted(published.documents.items()):
        if (found := funnel.get((f"split {set_}", split))) != count:
            yield f"the funnel has {found} documents of {set_} {split}; expected {count}"


def ranked(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts, sorted by descending count, then by name."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


@lru_cache(1024)
def may_show(license: str) -> bool:
    """Return whether a license permits everyone to copy and shorten a text: CC0, CC BY, CC BY-SA and similar licenses."""
    return rank_strictness(license) <= rank_strictness("CC-BY-SA-4.0")


def precedes(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether the first of two rows of the index is the better sample: its license permits it, or its id is smaller."""
    return (not may_show(row["license"]), row["id"]) < (not may_show(other["license"]), other["id"])


def shorten(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a row with shortened values."""
    return {name: _shorten(value) for name, value in row.items()}


def shorten_record(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return all columns of a row of `documents/`, with shortened values. If the license forbids copies, omit the texts."""
    record = shorten(document)
    if not may_show(document["license"]):
        hidden = f"{_CUT} (the license does not permit a copy here)"
        record |= {name: hidden for name in _TEXTS if document[name] is not None}
    return record


def _shorten(value: Any) -> Any:
    if isinstance(value, str):
        first, rest = value.split("\n", _LINES)[:_LINES], value.count("\n") >= _LINES
        return "\n".join([*map(_shorten_line, first), *([_CUT] if rest else [])])
    if isinstance(value, list):
        return [_shorten(item) for item in value[:_ITEMS]] + ([_CUT] if len(value) > _ITEMS else [])
    return value


def _shorten_line(line: str) -> str:
    return line if len(line) <= _CHARACTERS else f"{line[:_CHARACTERS].rpartition(' ')[0] or line[:_CHARACTERS]} {_CUT}"


def format_record(record: Mapping[str, Any]) -> str:
    """Return a record as indented JSON that contains no markup and no invisible characters."""
    text = json.dumps(record, ensure_ascii=False, indent=1)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def bars(title: str, rows: Sequence[tuple[str, int]]) -> str:
    """Return an SVG chart with a horizontal bar per row, between its label and its count. The greatest count has the longest bar."""
    height = 40 + len(rows) * (_BAR + _GAP)
    greatest = max((count for _, count in rows), default=0) or 1
    parts = []
    for i, (label, count) in enumerate(rows):
        y = 32 + i * (_BAR + _GAP)
        width = round(_WIDTH * count / greatest)
        parts.append(
            f'<text x="{_LABEL - 8}" y="{y + 13}" text-anchor="end">{escape(label)}</text>'
            f'<rect x="{_LABEL}" y="{y}" width="{width}" height="{_BAR}" fill="#3b6ea5"/>'
            f'<text x="{_LABEL + width + 6}" y="{y + 13}">{count:,}</text>'
        )
    return _format_svg(title, parts, width=_LABEL + _WIDTH + 120, height=height, font_size=12, title_y=20)


def columns(title: str, rows: Sequence[tuple[int, int]]) -> str:
    """Return an SVG chart with a vertical bar per year, from the first to the last. Every tenth year has a label."""
    counts = dict(rows)
    years = range(min(counts), max(counts) + 1) if counts else range(0)
    greatest = max(counts.values(), default=0) or 1
    parts = []
    for i, year in enumerate(years):
        tall = round(150 * counts.get(year, 0) / greatest)
        x = 20 + 10 * i
        parts.append(
            f'<rect x="{x}" y="{190 - tall}" width="8" height="{tall}" fill="#3b6ea5">'
            f"<title>{year}: {counts.get(year, 0):,}</title></rect>"
        )
        if year % 10 == 0 or len(years) < 10:
            parts.append(f'<text x="{x}" y="206">{year}</text>')
    return _format_svg(title, parts, width=max(320, 40 + 10 * len(years)), height=220, font_size=11, title_y=18)


def _format_svg(title: str, parts: list[str], *, width: int, height: int, font_size: int, title_y: int) -> str:
    text = escape(title)
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img"',
        f' aria-label="{text}" font-family="sans-serif" font-size="{font_size}">',
        f"<title>{text}</title>",
        f'<rect width="100%" height="100%" fill="#fff"/><text x="8" y="{title_y}" font-size="14">{text}</text>',
    ]
    return "\n".join([*head, *parts, "</svg>", ""])


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
        autoescape=False,  # Markdown: `text` escapes external values, `cell` preserves the Markdown of our texts
    )
    environment.filters["cell"] = lambda value: str(value).replace("|", "\\|").replace("\n", " ")
    environment.filters["meaning"] = describe_rule
    environment.filters["record"] = format_record
    environment.filters["text"] = escape_markdown
    environment.filters["shown"] = format_value
    environment.filters["thousands"] = lambda value: f"{value:,}"
    return environment.get_template("README.md.j2")


def data_card(manifest: Mapping[str, Any], stats: Mapping[str, Any], description: str) -> str:
    """Return the data card, `README.md`: the sections of the S2 V2 card with the values of the release."""
    head = hub.front_matter(stats, [SnapshotFile(**file) for file in manifest["files"]], manifest["snapshot"])
    return head + card_template("s2corpus.snapshot").render(
        manifest=manifest,
        stats=stats,
        description=description,
        rules=manifest["rules"],
        has_pdfs=any(
            row[1]
            for t in stats.get("tables", ())
            if t["name"] == "parses"
            for row in t["rows"]
            if row[0] == "Full texts"
        ),
        columns=[(column.name, describe_column("documents", column)) for column in documents.SCHEMA],
    )


def generate_files(
    manifest: Mapping[str, Any], stats: Mapping[str, Any], description: str
) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of the funnel, the plots and the data card.

    Raises:
        ValueError: a year has no bar in the plot.
    """
    funnel = [(row["stage"], row["outcome"], row["count"]) for row in stats["funnel"]]
    years = sorted((int(year), n) for year, n in stats["years"].items())
    if years and not 0 <= years[0][0] <= years[-1][0] <= MAXYEAR:  # The plot has a bar for each year in between.
        raise ValueError(f"documents have the years {years[0][0]} to {years[-1][0]}; expected 0 to {MAXYEAR}")
    yield "funnel.csv", funnel_csv(funnel).encode()
    yield "funnel.svg", bars("Funnel", [(f"{s}: {o}", n) for s, o, n in funnel]).encode()
    yield "years.svg", columns("Documents by year", years).encode()
    yield "README.md", data_card(manifest, stats, description).encode()
