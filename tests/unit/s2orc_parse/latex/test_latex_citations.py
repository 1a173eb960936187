"""Citation commands of natbib, biblatex, REVTeX and apacite print their text and link to their entries (SPEC §3.21)."""

from __future__ import annotations

import pytest

from tests.unit.parse_laws import check_laws
from tests.unit.s2orc_parse.latex.archives import ENTRIES, list_citations, parse, texts

NAMED = r"""\begin{thebibliography}{}
\bibitem[Abe et~al.(2016)Abe, Crain, and Kauf]{abe} Abe A., Crain R., Kauf G., 2016, \mnras, 456, 1115
\bibitem[Correa \& Schaye(2017)]{corr} Correa, C., Schaye, J. 2017, J Odd, 464, 4204
\bibitem[van der Doe(2001)]{doe} van der Doe, J. 2001, J Odd, 1, 2
\end{thebibliography}"""


BIB = """@article{lee, author={Lee, Ann and Hu, Bo}, title={First title here}, journal={J Odd}, year={2001}, url={http://a.b/c}}
@article{hu, author={Hu, Bo}, title={Second title here}, journal={J Odd}, year={2002}}"""
Setup = tuple[str, str, dict[str, str]]
NATBIB: Setup = (r"\usepackage{natbib}\defcitealias{abe}{Paper~I}\newcommand{\ours}[1]{\citep[cf.][]{#1}}", NAMED, {})
BIBLATEX = (r"\usepackage[style=authoryear]{biblatex}\addbibresource{refs.bib}", "", {"refs_bib": BIB})
REVTEX: Setup = (
    r"\documentclass{revtex4-2}",
    ENTRIES.replace("[Lo and Wang(2020)]", "").replace("[Doe(2001)]", ""),
    {},
)


@pytest.mark.parametrize(
    ("setup", "command", "printed", "keys"),
    [
        (NATBIB, r"\Citet{doe}", "Van der Doe (2001)", ["doe"]),
        (NATBIB, r"\citeauthor*{abe}", "Abe, Crain, and Kauf", ["abe"]),
        (NATBIB, r"\citetalias{abe}", "Paper I", ["abe"]),
        (NATBIB, r"\citepalias[see][]{abe}", "(see Paper I)", ["abe"]),
        (NATBIB, r"\citet[][see also \citealp{corr}]{abe}", "Abe et al. (2016, see also Correa & Schaye, 2017)", ["abe", "corr"]),
        (NATBIB, r"\citep[e.g.][\S~\ref{s}]{abe}", "(e.g. Abe et al., 2016, § 1)", ["abe"]),
        (NATBIB, r"\citeyearpar[p.~3]{abe}", "(2016, p. 3)", ["abe"]),
        (NATBIB, r"\citeposs{corr}", "Correa & Schaye’s (2017)", ["corr"]),
        (NATBIB, r"\shortciteA<see>[p.~1]{corr}", "Correa & Schaye (see 2017, p. 1)", ["corr"]),
        (NATBIB, "\\citep[see]%\n  [p. 1]{abe, %\n corr}", "(see Abe et al., 2016; Correa & Schaye, 2017, p. 1)", ["abe", "corr"]),
        (NATBIB, r"\ours{abe}", "(cf. Abe et al., 2016)", ["abe"]),
        (NATBIB, r"\citep{nobody}", "(?)", [None]),
        (BIBLATEX, r"\parencite[Cf.][13]{lee}", "(Cf. Lee and Hu, 2001, 13)", ["lee"]),
        (BIBLATEX, r"\citetitle{lee}", "First title here", ["lee"]),
        (BIBLATEX, r"\pvolcite[see]{2}[3]{hu}", "(see Hu, 2002, 2, 3)", ["hu"]),
        (BIBLATEX, r"\fullcite{hu}", "Bo Hu. Second title here. J Odd. 2002", ["hu"]),
        (BIBLATEX, r"\autocites[see][3]{lee}[and][]{hu}", "(see Lee and Hu, 2001, 3; and Hu, 2002)", ["lee", "hu"]),
        (BIBLATEX, r"\parencites(compare)(end){lee}{hu}", "(compare Lee and Hu, 2001; Hu, 2002, end)", ["lee", "hu"]),
        (REVTEX, r"\cite{[{See }][{.}]lo}", "[1]", ["lo"]),
        (REVTEX, r"\cite{*doe}", "[3]", ["doe"]),
        (REVTEX, r"Refs.~[\onlinecite{lo,doe}]", "Refs. [1, 3]", ["lo", "doe"]),
    ],
)  # fmt: skip
def test_command_prints_and_links_its_keys(setup: Setup, command: str, printed: str, keys: list[str | None]) -> None:
    preamble, entries, files = setup
    end = r"\nocite{*}\printbibliography" if files else ""
    found = parse(rf"\section{{A}}\label{{s}} As {command} say. {end}", preamble, entries=entries, **files)
    check_laws(found)
    assert texts(found) == [("A", f"As {printed} say.")]
    assert [key for _, key in list_citations(found)] == keys


@pytest.mark.parametrize(
    "item",
    [
        r"\bibitem[\protect\citeauthoryear{Abe, Crain \& Kauf}{Abe et~al.}{2016}]{abe}",
        r"\bibitem[{Abe et~al.(2016)Abe, Crain \& Kauf}]{abe}",
        r"\bibitem[\protect\BCAY{Abe, Crain \& Kauf}{Abe et~al.}{2016}]{abe}",
    ],
)
def test_label_gives_short_and_long_names(item: str) -> None:
    entries = rf"\begin{{thebibliography}}{{}}{item} Abe A., 2016, J Odd, 456, 1115\end{{thebibliography}}"
    found = parse(r"\citet{abe}, \citep{abe}, \citet*{abe}", r"\usepackage{natbib}", entries=entries)
    assert texts(found) == [("", "Abe et al. (2016), (Abe et al., 2016), Abe, Crain & Kauf (2016)")]


