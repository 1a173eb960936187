"""A version of rules identifies their output for given inputs, because data stored across releases is keyed by it.

Each version is pinned together with a hash of its output on fixed inputs: the papers of the lake in tests/data, and
small texts written for the test. test_version.py pins the code's version.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

import pdf2tei as layout
from pdf2tei.identity import VERSION as IDENTITY
from pdf2tei.version import VERSION as EXTRACTION
from s2corpus.pdf import SELECTION_VERSION, inspect_many, library_versions
from s2corpus.spec import SelectRules
from s2orc_parse import jats, latex, tei
from s2orc_parse.jats import elsevier
from tests.unit.s2orc_parse.jats import articles, test_elsevier
from tests.unit.s2orc_parse.jats.articles import cite

LAKE = Path(__file__).resolve().parents[2] / "data" / "lake-0.1.0.tar.xz"
SOURCE = rb"""\documentclass{article}
\newtheorem{thm}{Theorem}[section]\newcommand\sys{Tool}
\title{A Title}\author{Ada Lovelace \and Alan Turing}
\begin{document}\maketitle
\begin{abstract}What it is about.\end{abstract}
\section{Aims}\label{aims} As \cite{one} and Section~\ref{aims} show, $x$ is
\begin{equation}\label{e} x = 1 \end{equation}
and~\eqref{e} holds.\footnote{A note.} \sys{} is at \url{http://a.b/c%20d}.
\begin{thm}[Zorn]\label{t} As \citet[see][]{one}: \begin{enumerate}\item\label{i} It is.\end{enumerate}\end{thm} See \cref{t} and~\ref{i}.
\begin{acknowledgments}We thank all.\end{acknowledgments}
\begin{table}\caption{All.}\begin{tabular}{ll}a & 1\\b & 2\end{tabular}\end{table}
\begin{thebibliography}{1}\bibitem{one} A. Author. \newblock The first title. \newblock {\em Journal}, 1:2--3, 2001.\end{thebibliography}
\end{document}
"""

JATS = articles.article(
    f"<sec id='s'><label>1</label><title>Aims</title><p>As [{cite(1)}–{cite(3)}] and <xref ref-type='fig' rid='f'>Fig. 1</xref> show, "
    "<inline-formula><mml:math><mml:mi>x</mml:mi></mml:math></inline-formula> is <disp-formula id='e'><label>(1)</label>"
    "<tex-math>x=1</tex-math></disp-formula>.<fn id='n'><p>A note.</p></fn></p><fig id='f'><label>Fig. 1</label><caption><p>All.</p>"
    "</caption></fig><table-wrap><label>Table 1</label><table><tr><td>1</td></tr></table></table-wrap></sec>",
    3,
    back="<ack><p>Thanks.</p></ack>",
)
ELSEVIER = json.dumps(
    test_elsevier.article([test_elsevier.sentence("As [1] says.", 0, refs=[("[1]", "bib1")])]), sort_keys=True
).encode()


@pytest.fixture(scope="module")
def files() -> Mapping[str, bytes]:
    """Return every file of the stored lake, by name."""
    with tarfile.open(LAKE) as archive:
        return {
            member.name.removeprefix("./"): found.read()
            for member in archive
            if member.isfile() and (found := archive.extractfile(member))
        }


def pdfs(files: Mapping[str, bytes], folder: Path) -> Iterator[tuple[str, Path]]:
    for name in sorted(files):
        if name.endswith(".pdf"):
            path = folder / name.rpartition("/")[2]
            path.write_bytes(files[name])
            yield path.name, path


def selection(files: Mapping[str, bytes], folder: Path) -> Any:
    rows = inspect_many(
        pdfs(files, folder), rules=SelectRules(max_pages=50), workers=1, timeout=60, memory_bytes=1 << 30
    )
    return sorted((row.as_row() for row in rows), key=lambda row: row["file_sha1"])


def extraction(files: Mapping[str, bytes], folder: Path) -> Any:
    made: dict[str, str] = {}
    for name, path in pdfs(files, folder):
        try:
            made[name] = (layout.extract(path, timeout=60) or b"").decode()
        except layout.ExtractionError as error:
            made[name] = str(error.code)
    return {name: text.replace(EXTRACTION, "-") for name, text in made.items()}


def conversion(files: Mapping[str, bytes], folder: Path) -> Any:
    parses = {}
    for name, data in files.items():
        if name.startswith("stored_tei/") and name.endswith(".parquet"):
            for row in pq.read_table(io.BytesIO(data), columns=["pdf_sha1", "tei"]).to_pylist():
                if row["tei"]:
                    parses[row["pdf_sha1"]] = tei.to_s2orc(tei.convert(row["tei"], file_sha1=row["pdf_sha1"]))
    assert len(parses) > 5
    return unversioned(parses)


def conversion_of_latex(files: Mapping[str, bytes], folder: Path) -> Any:
    return unversioned({"source": tei.to_s2orc(latex.convert(SOURCE, sha1="0" * 40))})


def conversion_of_jats(files: Mapping[str, bytes], folder: Path) -> Any:
    return unversioned({"article": tei.to_s2orc(jats.convert(JATS, sha1="0" * 40))})


def conversion_of_elsevier(files: Mapping[str, bytes], folder: Path) -> Any:
    return unversioned({"article": tei.to_s2orc(elsevier.convert(ELSEVIER, sha1="0" * 40))})


def unversioned(parses: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Remove the version numbers: a raised version alone does not change the output."""
    for parse in parses.values():
        for name in ("converter_version", "version"):
            del parse["provenance"][name]
    return parses


PINNED: dict[str, tuple[Callable[[Mapping[str, bytes], Path], Any], str, str]] = {
    "selection": (selection, f"{SELECTION_VERSION}, identity {IDENTITY}", "2, identity 3: c6582d14054d1214"),
    "extraction": (extraction, EXTRACTION, "0.16.0: 702893d3250af0e6"),
    "conversion of TEI": (conversion, tei.CONVERTER_VERSION, "8: ee7be18557ce3f31"),
    "conversion of JATS": (conversion_of_jats, jats.VERSIONS["jats"], "6: 1e11fa03f6aa3bed"),
    "conversion of Elsevier's JSON": (conversion_of_elsevier, jats.VERSIONS["elsevier"], "5: fb92ecf36f3e58e3"),
    "conversion of LaTeX": (conversion_of_latex, latex.CONVERTER_VERSION, "6: ba25f3cc91d28523"),
}


@pytest.mark.parametrize("rules", PINNED)
def test_rule_version_is_pinned_to_its_output(rules: str, files: Mapping[str, bytes], tmp_path: Path) -> None:
    make, version, pinned = PINNED[rules]
    made = orjson.dumps(make(files, tmp_path), option=orjson.OPT_SORT_KEYS)
    found = f"{version}: {hashlib.sha256(made).hexdigest()[:16]}"
    assert found == pinned, (
        f"the {rules} gives something else than its version stands for: raise the version, and pin it to what it makes now"
    )


def test_selections_are_keyed_by_the_rule_version() -> None:
    assert f"select-{SELECTION_VERSION}" in library_versions().split("_")
