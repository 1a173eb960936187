"""S2ORC (Lo et al., ACL 2020): its demands by section, those included from which the default rules deviate.

Not demands on a corpus: Tables 1, 5, 7 and 9 and Appendix F (other corpora, and models that the authors trained).
"""

from collections import Counter
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.evaluation.results import PAPER, PARSE_F1
from s2corpus.evaluation.sample import EvaluationTask
from s2corpus.outcomes import SelectOutcome
from s2corpus.papers.ballots import FIELDS, DeliveredRecord
from s2corpus.papers.comparison import authors_match, authors_overlap, titles_match
from s2corpus.papers.evidence import Declaration
from s2corpus.papers.filter import decide
from s2corpus.papers.openness import Openness, decide_openness, decide_source_openness
from s2corpus.papers.vote import Pdf, VotedPaper, VoteRule, elect_metadata
from s2corpus.pipeline.stages import stage_row
from s2corpus.rules import EvaluationRules, FilterRules, LinkRules, SelectRules, VoteRules
from s2corpus.snapshot import paper_tables
from s2corpus.snapshot.census import NO_FIELD
from s2corpus.snapshot.metadata import metadata_row, released_parse
from s2corpus.sources import Author, Record
from s2corpus.spec import load_spec, releases_folder
from s2corpus.tables.parses import LATEX_PARSES
from s2corpus.titles import grams, normalize, normalize_one, score, score_pairs
from s2corpus_datasets.pretraining import PretrainingParams, classify_paragraph
from s2corpus_datasets.sentences import sentence_spans
from s2corpus_reader.schemas import METADATA, PARSE
from s2orc_parse.bibliography.fields_of_study import FIELDS as FIELDS_OF_STUDY
from s2orc_parse.bibliography.fields_of_study import fields_of
from s2orc_parse.bibliography.names import parse_authors
from s2orc_parse.parse_model import CitationStyle, Parse, RefType
from s2orc_parse.tei import to_s2orc
from tests.unit.s2corpus.papers.samples import DOI, PREPRINT, A, B, header, is_preprint, publisher, record
from tests.unit.s2corpus.pdf.bad_pdfs import KINDS
from tests.unit.s2corpus.pdf.test_select import inspect
from tests.unit.s2corpus.stages.link.samples import link_all
from tests.unit.s2orc_parse.latex import archives
from tests.unit.s2orc_parse.tei import teis

LITERAL = load_spec(releases_folder() / "s2orc_2020.yaml")
ADA, ALAN = Author("Ada", (), "Lovelace", ""), Author("Alan", ("M",), "Turing", "")
OPEN, CLOSED = Declaration("one", "a.pdf", True), Declaration("two", "b.pdf", False)


# -- §2.1 Processing PDFs

TEI = teis.parse(
    '<div><head n="1">Introduction</head><p>As <ref type="bibr" target="#b0">[1]</ref> shows in '
    '<ref type="figure" target="#fig_0">Figure 1</ref>.</p><formula xml:id="formula_0">E = mc</formula><p>It ends.</p></div>'
    '<note place="headnote">Running head</note><figure xml:id="fig_0"><head>Figure 1</head><figDesc>A plot.</figDesc></figure>'
    '<figure type="table" xml:id="tab_0"><head>Table 1</head><figDesc>Counts.</figDesc><table><row><cell>7</cell></row></table></figure>',
    (
        teis.make_entry("Lee", 2001).replace(
            "</analytic><monogr>", '</analytic><monogr><title level="j">J. Tests</title>'
        ),
    ),
    abstract='<p>We follow <ref type="bibr" target="#b0">[1]</ref>.</p>',
)


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


# -- §2.2 Processing LaTeX source

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


# -- §2.3 Selecting canonical metadata


def vote(*records: Record, literal: bool = False, **options: Any) -> VotedPaper:
    """Return the paper of these records by the default rules or those of s2orc_2020."""
    given = {"is_preprint": is_preprint, **options}
    return elect_metadata(
        "p", [DeliveredRecord(one) for one in records], LITERAL.vote if literal else VoteRules(), **given
    )


def test_canonical_pdf_is_open_then_the_richest() -> None:
    """Demands of S2ORC.

    17. §2.3: the canonical PDF is preferably one from an open access source.
    18. §2.3: ties are broken by richer publisher-provided metadata, such as abstract, year, venue or DOI.
    """
    rich = publisher(file_sha1=A, doi=DOI, title="T", venue="V", date="2020", abstract="We.")
    both = header(B), header(A), rich
    assert vote(*both, pdfs={A: Pdf("", (CLOSED,)), B: Pdf("", (OPEN,))}).canonical_pdf == B
    for name in ("abstract", "date", "venue", "doi"):
        one = publisher(file_sha1=B, **{name: {"abstract": "We.", "date": "2020", "venue": "V", "doi": DOI}[name]})
        pdfs = {A: Pdf("2023", (OPEN,)), B: Pdf("2022", (OPEN,))}
        assert vote(header(A), header(B), one, publisher(file_sha1=A), pdfs=pdfs).canonical_pdf == B


