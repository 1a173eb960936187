"""Typeset complete papers in the looks of publishers, from front to reference list, each with its truth.

The looks differ in columns, heads, callouts, and the style and head of the reference list.

    python -m devtools.bench.typeset_publishers OUT [FOLDER of JATS] [COUNT]      then: python -m devtools.bench.extract
    OUT

The articles are those in `typeset.py`, the fronts mostly those in `typeset_fronts.py`. The truth of a thesis
with its table of contents is in tests/unit/pdf2tei/test_layouts.py.
"""

from __future__ import annotations

from dataclasses import replace

from devtools.bench import typeset_fronts as fronts
from devtools.bench.typeset import Layout, TypesetArticle, quote
from devtools.bench.typeset_fronts import BY_NAME, Look, addresses, bold, people, small, sup, tidy


def mdpi(a: TypesetArticle) -> tuple[str, str]:
    return tidy(
        '#text(size: 10pt, style: "italic")[Article]',
        bold(a.title, 18),
        f'#text(weight: "bold")[{people(a, ", ", lambda i: sup("12"[i % 2]), " and ")}]',
        addresses(a, 8),
        f'#text(weight: "bold")[Abstract:] {quote(a.abstract)}',
    ), ""


def frontiers(a: TypesetArticle) -> tuple[str, str]:
    return tidy(
        f"#align(right)[{small('ORIGINAL RESEARCH', 9)} #linebreak() {small('published: 24 May 2017', 7)} #linebreak() "
        f"{small('doi: 10.3389/fmats.2017.00123', 7)}]",
        bold(a.title, 20),
        f"#text(size: 11pt)[#emph[{people(a, ', ', lambda i: sup('12'[i % 2]), ' and ')}]]",
        f"#emph[{addresses(a, 8)}]",
        f'#text(weight: "bold")[{quote(a.abstract)}]',
    ), ""


def humanities(a: TypesetArticle) -> tuple[str, str]:
    return tidy(
        f"#align(center)[#text(size: 18pt)[{quote(a.title)}]]",
        f"#align(center)[#smallcaps[{people(a, ', ', last=' and ')}]]",
        f"#pad(x: 2em)[{bold('Abstract', 10)} #linebreak() #text(size: 9pt)[{quote(a.abstract)}]]",
    ), ""


def plos(a: TypesetArticle) -> tuple[str, str]:
    return tidy(
        small("RESEARCH ARTICLE", 9),
        bold(a.title, 20),
        f'#text(weight: "bold")[{people(a, ", ", lambda i: sup("12"[i % 2]))}]',
        addresses(a, 8),
        f"{bold('Abstract', 13)} #linebreak() {quote(a.abstract)}",
    ), ""


def named(name: str, like: str, **how: str | int | float | bool) -> Layout:
    """Return a layout like another layout, with some values replaced."""
    return replace(BY_NAME[like], name=name, **how)  # type: ignore[arg-type]  # fields of Look by name


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


if __name__ == "__main__":
    fronts.typeset(LOOKS, len(LOOKS))
