"""Verbatim arguments, and files that a source writes itself, are read."""

from __future__ import annotations

import pytest

from tests.unit.parse_laws import check_laws
from tests.unit.s2orc_parse.latex.archives import list_citations, parse, texts

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
