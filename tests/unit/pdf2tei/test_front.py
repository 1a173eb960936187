# ruff: noqa: E501 - pages as they are set
"""Front matter is read in layouts that differ from publishers' usual looks (test_layouts.py has those)."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from s2orc_parse.tei.header import read_header
from tests.unit.pdf2tei.samples import PROSE, TITLE, list_texts, read

NAMES = ["Waleed Ammar", "Maria van der Lo", "Ana Luzia Ferreira"]
LISTED = ", ".join(NAMES)
BODY = "\n\n".join(
    [
        "= Introduction", f"{PROSE} {PROSE} {PROSE}", f"{PROSE} {PROSE}", "= Methods", f"{PROSE} {PROSE} {PROSE}",
        "= Results", f"{PROSE} {PROSE} {PROSE} {PROSE}", "= References",
        "Wu, J. (2014). CiteSeerX: AI in a digital library. AI Magazine 3, 4-19.",
        "Berg, K. (2015). Litter of the north. Ecology 12, 1-20.",
    ]
)  # fmt: skip
RELATE = f"We relate the traits of beetles to the traits of the litter. {PROSE}"
ABSTRACT = f"*Abstract* #linebreak() {RELATE}"
HELD = f'#text(size: 16pt, weight: "bold")[{TITLE}]\n\n{LISTED}'
BIG_TITLE = f'#text(size: 17pt, weight: "bold")[{TITLE}]'
FRONTS = {
    "affiliations after the names": [
        f'#align(center)[#text(size: 14pt, weight: "bold")[{TITLE.upper()}]]',
        f"#align(center)[#text(size: 12pt)[#emph[{NAMES[0]}, Academy of Lagado, Lagado, Balnibarbi #linebreak() {NAMES[1]}, Interdependence University, Boston, MA #linebreak() {NAMES[2]}, Lagado University, Balnibarbi]]]",
        ABSTRACT,
    ],
    "a journal of the ACM": [
        f'#text(size: 15pt, weight: "bold")[{TITLE}]',
        "WALEED AMMAR#super(typographic: false)[∗] and MARIA VAN DER LO, The Litter Group, Iceland #linebreak() ANA LUZIA FERREIRA, Instituto dos Besouros, Brazil",
        f"#text(size: 9pt)[{RELATE}]",
        "#text(size: 9pt)[CCS Concepts: • *Applied computing* → *Ecology*; Beetles.]",
        "#text(size: 9pt)[Additional Key Words and Phrases: litter, traits]",
    ],
    "a conference of the ACM": [
        '#align(center)[#text(size: 17pt, weight: "bold")[Traits of Beetles Follow #linebreak() the Litter They Live In]]',
        '#grid(columns: (1fr, 1fr, 1fr), ..("Waleed Ammar∗", "Maria van der Lo", "Ana Luzia Ferreira").map(n => align(center)[#text(size: 12pt)[#n] #linebreak() The Litter Group #linebreak() Hekla, Iceland]))',
        ABSTRACT,
    ],
    "names beside the abstract": [
        BIG_TITLE,
        "#text(size: 8pt)[This article was published in the following journal: #linebreak() Journal of Long Walks]",
        f"#grid(columns: (4.5cm, 1fr), column-gutter: 1cm, text(size: 11pt)[{NAMES[0]} #linebreak() {NAMES[1]} #linebreak() {NAMES[2]} #v(4pt) #text(size: 8pt)[Department of Computing, University of Montreal, Canada]], text(size: 9pt)[*Abstract:* {RELATE}])",
    ],
    "a kind of article above the title": [
        '#text(size: 17pt, weight: "bold")[Short Communication]',
        BIG_TITLE, LISTED,
        f"{ABSTRACT} #linebreak() Abbreviations: ACR = American College of Radiology, CMS = Centers for Medicare, ELCAP = Early Lung and Cardiac Action Program, LDCT = low-dose computed tomography, NLST = National Lung Screening Trial.",
    ],
    "dates beside the title": [
        f'#grid(columns: (3.2cm, 1fr), column-gutter: 2pt, text(size: 8pt)[#v(7pt) Received: 07 December 2016 #v(12pt) Accepted: 21 February 2017], text(size: 26pt, weight: "bold")[{TITLE}])',
        LISTED,
        f'#text(size: 9pt, weight: "bold")[{RELATE}]',
    ],
    "a citation beside the abstract": [
        BIG_TITLE, LISTED,
        f"#grid(columns: (3.6cm, 1fr), column-gutter: 1cm, text(size: 7pt)[*To cite:* Babbage C, Byron A. {TITLE}. _Open Walks_ 2017;7:e014. doi:10.1136/walks-2016-014], text(size: 9pt)[{ABSTRACT}])",
    ],
    "abstracts in two languages": [
        BIG_TITLE, LISTED,
        "*Resumo* #linebreak() Este estudo compara os traços dos besouros com os da serapilheira e descreve como eles andam durante a noite na floresta.",
        ABSTRACT,
    ],
}  # fmt: skip


def read_front(front: str, folder: Path) -> etree._Element:
    """Return the TEI of a paper with a front."""
    return read(
        f'#set page(paper: "a4", numbering: "1")\n#set text(size: 10pt)\n#set par(justify: true)\n{front}\n\n{BODY}',
        folder,
    )


def list_authors(tei: etree._Element) -> list[str]:
    people = tei.iterfind(".//{*}sourceDesc/{*}biblStruct/{*}analytic/{*}author")
    return [" ".join(x.text or "" for x in a.iter("{*}forename", "{*}surname")) for a in people]


@pytest.mark.parametrize("name", FRONTS)
def test_front_matter_of_many_layouts_is_read(name: str, tmp_path: Path) -> None:
    tei = read_front("\n\n".join(FRONTS[name]), tmp_path)
    assert [text.casefold() for text in list_texts(tei, ".//t:titleStmt/t:title")] == [TITLE.casefold()]
    assert [p.casefold() for p in list_authors(tei)] == [n.casefold() for n in NAMES]
    abstract = " ".join(list_texts(tei, ".//t:profileDesc/t:abstract"))
    assert "We relate the traits" in abstract and "Radiology" not in abstract


FOUND = " ".join(
    f"We marked {count} beetles of the {which} family in the litter of the park and followed them for some days with radio tags."
    for count, which in enumerate(("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"), 120)
)
CENTERED = (
    f"#align(center)[{HELD}]\n\n#align(center)[*Abstract*]\n#block(inset: (x: 1cm))[#set text(size: 9pt); #h(1em)"
)
IMPRINT = (
    "This is a preprint of an article to be published in the Journal. Copyright #linebreak() © 2009 Its Publisher."
)
BROKEN = {
    "under a centered head, over the page": f"#v(15cm)\n{CENTERED}{FOUND}]",
    "under a centered head, with a line of imprint": f"{CENTERED}{IMPRINT} {FOUND}]",
    "over the page, bold, without a head": f"#align(center)[{HELD}]\n#v(19.5cm)\n*{FOUND}*",
    "over the page, in smaller type": f"#align(center)[{HELD}]\n#v(19.5cm)\n#text(size: 8.5pt)[*Abstract*\\ {FOUND}]",
    "over both columns": f"""#set page(columns: 2)
