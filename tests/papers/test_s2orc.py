"""S2ORC (Lo et al., ACL 2020), §3–§5 and Appendix D: the dataset, its evaluation and its use.

The demands include those from which the default rules deviate. Not demands on a corpus: Tables 1, 5, 7 and 9 and Appendix F (other
corpora, and models that the authors trained).
"""

from collections import Counter
from typing import Any

import pytest

from s2corpus.evaluation.results import PAPER, PARSE_F1
from s2corpus.evaluation.sample import EvaluationTask
from s2corpus.papers.comparison import authors_match, authors_overlap, titles_match
from s2corpus.papers.filter import decide
from s2corpus.rules import EvaluationRules
from s2corpus.snapshot import paper_numbers, paper_tables
from s2corpus.snapshot.census import NO_FIELD
from s2corpus_datasets.pretraining import PretrainingParams, classify_paragraph
from s2corpus_datasets.sentences import sentence_spans
from s2orc_parse.bibliography.fields_of_study import FIELDS as FIELDS_OF_STUDY
from s2orc_parse.bibliography.fields_of_study import fields_of
from s2orc_parse.bibliography.names import parse_authors
from tests.papers.s2orc import LITERAL

TABLES = {table["name"]: table for table in paper_tables.tables(Counter(), {}, {}, {})}


def rows_of(name: str, column: int) -> dict[str, Any]:
    """Return label → value in a column of a table of the release."""
    return {row[0]: row[column] for row in TABLES[name]["rows"]}


def test_tables_of_the_release_have_the_rows_of_the_paper() -> None:
    """Demands of S2ORC.

    45. Table 2: counts of the filters no title (20k), no authors (0.3M), < 100 characters (80.0M), not English (15.2M).
    46. Table 3: provenance of papers: PDF, bibliographies, full text from PDF and LaTeX, publisher abstract, DOI and other identifiers.
    47. Table 4: mean paragraphs, inline citations, entries and linked entries of GROBID and LaTeX parses.
    48. §3: citation links between papers (380.5M), and those with an inline mention (156.5M).
    49. Table 8: PDFs removed by PyPDF2 (0.54M), over 50 pages (2.27M), width > height (0.28M), PDFAlto (0.21M).
    50. Appendix E: tokens of body (25B) and abstracts (15B).
    """
    clusters = 81.1e6 + 95.5e6
    assert rows_of("filters", 3)["Not English"] == round(15.2e6 / clusters, 6)
    shares = {"Papers w/ PDF": 0.356, "Papers w/ bibliographies": 0.341, "Papers w/ full text from PDF": 0.1, "Papers w/ DOIs": 0.643,
              "Papers w/ full text from LaTeX": 0.018, "Papers w/ publisher abstract": 0.904, "Papers w/ PubMed IDs": 0.265,
              "Papers w/ PMC IDs": 0.058, "Papers w/ arXiv IDs": 0.02, "Papers w/ ACL IDs": 0.001}  # fmt: skip
    sources = rows_of("sources", 3)
    assert {label: round(sources[label], 3) for label in shares} == pytest.approx(shares, abs=0.0011)
    grobid, latex = rows_of("parses", 5), rows_of("parses", 6)
    assert [grobid[label] for label in ("Paragraphs (abstract)", "Paragraphs (body)", "Inline cite spans (body)")] == [
        1.1, 9.9, 45.2,
    ]  # fmt: skip
    assert [latex[label] for label in ("Bibliography entries", "Linked bib. entries", "Paragraphs (body)")] == [
        21.9, 6.8, 93.3,
    ]  # fmt: skip
    assert rows_of("citations", 3)["with a mention in the text"] == round(156.5 / 380.5, 6)
    removed = 0.54 + 2.27 + 0.28 + 0.21
    assert rows_of("pdfs", 3)["Over 50 pages"] == round(2.27 / removed, 6)
    assert rows_of("tokens", 4) == {"Body text": round(25e9 / 8.1e6, 2), "Abstracts": round(15e9 / 73.4e6, 2)}


def test_paper_has_an_abstract_or_text() -> None:
    """51. Table 3: every paper has a publisher-provided abstract or a PDF with text or bibliography."""
    assert decide({"p"}, set(), LITERAL.filter, title="T", author_count=1, text="").outcome == "short_text"


