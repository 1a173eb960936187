"""GORC (Lo et al., 2019): demands that S2ORC does not repeat, by section. `test_s2orc*.py` has the others.

Not demands on a corpus: Tables 5 and 6 and §6.2 (models that the authors or others trained).
"""

from collections import Counter
from typing import Any

import pytest

from s2corpus.evaluation.results import PAPER
from s2corpus.evaluation.sample import EvaluationTask
from s2corpus.papers.ballots import DeliveredRecord
from s2corpus.papers.evidence import Declaration
from s2corpus.papers.vote import Pdf, VoteRule, elect_metadata
from s2corpus.rules import MIN_TITLE_SCORE, VoteRules
from s2corpus.snapshot import paper_tables
from s2corpus.snapshot.flat import OF_PAPERS
from s2corpus.snapshot.metadata import gorc_line
from s2corpus.sources import Record
from s2corpus_datasets.vectors.dataset import CATEGORIES
from s2corpus_datasets.vectors.learning import VectorsParams
from s2orc_parse.parse_model import RefType
from s2orc_parse.tei import to_gorc_line, to_s2orc
from tests.unit.s2corpus.clustering import samples as clustering
from tests.unit.s2corpus.papers.samples import A, B, header, is_preprint, publisher
from tests.unit.s2corpus.papers.samples import record as metadata
from tests.unit.s2orc_parse.latex import archives
from tests.unit.s2orc_parse.tei import teis

# -- §3.1 Paper clustering


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {}), ({"doi": "10.1016/x"}, {"doi": "10.1016/x", "title": "Deep parsing"}), ({"file_sha1": A}, {"file_sha1": A}),
    ],
)  # fmt: skip
def test_papers_are_clustered(one: clustering.Row, other: clustering.Row) -> None:
    """1. §3.1: clusters are constructed by title similarity and overlap between DOIs and PDFs."""
    found = clustering.cluster_all(clustering.record("a:1", **one), clustering.record("b:1", **other))
    assert clustering.partition(found) == {frozenset({"a:1", "b:1"})}


def test_versions_of_a_paper_are_one_paper() -> None:
    """2. §3.1, Appendix A: different versions of an arXiv preprint and the camera-ready version are one paper."""
    found = clustering.cluster_all(
        clustering.record("arxiv:1", arxiv_id="1911.02782", doi="10.48550/arxiv.1911.02782"),
        clustering.record("s2:2", arxiv_id="1911.02782", year=2019),
        clustering.record("acl:3", doi="10.18653/v1/2020.acl-main.447"),
    )
    assert len(clustering.partition(found)) == 1


def test_similar_titles_of_different_papers_stay_apart() -> None:
    """3. §3.1: clusters follow Semantic Scholar's logic (Ammar et al., 2018).

    Deviation: Authors, years, numbers in titles and DOIs must not contradict each other.
    Reason: The rules of this logic are not published.
    """
    one = clustering.record("a:1", "Foundations of graph learning, part I")
    for other in (
        clustering.record("b:1", "Foundations of graph learning, part II"),
        clustering.record("b:1", "Foundations of graph learning, part I", authors="Kurt Gödel", year=1931),
    ):
        assert len(clustering.partition(clustering.cluster_all(one, other))) == 2
    assert MIN_TITLE_SCORE == 0.8


# -- §3.2 PDF processing, §3.3 LaTeX processing


def test_range_of_four_is_expanded() -> None:
    """4. §3.2: "[3]-[6]" is expanded to [3], [4], [5], [6]."""
    marks = "".join(f'<p>As <ref type="bibr" target="#b{n}">[{n + 1}]</ref> says.</p>' for n in (0, 1, 7))
    text = '<p>See <ref type="bibr" target="#b2">[3]</ref>-<ref type="bibr" target="#b5">[6]</ref>.</p>'
    spans = teis.parse(text + marks, teis.NUMBERED[:9]).body_text[0].cite_spans
    assert [span.ref_id for span in spans] == ["BIBREF2", "BIBREF3", "BIBREF4", "BIBREF5"]


def test_latex_keeps_paragraph_breaks() -> None:
    """5. §3.3, §4: paragraph segmentation of LaTeX parses is near-perfect."""
    parse = archives.parse("One line\nand another.\n\nA second paragraph. % a comment\n\n\\section{S}\nA third.")
    assert archives.texts(parse) == [("", "One line and another."), ("", "A second paragraph."), ("S", "A third.")]


def test_latex_formulas_can_be_removed() -> None:
    """6. §6.2: all equation spans of LaTeX parses are identified, so that formulas can be removed from the text."""
    (paragraph,) = archives.parse(r"So \begin{equation}a = b\end{equation} and $N_1$ hold.").body_text
    assert [paragraph.text[span.start : span.end] for span in paragraph.eq_spans] == ["EQUATION", "N1"]
    assert "a = b" in (paragraph.eq_spans[0].latex or "")


