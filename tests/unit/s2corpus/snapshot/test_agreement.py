"""Two forms of one paper have the same facts; a difference is listed with the form that has it."""

from pdf2tei.references.fields import parse_bibliography_item
from s2corpus.snapshot.agreement import FIELDS, compare_forms, read_facts
from s2orc_parse import jats, latex, tei

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


def list_differences(year: str) -> dict[str, tuple[list[str], list[str]]]:
    """Return field → the items that only the JATS form has, and those that only the LaTeX form has."""
    parses = {
        "jats": jats.convert(JATS.replace("YEAR", year).encode(), sha1="", parse_reference=parse_bibliography_item),
        "latex": latex.convert(LATEX.encode(), sha1="", parse_reference=parse_bibliography_item),
    }
    compared = compare_forms({kind: read_facts(tei.to_s2orc(parse)) for kind, parse in parses.items()})
    return {field: (sorted(left - right), sorted(right - left)) for _, field, left, right in compared}


def test_latex_and_jats_of_one_paper_agree_in_every_field() -> None:
    assert list_differences("2020") == dict.fromkeys([field for field in FIELDS if field != "year"], ([], []))


def test_difference_is_listed_with_its_form() -> None:
    assert list_differences("2021")["years"] == (["2021"], ["2020"])
