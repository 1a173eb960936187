# ruff: noqa: E501 - pages as they are set
"""A list of references continues below a table of the next page."""

from pathlib import Path

from tests.unit.pdf2tei.samples import PROSE, TITLE, list_raws, read, write_prose

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