#place(top + center, scope: "parent", float: true)[{HELD} #columns(2)[#text(size: 9pt)[*Abstract.* {FOUND}]]]""",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_abstract_is_complete(name: str, tmp_path: Path) -> None:
    tei = read(f'#set page(paper: "a4", numbering: "1")\n#set text(size: 10pt)\n{BROKEN[name]}\n{BODY}', tmp_path)
    found = " ".join(list_texts(tei, ".//t:abstract/t:p"))
    assert FOUND in found
    assert found.replace(FOUND, "").strip() in ("", IMPRINT.replace(" #linebreak()", ""))


def test_introduction_in_next_column_ends_abstract(tmp_path: Path) -> None:
    front = f"""#set page(paper: "a4", columns: 2)
#set text(size: 10pt)
#place(top + center, scope: "parent", float: true)[{HELD}]
#v(9cm)
*Abstract*\\ {FOUND} {FOUND}"""
    [abstract] = list_texts(read(f"{front}\n\n{BODY}", tmp_path), ".//t:abstract")
    assert abstract.startswith(FOUND[:200]) and PROSE[:60] not in abstract


def test_title_continues_with_lines_like_names(tmp_path: Path) -> None:
    title = "Why Traits of Beetles Follow the Litter They Live In: Protective Habits and Novel Trails"
    front = f"""#align(center)[#text(size: 10pt, weight: "bold")[{title.replace(": ", ": #linebreak() ")}]]

#align(center)[#text(size: 9pt)[{LISTED}]]

{ABSTRACT}"""
    assert list_texts(read_front(front, tmp_path), ".//t:titleStmt/t:title[@type='main']") == [title]


def test_article_kind_is_the_title_if_names_follow(tmp_path: Path) -> None:
    front = '#align(center)[#text(size: 16pt, weight: "bold")[Editorial]]\n\n#align(center)[Ana Luzia Ferreira]\n'
    tei = read_front(front, tmp_path)
    assert (list_texts(tei, ".//t:titleStmt/t:title"), list_authors(tei)) == (["Editorial"], ["Ana Luzia Ferreira"])


def test_affiliations_belong_to_authors_with_their_marks(tmp_path: Path) -> None:
    names = "Waleed Ammar#super(typographic: false)[1,2], Maria van der Lo#super(typographic: false)[2,\\*]"
    places = ["Department of Beetles, University of Montreal, Canada", "Institute of Litter, Berlin, Germany"]
    marked = " #linebreak() ".join(f"#super(typographic: false)[{n}]{place}" for n, place in enumerate(places, 1))
    front = f"#align(center)[{BIG_TITLE}]\n\n#align(center)[{names}]\n\n#text(size: 8pt)[{marked}]"
    assert read_affiliations(front, tmp_path) == {"Ammar": places, "Lo": places[1:]}


def test_one_affiliation_belongs_to_all_authors(tmp_path: Path) -> None:
    place = "University of Montreal, Montreal, Canada"
    front = f"#align(center)[{BIG_TITLE}]\n\n#align(center)[Waleed Ammar, Maria van der Lo]\n\n#align(center)[#emph[{place}]]"
    assert read_affiliations(front, tmp_path) == {"Ammar": [place], "Lo": [place]}


def read_affiliations(front: str, folder: Path) -> dict[str, list[str]]:
    header = read_header(read_front(f"{front}\n\n{ABSTRACT}", folder).find("{*}teiHeader"))
    return {a.last.split()[-1]: [place.name for place in a.affiliations] for a in header.authors}
