"""Make forms of references that no CSL style has: the terse forms of physics and chemistry, and BibTeX's."""

from __future__ import annotations

import random
import re
from typing import Any

from pdf2tei.references.crf import TokenLabel

from .marks import mark
from .render import WORDS, Metadata, item


def _initials(given: str, rng: random.Random) -> str:
    out = " ".join(w[0] + "." for w in re.findall(r"\w+", given))
    return out.replace(" ", "") if rng.random() < 0.15 else out


def _listed(names: list[str], joint: str) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + joint + names[-1]


def arxiv_id(rng: random.Random) -> str:
    """Return an identifier in arXiv's old or new form."""
    month = rng.randint(1, 12)
    if rng.random() < 0.35:
        archives = "hep-ph astro-ph hep-th nucl-ex cond-mat gr-qc quant-ph cs math"
        return f"{rng.choice(archives.split())}/{rng.randint(92, 107) % 100:02d}{month:02d}{rng.randint(1, 999):03d}"
    return f"{rng.randint(7, 24):02d}{month:02d}.{rng.randint(1, 19999):0{rng.choice([4, 5])}d}"


def terse(meta: Metadata, rng: random.Random) -> str:
    """Return authors, journal, volume, page and year in one of many orders, mostly without title."""
    meta.kind = "article-journal"
    meta.extra.pop("part", None)
    csl = item(meta, rng)
    inverted = rng.random() < 0.3
    authors = csl.get("author", [{"given": "", "family": mark(TokenLabel.AUTHOR, "Anonymous")}])
    names = []
    for author in authors[: rng.randint(1, 5)]:
        initials, family = _initials(author["given"], rng), author["family"]
        names.append(f"{family}{rng.choice([', ', ' '])}{initials}" if inverted else f"{initials} {family}")
    who = _listed(names, rng.choice([" and ", " & ", ", ", ", and ", " et "]))
    if rng.random() < 0.3:
        who = names[0] + rng.choice([" et al.", " et al", ", et al.", " et al.,"])
    if rng.random() < 0.12:
        group = rng.choice(WORDS["collaborations"]) + rng.choice([" Collaboration", " collaboration", ""])
        group = mark(TokenLabel.COLLABORATION, group)
        who = rng.choice([f"{group}, {who}", f"{who} [{group}]", f"{who} ({group})", group])
    journal, volume, pages, issue = csl["container-title-short"], csl["volume"], csl.get("page", ""), csl.get("issue")
    year = str(meta.year)
    vol = f"{volume}({issue})" if issue and rng.random() < 0.5 else volume
    where = rng.choice(
        [
            f"{journal} {vol} ({year}) {pages}", f"{journal} {vol}, {pages} ({year})", f"{journal}, {vol}, {pages} ({year})",
            f"{journal} {year}, {vol}, {pages}", f"{journal} ({year}) {pages}", f"{journal}, vol. {volume}, p. {pages}, {year}",
            f"{journal} {vol}:{pages}, {year}", f"{year}, {journal}, {volume}, {pages}", f"{year} {journal} {vol} {pages}",
            f"{journal} {vol} {year} {pages}", f"{journal}{volume} ({year}) {pages}",
        ]
    )  # fmt: skip
    title = f"{rng.choice([', ', ': ', '. ', ' '])}{quoted(csl['title'], rng)}" if rng.random() < 0.3 else ""
    tail = ""
    if rng.random() < 0.2:
        ident = mark(TokenLabel.IDNO, rng.choice(["arXiv:", "arXiv: ", "", "arXiv:"]) + arxiv_id(rng))
        tail = rng.choice([f" [{ident}]", f", {ident}", f" ({ident})", f", [{ident}]"])
        if rng.random() < 0.25:
            where, tail = ident, rng.choice(["", f" ({year})", f", {year}"])
    return f"{who}{title}{rng.choice([', ', ' ', ', ', '. '])}{where}{tail}{rng.choice(['.', '', ';', ',', '.'])}"