def test_publisher_metadata_of_the_selected_pdf_are_canonical() -> None:
    """19. §2.3: if the selected PDF has publisher-provided metadata, those fields are canonical."""
    others = [record(source, title=f"Else by {source}") for source in ("dblp", "s2", "arxiv")]
    for literal in (False, True):
        paper = vote(header(doi=DOI), publisher(doi=DOI, title="Said"), *others, literal=literal)
        assert (paper.values["title"], paper.provenance["title"].rule) == ("Said", VoteRule.PUBLISHER)


SIMILAR = [record(source, title=title) for source, title in (("crossref", "A deep parser"), ("dblp", "A deep parser"),
           ("arxiv", "Deep parsing of papers"), ("s2", "Deep parsing of pagers"), ("acl", "Deep parsing of paper"))]  # fmt: skip


def test_majority_of_equal_values_is_canonical_in_the_literal_profile() -> None:
    """20. §2.3: majority voting selects canonical values where publisher-provided metadata are incomplete.

    Deviation: A value wins by the sum of its similarities to all votes (`vote.support: similar`).
    Reason: Sources print one title in several forms, so equal votes would be divided. `vote.support: equal` is the paper's rule.
    """
    assert vote(*SIMILAR, literal=True).values["title"] == "A deep parser"
    assert vote(*SIMILAR).values["title"] == "Deep parsing of papers"


@pytest.mark.parametrize("literal", [False, True])
def test_ties_are_broken_by_the_fewest_sources(literal: bool) -> None:
    """21. §2.3: if IEEE provides title, authors and abstract, DBLP title and authors, and arXiv title and abstract, IEEE is selected."""
    fields: dict[str, Any] = {"title": "T", "authors": (ADA,), "abstract": "We."}
    have = {"ieee": [*fields], "dblp": ["title", "authors"], "arxiv": ["title", "abstract"]}
    paper = vote(
        *(record(source, **{name: fields[name] for name in names}) for source, names in have.items()), literal=literal
    )
    assert {name: decision.source for name, decision in paper.provenance.items()} == dict.fromkeys(fields, "ieee")


def test_every_record_votes_in_the_literal_profile() -> None:
    """22. §2.3: all papers of a cluster vote, and publisher-provided metadata of the selected PDF win.

    Deviation: Records of preprints do not vote on a published paper, and a publisher's record that all others contradict loses
    (`vote.records: weighed`).
    Reason: A published paper had the year and DOI of its preprint. `equal` is the paper's rule.
    """
    preprints = [record(source, doi=PREPRINT, title="Old", date="2019") for source in ("s2", "openalex")]
    published = publisher(doi=DOI, title="New", date="2021")
    dates = [vote(*preprints, published, literal=literal).values["date"][0] for literal in (False, True)]
    assert dates == ["2021", "2019"]
    contradicted = (
        header(doi=DOI), publisher(doi=DOI, title="Said"), record("dblp", title="Else"), record("s2", title="Else"),
    )  # fmt: skip
    assert [vote(*contradicted, literal=literal).values["title"] for literal in (False, True)] == ["Else", "Said"]


def test_metadata_fields_are_those_of_the_paper() -> None:
    """23. §2.3: the fields are title, author, year, venue, journal, abstract and identifiers (DOI, PubMed, PMC, arXiv, ACL)."""
    paper = {
        "title", "authors", "date", "venue", "journal", "abstract", "doi", "pubmed_id", "pmc_id", "arxiv_id", "acl_id",
    }  # fmt: skip
    assert paper <= set(FIELDS) and (paper - {"date"}) | {"year"} <= set(METADATA.names)


@pytest.mark.parametrize("literal", [False, True])
def test_title_and_authors_are_from_the_pdf_if_nobody_provides_them(literal: bool) -> None:
    """24. §2.3: title and authors without a provider are from the PDF, SCIENCEPARSE before GROBID (also §2.1, footnote 11)."""
    read = header(title="GROBID", authors=(ALAN,)), header(source="scienceparse", title="Science", authors=(ADA,))
    paper = vote(*read, record("s2", venue="V"), literal=literal)
    assert (paper.values["title"], paper.values["authors"]) == ("Science", (ADA,))
    assert vote(*read, record("s2", title="Said"), literal=literal).values["title"] == "Said"


