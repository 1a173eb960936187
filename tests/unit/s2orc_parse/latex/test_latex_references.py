"""References to theorems, list items, formulas and sections print their text and link to their entries (SPEC §3.22)."""

from __future__ import annotations

import pytest

from s2orc_parse.parse_model import Parse, RefType
from tests.unit.parse_laws import check_laws
from tests.unit.s2orc_parse.latex.archives import list_entries, parse, texts


def refs(found: Parse) -> list[tuple[str, str | None, str | None]]:
    """Return the text of each reference, and the type and number of its entry."""
    entries = {entry.key: entry for entry in found.ref_entries}
    spans = [span for paragraph in found.body_text for span in paragraph.ref_spans]
    found_entries = [entries.get(span.ref_id or "") for span in spans]
    return [
        (span.text, str(entry.type) if entry else None, entry.num if entry else None)
        for span, entry in zip(spans, found_entries, strict=True)
    ]


def last(found: Parse) -> str:
    check_laws(found)
    return found.body_text[-1].text


@pytest.mark.parametrize(
    ("setup", "printed"),
    [
        (r"\newtheorem{thm}{Theorem}\newtheorem{lem}{Lemma}", "Theorem 1, Lemma 1, Theorem 2"),
        (r"\newtheorem{thm}{Theorem}\newtheorem{lem}[thm]{Lemma}", "Theorem 1, Lemma 2, Theorem 3"),
        (r"\newtheorem{lem}{Lemma}[section]\newtheorem{thm}[lem]{\bf Theorem}", "Theorem 1.1, Lemma 1.2, Theorem 2.1"),
        (r"\theoremstyle{plain}\newtheorem{thm}{Theorem}\newtheorem{lem}{Lemma}\numberwithin{thm}{section}",
         "Theorem 1.1, Lemma 1, Theorem 2.1"),
        (r"\newtheorem{thm}{Theorem}\renewcommand{\thethm}{\Alph{thm}}\newtheorem{lem}{Lemma}", "Theorem A, Lemma 1, Theorem B"),
        (r"\usepackage{thmtools}\declaretheorem[numberwithin=section,name=Theorem]{thm}\declaretheorem[sibling=thm,name=Lemma]{lem}",
         "Theorem 1.1, Lemma 1.2, Theorem 2.1"),
        (r"\newtheorem{thm}{Theorem}\newtheorem{lem}{Lemma}\crefname{lem}{Lem.}{Lems.}", "Theorem 1, Lem. 1, Theorem 2"),
    ],
)  # fmt: skip
def test_theorem_numbers_follow_their_counters(setup: str, printed: str) -> None:
    found = parse(
        r"\section{A}\begin{thm}\label{a} X.\end{thm}\begin{lem}[Zorn]\label{b} Y.\end{lem}"
        r"\section{B}\begin{thm}\label{c} Z.\end{thm} \cref{a}, \cref{b}, \cref{c}",
        rf"\usepackage{{amsthm,cleveref}}{setup}",
    )
    assert last(found) == printed
    numbers = [part.rsplit(" ")[-1] for part in printed.split(", ")]
    assert refs(found) == [(number, "theorem", number) for number in numbers]
    assert list_entries(found, RefType.THEOREM) == list(zip(numbers, ("X.", "Y.", "Z."), strict=True))


def test_theorem_paragraph_begins_with_its_head() -> None:
    found = parse(
        "\\begin{thm}[Zorn]\\label{a} It is.\n\nSo.\\end{thm}\\begin{proof}[Proof of \\cref{a}] Clear.\\end{proof}",
        r"\newtheorem{thm}{Theorem}",
    )
    check_laws(found)
    assert texts(found) == [("", "Theorem 1 (Zorn). It is."), ("", "So."), ("", "Proof of Theorem 1. Clear. ◻")]
    assert list_entries(found, RefType.THEOREM) == [("1", "It is. So.")]


@pytest.mark.parametrize(
    ("body", "preamble", "numbers"),
    [
        (r"\begin{enumerate}\item x\begin{enumerate}\item y\item\label{a} z\begin{enumerate}\item\label{b} w"
         r"\end{enumerate}\end{enumerate}\item\label{c} v\end{enumerate}", "", ["1b", "1(b)i", "2"]),
        (r"\begin{enumerate}[label=(\roman*)]\item\label{a} x\item\label{b} y\end{enumerate}", r"\usepackage{enumitem}", ["(i)", "(ii)"]),
        (r"\begin{enumerate}[label=\textbf{(H\arabic*)}, start=3]\item\label{a} x\end{enumerate}", r"\usepackage{enumitem}", ["(H3)"]),
        (r"\begin{enumerate}[(a)]\item x\item\label{a} y\end{enumerate}", r"\usepackage[shortlabels]{enumitem}", ["(b)"]),
        (r"\begin{enumerate}\item\label{a} x\end{enumerate} t \begin{enumerate}[resume]\item\label{b} y\end{enumerate}",
         r"\usepackage{enumitem}", ["1", "2"]),
        (r"\begin{enumerate}\item[(A1)]\label{a} x\item\label{b} y\end{enumerate}", "", ["(A1)", "1"]),
        (r"\begin{description}\item[Step one.]\label{a} x\end{description}", "", ["Step one"]),
    ],
)  # fmt: skip
def test_list_items_have_their_own_numbers(body: str, preamble: str, numbers: list[str]) -> None:
    labels = "abc"[: len(numbers)]
    found = parse(
        rf"\section{{S}} Text. {body} See " + " ".join(rf"\ref{{{label}}}" for label in labels) + ".", preamble
    )
    check_laws(found)
    assert refs(found) == [(number, "item", number) for number in numbers]


