# ruff: noqa: E501 - pages as they are set
"""Titles and names are read from front pages that LaTeX classes set in many ways."""

from pathlib import Path

import pytest

from tests.unit.pdf2tei.samples import PROSE, TITLE, list_raws, list_texts, read, write_prose

BODY = f"= Abstract\n{PROSE}\n\n= Introduction\n{PROSE} {PROSE}"


def mark(text: str) -> str:
    return f"#super(typographic: false)[{text}]"


BERKELEY = ", ".join(
    f"[#text(size: 12pt)[{name}] \\ UC Berkeley \\ #text(size: 8pt)[{name.split()[0].lower()}\\@berkeley.edu]]"
    for name in ("Kiet Lam", "Walid Krichene", "Alexandre Bayen")
)
BYLINES = {
    "second line of a marked affiliation": (
        f"Natalie Stanley{mark('1')}, Thomas Bonacci{mark('2')} \\ {mark('1')}Department of Computer Science, University of Salzburg \\ {mark('2')}Department of Pharmacology, The University of North Carolina at \\ Chapel Hill",
        ["Stanley", "Bonacci"],
    ),
    "repeated institution": (f"#grid(columns: (1fr, 1fr, 1fr), {BERKELEY})", ["Lam", "Krichene", "Bayen"]),
    "names in their own font": (
        "\n\n".join(
            f'#text(font: "DejaVu Sans Mono", size: 9pt)[{name}], {place}'
            for name, place in (("GANG ZHOU", "College of William and Mary"), ("CHENGDU HUANG", "Google"), ("TIAN HE", "University of Minnesota"))
        ),
        ["Zhou", "Huang", "He"],
    ),
    "city and country": ("Bruno Iochins Grisci \\ Instituto de Informatica \\ Porto Alegre, Brazil", ["Grisci"]),
    "raised letter in capitals": (f"#text(size: 9pt)[BENJAMIN M{mark('c')}KAY]", ["McKay"]),
    "surnames before initials with dots": (
        f"Lares M.{mark('1,2')}, Funes J. G.{mark('1,3')} & Gramajo L.{mark('1,2')}", ["Lares", "Funes", "Gramajo"],
    ),
    "supervisors left of the candidate": (
        "#grid(columns: (1fr, 1fr), [Relatori: \\ Prof. Roberto Grossi \\ Prof. Andrea Marino], [Candidato: \\ Gaspare Ferraro])",
        ["Ferraro"],
    ),
    "roles below the name": (
        "Mémoire réalisé par Danny Willems \\ Directeur: François Pottier \\ Co-directeur: Christophe Troestler", ["Willems"],
    ),
    "roles above the names": (
        "Autor \\ Agustin Francisco Settimo \n\n Directora \\ Cecilia Manzino \n\n Co-Director \\ Cristian Sottile", ["Settimo"],
    ),
    "role below a name": ("Wellington Vieira Martins \n\n Prof. Dr. Jacques Waldmann \\ Orientador", ["Martins"]),
    "label and conjunction of one letter": ("Autor: Przemysław Orzechowski i Szymon Kuś", ["Orzechowski", "Kuś"]),
    "initials like a degree": (f"M.D. Fowler{mark('1')}, L.R. Hawkins{mark('9')}, Ada Byron, M.D.", ["Fowler", "Hawkins", "Byron"]),
    "surnames before Cyrillic initials": ("Филатов А.В., Маркин В.О.", ["Филатов", "Маркин"]),
    "institution in Cyrillic": (
        "Зайцев Вадим, Новосибирский государственный университет \\ Калгин Константин, ИВМиМГ СО РАН, kalginkv\\@gmail.com",
        ["Вадим", "Константин"],
    ),
    "head in capitals below a date": ("Alberson da Silva Miranda \\ 06 de julho de 2022 \n\n MOTIVAÇÃO E PROBLEMA", ["Miranda"]),
    "no names above a numbered head": ("#linebreak() *1.1 Conservation Law*", []),
}  # fmt: skip


