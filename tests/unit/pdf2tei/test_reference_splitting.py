# ruff: noqa: E501 - pages as they are set
# ruff: noqa: E501 - headings as printed
"""Reference lists are split into the entries that a reader sees, also below a table of the next page."""

import re
from pathlib import Path

import pytest

from pdf2tei.pages.model import Font, Line
from pdf2tei.references import reference_list as references
from pdf2tei.references.entries import AUTHOR
from pdf2tei.references.splitting import split
from tests.unit.pdf2tei.samples import HANGING_LIST, PROSE, TITLE, draw_line, list_raws, read, write_prose

TYPE = Font("times", 9.0)


def line(text: str, row: int, x: float = 50.0) -> Line:
    """Return a line of nine-point type in a row of a page."""
    return draw_line((text, TYPE), x=x, y=11.0 * row)


def entries(texts: list[str]) -> list[str]:
    lines = [line(text, row) for row, text in enumerate(texts)]
    return [" ".join(x.text for x in group) for group in split(lines)]


HEADS = """References|■ REFERENCES|Notes and references|R E F E R E N C E S|6. Literature cited|Références bibliographiques|
Literaturverzeichnis|7. Literatur / Verweise|Quellen- und Literaturverzeichnis|Literatur- und Quellenverzeichnis|Weiterführende Literatur|Verwendete Literatur|L I T E R A T U R|Literatur (Auswahl)|参考文献|VI. REFERENCES|Список литературы|Referencias bibliográficas|
Auswahlbibliographie|Referenzen|Zitierte Werke|Siglen und Literatur|Ouvrages cités|Œuvres citées|Sources et bibliographie|Liste des références|Bibliographie sélective|
Fuentes y bibliografía citada|Obras consultadas|Trabajos citados|Referencias y bibliografía|Lista de referências|Fontes|Opere citate|Bibliografia di riferimento|Fonti e bibliografia"""


OTHERS = [
    "in the table for reference only",
    "Reference values were measured at rest.",
    "Results",
    "Obras",
    "Sources of error",
]


def test_head_of_reference_list_is_found() -> None:
    heads = HEADS.replace("\n", "").split("|")
    assert [text for text in [*heads, *OTHERS] if references.is_head(line(text, 1))] == heads


PRINTED = {
    "a label that was not read": """1 Ammar W, Groeneveld D. Construction of the literature graph. 2018;3:84–91.
2 Lo K, Wang LL. S2ORC: the Semantic Scholar open research corpus. 2020;1:4969–83.
van der Sluis I. Predictors that follow litter. J Ecol 2011; +
12: 4–9. +
4 van Dijk J. Beetles of three forests. Oikos 2012;4:1–9.
5 Xiong C. Explicit semantic ranking. WWW 2017;2:1271–9.""",
    "a year like a label": """1. Ammar W. Construction of the literature graph.
2018. Proceedings of NAACL, pages 84–91. +
2. Lo K. S2ORC: the open research corpus. ACL,
2020. pages 4969–83. +
3. Xiong C. Explicit semantic ranking. 2017.""",
}


KEYS = """[CW96] W. Chen and D. S. Warren. Tabled Evaluation with Delaying for General
Logic Programs. Journal of the ACM, 43(1):20–74, 1996. +
[DRR+ 95] S. Dawson, C. R. Ramakrishnan, I. V. Ramakrishnan, K. Sagonas, S.
Skiena, T. Swift, and D. S. Warren. Unification factoring for efficient +
[DS99] B. Demoen and K. Sagonas. CHAT: The Copy-Hybrid Approach to Tabling. 1999."""


PRINTED["keys with a raised plus"] = KEYS
"""Lists; a plus sign ends the lines that continue an entry."""


@pytest.mark.parametrize("name", PRINTED)
def test_line_within_entry_begins_none(name: str) -> None:
    whole = re.sub(r"\n(.*) \+$", r" \1", PRINTED[name], flags=re.M)
    assert entries(PRINTED[name].replace(" +", "").split("\n")) == whole.split("\n")


BEGINNINGS = """de la Peña, Juan Carlos: El territorio|García Márquez, Álvaro y Muñoz, Lucía|Ortega y Gasset, José: La clase|
PÉREZ GALDÓS, Benito. Usos sociales|Furet, Éric (1988): Penser|Zavala (Óscar), Género y guerra|É. Durkheim, Le suicide|Sá da Costa, Inês"""


@pytest.mark.parametrize("text", BEGINNINGS.replace("\n", "").split("|"))
def test_entry_begins_like_authors(text: str) -> None:
    assert AUTHOR.match(text) is not None


