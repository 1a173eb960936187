"""Measure the embedded extractor on papers with a publisher's JATS or GROBID's TEI, as one table per data set.

    python -m devtools.bench.extraction [--held-out] [--speed]

The data sets are `pmc-pdf`, `pairs` and `cases/layout` of REAL_DATA. Each is divided into
development papers and held-out papers. Held out are every third paper of `pmc-pdf` and `pairs`, and the listed papers
of `cases/layout`. `--held-out` also reads the held-out papers. The last rows pool the papers of all data
sets. A failed paper counts as a paper without content. The columns:

  titles       share of papers with the correct title (letters and digits only, with or without the subtitle)
  authors      share of papers with the same list of surnames
  abstracts    share of papers with an abstract at Levenshtein similarity >= 0.8
  headings     F1 of section headings without numbers, over all papers (letters and digits only), with precision and
  recall
  references   precision and recall of reference entries: token F1 of the raw strings >= 0.7; if the truth has fields but
               no raw strings, its title and first surname occur in ours
  ref. titles  F1 of reference titles over all papers (letters and digits only)
  contexts     F1 of citation contexts over all papers, counted as GROBID's EndToEndEvaluation does: entries of both sides
               match if one of these is equal: title and year; authors and year; journal with volume and page; first
               author and title. For each matched entry the smaller number of citations counts as right
  cut DOIs     gold DOIs that the PDF prints in full and that the extractor cuts
  lost lists   papers in which more than 10 % of the references are missing

`--speed` prints only the pages per CPU second, including pdfalto, for the development papers of `pmc-pdf`. It measures the
extractor, the extractor with pdfalto's output of `select`, as in a release, and programs that only extract text.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import subprocess
import tempfile
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import duckdb
import pypdfium2

from devtools.bench.contents import Content, Entry, read_content, words
from devtools.measure import cpu_seconds, letters
from devtools.real_data import REAL_DATA, require
from pdf2tei.pages.alto_cache import ENTRY
from pdf2tei.paper import extract
from s2corpus.pdf.inspection import find_text_failure

CASES_HELD_OUT = {"PMC7718682", "PMC7863429", "PMC5824918", "PMC5301171", "e200057"}
"""Held-out papers of `cases/layout`; `e200057` was read once, to repair titles with a translation."""
SETS = ("pmc-pdf", "pairs", "cases/layout")
COLUMNS = (
    "papers", "titles", "authors", "abstracts", "headings (P, R)", "references P, R", "ref. titles", "contexts", "cut DOIs", "lost lists",
)  # fmt: skip
Measures = dict[str, tuple[int, int, int]]
"""by measure: the number of right, our and gold values"""
TIMEOUT = 120.0
"""Maximum seconds per PDF."""
_NUMBER = re.compile(r"\s*(?:\d+(?:\.\d+)*[.)]?|[IVX]+\.|[A-Z]\.)\s+")


def is_named_in(entry: Entry, raw: Counter[str]) -> bool:
    """Return whether a raw string contains an entry: nine tenths of its title's words and its first surname."""
    title, surname = Counter(words(entry.named[0])), entry.named[1]
    total = title.total()
    return total > 1 and (title & raw).total() >= 0.9 * total and surname in letters("".join(raw))


def match_entries(ours: Content, gold: Content) -> dict[int, int]:
    """Return gold entry → our entry, matched greedily by token F1 of raw strings, at least 0.7."""
    scored = []
    for i, wanted in enumerate(gold.entries):
        for j, entry in enumerate(ours.entries):
            total = wanted.words.total() + entry.words.total()
            value = 2 * (wanted.words & entry.words).total() / total if total else 1.0
            if value >= 0.7 or (not gold.has_raws and is_named_in(wanted, entry.words)):
                scored.append((-value, i, j))
    taken: dict[int, int] = {}
    used: set[int] = set()
    for _, i, j in sorted(scored):
        if i not in taken and j not in used:
            taken[i] = j
            used.add(j)
    return taken


