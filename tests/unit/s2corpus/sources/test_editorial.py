"""The editorial status of a paper is read from Crossref's updates, PubMed's types and references, and arXiv's words.

The tests also check which source's statement counts.
"""

from pathlib import Path
from typing import Any

from s2corpus.sources import read
from s2corpus.sources.editorial import find_status
from s2corpus.sources.record import Editorial, EditorialNotice, Record, RecordKind
from tests.unit.s2corpus.sources.samples import one

RETRACTED, WITHDRAWN, CONCERN, CORRECTED = Editorial

WORK = "10.1177/1758835920922055"
"""the example of Crossref's documentation of updates: https://crossref.gitlab.io/tutorials/get-rw-metadata/"""
NOTICE = "10.1177/17588359221136190"


def crossref(**work: Any) -> Record:
    return one("crossref", {"DOI": WORK, "type": "journal-article", "title": ["On updates"], **work})


def update(kind: str, doi: str = NOTICE) -> dict[str, Any]:
    return {"updated": {"date-parts": [[2022, 11, 9]]}, "DOI": doi, "type": kind, "source": "retraction-watch"}


def pubmed(types: str = "", references: str = "") -> Record:
    article = f"<ArticleTitle>Nodular hyperplasia.</ArticleTitle><PublicationTypeList>{types}</PublicationTypeList>"
    rest = f"<CommentsCorrectionsList>{references}</CommentsCorrectionsList>"
    text = f"<MedlineCitation><PMID>9500320</PMID><Article>{article}</Article>{rest}</MedlineCitation>"
    return one("pubmed", f"<PubmedArticleSet><PubmedArticle>{text}</PubmedArticle></PubmedArticleSet>")


def reference(kind: str, pmid: str = "20137807") -> str:
    return f'<CommentsCorrections RefType="{kind}"><PMID Version="1">{pmid}</PMID></CommentsCorrections>'


def arxiv(comments: str, abstract: str = "We show") -> Record:
    return one("arxiv", {"id": "0704.0001", "title": "On withdrawal", "comments": comments, "abstract": abstract})


def acl(element: str) -> Record:
    paper = f'<paper id="2"><title>T</title>{element}</paper>'
    return one("acl", f'<collection id="2024.test"><volume id="main">{paper}</volume></collection>')


def updated(*kinds: str) -> Record:
    return crossref(**{"updated-by": [update(kind) for kind in kinds]})


STATED: list[tuple[Record, Editorial | None]] = [
    (updated("correction", "retraction"), RETRACTED), (updated("expression_of_concern"), CONCERN),
    (updated("new_version", "addendum", "clarification"), None),
    (crossref(title=["RETRACTED ARTICLE: Circular RNA in gastric cancer"]), RETRACTED), (crossref(title=["Retraction of the uvula"]), None),
    (pubmed('<PublicationType UI="D016441">Retracted Publication</PublicationType>'), RETRACTED),
    (pubmed("", reference("ErratumIn") + reference("ExpressionOfConcernIn")), CONCERN),
    (arxiv("12 pages, 3 figures. Withdrawn by the author because of an error in Lemma 4"), WITHDRAWN),
    (arxiv("", "  This submission has been withdrawn by arXiv administrators because it contains\n  text"), WITHDRAWN),
    (arxiv("12 pages, 3 figures", "We study how deposits are withdrawn from banks."), None),
    (acl('<erratum id="1">x</erratum><retracted date="2024-09-01"/>'), RETRACTED),
    (acl('<removed date="2024-09-01">By request.</removed>'), WITHDRAWN), (acl('<erratum id="1">2024.test-main.2e1</erratum>'), CORRECTED),
    (one("dblp", '<dblp><article key="a/b" publtype="withdrawn"><title>T</title></article></dblp>'), WITHDRAWN),
]  # fmt: skip


def test_status_is_read_from_the_words_of_each_source() -> None:
    assert [(record, record.editorial) for record, _ in STATED] == STATED
    assert not any(record.notices for record, _ in STATED)


def test_notice_is_about_another_work() -> None:
    updates = [update("retraction", WORK.upper()), update("retraction", f"https://doi.org/{WORK}")]
    crossrefs = crossref(DOI=NOTICE, title=["Retracted: On updates"], **{"update-to": updates})
    retraction = '<PublicationType UI="D016440">Retraction of Publication</PublicationType>'
    for notice, about in (
        (crossrefs, (f"doi:{WORK}", RETRACTED)),
        (pubmed(retraction, reference("RetractionOf", "9500320")), ("pmid:9500320", RETRACTED)),
        (pubmed("", reference("ErratumFor") + reference("RetractionOf", "none")), ("pmid:20137807", CORRECTED)),
    ):
        assert (notice.editorial, notice.notices) == (None, (EditorialNotice(*about),))


