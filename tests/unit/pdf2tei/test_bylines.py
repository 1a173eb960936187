# ruff: noqa: E501 - pages as they are set
"""Authors are the people of the byline, in the many forms of LaTeX classes."""

from pathlib import Path

import pytest

from pdf2tei.front.authors import split_names
from pdf2tei.pages.model import Font, Token
from tests.unit.pdf2tei.samples import BODY, PROSE, TITLE, list_texts, mark, read, write_prose

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
    "surname first, above address and institution": (
        "Byron, Ada \\ ada.byron\\@uni-x.de \\ Universität Würzburg, Deutschland \\ Berg, Kees \\ berg\\@uni-x.de \\ Sächsische Landesbibliothek – Staats- und Universitätsbibliothek, Dresden",
        ["Byron", "Berg"],
    ),
    "surname first, above institution and address": (
        "García Márquez, José \\ Universidad de Salamanca \\ jose\\@usal.es \\ Ruiz, Elena \\ Universidad de Sevilla, \\ Campus, Sevilla \\ elena\\@us.es",
        ["García Márquez", "Ruiz"],
    ),
    "surname first, one institution": ("Byron, Ada \\ Berg, Kees \\ Universiteit Leiden", ["Byron", "Berg"]),
    "surname first, before the institution": (
        "Byron, Ada; Università di Bologna \\ Berg, Kees; Scuola Normale Superiore, Pisa", ["Byron", "Berg"],
    ),
    "surname first, on two lines": (
        "Byron, Ada; Berg, Kees; Noor, Aisha; Orzechowski, Przemysław; Kuś, Szymon; Settimo, Agustin; Willems, \\ Danny \\ Universität Trier",
        ["Byron", "Berg", "Noor", "Orzechowski", "Kuś", "Settimo", "Willems"],
    ),
    "surnames in capitals": ("BYRON, Ada \\ Université de Lille \\ CHASSAGNOL, Rémi \\ Université de Lille", ["Byron", "Chassagnol"]),
    "slashes": ("Ada Byron / Kees Berg \\ Universität Graz", ["Byron", "Berg"]),
    "institutions in parentheses": ("Ada Byron (Universität Graz, Österreich) \\ Robert (Bob) Berg (CNRS)", ["Byron", "Berg"]),
    "institution that ends on the next line": (
        "Ada Byron, Sächsische Landesbibliothek – Staats- und Universitätsbibliothek \\ Dresden \\ Kees Berg, Universität Trier",
        ["Byron", "Berg"],
    ),
    "bullet on the next line": ("Ada Byron • Kees Berg • Elizabeth Schmidt \\ • Laura Walsh", ["Byron", "Berg", "Schmidt", "Walsh"]),
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
    "institute like a name in capitals": (f"Berg K. L.{mark('1')}, Noor A.{mark('2')}, OIST KB \\ Oslo, Norway", ["Berg", "Noor"]),
    "author in another type below a supervisor": (
        'Supervisor \\ Cecilia Manzino #v(30pt) #text(font: "DejaVu Sans Mono")[Agustin Settimo]', ["Settimo"],
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
    "surnames first below a label": (
        "TESIS PARA OBTENER EL TÍTULO PROFESIONAL DE: \\ Ingeniero de Sistemas \n\n *AUTORES:* \n\n Cuellar Pinedo, Juan Augusto (ORCID: 0000-0002-9173-2260) \n\n "
        "Peña Parco, Moisés Emmanuel (ORCID: 0000-0001-9733-9825) \n\n *ASESOR:* \n\n Dr. Alfaro Paredes, Emigdio Antonio (ORCID: 0000-0002-0309-9195) \n\n "
        "*LÍNEA DE INVESTIGACIÓN:* \n\n Sistema de Información y Comunicaciones",
        ["Cuellar Pinedo", "Peña Parco"],
    ),
    "names below each other beside an institution": (
        "#grid(columns: (1fr, 1fr), [#text(size: 14pt)[Thierry Parmentelat \\ Thierry Turletti \\ Walid Dabbous] \\ Université Côte d’Azur, Inria], "
        "[#text(size: 14pt)[Francesco Bronzino] \\ Université Côte d’Azur, Inria \\ francesco.bronzino\\@inria.fr])",
        ["Parmentelat", "Bronzino", "Turletti", "Dabbous"],
    ),
    "surname below two forenames in columns": (
        "#grid(columns: (1fr, 1fr), align: center, [#text(size: 14pt)[Mohamed Naoufal \\ Mahfoudi] \\ Inria, France], [#text(size: 14pt)[Francesco Bronzino] \\ Inria, France])",
        ["Mahfoudi", "Bronzino"],
    ),
    "group among the names": (
        f"Max Moebus,{mark('1,4')} Shkurta Gashi,{mark('1,2')} Marc Hilty,{mark('3')} PHRT author consortium, and Christian Holz{mark('1')}",
        ["Moebus", "Gashi", "Hilty", "Holz"],
    ),
    "laboratory in French": ("Pierre-Yves Rolland \\ Laboratoire d'Informatique de Paris", ["Rolland"]),
    "institutions like names below them": (
        "#grid(columns: (1fr, 1fr, 1fr), "
        + ", ".join(
            f"[#text(size: 12pt)[{name}] \\ {place} \\ #text(size: 12pt)[{name.split()[-1].lower()}\\@mail.com]]"
            for name, place in (("Samarjit Bose", "TU Munich"), ("Marco Ferri", "Scuola Superiore Galilei"), ("Heiko Brandt", "TU Dortmund"))
        )
        + ")",
        ["Bose", "Ferri", "Brandt"],
    ),
    "institution of one word below complete names": (
        f"Eunsoo Kim{mark('∗')}, CheolJun Park, Insu Yun, Yongdae Kim \\ KAIST \\ {{eunsoo, park}}\\@kaist.ac.kr", ["Kim", "Park", "Yun", "Kim"],
    ),
    "abbreviations of institutions in another font": (
        "#align(left)["
        + " \\ ".join(
            f'#text(font: "DejaVu Sans Mono", size: 9pt)[{name}], {place}'
            for name, place in (("SHIVAM HANDA", "CSAIL, MIT, USA"), ("KOSTAS KALLAS", "University of Pennsylvania, USA"), ("MARTIN C. BERG", "CSAIL, MIT, USA"))
        )
        + "]",
        ["Handa", "Kallas", "Berg"],
    ),
    "candidate below a preposition, above the jury": (
        "*THÈSE* \\ présentée et soutenue publiquement le 08/09/2022 \\ pour l’obtention du \\ *Doctorat de l’Université de Lorraine* \\ "
        "par \\ #text(size: 14pt)[Pierre Lambert] #v(40pt) *Composition du jury* #grid(columns: (1fr, 1fr, 2fr), align: left, row-gutter: 6pt, "
        "[_Rapporteurs :_], [Thomas GENET,], [Professeur, Université de Rennes/IRISA], [], [Olga MARTIN,], [Maitre de Conférence, ENSEEIHT/IRIT])",
        ["Lambert"],
    ),
    "organization below authors with a label": (
        "#align(left)[Authors: #pad(left: 60pt)[Artem Katasonov #v(9pt) Michal Nagy] #v(20pt) Organization: #pad(left: 60pt)[Industrial Ontologies Group (IOG) #v(9pt) University of Jyväskylä] #v(20pt) Version: 1.1]",
        ["Katasonov", "Nagy"],
    ),
    "managers of an internship": (
        "Ada Byron #v(40pt) #grid(columns: (1fr, 1fr), [Company internship manager: \\ Ioana Popescu], [School internship manager : \\ Anas Adel])", ["Byron"],
    ),
    "numbers that are not raised": (
        "Ana Silva 1, Juan Pérez 2 \\ 1 Harbor Valley \\ 2 Royal Meadow, Springfield", ["Silva", "Pérez"],
    ),
    "addresses in parentheses": (
        "Ana Silva (silva\\@uni.edu) \\ Katarzyna Wójcik (wojcik\\@uni.edu) \\ Institut für Informatik, Universität Leipzig", ["Silva", "Wójcik"],
    ),
    "names after a label in Spanish": ("Integrantes: Mary Machulda, Luca Rossi \\ KAIST", ["Machulda", "Rossi"]),
    "names below a label in Indonesian": ("Oleh: \\ Giulia Marconi \\ Oleg Petrov \n\n Universitas Gadjah Mada", ["Marconi", "Petrov"]),
    "institution below a complete list": ("Ali Reza Hosseini, Victor Park and Ana Silva \\ _Sorbonne Paris Nord_", ["Hosseini", "Park", "Silva"]),
    "institution below a degree": ("April Moss, MD, Sarah Berg, RN \\ Carnegie Mellon", ["Moss", "Berg"]),
    "surname alone on the last line of a long list": (
        "Ana Silva, Katarzyna Nowak-Kowalska, Robert J. Smith, Wei Zhang, Luca Rossi, Jean-Pierre Dubois and Anders \\ Østergaard \n\n Dept. of Physics",
        ["Silva", "Nowak-Kowalska", "Smith", "Zhang", "Rossi", "Dubois", "Østergaard"],
    ),
    "comma below a letter": (
        "Petru Pâr#box[t#h(-2.5pt)#text(size: 6pt, baseline: 2pt)[,]#h(1pt)]achi, Ada Byron", ["Pârțachi", "Byron"],
    ),
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
        "#align(left)[#v(30pt) #text(size: 9pt)[c Higher Education Press and Springer-Verlag Berlin Heidelberg 2010]]", "Amari",
    ),
    "names on lines of their own": (
        "#align(right)[#text(size: 8pt)[MARIE BERGMANN \\ BORIS FORTMANN \\ HEINZ HOLLER]]", "", "Bergmann Fortmann Holler",
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
    assert list_texts(tei, ".//t:analytic//t:surname") == expected.split()


def test_picture_after_a_name_is_no_part_of_it() -> None:
    text, picture = (Font.from_pdfalto(name, 9.0, "") for name in ("Times", "FontAwesome5Free-Regular"))
    words = (("Ada", text), ("Byron", text), ("Envelope", picture))
    tokens = [Token(word, 30.0 * i, 0.0, 30.0 * i + 27, 9.0, font, True) for i, (word, font) in enumerate(words)]
    assert split_names(tokens) == ["Ada Byron"]


def test_second_column_of_authors_is_read(tmp_path: Path) -> None:
    people = "#grid(columns: (1fr, 1fr), align: center, [Gururaj Saileshwar \\ University of Toronto], [Moinuddin Qureshi \\ Georgia Institute of Technology])"
    front = f'#place(top, float: true, scope: "parent")[#align(center)[#text(size: 20pt)[{TITLE}]]\n{people}]'
    body = "\n\n".join(write_prose(n) for n in range(12))
    tei = read(
        f"#set page(columns: 2, margin: 1.8cm)\n#set text(size: 9pt)\n{front}\n*Abstract—{PROSE}*\n\n= Introduction\n{body}",
        tmp_path,
    )
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Saileshwar", "Qureshi"]


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
