"""Compare the embedded extractor with the publisher's XML or a real GROBID: every measure per paper and as means.

    python -m devtools.bench.extract [FOLDER] [--all] [--cached]     default REAL_DATA/pairs

The folder contains `<name>.pdf` with `<name>.nxml` (the publisher's JATS) or `<name>.tei.xml` (GROBID's TEI). If it has
a `list.csv`, the papers of every third row are held out: they are skipped without `--all`, which prints their means
separately. A failed paper counts as a paper without content.

  title     equal, letters and digits only, with or without the subtitle that either side gives separately
  body      F1 of word tokens of the body's paragraphs;  gram5 the same for their 5-grams
  heads     F1 of section heads, letters and digits only
  names     F1 of author surnames
  abstract  F1 of word tokens
  found     share of the reference entries that match one of our entries: token F1 of the raw strings >= 0.7; if the
            truth has fields but no raw strings, its title and first surname occur in ours;
            precise is the share of our entries that match one of the truth
  titles    share of the reference titles that ours match at similarity >= 0.9
  cites     F1 of inline citations: same text, same entry; against JATS: how often each entry is cited, ranges filled
  cells     share of our body's tokens that are numbers of the JATS's table cells and not of its body

The script also prints how many paragraphs end inside a citation, and how many of the truth's footnotes (of eight words
or more) begin in our body. Measures of two sides show their mean precision and recall under their mean. Speed is in
pages per CPU second, including pdfalto; with `--cached` the extractor takes pdfalto's output, as in a release. Programs
that return only text are measured in the same run for comparison.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Hashable, Iterable
from difflib import SequenceMatcher
from math import isnan, nan
from pathlib import Path

from devtools.bench.extract_paper import PaperContent
from devtools.bench.extract_speed import Read, Worker, pages, peers
from devtools.real_data import REAL_DATA

NAMES = ("title", "body", "gram5", "heads", "names", "abstract", "found", "precise", "titles", "cites", "cells")
DEFAULT = REAL_DATA / "pairs"
Score = tuple[float, float, float]
"""F1 (or the share), precision, recall."""


def score(ours: Iterable[Hashable], theirs: Iterable[Hashable]) -> Score:
    """Return F1, precision and recall of two multisets; all are 1 if both multisets are empty."""
    a, b = Counter(ours), Counter(theirs)
    shared = (a & b).total()
    return ratio(2 * shared, a.total() + b.total()), ratio(shared, a.total()), ratio(shared, b.total())


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else 1.0


def share(part: float, whole: float) -> Score:
    return (ratio(part, whole),) * 3


def gram5(tokens: list[str]) -> list[tuple[str, ...]]:
    return list(zip(*(tokens[k:] for k in range(5)), strict=False))


def entry_map(ours: PaperContent, theirs: PaperContent) -> dict[int, int]:
    """Return their entry → our entry, matched greedily by token F1 of raw strings, at least 0.7."""
    scored = []
    for i, gold in enumerate(theirs.raws):
        for j, raw in enumerate(ours.raws):
            value = score(gold.elements(), raw.elements())[0]
            if value >= 0.7 or (not theirs.has_raws and theirs.named_in(i, raw)):
                scored.append((-value, i, j))
    taken: dict[int, int] = {}
    used: set[int] = set()
    for _, i, j in sorted(scored):
        if i not in taken and j not in used:
            taken[i] = j
            used.add(j)
    return taken


def titles(paper: PaperContent) -> set[str]:
    """Return a paper's title, with and without its subtitle."""
    return {paper.title, paper.title + paper.subtitle}


