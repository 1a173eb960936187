"""A source prints the text that its macros, environments and verbatim arguments stand for (S2ORC §2.2)."""

from __future__ import annotations

import pytest

from s2orc_parse.latex.macros import find_definitions, find_names
from s2orc_parse.latex.pandoc import define_macros
from s2orc_parse.latex.provided import IN_TEXT
from tests.unit.parse_laws import check_laws
from tests.unit.s2orc_parse.latex.archives import parse

FORMS = (
    r"\newcommand{\name}{FooNet\xspace}",
    r"\newcommand\name{FooNet\xspace}",
    r"\newcommand*\name{FooNet}",
    r"\renewcommand{\name}{FooNet}",
    r"\providecommand{\name}{FooNet}",
    r"\def\name{FooNet}",
    r"\gdef\name{FooNet}",
    r"\def\foo{FooNet}\let\name\foo",
    r"\def\foo{FooNet}\newcommand\name\foo",
    r"\DeclareRobustCommand{\name}{FooNet}",
    r"\NewDocumentCommand{\name}{}{FooNet}",
    r"\newrobustcmd{\name}{FooNet}",
    r"\newcommand{\name}{Foo}\renewcommand{\name}{FooNet}",
    r"\newcommand{\name}{FooNet\@}",
)
CNN = r"\newacronym{cnn}{CNN}{neural net}"
CNN_RNN = CNN + r"\newacronym{rnn}{RNN}{recurrent net}"
MINE = r"\usepackage{mine}"
TEXTS = [  # preamble, body, paragraphs separated by |, other files
    # Macros: in the preamble, in the body and in a package of the paper.
    *((rf"\usepackage{{xspace}}{form}", r"We present \name{} here.", "We present FooNet here.") for form in FORMS),
    *((MINE, rf"\tool{{}}. {form} \name{{}} now.", "FooNet. FooNet now.", {"mine_sty": form.replace("name", "tool")}) for form in
      (FORMS[0], FORMS[5], FORMS[7])),
    (r"\newcommand\eps\varepsilon", r"For $\eps$ it is.", "For ε it is."),
    (r"\newcommand\a b", r"An \a{} is.", "An b is."),
    (r"\def\part{\partial}", r"For $\part x$ it is.", "For ∂x it is."),
    (r"\newcommand\path{way}", r"The \path{} is.", "The way is."),
    (r"\NewDocumentCommand{\x}{m m}{#2 #1}", r"It \x{a}{b} is.", "It b a is."),
    (r"\NewDocumentCommand{\x}{O{z} m}{#1#2}", r"It \x[y]{b} \x{b} is.", "It yb zb is."),
    (r"\NewDocumentCommand{\x}{s m}{\IfBooleanTF{#1}{no}{yes #2}}", r"It \x{b} is.", "It yes b is."),
    (r"\DeclareMathOperator{\Tr}{Tr}", r"For $\Tr x$ it is.", "For Trx it is."),
    (r"\DeclarePairedDelimiter{\abs}{\lvert}{\rvert}", r"For $\abs{x}$ it is.", "For |x| it is."),
    (r"\DeclareTextFontCommand{\x}{\bfseries}", r"It \x{was} is.", "It was is."),
    (r"\def\sun{\ifmmode\odot\else$\odot$\fi}", r"The $M_\sun$ and \sun{} is.", "The M⊙ and ⊙ is."),
    (r"\def\eg{\emph{e.g}\onedot}", r"It, \eg, is.", "It, e.g., is."),
    (r"\usepackage{xspace}\newcommand{\it}{\textsc{S2ORC}\xspace}\newcommand{\two}[2][a]{(#1, #2)}\def\mc{$\mathcal{C}$}",
     r"\it\ is \two{b} and \two[c]{d}, \it. \mc", "S2ORC is (a, b) and (c, d), S2ORC. 𝒞"),
    (r"\def\be{\begin{equation}}\newcommand{\ee}{\end{equation}}", r"Let \be x=1\label{e}\ee See (\ref{e}).", "Let EQUATION See (1)."),
    # Acronyms.
    (CNN, r"\gls{cnn}, \gls{cnn}, \glspl{cnn}, \acrlong{cnn}", "neural net (CNN), CNN, CNNs, neural net"),
    (CNN, r"\Glspl{cnn}, \acrshort{cnn}, \acrfull{cnn}", "Neural nets (CNNs), CNN, neural net (CNN)"),
    (r"\newacronym[longplural={nets}]{cnn}{CNN}{net}", r"\acrlongpl{cnn}", "nets"),
    (r"\acrodef{cnn}[CNN]{neural net}", r"\ac{cnn}, \ac{cnn}, \acp{cnn}, \acl{cnn}, \acs{cnn}, \acf{cnn}",
     "neural net (CNN), CNN, CNNs, neural net, CNN, neural net (CNN)"),
    (r"\newacro{CNN}{neural net}", r"\ac{CNN}, \acp{CNN}", "neural net (CNN), CNNs"),
    (r"\DeclareAcronym{cnn}{short=CNN, long=neural net}", r"\ac{cnn}, \Acl{cnn}", "neural net (CNN), Neural net"),
    (r"\newglossaryentry{node}{name={node}, description={a point}}", r"\gls{node}, \Gls{node}, \glspl{node}", "node, Node, nodes"),
    (r"\newcommand{\ours}{\gls{cnn}}\loadglsentries{all}", r"\ours{} and \gls{rnn}", "CNN and recurrent net (RNN)", {"all_tex": CNN_RNN}),
    # Environments of languages belong to their paragraph. Arguments of layout environments are not text.
    ("", r"Wei \begin{CJK*}{UTF8}{gbsn}王伟\end{CJK*} says.", "Wei 王伟 says."),
    ("", r"Wei \begin{CJK}[dnp]{UTF8}{song}王伟\end{CJK} says.", "Wei 王伟 says."),
    ("", r"Wei \begin{otherlanguage}{german}王伟\end{otherlanguage} says.", "Wei 王伟 says."),
    ("", "One.\n\n\\begin{multicols}{2}Two.\\end{multicols}\n\nThree.", "One.|Two.|Three."),
    ("", "One.\n\n\\begin{spacing}{1.5}Two.\\end{spacing}\n\nThree.", "One.|Two.|Three."),
    ("", "One.\n\n\\begin{adjustwidth}{1cm}{2cm}Two.\\end{adjustwidth}\n\nThree.", "One.|Two.|Three."),
    ("", "One.\n\n\\begin{boxedminipage}{4cm}Two.\\end{boxedminipage}\n\nThree.", "One.|Two.|Three."),
    ("", r"\begin{itemize}\item one \item two\end{itemize}\begin{quote}said\end{quote}\strangebox{Words} \vspace{2mm}end",
     "one|two|said|Words end"),
    ("", "One\n\\begin{figure}\\caption{C}\\end{figure}\ntwo.", "One two."),
    # Files, encodings, and parts that are not printed.
    ("", r"\input{one} \include{parts/two.tex} \input{missing}", "One.|Two. Three.",
     {"one_tex": "One.\n\\endinput Never.", "parts/two_tex": "\n\nTwo. \\input{deep}", "parts/deep_tex": "Three."}),
    (r"\usepackage[latin1]{inputenc}", r"\input{a}", "Café Müller.", {"a_tex": "Café Müller.".encode("latin-1")}),
    (r"\usepackage[latin2]{inputenc}", r"\input{a}", "Łódź", {"a_tex": "Łódź".encode("iso8859-2")}),
    (r"\newif\ifdraft \draftfalse", "Kept 5\\% % no\nand\\begin{comment}no\\end{comment} this.\\iffalse no \\iftrue no \\fi\\fi\n"
     "\\ifdraft no\\else final\\fi\n\\begin{lstlisting}\nno\n\\end{lstlisting}\n\\verb|a_b %|", "Kept 5% and|this. final|a_b %"),
    ("", "The first.\n\nIn \\own{}\n\\textbf{\\begin{center}it\\end{center}} one.\n\nThe last \\emph{of it}", "The first.|The last of it"),
    # A percent sign in a verbatim argument is text.
    ("", r"Code at \url{http://x.org/a%20b} is public.", "Code at http://x.org/a%20b is public."),
    ("", r"Code at \url|http://x.org/a%20b| is public.", "Code at http://x.org/a%20b is public."),
    ("", r"See \href{http://x.org/a%20b#c}{the 5\% case} here.", "See the 5% case here."),
    ("", r"Run \path{bin/%d} and \path|a%b| now.", "Run bin/%d and a%b now."),
    ("", r"At \nolinkurl{a.b/%7Ec} now.", "At a.b/%7Ec now."),
    ("", r"The \verb|a%b| and \verb*!c%d! signs.", "The a%b and c%d signs."),
    ("", r"The \lstinline{a%b} and \lstinline[language=C]!c%d! signs.", "The a%b and c%d signs."),
    ("", r"The \mintinline{python}{a%b} and \mintinline{c}|c%d| signs.", "The a%b and c%d signs."),
    ("", r"The \detokenize{a%b} sign.", "The a%b sign."),
    ("", r"A word\index{50%} and more.", "A word and more."),
    ("", r"At \doi{10.1000/a%3Cb} now.", "At doi:10.1000/a%3Cb now."),
    ("", "Go to \\url{%\nhttp://a.b/c} now. % gone", "Go to http://a.b/c now."),
    ("", "Go to \\href%\n{http://a.b/%20c}{it} now.", "Go to it now."),
    ("", r"All 50\% of it. % gone", "All 50% of it."),
    (r"\usepackage{url}\DeclareUrlCommand\web{}", r"At \web{a%b} now.", "At a%b now."),
    (r"\usepackage{url}\let\web\url", r"At \web{a%b} now.", "At a%b now."),
    (r"\usepackage{url}\newcommand{\web}{\url}", r"At \web{a%b} now.", "At a%b now."),
    (r"\usepackage{shortvrb}\MakeShortVerb{\|}", "At |a%b| now.", "At a%b now."),
    (r"\usepackage{fancyvrb}\DefineShortVerb{\+}", "At +a%b+ now.", "At a%b now."),
    (r"\usepackage{listings}\lstnewenvironment{code}{}{}", "One.\n\n\\begin{code}\n50% of {it\n\\end{code}\n\nTwo.", "One.|Two."),
]  # fmt: skip