# -- §4 GORC dataset

TABLES = {table["name"]: table["rows"] for table in paper_tables.tables(Counter(), {}, {}, {})}


def test_tables_have_the_figures_of_gorc() -> None:
    """Demands of GORC.

    7. Table 1: the filters removed 20.4K, 331.1K, 80.0M and 15.2M clusters.
    8. Table 3: LaTeX abstracts have 0.2 paragraphs and 0.0 citations; all GROBID parses have 21.7 entries, 13.8 of them linked.
    """
    clusters = 81.1e6 + 95.5e6
    filters = {row[0]: row[3] for row in TABLES["filters"]}
    assert [filters[f"No {what}"] for what in ("title", "authors")] == [
        round(n / clusters, 6) for n in (20_400, 331_100)
    ]
    parses = {row[0]: row[5:7] for row in TABLES["parses"]}
    assert (parses["Paragraphs (abstract)"][1], parses["Inline cite spans (abstract)"][1]) == (0.2, 0.0)
    assert parses["Bibliography entries (All)"] + parses["Linked bib. entries (All)"] == [21.7, None, 13.8, None]


# -- §5 Evaluation


def test_table_4_is_that_of_s2orc() -> None:
    """9. §5, Table 4: clustering has 0.93 and 0.89, linking 1.00 and 0.96 (GROBID), 1.00 and 0.92 (LaTeX)."""
    assert (PAPER[EvaluationTask.CLUSTERS, "title"], PAPER[EvaluationTask.LATEX_LINKS, "authors"]) == (0.93, 0.92)


# -- §6 Example use cases


def test_vectors_have_the_parameters_of_the_paper() -> None:
    """Demands of GORC.

    10. §6.1: word2vec is a skip-gram model with window 8, minimum frequency 2 and 300 dimensions.
    11. §6.1, Figure 2: six arXiv categories are pictured: cs.AI, cs.CL, cs.LG, cs.CV, cs.NE and stat.ML.
    """
    params = VectorsParams()
    assert (params.window, params.min_count, params.dimensions) == (8, 2, 300)
    assert set(CATEGORIES) == {"cs.AI", "cs.CL", "cs.LG", "cs.CV", "cs.NE", "stat.ML"}


def test_tables_of_latex_are_structured() -> None:
    """12. §6.3: tables are parsed from LaTeX source."""
    (table,) = archives.parse(
        r"Text.\begin{table}\caption{C}\begin{tabular}{ll}a & 1\\ b & 2\\ \end{tabular}\end{table}"
    ).ref_entries
    assert (table.type, table.cells) == (RefType.TABLE, (("a", "1"), ("b", "2")))


# -- Appendix B: Canonical metadata selection


@pytest.mark.parametrize("support", ["similar", "equal"])
def test_gold_metadata_of_the_selected_pdf_are_canonical(support: str) -> None:
    """13. Appendix B: open PDFs first, then richer publisher metadata; those of the selected PDF are canonical, else the majority."""
    records: list[Record] = [
        header(A), header(B), publisher(file_sha1=B, title="Gold", venue="V", date="2020", abstract="We."),
        publisher("acl", file_sha1=A),
        metadata("dblp", title="Else"), metadata("s2", title="Other", journal="J"), metadata("openalex", journal="J"),
        metadata("x", journal="K"),
    ]  # fmt: skip
    pdfs = {sha1: Pdf("", (Declaration("d", "a.pdf", True),)) for sha1 in (A, B)}
    rules = VoteRules.model_validate({"support": support})
    paper = elect_metadata("p", [DeliveredRecord(one) for one in records], rules, pdfs=pdfs, is_preprint=is_preprint)
    assert (paper.canonical_pdf, paper.values["title"], paper.values["journal"]) == (B, "Gold", "J")
    assert (paper.provenance["title"].rule, paper.provenance["journal"].rule) == (VoteRule.PUBLISHER, VoteRule.MAJORITY)


# -- Appendix E: GORC data format