def compare(ours: PaperContent, theirs: PaperContent) -> dict[str, Score]:
    """Return every measure of one paper."""
    found = entry_map(ours, theirs)
    back = {ours.ids[j]: theirs.ids[i] for i, j in found.items()}
    titled = [i for i, title in enumerate(theirs.titles) if title]
    good = sum(
        1
        for i in titled
        if i in found and SequenceMatcher(None, theirs.titles[i], ours.titles[found[i]], autojunk=False).ratio() >= 0.9
    )
    if theirs.jats and not theirs.cited:  # the publisher did not tag its citations
        cites = (nan, nan, nan)
    elif theirs.jats:
        cites = score((back.get(e, e + "?") for e in ours.cited.elements()), theirs.cited.elements())
    else:
        cites = score([(t, back.get(e, e + "?")) for t, e in ours.cites], theirs.cites)
    cells = ((Counter(w for w in ours.body if w.isdigit()) - Counter(theirs.body)) & theirs.cells).total()
    return {
        "title": share(bool(titles(ours) & titles(theirs)), 1),
        "body": score(ours.body, theirs.body),
        "gram5": score(gram5(ours.body), gram5(theirs.body)),
        "heads": score(ours.heads, theirs.heads),
        "names": score(ours.surnames, theirs.surnames),
        "abstract": score(ours.abstract, theirs.abstract),
        "found": share(len(found), len(theirs.raws)),
        "precise": share(len(found), len(ours.raws)),
        "titles": share(good, len(titled)),
        "cites": cites,
        "cells": share(cells, max(len(ours.body), 1)),
    }


def held_out(folder: Path) -> set[str]:
    """Return the papers of every third row of the folder's list."""
    listing = folder / "list.csv"
    if not listing.exists():
        return set()
    with listing.open(newline="", encoding="utf-8") as file:
        return {next(iter(row.values())) for i, row in enumerate(csv.DictReader(file), 1) if i % 3 == 0}


def run(papers: list[tuple[Path, Path]], *, is_cached: bool) -> None:
    """Print the measures of papers (PDF, truth), then their means and the speed."""
    rows, reads = [], []
    paragraphs, broken, notes, leaked = 0, 0, 0, 0
    worker = Worker()
    worker.read(papers[0][0])
    print(f"{'paper':<12}" + "".join(f"{name:>9}" for name in NAMES))
    for pdf, gold in papers:
        reads.append(read := worker.read(pdf, is_cached=is_cached))
        ours, theirs = PaperContent(read.tei or b"<TEI/>"), PaperContent(gold.read_bytes())
        paragraphs, broken = paragraphs + ours.paragraphs, broken + ours.broken
        long = [note for note in theirs.notes if len(note) >= 8 and not theirs.holds(note)]
        notes, leaked = notes + len(long), leaked + sum(map(ours.holds, long))
        row = compare(ours, theirs)
        rows.append(row)
        print(f"{pdf.stem[:10]:<12}" + "".join(f"{row[name][0]:9.3f}" for name in NAMES))
    if rows:
        for at, side in enumerate(("mean", "precision", "recall")):
            columns = ([r[name][at] for r in rows if not isnan(r[name][at])] for name in NAMES)
            print(f"{side:<12}" + "".join(f"{ratio(sum(values), len(values)):9.3f}" for values in columns))
        print(
            f"{broken} of {paragraphs} paragraphs end inside a citation; {leaked} of {notes} footnotes are in the body"
        )
        print(f"{len(rows)} papers, {sum(read.failed for read in reads)} failed")
        speed([pdf for pdf, _ in papers], reads)
    worker.close()


def speed(pdfs: list[Path], reads: list[Read]) -> None:
    """Print pages per CPU second, pdfalto's share of the time, and the peers' speed."""
    count = sum(map(pages, pdfs))
    pdfalto = sum(read.pdfalto for read in reads)
    whole = sum(read.own for read in reads) + pdfalto
    others = ", ".join(f"{name} {count / used:.0f}" for name, used in peers(pdfs).items())
    print(
        f"{count} pages, {count / whole:.1f} pages per second of one core, {pdfalto / whole:.0%} of it pdfalto's; {others}"
    )


def main() -> None:
    folder = next((Path(a) for a in sys.argv[1:] if not a.startswith("--")), DEFAULT)
    papers = []
    for pdf in sorted(folder.glob("*.pdf")):
        truths = [t for t in (pdf.with_suffix(".nxml"), pdf.with_suffix(".tei.xml")) if t.exists()]
        papers += [(pdf, t) for t in truths[:1]]
    apart = held_out(folder)
    is_cached = "--cached" in sys.argv
    run([p for p in papers if p[0].stem not in apart], is_cached=is_cached)
    if apart and "--all" in sys.argv:
        print("held out")
        run([p for p in papers if p[0].stem in apart], is_cached=is_cached)


if __name__ == "__main__":
    main()