@pytest.mark.parametrize("form", BYLINES)
def test_authors_are_the_people_of_the_byline(form: str, tmp_path: Path) -> None:
    names, expected = BYLINES[form]
    front = f"#set text(size: 10pt)\n#align(center)[#text(size: 17pt)[{TITLE}]]\n\n#align(center)[{names}]"
    tei = read(f"{front}\n\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == expected


ABOVE = {
    "repeated name": ("Flávio Manuel Fernandes Cruz", "Faculdade de Engenharia da Universidade do Porto \\ Junho de 2010", "Cruz"),
    "word by": (
        "Thèse de DOCTORAT en MÉDECINE \\ DIPLÔME D’ÉTAT \\ Par \\ Sacha Schutz \\ Né le 18 Mai 1984",
        "#grid(columns: (1fr, 2fr), [Président], [Monsieur le Professeur Claude Ferec \\ Monsieur le Professeur Cédric Le Marechal])",
        "Schutz",
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", ABOVE)
def test_author_above_the_title_is_found(form: str, tmp_path: Path) -> None:
    above, below, expected = ABOVE[form]
    front = f"#align(center)[{above}]\n\n#align(center)[#text(size: 20pt)[Call Subsumption Mechanisms for \\ Tabled Logic Programs]]\n\n#align(center)[{below}]"
    tei = read(f"#set text(size: 10pt)\n{front}\n#pagebreak()\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == [expected]


LONG = "Geometric models reveal behavioral and neural signatures of beetles that transform the litter of forests"
TITLES = {
    "double spacing and line numbers": (
        f"#set par(leading: 1.6em)\n#set par.line(numbering: n => text(size: 5pt)[#n])\n#align(center)[#text(size: 17pt)[{LONG}]]",
        LONG,
    ),
    "first line apart": (
        f"#align(center)[#text(size: 17pt)[Replication of]]\n#v(12pt)\n#align(center)[#text(size: 17pt)[{LONG}]]",
        f"Replication of {LONG}",
    ),
    "two halves of capitalized words": (
        "#set par(leading: 1.2em)\n#align(center)[#text(size: 17pt)[Big Effects from Small Samples: \\ Album Releases and Traffic Fatalities]]",
        "Big Effects from Small Samples: Album Releases and Traffic Fatalities",
    ),
    "imprint of a class": (
        "#text(size: 8pt)[Draft version September 11, 2019 \\ Typeset using Latex style in AASTeX62]\n\n#align(center)[BEETLES ARE ACCELERATING TOWARDS THE LITTER]",
        "BEETLES ARE ACCELERATING TOWARDS THE LITTER",
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", TITLES)
def test_title_is_complete_without_imprint(form: str, tmp_path: Path) -> None:
    front, expected = TITLES[form]
    names = f"#align(center)[Andrew C. Heusser{mark('1,2')}, Jeremy R. Manning{mark('1')}]"
    tei = read(f"#set text(size: 10pt)\n{front}\n\n{names}\n\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == [expected]


SURNAMES = [
    "Anglada", "Arellano", "Azzalini", "Baranne", "Belsley", "Boisse", "Borgniet", "Bouchy", "Cavallini", "Ceppatelli", "Desort",
    "Dumusque", "Evers", "Faria", "Feng", "Fischer", "Galland", "Haywood", "Herrero", "Hunt", "Jones", "Lagrange", "Lovis",
    "Marquardt", "Mayor", "Meunier", "Pepe", "Queloz", "Santos", "Sousa", "Teunissen", "Udry", "Vidal", "Wright", "Zechmeister",
]  # fmt: skip


def test_list_continues_below_a_table_of_the_next_page(tmp_path: Path) -> None:
    entries = [
        f"#par(hanging-indent: 1.2em)[{name}, {chr(65 + i % 20)}., Bouchy, F., & Mayor, M. {1990 + i % 28}, Astronomy & Astrophysics, {400 + 7 * i}, A{i + 3}]"
        for i, name in enumerate(SURNAMES)
    ]
    cells = ", ".join(f"[HD{1900 + n}], [{1577 + n}], [0.888], [0.669 (0.64; 0.695)]" for n in range(6))
    table = f'#place(top, float: true, scope: "parent")[#figure(table(columns: 4, {cells}), caption: [The estimated velocities of the parameters.])]'
    body = "\n\n".join(" ".join(write_prose(n) for n in range(6)) for _ in range(10))
    front = f'#place(top, float: true, scope: "parent")[#align(center)[#text(size: 17pt)[{TITLE}]\n\nUmberto Simola, Jessica Cisewski]]'
    tei = read(
        f'#set page(paper: "a4", margin: 2cm, columns: 2)\n#set text(size: 10pt)\n{front}\n\n*Abstract* {PROSE}\n\n= Introduction\n{body}\n\n= References\n#set text(size: 8pt)\n'
        + "\n\n".join([*entries[:12], "#pagebreak()", table, *entries[12:]]),
        tmp_path,
    )
    assert [raw.split(",")[0] for raw in list_raws(tei)] == SURNAMES
