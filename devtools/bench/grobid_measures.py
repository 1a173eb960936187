"""Compute the measures of GROBID's end-to-end evaluation for any folder of papers with their publishers' JATS.

    python -m devtools.bench.grobid_measures [FOLDER] [--all]     default REAL_DATA/pmc-pdf

The folder contains `<name>.nxml` with `<name>.tei.xml` (from any extractor) or `<name>.pdf` (read by the embedded
extractor). If the folder has a `list.csv`, every third row is held out; `--all` prints the held-out papers separately,
and each publisher.

As in GROBID's evaluation, a field's values of both sides are counted over all papers (micro), with four definitions of
equality: strict (equal strings), soft (letters and digits only), Levenshtein (similarity of at least 0.8) and
Ratcliff/Obershelp (at least 0.95). The last two use the soft form. A reference's title is an article's title
(`article-title` against `analytic/title`); the titles of books and journals are another field.

Citation contexts are counted as GROBID's EndToEndEvaluation does. Entries of both sides match if one of these is equal:
title and year; authors and year; journal with volume and page; first author and title. For each matched entry the
smaller number of citations counts as right.
"""

from __future__ import annotations

import csv
import sys
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from lxml import etree

from devtools.real_data import REAL_DATA
from pdf2tei import extract

DEFAULT = REAL_DATA / "pmc-pdf"
NS = {"t": "http://www.tei-c.org/ns/1.0"}
ID = "{http://www.w3.org/XML/1998/namespace}id"
Fields = dict[str, list[str]]


@dataclass
class MeasuredPaper:
    """The fields' values; by entry id, its signatures (strongest first) and its number of citations."""

    fields: Fields
    entries: dict[str, list[str]]
    cited: Counter[str]