def test_other_fields_are_never_from_the_pdf_in_the_literal_profile() -> None:
    """25. §2.3, Table 3: only title and authors are derived from the PDF; abstracts are publisher-provided.

    Deviation: The PDF's front matter fills every field that is missing in all records. It fills the abstract only if the PDF is open.
    Reason: PDFs without a record would have no date, DOI or abstract. `vote.pdf_fields: title_authors` is the paper's rule.
    """
    read = header(title="T", abstract="We.", date="2020", venue="V")
    ours, theirs = (vote(read, literal=literal, pdfs={A: Pdf("", (OPEN,))}, all_open=True) for literal in (False, True))
    assert ours.values.keys() == {"title", "abstract", "date", "venue"} and theirs.values.keys() == {"title"}


# -- §2.4 Assembling the corpus

ARXIV, ACLS = record("arxiv", arxiv_id="1911.02782"), publisher("acl", acl_id="2020.acl-main.447")
PMC = record("pubmed", doi=DOI, pmc_id="PMC7", open_access=True)
UNPAYWALL = record("unpaywall", DOI, doi=DOI, open_access=True)


def judge(*records: Record, literal: bool) -> Openness:
    """Return the openness of PDF A by the default rules or those of s2orc_2020."""
    return decide_openness(A, records, is_preprint=is_preprint, unit=LITERAL.vote.openness if literal else "file")


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize(
    ("records", "evidence"),
    [([header(arxiv_id="1911.02782"), ARXIV], "arxiv"), ([header(acl_id="2020.acl-main.447"), ACLS], "acl"),
     ([header(doi=DOI), PMC], "pmc"), ([header(doi=DOI), UNPAYWALL], "unpaywall"), ([header(doi=DOI), publisher(doi=DOI)], None)],
)  # fmt: skip
def test_four_sources_make_a_pdf_open(records: list[Record], evidence: str | None, literal: bool) -> None:
    """26. §2.4: open are papers of arXiv, the ACL Anthology and PMC's open access subset, and DOIs open in Unpaywall."""
    found = judge(*records, literal=literal)
    assert (found.open, found.evidence) == (evidence is not None, evidence)


def test_openness_of_the_paper_opens_its_pdf_in_the_literal_profile() -> None:
    """27. §2.4: open access status is assigned to the paper.

    Deviation: The status belongs to each file. An open preprint does not open the publisher's PDF.
    Reason: The license of a text belongs to the file. S2ORC's rule publishes closed PDFs. `vote.openness: paper` is the paper's rule.
    """
    published = header(doi=DOI), publisher(doi=DOI), record("unpaywall", DOI, doi=DOI, open_access=False)
    for of_preprint in (ARXIV, record("unpaywall", PREPRINT, doi=PREPRINT, open_access=True)):
        assert (
            judge(*published, of_preprint, literal=True).open and not judge(*published, of_preprint, literal=False).open
        )
    assert not decide_openness(A, [*published, ARXIV], (CLOSED,), is_preprint=is_preprint, unit="paper").open, (
        "a deliverer may close it"
    )


def test_closed_parse_is_its_bibliography() -> None:
    """Demands of S2ORC.

    28. §2.4: the parse of an open PDF belongs to the paper.
    29. §2.4: of a closed PDF, only the bibliography is included.
    """
    parse = to_s2orc(TEI, "1")
    assert released_parse(parse, {}, open_access=True)["body_text"] == parse["body_text"]
    closed = released_parse(parse, {}, open_access=False)
    assert closed["bib_entries"].keys() == parse["bib_entries"].keys()
    assert not any(closed[part] for part in ("title", "authors", "abstract", "body_text", "back_matter", "ref_entries"))


def test_latex_source_of_arxiv_is_open() -> None:
    """30. §2.4: if arXiv's LaTeX source is available for a cluster, its parse is associated."""
    assert decide_source_openness("1911.02782", []).open and "latex_parses" in stage_row("assemble").reads


# -- §2.5 Filtering paper clusters

TEXT = "We present a large corpus of scientific papers with full text, citations and references, and show how it was made. "
GERMAN = "Wir stellen eine große Sammlung wissenschaftlicher Arbeiten mit Volltext und Zitaten vor und zeigen, wie sie entstand. "


