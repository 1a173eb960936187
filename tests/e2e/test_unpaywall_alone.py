"""A drop of PDFs with Unpaywall as the only source builds a release, although Unpaywall's records have no titles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from devtools.sample.truth import Truth
from s2corpus.pipeline.run import Run
from s2corpus.tables.papers import PAPERS
from tests.releases import build, deliver, run_in, spec

pytestmark = pytest.mark.slow


def test_unpaywall_alone_opens_pdfs_by_printed_dois(
    tiny: tuple[Path, Truth], extractor: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sample, truth = tiny
    titles = {paper.key: paper.title for paper in truth.papers if paper.s2orc == "kept"}
    printing = [pdf for pdf in truth.pdfs if pdf.selection == "selected" and pdf.doi and pdf.seen and pdf.paper]
    chosen = list({pdf.paper: pdf for pdf in printing if titles.get(pdf.paper or "")}.values())[:3]
    assert len({pdf.doi for pdf in chosen}) == 3
    found = {pdf.sha1: (sample / "drops" / pdf.places[0][0] / pdf.places[0][1]).read_bytes() for pdf in chosen}
    place = {"host_type": "publisher", "version": "publishedVersion", "license": "cc-by", "url": "https://example.org"}
    says = {"is_oa": True, "title": None, "genre": "journal-article", "oa_locations": [place]}
    lines = "".join(f"{json.dumps({'doi': pdf.doi, **says})}\n" for pdf in chosen)
    for name, value in extractor.items():
        monkeypatch.setenv(name, value)
    release = spec()
    undated = release.clean.model_copy(update={"unknown_year": "keep"})  # Unpaywall's adapter reads no dates
    run: Run = run_in(tmp_path, release.model_copy(update={"clean": undated}))
    deliver(run.lake, "drops/2023-one/", {f"{sha1[:8]}.pdf": data for sha1, data in found.items()})
    deliver(run.lake, "sources/unpaywall/2023-01/", {"unpaywall.jsonl": lines.encode()}, mode="full")
    build(run)
    papers = run.table(PAPERS).read().to_pylist()
    assert sorted(paper["title"] for paper in papers) == sorted(str(titles[pdf.paper or ""]) for pdf in chosen)
    assert {(paper["doi"], paper["canonical_pdf"]) for paper in papers} == {(pdf.doi, pdf.sha1) for pdf in chosen}
    assert {(paper["open_access"], paper["oa_evidence"]) for paper in papers} == {(True, "unpaywall")}
    index = pq.read_table(run.lake.open(f"snapshots/{run.snapshot_id}/index.parquet"))
    published = {(row["id"], row["set"], row["sha1"]) for row in index.to_pylist()}
    assert published == {(paper["paper_id"], "s2orc", paper["canonical_pdf"]) for paper in papers}