def soft(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def said(element: etree._Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def levenshtein(a: str, b: str) -> float:
    """Return 1 - edit distance / length of the longer string."""
    if abs(len(a) - len(b)) > 0.2 * max(len(a), len(b)):
        return 0.0
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return 1 - row[-1] / max(len(a), len(b), 1)


WAYS: dict[str, Callable[[str, str], bool]] = {
    "strict": lambda a, b: a == b,
    "soft": lambda a, b: soft(a) == soft(b),
    "Levenshtein": lambda a, b: soft(a) == soft(b) or levenshtein(soft(a), soft(b)) >= 0.8,
    "Ratcliff/Obershelp": lambda a, b: SequenceMatcher(None, soft(a), soft(b), autojunk=False).ratio() >= 0.95,
}


def signatures(title: str, within: str, authors: list[str], year: str, volume: str, page: str) -> list[str]:
    """Return the keys by which two entries may match; a key is empty if a part of it is missing."""
    title, within, everybody = soft(title), soft(within), soft("".join(authors))
    first = soft(authors[0]) if authors else ""
    ways = ((title, year), (everybody, year), (within, volume, page), (first, title or within))
    return [" ".join(way) if all(way) else "" for way in ways]


def of_tei(xml: bytes) -> MeasuredPaper:
    """Read a paper from a TEI."""
    root = etree.fromstring(xml, etree.XMLParser(resolve_entities=False, no_network=True, recover=True))
    people = root.findall(".//t:sourceDesc//t:analytic/t:author/t:persName", NS)
    surnames = [said(p.find("t:surname", NS)) for p in people]
    entries = root.findall(".//t:listBibl/t:biblStruct", NS)

    def year(entry: etree._Element) -> str:
        return next(((d.get("when") or said(d))[:4] for d in entry.iterfind(".//t:date", NS)), "")

    def cited(entry: etree._Element) -> list[str]:
        return [said(s) for s in entry.iterfind(".//t:author//t:surname", NS)]

    def scope(entry: etree._Element, unit: str) -> str:
        found = entry.find(f".//t:biblScope[@unit='{unit}']", NS)
        return "" if found is None else found.get("from") or said(found)

    fields = {
        "title": [said(root.find(".//t:titleStmt/t:title", NS))],
        "authors": [" ".join(surnames)],
        "first author": surnames[:1],
        "abstract": [said(root.find(".//t:profileDesc/t:abstract", NS))],
        "keywords": [" ".join(said(k) for k in root.iterfind(".//t:profileDesc//t:term", NS))],
        "reference title": [said(e.find("t:analytic/t:title", NS)) for e in entries],
        "reference authors": [" ".join(cited(e)) for e in entries],
        "reference date": [year(e) for e in entries],
        "heads": [said(h) for h in root.iterfind(".//t:body//t:div/t:head", NS)],
    }
    known = {
        e.get(ID, ""): signatures(
            said(e.find("t:analytic/t:title", NS)),
            said(e.find("t:monogr/t:title", NS)),
            cited(e),
            year(e),
            scope(e, "volume"),
            scope(e, "page"),
        )
        for e in entries
    }
    targets = (r.get("target", "")[1:] for r in root.iterfind(".//t:text//t:ref[@type='bibr']", NS))
    return MeasuredPaper(fields, known, Counter(target for target in targets if target))


def of_jats(xml: bytes) -> MeasuredPaper:
    """Read a paper from a JATS article."""
    root = etree.fromstring(xml, etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, recover=True))
    surnames = [said(e) for e in root.findall("front//contrib[@contrib-type='author']/name/surname")]
    refs = root.findall(".//ref-list//ref")

    def first(ref: etree._Element, name: str) -> str:
        return next((said(e) for e in ref.iter(name)), "")

    def cited(ref: etree._Element) -> list[str]:
        return [said(s) for s in ref.iter("surname")]

    abstracts = [e for e in root.iterfind("front//abstract") if not e.get("abstract-type")]
    body = root.find("body")
    fields = {
        "title": [said(root.find("front//article-title"))],
        "authors": [" ".join(surnames)],
        "first author": surnames[:1],
        "abstract": [" ".join(said(p) for a in abstracts[:1] for p in a.iter("p", "title"))],
        "keywords": [" ".join(said(k) for k in root.iterfind("front//kwd"))],
        "reference title": [first(ref, "article-title") for ref in refs],
        "reference authors": [" ".join(cited(ref)) for ref in refs],
        "reference date": [first(ref, "year")[:4] for ref in refs],
        "heads": [said(t) for t in (body.iterfind(".//sec/title") if body is not None else ())],
    }
    known = {
        ref.get("id", ""): signatures(
            first(ref, "article-title"),
            first(ref, "source"),
            cited(ref),
            first(ref, "year")[:4],
            first(ref, "volume"),
            first(ref, "fpage"),
        )
        for ref in refs
    }
    marks = (i for x in root.iter("xref") if x.get("ref-type") == "bibr" for i in (x.get("rid") or "").split())
    return MeasuredPaper(fields, known, Counter(marks))


def aligned(ours: MeasuredPaper, theirs: MeasuredPaper) -> dict[str, str]:
    """Return our entries' ids → their entries' ids."""
    left = dict(theirs.entries)
    found: dict[str, str] = {}
    for ident, signs in ours.entries.items():
        for level, sign in enumerate(signs):
            other = next((i for i, those in left.items() if sign and those[level] == sign), None)
            if other is not None:
                found[ident] = other
                del left[other]
                break
    return found


def contexts(ours: MeasuredPaper, theirs: MeasuredPaper) -> int:
    """Return the number of our citations that cite the right entry."""
    return sum(min(ours.cited[a], theirs.cited[b]) for a, b in aligned(ours, theirs).items())


def shared(ours: list[str], theirs: list[str], same: Callable[[str, str], bool]) -> int:
    """Return the number of our values that match one of theirs; each of theirs matches once."""
    left, count = list(theirs), 0
    for value in ours:
        at = next((i for i, other in enumerate(left) if same(value, other)), None)
        if at is not None:
            left.pop(at)
            count += 1
    return count


def main() -> None:
    given = [a for a in sys.argv[1:] if not a.startswith("--")]
    folder = Path(given[0]) if given else DEFAULT
    listed = list(csv.DictReader((folder / "list.csv").open())) if (folder / "list.csv").exists() else []
    held = {row["pmcid"] for i, row in enumerate(listed, 1) if i % 3 == 0}
    publishers = {row["pmcid"]: row["publisher"] for row in listed}
    groups: dict[str, list[tuple[MeasuredPaper, MeasuredPaper]]] = defaultdict(list)
    for gold in sorted(folder.glob("*.nxml")):
        name = gold.name.split(".")[0]
        if name in held and "--all" not in sys.argv:
            continue
        tei = next(folder.glob(f"{gold.stem}*.tei.xml"), None)
        try:
            xml = tei.read_bytes() if tei else extract(gold.with_suffix(".pdf"), timeout=120)
        except Exception:  # a failed paper counts as a paper without content
            traceback.print_exc()
            xml = None
        pair = (of_tei(xml or b"<TEI/>"), of_jats(gold.read_bytes()))
        groups["held out" if name in held else "papers"].append(pair)
        if "--all" in sys.argv and name in publishers:
            groups[publishers[name]].append(pair)
    for group, pairs in sorted(groups.items(), key=lambda item: (item[0] not in ("papers", "held out"), item[0])):
        report(group, pairs)


def report(group: str, pairs: Iterable[tuple[MeasuredPaper, MeasuredPaper]]) -> None:
    """Print F1 by field and definition of equality, with precision and recall of the soft definition."""
    pairs = list(pairs)
    print(
        f"\n{group}: {len(pairs)}\n{'field':<20}"
        + "".join(f"{way:>20}" for way in WAYS)
        + f"{'soft precision':>16}{'recall':>8}"
    )
    for field in pairs[0][1].fields:
        cells, detail = [], (0.0, 0.0)
        for way, same in WAYS.items():
            ours = [[v for v in a.fields[field] if soft(v)] for a, _ in pairs]
            theirs = [[v for v in b.fields[field] if soft(v)] for _, b in pairs]
            right = sum(shared(a, b, same) for a, b in zip(ours, theirs, strict=True))
            precision, recall = (right / max(sum(map(len, side)), 1) for side in (ours, theirs))
            cells.append(f"{f1(precision, recall):.3f}")
            if way == "soft":
                detail = precision, recall
        print(f"{field:<20}" + "".join(f"{cell:>20}" for cell in cells) + f"{detail[0]:>16.3f}{detail[1]:>8.3f}")
    right = sum(contexts(a, b) for a, b in pairs)
    precision, recall = (right / max(sum(p.cited.total() for p in side), 1) for side in zip(*pairs, strict=True))
    print(f"{'citation contexts':<20}{f1(precision, recall):>20.3f}{'':>60}{precision:>16.3f}{recall:>8.3f}")


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / max(precision + recall, 1e-9)


if __name__ == "__main__":
    main()
