"""Signs replace text that pandoc does not need to read. The parse is the same with and without signs."""

from __future__ import annotations

import pytest

from s2orc_parse.latex.signs import SIGN, Signs
from tests.unit.s2orc_parse.latex.archives import ENTRIES, article, parse

PREAMBLE = r"\usepackage{natbib}\newcommand{\own}{our \emph{own} \textsc{Corpus}}\newcommand{\red}[1]{\textbf{#1}}\title{On it all}"
BODIES = [
    "We release the corpus of papers, which is large; it's built (from PDFs).\nIt has well-known sources: e.g.\\ 3.14 and/or 2.",
    r"As \cite{lo}, \citep{lo, doe}, \citet{saier}, \citealp{doe}, \citeauthor{lo} and \citeyear{lo} say, \cite*{lo} \citet*{saier}.",
    r"See \citep[see the book of][p.~3]{doe}, \cite{no body} and \footnote{A note of \citet{lo} here.} it.",
    r"In Figure \ref{fig:x} and \autoref{t}, (\eqref{e}), \Cref{s} \cref{a,b}. \begin{equation}\label{e} a\end{equation}\section{S}",
    r"It is \emph{so large} and \emph{ wide }, \emph{a}\emph{b}, \textbf{\textit{very} much}, \emph{} \emph{{x}} \textsc{on and on}.",
    r"In \own, \own{} and \red{all of it}, \emph x, \textbf {y}, {\em so it is} {\bf and so on} \mbox{in a box of it}.",
    r"$x \textbf{y} \text{ if it \emph{is so} and so}$ and $50\%$ of a b c d, \[ a \emph{b} \text{for all of it} \label{q}\]",
    r"Of 50\% \& 3\_4 \#1 \$5 by F{\"a}rber, Andr\'e, \~nandu, \'{E}tienne and \^{\i}le: ``it's `so' and so''.",
    r"At \url{http://a.b/c-d}, \url{http://a.b/~x_y\%z}, \href{http://a.b/c}{this and \emph{that}}, \href{http://a.b/c}{} \href{http://a.b/\%7E}{x}.",
    "\\noindent The first.\n\n\\par\\noindent\nThe second one \\noindent Third.",
    r"\section{On \emph{all} the \textbf{papers} there are}\paragraph{In short and so on} it is \uppercase{\emph{so} it is and so}.",
    r"\texttt{a \emph{b c} d}, \texttt{\textbf{x}}, \verb|a \emph{b} c|, \unknown{the text \emph{is here}}, \hbox to 3cm{of the box}.",
    r"\begin{itemize}\item[so it is] of all \item The \emph{second of them}\end{itemize}\vskip 2em plus 1fil of it all \hskip 1 cm here.",
    "The first of it all.\n\nThe next \\textbf{\\begin{center}of it\\end{center}} one.\n\nThe last \\emph{of it} all.",
    "It is so.\n\n\\def\\upto#1 and {#1} \\upto this one and that one and so on.",
    r"It is \begin{table}\caption{Of \emph{all} the papers}\label{t}"
    r"\begin{tabular}{ll}of the \emph{one} & \cite{lo} of it\\ \% & x\end{tabular}\end{table}",
    "Ends in a brace { of a group that is \\emph{not closed.",
]


@pytest.mark.parametrize("body", BODIES)
def test_parse_is_equal_with_and_without_signs(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_signs = parse(body, PREAMBLE, entries=ENTRIES)
    monkeypatch.setattr(Signs, "shorten", lambda _, text: text)
    assert with_signs == parse(body, PREAMBLE, entries=ENTRIES)


def test_bibliography_is_equal_with_and_without_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = ENTRIES.replace(
        r"\emph{J. Test.}", r"\emph{J. }\emph{Test.} {\em and more of it}, \href{http://a.b/c} {Link}"
    )
    with_signs = parse("x", PREAMBLE, entries=entries)
    monkeypatch.setattr(Signs, "shorten", lambda _, text: text)
    assert with_signs == parse("x", PREAMBLE, entries=entries)


def test_signs_replace_plain_text_and_known_commands() -> None:
    signs = Signs()
    text = article(
        r"We say that it \emph{is a corpus} of \cite{lo,doe} papers and more\footnote{At \url{http://a.b}.}."
    )
    short = signs.shorten(text)
    assert signs.raw(short) == text
    assert not any(hidden in short for hidden in ("that", "emph", "corpus", "cite", "http"))
    assert SIGN.search(short) and "\\footnote{At" in short


@pytest.mark.parametrize(
    "text",
    [
        r"\unknown{of the words and so on}",  # An unknown command may do anything.
        r"\section{Of the words and so on}",  # The text becomes an identifier.
        r"\catcode`\|=0 Of the words and so on",
        r"\begin{tabbing}of the words\'and so on\end{tabbing}",
        r"\newcommand{\emph}[1]{#1} \emph{it}",
        r"\label{it} \ref{it}",  # pandoc may replace the reference by the number of the label.
    ],
)
def test_signs_do_not_replace_unknown_commands(text: str) -> None:
    text = f"\\begin{{document}}{text}\\end{{document}}"
    assert Signs().shorten(text) == text


def test_number_of_signs_is_limited() -> None:
    text = article(" ".join(f"and word{number} of it. \\emph{{x}}" for number in range(9000)))
    signs = Signs()
    assert signs.raw(signs.shorten(text)) == text
    assert len(set(SIGN.findall(signs.shorten(text)))) == 0xF8FF - 0xE100 + 1


@pytest.mark.parametrize(
    "part", ["\\emph{", "{", "\\cite{a,", "a b ", "\\footnote{a", "\\def ", "a" + " " * 50, "\\emph{}"]
)
def test_hostile_text_is_shortened_and_restored(part: str) -> None:
    text = "\\begin{document}" + part * 20_000 + "}" * 20_000
    signs = Signs()
    assert signs.raw(signs.shorten(text)) == text
