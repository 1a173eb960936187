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
    "initials before a position": (
        "Леденева Е. Ю., студентка кафедры системного программирования \\ СПбГУ, ledeneva\\@mail.ru", ["Леденева"],
    ),
    "position after a dash": (
        "Костина А. А. – н.с. НИЛ КБ и ПКС СПИИРАН, \\ kostina\\@mail.ru \\ Молдовян Д. Н. – к.т.н., с.н.с. НИЛ КБ и ПКС СПИИРАН, \\ mdn\\@mail.ru",
        ["Костина", "Молдовян"],
    ),
    "affiliation in its own font": (
        'Jonathan Aldrich, David Garlan, \\ Ian Voysey, #text(font: "DejaVu Sans Mono")[Carnegie Mellon University] \\ \\ Javier Cámara, #text(font: "DejaVu Sans Mono")[University of York]',
        ["Aldrich", "Garlan", "Voysey", "Cámara"],
    ),
    "street and postal code": (
        "David H. Wolpert \\ Santa Fe Institute, 1399 Hyde Park Road, Santa Fe, NM, 87501 \\ _and_ \\ Jordan Scharnhorst \\ UC Santa Cruz, 1156 High St, Santa Cruz, CA, 95060",
        ["Wolpert", "Scharnhorst"],
    ),
    "company in an author's column": (
        "#grid(columns: (1fr, 1fr, 1fr), "
        "[Angelos Christidis \\ a.christidis\\@surrey.ac.uk \\ Dept. of Computer Science \\ University of Surrey], "
        "[Roy Davies \\ roy.davies\\@emu.com \\ Emu Analytics \\ London], "
        "[Sotiris Moschoyiannis \\ s.moschoyiannis\\@surrey.ac.uk \\ Dept. of Computer Science \\ University of Surrey])",
        ["Christidis", "Davies", "Moschoyiannis"],
    ),
    "people who edited and reviewed": (
        "Pauline Bock, Frédéric Alexandre \\ \\ #text(size: 8pt)[Edited by \\ Olivia Guest \\ \\ Reviewed by \\ Andrea Caso \\ Qihong Lu]",
        ["Bock", "Alexandre"],
    ),
    "conjunction after a comma on the next line": (
        "Christoph Hille, Christian Kunkel, William E. Acree, Karsten Reuter \\ , and Harald Oberhofer",
        ["Hille", "Kunkel", "Acree", "Reuter", "Oberhofer"],
    ),
    "missing space in a name": (f"XinchenWang{mark('1')}, Pengfei Gao{mark('2')}, Chao Peng{mark('2')}", ["Wang", "Gao", "Peng"]),
    "raised numbers longer than the names": (
        f"Pouria Derakhshanfar{mark('1[0000−0003−3549−9019]')}, Xavier \\ Devroey{mark('1[0000−0002−0831−7606]')}, "
        f"and Andy Zaidman{mark('1[0000−0003−2413−3935]')}",
        ["Derakhshanfar", "Devroey", "Zaidman"],
    ),
    "name within a position in italics": (
        "Pouria Derakhshanfar, _Student Member, IEEE,_ Xavier Devroey, _Member, IEEE,_ \\ Annibale Panichella, Andy Zaidman "
        "_Member, IEEE Computer \\ Society,_ and Arie van Deursen _Member, IEEE Computer Society_",
        ["Derakhshanfar", "Devroey", "Panichella", "Zaidman", "van Deursen"],
    ),
    "names and places in two sizes": (
        "#text(size: 10.9pt)[SCOTT M. MOURTGOS, University of Utah] \\ IAN T. ADAMS, University of Utah \\ JUSTIN NIX, University of Nebraska",
        ["Mourtgos", "Adams", "Nix"],
    ),
    "third name beside an institution": (
        "#grid(columns: (1fr, 1fr, 1fr), [#text(size: 11pt)[Xavier Devroey, Maxime Cordy, \\ Pierre-Yves Schobbens] \\ PReCISE, University of Namur], "
        "[#text(size: 11pt)[Axel Legay] \\ INRIA Rennes Bretagne Atlantique, \\ France], [#text(size: 11pt)[Patrick Heymans] \\ University of Namur \\ Belgium])",
        ["Devroey", "Cordy", "Legay", "Heymans", "Schobbens"],
    ),
    "name beside its e-mail address and after a conjunction": (
        "#text(size: 11pt)[*Jing He*] #h(30pt) #smallcaps[hejing2929\\@gmail.com] #text(size: 11pt)[and *Decheng Dai*] #h(30pt) #smallcaps[decheng\\@google.com] \\ _Google Inc._",
        ["He", "Dai"],
    ),
    "hyphen before the institution": (
        "_Iván E. Cao-Berg_ - Universidad Metropolitana \\ _Nancy Tisch_ - Cornell University \\ _Abdul-Aziz Yakubu_ - Howard University",
        ["Cao-Berg", "Tisch", "Yakubu"],
    ),
    "wide spaces within names": (
        "#grid(columns: (1fr, 1fr), [Martin#h(14pt)Farach \\ Rutgers Univ.], [Michiel#h(14pt)Noordewier \\ Rutgers Univ.])",
        ["Farach", "Noordewier"],
    ),
    "grave accent apart, and a position in italics": (
        "Gianluigi Greco, Antonella Guzzo, Giuseppe Manco, and \\ Domenico Sacca\\`, _Senior Member, IEEE Computer Society_",
        ["Greco", "Guzzo", "Manco", "Saccà"],
    ),
    "names a wide space apart": (
        "*Anna Huang#h(1em)Ashish Vaswani#h(1em)Jakob Uszkoreit#h(1em)Noam Shazeer*", ["Huang", "Vaswani", "Uszkoreit", "Shazeer"],
    ),
    "raised ORCID like a postal code": (
        f"Björn Evers, Pouria Derakhshanfar{mark('[0000−0003−3549−9019]')}, Xavier \\ "
        f"Devroey{mark('[0000−0002−0831−7606]')}, and Andy Zaidman{mark('[0000−0003−2413−3935]')}",
        ["Evers", "Derakhshanfar", "Devroey", "Zaidman"],
    ),
    "lowercase letter in capitals": ("JULIAN HOCHBERG AND EDWARD McALISTER \\ _Cornell University_", ["Hochberg", "McAlister"]),
    "country in a forename": (f"Manal Mohamed{mark('c')}, Marie-France Sagot{mark('d')}", ["Mohamed", "Sagot"]),
    "institution with a city's name in a row of marks": (
        f"Björn Braun{mark('1')}#h(1em)Daniel McDuff{mark('2')}#h(1em)Paul Streli{mark('1')} \\ {mark('1')}ETH Zurich #h(1em) {mark('2')}University of Washington",
        ["Braun", "McDuff", "Streli"],
    ),
    "surnames below forenames in columns": (
        "#grid(columns: (1fr, 1fr, 1fr), align: center, [Dimitris \\ Rafailidis#super[\\*]], [Alexandros \\ Nanopoulos#super[\\*]], [Emilios \\ Cambouropoulos#super[\\#]])",
        ["Rafailidis", "Nanopoulos", "Cambouropoulos"],
    ),
    "marks before the names of two lines": (
        f"{mark('1')}Jennifer L. Whitwell, PhD; {mark('2')}Joseph R. Duffy, PhD; \\ {mark('2')}Heather M. Clark, PhD; {mark('4')}Mary M. Machulda, PhD \\ "
        f"{mark('1')}Department of Radiology, Mayo Clinic \\ {mark('2')}Department of Neurology, Mayo Clinic",
        ["Whitwell", "Duffy", "Clark", "Machulda"],
    ),
    "laboratory in French": ("Pierre-Yves Rolland \\ Laboratoire d'Informatique de Paris", ["Rolland"]),
}  # fmt: skip


