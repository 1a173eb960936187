"""S2ORC, §2.3, §2.4 and Appendix C: selecting canonical metadata, and assembling the corpus."""

from typing import Any

import pytest

from s2corpus.papers.ballots import FIELDS, DeliveredRecord
from s2corpus.papers.evidence import Declaration
from s2corpus.papers.openness import Openness, decide_openness, decide_source_openness
from s2corpus.papers.vote import Pdf, VotedPaper, VoteRule, elect_metadata
from s2corpus.pipeline.stages import stage_row
from s2corpus.rules import VoteRules
from s2corpus.snapshot.metadata import metadata_row, released_parse
from s2corpus.sources import Author, Record
from s2corpus_reader.schemas import METADATA
from s2orc_parse.tei import to_s2orc
from tests.papers.s2orc import LITERAL, TEI
from tests.unit.s2corpus.papers.samples import DOI, PREPRINT, A, B, header, is_preprint, publisher, record

ADA, ALAN = Author("Ada", (), "Lovelace", ""), Author("Alan", ("M",), "Turing", "")


OPEN, CLOSED = Declaration("one", "a.pdf", True), Declaration("two", "b.pdf", False)


def vote(*records: Record, literal: bool = False, **options: Any) -> VotedPaper:
    """Return the paper of these records by the default rules or by s2orc_2020."""
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


ARXIV, ACLS = record("arxiv", arxiv_id="1911.02782"), publisher("acl", acl_id="2020.acl-main.447")


PMC = record("pubmed", doi=DOI, pmc_id="PMC7", open_access=True)


UNPAYWALL = record("unpaywall", DOI, doi=DOI, open_access=True)


def judge(*records: Record, literal: bool) -> Openness:
    """Return the openness of PDF A by the default rules or by s2orc_2020."""
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
    29. §2.4: only the bibliography of a closed PDF is included.
    """
    parse = to_s2orc(TEI, "1")
    assert released_parse(parse, {}, open_access=True)["body_text"] == parse["body_text"]
    closed = released_parse(parse, {}, open_access=False)
    assert closed["bib_entries"].keys() == parse["bib_entries"].keys()
    assert not any(closed[part] for part in ("title", "authors", "abstract", "body_text", "back_matter", "ref_entries"))


def test_latex_source_of_arxiv_is_open() -> None:
    """30. §2.4: if arXiv's LaTeX source is available for a cluster, its parse is associated."""
    assert decide_source_openness("1911.02782", []).open and "latex_parses" in stage_row("assemble").reads


def test_cluster_has_one_canonical_document() -> None:
    """69. Appendix C: a preprint and its published version are one paper, and one document represents it."""
    paper = vote(header(A, title="T"), header(B, title="T"), ARXIV, pdfs={A: Pdf("", (OPEN,)), B: Pdf("", (OPEN,))})
    assert paper.canonical_pdf in (A, B) and set(paper.access) == {A, B}


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