def quoted(title: str, rng: random.Random) -> str:
    """Return a title in a pair of quotation marks, or without."""
    left, right = rng.choice(
        [("", ""), ("", ""), ("“", "”"), ('"', '"'), ("'", "'"), ("‘", "’"), ("‘‘", "’’"), ("«", "»"), ("„", "“")]
    )
    return f"{left}{title}{rng.choice(['', ',', '']) if left else ''}{right}"


def bibtex(meta: Metadata, rng: random.Random) -> str:
    """Return a reference as plain, abbrv, apalike, acl_natbib or icml print it."""
    csl = item(meta, rng)
    style = rng.choice(["plain", "abbrv", "acl", "apalike", "icml"])
    who = _who(csl.get("author", []), style, rng)
    year = str(meta.year) + (rng.choice("ab") if rng.random() < 0.1 else "")
    where, title = _where(csl, meta, style, rng), csl["title"]
    if not who:
        return f"{title}. {where}, {year}."
    if style == "acl":
        return f"{who}. {year}. {title}. {where}."
    if style == "apalike":
        return f"{who} ({year}). {title}. {where}."
    month = rng.choice(["", "", "", "June ", "Dec. ", "July ", "Oct. "]) if style != "icml" else ""
    return f"{who}. {title}. {where}, {month}{year}."


def _who(authors: list[dict[str, str]], style: str, rng: random.Random) -> str:
    shown = authors[:12]
    if not shown:
        return ""
    if style in ("apalike", "icml"):
        names = [f"{a['family']}, {_initials(a['given'], rng)}" for a in shown]
        return _listed(names, ", and " if len(names) > 2 else " and ")
    given = (lambda a: a["given"]) if style in ("plain", "acl") else (lambda a: _initials(a["given"], rng))
    names = [f"{given(a)} {a['family']}".strip() for a in shown]
    if rng.random() < 0.06:
        return ", ".join(names[:3]) + ", et al"
    return _listed(names, ", and " if len(names) > 2 else " and ")


def _where(csl: dict[str, Any], meta: Metadata, style: str, rng: random.Random) -> str:
    pages = csl.get("page")
    said = {"icml": "pp. "}.get(style, "pages ")
    if meta.kind in ("article-journal", "webpage", "report") and rng.random() < 0.25:
        return f"{mark(TokenLabel.JOURNAL, 'arXiv preprint')} {mark(TokenLabel.IDNO, 'arXiv:' + arxiv_id(rng))}"
    if meta.kind == "article-journal":
        issue = f"({csl['issue']})" if "issue" in csl else ""
        volume = f"{csl['volume']}{issue}" if "volume" in csl else ""
        where = f"{volume}{':' if volume else 'pages '}{rng.choice(['', ' '])}{pages}" if pages else volume
        return f"{csl['container-title']}, {where}" if where else f"{csl['container-title']}"
    if meta.kind in ("paper-conference", "chapter"):
        out = f"In {csl['container-title']}"
        if csl.get("editor") and rng.random() < 0.5:
            people = _listed([f"{e['given']} {e['family']}" for e in csl["editor"]], " and ")
            out = f"In {people}, editors, {csl['container-title']}"
        if csl.get("collection-title"):
            out += f", volume {csl['volume']} of {csl['collection-title']}"
        if pages:
            out += f", {said}{pages}"
        place = csl.get("publisher-place") or csl.get("event-place")
        if place:
            out += f", {place}"
        return f"{out}. {csl['publisher']}" if csl.get("publisher") else out
    if meta.kind == "book":
        place = csl["publisher-place"]
        return f"{csl['publisher']}" + (f", {place}" if place and rng.random() < 0.7 else "")
    if meta.kind in ("thesis", "report"):
        return f"{csl['genre']}, {csl['publisher']}"
    return f"{csl['URL']}" if "URL" in csl else ""
