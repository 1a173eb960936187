"""Papers about software are read, as in the Journal of Statistical Software.

They have code between paragraphs and a centered abstract heading.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import typst
from lxml import etree

from pdf2tei import extract
from tests.unit.layout.conftest import PROSE

NS = {"t": "http://www.tei-c.org/ns/1.0"}
ENTRIES = [
    "Heywood G (2009). its: Irregular Time Series. R package version 1.1.8.",
    "Kleiber C, Zeileis A (2008). Applied Econometrics with R. Springer-Verlag, New York.",
    "Sarkar D (2008). lattice: Multivariate Data Visualization with R. Springer-Verlag, New York.",
    "Trapletti A, Hornik K (2017). tseries: Time Series Analysis. R package version 0.10-42.",
    "Zeileis A, Grothendieck G (2005). “zoo: S3 Infrastructure for Time Series.” Journal of Statistical Software, 14(6), 1–27.",
]
CODE = [
    "R> library(zoo)",
    "Loading required package forecast, attaching what follows",
    "R> zr1 <- as.zoo(window(series, start = first))",
    "R> summary(zr1)",
    "2004-02-02  1.2554339  0.6815732 -0.6329205",
    "2004-02-08 -0.2391494  2.0049854 -2.1273432",
    "2004-02-09 -2.1137718  1.1316925 -1.5000035",
    "2004-02-21 -2.2591579  1.5840415 -1.6459775",
    "Number of Fisher Scoring iterations: 5",
    "Coefficients with Estimate Std. Error z value",
    "R> plot(frequency, aggregate, median, coredata)",
]
LISTING = "\n\n".join(f'#code("{line}")' for line in CODE)
PAGE = """
#set page(paper: "a4", margin: 3cm, numbering: "1")
#set text(size: 11pt, lang: "en", font: "New Computer Modern")
#set par(justify: true, first-line-indent: 0em)
#let code(it) = text(font: "DejaVu Sans Mono", size: 9.5pt, style: "italic")[#it]
#align(center)[#text(size: 17pt, weight: "bold")[Indexed Totally Ordered Observations] #v(4mm)
  #text(weight: "bold", size: 12pt)[Achim Zeileis] #v(1mm) Universität Innsbruck #v(4mm) February 10, 2023]
GAP
#align(center)[#text(size: 10pt, weight: "bold")[Abstract]]
#block(inset: (x: 1cm))[#set text(size: 10pt); #h(1em)ABSTRACT]

#text(weight: "bold")[Keywords:] irregular time series, totally ordered observations.

#align(center)[#text(size: 14pt, weight: "bold")[1\\. Introduction]]
PROSE

LISTING

PROSE

#align(center)[#text(size: 14pt, weight: "bold")[2\\. Methods]]
PROSE

LISTING

PROSE

#text(size: 14pt, weight: "bold")[References]

ENTRIES
"""


def read(folder: Path, abstract: str, gap: str = "") -> etree._Element:
    """Return the TEI of the paper with this abstract and this space before its heading."""
    listed = "\n\n".join(f'#par(hanging-indent: 1.2em)[#"{e}"]' for e in ENTRIES)
    source = PAGE.replace("ABSTRACT", abstract).replace("GAP", gap)
    for name, text in (("PROSE", f"{PROSE} {PROSE}"), ("LISTING", LISTING), ("ENTRIES", listed)):
        source = source.replace(name, text)
    pdf = folder / "a.pdf"
    pdf.write_bytes(typst.compile(source.encode(), format="pdf"))
    return etree.fromstring(extract(pdf, timeout=60) or b"<TEI/>")


def list_texts(tei: etree._Element, path: str) -> list[str]:
    return [" ".join("".join(e.itertext()).split()) for e in tei.findall(path, NS)]


def test_code_and_its_output_are_body_text(tmp_path: Path) -> None:
    tei = read(tmp_path, PROSE)
    assert list_texts(tei, ".//t:body/t:div/t:head") == ["Introduction", "Methods"]
    raws = list_texts(tei, ".//t:listBibl//t:note[@type='raw_reference']")
    assert [raw[:12] for raw in raws] == [entry[:12] for entry in ENTRIES]
    assert " ".join(list_texts(tei, ".//t:body/t:div/t:p")).count("Loading required package") == 2


@pytest.mark.parametrize(
    ("abstract", "gap"),
    [
        (f"{PROSE} These are classes in R.", ""),
        (f"{PROSE} {PROSE} We say how it continues where pages end, in lower case as here it is and does.", "#v(11.9cm)"),
        (f"This is a preprint of an article to be published in the Journal. Copyright #linebreak() © 2009 Its Publisher. {PROSE}", ""),
    ],
    ids=["a short last line", "over the page's end", "a line of imprint within"],
)  # fmt: skip
def test_abstract_is_complete(abstract: str, gap: str, tmp_path: Path) -> None:
    tei = read(tmp_path, abstract, gap)
    assert " ".join(list_texts(tei, ".//t:profileDesc/t:abstract")) == abstract.replace(" #linebreak()", "")
    assert list_texts(tei, ".//t:body/t:div/t:head") == ["Introduction", "Methods"]