@pytest.mark.parametrize("language", ["cld3", "cld2"])
@pytest.mark.parametrize(
    ("title", "authors", "text", "outcome"),
    [(None, 0, "", "no_title"), ("T", 0, "", "no_authors"), ("T", 1, TEXT[:99], "short_text"), ("T", 1, TEXT[:100], "kept"),
     ("T", 1, GERMAN, "not_english")],
)  # fmt: skip
def test_filters_apply_in_series(title: str | None, authors: int, text: str, outcome: str, language: str) -> None:
    """Demands of S2ORC.

    31. §2.5 (i): papers without title are removed.
    32. §2.5 (ii): papers without authors are removed.
    33. §2.5 (iii): papers with fewer than 100 characters of abstract and body text are removed.
    34. §2.5 (iv): papers whose primary language is not English are removed.
    35. §2.5: all filters are applied in series.
    """
    pytest.importorskip("pycld2")
    rules = FilterRules.model_validate({"language": language})
    assert decide({"p"}, set(), rules, title=title, author_count=authors, text=text).outcome == outcome


def test_threshold_of_the_english_filter() -> None:
    """36. §2.5, footnote 14: the threshold over the English score is 0.9."""
    assert FilterRules().min_english == LITERAL.filter.min_english == 0.9
    english = decide({"p"}, set(), FilterRules(), title="T", author_count=1, text=TEXT).english or 0.0
    for limit, outcome in ((english, "kept"), (english + 1e-9, "not_english")):
        assert (
            decide({"p"}, set(), FilterRules(min_english=limit), title="T", author_count=1, text=TEXT).outcome
            == outcome
        )


def test_cld2_identifies_the_language_in_the_literal_profile() -> None:
    """37. §2.5, footnote 14: CLD2 detects the language.

    Deviation: CLD3 detects it.
    Reason: The S2 V2 card names CLD3, and one corpus has one detector. `filter.language: cld2` is the paper's rule. The card of a release
    with it counts the papers that the other decides differently.
    """
    pytest.importorskip("pycld2")
    text = "Data not available. " * 8
    outcomes = [
        decide({"p"}, set(), rules, title="T", author_count=1, text=text).outcome
        for rules in (FilterRules(), LITERAL.filter)
    ]
    assert outcomes == ["not_english", "kept"]


# -- §2.6 Linking bibliographies to papers

GRAPHS = "Inductive representation learning on large graphs"


def test_title_is_normalized() -> None:
    """38. §2.6: white spaces are stripped, letters lower-cased, special characters removed."""
    assert normalize_one(" Graph-\nBased  Methods: a (short) survey! ") == "graphbasedmethodsashortsurvey"


def grams_of(text: str) -> set[str]:
    """Return the character 3-grams of a text; a shorter text is its own."""
    return {text[i : i + 3] for i in range(len(text) - 2)} or ({text} if text else set())


def compute_s(a: set[str], b: set[str]) -> float:
    """Return equation 1 as printed."""
    common = len(a & b)
    if not common:
        return 0.0
    jaccard, containment = common / len(a | b), common / min(len(a), len(b))
    return 2 * jaccard * containment / (jaccard + containment)


TITLES = st.one_of(
    st.text("abcABC 12-é", max_size=20), st.text("ab", max_size=300), st.text(st.characters(exclude_categories=["Cs"]))
)


@given(st.lists(TITLES, min_size=1, max_size=12))
def test_s_is_equation_1(titles: list[str]) -> None:
    """Demands of S2ORC.

    39. §2.6: a title is represented by its character 3-grams.
    40. §2.6, eq. 1: S is the harmonic mean of the Jaccard index and the containment of the 3-grams.
    """
    normal = normalize(pa.array(titles))
    sets, expected = grams(normal), [grams_of(text) for text in normal.to_pylist()]
    assert sets.sizes.tolist() == [len(s) for s in expected]
    assert all((np.diff(v.astype(object)) > 0).all() for v in np.split(sets.values, sets.offsets[1:-1]))
    i, j = (x.ravel() for x in np.indices((len(titles), len(titles))))
    scores = score_pairs(sets, i, sets, j)
    assert scores == pytest.approx([compute_s(expected[a], expected[b]) for a, b in zip(i, j, strict=True)])
    early = score_pairs(sets, i, sets, j, 0.8)
    assert (early == np.where(scores >= 0.8, scores, 0.0)).all()


