"""Citations and references print their text and link to their entries (SPEC §3.21, §3.22): natbib, biblatex, REVTeX, cleveref."""

import pytest

from s2orc_parse.parse_model import Parse, RefType
from tests.unit.s2orc_parse.latex.archives import ENTRIES, list_citations, list_entries, parse, texts

NAMED = r"""\begin{thebibliography}{}
\bibitem[Abe et~al.(2016)Abe, Crain, and Kauf]{abe} Abe A., Crain R., Kauf G., 2016, \mnras, 456, 1115
\bibitem[\protect\citeauthoryear{Correa \& Schaye}{Correa \& Schaye}{2017}]{corr} Correa, C., Schaye, J. 2017, J Odd, 464, 4204
\bibitem[van der Doe(2001)]{doe} van der Doe, J. 2001, J Odd, 1, 2
\end{thebibliography}"""

BIB = """@article{lee, author={Lee, Ann and Hu, Bo}, title={First title here}, journal={J Odd}, year={2001}, url={http://a.b/c}}
@article{hu, author={Hu, Bo}, title={Second title here}, journal={J Odd}, year={2002}}"""
Setup = tuple[str, str, dict[str, str]]
NATBIB: Setup = (r"\usepackage{natbib}\defcitealias{abe}{Paper~I}", NAMED, {})
BIBLATEX = (r"\usepackage[style=authoryear]{biblatex}\addbibresource{refs.bib}", "", {"refs_bib": BIB})
REVTEX: Setup = (
    r"\documentclass{revtex4-2}", ENTRIES.replace("[Lo and Wang(2020)]", "").replace("[Doe(2001)]", ""), {},
)  # fmt: skip


@pytest.mark.parametrize(
    ("setup", "command", "printed", "keys"),
    [
        (NATBIB, r"\citeauthor*{abe}", "Abe, Crain, and Kauf", ["abe"]),
        (NATBIB, r"\citepalias[see][]{abe}", "(see Paper I)", ["abe"]),
        (NATBIB, r"\citet[][see also \citealp{corr}]{abe}", "Abe et al. (2016, see also Correa & Schaye, 2017)", ["abe", "corr"]),
        (NATBIB, r"\citep[e.g.][\S~\ref{s}]{abe}", "(e.g. Abe et al., 2016, § 1)", ["abe"]),
        (NATBIB, "\\citep[see]%\n  [p. 1]{abe, %\n corr}", "(see Abe et al., 2016; Correa & Schaye, 2017, p. 1)", ["abe", "corr"]),
        (NATBIB, r"\citep{nobody}", "(?)", [None]),
        (BIBLATEX, r"\parencite[Cf.][13]{lee}", "(Cf. Lee and Hu, 2001, 13)", ["lee"]),
        (BIBLATEX, r"\fullcite{hu}", "Bo Hu. Second title here. J Odd. 2002", ["hu"]),
        (BIBLATEX, r"\parencites(compare)(end){lee}{hu}", "(compare Lee and Hu, 2001; Hu, 2002, end)", ["lee", "hu"]),
        (REVTEX, r"Refs.~[\onlinecite{lo,doe}]", "Refs. [1, 3]", ["lo", "doe"]),
    ],
)  # fmt: skip
def test_command_prints_and_links_its_keys(setup: Setup, command: str, printed: str, keys: list[str | None]) -> None:
    preamble, entries, files = setup
    end = r"\nocite{*}\printbibliography" if files else ""
    found = parse(rf"\section{{A}}\label{{s}} As {command} say. {end}", preamble, entries=entries, **files)
    assert texts(found) == [("A", f"As {printed} say.")]
    assert [key for _, key in list_citations(found)] == keys


LEE = "@article{lee, author={Lee, Ann and Hu, Bo and Wu, Cy}, title={First title here}, year={2001}}"


@pytest.mark.parametrize(
    ("package", "style", "command", "printed", "form"),
    [
        ("", "plain", r"\citep{lee}", "[1]", "BRACKET"),
        (r"\usepackage{natbib}", "plainnat", r"\citep{lee}", "(Lee et al., 2001)", "NAME_YEAR"),
        (r"\usepackage[numbers,sort&compress]{natbib}", "", r"\cite{doe,lo,saier}", "[1–3]", "BRACKET"),
        (r"\usepackage[numbers]{natbib}", "", r"\citet{saier}", "Saier et al. [2]", "BRACKET"),
        (r"\usepackage[numbers,round]{natbib}", "", r"\citep{doe}", "(3)", "OTHER"),
        (r"\usepackage[super]{natbib}", "", r"\cite{doe,lo}", "3,1", "OTHER"),
    ],
)  # fmt: skip
def test_options_and_style_decide_the_form(package: str, style: str, command: str, printed: str, form: str) -> None:
    entries = rf"\bibliographystyle{{{style}}}\bibliography{{refs}}" if style else ENTRIES
    found = parse(rf"As in {command}.", package, entries=entries, refs_bib=LEE)
    assert (texts(found), found.citation_style) == ([("", f"As in {printed}.")], form)


@pytest.mark.parametrize(("macro", "venue"), [("mnras", "MNRAS"), ("own", "Journal of Tests")])
def test_journal_macro_is_the_venue(macro: str, venue: str) -> None:
    bib = rf"@article{{a, author={{Abe, A.}}, title={{On stars}}, journal={{\{macro}}}, volume=4, year=2016}}"
    (entry,) = parse(r"\cite{a}\bibliography{refs}", r"\newcommand{\own}{Journal of Tests}", refs_bib=bib).bib_entries
    assert entry.venue == venue