@pytest.mark.parametrize(
    ("command", "note"),
    [
        (r"\footcite[Cf.][13]{lee}", "Cf. Lee and Hu, 2001, 13"),
        (r"\footcites{lee}{hu}", "Lee and Hu, 2001; Hu, 2002"),
    ],
)
def test_citation_in_a_note_is_a_footnote(command: str, note: str) -> None:
    preamble = r"\usepackage[style=authoryear]{biblatex}\addbibresource{refs.bib}"
    found = parse(rf"As they{command} say.", preamble, refs_bib=BIB)
    check_laws(found)
    assert texts(found) == [("", "As they say.")]
    (entry,) = found.ref_entries
    assert entry.text == note and all(span.ref_id for span in entry.cite_spans) and entry.cite_spans


LEE = "@article{lee, author={Lee, Ann and Hu, Bo and Wu, Cy}, title={First title here}, year={2001}}"


@pytest.mark.parametrize(
    ("package", "style", "command", "printed", "form"),
    [
        *(("", style, r"\citep{lee}", "[1]", "BRACKET") for style in ("plain", "ieeetr")),
        *((r"\usepackage{natbib}", style, r"\citep{lee}", "(Lee et al., 2001)", "NAME_YEAR")
          for style in ("plainnat", "acl_natbib")),
        (r"\usepackage[numbers]{natbib}", "", r"\citep{doe,lo}", "[3, 1]", "BRACKET"),
        (r"\usepackage[numbers,sort&compress]{natbib}", "", r"\cite{doe,lo,saier}", "[1–3]", "BRACKET"),
        (r"\usepackage[numbers]{natbib}", "", r"\citet{saier}", "Saier et al. [2]", "BRACKET"),
        (r"\usepackage[numbers,round]{natbib}", "", r"\citep{doe}", "(3)", "OTHER"),
        (r"\usepackage[super]{natbib}", "", r"\cite{doe,lo}", "3,1", "OTHER"),
    ],
)  # fmt: skip
def test_options_and_bibliography_style_decide_the_form(
    package: str, style: str, command: str, printed: str, form: str
) -> None:
    entries = rf"\bibliographystyle{{{style}}}\bibliography{{refs}}" if style else ENTRIES
    found = parse(rf"As in {command}.", package, entries=entries, refs_bib=LEE)
    check_laws(found)
    assert (texts(found), found.citation_style) == ([("", f"As in {printed}.")], form)


@pytest.mark.parametrize(
    ("macro", "venue"),
    [("mnras", "MNRAS"), ("aap", "A&A"), ("own", "Journal of Tests")],
)  # fmt: skip
def test_journal_macro_is_the_venue(macro: str, venue: str) -> None:
    bib = rf"@article{{a, author={{Abe, A.}}, title={{On stars}}, journal={{\{macro}}}, volume=4, year=2016}}"
    preamble = r"\newcommand{\own}{Journal of Tests}"
    found = parse(r"\cite{a}\bibliography{refs}", preamble, refs_bib=bib)
    assert [entry.venue for entry in found.bib_entries] == [venue]
    entries = rf"\begin{{thebibliography}}{{}}\bibitem{{a}} Abe A., Crain R., 2016, \{macro}, 456, 1115\end{{thebibliography}}"
    (entry,) = parse(r"\cite{a}", preamble, entries=entries).bib_entries
    assert venue in entry.raw_text


def test_citations_in_cells_and_captions_are_linked() -> None:
    found = parse(
        r"Text. \begin{table}\caption{As \citet[see][]{lo}}\begin{tabular}{ll}A & \citep[e.g.][]{doe}\\"
        r"B & \multirow{2}{*}{\citet{lo}}\\ C \citealp{saier,lo} & D\end{tabular}\end{table}",
        r"\usepackage{natbib}",
        entries=ENTRIES,
    )
    check_laws(found)
    (table,) = found.ref_entries
    assert table.text == "As Lo and Wang (see 2020)" and len(table.cite_spans) == 1
    assert [(cell.row, cell.column, cell.span.text) for cell in table.cell_cites] == [
        (0, 1, "Doe, 2001"), (1, 1, "Lo and Wang (2020)"), (2, 0, "Saier et al., 2019"), (2, 0, "Lo and Wang, 2020"),
    ]  # fmt: skip
    assert all(cell.span.ref_id for cell in table.cell_cites)


DOE = "@article{doe, author={Doe, Jane}, title={On tests}, journal={J. Tests}, year={2001}}"
DOE_ENTRIES = r"\begin{thebibliography}{1}\bibitem{doe} J. Doe. \newblock On tests. \newblock \emph{J. Tests}, 2001.\end{thebibliography}"


@pytest.mark.parametrize(
    ("environment", "name", "content", "command"),
    [
        ("filecontents", r"\jobname.bib", DOE, r"\bibliography{\jobname}"),
        ("filecontents*", "refs.bib", DOE, r"\bibliography{refs}"),
        ("filecontents", "main.bbl", DOE_ENTRIES, r"\bibliography{refs}"),
    ],
)
def test_embedded_bibliography_is_read(environment: str, name: str, content: str, command: str) -> None:
    embedded = f"\\begin{{{environment}}}[overwrite]{{{name}}}\n{content}\n\\end{{{environment}}}\n"
    found = parse(f"As \\cite{{doe}} says. {command}", embedded, note_txt="x")
    check_laws(found)
    assert texts(found) == [("", "As [1] says.")]
    assert list_citations(found) == [("1", "doe")]
    assert [(entry.title, entry.year) for entry in found.bib_entries] == [("On tests", 2001)]
