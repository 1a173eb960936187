"""Small sources with one construct each, and two real arXiv sources, give the expected parse (SPEC §3.21, S2ORC §2.2).

A source prints the text that its macros, environments and verbatim arguments stand for.
"""

from collections import Counter
from pathlib import Path

import pytest

from pdf2tei.references.fields import parse_bibliography_item
from s2orc_parse.latex import convert
from s2orc_parse.latex.tex import find_environments
from s2orc_parse.parse_model import CitationStyle, RefType
from tests.unit.parse_laws import check_laws
from tests.unit.s2orc_parse.latex.archives import ENTRIES, list_entries, parse, tar, texts


def test_subfigures_are_separate_figures() -> None:
    found = parse(
        r"See \ref{f}, \ref{fa} and \subref{fb}."
        r"\begin{figure}\begin{subfigure}{.5\textwidth}\caption{First}\label{fa}\end{subfigure}"
        r"\subfloat[Second]{\includegraphics{x}\label{fb}}\caption{Both of \citet{lo}}\label{f}\end{figure}",
        r"\usepackage{natbib}",
        entries=ENTRIES,
    )
    assert texts(found) == [("", "See 1, 1a and 1b.")]
    figures = [("1", "Both of Lo and Wang (2020)"), ("1a", "First"), ("1b", "Second")]
    assert list_entries(found, RefType.FIGURE) == figures
    assert [span.text for span in found.ref_entries[0].cite_spans] == ["Lo and Wang (2020)"]


def test_tables_are_rows_of_cells() -> None:
    found = parse(
        r"See Table~\ref{t}. \begin{table}\caption{Cap}\label{t}\resizebox{\columnwidth}{!}{\begin{tabular}{l|cc}\toprule"
        r" \multirow{2}{*}{A} & \multicolumn{2}{c}{\textbf{B} \& C}\\ \cmidrule(lr){2-3}"
        r" & \makecell{1 \\ 2} & $\alpha$ \citep{lo}\\[2pt] \bottomrule"
        r"\end{tabular}}\end{table}",
        r"\usepackage{natbib}",
        entries=ENTRIES,
    )
    (table,) = [entry for entry in found.ref_entries if entry.type is RefType.TABLE]
    assert table.cells == (("A", "B & C", ""), ("", "1 2", "α (Lo and Wang, 2020)"))
    assert table.latex is not None and table.latex.startswith(r"\begin{tabular}{l|cc}")
    assert [(c.row, c.column, c.span.text) for c in table.cell_cites] == [(1, 2, "Lo and Wang, 2020")]
    assert texts(found) == [("", "See Table 1.")]


def test_display_formulas_are_tokens_with_tex_and_mathml() -> None:
    found = parse(
        r"First \begin{align} a&=b\label{e1}\\ c&=d\nonumber\\ e&=f\label{e2}\end{align} then \[x^2\] and \eqref{e2}, $N_1$."
    )
    (paragraph,) = found.body_text
    assert paragraph.text == "First EQUATION then EQUATION and (2), N1."
    assert [(s.text, s.label, s.ref_id) for s in paragraph.eq_spans] == [
        ("EQUATION", "1–2", "EQREF0"), ("EQUATION", None, "EQREF1"), ("N1", None, None),
    ]  # fmt: skip
    assert paragraph.eq_spans[1].latex == "x^2"
    assert all((span.mathml or "").startswith("<math") for span in paragraph.eq_spans)


@pytest.mark.parametrize(
    "listing",
    [
        "\\begin{lstlisting}[language=Python,caption={[Short]River \\emph{code}},label=l]\nx = 5 % 3  # {odd\n\\end{lstlisting}",
        "\\lstinputlisting[caption=River code, label=l]{code.py}",
        "\\begin{listing}\\begin{minted}{python}\nx = {\n\\end{minted}\\caption{River code}\\label{l}\\end{listing}",
    ],
)
def test_listings_are_entries_with_numbers_of_their_own(listing: str) -> None:
    found = parse(
        rf"By \ref{{a}}. \begin{{algorithm}}\caption{{An algorithm}}\label{{a}}\end{{algorithm}} {listing} See \cref{{l}}."
    )
    assert list_entries(found, RefType.FIGURE) == [("1", "An algorithm"), ("1", "River code")]
    assert " ".join(text for _, text in texts(found)) == "By 1. See Listing 1."


