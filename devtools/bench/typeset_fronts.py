# ruff: noqa: E501 - sentences of cover pages as they are printed
"""Typeset first pages as publishers and repositories do, each with its truth: mastheads, boxes, bylines, cover pages.

    python -m devtools.bench.typeset_fronts OUT [FOLDER of JATS] [COUNT]      then: python -m devtools.bench.extract OUT

Bylines have every form. The articles are those in devtools/bench/typeset.py; only the part before the first section
differs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import typst

from devtools.bench.typeset import DEFAULT, LAYOUTS, Layout, TypesetArticle, quote, references, source, truth

BY_NAME = {layout.name: layout for layout in LAYOUTS}
ONE, TWO = replace(BY_NAME["preprint"], font="Libertinus Serif"), BY_NAME["medical"]
Look = Callable[[TypesetArticle], tuple[str, str]]
"""A front and a cover page (or none) in typst."""


def sup(text: str) -> str:
    return f"#super(typographic: false)[{text}]"


def bold(text: str, size: float) -> str:
    return f'#text(size: {size}pt, weight: "bold")[{quote(text)}]'


def small(text: str, size: float = 8) -> str:
    return f"#text(size: {size}pt)[{quote(text)}]"


def people(
    article: TypesetArticle, between: str = ", ", after: Callable[[int], str] = lambda i: "", last: str = ""
) -> str:
    """Return a byline; `after` returns the text after the i-th name."""
    given = [f"{quote(f'{g} {f}')}{after(i)}" for i, (g, f) in enumerate(article.authors)]
    if last and len(given) > 1:
        return quote(between).join(given[:-1]) + quote(last) + given[-1]
    return quote(between).join(given)


def addresses(article: TypesetArticle, size: float = 8, marks: str = "123456789") -> str:
    lines = [f"{sup(marks[i % 9])} {quote(a)}" for i, a in enumerate(article.affiliations[:9])]
    return f"#text(size: {size}pt)[{' #linebreak() '.join(lines)}]"


def citation(article: TypesetArticle, journal: str) -> str:
    names = ", ".join(f"{f} {''.join(w[0] for w in g.split())}" for g, f in article.authors[:6])
    return f"{names}. {article.title}. {journal} 2021;100:16(e25342)."


def tidy(*parts: str) -> str:
    return "\n\n".join(parts)


def wolters(a: TypesetArticle) -> tuple[str, str]:
    return tidy(
        f"#grid(columns: (1fr, auto), [{bold('Observational Study', 10)}], [#text(size: 34pt)[Medicine#super[®]]])",
        f"#align(right)[{small('OPEN', 9)}]",
        bold(a.title, 19),
        f"#text(size: 10.5pt)[{people(a, ', ', lambda i: quote(', MD') + sup('abc'[i % 3]))}]",
        f"#block(stroke: 0.5pt, inset: 6pt)[{bold('Abstract', 8)} #linebreak() #text(size: 9pt)[{quote(a.abstract)}]]",
        small("How to cite this article: " + citation(a, "Medicine"), 7),
        small("Received: 7 March 2021 / Accepted: 10 March 2021", 7),
    ), ""


def nature(a: TypesetArticle) -> tuple[str, str]:
    return tidy(
        small("www.nature.com/scientificreports", 9),
        f"#grid(columns: (60pt, 1fr), [{bold('OPEN', 20)}], [{bold(a.title, 24)}])",
        f"#text(size: 11pt)[{people(a, ', ', lambda i: sup('123'[i % 3]), ' & ')}]",
        f'#text(weight: "bold")[{quote(a.abstract)}]',
        addresses(a, 7),
    ), ""


def elsevier(a: TypesetArticle) -> tuple[str, str]:
    info = "#text(size: 8pt)[A R T I C L E #h(4pt) I N F O #linebreak() Article history: #linebreak() Received 1 March 2019]"
    abstract = f"#text(size: 8pt)[A B S T R A C T #linebreak() {quote(a.abstract)}]"
    return tidy(
        f"#align(center)[{small('Contents lists available at ScienceDirect')} #linebreak() #text(size: 15pt)[Journal of Applied Matters] "
        f"#linebreak() {small('journal homepage: www.elsevier.com/locate/jam')}]",
        f"#text(size: 13.5pt)[{quote(a.title)}]",
        f"#text(size: 11pt)[{people(a, ', ', lambda i: sup('abc'[i % 3]))}]",
        f"#emph[{addresses(a, 7, 'abcdefghi')}]",
        f"#grid(columns: (1fr, 2.2fr), gutter: 12pt, [{info}], [{abstract}])",
    ), ""


def wiley(a: TypesetArticle) -> tuple[str, str]:
    return tidy(
        small("Received: 18 August 2016 | Revised: 23 December 2016 | Accepted: 3 January 2017"),
        bold("ORIGINAL RESEARCH", 10),
        bold(a.title, 18),
        f"#text(size: 11pt)[{people(a, ' | ', lambda i: sup('12'[i % 2]))}]",
        addresses(a),
        f"{bold('Abstract', 11)} #linebreak() {quote(a.abstract)}",
    ), ""


def springer(a: TypesetArticle) -> tuple[str, str]:
    return tidy(
        small("Eur. J. Matters (2017) 7:299–305") + " #linebreak() " + small("DOI 10.1007/s13659-017-0132-z"),
        small("ORIGINAL ARTICLE", 9.5),
        bold(a.title, 16),
        f'#text(size: 10pt, weight: "bold")[{people(a, " · ")}]',
        small("Received: 3 April 2017 / Accepted: 2 May 2017 / Published online: 24 May 2017"),
        f'#text(weight: "bold")[Abstract] {quote(a.abstract)}',
    ), ""


def hindawi(a: TypesetArticle) -> tuple[str, str]:
    return tidy(
        small("Hindawi Publishing Corporation") + " #linebreak() " + small("Volume 2017, Article ID 4927214, 8 pages"),
        '#text(size: 17pt, style: "italic")[Research Article]',
        bold(a.title, 17),
        f'#text(size: 12pt, weight: "bold")[{people(a, ", ", lambda i: sup("12"[i % 2]), ", and ")}]',
        addresses(a, 9),
        small("Correspondence should be addressed to the first author; name@example.org", 9),
        small("Academic Editor: Carlos Henrique Gomes", 9),
        small("Copyright © 2017 the authors. This is an open access article distributed under a licence.", 9),
        f"#text(size: 9pt)[{quote(a.abstract)}]",
    ), ""


def rsc(a: TypesetArticle) -> tuple[str, str]:
    return tidy(
        f"#grid(columns: (1fr, auto), [#text(size: 16pt)[New Journal of Matters]], [{bold('PAPER', 12)}])",
        f"#text(size: 17pt)[{quote(a.title)}]",
        f"#text(size: 10pt)[{people(a, ', ', lambda i: sup('ab'[i % 2]), ' and ')}]",
        f'#text(size: 9pt, weight: "bold")[{quote(a.abstract)}]',
        small("DOI: 10.1039/c9nj01234a"),
    ), ""


def acs(a: TypesetArticle) -> tuple[str, str]:
    return tidy(
        f"#align(right)[{small('pubs.acs.org/matters')} #linebreak() {small('Article', 12)}]",
        bold(a.title, 17),
        f"#text(size: 10.5pt)[{people(a, ', ', lambda i: sup('†‡§'[i % 3]), ', and ')}]",
        f"#emph[{addresses(a, 8, '†‡§†‡§†‡§')}]",
        f'#text(weight: "bold")[ABSTRACT:] {quote(a.abstract)}',
    ), ""


def ieee(a: TypesetArticle) -> tuple[str, str]:
    where = a.affiliations[0] if a.affiliations else "University of Matters"
    cells = ", ".join(
        f'[#align(center)[#text(size: 11pt)[{quote(f"{g} {f}")}] #linebreak() #text(size: 9pt, style: "italic")[{quote(where[:40])}]]]'
        for g, f in a.authors
    )
    return tidy(
        f"#align(center)[#text(size: 24pt)[{quote(a.title)}]]",
        f"#grid(columns: (1fr, 1fr, 1fr), gutter: 10pt, {cells})",
        f'#text(weight: "bold", size: 9pt)[#emph[Abstract]—{quote(a.abstract)}]',
    ), ""


def revtex(a: TypesetArticle) -> tuple[str, str]:
    return (
        f"#align(center)[{tidy(bold(a.title, 12), people(a, ', ', lambda i: sup('12'[i % 2]), ', and '), '#emph[' + addresses(a, 9) + ']', small('(Dated: 24 May 2017)', 9))}]\n\n#pad(x: 3em)[#text(size: 9pt)[{quote(a.abstract)}]]",
        "",
    )


def vancouver(a: TypesetArticle) -> tuple[str, str]:
    names = ", ".join(
        f"{f} {''.join(w[0].upper() for w in g.replace('-', ' ').split() if w[0].isalpha())[:3]}" for g, f in a.authors
    )
    return tidy(
        small("Journal of Matters and Life Volume 7, Special Issue 3, 2014"),
        f"#align(center)[{bold(a.title, 15)} #linebreak() #linebreak() {quote(names)}]",
        addresses(a),
        f"{bold('Abstract', 10)} #linebreak() {quote(a.abstract)}",
    ), ""


def capitals(a: TypesetArticle) -> tuple[str, str]:
    return tidy(
        f"#align(center)[{bold(a.title.upper(), 14)}]",
        f"#align(center)[{quote(', '.join(f'{g} {f}'.upper() for g, f in a.authors))}]",
        f"#align(center)[{addresses(a)}]",
        f"{bold('SUMMARY', 10)} #linebreak() {quote(a.abstract)}",
    ), ""


def essay(a: TypesetArticle) -> tuple[str, str]:
    g, f = a.authors[0]
    return tidy(f"#text(size: 20pt)[{quote(a.title)}]", f'#text(size: 12pt, style: "italic")[{quote(f"{g} {f}")}]'), ""


def _plain(a: TypesetArticle) -> str:
    return tidy(
        f"#align(center)[{bold(a.title, 15)}]",
        f"#align(center)[{people(a, ', ', lambda i: sup('12'[i % 2]))}]",
        f"#align(center)[{addresses(a)}]",
        f"{bold('Abstract', 11)} #linebreak() {quote(a.abstract)}",
    )


def covered(cover: Callable[[TypesetArticle], list[str]]) -> Look:
    return lambda a: (_plain(a), tidy(*cover(a)) + "\n#pagebreak()\n")


def _listed(a: TypesetArticle) -> str:
    return "; ".join(f"{f}, {g}" for g, f in a.authors)


COVERS: dict[str, Callable[[TypesetArticle], list[str]]] = {
    "orca": lambda a: [
        "#text(size: 26pt)[ORCA – Online Research @ Cardiff]",
        small("This is an Open Access document downloaded from ORCA, Cardiff University's institutional repository: https://orca.cardiff.ac.uk/id/eprint/12345/", 10),
        small("This is the author's version of a work that was submitted to / accepted for publication.", 10),
        bold("Citation for final published version:", 10),
        small(f"{_listed(a)} 2019. {a.title}. Journal of Matters 12, pp. 1–20. 10.1016/j.jom.2019.01.001", 10),
        small("Publishers page: http://dx.doi.org/10.1016/j.jom.2019.01.001", 10),
        small("Please note: Changes made as a result of publishing processes such as copy-editing, formatting and page numbers may not be reflected in this version.", 10),
    ],
    "uva": lambda a: [
        bold("UvA-DARE (Digital Academic Repository)", 14),
        bold(a.title, 12),
        small(_listed(a), 10),
        small("DOI", 8) + " #linebreak() " + small("10.1016/j.jom.2019.01.001", 10),
        small("Publication date 2019", 10),
        small("Document Version Final published version", 10),
        small("Link to publication", 10),
        small("General rights It is not permitted to download or to forward/distribute the text or part of it without the consent of the author(s)", 8),
    ],
    "escholarship": lambda a: [
        "#text(size: 22pt)[UC San Diego]",
        "#text(size: 18pt)[UC San Diego Previously Published Works]",
        bold("Title", 10) + " #linebreak() " + small(a.title, 10),
        bold("Permalink", 10) + " #linebreak() " + small("https://escholarship.org/uc/item/1234567", 10),
        bold("Journal", 10) + " #linebreak() " + small("Journal of Matters, 12(3)", 10),
        bold("Authors", 10) + " #linebreak() " + " #linebreak() ".join(small(f"{f}, {g}", 10) for g, f in a.authors),
        bold("Publication Date", 10) + " #linebreak() " + small("2019-03-01", 10),
        small("Peer reviewed", 10),
        small("eScholarship.org Powered by the California Digital Library University of California", 8),
    ],
    "accepted": lambda a: [
        "#text(size: 26pt)[Accepted Manuscript]",
        small(a.title, 11),
        small(", ".join(f"{g} {f}" for g, f in a.authors), 11),
        small("PII: S0022-1234(19)30123-4", 10) + " #linebreak() " + small("DOI: https://doi.org/10.1016/j.jom.2019.01.001", 10),
        small("Reference: JOM 12345", 10) + " #linebreak() " + small("To appear in: Journal of Matters", 10),
        small("Received date: 1 January 2019", 10),
        small("This is a PDF file of an unedited manuscript that has been accepted for publication. As a service to our customers we are providing this early version of the manuscript.", 10),
    ],
    "covid": lambda a: [
        small("Since January 2020 Elsevier has created a COVID-19 resource centre with free information in English and Mandarin on the novel coronavirus COVID-19. The COVID-19 resource centre is hosted on Elsevier Connect, the company's public news and information website.", 16),
        small("Elsevier hereby grants permission to make all its COVID-19-related research that is available on the COVID-19 resource centre - including this research content - immediately available in PubMed Central and other publicly funded repositories.", 16),
    ],
    "researchgate": lambda a: [
        small("See discussions, stats, and author profiles for this publication at: https://www.researchgate.net/publication/301234567", 9),
        bold(a.title, 14),
        small("Article in Journal of Matters · March 2019", 10) + " #linebreak() " + small("DOI: 10.1016/j.jom.2019.01.001", 9),
        small("CITATIONS", 8) + " #linebreak() " + small("25", 12) + " #linebreak() " + small("READS", 8) + " #linebreak() " + small("1,234", 12),
        small(f"{len(a.authors)} authors, including:", 10),
        *[bold(f"{g} {f}", 10) + " #linebreak() " + small("University of Matters", 8) + " #linebreak() " + small("35 PUBLICATIONS 1,200 CITATIONS", 7) for g, f in a.authors[:3]],
        small("SEE PROFILE", 8),
        small("All content following this page was uploaded by the author on 1 April 2019.", 8),
    ],
    "hal": lambda a: [
        small("HAL Id: hal-01234567", 11) + " #linebreak() " + small("https://hal.science/hal-01234567", 11) + " #linebreak() " + small("Submitted on 24 Mar 2019", 11),
        small("HAL is a multi-disciplinary open access archive for the deposit and dissemination of scientific research documents, whether they are published or not.", 9),
        bold(a.title, 17),
        f"#text(size: 12pt)[{people(a)}]",
        bold("To cite this version:", 11),
        small(f"{', '.join(f'{g} {f}' for g, f in a.authors)}. {a.title}. Journal of Matters, 2019, 12 (3), pp.1-20. ⟨hal-01234567⟩", 10),
    ],
    "jstor": lambda a: [
        small(a.title, 14),
        small("Author(s): " + ", ".join(f"{g} {f}" for g, f in a.authors), 10),
        small("Source: Journal of Matters, Vol. 12, No. 3 (March 2019), pp. 1-20", 10),
        small("Published by: University of Matters Press", 10),
        small("Stable URL: https://www.jstor.org/stable/1234567", 10),
        small("JSTOR is a not-for-profit service that helps scholars, researchers, and students discover, use, and build upon a wide range of content in a trusted digital archive.", 9),
    ],
    "thesis": lambda a: [
        f"#align(center)[{small('UNIVERSITY OF MATTERS', 16)} #v(30pt) {bold(a.title, 18)} #v(30pt) {small('A thesis submitted in partial fulfilment of the requirements for the degree of Doctor of Philosophy', 11)} #v(20pt) {small('by', 11)} #v(10pt) {small(' '.join(a.authors[0]), 13)} #v(20pt) {small('May 2017', 11)}]",
    ],
}  # fmt: skip
LOOKS: dict[str, tuple[Layout, Look]] = {
    "wolters": (TWO, wolters), "nature": (ONE, nature), "elsevier": (TWO, elsevier), "wiley": (TWO, wiley), "springer": (TWO, springer),
    "hindawi": (TWO, hindawi), "rsc": (TWO, rsc), "acs": (TWO, acs), "ieee": (BY_NAME["ieee"], ieee), "revtex": (BY_NAME["physics"], revtex),
    "vancouver": (ONE, vancouver), "capitals": (ONE, capitals), "essay": (ONE, essay),
    **{name: (ONE, covered(cover)) for name, cover in COVERS.items() if name != "thesis"},
    "thesis": (ONE, lambda a: (f"{bold('Abstract', 16)} \n\n {quote(a.abstract)}", tidy(*COVERS["thesis"](a)) + "\n#pagebreak()\n")),
}  # fmt: skip


def make(path: Path, name: str, looks: Mapping[str, tuple[Layout, Look]], out: Path) -> str:
    """Typeset one article in one of the looks; return the reason if it is not typeset, otherwise an empty string."""
    article = TypesetArticle(path)
    if not article.usable():
        return "passed over"
    if name in ("essay", "thesis"):
        article.authors = article.authors[:1]
    if name == "essay":
        article.abstract = ""
    layout, look = looks[name]
    strings = references(article, layout.csl)
    if len(strings) != len(article.csl):
        return "references"
    front, cover = look(article)
    text = source(article, layout, strings, front=front, cover=cover)
    try:
        pdf = typst.compile(text.encode(), format="pdf")
    except typst.TypstError as error:
        return str(error)
    (out / f"{name}-{path.stem}.pdf").write_bytes(pdf)
    (out / f"{name}-{path.stem}.tei.xml").write_bytes(truth(article, layout, strings))
    return ""


def typeset(looks: Mapping[str, tuple[Layout, Look]], usual: int) -> None:
    """Typeset articles, alternating between the looks, as the command line requests.

    The default number of articles is `usual`.
    """
    out = Path(sys.argv[1])
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else DEFAULT
    count = int(sys.argv[3]) if len(sys.argv) > 3 else usual
    out.mkdir(parents=True, exist_ok=True)
    paths = sorted([*folder.rglob("*.xml"), *folder.rglob("*.nxml")])
    paths = paths[:: max(1, len(paths) // (count * 2))]
    names, made = list(looks), 0
    for path in paths:
        if made < count:
            problem = make(path, names[made % len(names)], looks, out)
            made += not problem
            if problem not in ("", "passed over"):
                print(path.name, problem[:300])
    print(f"{made} articles in {out}")


if __name__ == "__main__":
    typeset(LOOKS, 3 * len(LOOKS))