CLASS = (
    r"\section{A}\begin{theorem}\label{a}X.\end{theorem}\begin{lemma}\label{b}Y.\end{lemma} \autoref{a}, \autoref{b}"
)
FIGURES = (
    r"\begin{figure}\caption{Cap A}\label{f}\end{figure}\begin{figure}\caption{B}\label{g}\end{figure}"
    r"\begin{table}\caption{C}\label{t}\end{table}"
)


@pytest.mark.parametrize(
    ("command", "printed", "texts_of_spans"),
    [
        (r"\crefrange{f}{g}", "Figures 1 to 2", ["1", "2"]),
        (r"\Cref{f,g,t}", "Figures 1, 2 and Table 1", ["1", "2", "1"]),
        (r"\nameref{f}", "Cap A", ["Cap A"]),
        (r"\hyperref[f]{Figure~\ref*{f}}", "Figure 1", ["1"]),
        (r"\autoref{f}\pageref{f}\cpageref{f}", "Figure 1", ["1"]),
    ],
)
def test_reference_commands_print_as_their_packages(command: str, printed: str, texts_of_spans: list[str]) -> None:
    found = parse(f"{FIGURES} See {command}.", r"\usepackage{cleveref,varioref,hyperref}")
    check_laws(found)
    assert texts(found) == [("", f"See {printed}.")]
    assert [text for text, _, _ in refs(found)] == texts_of_spans
    assert all(kind in ("figure", "table") for _, kind, _ in refs(found))


THEOREM = r"\newtheorem{thm}{Theorem}"
REFERENCES = [  # preamble, body, text of the last paragraph, references
    # Theorems in appendices; theorems without numbers never link to their section.
    (THEOREM + "[section]",
     r"\section{A} One. \appendix\section{B}\label{s}\begin{thm}\label{a}X.\end{thm} \cref{a} in \cref{s}, \nameref{s}.",
     "Theorem A.1 in Appendix A, B.", [("A.1", "theorem", "A.1"), ("A", "section", "A"), ("B", "section", "A")]),
    (r"\newtheorem*{rem}{Remark}", r"\section{A}\begin{rem}\label{r}R.\end{rem}\begin{proof}\label{p}P.\end{proof} \ref{r} \ref{p}",
     "1 1", [("1", "theorem", None), ("1", None, None)]),
    (r"\usepackage{thm-restate}\newtheorem{thm}{Theorem}\newcommand{\bt}{\begin{thm}}\def\et{\end{thm}}"
     r"\newenvironment{mine}{\begin{thm}}{\end{thm}}",
     r"\begin{restatable}[N]{thm}{again}\label{a} X.\end{restatable} \bt\label{b} Y.\et \begin{mine}\label{c}Z.\end{mine} \cref{a,b,c}",
     "Theorems 1, 2 and 3", [(number, "theorem", number) for number in "123"]),
    # Formulas have numbers of their own in theorems, items and sections. Subequations share one.
    (THEOREM + "[section]", r"\section{A}\begin{thm}\label{t} X \begin{equation}\label{e}a\end{equation}\end{thm} \ref{t} \eqref{e}",
     "1.1 (1)", [("1.1", "theorem", "1.1"), ("(1)", "formula", "1")]),
    ("", r"A \begin{equation}\label{o}z\end{equation} \begin{subequations}\label{p}\begin{align}a\label{q}\\b\label{r}\end{align}"
     r"\end{subequations} \begin{equation}\label{s}c\end{equation}" "\n\n" r"\eqref{o} \eqref{p} \eqref{q} \eqref{r} \eqref{s}",
     "(1) (2) (2a) (2b) (3)", None),
    (r"\numberwithin{equation}{section}",
     r"\section{A}\begin{equation}\label{a}x\end{equation}\section{B}\begin{equation}\label{b}y\end{equation}\par \eqref{a} \eqref{b}",
     "(1.1) (2.1)", [("(1.1)", "formula", "1.1"), ("(2.1)", "formula", "2.1")]),
    # An item's number may contain the theorem's. A section named like a label is not its target.
    (r"\usepackage{enumitem}\newtheorem{prop}{Proposition}[section]",
     r"\section{A}\begin{prop}\begin{enumerate}[label=(\alph*), ref=\theprop(\alph*)]\item\label{a} X\end{enumerate}\end{prop} \ref{a}",
     "1.1(a)", [("1.1(a)", "item", "1.1(a)")]),
    ("", "\\section{Aims} One. \\begin{equation}\\label{aims}x\\end{equation}\n\n\\eqref{aims}", "(1)", [("(1)", "formula", "1")]),
    # Classes define theorems.
    (r"\documentclass{llncs}", CLASS, "Theorem 1, Lemma 1", None),
]  # fmt: skip


@pytest.mark.parametrize(("preamble", "body", "printed", "expected"), REFERENCES)
def test_references_print_and_link(
    preamble: str, body: str, printed: str, expected: list[tuple[str, str | None, str | None]] | None
) -> None:
    found = parse(body, preamble)
    assert last(found) == printed
    assert expected is None or refs(found) == expected
