"""Two forms of one paper have the same facts; a difference is listed with the form that has it."""

import gzip
from pathlib import Path

import orjson

from devtools.bench.agreement import Agreement, read_folder, read_snapshot
from s2corpus.snapshot.agreement import FIELDS

LATEX = r"""\documentclass{article}\usepackage{natbib}
\title{Odd rivers}\author{Ada Byron \and Jos\'e van der Doe}\begin{document}\maketitle
\begin{abstract}We show odd rivers.\end{abstract}
\section{Introduction} Text \cite{lo}. \subsection{More} Words. \section*{Acknowledgements} Thanks.
\begin{thebibliography}{1}\bibitem[Lo(2020)]{lo} Kyle Lo. 2020.
\newblock A corpus of papers. \newblock \emph{J. Test.}, 7:1--3. doi:10.1162/coli_a_00123
\end{thebibliography}\end{document}"""
JATS = """<article><front><article-meta><article-id pub-id-type="doi">10.1162/coli_a_00124</article-id>
<title-group><article-title>Odd rivers</article-title></title-group><contrib-group>
<contrib contrib-type="author"><name><surname>Byron</surname><given-names>Ada</given-names></name></contrib>
<contrib contrib-type="author"><name><surname>van der Doe</surname><given-names>José</given-names></name></contrib></contrib-group>
<abstract><p>We show odd rivers.</p></abstract></article-meta></front>
<body><sec><title>Introduction</title><p>Text <xref ref-type="bibr" rid="b1">1</xref>.</p>
<sec><title>More</title><p>Words.</p></sec></sec></body>
<back><ack><title>Acknowledgements</title><p>Thanks.</p></ack><ref-list><ref id="b1"><element-citation publication-type="journal">
<person-group><name><surname>Lo</surname><given-names>K</given-names></name></person-group><year>YEAR</year>
<article-title>A corpus of papers</article-title><source>J. Test.</source><volume>7</volume><fpage>1</fpage><lpage>3</lpage>
<pub-id pub-id-type="doi">10.1162/coli_a_00123</pub-id></element-citation></ref></ref-list></back></article>"""


def compare(folder: Path) -> Agreement:
    """Return the agreement of the papers of a folder."""
    found = Agreement()
    for paper, forms in read_folder(folder):
        found.add(paper, forms)
    return found


def test_latex_and_jats_of_one_paper_agree_in_every_field(tmp_path: Path) -> None:
    (tmp_path / "odd.tex").write_text(LATEX)
    (tmp_path / "odd.nxml").write_text(JATS.replace("YEAR", "2020"))
    found = compare(tmp_path)
    assert found.differences == []
    assert {field for _, _, field in found.items} == set(FIELDS) - {"year"}


def test_difference_is_listed_with_its_forms(tmp_path: Path) -> None:
    (tmp_path / "odd.tex").write_text(LATEX)
    (tmp_path / "odd.nxml").write_text(JATS.replace("YEAR", "2021"))
    table, *_, difference = compare(tmp_path).format(3).splitlines()
    assert table.split() == ["forms", "field", "papers", "equal", "common"]
    assert difference == "odd years  only in jats: 2021  only in latex: 2020"


def test_forms_of_a_snapshot_are_its_parses_and_metadata(tmp_path: Path) -> None:
    entry = {"title": "A corpus", "year": 2020, "other_ids": {"DOI": ["10.1162/coli_a_00123"]}}
    parse = {"paper_id": "a", "title": "Odd rivers", "abstract": [], "body_text": [], "bib_entries": {"BIBREF0": entry}}
    rows = {
        "pdf_parses": parse,
        "latex_parses": parse | {"title": "Even rivers"},
        "metadata": {"paper_id": "a", "title": "Odd rivers"},
    }
    for name, row in rows.items():
        (tmp_path / "corpus" / name).mkdir(parents=True)
        (tmp_path / "corpus" / name / f"{name}_0.jsonl.gz").write_bytes(gzip.compress(orjson.dumps(row)))
    found = Agreement()
    for paper, forms in read_snapshot(tmp_path):
        found.add(paper, forms)
    assert sorted(found.items) == sorted(
        [*(("latex", "pdf", field) for field in ("title", "references", "identifiers", "years")), ("latex", "metadata", "title"),
         ("metadata", "pdf", "title")]
    )  # fmt: skip
    assert {difference[1:4] for difference in found.differences} == {
        ("latex", "metadata", "title"),
        ("latex", "pdf", "title"),
    }
