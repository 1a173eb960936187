"""Read metadata for rendering references from lists of titles and the reference lists of JATS articles, and vary them.

Varied titles are short, in capitals, or contain dates and signs; varied journals are in no list.
"""

from __future__ import annotations

import gzip
import html
import random
import re
from pathlib import Path

from lxml import etree

from devtools.measure import read_xml, text

from .render import WORDS, Metadata, ordinal, subject


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
    for path in sorted([*folder.rglob("*.xml"), *folder.rglob("*.nxml")]):
        found = map(_cited, read_xml(path.read_bytes()).iter("element-citation", "mixed-citation"))
        out += [meta for meta in found if meta is not None]
    return out


def _cited(citation: etree._Element) -> Metadata | None:
    def value(tag: str) -> str:
        return text(citation.find(f".//{tag}")).strip(" .")

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
            meta.title = vary_title(meta.title, rng.choice(every), rng)
        if meta.kind == "article-journal" and (not meta.source or rng.random() < 0.3):
            meta.source = make_journal(journals, rng)
        elif meta.kind == "paper-conference" and not meta.source and rng.random() < 0.5:
            meta.source = make_meeting(meta.year, rng)
        if meta.kind in ("article-journal", "paper-conference") and rng.random() < 0.2:
            # A chapter as in Crossref: in a container without volume.
            meta.kind, meta.extra = "article-journal", {"part": "yes"}
            book = capitalize(rng.choice(every)) if rng.random() < 0.6 else make_meeting(meta.year, rng)
            meta.source = book
        if rng.random() < 0.1:
            meta.authors = []
    rng.shuffle(out)
    return out


def capitalize(text: str) -> str:
    """Return the text in title case."""
    words = text.split(" ")
    return " ".join(
        w if (i and w.lower() in WORDS["small_words"]) or not w[:1].islower() else w[0].upper() + w[1:]
        for i, w in enumerate(words)
    )


def make_journal(listed: list[str], rng: random.Random) -> str:
    """Return a journal: from the lists, or made from a subject; sometimes abbreviated, rarely in capitals."""
    if rng.random() < 0.55 and listed:
        return rng.choice(listed)
    a, b = rng.sample(WORDS["disciplines"], 2)
    name = rng.choice(WORDS["journal_frames"]).format(a=a, b=b, p=rng.choice(WORDS["regions"]), l=rng.choice("ABCDE"))
    roll = rng.random()
    if roll < 0.25:  # abbreviated, with or without periods
        stop = rng.choice([".", ""])
        large = (w for w in name.split() if w.lower() not in WORDS["small_words"])
        return " ".join(w if len(w) < 5 else w[: rng.randint(3, 5)] + stop for w in large)
    return name.upper() if roll < 0.3 else name


def make_meeting(year: int, rng: random.Random) -> str:
    """Return the name of proceedings."""
    a, b = rng.sample(WORDS["disciplines"], 2)
    nth = ordinal(rng.randint(1, 60))
    letters = "".join(rng.choice("ABCDEFGILMNOPRSTV") for _ in range(rng.randint(3, 6)))
    return rng.choice(WORDS["meetings"]).format(
        a=a, b=b, p=rng.choice(WORDS["regions"]), y=year, yy=f"{year % 100:02d}", n=nth, num=rng.randint(1, 40), c=letters,
        o=rng.choice(WORDS["meeting_kinds"]),
    )  # fmt: skip


def vary_title(text: str, another: str, rng: random.Random) -> str:
    """Return a title unchanged, or in one of the forms that are easily mistaken for something else."""
    roll = rng.random()
    if roll < 0.18:  # a short title
        words = re.findall(r"[^\W\d_][\w'-]+", text)
        text = " ".join(words[: rng.randint(1, 3)]) or text
        return rng.choice(
            [text, capitalize(text), rng.choice(WORDS["disciplines"]), rng.choice(["The ", "A ", ""]) + text]
        )
    if roll < 0.205:
        return f"{text}. {another}"
    if roll < 0.23:
        return f"{text}: {another}"
    if roll < 0.27:
        place, number = rng.choice(WORDS["places"]), rng.randint(2, 40)
        year = rng.randint(1780, 2015)
        more = [
            f" ({another.split(' ')[0]})", f", {year}", f", {year}–{year + number}", f" in {place}", f": the {year} survey",
            f" ({year}-{year + 4})", ". Part II", f" {number}", " I.", f". {number}. {another}", f" (n = {number})",
            f", {number} January {year}",
            " and Co. Ltd.", " et al.",
        ]  # fmt: skip
        text += rng.choice(more)
    elif roll < 0.30:
        text += rng.choice(["?", "!", "...", "? " + another, "! " + another])
    elif roll < 0.325:
        kind = rng.choice(["Chapter", "Section", "Part", "Lecture", "Table", "Case"])
        text = f"{kind} {rng.randint(1, 30)}{rng.choice(['.', ':', ' -'])} {text}"
    elif roll < 0.355:
        text = f"{rng.choice(['1996', '13th', 'The 9th', '3D', '2,4', 'Book Review:', 'Abstract 212:', 'Comment on'])} {text}"
    elif roll < 0.38:  # a review, with the book's imprint
        publisher, _, place = rng.choice(WORDS["publishers"]).partition("|")
        who = f"{rng.choice('ABCDEGHJKLMRST')}. {rng.choice('ABCDEFGHJLMPRSTW')}. {rng.choice(WORDS['surnames'])}"
        pages = rng.randint(90, 600)
        year = rng.randint(1930, 2012)
        text = capitalize(text) + rng.choice([
            f". By {who}. {place}: {publisher}, {year}. Pp. {pages}. ${rng.randint(5, 90)}.{rng.choice(['00', '50', '95'])}",
            f". {who}", f" by {who}", f". By {who}. ({place}: {publisher}, {year}. xii + {pages} pp. £{rng.randint(5, 60)})",
            f". Edited by {who}. Pp. xvi, {pages}. {place}: {publisher}, {year}",
        ])  # fmt: skip
    roll = rng.random()
    return text.upper() if roll < 0.05 else capitalize(text) if roll < 0.4 else text
