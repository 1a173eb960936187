"""The editorial status of a paper is read from Crossref's updates, PubMed's types and references, and arXiv's words.

The tests also check which source's statement counts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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
    at = {"date-parts": [[2022, 11, 9]], "date-time": "2022-11-09T00:00:00Z", "timestamp": 1667952000000}
    return {"updated": at, "DOI": doi, "type": kind, "source": "retraction-watch", "label": kind.capitalize()}


@pytest.mark.parametrize(
    ("types", "status"),
    [
        (["retraction"], RETRACTED),
        (["correction", "retraction"], RETRACTED),
        (["withdrawal"], WITHDRAWN),
        (["expression_of_concern"], CONCERN),
        (["corrigendum"], CORRECTED),
        (["new_version", "addendum", "clarification"], None),
    ],
)
def test_crossref_updated_by_sets_status_of_the_work(types: list[str], status: Editorial | None) -> None:
    record = crossref(**{"updated-by": [update(kind) for kind in types]})
    assert (record.editorial, record.notices) == (status, ())


def test_crossref_update_to_is_notice_about_another_work() -> None:
    notice = crossref(
        DOI=NOTICE, title=["Retracted: On updates"],
        **{"update-to": [update("retraction", WORK.upper()), update("retraction", f"https://doi.org/{WORK}")]},
    )  # fmt: skip
    assert notice.editorial is None
    assert notice.notices == (EditorialNotice(f"doi:{WORK}", RETRACTED),)


def test_malformed_updates_are_ignored() -> None:
    given = [None, 7, {"type": ["retraction"]}, {"type": "retraction"}]
    assert crossref(**{"update-to": given}).notices == () == crossref(**{"update-to": "retraction"}).notices


@pytest.mark.parametrize(
    ("title", "status"),
    [
        ("RETRACTED ARTICLE: Circular RNA in gastric cancer", RETRACTED),
        ("[Retracted] MicroRNA-126 inhibits proliferation", RETRACTED),
        ("WITHDRAWN: A study of something", WITHDRAWN),
        ("Retracted articles in oncology: a review", None),
        ("Retraction of the uvula", None),
    ],
)
def test_status_is_read_from_prefix_of_title(title: str, status: Editorial | None) -> None:
    assert crossref(title=[title]).editorial is status


def pubmed(types: str = "", references: str = "") -> Record:
    text = f"""<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>9500320</PMID><Article>
      <ArticleTitle>Ileal-lymphoid-nodular hyperplasia.</ArticleTitle>
      <PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType>{types}</PublicationTypeList>
      </Article><CommentsCorrectionsList>{references}</CommentsCorrectionsList></MedlineCitation></PubmedArticle></PubmedArticleSet>"""
    return one("pubmed", text)


def reference(kind: str, pmid: str = "20137807") -> str:
    return (
        f'<CommentsCorrections RefType="{kind}"><RefSource>Lancet. 2010 Feb 6;375(9713):445</RefSource>'
        f'<PMID Version="1">{pmid}</PMID></CommentsCorrections>'
    )


@pytest.mark.parametrize(
    ("types", "references", "status", "notices"),
    [
        ('<PublicationType UI="D016441">Retracted Publication</PublicationType>', "", RETRACTED, []),
        ("", reference("RetractionIn"), RETRACTED, []),
        ("", reference("ErratumIn") + reference("ExpressionOfConcernIn"), CONCERN, []),
        ("", reference("CommentIn") + reference("UpdateIn") + reference("Cites"), None, []),
        (
            '<PublicationType UI="D016440">Retraction of Publication</PublicationType>', reference("RetractionOf", "9500320"),
            None, [EditorialNotice("pmid:9500320", RETRACTED)],
        ),
        ("", reference("ErratumFor") + reference("RetractionOf", "none"), None, [EditorialNotice("pmid:20137807", CORRECTED)]),
    ],
)  # fmt: skip
def test_pubmed_types_and_references_set_status(
    types: str, references: str, status: Editorial | None, notices: list[EditorialNotice]
) -> None:
    record = pubmed(types, references)
    assert (record.editorial, list(record.notices)) == (status, notices)


@pytest.mark.parametrize(
    ("comments", "abstract", "status"),
    [
        ("This paper has been withdrawn", "We show that", WITHDRAWN),
        ("12 pages, 3 figures. Withdrawn by the author because of an error in Lemma 4", "We show", WITHDRAWN),
        ("The authors have withdrawn this paper, see arXiv:0801.1234", "We show", WITHDRAWN),
        ("", "  This submission has been withdrawn by arXiv administrators because it contains\n  text from others", WITHDRAWN),
        ("", "We review retractions. This paper has been withdrawn, say 12 notices.", None),
        ("12 pages, 3 figures", "We study how deposits are withdrawn from banks.", None),
        ("replaces the withdrawn paper arXiv:0704.0001", "We show", None),
        ("Theorem 2 has been withdrawn", "We show", None),
    ],
)  # fmt: skip
def test_arxiv_withdrawal_is_read_from_comments_and_abstract(
    comments: str, abstract: str, status: Editorial | None
) -> None:
    line = {"id": "0704.0001", "title": "On withdrawal", "comments": comments, "abstract": abstract}
    assert one("arxiv", line).editorial is status


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
    """The 150 articles contain two corrections and two retractions of PLOS and a correction of eLife.

    Each names its subject.
    """
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
    said = [
        _record("crossref", doi=WORK, pubmed_id="1", editorial=RETRACTED),
        _record("acl", RecordKind.ARCHIVE, editorial=RETRACTED),
    ]
    notices = {
        f"doi:{WORK}": [(RETRACTED, "b:n"), (CONCERN, "c:n")],
        "pmid:1": [(RETRACTED, "b:n"), (RETRACTED, "a:n")],
    }
    assert find_status(said, notices, _preprint) == (RETRACTED, ("a:n", "acl:1", "b:n", "crossref:1"))
    assert find_status(said[1:], notices, _preprint) == (RETRACTED, ("acl:1",))
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
    archived, posted = _record("dblp", RecordKind.ARCHIVE, doi=WORK), _record("crossref", doi=doi)
    assert find_status([preprint], notices, _preprint) == (WITHDRAWN, ("n:1",))
    assert find_status([preprint, archived], notices, _preprint) == (WITHDRAWN, ("n:1",))
    assert find_status([preprint, published], notices, _preprint) == (CORRECTED, ("n:2",))
    assert find_status([preprint, posted], notices, _preprint) == (WITHDRAWN, ("n:1",)), "a server is no publisher"
    assert find_status([withdrawn], {}, _preprint) == (WITHDRAWN, ("arxiv:1",))
    assert find_status([withdrawn, published], {}, _preprint) == (None, ())
    deposited = _record("crossref", RecordKind.ARCHIVE, doi=doi)
    assert find_status([withdrawn, deposited], {}, _preprint) == (WITHDRAWN, ("arxiv:1",))
