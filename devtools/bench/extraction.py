"""Measure the embedded extractor on papers with a publisher's JATS or GROBID's TEI, as one table per data set.

    python -m devtools.bench.extraction [--data FOLDER] [--apart] [--papers] [--tei FOLDER]

The data sets are `pmc-pdf`, `pairs` and `cases/layout` of FOLDER (default REAL_DATA). Each is divided into
development papers and held-out papers. Held out are every third paper of `pmc-pdf` and `pairs`, and the listed papers
of `cases/layout`. `--apart` also reads the held-out papers. The last rows pool the papers of all data
sets. A failed paper counts as a paper without content. The columns:

  titles       share of papers with the correct title (letters and digits only, with or without the subtitle)
  authors      share of papers with the same list of surnames
  abstracts    share of papers with an abstract at Levenshtein similarity >= 0.8
  headings     F1 of section headings without numbers, over all papers (letters and digits only), with precision and
  recall
  references   precision and recall of reference entries (token F1 >= 0.7)
  ref. titles  F1 of reference titles over all papers (letters and digits only)
  contexts     F1 of citation contexts over all papers, counted as GROBID's EndToEndEvaluation does
  cut DOIs     gold DOIs that the PDF prints in full and that the extractor cuts
  lost lists   papers in which more than 10 % of the references are missing
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pypdfium2
from lxml import etree

from devtools.bench.extract import entry_map
from devtools.bench.extract import titles as paper_titles
from devtools.bench.extract_paper import NS, PaperContent, letters, text
from devtools.bench.grobid_measures import WAYS, contexts, f1, of_jats, of_tei, shared, soft
from devtools.real_data import REAL_DATA
from pdf2tei import extract

CASES_APART = {"PMC7718682", "PMC7863429", "PMC5824918", "PMC5301171", "e200057"}
"""Held-out papers of `cases/layout`; `e200057` was read once, to repair titles with a translation."""
SETS = ("pmc-pdf", "pairs", "cases/layout")
COLUMNS = (
    "papers", "titles", "authors", "abstracts", "headings (P, R)", "references P, R", "ref. titles", "contexts", "cut DOIs", "lost lists",
)  # fmt: skip
_NUMBER = re.compile(r"\s*(?:\d+(?:\.\d+)*[.)]?|[IVX]+\.|[A-Z]\.)\s+")


@dataclass
class MeasureCounts:
    """Counts of one or more papers; triples are correct, ours, gold."""

    papers: int = 0
    gold: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    ours: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, right: int, ours: int, gold: int) -> None:
        """Add the counts of a measure."""
        self.right[name] += right
        self.ours[name] += ours
        self.gold[name] += gold

    def rates(self, name: str) -> tuple[float, float, float]:
        """Return F1, precision and recall of a measure."""
        precision, recall = (self.right[name] / max(side[name], 1) for side in (self.ours, self.gold))
        return f1(precision, recall), precision, recall

    def row(self) -> list[str]:
        """Return the cells of a table row, in the order of COLUMNS."""
        heads, refs = self.rates("headings"), self.rates("references")
        shares = [f"{self.rates(name)[2]:.3f}" for name in ("titles", "authors", "abstracts")]
        cut = [f"{self.right[name]} of {self.gold[name]}" for name in ("cut DOIs", "lost lists")]
        middle = [f"{heads[0]:.3f} ({heads[1]:.3f}, {heads[2]:.3f})", f"{refs[1]:.3f}, {refs[2]:.3f}"]
        fields = [f"{self.rates(name)[0]:.3f}" for name in ("reference titles", "contexts")]
        return [str(self.papers), *shares, *middle, *fields, *cut]


def merge(parts: list[MeasureCounts]) -> MeasureCounts:
    """Return the sum of the papers' counts."""
    total = MeasureCounts()
    for part in parts:
        total.papers += part.papers
        for mine, theirs in ((total.gold, part.gold), (total.right, part.right), (total.ours, part.ours)):
            mine.update(theirs)
    return total


def find_dois(xml: bytes) -> list[str]:
    """Return the DOI of each reference entry of a JATS article or TEI; an empty string for an entry without DOI."""
    root = etree.fromstring(xml, etree.XMLParser(resolve_entities=False, no_network=True, recover=True))
    entries = root.findall(".//ref-list//ref") or root.findall(".//t:listBibl/t:biblStruct", NS)
    paths = (".//pub-id[@pub-id-type='doi']", ".//t:idno[@type='DOI']")
    found = (next((e for path in paths for e in entry.findall(path, NS)), None) for entry in entries)
    return [text(e).casefold() for e in found]