def test_footnotes_are_entries_with_their_citations() -> None:
    found = parse(
        r"Some\footnotemark{} text.\footnotetext{As \citet{doe} says.} And\footnotemark[7] that.\footnotetext[7]{Seventh.}"
        r" x\footnote[9]{N.} y\footnote{See.}",
        r"\usepackage{natbib}",
        entries=ENTRIES,
    )
    assert texts(found) == [("", "Some text. And that. x y")]
    assert list_entries(found, RefType.FOOTNOTE) == [
        ("1", "As Doe (2001) says."), ("7", "Seventh."), ("9", "N."), ("2", "See."),
    ]  # fmt: skip
    assert [span.ref_id for span in found.ref_entries[0].cite_spans] == ["BIBREF2"]


def test_sections_have_paths_and_numbers() -> None:
    found = parse(
        r"\section{A}\subsection{B}\label{b} One, see \S\ref{app}.\paragraph{Run in} Two. \section*{Acknowledgements} Thanks."
        r"\appendix\section{Proofs}\label{app} Three, see \autoref{b}. \subsection{More} Four."
    )
    assert [(p.section, p.sec_num, p.text) for p in found.body_text] == [
        ("A::B", "1.1", "One, see §A."), ("A::B::Run in", None, "Two."), ("Proofs", "A", "Three, see Section 1.1."),
        ("Proofs::More", "A.1", "Four."),
    ]  # fmt: skip
    assert [p.text for p in found.back_matter] == ["Thanks."]


def test_source_gives_title_authors_and_abstract() -> None:
    found = parse(
        r"\maketitle\begin{abstract}We do \emph{this}.\end{abstract}Body.",
        r"\title{A \textbf{good} title\thanks{grant}}\author{Kyle Lo$^1$ \and Lucy Lu Wang \\ University of X \\ \texttt{a@b.org}}",
    )
    assert found.header.title == "A good title"
    assert [(a.first, a.last) for a in found.header.authors] == [("Kyle", "Lo"), ("Lucy", "Wang")]
    assert [p.text for p in found.abstract] == ["We do this."]
    assert texts(found) == [("", "Body.")]


@pytest.mark.parametrize(
    ("name", "expected", "words"),
    [
        ("1911.02782.gz", {"sections": 27, "entries": 55, "citations": 88, "tables": 10, "formulas": 3, "captions": 13}, 4929),
        ("2004.14974.gz", {"sections": 34, "entries": 36, "citations": 49, "tables": 14, "formulas": 0, "captions": 21}, 5130),
    ],
)  # fmt: skip
def test_real_source_has_a_readers_counts(shared_data: Path, name: str, expected: dict[str, int], words: int) -> None:
    data = (shared_data / "latex" / name).read_bytes()
    found = convert(data, sha1="0" * 40, parse_reference=parse_bibliography_item)
    check_laws(found)
    assert found.citation_style is CitationStyle.NAME_YEAR
    spans = [span for part in (*found.abstract, *found.body_text, *found.back_matter) for span in part.cite_spans]
    spans += [span for entry in found.ref_entries for span in entry.cite_spans]
    spans += [cell.span for entry in found.ref_entries for cell in entry.cell_cites]
    kinds = Counter(entry.type for entry in found.ref_entries)
    assert expected == {
        "sections": kinds[RefType.SECTION], "entries": len(found.bib_entries), "citations": sum(span.ref_id is not None for span in spans),
        "tables": sum(bool(entry.cells) for entry in found.ref_entries), "formulas": kinds[RefType.FORMULA],
        "captions": sum(bool(e.text) for e in found.ref_entries if e.type in (RefType.FIGURE, RefType.TABLE)),
    }  # fmt: skip
    assert [e.ref_id for e in found.bib_entries if not (e.title and e.authors and e.year)] == []
    assert sum(len(p.text.split()) for p in found.body_text) == pytest.approx(words, rel=0.05)