DOE = "@article{doe, author={Doe, Jane}, title={On tests}, journal={J. Tests}, year={2001}}"
DOE_ENTRIES = r"\begin{thebibliography}{1}\bibitem{doe} J. Doe. \newblock On tests. \newblock \emph{J. Tests}, 2001.\end{thebibliography}"


@pytest.mark.parametrize(
    ("name", "content", "command"),
    [(r"\jobname.bib", DOE, r"\bibliography{\jobname}"), ("main.bbl", DOE_ENTRIES, r"\bibliography{refs}")],
)
def test_embedded_bibliography_is_read(name: str, content: str, command: str) -> None:
    embedded = f"\\begin{{filecontents}}[overwrite]{{{name}}}\n{content}\n\\end{{filecontents}}\n"
    found = parse(f"As \\cite{{doe}} says. {command}", embedded, note_txt="x")
    assert (texts(found), list_citations(found)) == ([("", "As [1] says.")], [("1", "doe")])
    assert [(entry.title, entry.year) for entry in found.bib_entries] == [("On tests", 2001)]


def refs(found: Parse) -> list[tuple[str, str | None, str | None]]:
    """Return the text of each reference, and the type and number of its entry."""
    entries = {entry.key: entry for entry in found.ref_entries}
    spans = [span for paragraph in found.body_text for span in paragraph.ref_spans]
    found_entries = [entries.get(span.ref_id or "") for span in spans]
    return [
        (span.text, str(entry.type) if entry else None, entry.num if entry else None)
        for span, entry in zip(spans, found_entries, strict=True)
    ]


@pytest.mark.parametrize(
    ("setup", "printed"),
    [
        (r"\newtheorem{thm}{Theorem}\newtheorem{lem}[thm]{Lemma}", "Theorem 1, Lemma 2, Theorem 3"),
        (r"\newtheorem{lem}{Lemma}[section]\newtheorem{thm}[lem]{\bf Theorem}", "Theorem 1.1, Lemma 1.2, Theorem 2.1"),
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
    assert found.body_text[-1].text == printed
    numbers = [part.rsplit(" ")[-1] for part in printed.split(", ")]
    assert refs(found) == [(number, "theorem", number) for number in numbers]
    assert list_entries(found, RefType.THEOREM) == list(zip(numbers, ("X.", "Y.", "Z."), strict=True))


@pytest.mark.parametrize(
    ("body", "preamble", "numbers"),
    [
        (r"\begin{enumerate}\item x\begin{enumerate}\item y\item\label{a} z\begin{enumerate}\item\label{b} w"
         r"\end{enumerate}\end{enumerate}\item\label{c} v\end{enumerate}", "", ["1b", "1(b)i", "2"]),
        (r"\begin{enumerate}[label=\textbf{(H\arabic*)}, start=3]\item\label{a} x\end{enumerate}", r"\usepackage{enumitem}", ["(H3)"]),
        (r"\begin{enumerate}\item\label{a} x\end{enumerate} t \begin{enumerate}[resume]\item\label{b} y\end{enumerate}",
         r"\usepackage{enumitem}", ["1", "2"]),
        (r"\begin{enumerate}\item[(A1)]\label{a} x\item\label{b} y\end{enumerate}", "", ["(A1)", "1"]),
    ],
)  # fmt: skip
def test_list_items_have_their_own_numbers(body: str, preamble: str, numbers: list[str]) -> None:
    labels = "abc"[: len(numbers)]
    found = parse(
        rf"\section{{S}} Text. {body} See " + " ".join(rf"\ref{{{label}}}" for label in labels) + ".", preamble
    )
    assert refs(found) == [(number, "item", number) for number in numbers]


FIGURES = (
    r"\begin{figure}\caption{Cap A}\label{f}\end{figure}\begin{figure}\caption{B}\label{g}\end{figure}"
    r"\begin{table}\caption{C}\label{t}\end{table}"
)
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
    # Formulas have numbers of their own in theorems, items and sections.
    (THEOREM + "[section]", r"\section{A}\begin{thm}\label{t} X \begin{equation}\label{e}a\end{equation}\end{thm} \ref{t} \eqref{e}",
     "1.1 (1)", [("1.1", "theorem", "1.1"), ("(1)", "formula", "1")]),
    # An item's number may contain the theorem's. A section named like a label is not its target.
    (r"\usepackage{enumitem}\newtheorem{prop}{Proposition}[section]",
     r"\section{A}\begin{prop}\begin{enumerate}[label=(\alph*), ref=\theprop(\alph*)]\item\label{a} X\end{enumerate}\end{prop} \ref{a}",
     "1.1(a)", [("1.1(a)", "item", "1.1(a)")]),
    ("", "\\section{Aims} One. \\begin{equation}\\label{aims}x\\end{equation}\n\n\\eqref{aims}", "(1)", [("(1)", "formula", "1")]),
    # Commands print as their packages do.
    *((r"\usepackage{cleveref,varioref,hyperref}", f"{FIGURES} See {command}.", f"See {text}.", links) for command, text, links in (
        (r"\crefrange{f}{g}", "Figures 1 to 2", [("1", "figure", "1"), ("2", "figure", "2")]),
        (r"\Cref{f,g,t}", "Figures 1, 2 and Table 1", [("1", "figure", "1"), ("2", "figure", "2"), ("1", "table", "1")]),
        (r"\nameref{f}", "Cap A", [("Cap A", "figure", "1")]),
        (r"\autoref{f}\pageref{f}\cpageref{f}", "Figure 1", [("1", "figure", "1")]),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("preamble", "body", "printed", "expected"), REFERENCES)
def test_references_print_and_link(
    preamble: str, body: str, printed: str, expected: list[tuple[str, str | None, str | None]]
) -> None:
    found = parse(body, preamble)
    assert (found.body_text[-1].text, refs(found)) == (printed, expected)