@pytest.mark.parametrize("evidence", ["all", "title"])
def test_entry_links_to_the_highest_s_above_the_threshold(evidence: Literal["all", "title"]) -> None:
    """Demands of S2ORC.

    41. §2.6: the pair with the highest S above 0.8 is the link.
    42. §2.6: otherwise the entry remains unlinked.
    """
    assert LinkRules().min_score == LITERAL.link.min_score == 0.8
    papers: list[dict[str, Any]] = [
        {"paper_id": "near", "title": f"{GRAPHS} xq"},
        {"paper_id": "far", "title": f"{GRAPHS} zqkwvpf", "year": 1999},
    ]
    (found,) = link_all([{"title": GRAPHS, "year": 1999}], papers, LinkRules(evidence=evidence))
    assert (found["paper_id"], found["runner_up_score"]) == ("near", score(GRAPHS, f"{GRAPHS} zqkwvpf"))
    s = score(GRAPHS, GRAPHS + "s")
    for threshold, linked in ((s, None), (s - 1e-9, "p")):
        rules = LinkRules(min_score=threshold, evidence=evidence)
        (found,) = link_all([{"title": GRAPHS + "s"}], [{"paper_id": "p", "title": GRAPHS}], rules)
        assert found["paper_id"] == linked


def test_title_alone_links_in_the_literal_profile() -> None:
    """43. §2.6: an entry links to a paper by the similarity of titles only.

    Deviation: An equal identifier is first. Generic and short titles need further agreement, and cut and missing titles may link by other
    evidence. Doubtful links have a warning and do not count.
    Reason: "Editorial" is the title of many papers. `link.evidence: title` is the paper's rule.
    """
    papers: list[dict[str, Any]] = [
        {"paper_id": "a", "title": "Editorial", "year": 1990, "surname": "Lee"},
        {"paper_id": "b", "title": "On graphs, part I", "doi": "10.1/b"},
        {"paper_id": "c", "title": "Deep nets for graphs and trees", "year": 2001, "surname": "Roy", "doi": "10.1/c"},
    ]  # fmt: skip
    entries: list[dict[str, Any]] = [
        {"title": "Editorial", "year": 2020, "surname": "Roy"}, {"title": "On graphs, part II", "year": 2000},
        {"title": "Deep nets for graphs and trees", "year": 1950, "surname": "Lee", "doi": "10.1/b"},
        {"title": "Deep nets", "year": 2001, "surname": "Roy"},
        {"title": "", "doi": "10.1/c"},
    ]  # fmt: skip
    ours, theirs = (link_all(entries, papers, rules) for rules in (LinkRules(), LITERAL.link))
    assert [row["paper_id"] for row in theirs] == ["a", "b", "c", None, None]
    assert {row["warning"] for row in theirs} == {None}
    assert [(row["paper_id"], row["warning"]) for row in ours[:3]] == [(None, None), ("b", "numeral"), ("b", None)]
    assert ours[4]["paper_id"] == "c"


def test_bibliographies_of_both_kinds_of_parse_are_linked() -> None:
    """44. §2.6: the bibliography entries of both GROBID and LaTeX parses are linked."""
    assert {"entries", "papers"} <= set(stage_row("link").reads)
    assert {"parses", "latex_parses"} <= set(stage_row("assemble").reads) and "entries" in stage_row("assemble").writes


# -- §3 The S2ORC dataset

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
    theirs = {name for name, *_ in paper_tables._FIELDS} - {NO_FIELD}
    assert theirs == set(FIELDS_OF_STUDY) and len(FIELDS_OF_STUDY) == 19
    assert (fields_of("cs.CL"), fields_of("Oncology")) == (("Computer Science",), ("Medicine",))
    assert rows_of("fields", 3)["more than one field"] == round(677e3 / 81.1e6, 6)


# -- §4 Evaluation


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


# -- §5 Pretraining BERT on S2ORC


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


# -- Appendix A: Background & terminology


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


# -- Appendix B: PDF filters

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


# -- Appendix C: The paper clustering problem


def test_cluster_has_one_canonical_document() -> None:
    """69. Appendix C: a preprint and its published version are one paper, and one document represents it."""
    paper = vote(header(A, title="T"), header(B, title="T"), ARXIV, pdfs={A: Pdf("", (OPEN,)), B: Pdf("", (OPEN,))})
    assert paper.canonical_pdf in (A, B) and set(paper.access) == {A, B}


# -- Appendix D: S2ORC evaluation criteria


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


def test_paper_ids_are_hashes() -> None:
    """73. §2, §7: papers have the ids of Semantic Scholar's clusters.

    Deviation: A paper's id is a hash of its first record's id. `s2_url` exists only if Semantic Scholar is a source.
    Reason: Our clusters differ from Semantic Scholar's.
    """
    ids = {"s2:7": "https://api.semanticscholar.org/CorpusID:7", "crossref:1": None}
    for record_id, url in ids.items():
        paper = {
            **dict.fromkeys(METADATA.names), "date": None, "mag_ids": [], "fields_of_study": [], "record_ids": [record_id],
        }  # fmt: skip
        assert metadata_row(paper, [], [], None)["s2_url"] == url
