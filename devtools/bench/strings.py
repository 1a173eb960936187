"""Measure `corpus link` on printed references with known DOIs: `python -m devtools.bench.strings`.

The papers of each file are the cited works of all its strings. A row has strings, recall, and precision of the links without
warning. A link to another paper with the same title counts as right, because these are one work in the gold data. The rows
are styles, and the strings without the title of their paper.
"""

from __future__ import annotations

import csv
import gzip
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from devtools.measure import letters
from devtools.real_data import REAL_DATA, require

STYLES, DOIS = (REAL_DATA / "citations" / name for name in ("crossref-styles.tsv.gz", "glutton-doi.jsonl.gz"))
Row = Mapping[str, Any]


def read(path: Path) -> Iterator[Row]:
    """Yield strings with doi, reference, title, first_author and, depending on the file, style, year, volume, first_page."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        if path == DOIS:
            yield from map(orjson.loads, file)
        else:
            yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def link(rows: Iterable[Row]) -> list[str | None]:
    """Return the DOI to which each string links without a warning."""
    with tempfile.TemporaryDirectory() as folder:
        entries, papers, links = (Path(folder, f"{name}.jsonl") for name in ("entries", "papers", "links"))
        cited = {row["doi"]: row for row in rows}
        entries.write_bytes(b"".join(
            orjson.dumps({"entry_id": str(number), "raw_text": row["reference"]}) + b"\n" for number, row in enumerate(rows)
        ))  # fmt: skip
        papers.write_bytes(b"".join(
            orjson.dumps({
                "paper_id": doi, "title": row.get("title"), "authors": row.get("first_author"), "year": row.get("year"),
                "journal": row.get("journal"), "volume": row.get("volume"), "pages": row.get("first_page"),
            }) + b"\n"
            for doi, row in cited.items()
        ))  # fmt: skip
        command = [sys.executable, "-m", "s2corpus", "link"]
        subprocess.run([*command, "--entries", entries, "--papers", papers, "--out", links], check=True)
        found = map(orjson.loads, links.read_bytes().splitlines())
        return [None if row["warning"] else row["paper_id"] for row in found]


def groups(row: Row) -> Iterator[str]:
    """Yield the groups of a string: its style, and whether it lacks the title."""
    yield "all"
    if row.get("style"):
        yield str(row["style"])
    if row.get("title") and letters(row["title"]) not in letters(row["reference"]):
        yield "without the title"


def main() -> None:
    require()
    print(f"{'file':24} {'strings':28} {'number':>7} {'recall':>7} {'precision':>9}")
    for path in (STYLES, DOIS):
        rows = list(read(path))
        titles = {row["doi"]: letters(row.get("title")) for row in rows}
        counts: Counter[tuple[str, str]] = Counter()
        for row, found in zip(rows, link(rows), strict=True):
            is_right = found is not None and (found == row["doi"] or titles[found] == titles[row["doi"]] != "")
            for group in groups(row):
                counts.update({(group, "number"): 1, (group, "linked"): found is not None, (group, "right"): is_right})
        for group in sorted({group for group, _ in counts}):
            number, linked, right = (counts[group, what] for what in ("number", "linked", "right"))
            print(f"{path.name:24} {group:28} {number:7} {right / number:7.3f} {right / max(linked, 1):9.3f}")


if __name__ == "__main__":
    main()