def compare(ours: bytes, gold: bytes, printed: str) -> MeasureCounts:
    """Return the counts of one paper.

    `printed` is the PDF's text in lower case without white space."""
    counts = MeasureCounts(1)
    mine, theirs = PaperContent(ours), PaperContent(gold)
    my_fields, gold_fields = of_tei(ours), (of_jats if theirs.jats else of_tei)(gold)
    counts.add("titles", bool(paper_titles(mine) & paper_titles(theirs)), 1, 1)
    a, b = my_fields.fields, gold_fields.fields
    if soft(b["authors"][0]):
        counts.add("authors", soft(a["authors"][0]) == soft(b["authors"][0]), 1, 1)
    if b["abstract"] and soft(b["abstract"][0]):
        counts.add("abstracts", WAYS["Levenshtein"](a["abstract"][0], b["abstract"][0]), 1, 1)
    heads = [[h for value in side["heads"] if (h := letters(_NUMBER.sub("", value)))] for side in (a, b)]
    counts.add("headings", (Counter(heads[0]) & Counter(heads[1])).total(), *map(len, heads))
    pairs = entry_map(mine, theirs)
    counts.add("references", len(pairs), len(mine.raws), len(theirs.raws))
    titles = [[t for t in side["reference title"] if soft(t)] for side in (a, b)]
    counts.add("reference titles", shared(titles[0], titles[1], WAYS["soft"]), *map(len, titles))
    if gold_fields.cited:
        cited = (my_fields.cited.total(), gold_fields.cited.total())
        counts.add("contexts", contexts(my_fields, gold_fields), *cited)
    my_dois, gold_dois = find_dois(ours), find_dois(gold)
    whole = [(i, doi) for i, doi in enumerate(gold_dois) if doi and doi in printed]
    cut = [doi for i, doi in whole if i in pairs and (d := my_dois[pairs[i]]) != doi and doi.startswith(d or "?")]
    counts.add("cut DOIs", len(cut), 0, len(whole))
    counts.add("lost lists", len(pairs) < 0.9 * len(theirs.raws), 0, bool(theirs.raws))
    return counts


def read_paper(pdf: Path, gold: Path, tei: Path | None) -> MeasureCounts:
    """Extract a PDF, or read its TEI from a folder, and compare it with its gold file."""
    saved = tei / f"{pdf.stem}.xml" if tei else None
    try:
        xml = saved.read_bytes() if saved and saved.exists() else extract(pdf, timeout=120) or b"<TEI/>"
    except Exception:
        traceback.print_exc()
        xml = b"<TEI/>"
    if saved and not saved.exists():
        saved.write_bytes(xml)
    with pypdfium2.PdfDocument(pdf) as document:
        printed = "".join(page.get_textpage().get_text_range() for page in document)
    return compare(xml, gold.read_bytes(), "".join(printed.replace("\ufffe", "-").split()).casefold())


def list_papers(folder: Path) -> list[tuple[Path, Path, bool]]:
    """Return (PDF, gold file, is held out) of each paper of a data set."""
    found = []
    for pdf in sorted(folder.glob("*.pdf")):
        gold = next((g for g in (pdf.with_suffix(".nxml"), pdf.with_suffix(".tei.xml")) if g.exists()), None)
        if gold:
            found.append((pdf, gold))
    order = [pdf.stem for pdf, _ in found]
    if (folder / "list.csv").exists():
        with (folder / "list.csv").open(newline="", encoding="utf-8") as file:
            order = [row["pmcid"] for row in csv.DictReader(file)]
    apart = CASES_APART if folder.name == "layout" else set(order[2::3])
    return [(pdf, gold, pdf.stem in apart) for pdf, gold in found]


def main() -> int:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=REAL_DATA, help="folder of the data sets (default: %(default)s)")
    options.add_argument("--apart", action="store_true", help="also measure the papers kept apart")
    options.add_argument("--papers", action="store_true", help="print each paper developed on")
    options.add_argument("--tei", type=Path, help="read <paper>.xml from this folder; extract and store missing papers")
    given = options.parse_args()
    if not any(list_papers(given.data / name) for name in SETS):
        options.error(f"--data {given.data}: no papers in {', '.join(SETS)}: give a folder with one of these data sets")
    if given.tei:
        given.tei.mkdir(parents=True, exist_ok=True)
    print("| papers of | " + " | ".join(COLUMNS) + " |\n" + "|---" * (len(COLUMNS) + 1) + "|")
    pooled: dict[str, list[MeasureCounts]] = {"developed on": [], "kept apart": []}
    with ProcessPoolExecutor(2) as pool:
        for name in SETS:
            papers = list_papers(given.data / name)
            for is_apart in (False, True)[: 1 + given.apart]:
                chosen = [(pdf, gold) for pdf, gold, apart in papers if apart is is_apart]
                if not chosen:
                    continue
                parts = list(pool.map(read_paper, *zip(*chosen, strict=True), [given.tei] * len(chosen)))
                if given.papers and not is_apart:
                    for (pdf, _), part in zip(chosen, parts, strict=True):
                        print(f"| {pdf.stem[:10]} | " + " | ".join(part.row()) + " |")
                kind = "kept apart" if is_apart else "developed on"
                pooled[kind] += parts
                print(f"| `{name}`, {kind} | " + " | ".join(merge(parts).row()) + " |", flush=True)
    for kind, parts in pooled.items():
        if parts:
            print(f"| all, {kind} | " + " | ".join(merge(parts).row()) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