@pytest.mark.parametrize("name", sorted({one.name for one in IN_TEXT}))
def test_own_definition_wins_over_provided_one(name: str) -> None:
    own = find_definitions(rf"\newcommand{{\{name}}}{{Own}}")
    tex = define_macros(own, {name}, find_names(rf"\{name}"))
    assert tex.strip() == rf"\renewcommand{{\{name}}}{{Own}}"


@pytest.mark.parametrize("row", TEXTS, ids=lambda row: "".join(row[:2]))
def test_source_prints_its_text(row: tuple[str, str, str] | tuple[str, str, str, dict[str, str | bytes]]) -> None:
    preamble, body, printed, *files = row
    found = parse(body, preamble, entries="", **(files[0] if files else {}))
    check_laws(found)
    assert "|".join(paragraph.text for paragraph in found.body_text).replace("\u2061", "") == printed


@pytest.mark.parametrize(
    "thanks",
    [
        *(f"\\begin{{{name}}}We thank all.\\end{{{name}}}" for name in
          ("acknowledgments", "acknowledgements", "acknowledgment", "acknowledgement", "ack", "acks", "Acknowledgments")),
        r"\acknowledgments We thank all.",
        r"\acknowledgments{We thank all.}",
        r"\ack We thank all.",
        r"\funding{We thank all.}",
    ],
)  # fmt: skip
def test_acknowledgments_are_back_matter(thanks: str) -> None:
    found = parse(rf"\section{{A}} One. {thanks} \section{{B}} Two.")
    check_laws(found)
    assert [(p.section, p.text) for p in found.body_text] == [("A", "One."), ("B", "Two.")]
    assert [paragraph.text for paragraph in found.back_matter] == ["We thank all."]
