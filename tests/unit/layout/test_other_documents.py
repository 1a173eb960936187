# ruff: noqa: E501 - pages as they are set
"""The extractor reads documents that do not look like journal papers.

They are slides, theses with a table of contents, essays with footnotes, pages printed twice and pages with narrow gutters."""

from __future__ import annotations

from pathlib import Path

import pytest
import typst
from lxml import etree

from pdf2tei import extract
from tests.unit.layout.conftest import PROSE

NS = {"t": "http://www.tei-c.org/ns/1.0"}
TITLE = "Traits of Beetles Follow the Litter They Live In"
ENTRIES = [
    "J. Wu, K. Williams and C. L. Giles, AI Magazine, 2014, 35, 35–48.",
    "M. van der Sluis and K. Berg, Litter of the north, Ecology, 2015, 12, 1–20.",
    "P. Ammar, Traits of predators that hunt in litter, J. Anim. Ecol., 2011, 80, 601–610.",
    "H. G. Horhat and A. Jianu, Beetles and their reference. Oecologia, 2009, 7, 299–305.",
    "S. Walter, The summer in three forests of the south, For. Ecol. Manage., 2016, 3, 44–51.",
    "T. Nakamura, Y. Ito and F. Sato, Arthropods in leaf litter, Ecol. Res., 2012, 27, 9–18.",
    "D. Gareth Evans, Measuring what can be measured, Methods Ecol. Evol., 2013, 4, 12–25.",
    "R. Lopes Martins, Diversity of ground beetles along a gradient, Biodivers. Conserv., 2010, 19, 77–90.",
    "E. Cohen and G. Levi, Predators and their prey in winter, J. Ecol., 2006, 94, 501–512.",
    "A. Novak, Leaves that fall twice, Plant Soil, 2001, 230, 5–17.",
    "B. Hansen and C. Holm, Depth and moisture of litter, Soil Biol. Biochem., 2008, 40, 1201–1210.",
    "F. Rossi, Traps that do no harm, Insect Conserv., 2018, 22, 33–41.",
]
LABELLED = "\n\n".join(f'#grid(columns: (1.8em, 1fr), [{i}.], [#"{e}"])' for i, e in enumerate(ENTRIES, 1))
HANGING = "\n\n".join(f'#par(hanging-indent: 1.2em)[#"{e}"]' for e in ENTRIES)
LAST = "The last sentence of the text stands here."


def read(source: str, folder: Path) -> etree._Element:
    pdf = folder / "a.pdf"
    pdf.write_bytes(typst.compile(source.encode(), format="pdf"))
    return etree.fromstring(extract(pdf, timeout=60) or b"<TEI/>")


def list_texts(tei: etree._Element, path: str) -> list[str]:
    return [" ".join("".join(e.itertext()).split()) for e in tei.findall(path, NS)]


def heads(tei: etree._Element) -> list[str]:
    return list_texts(tei, ".//t:body/t:div/t:head")


def body(tei: etree._Element) -> str:
    return " ".join(list_texts(tei, ".//t:body/t:div/t:p"))


def entries(tei: etree._Element) -> int:
    return len(tei.findall(".//t:listBibl/t:biblStruct", NS))


def bold(size: int, text: str) -> str:
    return f'#text(size: {size}pt, weight: "bold")[{text}]'


POINTS = {
    "Introduction": ["Litter-dwelling predators follow their prey", "Prey follow the litter", "Nobody measured both"],
    "Methods": ["Three forests, two summers", "Pitfall traps, every second week"],
    "Results": ["The relation differed between sites", "Its direction never did"],
    "Discussion": ["Traits help to foresee what lives where", "More sites are needed"],
}


