"""Parse and link reference strings of real papers: recall and precision by citation style.

    python -m devtools.bench.citations [DATA] [--half choose|report|all] [--show N]      default REAL_DATA

There are two sets of strings with known papers. `crossref-styles`: 827 papers in four CSL styles. `glutton-doi`:
strings of printed reference lists; their papers also have journal, volume and first page. The targets are these papers
and every title of `titles_dev`. No string has an identifier: every link is by title or by place.

A hash of its DOI assigns each paper to the half `choose` or `report`. The rules were chosen on `choose`; `report`
measures them.

The script counts `linkable` strings, which SPEC §7.6 allows to link: the title is not short or generic without year
and surname, and no other target has the same title and the same facts. Links without warning count as citations; links
with a warning do not.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from devtools.bench.link_table import TABLE, note, row
from devtools.bench.link_tables import link_tables
from devtools.real_data import REAL_DATA
from pdf2tei.fields import parse_reference
from s2corpus.titles import normalise_one, score
from s2corpus.titles.facts import IDENTIFIERS
from s2corpus.titles.rules import is_generic, word_count
from s2orc_parse.bibliography.names import parse_authors

FACTS = ("title", "surname", "year", "journal", "volume", "pages")
_END = re.compile(r"\s*(?:[.,;:?!()\[\]\"'“”‘’»«-]|$)")


@dataclass
class Strings:
    """Reference strings of one style, and the DOI of the paper that each cites."""

    raw: list[str] = field(default_factory=list)
    doi: list[str] = field(default_factory=list)


def in_half(doi: str, half: str) -> bool:
    """Return whether the paper belongs to this half."""
    first = hashlib.sha256(doi.encode()).digest()[0] < 128
    return half == "all" or first == (half == "choose")


def crossref(data: Path) -> tuple[dict[str, Strings], dict[str, dict[str, Any]]]:
    """Return the strings by style, and their papers by DOI."""
    styles: dict[str, Strings] = defaultdict(Strings)
    papers = {}
    with gzip.open(data / "citations" / "crossref-styles.tsv.gz", "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            doi, style, raw, title, surname, year = line.rstrip("\n").split("\t")
            styles[style].raw.append(raw)
            styles[style].doi.append(doi)
            papers[doi] = {"title": title, "surname": surname or None, "year": int(year) if year else None}
    return dict(styles), papers


def is_cut(title: str, raw: str) -> bool:
    """Return whether the gold title stops inside the printed title.

    In that case the string continues with a word, not with a sign. Signs and spaces inside the title are ignored.
    """
    at = [i for i, c in enumerate(raw) if c.isalnum()]
    letters = "".join(raw[i].casefold()[:1] for i in at)
    wanted = "".join(c.casefold()[:1] for c in title if c.isalnum())
    begin = letters.find(wanted)
    return not wanted or (begin >= 0 and _END.match(raw, at[begin + len(wanted) - 1] + 1) is None)


def glutton(data: Path) -> tuple[Strings, dict[str, dict[str, Any]], Counter[str]]:
    """Return the strings with complete titles, their papers by DOI, and the number of strings left out by reason.

    A string is left out if the gold cuts or lacks the title, or if the gold gives its DOI to another title too.
    """
    strings, papers, out = Strings(), {}, Counter[str]()
    with gzip.open(data / "citations" / "glutton-doi.jsonl.gz", "rt", encoding="utf-8") as lines:
        every = [json.loads(line) for line in lines]
    titles: dict[str, set[str]] = defaultdict(set)
    for found in every:
        titles[found["doi"]].add(normalise_one(found.get("title") or ""))
    for found in every:
        title = (found.get("title") or "").strip()
        if is_cut(title, found["reference"]):
            out["title cut or missing"] += 1
        elif min(score(a, b) for a in titles[found["doi"]] for b in titles[found["doi"]]) < 0.5:
            out["DOI of two titles"] += 1
        else:
            strings.raw.append(found["reference"])
            strings.doi.append(found["doi"])
            paper = {"title": title, "surname": found.get("first_author"), "year": found.get("year")}
            place = {"journal": found.get("journal"), "volume": found.get("volume"), "pages": found.get("first_page")}
            papers[found["doi"]] = paper | place
    return strings, papers, out


def others(data: Path) -> Iterator[dict[str, Any]]:
    """Yield the titles of `titles_dev`, each as a paper."""
    with gzip.open(data / "titles" / "titles_dev.tsv.gz", "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            _, _, year, venue, title, authors = line.rstrip("\n").split("\t")
            first = next(iter(parse_authors(authors)), None)
            surname = (first.last or first.first) if first else None
            yield {"title": title, "surname": surname, "year": int(year) if year.isdigit() else None, "journal": venue}


def papers_of(papers: dict[str, dict[str, Any]], data: Path) -> pa.Table:
    """Return the targets: these papers by DOI, and the titles of `titles_dev`."""
    rows = [{"paper_id": doi, **paper} for doi, paper in papers.items()]
    rows += [{"paper_id": f"dev{i}", **paper} for i, paper in enumerate(others(data))]
    return table(rows, "paper_id")


def table(rows: list[dict[str, Any]], key: str) -> pa.Table:
    """Return the rows as linking reads them, without identifiers."""
    columns = {
        name: pa.array([r.get(name) for r in rows], pa.int32() if name == "year" else pa.string()) for name in FACTS
    }
    columns |= {name: pa.nulls(len(rows), pa.string()) for name in IDENTIFIERS}
    return pa.table({key: pa.array([r.get(key) for r in rows], pa.string()), **columns})


def entry(raw: str) -> dict[str, Any]:
    """Return the fields that our parser reads in a string."""
    found = parse_reference(raw)
    year = found.year[:4]
    return {
        "title": found.title or None,
        "surname": found.authors[0].surname if found.authors else None,
        "year": int(year) if year.isdigit() else None,
        "journal": found.journal or found.booktitle or None,
        "volume": found.volume or None,
        "pages": found.pages or None,
    }


def linkable(papers: pa.Table) -> dict[str, bool]:
    """Return by paper_id whether SPEC §7.6 lets strings link to the paper."""
    rows = papers.select(["paper_id", *FACTS]).to_pylist()
    equal = Counter(normalise_one(r["title"]) for r in rows)
    out = {}
    for r in rows:
        placed = bool(r["volume"] and r["pages"])
        little = is_generic(r["title"]) or word_count(r["title"]) < 3
        known = bool(r["surname"] and r["year"]) or placed
        out[r["paper_id"]] = (known or not little) and (equal[normalise_one(r["title"])] == 1 or placed)
    return out


def measure(
    name: str, strings: Strings, papers: pa.Table, half: str, show: int, asked: tuple[float, float, float]
) -> Counter[str]:
    """Link the strings of a style; print one line and return the counts."""
    mine = [i for i, doi in enumerate(strings.doi) if in_half(doi, half)]
    read = [entry(strings.raw[i]) for i in mine]
    rows = link_tables(table(read, "citing_paper_id"), papers).rows.to_pylist()
    may = linkable(papers)
    counts: Counter[str] = Counter(strings=len(mine))
    shown = 0
    for i, found, said in zip(mine, rows, read, strict=True):
        doi = strings.doi[i]
        counts["linkable"] += may[doi]
        right, warned = found["paper_id"] == doi, bool(found["warning"])
        counts[f"reason {found['reason']}"] += 1
        counts[f"warning {found['warning']}"] += warned
        counts["clean"] += bool(found["paper_id"]) and not warned
        counts["right clean"] += right and not warned
        counts["right"] += right
        counts["right clean linkable"] += right and not warned and may[doi]
        counts["right warned"] += right and warned
        counts["title right"] += bool(said["title"])
        if (not right or warned) and shown < show and (found["paper_id"] or may[doi]):
            shown += 1
            print(f"    {'WRONG' if found['paper_id'] and not right else 'warned' if right else 'missed'} {doi} → {found['paper_id']}"
                  f" {found['reason']} {found['score']} {found['warning']}\n        {strings.raw[i]}\n        {said}")  # fmt: skip
    report(name, counts, asked)
    return counts


def report(name: str, counts: Counter[str], asked: tuple[float, float, float]) -> None:
    """Add rows to the table: recall over all strings and over the linkable strings, precision of links without warning."""
    every, some = counts["right clean"] / counts["strings"], counts["right clean linkable"] / max(counts["linkable"], 1)
    precision = counts["right clean"] / max(counts["clean"], 1)
    for what, value, of, goal in (
        ("recall, all strings", every, counts["strings"], asked[0]),
        ("recall, linkable", some, counts["linkable"], asked[1]),
        ("precision of links without warning", precision, counts["clean"], asked[2]),
    ):
        row(
            f"{name}: {what}",
            f"{value:.4f} of {of:,}",
            f"≥ {goal}" if goal else "",
            "",
            value >= goal if goal else None,
        )
    kinds = [f"{kind} {n}" for kind, n in sorted(counts.items()) if kind.startswith(("reason", "warning")) and n]
    note(f"{name}: links", f"{', '.join(kinds)}; right with a warning {counts['right warned']}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", nargs="?", type=Path, default=REAL_DATA)
    options.add_argument("--half", choices=("choose", "report", "all"), default="report")
    options.add_argument(
        "--show", type=int, default=0, help="so many strings of each style that are not linked rightly"
    )
    given = options.parse_args()
    rows(given.data, given.half, given.show)
    sys.exit(0 if TABLE.show() else 1)


def rows(data: Path, half: str = "report", show: int = 0) -> None:
    """Add every figure as a row of the table."""
    began = time.monotonic()
    styles, of_crossref = crossref(data)
    papers = papers_of(of_crossref, data)
    total: Counter[str] = Counter()
    for style, strings in styles.items():
        total += measure(f"crossref {style}", strings, papers, half, show, (0, 0, 0))
    report("crossref, four styles", total, (0.93, 0.97, 0.998))
    strings, of_glutton, left_out = glutton(data)
    note("glutton: strings left out", ", ".join(f"{why} {n:,}" for why, n in left_out.items()))
    measure("glutton", strings, papers_of(of_glutton, data), half, show, (0.98, 0, 0.995))
    note("citations: seconds", f"{time.monotonic() - began:.0f}")


if __name__ == "__main__":
    main()
