"""Third-party extractors build the sample (docs/extractors.md): one responds as GROBID does under another name.

The other works in the background and has its own format.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from pathlib import Path

import orjson
import pytest
from lxml import etree

import pdf2tei as layout
from devtools.sample.truth import Truth
from s2corpus.pipeline.run import Run
from s2corpus.snapshot.verify import verify
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.parses import EXTRACTIONS, PARSES, PDF_RECORDS
from s2corpus.tables.texts import DOCUMENTS, FILTERED, FULLTEXTS, LINKS
from s2orc_parse import tei
from tests import standin_docling, standin_grobid
from tests.extractors import docling
from tests.extractors.plugin import installed
from tests.releases import build, run_in, spec

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def teis(tiny: tuple[Path, Truth]) -> Mapping[str, bytes]:
    """Return the embedded extractor's TEI of each readable PDF, by SHA-1."""
    found = {}
    for path in sorted(tiny[0].rglob("*.pdf")):
        try:
            answer = layout.extract(path, timeout=60)
        except layout.ExtractionError:
            continue
        if answer:
            found[hashlib.sha1(path.read_bytes()).hexdigest()] = answer
    return found


def built(folder: Path, tree: Path, server: str) -> Run:
    """Build the tiny sample's release with the extractor at this address."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROBID_URL", server)
        run = run_in(folder, spec(), tree)
        build(run)
    return run


def decided(run: Run) -> dict[str, object]:
    """Return the decisions of a release without the extractor's name.

    Parse ids and PDF records are excluded because they contain this name.
    """
    texts = {
        entry.key.rpartition("/v2/")[2]: gzip.decompress(run.lake.get(entry.key)[0])
        for entry in run.lake.list(f"snapshots/{run.snapshot_id}/v2/")
        if entry.key.endswith(".gz")
    }
    columns = ["paper_id", "parse_kind", "ref_id", "cited_paper_id", "reason", "warning"]
    tables = {
        "documents": run.table(DOCUMENTS).read(["set", "paper_id", "outcome", "words", "text"]).to_pylist(),
        "filtered": run.table(FILTERED).read().to_pylist(),
        "links": run.table(LINKS).read(columns).to_pylist(),
        "fulltexts": run.table(FULLTEXTS).read(["paper_id", "parse_kind", "open_access"]).to_pylist(),
    }
    return {**texts, **tables}


def test_third_extractor_needs_no_adapter(
    released: tuple[Run, Truth], tiny: tuple[Path, Truth], teis: Mapping[str, bytes], tmp_path: Path
) -> None:
    """Check that such an extractor needs no adapter file: it responds as GROBID does, and `/api/version` returns its name."""
    with standin_grobid.StandIn(tei=teis, version={"name": "a-third", "version": "1.0"}) as server:
        third = built(tmp_path, tiny[0], server.url)
    assert decided(third) == decided(released[0])
    assert set(third.table(PDF_RECORDS).read()["source"].to_pylist()) == {"a-third"}
    for row in third.table(FULLTEXTS).read(["parse_kind", "parse"]).to_pylist():
        if row["parse_kind"] == "pdf":
            made_by = orjson.loads(row["parse"])["provenance"]
            assert (made_by["extractor"], made_by["version"]) == ("a-third", "1.0")


def test_asynchronous_extractor_with_own_format_builds_the_sample(
    tiny: tuple[Path, Truth], teis: Mapping[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check an extractor that consists of one file: tests/extractors/docling.py."""
    monkeypatch.setattr(docling, "WAIT", 0.02)

    def converted(pdf: bytes) -> standin_docling.Document:
        return as_docling(teis[hashlib.sha1(pdf).hexdigest()])

    with (
        installed(tmp_path / "plugin", "docling", "tests.extractors.docling"),
        standin_docling.StandIn(converted) as server,
    ):
        run = built(tmp_path / "release", tiny[0], server.url)
        assert set(server.submitted.values()) == {1}
        again = built(tmp_path / "release", tiny[0], server.url)
        assert set(server.submitted.values()) == {1}  # The extractions are stored, so nothing is sent again.
    assert again.snapshot_id == run.snapshot_id
    rows = run.table(EXTRACTIONS).read().to_pylist()
    assert {(row["extractor"], row["version"]) for row in rows} == {("docling", "1.18.0+docling-2.60.0")}
    parses = run.table(PARSES).read().to_pylist()
    assert {row["outcome"] for row in parses} == {"ok"} and len(parses) == len(teis)
    links = run.table(LINKS).read(["parse_kind", "cited_paper_id"]).to_pylist()
    assert sum(row["cited_paper_id"] is not None for row in links if row["parse_kind"] == "pdf") > 5
    documents = run.table(DOCUMENTS).read(["set", "outcome"]).to_pylist()
    assert sum(row == {"set": "s2orc", "outcome": "kept"} for row in documents) >= 3
    for row in run.table(FULLTEXTS).read(["parse_kind", "parse"]).to_pylist():
        if row["parse_kind"] == "pdf":
            made_by = orjson.loads(row["parse"])["provenance"]
            assert (made_by["extractor"], made_by["version"]) == ("docling", "1.18.0+docling-2.60.0")
            assert made_by["options"] == rows[0]["options_hash"] and made_by["tei_sha1"]
    assert list(verify(LocalLake(tmp_path / "release/lake/snapshots" / run.snapshot_id))) == []


def as_docling(data: bytes) -> standin_docling.Document:
    """Return the document that docling would write for a paper with this TEI; the test server has no models."""
    parse = tei.convert(data, file_sha1="0" * 40)
    texts = [("title", parse.header.title)] if parse.header.title else []
    if names := ", ".join(" ".join([a.first, *a.middle, a.last]) for a in parse.header.authors):
        texts.append(("text", names))
    if parse.abstract:
        texts += [("section_header", "Abstract"), *(("text", p.text) for p in parse.abstract)]
    section = None
    for paragraph in (*parse.body_text, *parse.back_matter):
        if paragraph.section != section:
            section = paragraph.section
            head = section.rsplit("::", 1)[-1]
            texts.append(("section_header", f"{paragraph.sec_num} {head}" if paragraph.sec_num else head or "Text"))
        texts.append(("text", paragraph.text))
    texts.append(("section_header", "References"))
    raw = [el for el in etree.fromstring(data).iter("{*}note") if el.get("type") == "raw_reference"]
    texts += [("list_item", f"[{n}] {''.join(el.itertext())}") for n, el in enumerate(raw, 1)]
    return standin_docling.document(*texts)
