"""Describe a dataset for readers and for the Hugging Face Hub: the data card with its YAML head, the funnel and charts.

Needs the extra `cards`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

import jinja2
import pyarrow as pa
import yaml

from s2corpus_reader.escaping import escape_cell, escape_markdown
from s2corpus_reader.files import SnapshotFile

FunnelRow = tuple[str, str, int]
"""stage, outcome, count"""
_SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"),
          (10**8, "10M<n<100M"), (10**9, "100M<n<1B"))  # fmt: skip
_ARROW_NAMES = {"double": "float64", "float": "float32"}
_BAR, _GAP, _LABEL, _WIDTH = 18, 6, 260, 420


def yaml_head(
    pretty_name: str,
    configs: Mapping[str, tuple[pa.Schema, Mapping[str, str]]],
    files: Sequence[SnapshotFile],
    *,
    tags: Sequence[str],
    count: int | None = None,
) -> str:
    """Return the YAML head of a card.

    `configs` maps a configuration to its columns, and each split to a path with at most one `*`. `count` is the number of documents
    (default: number of rows). `license` is `other` because each document has its own SPDX id.
    """
    sets: dict[str, dict[str, tuple[str, int, int]]] = {}  # path, bytes and rows by configuration and split
    for name, (_, splits) in configs.items():
        for split, path in splits.items():
            found = match_files(path, files)
            if rows := sum(file.rows or 0 for file in found):  # `datasets` rejects a configuration without rows
                sets.setdefault(name, {})[split] = path, sum(file.bytes for file in found), rows
    if count is None:
        count = sum(rows for splits in sets.values() for _, _, rows in splits.values())
    value = {
        "pretty_name": pretty_name,
        "license": "other",
        "license_name": "per-document",
        "license_link": "README.md",
        "language": ["en"],
        "task_categories": ["text-generation"],
        "tags": list(tags),
        "size_categories": [next((name for most, name in _SIZES if count < most), "n>1B")],
        "configs": [
            {
                "config_name": name,
                **({"default": True} if number == 0 else {}),
                "data_files": [{"split": split, "path": path} for split, (path, _, _) in splits.items()],
            }
            for number, (name, splits) in enumerate(sets.items())
        ],
        "dataset_info": [
            {
                "config_name": name,
                "features": [{"name": field.name, **_feature(field.type)} for field in configs[name][0]],
                "splits": [
                    {"name": split, "num_bytes": size, "num_examples": rows}
                    for split, (_, size, rows) in splits.items()
                ],
            }
            for name, splits in sets.items()
        ],
    }
    return f"---\n{yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120)}---\n"


def match_files(path: str, files: Iterable[SnapshotFile]) -> list[SnapshotFile]:
    """Return the files that match a path with at most one `*`."""
    folder, _, suffix = path.partition("*")
    return [file for file in files if file.path.startswith(folder) and file.path.endswith(suffix)]


def _feature(type_: pa.DataType) -> dict[str, Any]:
    """Return a column type in the notation of `datasets`."""
    if pa.types.is_list(type_):
        item = _feature(type_.value_type)
        return {"list": item.get("struct") or (item if "list" in item else item["dtype"])}
    if pa.types.is_struct(type_):
        return {"struct": [{"name": field.name, **_feature(field.type)} for field in type_]}
    return {"dtype": _ARROW_NAMES.get(str(type_), str(type_))}


def ranked(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts, sorted by descending count, then by name."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


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
def card_environment(package: str) -> jinja2.Environment:
    """Return the environment of a package's data-card template, `templates/README.md.j2`."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown: `text` escapes external values, `cell` preserves the Markdown of our texts
    )
    environment.filters["cell"] = lambda value: str(value).replace("|", "\\|").replace("\n", " ")
    environment.filters["text"] = escape_markdown
    environment.filters["thousands"] = lambda value: f"{value:,}"
    return environment