def test_arxiv_raw_form_marks_withdrawn_version() -> None:
    text = """<record><header><identifier>oai:arXiv.org:0704.0001</identifier></header><metadata>
      <arXivRaw xmlns="http://arxiv.org/OAI/arXivRaw/"><id>0704.0001</id><title>On</title><authors>A. Author</authors>
      <version version="v1"><date>Mon, 2 Apr 2007 19:18:42 GMT</date><size>9kb</size><source_type>D</source_type></version>
      <version version="v2"><date>Tue, 3 Apr 2007 19:18:42 GMT</date><size>0kb</size><source_type>I</source_type></version>
      <abstract>We show.</abstract></arXivRaw></metadata></record>"""
    assert one("arxiv", text).editorial is WITHDRAWN


def _record(source: str, kind: RecordKind = RecordKind.PUBLISHER, **values: Any) -> Record:
    return Record(f"{source}:1", source, kind, **values)


def _preprint(doi: str) -> bool:
    return doi.startswith("10.48550/")


def test_real_jats_notices_name_their_articles(shared_data: Path) -> None:
    found: dict[str, tuple[EditorialNotice, ...]] = {}
    for path in sorted((shared_data / "jats").rglob("*.xml")):
        for record in read("jats", path):
            if isinstance(record, Record) and (record.notices or record.editorial):
                found[path.stem] = record.notices
    assert found == {
        "elife07586": (EditorialNotice("doi:10.7554/elife.04525", CORRECTED),),
        "journal.pone.0097541": (EditorialNotice("doi:10.1371/journal.pone.0086816", CORRECTED),),
        "journal.pone.0108198": (EditorialNotice("doi:10.1371/journal.pone.0103411", CORRECTED),),
        "journal.pcbi.0030158": (EditorialNotice("doi:10.1371/journal.pcbi.0030051", RETRACTED),),
        "journal.ppat.1005207": (EditorialNotice("doi:10.1371/journal.ppat.1003435", RETRACTED),),
    }


def test_status_lists_its_records_in_order() -> None:
    """The result lists every record with the gravest status once, in order. PDF headers do not count.

    A notice by identifier counts only if a record of the paper has this identifier.
    """
    archived = _record("acl", RecordKind.ARCHIVE, editorial=RETRACTED)
    said = [_record("crossref", doi=WORK, pubmed_id="1", editorial=RETRACTED), archived]
    notices = {f"doi:{WORK}": [(RETRACTED, "b:n"), (CONCERN, "c:n")], "pmid:1": [(RETRACTED, "a:n")]}
    assert find_status(said, notices, _preprint) == (RETRACTED, ("a:n", "acl:1", "b:n", "crossref:1"))
    assert find_status([archived], notices, _preprint) == (RETRACTED, ("acl:1",))
    corrected = _record("crossref", doi=WORK, editorial=CORRECTED)
    assert find_status([corrected], {}, _preprint) == (CORRECTED, ("crossref:1",))
    assert find_status([corrected], {f"doi:{WORK}": [(CONCERN, "c:n")]}, _preprint) == (CONCERN, ("c:n",))
    header = _record("grobid", RecordKind.PDF, doi=WORK, editorial=WITHDRAWN)
    for records in ([header], [], [_record("crossref", doi="10.1/other")]):
        assert find_status(records, notices, _preprint) == (None, ())


def test_status_of_preprint_counts_without_publisher_record() -> None:
    doi = "10.48550/arxiv.0704.0001"
    notices = {f"doi:{doi}": [(WITHDRAWN, "n:1")], f"doi:{WORK}": [(CORRECTED, "n:2")]}
    withdrawn = _record("arxiv", RecordKind.ARCHIVE, arxiv_id="0704.0001", editorial=WITHDRAWN)
    preprint, published = _record("s2", RecordKind.ARCHIVE, doi=doi), _record("crossref", doi=WORK)
    posted = _record("crossref", doi=doi)
    assert find_status([preprint], notices, _preprint) == (WITHDRAWN, ("n:1",))
    assert find_status([preprint, published], notices, _preprint) == (CORRECTED, ("n:2",))
    assert find_status([preprint, posted], notices, _preprint) == (WITHDRAWN, ("n:1",)), "a server is no publisher"
    assert find_status([withdrawn], {}, _preprint) == (WITHDRAWN, ("arxiv:1",))
    assert find_status([withdrawn, published], {}, _preprint) == (None, ())
