"""Verbatim arguments, and files that a source writes itself, are read."""

from __future__ import annotations

import pytest

from s2orc_parse.latex.verbatim import remove_comments
from tests.unit.parse_laws import check_laws
from tests.unit.s2orc_parse.latex.archives import list_citations, parse, texts


@pytest.mark.parametrize(
    ("body", "printed"),
    [
        (r"Code at \url{http://x.org/a%20b} is public.", "Code at http://x.org/a%20b is public."),
        (r"Code at \url|http://x.org/a%20b| is public.", "Code at http://x.org/a%20b is public."),
        (r"See \href{http://x.org/a%20b#c}{the 5\% case} here.", "See the 5% case here."),
        (r"Run \path{bin/%d} and \path|a%b| now.", "Run bin/%d and a%b now."),
        (r"At \nolinkurl{a.b/%7Ec} now.", "At a.b/%7Ec now."),
        (r"The \verb|a%b| and \verb*!c%d! signs.", "The a%b and c%d signs."),
        (r"The \lstinline{a%b} and \lstinline[language=C]!c%d! signs.", "The a%b and c%d signs."),
        (r"The \mintinline{python}{a%b} and \mintinline{c}|c%d| signs.", "The a%b and c%d signs."),
        (r"The \detokenize{a%b} sign.", "The a%b sign."),
        (r"A word\index{50%} and more.", "A word and more."),
        (r"At \doi{10.1000/a%3Cb} now.", "At doi:10.1000/a%3Cb now."),
        ("Go to \\url{%\nhttp://a.b/c} now. % gone", "Go to http://a.b/c now."),
        ("Go to \\href%\n{http://a.b/%20c}{it} now.", "Go to it now."),
        (r"All 50\% of it. % gone", "All 50% of it."),
    ],
)
def test_percent_sign_in_verbatim_argument_is_text(body: str, printed: str) -> None:
    found = parse(body)
    check_laws(found)
    assert texts(found) == [("", printed)]


@pytest.mark.parametrize(
    ("preamble", "body"),
    [
        (r"\usepackage{url}\DeclareUrlCommand\web{}", r"At \web{a%b} now."),
        (r"\usepackage{url}\let\web\url", r"At \web{a%b} now."),
        (r"\usepackage{url}\newcommand{\web}{\url}", r"At \web{a%b} now."),
        (r"\usepackage{shortvrb}\MakeShortVerb{\|}", "At |a%b| now."),
        (r"\usepackage{fancyvrb}\DefineShortVerb{\+}", "At +a%b+ now."),
    ],
)
def test_percent_sign_in_declared_verbatim_command_is_text(preamble: str, body: str) -> None:
    assert texts(parse(body, preamble)) == [("", "At a%b now.")]


def test_declared_verbatim_environment_is_omitted() -> None:
    body = "One.\n\n\\begin{code}\n50% of {it\n\\end{code}\n\nTwo."
    assert texts(parse(body, r"\usepackage{listings}\lstnewenvironment{code}{}{}")) == [("", "One."), ("", "Two.")]


@pytest.mark.parametrize(
    "part",
    [
        "\\url{",
        "\\verb|",
        "\\mintinline{a}",
        "\\href{a%\n",
    ],
)
def test_open_verbatim_arguments_take_linear_time(part: str) -> None:
    assert remove_comments(part * 4_000)


BIB = "@article{doe, author={Doe, Jane}, title={On tests}, journal={J. Tests}, year={2001}}"
ENTRIES = r"\begin{thebibliography}{1}\bibitem{doe} J. Doe. \newblock On tests. \newblock \emph{J. Tests}, 2001.\end{thebibliography}"


@pytest.mark.parametrize(
    ("environment", "name", "content", "command"),
    [
        ("filecontents", r"\jobname.bib", BIB, r"\bibliography{\jobname}"),
        ("filecontents*", "refs.bib", BIB, r"\bibliography{refs}"),
        ("filecontents", "main.bbl", ENTRIES, r"\bibliography{refs}"),
        ("filecontents*", r"\jobname.bbl", ENTRIES, r"\bibliography{refs}"),
        ("filecontents", "entries", ENTRIES, r"\input{entries}"),
    ],
)
def test_embedded_bibliography_is_read(environment: str, name: str, content: str, command: str) -> None:
    embedded = f"\\begin{{{environment}}}[overwrite]{{{name}}}\n{content}\n\\end{{{environment}}}\n"
    found = parse(f"As \\cite{{doe}} says. {command}", embedded, note_txt="x")
    check_laws(found)
    assert texts(found) == [("", "As [1] says.")]
    assert list_citations(found) == [("1", "doe")]
    assert [(entry.title, entry.year) for entry in found.bib_entries] == [("On tests", 2001)]


def test_delivered_file_replaces_embedded_file() -> None:
    embedded = f"\\begin{{filecontents}}{{refs.bib}}\n{BIB}\n\\end{{filecontents}}\n"
    found = parse(r"\cite{doe}\bibliography{refs}", embedded, refs_bib=BIB.replace("On tests", "On exams"))
    assert [entry.title for entry in found.bib_entries] == ["On exams"]
