"""How near the embedded extractor comes to a real GROBID: every measure per paper and as means.

    python bench/extract.py [FOLDER with <name>.pdf and <name>.tei.xml]     default ../shared/data/pairs

Measures, each against GROBID's TEI of the same PDF:
  title     equal, letters and digits only
  body      F1 of word tokens of the body's paragraphs;  gram5 the same of their 5-grams
  heads     F1 of section heads, letters and digits only
  names     F1 of author surnames
  abstract  F1 of word tokens
  found     share of GROBID's reference entries that have one of ours: token F1 of the raw strings >= 0.7; where GROBID gave
            no raw strings (its fields may come from Crossref), its title and first surname in ours
  titles    share of GROBID's reference titles that ours match at similarity >= 0.9
  cites     F1 of inline citations: same text, same entry
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Hashable, Iterable
from difflib import SequenceMatcher
from pathlib import Path

from lxml import etree

from s2corpus.layout import extract

NS = {"t": "http://www.tei-c.org/ns/1.0"}
ID = "{http://www.w3.org/XML/1998/namespace}id"
NAMES = ("title", "body", "gram5", "heads", "names", "abstract", "found", "titles", "cites")
DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "pairs"


def f1(ours: Iterable[Hashable], theirs: Iterable[Hashable]) -> float:
    """F1 of two multisets; 1 if both are empty."""
    a, b = Counter(ours), Counter(theirs)
    if not a and not b:
        return 1.0
    return 2 * sum((a & b).values()) / (sum(a.values()) + sum(b.values()))


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def text(element: etree._Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def spaced(element: etree._Element) -> str:
    values = [v for e in element.iter() for k, v in e.attrib.items() if k in ("when", "from", "to")]
    return " ".join([*element.itertext(), *values])


class Paper:
    """What is compared, read from a TEI."""

    def __init__(self, tei: bytes) -> None:
        root = etree.fromstring(tei)
        self.title = letters(text(root.find(".//t:titleStmt/t:title", NS)))
        paragraphs = root.xpath(".//t:body//t:div/t:p", namespaces=NS)
        self.body = words(" ".join(map(text, paragraphs)))
        self.heads = [h for e in root.xpath(".//t:body//t:div/t:head", namespaces=NS) if (h := letters(text(e)))]
        self.surnames = [
            letters(text(e)) for e in root.xpath(".//t:sourceDesc//t:analytic/t:author//t:surname", namespaces=NS)
        ]
        self.abstract = words(text(root.find(".//t:profileDesc/t:abstract", NS)))
        entries = root.xpath(".//t:listBibl/t:biblStruct", namespaces=NS)
        self.ids = [e.get(ID, "") for e in entries]
        notes = [text(e.find("t:note[@type='raw_reference']", NS)) for e in entries]
        self.has_raws = any(notes)
        self.raws = [Counter(words(note or spaced(e))) for note, e in zip(notes, entries, strict=True)]
        self.firsts = [letters(text(e.find(".//t:surname", NS))) for e in entries]
        self.titles = [self._entry_title(e) for e in entries]
        self.cites = [
            (letters(text(r)), r.get("target", "")[1:])
            for r in root.xpath(".//t:body//t:div/t:p//t:ref[@type='bibr'][@target]", namespaces=NS)
        ]

    def named_in(self, i: int, raw: Counter[str]) -> bool:
        """Whether nine tenths of entry i's title's words and its first surname are in a raw string."""
        title = Counter(words(self.titles[i]))
        total = sum(title.values())
        return total > 1 and sum((title & raw).values()) >= 0.9 * total and self.firsts[i] in letters("".join(raw))

    @staticmethod
    def _entry_title(entry: etree._Element) -> str:
        for path in ("t:analytic/t:title[@type='main']", "t:analytic/t:title", "t:monogr/t:title"):
            found = text(entry.find(path, NS))
            if found:
                return found.casefold()
        return ""


def entry_map(ours: Paper, theirs: Paper) -> dict[int, int]:
    """Their entry → ours: greedily by token F1 of raw strings, at least 0.7."""
    scored = []
    for i, gold in enumerate(theirs.raws):
        for j, raw in enumerate(ours.raws):
            shared = sum((gold & raw).values())
            a, b = sum(gold.values()), sum(raw.values())
            score = 2 * shared / max(a + b, 1)
            if score >= 0.7 or (not theirs.has_raws and theirs.named_in(i, raw)):
                scored.append((-score, i, j))
    taken: dict[int, int] = {}
    used: set[int] = set()
    for _, i, j in sorted(scored):
        if i not in taken and j not in used:
            taken[i] = j
            used.add(j)
    return taken


def compare(ours: Paper, theirs: Paper) -> dict[str, float]:
    """Every measure of one paper."""
    found = entry_map(ours, theirs)
    back = {ours.ids[j]: theirs.ids[i] for i, j in found.items()}
    titled = [i for i, title in enumerate(theirs.titles) if title]
    good = sum(
        1
        for i in titled
        if i in found and SequenceMatcher(None, theirs.titles[i], ours.titles[found[i]], autojunk=False).ratio() >= 0.9
    )
    return {
        "title": float(ours.title == theirs.title),
        "body": f1(ours.body, theirs.body),
        "gram5": f1(
            zip(*(ours.body[k:] for k in range(5)), strict=False),
            zip(*(theirs.body[k:] for k in range(5)), strict=False),
        ),
        "heads": f1(ours.heads, theirs.heads),
        "names": f1(ours.surnames, theirs.surnames),
        "abstract": f1(ours.abstract, theirs.abstract),
        "found": len(found) / len(theirs.raws) if theirs.raws else 1.0,
        "titles": good / len(titled) if titled else 1.0,
        "cites": f1([(t, back.get(e, e + "?")) for t, e in ours.cites], theirs.cites),
    }


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    rows, pages, seconds = [], 0, 0.0
    print(f"{'paper':<10}" + "".join(f"{name:>9}" for name in NAMES))
    for pdf in sorted(folder.glob("*.pdf")):
        gold = pdf.with_suffix(".tei.xml")
        if not gold.exists():
            continue
        began = time.process_time(), sum(children())
        tei = extract(pdf, timeout=120)
        seconds += time.process_time() - began[0] + sum(children()) - began[1]
        from pypdf import PdfReader

        pages += len(PdfReader(pdf).pages)
        row = compare(Paper(tei or b"<TEI/>"), Paper(gold.read_bytes()))
        rows.append(row)
        print(f"{pdf.stem[:8]:<10}" + "".join(f"{row[name]:9.3f}" for name in NAMES))
    if rows:
        print(f"{'mean':<10}" + "".join(f"{sum(r[name] for r in rows) / len(rows):9.3f}" for name in NAMES))
        print(f"{pages} pages, {pages / seconds:.1f} pages per second of one core")


def children() -> tuple[float, float]:
    """User and system seconds of ended child processes (pdfalto)."""
    import resource

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime, usage.ru_stime


if __name__ == "__main__":
    main()