def count_contexts(ours: Content, gold: Content) -> int:
    """Return the number of our citations that cite the right entry."""
    left = {entry.id: entry.signatures for entry in gold.entries}
    count = 0
    for ident, signatures in {entry.id: entry.signatures for entry in ours.entries}.items():
        for level, signature in enumerate(signatures):
            other = next((i for i, those in left.items() if signature and those[level] == signature), None)
            if other is not None:
                count += min(ours.cited[ident], gold.cited[other])
                del left[other]
                break
    return count


def is_similar(a: str, b: str) -> bool:
    """Return whether 1 - edit distance / length of the longer string is at least 0.8."""
    ((distance,),) = duckdb.execute("SELECT levenshtein(?, ?)", [a, b]).fetchall()
    return bool(1 - distance / max(len(a), len(b), 1) >= 0.8)


def format_row(parts: Sequence[Measures]) -> list[str]:
    """Return the cells of the papers' table row, in the order of COLUMNS."""
    counts = {name: [sum(values) for values in zip(*(part[name] for part in parts), strict=True)] for name in parts[0]}

    def rates(name: str) -> tuple[float, float, float]:
        right, ours, gold = counts[name]
        precision, recall = right / max(ours, 1), right / max(gold, 1)
        return 2 * precision * recall / max(precision + recall, 1e-9), precision, recall

    shares = [f"{rates(name)[2]:.3f}" for name in ("titles", "authors", "abstracts")]
    middle = ["{:.3f} ({:.3f}, {:.3f})".format(*rates("headings")), "{1:.3f}, {2:.3f}".format(*rates("references"))]
    fields = [f"{rates(name)[0]:.3f}" for name in ("reference titles", "contexts")]
    cut = ["{0} of {2}".format(*counts[name]) for name in ("cut DOIs", "lost lists")]
    return [str(counts["titles"][2]), *shares, *middle, *fields, *cut]


def compare(ours: Content, gold: Content, printed: str) -> Measures:
    """Return the counts of one paper. `printed` is the PDF's text in lower case without white space."""
    heads = [Counter(h for value in side.headings if (h := letters(_NUMBER.sub("", value)))) for side in (ours, gold)]
    titles = [Counter(entry.title for entry in side.entries if entry.title) for side in (ours, gold)]
    pairs = match_entries(ours, gold)
    whole = [(i, entry.doi) for i, entry in enumerate(gold.entries) if entry.doi and entry.doi in printed]
    found = [(doi, ours.entries[pairs[i]].doi) for i, doi in whole if i in pairs]
    cut = [doi for doi, mine in found if mine != doi and doi.startswith(mine or "?")]
    has_abstract = bool(gold.abstract)
    cited = (count_contexts(ours, gold), ours.cited.total(), gold.cited.total())
    return {
        "titles": (bool(ours.titles & gold.titles), 1, 1),
        "authors": (ours.surnames == gold.surnames != "", 1, bool(gold.surnames)),
        "abstracts": (has_abstract and is_similar(ours.abstract, gold.abstract), 1, has_abstract),
        "references": (len(pairs), len(ours.entries), len(gold.entries)),
        "contexts": cited if gold.cited else (0, 0, 0),
        "cut DOIs": (len(cut), 0, len(whole)),
        "lost lists": (len(pairs) < 0.9 * len(gold.entries), 0, bool(gold.entries)),
        "headings": count_shared(*heads),
        "reference titles": count_shared(*titles),
    }


def count_shared(ours: Counter[str], gold: Counter[str]) -> tuple[int, int, int]:
    """Return the numbers of shared, our and gold values."""
    return (ours & gold).total(), ours.total(), gold.total()


def read_paper(pdf: Path, gold: Path) -> Measures:
    """Extract a PDF, and compare it with its gold file."""
    xml: bytes | None = None
    try:
        xml = extract(pdf, timeout=TIMEOUT)
    except Exception:
        traceback.print_exc()
    printed = "".join(read_text(pdf).replace("\ufffe", "-").split()).casefold()
    return compare(read_content(xml or b"<TEI/>"), read_content(gold.read_bytes()), printed)