WITH_YEARS = [
    ("Ammar, W., & Groeneveld, D. (2018). Construction of the literature", "graph in Semantic Scholar. NAACL, 84–91."),
    ("Lo, K., & Wang, L. L. (2020). S2ORC: The Semantic Scholar open", "research corpus. ACL, 4969–4983."),
    ("Weihs, L., & Etzioni, O. (2017). Learning to predict citation-based", "impact measures. JCDL, 1–10."),
    ("Xiong, C. (2017). Explicit semantic ranking for academic", "search via knowledge graphs. WWW, 1271–1279."),
]


@pytest.mark.parametrize(("first", "rest"), [(50.0, 62.0), (62.0, 50.0), (50.0, 50.0)])
def test_reference_lists_without_labels_are_split(first: float, rest: float) -> None:
    """Entries may hang, have indented first lines, or have no indent."""
    lines = [
        line(text, 2 * i + k, (first, rest)[k]) for i, pair in enumerate(WITH_YEARS) for k, text in enumerate(pair)
    ]
    assert [" ".join(x.text for x in group) for group in split(lines)] == [" ".join(pair) for pair in WITH_YEARS]


def test_gaps_begin_entries_in_a_list_with_wide_lines() -> None:
    works = [
        ("Andrés Ortega y Gasset, La formación de la clase obrera en", "Cataluña, Bogotá 1973."),
        ("María Teresa Muñoz, La invención de lo cotidiano y sus", "márgenes, Madrid 1994."),
        ("Íñigo Quijano, Los campesinos y la tierra en los pueblos de", "Castilla, Madrid 2012."),
        ("Juan Carlos Zavala, Historia de la lectura en el mundo", "hispánico, Sevilla 2010."),
    ]
    lines = [
        draw_line((text, TYPE), x=50.0, y=36.0 * i + 15.0 * k)
        for i, work in enumerate(works)
        for k, text in enumerate(work)
    ]
    assert [" ".join(x.text for x in group) for group in split(lines)] == [" ".join(work) for work in works]


def test_layout_corrects_starts_of_entries() -> None:
    rows = HANGING_LIST.split("\n")
    lines = [line(row.lstrip(">"), i, 62.0 if row.startswith(">") else 50.0) for i, row in enumerate(rows)]
    assert [" ".join(x.text for x in group) for group in split(lines)] == HANGING_LIST.replace("\n>", " ").split("\n")


SURNAMES = [
    "Anglada", "Arellano", "Azzalini", "Baranne", "Belsley", "Boisse", "Borgniet", "Bouchy", "Cavallini", "Ceppatelli", "Desort",
    "Dumusque", "Evers", "Faria", "Feng", "Fischer", "Galland", "Haywood", "Herrero", "Hunt", "Jones", "Lagrange", "Lovis",
    "Marquardt", "Mayor", "Meunier", "Pepe", "Queloz", "Santos", "Sousa", "Teunissen", "Udry", "Vidal", "Wright", "Zechmeister",
]  # fmt: skip


def read_list(names: str, entries: list[str], before: int, table: str, size: str, folder: Path) -> list[str]:
    """Return the entries of a list in two columns with a table on a new page, after some of the entries."""
    body = "\n\n".join(" ".join(write_prose(n) for n in range(6)) for _ in range(10))
    front = f'#place(top, float: true, scope: "parent")[#align(center)[#text(size: 17pt)[{TITLE}]\n\n{names}]]'
    page = f'#set page(paper: "a4", margin: 2cm, columns: 2)\n#set text(size: 10pt)\n{front}\n\n*Abstract* {PROSE}\n\n= Introduction\n{body}'
    listed = "\n\n".join([*entries[:before], "#pagebreak()", table, *entries[before:]])
    return list_raws(read(f"{page}\n\n= References\n#set text(size: {size})\n{listed}", folder))


def test_list_continues_below_a_table_of_the_next_page(tmp_path: Path) -> None:
    entries = [
        f"#par(hanging-indent: 1.2em)[{name}, {chr(65 + i % 20)}., Bouchy, F., & Mayor, M. {1990 + i % 28}, Astronomy & Astrophysics, {400 + 7 * i}, A{i + 3}]"
        for i, name in enumerate(SURNAMES)
    ]
    cells = ", ".join(f"[HD{1900 + n}], [{1577 + n}], [0.888], [0.669 (0.64; 0.695)]" for n in range(6))
    table = f'#place(top, float: true, scope: "parent")[#figure(table(columns: 4, {cells}), caption: [The estimated velocities of the parameters.])]'
    raws = read_list("Umberto Simola, Jessica Cisewski", entries, 12, table, "8pt", tmp_path)
    assert [raw.split(",")[0] for raw in raws] == SURNAMES


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
    assert len(read_list("Nicola Barbieri, Giuseppe Manco", entries, 4, table, "9pt", tmp_path)) == len(entries)
