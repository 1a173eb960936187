"""Build the statistics, the funnel, the charts and the data card of a snapshot, with one sample document of each set."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import MAXYEAR
from functools import cache, lru_cache
from typing import Any

import jinja2
import pyarrow as pa

from s2corpus.snapshot import documents, hub
from s2corpus.snapshot.columns import describe_column
from s2corpus.snapshot.manifest import describe_rule
from s2corpus.snapshot.paper_tables import format_value
from s2corpus.text.near_duplicates import MIN_JACCARD
from s2corpus_reader.cards import FunnelRow, bars, card_environment, columns, funnel_csv, ranked
from s2corpus_reader.files import SnapshotFile
from s2orc_parse.bibliography.licenses import rank_strictness

_PROPERTIES = ("licenses", "oa_evidence", "editorial", "fields_of_study")
_CUT = "[…]"
_CHARACTERS, _LINES, _ITEMS = 160, 10, 3
"""maximum number of characters per line, of lines per text and of items per list"""
_TEXTS = ("text", "model_text")
_UNSAFE = re.compile("[<>&`\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""markup, and invisible characters that change the order of the text"""


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


@cache
def _card_template() -> jinja2.Template:
    environment = card_environment("s2corpus.snapshot")
    environment.filters |= {"meaning": describe_rule, "record": format_record, "shown": format_value}
    return environment.get_template("README.md.j2")


def data_card(manifest: Mapping[str, Any], stats: Mapping[str, Any], description: str) -> str:
    """Return the data card, `README.md`: the sections of the S2 V2 card with the values of the release."""
    head = hub.front_matter(stats, [SnapshotFile(**file) for file in manifest["files"]], manifest["snapshot"])
    return head + _card_template().render(
        manifest=manifest,
        stats=stats,
        description=description,
        rules=manifest["rules"],
        min_jaccard=MIN_JACCARD,
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
