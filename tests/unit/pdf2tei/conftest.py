"""Fixtures: small papers that typst typesets, and the extractor's TEI of these papers."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import typst
from lxml import etree

from pdf2tei import extract
from tests.unit.pdf2tei.samples import PROSE

PAPER = """
#set page(paper: "a4", columns: COLUMNS, margin: 2cm, header: context if counter(page).get().first() > 1 [Ammar and Lo: Traits of beetles],
  footer: context align(center)[#counter(page).get().first()])
#set text(font: "Libertinus Serif", size: 10pt, lang: "en")
#set par(justify: true, first-line-indent: 1em)
#place(top, scope: "parent", float: true)[#align(center)[
  #text(size: 17pt, weight: "bold")[Traits of Beetles Follow the Litter They Live In]

  #text(size: 12pt)[Waleed Ammar#super(typographic: false)[1] and Kyle van der Lo#super(typographic: false)[2,\\*]]

  #text(size: 10pt)[#super(typographic: false)[1]University of Montreal, Canada  #super(typographic: false)[2]Institute of Beetles, Germany]
]]
#show heading: set block(above: 1.2em, below: 0.8em)
#heading(numbering: none)[Abstract]
We relate the traits of beetles to the traits of the litter. PROSE

*Keywords:* beetles, litter, functional traits

#set heading(numbering: "1.1")
= Introduction
PROSE Earlier work CITE1 agrees with us. PROSE

Others CITE2 do not, as @fig shows. PROSE

== Sampling
PROSE

$ y_i = alpha + beta x_i + epsilon_i $ <eq>

where the symbols have their usual meaning. PROSE

#figure(rect(width: 60%, height: 3cm)[axis label], caption: [The traits of beetles against those of the litter.]) <fig>

= Results
PROSE #footnote[The data are with the authors.] PROSE

#figure(table(columns: 3, [Site], [Beetles], [Litter], [North], [12], [0.4], [South], [31], [0.9]), caption: [Counts by site.])

PROSE PROSE

#heading(numbering: none)[Acknowledgements]
We thank the foresters.

#heading(numbering: none)[References]
#set par(first-line-indent: 0em)
#set text(hyphenate: false)
ENTRIES
"""

REFERENCES = [
    "Jian Wu, Kyle Williams, and C. Lee Giles. 2014. CiteSeerX: AI in a digital library search engine. In AAAI, pages 2930–2937.",
    "Luca Weihs and Oren Etzioni. 2017. Learning to predict citation-based impact measures. In Proceedings of JCDL, pages 1–10.",
    "Chenyan Xiong. 2017. Explicit semantic ranking for academic search. Information Retrieval, 12(3):4–19.",
]
STYLES = {
    "bracket": ("[1, 3]", "[2]", "[{}]"),
    "round": ("(1,3)", "(2)", "{}."),
    "raised": ("#super(typographic: false)[1,3]", "#super(typographic: false)[2]", "{}."),
    "name-year": ("(Wu et al., 2014; Xiong, 2017)", "(Weihs and Etzioni, 2017)", ""),
}
"""Two citations and the form of a label, by style."""


def write_paper(columns: int, style: str) -> str:
    """Return the paper above with one or two columns and a citation style."""
    *citations, label = STYLES[style]
    entries = [
        f'#grid(columns: (1.6em, 1fr), [#"{label.format(i)}"], [#"{r}"])'
        if label
        else f'#par(hanging-indent: 1em)[#"{r}"]'
        for i, r in enumerate(REFERENCES, 1)
    ]
    first, second = (text if text[0] == "#" else f'#"{text}"' for text in citations)
    values = {"COLUMNS": str(columns), "CITE1": first, "CITE2": second, "PROSE": PROSE, "ENTRIES": "\n\n".join(entries)}
    return re.sub("|".join(values), lambda match: values[match[0]], PAPER)


@pytest.fixture(scope="session")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int, str], Path]:
    """Return a function that compiles the paper in a layout once and returns its path."""
    folder = tmp_path_factory.mktemp("papers")

    @cache
    def compile_once(columns: int, style: str) -> Path:
        path = folder / f"{columns}-{style}.pdf"
        path.write_bytes(typst.compile(write_paper(columns, style).encode(), format="pdf"))
        return path

    return compile_once


@cache
def tei(path: Path) -> etree._Element:
    """Return the extractor's TEI of a PDF."""
    return etree.fromstring(extract(path, timeout=60) or b"")
