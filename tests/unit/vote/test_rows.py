"""Rows of papers: which full text says whether a paper is open, and what becomes of the other ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from s2corpus.papers.openness import Declaration
from s2corpus.papers.rows import Article, LatexSource, papers_of
from s2corpus.papers.vote import Pdf
from s2corpus.tables import MEMBERS

A, B, C = (letter * 40 for letter in "abc")


def member(record_id: str, paper_id: str = "p", **fields: Any) -> dict[str, Any]:
    source = record_id.partition(":")[0]
    said = {
        "source": source,
        "kind": "pdf" if source == "grobid" else "archive",
        "title": "T",
        "ready_at": "2023-01-01T00:00:00Z",
    }
    return {"record_id": record_id, "paper_id": paper_id, **said, **fields}


def rows(*members: dict[str, Any], **known: Any) -> list[dict[str, Any]]:
    batch = pa.RecordBatch.from_pylist(list(members), MEMBERS.schema)
    given = {"pdfs": {}, "sources": {}, "articles": {}, "notices": {}, "all_open": False, "rows": 2} | known
    made = list(papers_of([batch], trust=[], is_preprint=lambda doi: doi.startswith("10.1101/"), **given))
    assert all(0 < len(one) <= 2 for one in made)
    return [row for one in made for row in one.to_pylist()]


def pdf(name: str, open_access: bool | None, seen: str = "2023-01-01T00:00:00Z") -> Pdf:
    return Pdf(seen, (Declaration("d", name, open_access, "CC-BY-4.0"),))


@pytest.mark.parametrize(("first", "second"), [(True, None), (None, True), (None, None)])
def test_only_the_canonical_pdf_is_a_full_text_of_its_paper(first: bool | None, second: bool | None) -> None:
    (row,) = rows(
        member(f"grobid:{A}", pdf_sha1=A),
        member(f"grobid:{B}", pdf_sha1=B),
        pdfs={A: pdf("a.pdf", first), B: pdf("b.pdf", second)},
    )
    chosen = B if second and not first else A
    assert row["canonical_pdf"] == chosen and row["access"][0]["sha1"] == chosen
    assert [text["sha1"] for text in row["access"]] == [chosen, A if chosen == B else B]
    opened = bool(first or second)
    assert (row["open_access"], row["oa_evidence"]) == (opened, "declared" if opened else None)
    assert not opened or row["licence"] == "CC-BY-4.0"


def test_papers_come_in_their_order_so_many_a_batch() -> None:
    found = rows(*(member(f"dblp:{n}", f"p{n}", authors=[]) for n in range(5)))
    assert [row["paper_id"] for row in found] == [f"p{n}" for n in range(5)]
    assert {(row["canonical_pdf"], row["open_access"], row["latex_parse_id"]) for row in found} == {(None, False, None)}
    assert [row["record_ids"] for row in found] == [[f"dblp:{n}"] for n in range(5)]


def test_of_several_articles_of_a_kind_the_latest_and_then_the_smallest() -> None:
    article = Article(C, "jats", "2023-01-02", open_access=True, licence="CC-BY-4.0")
    others = {
        "jats:1": replace(article, sha1=A, first_seen="2023-01-01"),
        "jats:2": article,
        "jats:3": replace(article, sha1=B),
        "elsevier:1": replace(article, sha1="d" * 40, kind="elsevier"),
    }
    (row,) = rows(*(member(id_) for id_ in others), articles=others)
    assert [(text["kind"], text["sha1"]) for text in row["access"]] == [("elsevier", "d" * 40), ("jats", B)]


def test_the_latex_source_is_of_the_canonical_arxiv_id_else_of_the_smallest() -> None:
    sources = {id_: LatexSource(id_.ljust(40, "0"), f"parse-{id_}", id_) for id_ in ("1911.00001", "1911.00002")}
    both = [
        member("arxiv:1", arxiv_id="1911.00002"),
        member("dblp:1", arxiv_id="1911.00002"),
        member("s2:1", arxiv_id="1911.00001"),
    ]
    assert rows(*both, sources=sources)[0]["latex_parse_id"] == "parse-1911.00002"
    del sources["1911.00002"]
    (row,) = rows(*both, sources=sources)
    assert row["latex_parse_id"] == "parse-1911.00001" and row["open_access"] and row["access"][0]["kind"] == "latex"
