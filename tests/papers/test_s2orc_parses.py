"""S2ORC, §2.1, §2.2, Appendices A and B: processing PDFs and LaTeX source."""

from pathlib import Path

import pytest

from s2corpus.outcomes import SelectOutcome
from s2corpus.pipeline.stages import stage_row
from s2corpus.rules import SelectRules
from s2corpus.tables.parses import LATEX_PARSES
from s2corpus_reader.schemas import PARSE
from s2orc_parse.parse_model import CitationStyle, Parse, RefType
from s2orc_parse.tei import to_s2orc
from tests.papers.s2orc import TEI
from tests.unit.s2corpus.pdf.bad_pdfs import KINDS
from tests.unit.s2corpus.pdf.test_select import inspect
from tests.unit.s2orc_parse.latex import archives
from tests.unit.s2orc_parse.tei import teis


def test_parse_has_what_grobid_extracts() -> None:
    """Demands of S2ORC.

    1. §2.1 (i): metadata such as title, authors and abstract are extracted.
    2. §2.1 (ii): paragraphs of the body are organized under section headings.
    3. §2.1 (iii): figure and table captions are extracted.
    4. §2.1 (iv): equations, table content, headers and footers are removed from the body text.
    5. §2.1 (v): inline citations in the abstract and the body are extracted.
    6. §2.1 (vi): bibliography entries have title, authors, year and venue.
    7. §2.1 (vii): inline citations are linked to their bibliography entries.
    """
    assert TEI.header.title == "A title" and [p.text for p in TEI.abstract] == ["We follow [1]."]
    assert [p.section for p in TEI.body_text] == ["Introduction"] * len(TEI.body_text)
    assert {(e.type, e.text) for e in TEI.ref_entries} >= {(RefType.FIGURE, "A plot."), (RefType.TABLE, "Counts.")}
    body = " ".join(p.text for p in TEI.body_text)
    assert not any(text in body for text in ("mc", "7", "Running head", "A plot")) and "EQUATION" in body
    spans = [[(s.text, s.ref_id) for p in part for s in p.cite_spans] for part in (TEI.abstract, TEI.body_text)]
    (entry,) = TEI.bib_entries
    assert spans == [[("[1]", entry.key)]] * 2
    assert (entry.title, [a.last for a in entry.authors], entry.year, entry.venue) == (
        "On Lee 2001", ["Lee"], 2001, "J. Tests",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("callouts", "style"),
    [
        ("[2]", CitationStyle.BRACKET), ("(ABC, 2019)", CitationStyle.NAME_YEAR), ("<hi rend='superscript'>2</hi>", CitationStyle.OTHER),
    ],
)  # fmt: skip
def test_citation_style_is_classified(callouts: str, style: CitationStyle) -> None:
    """8. §2.1: the parenthetical style is BRACKET ([2]), NAME-YEAR (ABC, 2019) or OTHER (superscripts and mixed styles)."""
    assert cite(*[callouts] * 3).citation_style is style


def cite(*callouts: str, entries: int = 9) -> Parse:
    """Return the parse of a paragraph that cites these callouts without targets."""
    return teis.parse(
        f"<p>{' so '.join(f'<ref type=%bibr%>{c}</ref>' for c in callouts)}.</p>".replace("%", '"'),
        teis.NUMBERED[:entries],
    )


def test_false_positives_of_bracket_papers_are_removed() -> None:
    """9. §2.1 (i): superscripts and equation references are no inline citations in papers with BRACKET style."""
    parse = cite("[1]", "[2]", "[6]", "[7]", "(4)", "5", "Eq. (3)")
    assert parse.citation_style is CitationStyle.BRACKET
    assert [span.text for p in parse.body_text for span in p.cite_spans] == ["[1]", "[2]", "[6]", "[7]"]
    assert "(4) so 5 so Eq. (3)" in parse.body_text[0].text, "only the spans are removed"


def test_bracket_range_is_expanded_and_linked() -> None:
    """10. §2.1 (ii): "[3]-[5]" is expanded to [3], [4], [5] before linking."""
    parse = teis.parse(
        '<p>See <ref type="bibr" target="#b2">[3]</ref>-<ref type="bibr" target="#b4">[5]</ref>. '
        'So <ref type="bibr" target="#b0">[1]</ref>, <ref type="bibr" target="#b1">[2]</ref>.</p>',
        teis.NUMBERED[:9],
    )
    spans = parse.body_text[0].cite_spans
    assert [span.ref_id for span in spans if span.text == "[3]-[5]"] == ["BIBREF2", "BIBREF3", "BIBREF4"]


def test_parse_is_expressed_in_json_of_the_release() -> None:
    """11. §2.1, footnote 12: the parses are JSON in the published format (20200705)."""
    assert to_s2orc(TEI, "1").keys() >= {
        "paper_id", "_pdf_hash", "abstract", "body_text", "back_matter", "bib_entries", "ref_entries",
    }  # fmt: skip
    assert {"paper_id", "abstract", "body_text", "bib_entries", "ref_entries"} <= set(PARSE.names)


def test_extractor_is_named_in_the_parse() -> None:
    """12. §2.1: SCIENCEPARSE 3.0.0 and GROBID 0.5.5 process the PDFs.

    Deviation: The built-in extractor, or any server with GROBID's REST API, processes them. Each parse names its program.
    Reason: A release does not need Java or these versions. ScienceParse is no longer maintained.
    """
    assert (TEI.provenance.extractor, TEI.provenance.version) == ("grobid", "0.8.0")


