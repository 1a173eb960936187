"""A paper's row names the full text that decides its openness, and lists the others. Only a complete file name is an identifier."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from s2corpus.papers.corrections import Corrections
from s2corpus.papers.evidence import Declaration
from s2corpus.papers.file_names import acl_id_of_name, arxiv_id_of_name
from s2corpus.papers.rows import Article, ArxivParse, FileFacts, build_papers
from s2corpus.papers.vote import Pdf
from s2corpus.rules import VoteRules
from s2corpus.tables.papers import MEMBERS
from tests.unit.s2corpus.papers.samples import A, B, C


def member(record_id: str, paper_id: str = "p", **fields: Any) -> dict[str, Any]:
    source = record_id.partition(":")[0]
    kind = "pdf" if source == "grobid" else "archive"
    return {"record_id": record_id, "paper_id": paper_id, "source": source, "kind": kind, "title": "T", **fields}


def rows(
    *members: dict[str, Any], all_open: bool = False, corrections: Corrections | None = None, **known: Any
) -> list[dict[str, Any]]:
    batch = pa.RecordBatch.from_pylist(list(members), MEMBERS.schema)
    facts = FileFacts(**known)
    made = list(build_papers([batch], facts, VoteRules(trust=()), all_open=all_open, rows=2, corrections=corrections))
    assert all(0 < len(one) <= 2 for one in made)
    return [row for one in made for row in one.to_pylist()]


@pytest.mark.parametrize(("second", "pdfs", "evidence"), [(True, [B, A], "declared"), (None, [A, B], None)])
def test_canonical_pdf_is_listed_first(second: bool | None, pdfs: list[str], evidence: str | None) -> None:
    given = {sha1: Pdf("2023", (Declaration("d", "x", is_open, "MIT"),)) for sha1, is_open in ((A, None), (B, second))}
    (row,) = rows(*(member(f"grobid:{sha1}", file_sha1=sha1) for sha1 in (A, B)), pdfs=given)
    assert row["canonical_pdf"] == pdfs[0] and [text["sha1"] for text in row["access"]] == pdfs
    assert (row["open_access"], row["oa_evidence"], row["license"]) == (evidence is not None, evidence, "MIT")


@pytest.mark.parametrize(("work_type", "status"), [("preprint", None), ("article", "retracted")])
def test_retraction_of_a_preprint_is_ignored(work_type: str, status: str | None) -> None:
    (row,) = rows(
        member("crossref:1", kind="publisher", doi="10.1/a", type="article"),
        member("crossref:2", kind="publisher", doi="10.7/a", type=work_type, editorial="retracted"),
    )
    assert row["editorial"] == status


def test_latest_then_smallest_article_of_a_kind_is_used() -> None:
    article = Article(C, "jats", "2023-01-02", open_access=True, license="CC-BY-4.0")
    others = {
        "jats:1": replace(article, sha1=A, first_seen="2023-01-01"), "jats:2": article, "jats:3": replace(article, sha1=B),
        "elsevier:1": replace(article, sha1="d" * 40, kind="elsevier"),
    }  # fmt: skip
    (row,) = rows(*(member(id_) for id_ in others), articles=others)
    assert [(text["kind"], text["sha1"]) for text in row["access"]] == [("elsevier", "d" * 40), ("jats", B)]


def test_latex_source_has_canonical_or_else_smallest_arxiv_id() -> None:
    sources = {id_: ArxivParse(id_.ljust(40, "0"), f"parse-{id_}", id_) for id_ in ("1911.00001", "1911.00002")}
    both = [member(f"{source}:1", arxiv_id=f"1911.0000{n}") for source, n in (("arxiv", 2), ("dblp", 2), ("s2", 1))]
    assert rows(*both, latex_parses=sources)[0]["latex_parse_id"] == "parse-1911.00002"
    del sources["1911.00002"]
    (row,) = rows(*both, latex_parses=sources)
    assert row["latex_parse_id"] == "parse-1911.00001" and row["open_access"] and row["access"][0]["kind"] == "latex"


def test_row_of_a_paper_has_all_columns() -> None:
    """The paper has a PDF that its publisher's record names, a LaTeX source and a publisher's full text."""
    author = {"first": "Ada", "middle": ["K"], "last": "Lovelace", "suffix": "", "affiliations": [], "orcid": None}
    stated = {
        "venue": "ACL", "journal": "J", "abstract": "We.", "volume": "1", "issue": "2", "pages": "3-4", "pubmed_id": "5", "pmc_id": "PMC6",
    }  # fmt: skip
    members = [
        member("acl:P19-1001", kind="publisher", doi="10.18653/v1/p19-1001", acl_id="P19-1001", authors=[author], date="2019-07",
               date_precision="month", mag_id="9", issns=["2-2"], subjects=["b", "a"], file_sha1=A, editorial="corrected", **stated),
        member("arxiv:1911.02782", arxiv_id="1911.02782", mag_id="8", issns=["1-1", "2-2"], subjects=["a"], license="CC-BY-4.0"),
        member(f"grobid:{A}", file_sha1=A, title="Read"),
        member("jats:1", doi="10.18653/v1/p19-1001"),
    ]  # fmt: skip
    (row,) = rows(
        *members,
        pdfs={A: Pdf("2023", (Declaration("d", "a.pdf", None, "MIT"),))},
        latex_parses={
            "1911.02782": ArxivParse(B, "parse", "1911.02782", (Declaration("d", "s.gz", None, "CC-BY-NC-4.0"),))
        },
        articles={"jats:1": Article(C, "jats", "2023", open_access=True, license="CC0-1.0")},
        notices={"doi:10.18653/v1/p19-1001": [("retracted", "crossref:n")]},
    )
    access, provenance = row.pop("access"), dict(row.pop("provenance"))
    assert row.pop("authors") == [author]
    assert row == {
        "paper_id": "p", "title": "T", "date": "2019-07", "date_precision": "month", "doi": "10.18653/v1/p19-1001", **stated,
        "arxiv_id": "1911.02782", "acl_id": "P19-1001", "mag_ids": ["8", "9"], "fields_of_study": [], "subjects": ["a", "b"],
        "issns": ["1-1", "2-2"], "preprints": [{"doi": None, "arxiv_id": "1911.02782", "date": None}],
        "canonical_pdf": A, "latex_parse_id": "parse", "open_access": True, "oa_evidence": "acl", "license": "MIT",
        "editorial": "retracted", "editorial_by": ["crossref:n"],
        "record_ids": ["acl:P19-1001", "arxiv:1911.02782", f"grobid:{A}", "jats:1"],
    }  # fmt: skip
    of_text = ("kind", "sha1", "open_access", "oa_evidence", "license", "license_detail")
    assert [tuple(text[name] for name in of_text) for text in access] == [
        ("pdf", A, True, "acl", "MIT", None),
        ("latex", B, True, "arxiv", "CC-BY-NC-4.0", "CC-BY-NC-4.0: the strictest of CC-BY-4.0, CC-BY-NC-4.0"),
        ("jats", C, True, "publisher", "CC0-1.0", None),
    ]  # fmt: skip
    decided = {"source": "acl", "record_id": "acl:P19-1001", "rule": "publisher", "votes_for": 2, "votes_against": 0}
    assert provenance["title"] == decided
    assert set(provenance) == {"title", "authors", "date", "doi", "arxiv_id", "acl_id", *stated}


@pytest.mark.parametrize(
    ("name", "arxiv_id", "acl_id"),
    [
        ("1911.02782v3.PDF", "1911.02782", None),
        ("sub/arXiv-1911.02782v1.tar.gz", "1911.02782", None),
        ("hep-th_9711200v2.pdf", "hep-th/9711200", None),
        ("1913.02782.pdf", None, None),  # Month 13 does not exist.
        ("my copy of 1911.02782.pdf", None, None),
        ("acl/2020.acl-main.207v2.pdf", None, "2020.acl-main.207"),
    ],
)
def test_file_name_is_an_id_only_if_complete(name: str, arxiv_id: str | None, acl_id: str | None) -> None:
    assert (arxiv_id_of_name(name), acl_id_of_name(name)) == (arxiv_id, acl_id)