FORMS = (
    r"\newcommand{\name}{FooNet\xspace}", r"\def\foo{FooNet}\let\name\foo", r"\NewDocumentCommand{\name}{}{FooNet}",
)  # fmt: skip
CNN = r"\newacronym{cnn}{CNN}{neural net}"
CNN_RNN = CNN + r"\newacronym{rnn}{RNN}{recurrent net}"
MINE = r"\usepackage{mine}"
TEXTS = [  # preamble, body, paragraphs separated by |, other files
    # Macros: in the preamble, in the body and in a package of the paper.
    *((rf"\usepackage{{xspace}}{form}", r"We present \name{} here.", "We present FooNet here.") for form in FORMS),
    *((MINE, rf"\tool{{}}. {form} \name{{}} now.", "FooNet. FooNet now.", {"mine_sty": form.replace("name", "tool")}) for form in
      FORMS[:2]),
    # Definitions for bookmarks (arXiv sources of DropImpact and holey sheets).
    (r"\pdfstringdefDisableCommands{\def\gamma{gamma}\def\sqrt#1{sqrt(#1)}}", r"See $\sqrt{\gamma}$.", "See √γ."),
    # A comment between a command and its argument joins the lines.
    ("", "\\begin{equation}\\label{e} x \\end{equation} By \\cref%\n\t{e} and \\textbf%\n  {b}.", "EQUATION By Equation (1) and b."),
    (r"\NewDocumentCommand{\x}{O{z} m}{#1#2}", r"It \x[y]{b} \x{b} is.", "It yb zb is."),
    (r"\def\sun{\ifmmode\odot\else$\odot$\fi}", r"The $M_\sun$ and \sun{} is.", "The M⊙ and ⊙ is."),
    (r"\usepackage{xspace}\newcommand{\it}{\textsc{S2ORC}\xspace}\newcommand{\two}[2][a]{(#1, #2)}\def\mc{$\mathcal{C}$}",
     r"\it\ is \two{b} and \two[c]{d}, \it. \mc", "S2ORC is (a, b) and (c, d), S2ORC. 𝒞"),
    (r"\def\be{\begin{equation}}\newcommand{\ee}{\end{equation}}", r"Let \be x=1\label{e}\ee See (\ref{e}).", "Let EQUATION See (1)."),
    # Starred forms of commands, of delimiters and of packages. Commands before letters.
    (r"\usepackage{mathtools}\DeclarePairedDelimiter\norm{\lVert}{\rVert}\DeclarePairedDelimiterX\set[2]{\{}{\}}{#1 , #2}",
     r"It is $\norm*{x}$, $\norm[\big]{y}$ and $\set*{a}{b}$.", "It is ‖x‖, ‖y‖ and {a,b}."),
    (r"\NewDocumentCommand{\x}{s m}{\IfBooleanTF{#1}{#2}{#2}}", r"It \x*{a} \x{b}.", "It a b."),
    ("", r"The $\Lambda$CDM, {\ss}e, \o re, H$\alpha$ and na\"\i ve; \todo{fix it} so.", "The ΛCDM, ße, øre, Hα and naïve; so."),
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
    ("", r"One\medskip{\it two} is. \noindent {\bf Three} \protect{four}.", "One two is. Three four."),
    # A line break before an empty line is not part of the next paragraph.
    ("", "One.\\\\[2mm]\n\nTwo. \\newline\n\nThree.\\\\\nFour.", "One.|Two.|Three. Four."),
    # Rules, spaces and sizes of boxes are not text; what boxes contain is.
    (r"\def\QED{\mbox{\rule[0pt]{1.0ex}{1.0ex}}}\def\endproof{\hspace*{\fill}~\QED\par\endtrivlist\unskip}", r"It holds.\endproof",
     "It holds."),
    ("", r"It\hfill\vbox{\hrule\hbox{\vrule height1.3ex\hskip0.8ex\vrule}\hrule} is \hskip\textwidth so\hskip 1em plus 2pt \kern-1pt here.",
     "It is so here."),
    ("", r"A \hbox to 3cm{one} \makebox[3cm][l]{b} \fbox{c} \smash{d} \llap{e} \rule{1cm}{1pt} f.", "A one b c d e f."),
    ("", r"A\kern2truemm b\kern-\parindent c $x\kern-.2em y$ d.", "A b c xy d."),
    ("", "A wo\u00adrd of\u200b the \ufb01rst.", "A word of the first."),
    # Chemical formulas and small fractions.
    (r"\newcommand{\ch}[1]{[#1]}", r"See \ch{H2O} here.", "See [H2O] here."),
    ("", r"The \ce{SO4^{2-}} of \ce{CO2 + H2O <=> H2CO3}, \chem{NO_3^-}, $\ce{CO2}$, \nicefrac{1}{2} and $\sfrac{1}{2}$.",
     "The SO42- of CO2 + H2O ⇌ H2CO3, NO3-, CO2, 1/2 and 1/2."),
    # Symbols of textcomp, astronomy and French; hyphenation; shorthands of German.
    ("", r"A \textendash{} b, \textpm 3, 4\farcs5, 6 \micron, 1\ieme{} and \ion{C}{iv} co\-or\-di\-nate.",
     "A – b, ±3, 4″.5, 6 μm, 1e and C IV coordinate."),
    (r"\usepackage[english,ngerman]{babel}", 'In M"unchen hei"st "Uber"-text c"~d "ab\\"a", Dru"cker.',
     'In München heißt Übertext c-d äbä", Drucker.'),
    (r"\usepackage[ngerman,english]{babel}", 'It is "odd" here.', 'It is "odd" here.'),
    ("", r"\begin{mybox}{Odd title}This is it.\end{mybox}", "Odd title This is it."),
    # Formulas are read as those of JATS.
    ("", r"Of $\frac{a+b}{2n}$, $\sqrt{x}$ and $\log n$.", "Of (a+b)/2n, √x and log n."),
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
    assert "|".join(paragraph.text for paragraph in found.body_text) == printed


@pytest.mark.parametrize(
    "thanks", [r"\begin{acks}We thank all.\end{acks}", r"\acknowledgments We thank all.", r"\funding{We thank all.}"]
)
def test_acknowledgments_are_back_matter(thanks: str) -> None:
    found = parse(rf"\section{{A}} One. {thanks} \section{{B}} Two.")
    assert [(p.section, p.text) for p in found.body_text] == [("A", "One."), ("B", "Two.")]
    assert [paragraph.text for paragraph in found.back_matter] == ["We thank all."]


def test_unclosed_environment_hides_no_later_one() -> None:
    found = find_environments(r"\begin{table} a \begin{table} b \end{table} \begin{table} c \end{table}", "table")
    assert [environment.body.strip() for environment in found] == ["b", "c"]


def test_class_in_an_input_file_does_not_start_the_document() -> None:
    files: dict[str, str | bytes] = {
        "layout.tex": "\\documentclass{article}\n\\input{macros}",
        "paper.tex": "\\input{layout}\\begin{document}Text.\\end{document}",
    }
    assert texts(convert(tar(files), sha1="0" * 40)) == [("", "Text.")]


def test_line_break_separates_words() -> None:
    assert parse(r"\title{Odd:\linebreak rivers}\maketitle Text.").header.title == "Odd: rivers"


def test_environment_that_a_class_defines_as_a_command_is_the_environment() -> None:
    style = r"\def\equation{\refstepcounter{equation}\hbox to\linewidth\bgroup $\displaystyle \hskip\mathindent}\let\fmbox\odd@fmbox"
    found = parse(
        r"\begin{fmbox}It is \begin{equation}x=1\end{equation} here.\end{fmbox}", r"\usepackage{odd}", odd_sty=style
    )
    assert texts(found) == [("", "It is EQUATION here.")]