SOURCE = r"""
\section{Methods}
We follow \cite{lo} in Figure~\ref{f} and Table~\ref{t}. \begin{equation}E = mc\label{e}\end{equation}
\begin{figure}\caption{A plot.}\label{f}\end{figure}
\begin{table}\caption{Counts.}\label{t}\begin{tabular}{ll}a & 7\\ \end{tabular}\end{table}"""


def test_latex_source_is_a_full_text_parse() -> None:
    """13. §2.2: body, section headers, captions, table representations, equations, citations and references are from the source."""
    parse = archives.parse(SOURCE, entries=archives.ENTRIES)
    (paragraph,) = parse.body_text
    assert paragraph.section == "Methods" and paragraph.text.endswith("EQUATION")
    assert archives.list_citations(parse) == [("[1]", "lo")] or [key for _, key in archives.list_citations(parse)] == [
        "lo"
    ]
    found = {entry.type: entry for entry in parse.ref_entries}
    assert (found[RefType.FIGURE].text, found[RefType.TABLE].text) == ("A plot.", "Counts.")
    assert found[RefType.TABLE].cells == (("a", "7"),) and "mc" in (found[RefType.FORMULA].latex or "")
    assert {span.ref_id for span in paragraph.ref_spans} == {found[RefType.FIGURE].key, found[RefType.TABLE].key}


def test_latex_keeps_paragraphs() -> None:
    """14. Table 4: LaTeX parses preserve line breaks rather than paragraph breaks.

    Deviation: A LaTeX parse has the paragraphs of the source. A line break does not end a paragraph.
    Reason: The paper calls it a peculiarity of its parses. Our paragraphs are comparable with the paragraphs of PDFs.
    """
    assert [p.text for p in archives.parse("One line\nand another.\n\nA paragraph.").body_text] == [
        "One line and another.",
        "A paragraph.",
    ]


def test_latex_is_converted_by_pandoc() -> None:
    """15. §2.2: LaTeX is first converted into XML documents.

    Deviation: Pandoc converts it into a document tree (JSON), without XML.
    Reason: LaTeXML needs Perl, and nine seconds for each paper. Pandoc needs a quarter of a second.
    """
    formula = next(e for e in archives.parse(SOURCE, entries=archives.ENTRIES).ref_entries if e.type is RefType.FORMULA)
    assert formula.latex is not None and "<" not in formula.latex


def test_latex_metadata_never_describe_a_paper() -> None:
    """16. §2.2: metadata of LaTeX sources are used neither for clustering nor for metadata selection."""
    assert stage_row("cluster").reads == ("records", "pdf_records")
    assert not {"title", "authors", "header", "date"} & set(LATEX_PARSES.schema.names)


def test_narrative_and_parenthetical_citations_are_spans() -> None:
    """61. Appendix A: "ABC (2019) present model 1, which outperforms model 2 (XYZ (2019))." has two inline citations."""
    parse = teis.parse(
        '<p><ref type="bibr">ABC (2019)</ref> present model 1, which outperforms model 2 <ref type="bibr">(XYZ (2019))</ref>.</p>',
        (teis.make_entry("ABC", 2019), teis.make_entry("XYZ", 2019)),
    )
    assert [span.ref_id for span in parse.body_text[0].cite_spans] == ["BIBREF0", "BIBREF1"]


def test_bracket_example_of_the_appendix() -> None:
    """62. Appendix A: "[1, 3-5]" refers to the numbered entries 1, 3, 4 and 5."""
    spans = [span for p in cite("[1, 3-5]", "[2]", "[6]").body_text for span in p.cite_spans]
    assert [span.ref_id for span in spans] == [f"BIBREF{n - 1}" for n in (1, 3, 4, 5, 2, 6)]


def test_inline_reference_is_linked_to_its_caption() -> None:
    """63. Appendix A, Figure 1: "Figure 3" in the text is an inline reference, linked to the figure's caption."""
    (span,) = TEI.body_text[0].ref_spans
    assert (span.text, {e.key: e.text for e in TEI.ref_entries}[span.ref_id or ""]) == ("Figure 1", "A plot.")


def test_entry_has_the_features_of_a_bibliography_entry() -> None:
    """64. Appendix A: an entry has title, authors, year, venue or journal, volume, issue, pages, and DOI, arXiv or PubMed id."""
    entry = to_s2orc(TEI)["bib_entries"]["BIBREF0"]
    assert entry.keys() >= {"title", "authors", "year", "venue", "volume", "issue", "pages", "other_ids"}


REMOVED = {
    "truncated_50": SelectOutcome.UNREADABLE, "user_password_aes": SelectOutcome.ENCRYPTED, "fifty_pages": SelectOutcome.SELECTED,
    "fifty_one_pages": SelectOutcome.TOO_MANY_PAGES, "landscape": SelectOutcome.LANDSCAPE, "square": SelectOutcome.SELECTED,
    "blank": SelectOutcome.PDFALTO_FAILED,
}  # fmt: skip


def test_pdf_filters(tmp_path: Path) -> None:
    """Demands of S2ORC.

    65. Appendix B (i): PDFs that give an error in PyPDF2 (now pypdf) are removed.
    66. Appendix B (ii): PDFs with more than 50 pages are removed.
    67. Appendix B (iii): PDFs with pages wider than high are removed.
    68. Appendix B (iv): PDFs that pdfalto cannot extract are removed.
    """
    for name in REMOVED:
        (tmp_path / name).write_bytes(KINDS[name][0]())
    found = inspect([(name, tmp_path / name) for name in REMOVED])
    assert {name: found[name].outcome for name in REMOVED} == REMOVED and SelectRules().max_pages == 50