def test_slides_are_extracted(tmp_path: Path) -> None:
    shown = [bold(30, head) + "\n\n" + "\n".join(f"- {point}" for point in points) for head, points in POINTS.items()]
    source = f"""
#set page(width: 25.4cm, height: 14.3cm, margin: 1.5cm, footer: context align(right)[#text(size: 10pt)[#counter(page).get().first()]])
#set text(size: 20pt, font: "DejaVu Sans Mono")
#align(center + horizon)[{bold(34, TITLE)}

#text(size: 18pt)[Waleed Ammar and Maria van der Lo]

#text(size: 14pt)[University of Montreal]]
#pagebreak()
{(chr(10) + "#pagebreak()" + chr(10)).join(shown)}
#pagebreak()
{bold(30, "References")}

#set text(size: 13pt)
{LABELLED}
"""
    tei = read(source, tmp_path)
    assert tei.findtext(".//t:titleStmt/t:title", namespaces=NS) == TITLE
    assert list_texts(tei, ".//t:sourceDesc//t:author//t:surname") == ["Ammar", "van der Lo"]
    assert heads(tei) == list(POINTS)
    assert all(point in body(tei) for points in POINTS.values() for point in points)
    assert entries(tei) == len(ENTRIES)


LEADERS = "#box(width: 1fr, repeat[.])"


@pytest.mark.parametrize("between", [LEADERS, "#h(1fr)"], ids=["leaders", "space"])
def test_thesis_is_extracted(between: str, tmp_path: Path) -> None:
    """Chapter titles below their numbers are headings. The table of contents is no text."""
    listed = [("1", "Introduction", 1), ("1.1", "Aims", 2), ("2", "Methods", 3), ("3", "Results", 4), ("", "Bibliography", 5)]  # fmt: skip
    contents = "\n\n".join(f"{number} #h(4pt) {title} {between} {page}" for number, title, page in listed)
    chapters = "#pagebreak()\n".join(
        f"{bold(20, f'Chapter {i}')}\n\n{bold(24, head)}\n\n{PROSE} {PROSE}\n\n"
        + (f"{bold(14, '1.1 #h(6pt) Aims')}\n\n" if i == 1 else "")
        + f"{PROSE} {PROSE} {LAST if i == 3 else ''}\n"
        for i, head in enumerate(("Introduction", "Methods", "Results"), 1)
    )
    source = f"""
#set page(paper: "a4", margin: 3cm, numbering: "1", header: context if counter(page).get().first() > 2 [#emph[Traits of beetles] #h(1fr) W. Ammar])
#set text(size: 12pt, lang: "en")
#set par(justify: true, leading: 0.9em)
#align(center)[UNIVERSITY OF MONTREAL #v(3cm) {bold(24, TITLE)} #v(2cm) by #v(5mm) #text(size: 14pt)[Waleed Ammar] #v(2cm)
  A thesis submitted in partial fulfilment of the requirements for the degree of Doctor of Philosophy #v(2cm) May 2017]
#pagebreak()
{bold(20, "Abstract")}

We relate the traits of beetles to those of the litter. {PROSE}
#pagebreak()
{bold(20, "Contents")}

{contents}
#pagebreak()
{chapters}
#pagebreak()
{bold(24, "Bibliography")}

{HANGING}
"""
    tei = read(source, tmp_path)
    assert tei.findtext(".//t:titleStmt/t:title", namespaces=NS) == TITLE
    assert list_texts(tei, ".//t:sourceDesc//t:author//t:surname") == ["Ammar"]
    assert heads(tei) == ["Introduction", "Aims", "Methods", "Results"]
    assert "Contents" not in body(tei)
    assert "...." not in body(tei)
    assert body(tei).count(LAST) == 1
    assert entries(tei) == len(ENTRIES)


PLACES = ["Naples", "Ulm", "Ghent", "Delft", "Rome", "Turin", "Bruges", "Lyon"]
NOTES = [
    f"Jane Harris, The Beetles of {place} (Oxford: Oxford University Press, 19{60 + i}), {i + 3}–{i + 9}."
    for i, place in enumerate(PLACES)
]