@pytest.mark.parametrize("form", BYLINES)
def test_authors_are_the_people_of_the_byline(form: str, tmp_path: Path) -> None:
    names, expected = BYLINES[form]
    front = f"#set text(size: 10pt)\n#align(center)[#text(size: 17pt)[{TITLE}]]\n\n#align(center)[{names}]"
    tei = read(f"{front}\n\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == expected


ABOVE = {
    "repeated name": ("Flávio Manuel Fernandes Cruz", "Faculdade de Engenharia da Universidade do Porto \\ Junho de 2010", "Cruz"),
    "name above the title and publisher below": (
        "#align(left)[#text(size: 9pt)[Front. Electr. Electron. Eng. China 2010, 5(3): 241–260 \\ DOI 10.1007/s11460-010-0101-3] #v(40pt) *Shun-ichi AMARI*]",
        "#align(left)[#v(30pt) #text(size: 9pt)[c Higher Education Press and Springer-Verlag Berlin Heidelberg 2010]]", "AMARI",
    ),
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
    "type and capitals of names": (
        "#align(center)[#text(size: 17pt)[*ВАРИАНТЫ СКРЫТОЙ ЗАДАЧИ \\ ДИСКРЕТНОГО ЛОГАРИФМИРОВАНИЯ ДЛЯ \\ РАЗРАБОТКИ ПОСТКВАНТОВЫХ \\ ПРОТОКОЛОВ ЦИФРОВОЙ ПОДПИСИ*]]",
        "ВАРИАНТЫ СКРЫТОЙ ЗАДАЧИ ДИСКРЕТНОГО ЛОГАРИФМИРОВАНИЯ ДЛЯ РАЗРАБОТКИ ПОСТКВАНТОВЫХ ПРОТОКОЛОВ ЦИФРОВОЙ ПОДПИСИ",
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


def test_title_in_larger_type_is_no_running_head(tmp_path: Path) -> None:
    front = "#place(top + center, dy: -24pt)[#text(size: 14pt)[*Measuring thermodynamic length*]]\n#align(center)[Gavin E. Crooks]"
    head = "#set page(header: context { if here().page() > 1 { align(center)[Measuring thermodynamic length] } })"
    body = "\n\n".join(write_prose(n) for n in range(16))
    tei = read(f"#set text(size: 10pt)\n{head}\n{front}\n\n= Abstract\n{PROSE}\n\n= Introduction\n{body}", tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == ["Measuring thermodynamic length"]


def test_second_column_of_authors_is_read(tmp_path: Path) -> None:
    people = "#grid(columns: (1fr, 1fr), align: center, [Gururaj Saileshwar \\ University of Toronto], [Moinuddin Qureshi \\ Georgia Institute of Technology])"
    front = f'#place(top, float: true, scope: "parent")[#align(center)[#text(size: 20pt)[{TITLE}]]\n{people}]'
    body = "\n\n".join(write_prose(n) for n in range(12))
    tei = read(
        f"#set page(columns: 2, margin: 1.8cm)\n#set text(size: 9pt)\n{front}\n*Abstract—{PROSE}*\n\n= Introduction\n{body}",
        tmp_path,
    )
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Saileshwar", "Qureshi"]


def test_cover_completes_the_title(tmp_path: Path) -> None:
    title = "False Consciousness and Ideology in Marxist Theory"
    cover = f"{title} \\ Author(s): Ron Eyerman \\ Stable URL: https://www.jstor.org/stable/4194332"
    front = f"#text(size: 16pt)[False Consciousness and Ideology in] \\ #text(size: 15pt)[Marxist Theory{mark('1')}] \\ \\ Ron Eyerman"
    tei = read(f"#set text(size: 10pt)\n{cover}\n#pagebreak()\n{front}\n\n{PROSE}\n\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Eyerman"]
    assert list_texts(tei, ".//t:titleStmt/t:title")[0].rstrip(" 1") == title


def test_label_on_a_cover_names_the_author(tmp_path: Path) -> None:
    cover = f"{TITLE} \\ Author(s): Richard C. Thurlow \\ Source: Journal of Contemporary History, Vol. 33, No. 2 (Apr., 1998), pp. 241-254 \\ Published by: Sage Publications, Ltd. \\ Stable URL: https://www.jstor.org/stable/260975"
    tei = read(
        f"#set text(size: 10pt)\n{cover}\n#pagebreak()\n#text(size: 15pt)[{TITLE}]\n\n{PROSE}\n\n{BODY}", tmp_path
    )
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Thurlow"]


def test_cover_names_title_and_authors_of_a_magazine(tmp_path: Path) -> None:
    cover = (
        "Modeling Pattern Importance in Chopin's Mazurkas \\ Author(s): Tom Collins, Robin Laney, Alistair Willis and \\ Paul H. Garthwaite \\ "
        "Source: Music Perception, Vol. 28, No. 4 (April 2011), pp. 387-414 \\ Stable URL: http://www.jstor.org/stable/10.1525/mp.2011.28.4.387"
    )
    front = "#text(size: 18pt)[tom collins, robin laney, alistair willis] \\ The Open University, Milton Keynes, United Kingdom"
    tei = read(f"#set text(size: 10pt)\n{cover}\n#pagebreak()\n{front}\n\n{PROSE}\n\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == ["Modeling Pattern Importance in Chopin’s Mazurkas"]
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Collins", "Laney", "Willis", "Garthwaite"]


def test_cover_tells_the_author_from_a_head(tmp_path: Path) -> None:
    title = "On Coherence and Sameness, and the Evaluation of Scale Candidacy Claims"
    cover = f"{title} \\ Author(s): Norman Carey \\ Source: Journal of Music Theory, Vol. 46, No. 1/2, pp. 1-56 \\ Stable URL: http://www.jstor.org/stable/4147677"
    front = f"#align(center)[#text(size: 15pt)[*{title}*] \\ \\ #text(size: 13pt)[*Norman Carey*] \\ \\ \\ *I. Pitch-Class Sets and Musical Scales*]"
    tei = read(f"#set text(size: 10pt)\n{cover}\n#pagebreak()\n{front}\n\n{PROSE}\n\n{PROSE}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Carey"]


def test_cover_names_the_author_of_a_review(tmp_path: Path) -> None:
    cover = "Schoenberg Fundamentals \\ Fundamentals of Musical Composition by Arnold Schoenberg \\ Review by: Alexander Goehr \\ The Musical Times, Vol. 109, No. 1499 (Jan., 1968), pp. 35-36 \\ Stable URL: http://www.jstor.org/stable/951415"
    front = "#align(center)[#text(size: 16pt)[Schoenberg fundamentals]] \\ #text(size: 8pt)[Fundamentals of Musical Composition by Arnold \\ Schoenberg. Faber, 7 gns]"
    tei = read(f"#set text(size: 10pt)\n{cover}\n#pagebreak()\n{front}\n\n{PROSE}\n\n{PROSE}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Goehr"]


def test_cover_names_the_title_of_a_scan_without_title(tmp_path: Path) -> None:
    title = "Maximally Smooth Cycles, Hexatonic Systems, and the Analysis of Late-Romantic Triadic Progressions"
    cover = f"{title} \\ Author(s): Richard Cohn \\ Reviewed work(s): \\ Source: Music Analysis, Vol. 15, No. 1 (Mar., 1996), pp. 9-40 \\ Stable URL: http://www.jstor.org/stable/854168"
    tei = read(f"#set text(size: 11pt)\n#text(size: 10pt)[{cover}]\n#pagebreak()\n{PROSE}\n\n{PROSE} {PROSE}", tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == [title]


CITED_ON_COVERS = {
    "one name": ("Porschen, Stephanie", "Porschen, Stephanie: ", ["Porschen"]),
    "two names": ("Abold, Roland; Juhász, Zoltán", "Abold, Roland ; Juhász, Zoltán: ", ["Abold", "Juhász"]),
    "two surnames": (
        "Linke Sonderegger, Marion",
        "Linke Sonderegger, Marion ; Universität Bremen (Ed.): ",
        ["Linke Sonderegger"],
    ),
    "initials in the citation": ("Kunstreich, Timm", "Kunstreich, T. (2012). ", ["Kunstreich"]),
}


@pytest.mark.parametrize("form", CITED_ON_COVERS)
def test_name_under_the_title_of_a_cover_is_known_from_its_citation(form: str, tmp_path: Path) -> None:
    name, cited, surnames = CITED_ON_COVERS[form]
    title = "Mehr als nur staatliche Kinderbetreuung"
    cover = (
        f"#align(right)[#text(size: 18pt)[*www.ssoar.info*]] #v(60pt) #text(size: 18pt)[*{title}*] \\ #text(size: 13pt)[{name}]\n\n"
        "Veröffentlichungsversion / Published Version \\ Arbeitspapier / working paper\n\n"
        "*Zur Verfügung gestellt in Kooperation mit / provided in cooperation with:* \\ SSG Sozialwissenschaften, USB Köln\n\n"
        f"#text(size: 9pt)[*Empfohlene Zitierung / Suggested Citation:* \\ {cited}{title}. Bremen, 2004.]"
    )
    tei = read(f"#set text(size: 10pt)\n{cover}\n#pagebreak()\n{PROSE}\n\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == surnames


def test_column_of_authors_goes_on_beside_the_abstract(tmp_path: Path) -> None:
    names = ("Mateus Meneghini", "Michel Anzanello", "Alessandro Kahmann", "Guilherme Luz Tortorella")
    place = "Federal University of Rio Grande \\ do Sul - UFRGS, Porto Alegre, Rio \\ Grande do Sul, Brazil"
    side = " #v(12pt) ".join(
        f"#text(size: 9pt)[*{name}*] \\ {name.split()[-1].lower()}\\@gmail.com \\ {place}" for name in names
    )
    main = f"#v(30pt) #text(size: 9pt)[*ABSTRACT*] \n\n {PROSE} {PROSE} \n\n *Keywords:* Demand forecasting; Fast food"
    front = f"#align(center)[#text(size: 13pt)[*QUANTITATIVE DEMAND FORECASTING ADJUSTMENT BASED ON QUALITATIVE FACTORS*]] #v(40pt)\n#grid(columns: (25%, 70%), gutter: 5%, text(size: 8pt)[{side}], text(size: 8.5pt)[{main}])"
    tei = read(f"#set text(size: 10pt)\n{front}\n#pagebreak()\n= Introduction\n{PROSE} {PROSE}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Meneghini", "Anzanello", "Kahmann", "Tortorella"]


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


@pytest.mark.parametrize("left", [3.0, 1.7])
def test_names_left_of_a_title_off_the_middle_are_read(left: float, tmp_path: Path) -> None:
    people = ("Sergey M. Plis", "Stephen McCracken", "Terran Lane", "Vince D. Calhoun")
    names = f"#grid(columns: (1fr, 1fr, 1fr, 1fr), align: center, {', '.join(f'[*{name}*]' for name in people)})"
    page = f"#set page(margin: (left: {left}cm, right: {5.1 - left}cm))\n#set text(size: 10pt)"
    front = f"#align(center)[#text(size: 14pt)[*Directional Statistics on Permutations*]]\n#v(40pt)\n{names}"
    tei = read(f"{page}\n{front}\n\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Plis", "McCracken", "Lane", "Calhoun"]


def test_subjects_in_a_side_column_are_no_authors(tmp_path: Path) -> None:
    side = "Subject Areas: \\ Applied Mathematics, Power and \\ Energy Systems, Energy \\ \\ Keywords: \\ Electricity Prices Forecasting, \\ Locational Marginal Prices \\ \\ Author for correspondence: \\ Tommaso Nesti \\ tommaso\\@gmail.com"
    names = f"T. Nesti{mark('1')}, J. Moriarty{mark('2')}, A. Zocca{mark('3')} and B. #v(6pt) Zwart{mark('1')}."
    main = f"#text(size: 17pt)[Large Fluctuations in \\ Locational Marginal Prices] #v(20pt) #text(size: 12pt)[{names}]\n\n#text(size: 9pt)[{mark('1')}CWI, Amsterdam \\ {mark('2')}Queen Mary University, London \\ {mark('3')}VU, Amsterdam \\ \\ {PROSE}]"
    front = f"#grid(columns: (30%, 60%), gutter: 10%, text(size: 8.5pt)[#v(150pt) {side}], [{main}])"
    tei = read(f"#set text(size: 10pt)\n{front}\n#pagebreak()\n= Introduction\n{PROSE} {PROSE}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Nesti", "Moriarty", "Zocca", "Zwart"]


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


WORKS = [
    "Y. Koren, “Factorization meets the neighborhood: a multifaceted collaborative filtering model,” in KDD ’08, pp. 426–434.",
    "R. Bell, Y. Koren, and C. Volinsky, “Modeling relationships at multiple scales to improve accuracy of large recommender systems,” in KDD ’07.",
    "B. Marlin, “Modeling user rating profiles for collaborative filtering,” in NIPS’03.",
    "B. Marlin, “Collaborative filtering: A machine learning perspective,” Master’s thesis, Department of Computer Science, University of Toronto.",
    "D. M. Blei and J. D. Mcauliffe, “Supervised topic models,” in NIPS ’08.", "D. Agarwal and B.-C. Chen, “Regression-based latent factor models,” in KDD ’09.",
    "A. P. Singh and G. J. Gordon, “Relational learning via collective matrix factorization,” in KDD ’08.",
    "N. D. Lawrence and R. Urtasun, “Non-linear matrix factorization with gaussian processes,” in ICML ’09, pp. 601–608.",
]  # fmt: skip


def test_numbers_continue_a_list_below_a_table(tmp_path: Path) -> None:
    first = [
        f"D. Goldberg, “Using collaborative filtering,” Communications of ACM, vol. {35 + n}, pp. 61–70, 1992."
        for n in range(4)
    ]
    entries = [f"#par(hanging-indent: 1.2em)[[{n}] {work}]" for n, work in enumerate([*first, *WORKS, *WORKS], 1)]
    rows = " \\ ".join(f"Community {n} #h(1fr) {n}.1 #h(1fr) 0.888" for n in range(12))
    table = f'#place(top, float: true, scope: "parent")[{rows}]'
    body = "\n\n".join(" ".join(write_prose(n) for n in range(6)) for _ in range(10))
    front = f'#place(top, float: true, scope: "parent")[#align(center)[#text(size: 17pt)[{TITLE}]\n\nNicola Barbieri, Giuseppe Manco]]'
    tei = read(
        f'#set page(paper: "a4", margin: 2cm, columns: 2)\n#set text(size: 10pt)\n{front}\n\n*Abstract* {PROSE}\n\n= Introduction\n{body}\n\n= References\n#set text(size: 9pt)\n'
        + "\n\n".join([*entries[:4], "#pagebreak()", table, *entries[4:]]),
        tmp_path,
    )
    assert len(list_raws(tei)) == len(entries)
