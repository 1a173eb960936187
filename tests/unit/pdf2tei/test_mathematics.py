"""Paragraphs continue around display formulas, and inline mathematics remains in its sentence."""

from pathlib import Path

from tests.unit.pdf2tei.samples import LAST, PROSE, TITLE, join_body, list_texts, read

PARAGRAPHS = [
    [f"{PROSE} Let $g(t)$ be the number of beetles in the litter,", "$ g(t) = sum_(i=1)^n x_i + integral_0^t f(s) dif s $",
     f"where $g(t)$ grows with the time. {PROSE}"],
    [f"We study the beetles of three forests, and the state $X_t^((n))$ of each forest over time. {PROSE}"],
    [PROSE, "$ f(x) = cases(x^2 & \"if\" x > 0\\,, 0 & \"otherwise.\") $", "and the claim follows, because the traits of the beetles are "
     "bounded by the litter that they live in."],
    [f"{PROSE} {PROSE}"],
]  # fmt: skip


def test_double_spaced_mathematical_text_has_its_paragraphs_and_formulas(tmp_path: Path) -> None:
    par = "first-line-indent: 1.5em, justify: true, leading: 1.3em, spacing: 1.3em"
    texts = [" ".join(parts) for parts in PARAGRAPHS]
    head = f'#set page(paper: "a4", margin: 3cm)\n#set text(size: 10pt)\n#set par({par})\n#text(size: 16pt)[{TITLE}]\n\n= Introduction'
    tei = read("\n\n".join([head, *texts]), tmp_path)
    assert len(list_texts(tei, ".//t:body//t:p")) == len(texts)
    formulas = list_texts(tei, ".//t:body//t:formula")
    assert ["𝑔(𝑡) =" in text for text in formulas] == [True, False], "one element for each display formula"
    assert "𝑓(𝑥) =" in formulas[1]


def test_prose_above_a_figure_is_body(tmp_path: Path) -> None:
    """It has another size than the running text. The figure contains one label."""
    above = f"#text(size: 9pt)[{PROSE} {LAST}]\n\n#figure(rect(width: 60%, height: 3cm)[axis label], caption: [The traits of beetles.])"
    pages = f"{PROSE} {PROSE}\n\n{PROSE} {PROSE}\n#pagebreak()\n{above}\n#pagebreak()\n{PROSE} {PROSE}"
    tei = read(
        f'#set page(paper: "a4")\n#set text(size: 10pt)\n#text(size: 16pt)[{TITLE}]\n\n= Introduction\n{pages}',
        tmp_path,
    )
    assert join_body(tei).count(LAST) == 1
    assert "axis label" not in join_body(tei)