@pytest.mark.parametrize("listed", ["", f"#v(1em)\n{bold(12, 'Bibliography')}\n\n{HANGING}"], ids=["no list", "a list"])
def test_essay_with_citations_in_footnotes_is_extracted(listed: str, tmp_path: Path) -> None:
    """It has no abstract and no affiliation. Its footnotes look like references, but are no text and no entries."""
    text = "\n\n".join(
        f"{PROSE} So it was in the old books.#footnote[{note}] {PROSE} {PROSE}" for note in (*NOTES, *NOTES)
    )
    source = f"""
#set page(paper: "a5", margin: 2cm, numbering: "1", header: context if counter(page).get().first() > 1 [#align(center)[#text(size: 8pt)[The Beetles of the Old Books]]])
#set text(size: 11pt, lang: "en")
#set par(justify: true, first-line-indent: 1em)
#align(center)[#text(size: 16pt)[The Beetles of the Old Books: a History]

#text(size: 11pt)[#smallcaps[Waleed Ammar]]]
#v(1cm)
{text} {LAST}

{listed}
"""
    tei = read(source, tmp_path)
    assert list_texts(tei, ".//t:abstract//t:p") == []
    assert list_texts(tei, ".//t:affiliation") == []
    assert body(tei).count("So it was in the old books.") == 2 * len(NOTES)
    assert "University Press" not in body(tei)
    assert len(tei.findall(".//t:note[@place='foot']", NS)) == 2 * len(NOTES)
    assert entries(tei) == (len(ENTRIES) if listed else 0)


PAGES = [
    f"{bold(17, TITLE)}\n\n#text(size: 11pt)[Waleed Ammar and Maria van der Lo]\n\n{bold(12, 'Abstract')}\n\n"
    f"We relate the traits of beetles to those of the litter. {PROSE}\n\n{bold(12, 'Introduction')}\n\n"
    f"{PROSE} {PROSE}\n\n{bold(12, 'Methods')}\n\n{PROSE} {PROSE}",
    f"{bold(12, 'Results')}\n\n{PROSE} {PROSE} {LAST}\n\n{bold(12, 'References')}\n\n{LABELLED}",
]


@pytest.mark.parametrize("columns", [1, 2])
def test_text_printed_twice_is_read_once(columns: int, tmp_path: Path) -> None:
    """A line in the hidden text layer and in the visible text counts once."""
    sheets = "\n".join(f"#sheet[{page}]" for page in PAGES)
    source = f"""
#set page(paper: "a4", margin: 2cm)
#set text(size: 10pt, lang: "en")
#set par(justify: true)
#let sheet(it) = page[#place(top + left, text(fill: rgb(0, 0, 0, 1), columns({columns}, it))) #columns({columns}, it)]
{sheets}
"""
    tei = read(source, tmp_path)
    assert heads(tei) == ["Introduction", "Methods", "Results"]
    assert body(tei).count("Litter-dwelling") == 6
    assert body(tei).count(LAST) == 1
    assert entries(tei) == len(ENTRIES)


@pytest.mark.parametrize("count", [4, 6, len(ENTRIES)])
@pytest.mark.parametrize("look", ["labels", "indents"])
def test_narrow_column_gaps_are_found(look: str, count: int, tmp_path: Path) -> None:
    """The second column may contain only a few lines of the list."""
    listed = "\n\n".join((LABELLED if look == "labels" else HANGING).split("\n\n")[:count])
    source = f"""
#set columns(gutter: 8pt)
#set page(paper: "a4", margin: 2cm, columns: 2)
#set text(size: 10pt, lang: "en")
#set par(justify: true)
#place(top, scope: "parent", float: true)[{bold(17, TITLE)}]
{bold(12, "Introduction")}

{PROSE} {PROSE} {PROSE} {PROSE}

{bold(12, "Results")}

{PROSE} {PROSE} {PROSE} {PROSE} {LAST}

{bold(12, "References")}

{listed}
"""
    tei = read(source, tmp_path)
    assert heads(tei) == ["Introduction", "Results"]
    assert body(tei).count("Litter-dwelling predators") == 8
    assert body(tei).count(LAST) == 1
    assert entries(tei) == count
