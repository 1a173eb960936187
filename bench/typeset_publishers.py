"""Whole papers in the looks of publishers, front to list, each with its truth: columns, heads, callouts, the list's style and its head.

    python bench/typeset_publishers.py OUT [FOLDER of JATS] [COUNT]      then: python bench/extract.py OUT

The articles are those of bench/typeset.py, the fronts mostly those of bench/typeset_fronts.py. Slides, and a thesis with its table of
contents, have their truth in tests/unit/layout/test_other_documents.py."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import typeset_fronts as fronts
import typst
from typeset import DEFAULT, Article, Layout, quote, references, source, truth
from typeset_fronts import BY_NAME, Look, addresses, bold, people, small, sup, tidy


def mdpi(a: Article) -> tuple[str, str]:
    return tidy(
        '#text(size: 10pt, style: "italic")[Article]',
        bold(a.title, 18),
        f'#text(weight: "bold")[{people(a, ", ", lambda i: sup("12"[i % 2]), " and ")}]',
        addresses(a, 8),
        f'#text(weight: "bold")[Abstract:] {quote(a.abstract)}',
    ), ""


def frontiers(a: Article) -> tuple[str, str]:
    return tidy(
        f"#align(right)[{small('ORIGINAL RESEARCH', 9)} #linebreak() {small('published: 24 May 2017', 7)} #linebreak() "
        f"{small('doi: 10.3389/fmats.2017.00123', 7)}]",
        bold(a.title, 20),
        f"#text(size: 11pt)[#emph[{people(a, ', ', lambda i: sup('12'[i % 2]), ' and ')}]]",
        f"#emph[{addresses(a, 8)}]",
        f'#text(weight: "bold")[{quote(a.abstract)}]',
    ), ""


def humanities(a: Article) -> tuple[str, str]:
    return tidy(
        f"#align(center)[#text(size: 18pt)[{quote(a.title)}]]",
        f"#align(center)[#smallcaps[{people(a, ', ', last=' and ')}]]",
        f"#pad(x: 2em)[{bold('Abstract', 10)} #linebreak() #text(size: 9pt)[{quote(a.abstract)}]]",
    ), ""


def plos(a: Article) -> tuple[str, str]:
    return tidy(
        small("RESEARCH ARTICLE", 9),
        bold(a.title, 20),
        f'#text(weight: "bold")[{people(a, ", ", lambda i: sup("12"[i % 2]))}]',
        addresses(a, 8),
        f"{bold('Abstract', 13)} #linebreak() {quote(a.abstract)}",
    ), ""


def named(name: str, like: str, **how: str | int | float | bool) -> Layout:
    """A layout like another one but for some of it."""
    return replace(BY_NAME[like], name=name, **how)  # type: ignore[arg-type]


LOOKS: dict[str, tuple[Layout, Look]] = {
    "acs": (named("acs", "medical", csl="american-chemical-society", mark="■ ", upper=True), fronts.acs),
    "rsc": (
        named(
            "rsc",
            "medical",
            csl="royal-society-of-chemistry-with-titles",
            heads="numbered",
            listed="Notes and references",
        ),
        fronts.rsc,
    ),
    "wiley": (named("wiley", "medical", cites="name-year", csl="apa", heads="bar", upper=True), fronts.wiley),
    "elsevier": (named("elsevier", "acm", cites="name-year", csl="elsevier-harvard", size=8.5), fronts.elsevier),
    "lww": (named("lww", "medical", csl="american-medical-association", heads="numbered"), fronts.wolters),
    "springer": (
        named("springer", "medical", cites="bracket", csl="springer-basic-brackets", heads="numbered"),
        fronts.springer,
    ),
    "nature": (named("nature", "preprint", cites="raised", csl="nature", heads="plain", size=10), fronts.nature),
    "mdpi": (BY_NAME["open"], mdpi),
    "frontiers": (named("frontiers", "medical", cites="name-year", csl="frontiers", upper=True), frontiers),
    "plos": (BY_NAME["plos"], plos),
    "hindawi": (named("hindawi", "acm", csl="ieee", size=9.5), fronts.hindawi),
    "ieee": (BY_NAME["ieee"], fronts.ieee),
    "revtex": (BY_NAME["physics"], fronts.revtex),
    "humanities": (
        named(
            "humanities",
            "preprint",
            cites="notes",
            csl="chicago-author-date",
            heads="plain",
            listed="Bibliography",
            size=10.5,
        ),
        humanities,
    ),
}


def make(path: Path, name: str, out: Path) -> str:
    """One article in one look; why not, where it is passed over."""
    article = Article(path)
    if not article.usable():
        return "passed over"
    layout, look = LOOKS[name]
    strings = references(article, layout.csl)
    if len(strings) != len(article.csl):
        return "references"
    front, cover = look(article)
    try:
        pdf = typst.compile(source(article, layout, strings, front=front, cover=cover).encode(), format="pdf")
    except typst.TypstError as error:
        return str(error)
    (out / f"{name}-{path.stem}.pdf").write_bytes(pdf)
    (out / f"{name}-{path.stem}.tei.xml").write_bytes(truth(article, layout, strings))
    return ""


def main() -> None:
    out = Path(sys.argv[1])
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else DEFAULT
    count = int(sys.argv[3]) if len(sys.argv) > 3 else len(LOOKS)
    out.mkdir(parents=True, exist_ok=True)
    paths = sorted([*folder.rglob("*.xml"), *folder.rglob("*.nxml")])
    paths = paths[:: max(1, len(paths) // (count * 3))]
    names, made = list(LOOKS), 0
    for path in paths:
        if made < count:
            problem = make(path, names[made % len(names)], out)
            made += not problem
            if problem not in ("", "passed over"):
                print(path.name, problem[:300])
    print(f"{made} articles in {out}")


if __name__ == "__main__":
    main()
