# ruff: noqa: E501 - pages as they are set
"""Titles are read from front pages that LaTeX classes set in many ways."""

from pathlib import Path

import pytest

from tests.unit.pdf2tei.samples import BODY, PROSE, list_texts, mark, read, write_prose

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
    "type and capitals of names": (
        "#align(center)[#text(size: 17pt)[*ВАРИАНТЫ СКРЫТОЙ ЗАДАЧИ \\ ДИСКРЕТНОГО ЛОГАРИФМИРОВАНИЯ ДЛЯ \\ РАЗРАБОТКИ ПОСТКВАНТОВЫХ \\ ПРОТОКОЛОВ ЦИФРОВОЙ ПОДПИСИ*]]",
        "ВАРИАНТЫ СКРЫТОЙ ЗАДАЧИ ДИСКРЕТНОГО ЛОГАРИФМИРОВАНИЯ ДЛЯ РАЗРАБОТКИ ПОСТКВАНТОВЫХ ПРОТОКОЛОВ ЦИФРОВОЙ ПОДПИСИ",
    ),
    "imprint of a class": (
        "#text(size: 8pt)[Draft version September 11, 2019 \\ Typeset using Latex style in AASTeX62]\n\n#align(center)[BEETLES ARE ACCELERATING TOWARDS THE LITTER]",
        "BEETLES ARE ACCELERATING TOWARDS THE LITTER",
    ),
    "number in a series above a smaller title": (
        "#align(center)[#text(size: 17pt)[*Working Paper Nr. 63 | 2007*] #v(20pt) #text(size: 14pt)[*Haushaltseinkommen und "
        "Einkommenselastizität \\ der Erwerbsbeteiligung von Müttern*]]",
        "Haushaltseinkommen und Einkommenselastizität der Erwerbsbeteiligung von Müttern",
    ),
    "soft hyphens in the title's font only": (
        '#set par(justify: true)\n#block(width: 12cm)[#text(size: 17pt, weight: "bold")[Multidimensional representations of '
        "counterfactual internationalization and institutionalization]]",
        "Multidimensional representations of counterfactual internationalization and institutionalization",
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", TITLES)
def test_title_is_complete_without_imprint(form: str, tmp_path: Path) -> None:
    front, expected = TITLES[form]
    names = f"#align(center)[Andrew C. Heusser{mark('1,2')}, Jeremy R. Manning{mark('1')}]"
    tei = read(f"#set text(size: 10pt)\n{front}\n\n{names}\n\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == [expected]


def test_title_in_larger_type_is_no_running_head(tmp_path: Path) -> None:
    front = "#place(top + center, dy: -24pt)[#text(size: 14pt)[*Measuring thermodynamic length*]]\n#align(center)[Gavin E. Crooks]"
    head = "#set page(header: context { if here().page() > 1 { align(center)[Measuring thermodynamic length] } })"
    body = "\n\n".join(write_prose(n) for n in range(16))
    tei = read(f"#set text(size: 10pt)\n{head}\n{front}\n\n= Abstract\n{PROSE}\n\n= Introduction\n{body}", tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == ["Measuring thermodynamic length"]


def test_larger_lines_above_a_subtitle_are_the_title(tmp_path: Path) -> None:
    front = (
        "#align(center)[#text(size: 21.5pt)[*Restaurant and foodservice \\ research*] #v(4pt) #text(size: 15.5pt)[*A critical reflection behind and an \\ optimistic look ahead*]\n\n"
        "#text(size: 12.5pt)[Robin DiPietro] \\ _Department of Hotel, Restaurant and Tourism Management, \\ University of South Carolina, Columbia, South Carolina, USA_]"
    )
    tei = read(f"#set page(width: 440pt)\n#set text(size: 9pt)\n{front}\n\n*Abstract*\n\n{PROSE}\n\n{BODY}", tmp_path)
    assert (
        " ".join(list_texts(tei, ".//t:titleStmt/t:title"))
        == "Restaurant and foodservice research A critical reflection behind and an optimistic look ahead"
    )


@pytest.mark.parametrize(
    "notice", ["Blue Sky Ideas Track", "Presentation of work originally published in the Proc. of ICLR 2019"]
)
def test_notice_under_a_title_is_no_subtitle(notice: str, tmp_path: Path) -> None:
    title = "#text(size: 17pt)[*Beyond Mimicry: Toward Lifelong Adaptability \\ in Imitation Learning*]"
    front = f"#align(center)[{title} \\ #text(size: 14pt)[*{notice}*]\n\n#text(size: 11pt)[Nathan Gavenski] \\ King's College London]"
    tei = read(f"#set text(size: 9pt)\n{front}\n\n*Abstract*\n\n{PROSE}\n\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == [
        "Beyond Mimicry: Toward Lifelong Adaptability in Imitation Learning"
    ]


def test_front_that_is_printed_several_times_is_read_once(tmp_path: Path) -> None:
    title = "Identification of Citrus Huanglongbing Disease at the Pre-Symptomatic Stage \\ Using Polarized Imaging Technique"
    head = "5th IFAC Conference on Sensing, Control and Automation for Agriculture"
    names = "Alireza Pourreza\\* #h(15pt) Won Suk Lee\\*\\*"
    copies = [
        f"#place(dy: {40 + dy}pt, text(size: 14pt)[*{title}*])#place(dy: {90 + dy}pt, text(size: 10pt)[*{names}*])#place(dy: {dy}pt, text(size: 8pt)[*{head}*])"
        for dy in (0, 6, 11, 17)
    ]
    tei = read(f"#set text(size: 10pt)\n{''.join(copies)} #v(150pt)\n*Abstract:* {PROSE}\n\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == [title.replace(" \\", "")]
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Pourreza", "Lee"]


def test_purpose_of_a_thesis_is_no_title(tmp_path: Path) -> None:
    title = "Aplicación móvil para el diagnóstico preliminar del oídio en la uva a través de imágenes digitales"
    front = f"#align(center)[#text(size: 18pt)[*FACULTAD DE INGENIERÍA Y ARQUITECTURA*] \\ #text(size: 16pt)[*ESCUELA PROFESIONAL DE INGENIERÍA DE SISTEMAS*] #v(40pt) #text(size: 14pt)[{title}] #v(40pt) *TESIS PARA OBTENER EL TÍTULO PROFESIONAL DE:* \\ Ingeniero de Sistemas]"
    tei = read(f'#set text(size: 12pt, lang: "es")\n{front}\n#pagebreak()\n= Introducción\n{PROSE}', tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == [title]
    assert list_texts(tei, ".//t:analytic//t:surname") == []


def test_imprint_in_smaller_type_is_no_title(tmp_path: Path) -> None:
    title = "What If We Encoded Words as Matrices and Used Matrix Multiplication as Composition Function?"
    imprint = "Herausgeber et al. (Hrsg.): INFORMATIK 2019: Best of Data Science made in D/A/CH, \\ Lecture Notes in Informatics (LNI), Gesellschaft für Informatik, Bonn 2019 11"
    note = "*Presentation of work originally published in the Proc. of the International Conference on Learning Representations 2019*"
    names = f"Lukas Galke{mark('1')}, Florian Mai{mark('2')}, Ansgar Scherp{mark('3')}"
    parts = (
        f"#align(right)[#text(size: 9pt)[{imprint}]]",
        f"#text(size: 14pt)[*{title}*]",
        note,
        names,
        f"#text(size: 9pt)[*Abstract:* {PROSE}]",
    )
    front = "\n#v(14pt)\n".join(parts)
    tei = read(f"#set text(size: 10pt)\n{front}\n\n= Introduction\n{PROSE} {PROSE}", tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title")[0] == title


def test_thesis_with_labels_has_its_title_and_author(tmp_path: Path) -> None:
    title = "Konzeption einer grafischen Nutzeroberfläche zur prozessorientierten Modellierung und Simulation"
    rows = (
        "[Betreuer:], [Prof. Dr.-Ing. Wilfried Nestler \\ Hochschule für Technik und Wirtschaft Dresden]",
        "[eingereicht von:], [Martin Domnick], [eingereicht am:], [14. November 2011]",
    )
    front = (
        "#align(center)[#text(size: 18pt)[Hochschule für Technik und Wirtschaft Dresden] \\ #text(size: 14pt)[Fakultät Informatik/Mathematik]"
        f"#v(40pt) #text(size: 22pt)[*Diplomarbeit*]]\n#v(80pt)\n#text(size: 14pt)[Thema: {title}]\n#v(60pt)\n"
        f"#grid(columns: (1fr, 2fr), row-gutter: 20pt, {rows[1]}, {rows[0]})"
    )
    statement = "#text(size: 18pt)[*Eidesstattliche Erklärung*]\n\nHiermit erkläre ich, dass ich die Arbeit selbstständig verfasst habe."
    tei = read(f"#set text(size: 11pt)\n{front}\n#pagebreak()\n{statement}\n#pagebreak()\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == [title]
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Domnick"]


def test_name_below_a_label_in_its_column_is_the_author(tmp_path: Path) -> None:
    people = "#grid(columns: (1fr, 1fr), row-gutter: 6pt, [*Relatore*], [*Laureando*], [prof. Paolo Bellavista], [Davide Crociati])"
    title = "Esecuzione Efficiente di Web App Rust su Piattaforma Web Assembly"
    front = f"#align(center)[Corso di Laurea in Ingegneria Informatica #v(60pt) #text(size: 22pt)[*{title}*]]\n#v(120pt)\n{people}"
    tei = read(f"#set text(size: 11pt)\n{front}\n#pagebreak()\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Crociati"]


def test_author_at_the_top_of_cover_and_title_page_is_no_running_head(tmp_path: Path) -> None:
    name = "#align(center)[#text(size: 14pt)[CAIO ESDRAS DE BRITO BEGOTTI]]"
    title = "#v(200pt)\n#align(center)[#text(size: 18pt)[*O LATIM CLÁSSICO DE CÍCERO À LUZ DA LINGUÍSTICA DE CORPUS*]]"
    purpose = "Monografia apresentada como requisito parcial para obtenção do título de Bacharel em Letras, do Setor de Ciências Humanas"
    pages = f"{name}\n{title}\n#pagebreak()\n{name}\n{title}\n#v(40pt)\n#h(40%) {purpose}.\n#pagebreak()"
    body = "\n\n".join(write_prose(n) for n in range(90))
    tei = read(f"#set text(size: 11pt)\n{pages}\n= Introdução\n{body}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Begotti"]