def test_fields_of_study_are_mapped() -> None:
    """52. §3, Figure 2, Appendix G: the field of study is the top one of Microsoft Academic; 677k papers have several.

    Deviation: Subjects of the sources are mapped to Microsoft Academic's 19 fields. If no source declares a field, OpenAlex's topics are
    mapped, and then the field of the journal is used (`vote.infer_fields: false` uses declared fields only).
    Reason: Microsoft Academic no longer exists.
    """
    theirs = {name for name, *_ in paper_numbers.FIELDS_OF_STUDY} - {NO_FIELD}
    assert theirs == set(FIELDS_OF_STUDY) and len(FIELDS_OF_STUDY) == 19
    assert (fields_of("cs.CL"), fields_of("Oncology")) == (("Computer Science",), ("Medicine",))
    assert rows_of("fields", 3)["more than one field"] == round(677e3 / 81.1e6, 6)


def test_samples_and_published_accuracies() -> None:
    """Demands of S2ORC.

    53. §4: 500 papers with PDFs are judged, title and authors against the canonical PDF.
    54. §4: 500 links of GROBID parses and 100 of LaTeX parses are judged, each to a different paper.
    55. §4: inline citations and bibliographies of 200 papers are judged; GROBID has F1 0.89 in both.
    56. Table 6: clustering 0.93 and 0.89, linking 1.00 and 0.96 (GROBID), 1.00 and 0.92 (LaTeX).
    """
    rules = EvaluationRules()
    assert (rules.clusters, rules.pdf_links, rules.latex_links, rules.parses) == (500, 500, 100, 200)
    accuracies = {(task, field): PAPER[task, field] for task in EvaluationTask for field in ("title", "authors")}
    assert list(accuracies.values()) == [0.93, 0.89, 1.00, 0.96, 1.00, 0.92] and PARSE_F1 == 0.89


@pytest.mark.parametrize(
    ("text", "outcome"),
    [("Figure 2. The growth of frogs in ponds.", "caption"), ("∂ ∑ √ ∫ ≈ ≠ ≤ ≥ x y z = + + + = 1", "too_many_symbols"),
     ("Figure 2a shows the growth of frogs in ponds.", "kept")],
)  # fmt: skip
def test_pretraining_text_is_cleaned(text: str, outcome: str) -> None:
    """Demands of S2ORC.

    57. §5: captions, table text, headers, footers and footnotes are excluded from the pretraining corpus.
    58. §5: heuristic filters remove ill-formed paragraphs, such as those with too many symbols.
    """
    assert classify_paragraph(PretrainingParams(), text) == outcome


def test_vocabulary_of_pretraining() -> None:
    """59. §5: the cased WordPiece vocabulary has 31k entries and is learned from 15 % of the corpus."""
    assert (PretrainingParams().vocabulary_size, PretrainingParams().vocabulary_sample) == (31_000, 0.15)


def test_sentences_are_found_by_our_rules() -> None:
    """60. §5: scispaCy finds sentences and tokens.

    Deviation: Our rules and blingfire find them.
    Reason: Its models must be downloaded. On marked sentences of real papers, our rules are right more often.
    """
    text = "Fig. 2 shows it (Lee et al. 2010). It holds."
    assert [text[slice(*span)] for span in sentence_spans(text)] == ["Fig. 2 shows it (Lee et al. 2010).", "It holds."]


def names(text: str) -> list[dict[str, object]]:
    """Return the parsed names."""
    return [author.name() for author in parse_authors(text)]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("Deep Learning", "DEEP LEARNING", True), ("The γ rays", "The gamma rays", True), ("Deep  learning", "Deep\nlearning", True),
     ("Deep learning", "Deep learnings", False)],
)  # fmt: skip
def test_titles_match_by_the_criteria(one: str, other: str, same: bool) -> None:
    """70. Appendix D: titles match exactly, but for capitalization, special characters (γ, gamma) and white space."""
    assert titles_match(one, other) is same


@pytest.mark.parametrize(
    ("judged", "printed", "same"),
    [("A. Lovelace, A. Turing", "Ada Lovelace, Alan M. Turing", True), ("Ada Lovelace", "Dr. Ada Lovelace, PhD", True),
     ("Alan Turing, Ada Lovelace", "Ada Lovelace, Alan Turing", False), ("Ada Lovelace", "Ada Lovelace, Alan Turing", False)],
)  # fmt: skip
def test_authors_match_by_the_criteria(judged: str, printed: str, same: bool) -> None:
    """71. Appendix D: all authors in order; first initials, omitted middle names and titles (Dr., PhD) are the same name."""
    assert authors_match(names(judged), names(printed)) is same


def test_authors_of_an_entry_overlap() -> None:
    """72. Appendix D: an entry by A, B and C matches a paper by A and B."""
    a, b, c = "Ann Adams", "Bob Brown", "Cy Clark"
    share = EvaluationRules().author_overlap
    assert authors_overlap(names(f"{a}, {b}, {c}"), names(f"{a}, {b}"), share)
    assert not authors_overlap(names(f"{a}"), names(f"{b}, {c}"), share)
