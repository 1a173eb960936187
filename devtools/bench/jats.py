"""Measure parses of publishers' JATS: `python -m devtools.bench.jats [--pdf] [--rounds 3]`.

  body     F1 of word tokens (letters and digits) of the body against `body//p` outside tables, captions and
           formulas, which this script reads independently
  cites    share of the callouts `<xref ref-type="bibr">` that are citation spans with the right text and entry
  speed    documents per second on one core (process time), bytes to JSON, and the ratio to the time that
           BeautifulSoup(…, "xml") needs to load the same files

The same F1 is printed for the parses of GROBID's TEI (`pmc-with-tei`) and, with --pdf, for the embedded extractor's
parses (`pmc-pdf`; takes some minutes).
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from lxml import etree

from devtools.real_data import MISSING, REAL_DATA
from pdf2tei import extract
from s2orc_parse import jats, tei
from s2orc_parse.parse_model import Parse
from s2orc_parse.xml import parse_xml

WORD = re.compile(r"\w+")
OUTSIDE = frozenset(
    ("table-wrap", "table-wrap-group", "table", "fig", "fig-group", "caption", "supplementary-material", "disp-formula",
     "inline-formula", "math", "tex-math", "media")
)  # fmt: skip


def local(element: etree._Element) -> str:
    tag = getattr(element, "tag", None)
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def text_of(element: etree._Element) -> str:
    """Return the text without elements outside the paper's running text."""
    parts = [element.text or ""]
    for child in element:
        if local(child) and local(child) not in OUTSIDE:
            parts.append(text_of(child))
        parts.append(child.tail or "")
    return "".join(parts)


def truth(article: etree._Element) -> Counter[str]:
    """Return the tokens of `body//p`."""
    words: Counter[str] = Counter()
    body = article.find("{*}body")
    for paragraph in body.iter("{*}p") if body is not None else ():
        above = {local(ancestor) for ancestor in paragraph.iterancestors()}
        if not above & OUTSIDE and "p" not in above:
            words.update(WORD.findall(text_of(paragraph)))
    return words


def tokens(parse: Parse) -> Counter[str]:
    """Return the tokens of a parse's body without formulas."""
    words: Counter[str] = Counter()
    for paragraph in parse.body_text:
        text = paragraph.text
        for span in reversed(paragraph.eq_spans):
            text = text[: span.start] + text[span.end :]
        words.update(WORD.findall(text))
    return words


def callouts(article: etree._Element) -> Counter[tuple[str, str]]:
    """Return (text, id of the reference) of every callout of the article itself."""
    found: Counter[tuple[str, str]] = Counter()
    for part in article:
        if local(part) in ("body", "back", "floats-group"):
            for xref in part.iter("{*}xref"):
                if xref.get("ref-type") == "bibr":
                    text = " ".join("".join(xref.itertext()).split())
                    found.update((text, rid) for rid in (xref.get("rid") or "").split())
    return found


def citations(parse: Parse) -> Counter[tuple[str, str]]:
    ids = {entry.key: entry.ref_id for entry in parse.bib_entries}
    paragraphs = (*parse.abstract, *parse.body_text, *parse.back_matter)
    spans = [span for paragraph in paragraphs for span in paragraph.cite_spans]
    for entry in parse.ref_entries:
        spans += [*entry.cite_spans, *(cell.span for cell in entry.cell_cites)]
    return Counter((span.text, ids[span.ref_id or ""]) for span in spans)


class Score:
    """F1 over a set of papers, and the papers below the required value."""

    def __init__(self) -> None:
        self.shared = self.ours = self.theirs = self.papers = self.below = 0
        self.sum = 0.0

    def add(self, ours: Counter[str], theirs: Counter[str]) -> None:
        shared = (ours & theirs).total()
        f1 = 2 * shared / max(1, ours.total() + theirs.total())
        self.shared, self.ours, self.theirs = (
            self.shared + shared,
            self.ours + ours.total(),
            self.theirs + theirs.total(),
        )
        self.papers, self.sum, self.below = self.papers + 1, self.sum + f1, self.below + (f1 < 0.98)

    def __str__(self) -> str:
        all_ = 2 * self.shared / max(1, self.ours + self.theirs)
        return (
            f"F1 {all_:.4f} (mean of {self.papers} papers {self.sum / max(1, self.papers):.4f}, {self.below} below .98)"
        )


def compare(folder: str, paths: list[Path], other: str, read: Callable[[Path], Parse | None] | None) -> None:
    """Print the figures of one folder, and those for the other parse of the same papers."""
    own, theirs, wanted, found = Score(), Score(), 0, 0
    for path in paths:
        data = path.read_bytes()
        try:
            parse = jats.convert(data, sha1="")
        except jats.BadArticle as bad:
            print(f"  {path.name}: {bad.outcome}")
            continue
        article = parse_xml(data)
        words = truth(article)
        own.add(tokens(parse), words)
        named = callouts(article)
        wanted, found = wanted + named.total(), found + (named & citations(parse)).total()
        if read is not None:
            second = read(path)
            theirs.add(tokens(second) if second else Counter(), words)
    print(f"{folder}: body {own}; cites {found / max(1, wanted):.4f} of {wanted}")
    if read is not None:
        print(f"{folder}: body of {other} {theirs}")


def from_tei(path: Path) -> Parse | None:
    return tei.convert(path.with_name(f"{path.stem}.tei.xml").read_bytes(), file_sha1="")


def from_pdf(path: Path) -> Parse | None:
    found = extract(path.with_suffix(".pdf"), timeout=300)
    return tei.convert(found, file_sha1="") if found else None


def seconds(work: Callable[[bytes], object], documents: list[bytes]) -> float:
    start = time.process_time()
    for document in documents:
        work(document)
    return time.process_time() - start


def speed(documents: list[bytes], rounds: int) -> None:
    from bs4 import BeautifulSoup

    def convert(document: bytes) -> None:
        tei.to_json_bytes(tei.to_s2orc(jats.convert(document, sha1="")))

    ours, theirs = [], []
    for _ in range(rounds):  # alternating: the machine may be shared
        ours.append(seconds(convert, documents))
        theirs.append(seconds(lambda document: BeautifulSoup(document, "xml"), documents))
    for name, times in (("convert to S2ORC JSON", ours), ("BeautifulSoup, load only", theirs)):
        print(
            f"{name:26} {len(documents) / min(times):7.1f} documents/s on one core ({sum(map(len, documents)) / min(times) / 1e6:.1f} MB/s)"
        )
    print(f"ratio {min(ours) / min(theirs):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pdf", action="store_true", help="also the embedded extractor on pmc-pdf")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    folders = {
        "jats": sorted([*REAL_DATA.glob("jats/**/*.xml"), *REAL_DATA.glob("jats/*.nxml")]),
        "pmc-with-tei": sorted(REAL_DATA.glob("pmc-with-tei/*.nxml")),
        "pmc-pdf": sorted(REAL_DATA.glob("pmc-pdf/*.nxml")),
    }
    if not any(folders.values()):
        sys.exit(MISSING)
    compare("jats", folders["jats"], "", None)
    compare("pmc-with-tei", folders["pmc-with-tei"], "GROBID's TEI", from_tei)
    compare("pmc-pdf", folders["pmc-pdf"], "the embedded extractor", from_pdf if given.pdf else None)
    documents = []
    for paths in folders.values():
        for path in paths:
            data = path.read_bytes()
            try:
                jats.convert(data, sha1="")
            except jats.BadArticle:
                continue
            documents.append(data)
    speed(documents, given.rounds)


if __name__ == "__main__":
    main()
