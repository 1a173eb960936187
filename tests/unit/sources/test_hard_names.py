"""Hard names of many languages and forms are parsed.

The expected form is `given|surname`, `given|surname|suffix`, or `|name of a group`.
"""

from __future__ import annotations

import pytest

from s2corpus.sources import Author
from s2orc_parse.bibliography.names import parse_authors

LISTS = """
Vapnik, V. => V|Vapnik
Vapnik, V => V|Vapnik
Smith V => V|Smith
Smith V, Jones A => V|Smith; A|Jones
Smith, V, Jones, A => V|Smith; A|Jones
Jones A, Smith JV => A|Jones; J V|Smith
John Smith, V, Jane Doe => John|Smith|V; Jane|Doe
Vapnik, V. and Chervonenkis, A. => V|Vapnik; A|Chervonenkis
Wolpaw, JR => J R|Wolpaw
Wolpaw JR => J R|Wolpaw
Wolpaw, JR and Birbaumer, N and McFarland, DJ => J R|Wolpaw; N|Birbaumer; D J|McFarland
Kim, M.D. => M D|Kim
Kim MD, Lee JH => M D|Kim; J H|Lee
Ivanov II, Petrov PP => I I|Ivanov; P P|Petrov
Ivanov, II, Petrov, PP => I I|Ivanov; P P|Petrov
Smith, J., Jr., & Doe, A. => J|Smith|Jr; A|Doe
King, M. L., Jr., Abernathy, R. => M L|King|Jr; R|Abernathy
King, Jr, Martin Luther and Parks, Rosa => Martin Luther|King|Jr; Rosa|Parks
Smith, III, J. and Doe, B. => J|Smith|III; B|Doe
Gates Jr, H. L. => H L|Gates|Jr
Gates HL Jr, Doe B => H L|Gates|Jr; B|Doe
Ruffin IV M.T., Unger E.R. => M T|Ruffin|IV; E R|Unger
Daumé III, Hal => Hal|Daumé|III
Hal Daumé III => Hal|Daumé|III
Hal Daumé III and Daniel Marcu => Hal|Daumé|III; Daniel|Marcu
Robert L Logan IV, Sameer Singh => Robert L|Logan|IV; Sameer|Singh
John W. Fisher III; Alan S. Willsky => John W|Fisher|III; Alan S|Willsky
Sammy Davis Jr. => Sammy|Davis|Jr
Steele, Guy L. Jr. => Guy L|Steele|Jr
William Strunk Jr. and E. B. White => William|Strunk|Jr; E B|White
John Smith, Jr., Jane Doe => John|Smith|Jr; Jane|Doe
John Smith, MD, Jane Doe, PhD => John|Smith|MD; Jane|Doe|PhD
Jane Doe, Ph.D. => Jane|Doe|Ph.D
García Márquez, Gabriel and Vargas Llosa, Mario => Gabriel|García Márquez; Mario|Vargas Llosa
García Márquez, Gabriel => Gabriel|García Márquez
García Márquez, G., Vargas Llosa, M. => G|García Márquez; M|Vargas Llosa
García Márquez G, Vargas Llosa M => G|García Márquez; M|Vargas Llosa
García Márquez G. => G|García Márquez
G. García Márquez, M. Vargas Llosa => G|García Márquez; M|Vargas Llosa
J. M. García Márquez => J M|García Márquez
Gabriel García Márquez => Gabriel|García Márquez
José Ortega y Gasset => José|Ortega y Gasset
Ortega y Gasset, José and Unamuno, Miguel de => José|Ortega y Gasset; Miguel|de Unamuno
Ramón y Cajal, S. => S|Ramón y Cajal
Ramón y Cajal S => S|Ramón y Cajal
Juan Pérez y María López => Juan|Pérez; María|López
Pérez, J. y López, M. => J|Pérez; M|López
João Silva e Maria Costa => João|Silva; Maria|Costa
da Silva, Luiz Inácio => Luiz Inácio|da Silva
Luiz Inácio da Silva => Luiz Inácio|da Silva
Maria dos Santos; Pedro de Oliveira => Maria|dos Santos; Pedro|de Oliveira
de Vries H.J. => H J|de Vries
de Vries HJ, van den Berg P => H J|de Vries; P|van den Berg
H. J. de Vries and P. van den Berg => H J|de Vries; P|van den Berg
Vries, H. J. de => H J|de Vries
Beethoven, Ludwig van => Ludwig|van Beethoven
Ludwig van Beethoven => Ludwig|van Beethoven
van der Waals, Johannes Diderik => Johannes Diderik|van der Waals
Johannes Diderik van der Waals => Johannes Diderik|van der Waals
Gerard 't Hooft => Gerard|'t Hooft
't Hooft, G. => G|'t Hooft
Jan in 't Veld => Jan|in 't Veld
Arie op de Beeck => Arie|op de Beeck
Laurens Van Der Maaten, Geoffrey Hinton => Laurens|Van Der Maaten; Geoffrey|Hinton
Vincent Van Gogh => Vincent|Van Gogh
Van Gogh, Vincent => Vincent|Van Gogh
Van Gogh V => V|Van Gogh
Van Gogh V, Gauguin P => V|Van Gogh; P|Gauguin
V. Van Gogh and P. Gauguin => V|Van Gogh; P|Gauguin
Vincent van Gogh, Paul Gauguin => Vincent|van Gogh; Paul|Gauguin
van Gogh => |van Gogh
Van Gogh => |Van Gogh
Van Gogh and Paul Gauguin => |Van Gogh; Paul|Gauguin
Van Der Maaten => |Van Der Maaten
De la Cruz => |De la Cruz
De Vries => |De Vries
Di Cosmo; Du Bois => |Di Cosmo; |Du Bois
Al Gore and Ben Jonson => Al|Gore; Ben|Jonson
De Wang, Di Zhang, Van Nguyen => De|Wang; Di|Zhang; Van|Nguyen
Luc Van Gool and Lucas Beyer => Luc|Van Gool; Lucas|Beyer
Anna von Reden, Max zu Guttenberg => Anna|von Reden; Max|zu Guttenberg
Karl-Theodor zu Guttenberg => Karl-Theodor|zu Guttenberg
Leonardo da Vinci => Leonardo|da Vinci
Andrea Del Sarto and Roberto Di Cosmo => Andrea|Del Sarto; Roberto|Di Cosmo
Luca de' Medici => Luca|de' Medici
Gabriele D'Annunzio => Gabriele|D'Annunzio
D'Alfonso, A., Dell'Orletta, F. => A|D'Alfonso; F|Dell'Orletta
Guillaume de L'Hôpital => Guillaume|de L'Hôpital
Yann Le Cun => Yann|Le Cun
Le Quintrec, M and Sberro-Soussan, R => M|Le Quintrec; R|Sberro-Soussan
Le Quintrec M, Zuber J => M|Le Quintrec; J|Zuber
Jean-Pierre Serre => Jean-Pierre|Serre
Serre, J.-P. => J.-P.|Serre
J.-P. Serre, H. Cartan => J.-P.|Serre; H|Cartan
Serre J.-P. => J.-P.|Serre
Serre J-P => J-P|Serre
Antoine de Saint-Exupéry => Antoine|de Saint-Exupéry
Ruth St. Denis => Ruth|St. Denis
Sean O'Brien, Fergal Mac Cárthaigh => Sean|O'Brien; Fergal|Mac Cárthaigh
McDonald, R. and O'Neil, C. => R|McDonald; C|O'Neil
Ch. Papadimitriou, Yu. Nesterov => Ch|Papadimitriou; Yu|Nesterov
Nesterov, Yu. E. => Yu E|Nesterov
Nesterov Yu.E. => Yu E|Nesterov
A. N. Kolmogorov => A N|Kolmogorov
Kolmogorov A.N., Fomin S.V. => A N|Kolmogorov; S V|Fomin
Колмогоров А.Н. => А Н|Колмогоров
Колмогоров, А. Н.; Фомин, С. В. => А Н|Колмогоров; С В|Фомин
Андрей Колмогоров => Андрей|Колмогоров
Παπαδημητρίου, Χ. => Χ|Παπαδημητρίου
Şahin, Gözde Gül => Gözde Gül|Şahin
{\\c{S}}ahin, G{\\"o}zde G{\\"u}l and Steedman, Mark => Gözde Gül|Şahin; Mark|Steedman
Erd{\\H{o}}s, Paul and R{\\'e}nyi, Alfr{\\'e}d => Paul|Erdős; Alfréd|Rényi
M{\\o}ller, J. and {\\L}ukasiewicz, J. => J|Møller; J|Łukasiewicz
J&#233;r&#244;me Sim&eacute;on => Jérôme|Siméon
Muḥammad ibn Mūsā al-Khwārizmī => Muḥammad ibn Mūsā|al-Khwārizmī
Osama bin Zaid => Osama|bin Zaid
Smith, J. and Al-Khatib, M. => J|Smith; M|Al-Khatib
John Smith and Al-Amin Hassan => John|Smith; Al-Amin|Hassan
Kyle Lo and Ahmad al-Rashid => Kyle|Lo; Ahmad|al-Rashid
Al-Sayeh, Hani and Sattler, Kai-Uwe => Hani|Al-Sayeh; Kai-Uwe|Sattler
El Ghaoui, L. and Abu Ghazaleh, N. => L|El Ghaoui; N|Abu Ghazaleh
Laurent El Ghaoui, Stephen Boyd => Laurent|El Ghaoui; Stephen|Boyd
Mohamed Abd El Ghany => Mohamed|Abd El Ghany
محمد علي، فاطمة الزهراء => محمد|علي; فاطمة|الزهراء
Shai Ben-David, Eyal Ben David => Shai|Ben-David; Eyal|Ben David
Ben-David, S. => S|Ben-David
Minh Le Nguyen, Viet Hoang Tran => Minh Le|Nguyen; Viet Hoang|Tran
Minh Van Nguyen => Minh Van|Nguyen
Nguyen, Van Minh => Van Minh|Nguyen
Jiequn Han, Arnulf Jentzen, Weinan E => Jiequn|Han; Arnulf|Jentzen; Weinan|E
E, Weinan and Han, Jiequn => Weinan|E; Jiequn|Han
O, J. H. and Kim, S. => J H|O; S|Kim
Li, X-Y, Zhang, Y => X-Y|Li; Y|Zhang
Kim JH, Park S-Y => J H|Kim; S-Y|Park
KIM, JIN; LEE, SOO => JIN|KIM; SOO|LEE
Yuji OGUSU, Kohji TOMITA, Wei LI => Yuji|OGUSU; Kohji|TOMITA; Wei|LI
DUPONT Jean, MARTIN Luc => Jean|DUPONT; Luc|MARTIN
SMITH JA, DOE B => J A|SMITH; B|DOE
JA Smith, B Doe => J A|Smith; B|Doe
Zhen (Luther) Qin; Ga Wu => Zhen (Luther)|Qin; Ga|Wu
王伟 => 伟|王
欧阳修 => 修|欧阳
王伟、李娜 => 伟|王; 娜|李
山田 太郎 => 太郎|山田
김민수, 이영희 => 민수|김; 영희|이
Wei Wang 0001, Kai Zhang 0003 => Wei|Wang; Kai|Zhang
A.B.Smith and C.D.Jones => A B|Smith; C D|Jones
K.-R.Müller => K.-R.|Müller
Smith,J. and Doe,A. => J|Smith; A|Doe
Prof. Dr. Max Planck => Max|Planck
Plato => |Plato
Oren Etzioni, Mausam, Daniel Weld => Oren|Etzioni; |Mausam; Daniel|Weld
The ATLAS Collaboration => |The ATLAS Collaboration
Aad, G. and others => G|Aad
Aad, G. and Abbott, B. and others => G|Aad; B|Abbott
Aad, G., Abbott, B., et al. => G|Aad; B|Abbott
Smith J, Doe B, ALTS Group => J|Smith; B|Doe; |ALTS Group
Smith J; on behalf of the SPRINT Research Group => J|Smith; |the SPRINT Research Group
International Human Genome Sequencing Consortium => |International Human Genome Sequencing Consortium
Centers for Disease Control and Prevention => |Centers for Disease Control and Prevention
World Health Organization => |World Health Organization
{Academies of Sciences, Engineering, and Medicine} and Doe, Jane => |Academies of Sciences, Engineering, and Medicine; Jane|Doe
Devlin, J., Chang, M.-W., Lee, K., & Toutanova, K. => J|Devlin; M.-W.|Chang; K|Lee; K|Toutanova
Lo, Kyle, Lucy Lu Wang, and Mark Neumann => Kyle|Lo; Lucy Lu|Wang; Mark|Neumann
Smith, John A., Doe, Jane B. => John A|Smith; Jane B|Doe
Smith, J., A. Doe, and B. Roe => J|Smith; A|Doe; B|Roe
Smith, John and Jane Doe => John|Smith; Jane|Doe
Kyle Lo, Lucy Lu Wang & Mark Neumann => Kyle|Lo; Lucy Lu|Wang; Mark|Neumann
Hans Müller und Karl Schmidt => Hans|Müller; Karl|Schmidt
Marie Curie et Pierre Curie => Marie|Curie; Pierre|Curie
B. Aditya Prakash, Haoxin Liu => B Aditya|Prakash; Haoxin|Liu
Liu, Haoxin, Prakash, B. Aditya => Haoxin|Liu; B Aditya|Prakash
""".strip().splitlines()


def short(author: Author) -> str:
    return "|".join(
        filter(None, (" ".join(filter(None, (author.first, *author.middle))) + "|" + author.last, author.suffix))
    )


@pytest.mark.parametrize(
    "line", LISTS, ids=[line.split(" => ")[0].encode("ascii", "replace").decode() for line in LISTS]
)
def test_hard_names_are_parsed(line: str) -> None:
    text, expected = line.split(" => ")
    assert [short(author) for author in parse_authors(text)] == expected.split("; ")


def test_table_has_150_distinct_lists_of_names() -> None:
    assert len(LISTS) == len(set(LISTS)) >= 150
