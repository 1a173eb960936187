"""A source prints the text that its macros, environments and verbatim arguments stand for (SPEC §3.21, S2ORC §2.2)."""

from __future__ import annotations

import pytest

from s2orc_parse.latex.signs import Signs
from tests.unit.parse_laws import check_laws
from tests.unit.s2orc_parse.latex.archives import ENTRIES, parse

FORMS = (
    r"\newcommand{\name}{FooNet\xspace}",
    r"\def\foo{FooNet}\let\name\foo",
    r"\NewDocumentCommand{\name}{}{FooNet}",
)
CNN = r"\newacronym{cnn}{CNN}{neural net}"
CNN_RNN = CNN + r"\newacronym{rnn}{RNN}{recurrent net}"
MINE = r"\usepackage{mine}"
TEXTS = [  # preamble, body, paragraphs separated by |, other files
    # Macros: in the preamble, in the body and in a package of the paper.
    *((rf"\usepackage{{xspace}}{form}", r"We present \name{} here.", "We present FooNet here.") for form in FORMS),
    *((MINE, rf"\tool{{}}. {form} \name{{}} now.", "FooNet. FooNet now.", {"mine_sty": form.replace("name", "tool")}) for form in
      FORMS[:2]),
    (r"\NewDocumentCommand{\x}{O{z} m}{#1#2}", r"It \x[y]{b} \x{b} is.", "It yb zb is."),
    (r"\def\sun{\ifmmode\odot\else$\odot$\fi}", r"The $M_\sun$ and \sun{} is.", "The M⊙ and ⊙ is."),
    (r"\usepackage{xspace}\newcommand{\it}{\textsc{S2ORC}\xspace}\newcommand{\two}[2][a]{(#1, #2)}\def\mc{$\mathcal{C}$}",
     r"\it\ is \two{b} and \two[c]{d}, \it. \mc", "S2ORC is (a, b) and (c, d), S2ORC. 𝒞"),
    (r"\def\be{\begin{equation}}\newcommand{\ee}{\end{equation}}", r"Let \be x=1\label{e}\ee See (\ref{e}).", "Let EQUATION See (1)."),
    # Acronyms.
    (CNN, r"\gls{cnn}, \gls{cnn}, \glspl{cnn}, \acrlong{cnn}", "neural net (CNN), CNN, CNNs, neural net"),
    (r"\acrodef{cnn}[CNN]{neural net}", r"\ac{cnn}, \ac{cnn}, \acp{cnn}, \acl{cnn}, \acs{cnn}, \acf{cnn}",
     "neural net (CNN), CNN, CNNs, neural net, CNN, neural net (CNN)"),
    (r"\newcommand{\ours}{\gls{cnn}}\loadglsentries{all}", r"\ours{} and \gls{rnn}", "CNN and recurrent net (RNN)", {"all_tex": CNN_RNN}),
    # Environments of languages belong to their paragraph. Arguments of layout environments are not text.
    ("", r"Wei \begin{CJK*}{UTF8}{gbsn}王伟\end{CJK*} says.", "Wei 王伟 says."),
    ("", "One.\n\n\\begin{multicols}{2}Two.\\end{multicols}\n\nThree.", "One.|Two.|Three."),
    ("", r"\begin{itemize}\item one \item two\end{itemize}\begin{quote}said\end{quote}\strangebox{Words} \vspace{2mm}end",
     "one|two|said|Words end"),
    ("", "One\n\\begin{figure}\\caption{C}\\end{figure}\ntwo.", "One two."),
    # Files, encodings, and parts that are not printed.
    ("", r"\input{one} \include{parts/two.tex} \input{missing}", "One.|Two. Three.",
     {"one_tex": "One.\n\\endinput Never.", "parts/two_tex": "\n\nTwo. \\input{deep}", "parts/deep_tex": "Three."}),
    (r"\usepackage[latin1]{inputenc}", r"\input{a}", "Café Müller.", {"a_tex": "Café Müller.".encode("latin-1")}),
    (r"\newif\ifdraft \draftfalse", "Kept 5\\% % no\nand\\begin{comment}no\\end{comment} this.\\iffalse no \\iftrue no \\fi\\fi\n"
     "\\ifdraft no\\else final\\fi\n\\begin{lstlisting}\nno\n\\end{lstlisting}\n\\verb|a_b %|", "Kept 5% and|this. final|a_b %"),
    ("", "The first.\n\nIn \\own{}\n\\textbf{\\begin{center}it\\end{center}} one.\n\nThe last \\emph{of it}", "The first.|The last of it"),
    ("", r"Code at \url{http://x.org/a%20b} is public.", "Code at http://x.org/a%20b is public."),
    ("", r"The \verb|a%b| and \verb*!c%d! signs.", "The a%b and c%d signs."),
    (r"\usepackage{shortvrb}\MakeShortVerb{\|}", "At |a%b| now.", "At a%b now."),
    (r"\usepackage{listings}\lstnewenvironment{code}{}{}", "One.\n\n\\begin{code}\n50% of {it\n\\end{code}\n\nTwo.", "One.|Two."),
]  # fmt: skip


