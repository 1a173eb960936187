"""A version of rules identifies their output for given inputs, because data stored across releases is keyed by it.

Each version is pinned together with a hash of its output on fixed inputs: the papers of the lake in tests/data, and
small texts written for the test.

The code version covers exactly the files that affect the content of a release.
"""

import hashlib
import io
import json
import re
import shutil
import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

import pdf2tei as layout
from pdf2tei.front.identity import VERSION as IDENTITY
from pdf2tei.version import VERSION as EXTRACTION
from s2corpus import version
from s2corpus.deliveries.ready import READER_VERSION, list_deliveries, read_ready
from s2corpus.deliveries.registration import register, registered_table
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.pdf import SELECTION_VERSION, inspect_many, library_versions
from s2corpus.snapshot.manifest import hash_inputs
from s2corpus.spec import SelectRules
from s2corpus.storage.lake import open_lake
from s2corpus.version import EXCLUDED_MODULES, HASHED_PACKAGES, sources_hash
from s2orc_parse import jats, latex, tei
from s2orc_parse.jats import elsevier
from tests.unit.house.test_imports import INCLUDE, LAYERS, ROOT
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


Make = Callable[[Mapping[str, bytes], Path], Any]


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


def registration(files: Mapping[str, bytes], folder: Path) -> Any:
    lake = open_lake(str(folder))
    for name in files:
        if name.startswith(("drops/", "sources/")):
            lake.put(name, files[name])
    deliveries = [delivery for one in list_deliveries(lake) if (delivery := read_ready(lake, *one))]
    facts = [register(lake, delivery) for delivery in deliveries]
    tables = [registered_table(lake, delivery, name) for delivery in deliveries for name in ("files", "records")]
    return [facts, [table.read().to_pylist() for table in tables]]


def selection(files: Mapping[str, bytes], folder: Path) -> Any:
    rules = SelectRules(max_pages=50)
    rows = inspect_many(pdfs(files, folder), rules=rules, workers=1, timeout=60, memory_bytes=1 << 30)
    return sorted((row.as_row() for row in rows), key=lambda row: row["file_sha1"])


def extraction(files: Mapping[str, bytes], folder: Path) -> Any:
    made: dict[str, str] = {}
    for name, path in pdfs(files, folder):
        try:
            made[name] = (layout.extract(path, timeout=60) or b"").decode()
        except layout.ExtractionError as error:
            made[name] = str(error.code)
    return {name: text.replace(EXTRACTION, "-") for name, text in made.items()}


def conversion(files: Mapping[str, bytes], _: Path) -> Any:
    tables = [io.BytesIO(files[name]) for name in files if name.startswith("stored_tei/") and name.endswith(".parquet")]
    rows = [row for one in tables for row in pq.read_table(one, columns=["pdf_sha1", "tei"]).to_pylist() if row["tei"]]
    assert len(rows) > 5
    made = {row["pdf_sha1"]: tei.convert(row["tei"], file_sha1=row["pdf_sha1"]) for row in rows}
    return unversioned({sha1: tei.to_s2orc(one) for sha1, one in made.items()})


def build(name: str, convert: Callable[..., Any], source: bytes) -> Make:
    return lambda *_: unversioned({name: tei.to_s2orc(convert(source, sha1="0" * 40))})


def unversioned(parses: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Remove the version numbers: a raised version alone does not change the output."""
    for parse in parses.values():
        for name in ("converter_version", "version"):
            del parse["provenance"][name]
    return parses


PINNED: dict[str, tuple[Make, str, str]] = {
    "registration": (registration, READER_VERSION, "35: 22700040752a268f"),
    "selection": (selection, f"{SELECTION_VERSION}, identity {IDENTITY}", "2, identity 3: c6582d14054d1214"),
    "extraction": (extraction, EXTRACTION, "0.34.0: 68243c36e34a30e8"),
    "TEI": (conversion, tei.CONVERTER_VERSION, "26: e5679d4e13d25a79"),
    "JATS": (build("article", jats.convert, JATS), jats.VERSIONS["jats"], "23: 1b6cd548e8ec7254"),
    "Elsevier": (build("article", elsevier.convert, ELSEVIER), jats.VERSIONS["elsevier"], "17: 68afe6dfa29d6429"),
    "LaTeX": (build("source", latex.convert, SOURCE), latex.CONVERTER_VERSION, "35: ba25f3cc91d28523"),
}


@pytest.mark.parametrize("rules", PINNED)
def test_rule_version_is_pinned_to_its_output(rules: str, files: Mapping[str, bytes], tmp_path: Path) -> None:
    make, version, pinned = PINNED[rules]
    made = orjson.dumps(make(files, tmp_path), option=orjson.OPT_SORT_KEYS)
    found = f"{version}: {hashlib.sha256(made).hexdigest()[:16]}"
    assert found == pinned, (
        f"the output of the {rules} changed: raise its version, and pin the version to the new output"
    )


def test_selections_are_keyed_by_the_rule_version() -> None:
    assert f"select-{SELECTION_VERSION}" in library_versions().split("_")


DECIDES_NOTHING = {".ini", ".mako", ".typed", ".pyc", ".md", ""}
"""the catalog's migrations, marker files for tools, and prose"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("include", "sql", "devtools"):
        ignore = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.crfsuite")
        shutil.copytree(ROOT / name, folder / name, ignore=ignore, symlinks=True)
    return folder


def snapshot_id(checkout: Path) -> str:
    """Return the id that the code of a checkout gives to one snapshot."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(version, "_INCLUDE", checkout / "include")
        versions = {"code": version.code_version.__wrapped__(), "extractor": "e", "converter": "c"}
    digest = hash_inputs(spec="0", as_of="a", parent=None, versions=versions, inputs=[], overrides={})
    return str(SnapshotId.from_digest(ReleaseId("s-20230101"), digest))


@pytest.mark.parametrize(
    ("file", "decides"),
    [
        ("include/s2corpus/commands/releases.py", False), ("include/s2corpus_reader/README.md", False),
        ("include/s2orc_parse/pyproject.toml", False), ("include/s2orc_parse/latex/classes.toml", True),
        ("include/s2corpus/stages/select.py", True), ("include/s2corpus_reader/files.py", True), ("sql/quality/filter.sql", True),
    ],
)  # fmt: skip
def test_snapshot_id_changes_only_if_the_file_decides(checkout: Path, file: str, decides: bool) -> None:
    first_id = snapshot_id(checkout)
    before = (checkout / file).read_text("utf-8")
    (checkout / file).write_text(f"{before}\n", "utf-8")
    try:
        assert (snapshot_id(checkout) != first_id) is decides
    finally:
        (checkout / file).write_text(before, "utf-8")


def test_code_version_covers_everything_that_stages_import() -> None:
    after = LAYERS[LAYERS.index("stages") + 1 :]
    assert {name.removesuffix(".py") for name in EXCLUDED_MODULES} == set(after)


def test_code_version_covers_every_kind_of_file(tmp_path: Path) -> None:
    files = (path for package in HASHED_PACKAGES for path in (INCLUDE / package).rglob("*") if path.is_file())
    kinds = {path.suffix for path in files if not re.search(r"__pycache__|\.egg-info", str(path))}
    for kind in sorted(kinds - DECIDES_NOTHING):
        file, hashes = tmp_path / f"file{kind}", {sources_hash(tmp_path)}
        for content in ("1", "2"):
            file.write_text(content)
            hashes.add(sources_hash(tmp_path))
        file.unlink()
        assert len(hashes) == 3, f"a {kind} file may be added or edited and keep the version"