def read_text(pdf: Path) -> str:
    """Return the text of a PDF without structure."""
    with pypdfium2.PdfDocument(pdf) as document:
        return "".join(page.get_textpage().get_text_range() for page in document)


def list_papers(folder: Path) -> list[tuple[Path, Path, bool]]:
    """Return (PDF, gold file, is held out) of each paper of a data set."""
    files = ((pdf, pdf.with_suffix(suffix)) for pdf in sorted(folder.glob("*.pdf")) for suffix in (".nxml", ".tei.xml"))
    found = [(pdf, gold) for pdf, gold in files if gold.exists()]
    order = [pdf.stem for pdf, _ in found]
    if (folder / "list.csv").exists():
        with (folder / "list.csv").open(newline="", encoding="utf-8") as file:
            order = [row["pmcid"] for row in csv.DictReader(file)]
    held_out = CASES_HELD_OUT if folder.name == "layout" else set(order[2::3])
    return [(pdf, gold, pdf.stem in held_out) for pdf, gold in found]


def measure_speed(pdfs: list[Path]) -> None:
    """Print the pages per CPU second of the extractor and of programs that only extract text."""
    pages = sum(len(pypdfium2.PdfDocument(pdf)) for pdf in pdfs)
    ways: dict[str, Callable[[Path], object]] = {
        "extractor": lambda pdf: extract(pdf, timeout=TIMEOUT), "pypdfium2": read_text,
    }  # fmt: skip
    if shutil.which("pdftotext"):
        ways["pdftotext"] = lambda pdf: subprocess.run(["pdftotext", pdf, "/dev/null"], capture_output=True)
    extract(pdfs[0], timeout=TIMEOUT)  # loads code and models
    seconds = defaultdict[str, float](float)
    for pdf in pdfs:
        for name, work in ways.items():
            before = cpu_seconds()
            work(pdf)
            seconds[name] += cpu_seconds() - before
        with tempfile.TemporaryDirectory() as folder:
            find_text_failure(pdf.read_bytes(), Path(folder), timeout=TIMEOUT, cache=True)
            before = cpu_seconds()
            extract(pdf, timeout=TIMEOUT, cached=Path(folder) / ENTRY)
            seconds["extractor with pdfalto's output"] += cpu_seconds() - before
    for name, used in seconds.items():
        print(f"{name}: {pages / used:.0f} pages per CPU second ({len(pdfs)} papers, {pages} pages)")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--held-out", action="store_true", help="also measure the held-out papers")
    options.add_argument("--speed", action="store_true", help="measure only the speed")
    given = options.parse_args()
    require()
    if given.speed:
        measure_speed([pdf for pdf, _, is_held_out in list_papers(REAL_DATA / "pmc-pdf") if not is_held_out])
        return
    print("| papers of | " + " | ".join(COLUMNS) + " |\n" + "|---" * (len(COLUMNS) + 1) + "|")
    pooled: dict[str, list[Measures]] = {"developed on": [], "held out": []}
    with ProcessPoolExecutor(2) as pool:
        for name in SETS:
            papers = list_papers(REAL_DATA / name)
            for is_held_out in (False, True)[: 1 + given.held_out]:
                chosen = [(pdf, gold) for pdf, gold, held_out in papers if held_out is is_held_out]
                parts = list(pool.map(read_paper, *zip(*chosen, strict=True)))
                kind = "held out" if is_held_out else "developed on"
                pooled[kind] += parts
                print(f"| `{name}`, {kind} | " + " | ".join(format_row(parts)) + " |", flush=True)
    for kind, parts in pooled.items():
        if parts:
            print(f"| all, {kind} | " + " | ".join(format_row(parts)) + " |")


if __name__ == "__main__":
    main()