CITATION = "[Lyons and Waite, 2011]"
ENTRY = (
    '<biblStruct xml:id="b@"><analytic><title level="a">Dynamics of explosive volcanism</title><author><persName>'
    '<forename type="first">J</forename><surname>Lyons</surname></persName></author><idno type="DOI">10.1029/2011jb008521</idno>'
    '</analytic><monogr><title level="j">J. Geophys. Res</title><idno type="ISSN">B9</idno><imprint><biblScope unit="volume">116'
    '</biblScope><date when="2011"/></imprint></monogr></biblStruct>'
)
SAMPLE = teis.parse(
    f'<div><p>{"The solution to this is known. " * 8 + "The solution to this is so, see it":.274} <ref type="bibr" target="#b9">{CITATION}'
    '</ref></p></div><figure xml:id="fig_0"><figDesc>To explore the full space.</figDesc></figure><figure xml:id="fig_1"><figDesc>To '
    "explore the full range.</figDesc></figure>",
    (*teis.NUMBERED[:9], ENTRY),
    header='<sourceDesc><biblStruct><analytic><author><persName><forename type="first">Gregory</forename><forename type="middle">P'
    "</forename><surname>Waite</surname></persName></author></analytic></biblStruct></sourceDesc>",
)


def test_sample_object() -> None:
    """Demands of GORC.

    14. Appendix E: an object has paper_id, metadata, s2_pdf_hash, grobid_parse and latex_parse.
    15. Appendix E: metadata have title, authors (first, middle, last, suffix), abstract, year (a string), doi and venue.
    16. Appendix E: grobid_parse has title, authors, abstract, body_text, bib_entries and ref_entries.
    17. Appendix E: a paragraph has text, cite_spans, ref_spans, eq_spans and section, null without a header.
    18. Appendix E: the citation "[Lyons and Waite, 2011]" is a span with start, end, text and ref_id BIBREF9.
    19. Appendix E: the entry has ref_id b9, title, authors, year (a number), venue, volume, issn, pages and other_ids.
    20. Appendix E: a reference entry has text and type.
    21. §4, Appendix E: latex_parse is null without a LaTeX source.
    """
    line = to_gorc_line(SAMPLE, "104172")
    assert (
        list(line) == ["paper_id", "metadata", "s2_pdf_hash", "grobid_parse", "latex_parse"]
        and line["latex_parse"] is None
    )
    waite = {"first": "Gregory", "middle": ["P"], "last": "Waite", "suffix": ""}
    parse = line["grobid_parse"]
    assert parse.keys() == {"title", "authors", "abstract", "body_text", "bib_entries", "ref_entries"}
    assert (parse["title"], parse["authors"], parse["abstract"]) == ("A title", [waite], [])
    (paragraph,) = parse["body_text"]
    start = paragraph["text"].index(CITATION)
    (span,) = paragraph["cite_spans"]
    assert (
        paragraph.keys() == {"text", "cite_spans", "ref_spans", "eq_spans", "section"} and paragraph["section"] is None
    )
    sample = {"start": start, "end": start + 23, "text": CITATION, "ref_id": "BIBREF9"}
    assert span == sample | {"latex": None} and paragraph["ref_spans"] == paragraph["eq_spans"] == []
    entry = {"ref_id": "b9", "title": "Dynamics of explosive volcanism", "year": 2011, "venue": "J. Geophys. Res", "volume": "116",
             "issn": "B9", "pages": "", "other_ids": {"doi": ["10.1029/2011jb008521"]}}  # fmt: skip
    found = parse["bib_entries"]["BIBREF9"]
    assert {name: found[name] for name in entry} == entry and found["authors"][0]["first"] == "J"
    assert {name: parse["ref_entries"]["FIGREF1"][name] for name in ("text", "type")} == {
        "text": "To explore the full range.",
        "type": "figure",
    }
    assert line["metadata"].keys() >= {"title", "authors", "abstract", "year", "doi", "venue"}


def test_object_of_a_released_paper() -> None:
    """22. §4: the object has the canonical metadata of the paper, beside the parse with its own title and authors."""
    paper: dict[str, Any] = {
        **dict.fromkeys(OF_PAPERS), "paper_id": "104172", "title": "Nonlinear inversion", "date": "2016-05", "doi": "10.1002/2016jb013287",
        "venue": "Journal of Geophysical Research: Solid Earth", "authors": [], "parses": {"pdf": to_s2orc(SAMPLE, "104172")},
    }  # fmt: skip
    line = gorc_line(paper)
    assert line is not None and (line["metadata"]["title"], line["metadata"]["year"]) == ("Nonlinear inversion", "2016")
    assert (line["grobid_parse"]["title"], line["grobid_parse"]["authors"][0]["last"]) == ("A title", "Waite")
    assert line["s2_pdf_hash"] == "0" * 40


def test_null_ids_of_unlinked_citations() -> None:
    """23. Appendix E: a citation of no entry has a null ref_id in cite_spans."""
    text = '<p>As <ref type="bibr">[99]</ref> says.</p>'
    (span,) = to_gorc_line(teis.parse(text))["grobid_parse"]["body_text"][0]["cite_spans"]
    assert (span["text"], span["ref_id"]) == ("[99]", None)
