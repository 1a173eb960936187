"""Precision and recall measured with automatic gold data equal values counted by hand for a few records."""

from typing import Any

import orjson

from s2corpus.pipeline import gold
from s2corpus.pipeline.gold import Gold
from s2corpus.pipeline.run import Run
from s2corpus.stages.cluster import cluster_records
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.texts import FULLTEXTS
from tests.unit.s2corpus.evaluation.conftest import Row, write

ROUGE = "Texture features from mammographic images and risk of breast cancer"
REVIEW = "Systematic reviews of diagnostic test accuracy in primary care"
COHORT = "Vitamin D status and hip fracture in older women: a cohort study"


def names(*lasts: str) -> list[Row]:
    return [{"first": "Anna", "middle": [], "last": last, "suffix": ""} for last in lasts]


def record(paper_id: str, record_id: str, title: str | None, kind: str = "archive", **more: Any) -> Row:
    source = record_id.partition(":")[0]
    return {
        "paper_id": paper_id, "record_id": record_id, "title": title, "kind": kind, "source": source,
        "ready_at": "2023-01-01T00:00:00Z", "authors": names("Manduca"), "date": "2009-03", **more,
    }  # fmt: skip


def test_clusters_without_identifiers_are_measured(run: Run) -> None:
    rows = [
        # found again by title, authors and year
        record("p1", "crossref:1", ROUGE, doi="10.1158/a"), record("p1", "pubmed:1", f"{ROUGE}.", doi="10.1158/a"),
        # one paper under two titles: missed
        record("p2", "crossref:2", REVIEW, doi="10.1002/b"), record("p2", "pubmed:2", "Revisiones de pruebas", doi="10.1002/b"),
        # two papers with one title: joined, because no other field distinguishes them
        record("p3", "crossref:3", COHORT, doi="10.1016/c", pubmed_id="3"), record("p3", "pubmed:3", COHORT, pubmed_id="3"),
        record("p4", "crossref:4", COHORT, doi="10.1016/d"),
        # a preprint's DOI does not identify another paper
        record("p5", "arxiv:5", ROUGE.upper(), doi="10.48550/arxiv.2301.00001", arxiv_id="2301.00001"),
        # excluded, because a record without a title cannot be found again
        record("p1", "unpaywall:1", None, doi="10.1158/a", authors=[]),
    ]  # fmt: skip
    write(run, MEMBERS, rows)
    cluster = lambda records: cluster_records(records).clusters  # noqa: E731
    found = gold.measure_clusters(run, 5, cluster)
    # Known pairs: 1–1, 2–2, 3–3. Joined pairs with identifiers: crossref:1–pubmed:1 and crossref:3–pubmed:3 are right;
    # crossref:3–crossref:4 is wrong.
    assert found == Gold(known=3, found=2, predicted=3, right=2)
    assert gold.measure_clusters(run, 5, cluster) == found


def test_titles_of_pdfs_are_measured_against_records(run: Run) -> None:
    rows = [
        record("p1", "crossref:1", ROUGE, doi="10.1158/a"),
        record("p1", "grobid:1", ROUGE.upper(), "pdf", doi="10.1158/a"),
        # a running head read as the title: another paper, and also wrong
        record("p2", "crossref:2", REVIEW, doi="10.1002/b"), record("p3", "grobid:2", "BMJ Open 2009", "pdf", doi="10.1002/b"),
        # no title read; another extractor's reading; no identifier; no other record with this identifier
        record("p2", "grobid:3", None, "pdf", arxiv_id="2301.00002"), record("p2", "arxiv:3", REVIEW, arxiv_id="2301.00002"),
        record("p1", "scienceparse:1", "Wrong", "pdf", doi="10.1158/a"),
        record("p4", "grobid:4", COHORT, "pdf"), record("p5", "grobid:5", COHORT, "pdf", doi="10.1016/z"),
    ]  # fmt: skip
    write(run, MEMBERS, rows)
    assert gold.measure_titles(run) == Gold(known=3, found=1, predicted=2, right=1)


def fulltext(
    paper_id: str, kind: str, title: str, authors: list[Row], abstract: str, entries: Row | None = None, cites: str = ""
) -> Row:
    """Return a parse of a paper; `cites` names an entry for each citation of the body."""
    spans = [{"start": 0, "end": 1, "ref_id": ref_id} for ref_id in cites.split()]
    parse = {
        "title": title, "authors": authors, "abstract": [{"text": abstract}] if abstract else [], "bib_entries": entries or {},
        "body_text": [{"text": "x", "cite_spans": [*spans, {"start": 0, "end": 1, "ref_id": None}]}],
    }  # fmt: skip
    return {
        "paper_id": paper_id, "parse_kind": kind, "parse_id": f"{paper_id}{kind}", "file_sha1": "a" * 40, "open_access": True,
        "parse": orjson.dumps(parse),
    }  # fmt: skip


def test_headers_of_pdfs_are_measured_against_publishers_xml(run: Run) -> None:
    rows = [
        fulltext("p1", "jats", ROUGE, names("Manduca", "Carston", "Heine"), "We compared features of images."),
        fulltext("p1", "pdf", ROUGE, names("Manduca", "Heine", "Mayo"), "We compared features of images. Keywords"),
        fulltext("p2", "elsevier", COHORT, names("Looker"), ""), fulltext("p2", "pdf", "", [], "An abstract"),
        fulltext("p3", "pdf", REVIEW, names("Knottnerus"), "alone"), fulltext("p4", "jats", REVIEW, [], "alone"),
    ]  # fmt: skip
    write(run, FULLTEXTS, rows)
    write(run, PAPERS, [])
    found = gold.measure_parses(run)
    assert found["title"] == Gold(known=2, found=1, predicted=1, right=1)
    assert found["authors"] == Gold(known=4, found=2, predicted=3, right=2)
    assert found["abstract"] == Gold(known=5, found=5, predicted=6, right=5)
    assert found["bibliography"] == found["citations"] == Gold()


def test_bibliographies_and_citations_of_pdfs_beside_publishers_xml(run: Run) -> None:
    """Check that entries match by DOI or title, once, and that citations count for the matched entry (S2ORC §4)."""

    def entries(*given: tuple[str, str, str]) -> Row:
        return {ref: {"title": title, "other_ids": {"DOI": [doi]} if doi else {}} for ref, title, doi in given}

    xml = entries(("A", ROUGE, "10.1158/a"), ("B", REVIEW, ""), ("C", COHORT, ""), ("D", COHORT, ""))
    read = entries(("1", "Misread", "10.1158/A"), ("2", f"{REVIEW}.", ""), ("3", "", ""), ("4", COHORT, ""))
    rows = [
        fulltext("p1", "jats", ROUGE, [], "", xml, "A A A B C D"), fulltext("p1", "pdf", ROUGE, [], "", read, "1 1 2 2 3 4"),
        fulltext("p2", "jats", ROUGE, [], "", {}, ""), fulltext("p2", "pdf", ROUGE, [], "", read, "1"),
    ]  # fmt: skip
    write(run, FULLTEXTS, rows)
    write(run, PAPERS, [])
    found = gold.measure_parses(run)
    assert found["bibliography"] == Gold(known=4, found=3, predicted=3, right=3), "entry 3 cannot be judged"
    assert found["citations"] == Gold(known=6, found=4, predicted=5, right=4)
