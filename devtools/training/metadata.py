"""Read metadata for rendering references: delivered lists of titles, and the reference lists of JATS articles."""

from __future__ import annotations

import gzip
import html
import random
import re
from pathlib import Path

from lxml import etree

from . import variants
from .render import Metadata, subject
from .words import WORDS


def names(text: str) -> list[tuple[str, str]]:
    """Return `A B; C D`, `B, A; D, C` or `A B, C D` as (given, family)."""
    text = html.unescape(text)
    parts = [p.strip() for p in (text.split(";") if ";" in text else text.split(",")) if p.strip()]
    out: list[tuple[str, str]] = []
    for part in parts:
        family, comma, given = (x.strip() for x in part.partition(","))
        if not comma:
            given, _, family = part.rpartition(" ")
        pair = (given.strip(), family.strip())
        if pair[1] and pair not in out and not re.search(r"[\d@/<>{}]", part):
            out.append(pair)
    return out


def titles(path: Path, rng: random.Random, count: int) -> list[Metadata]:
    """Return a sample of a list of papers (gzipped TSV: source, id, year, venue, title, authors)."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    out: list[Metadata] = []
    for row in rng.sample(rows, min(len(rows), count)):
        if len(row) < 6 or len(row[4]) < 8:
            continue
        people = names(row[5])
        if not people:
            continue
        title = html.unescape(row[4]).strip(" .").replace("{", "").replace("}", "")
        year = int(row[2]) if row[2].isdigit() else rng.randint(1975, 2022)
        out.append(Metadata(title, people, year))
    return out


def jats(folder: Path) -> list[Metadata]:
    """Return the cited works of JATS articles."""
    out: list[Metadata] = []
    parser = etree.XMLParser(load_dtd=False, no_network=True, resolve_entities=False, recover=True)
    for path in sorted([*folder.rglob("*.xml"), *folder.rglob("*.nxml")]):
        root = etree.parse(path, parser).getroot()
        for citation in root.iter("element-citation", "mixed-citation"):
            meta = _cited(citation)
            if meta is not None:
                out.append(meta)
    return out


def _cited(citation: etree._Element) -> Metadata | None:
    def value(tag: str) -> str:
        element = citation.find(f".//{tag}")
        return " ".join("".join(element.itertext()).split()).strip(" .") if element is not None else ""

    people = [(n.findtext("given-names") or "", n.findtext("surname") or "") for n in citation.iter("name")]
    people = [p for p in people if p[1]]
    title, source, year = value("article-title"), value("source"), value("year")[:4]
    if not people or not source or not year.isdigit():
        return None
    extra = {"volume": value("volume"), "pages": "-".join(p for p in (value("fpage"), value("lpage")) if p)}
    if title:
        return Metadata(title, people, int(year), source, "article-journal", extra)
    return Metadata(source, people, int(year), "", "book", extra)


def mixed(papers: list[Metadata], cited: list[Metadata], rng: random.Random) -> list[Metadata]:
    """Return one list with the publication types of real reference lists; titles and journals have many forms."""
    out: list[Metadata] = []
    journals = [name for line in WORDS["journals"] for name in line.split("|")]
    journals += [meta.source for meta in cited if meta.kind == "article-journal" and meta.source]
    every = [meta.title for meta in (*papers, *cited)]
    for meta in papers:
        kind = rng.choices(
            ["article-journal", "paper-conference", "book", "chapter", "thesis", "report", "webpage"],
            [48, 26, 9, 9, 2, 3, 3],
        )[0]
        year = meta.year if rng.random() < 0.4 else rng.randint(1950, 2022)
        title = meta.title
        if (kind in ("book", "chapter", "report", "thesis") and rng.random() < 0.6) or rng.random() < 0.15:
            title = subject(rng)
        out.append(Metadata(title, meta.authors, year, "", kind))
    out.extend(cited)
    for meta in out:
        if rng.random() < 0.7:
            meta.title = variants.title(meta.title, rng.choice(every), rng)
        if meta.kind == "article-journal" and (not meta.source or rng.random() < 0.3):
            meta.source = variants.journal(journals, rng)
        elif meta.kind == "paper-conference" and not meta.source and rng.random() < 0.5:
            meta.source = variants.meeting(meta.year, rng)
        if meta.kind in ("article-journal", "paper-conference") and rng.random() < 0.2:
            # A chapter as in Crossref: in a container without volume.
            meta.kind, meta.extra = "article-journal", {"part": "yes"}
            book = variants.titled(rng.choice(every)) if rng.random() < 0.6 else variants.meeting(meta.year, rng)
            meta.source = book
        if rng.random() < 0.1:
            meta.authors = []
    rng.shuffle(out)
    return out