@pytest.mark.parametrize("row", TEXTS, ids=lambda row: "".join(row[:2]))
def test_source_prints_its_text(row: tuple[str, str, str] | tuple[str, str, str, dict[str, str | bytes]]) -> None:
    preamble, body, printed, *files = row
    found = parse(body, preamble, entries="", **(files[0] if files else {}))
    check_laws(found)
    assert "|".join(paragraph.text for paragraph in found.body_text).replace("\u2061", "") == printed


@pytest.mark.parametrize(
    "thanks",
    [r"\begin{acks}We thank all.\end{acks}", r"\acknowledgments We thank all.", r"\funding{We thank all.}"],
)
def test_acknowledgments_are_back_matter(thanks: str) -> None:
    found = parse(rf"\section{{A}} One. {thanks} \section{{B}} Two.")
    check_laws(found)
    assert [(p.section, p.text) for p in found.body_text] == [("A", "One."), ("B", "Two.")]
    assert [paragraph.text for paragraph in found.back_matter] == ["We thank all."]


# Signs replace text that pandoc does not need to read.
PREAMBLE = r"\usepackage{natbib}\newcommand{\own}{our \emph{own} \textsc{Corpus}}\newcommand{\red}[1]{\textbf{#1}}\title{On it all}"
BODIES = [
    r"As \cite{lo}, \citep{lo, doe}, \citet{saier}, \citealp{doe}, \citeauthor{lo} and \citeyear{lo} say, \cite*{lo} \citet*{saier}.",
    r"In Figure \ref{fig:x} and \autoref{t}, (\eqref{e}), \Cref{s} \cref{a,b}. \begin{equation}\label{e} a\end{equation}\section{S}",
    r"$x \textbf{y} \text{ if it \emph{is so} and so}$ and $50\%$ of a b c d, \[ a \emph{b} \text{for all of it} \label{q}\]",
    r"At \url{http://a.b/c-d}, \url{http://a.b/~x_y\%z}, \href{http://a.b/c}{this and \emph{that}}, \href{http://a.b/c}{} \href{http://a.b/\%7E}{x}.",
    r"It is \begin{table}\caption{Of \emph{all} the papers}\label{t}"
    r"\begin{tabular}{ll}of the \emph{one} & \cite{lo} of it\\ \% & x\end{tabular}\end{table}",
    "Ends in a brace { of a group that is \\emph{not closed.",
]


@pytest.mark.parametrize("body", BODIES)
def test_parse_is_equal_with_and_without_signs(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_signs = parse(body, PREAMBLE, entries=ENTRIES)
    monkeypatch.setattr(Signs, "shorten", lambda _, text: text)
    assert with_signs == parse(body, PREAMBLE, entries=ENTRIES)
