"""A scanned PDF is refused with advice, or is read if OCR is on."""

from __future__ import annotations

import hashlib

import pytest
import typst

from pdf2tei import scans
from s2corpus.extractors import Limits
from s2corpus.extractors.embedded import embedded_extractor
from s2corpus.stages.extract import ExtractStage
from s2corpus.stages.select import SelectStage
from s2corpus.storage.lake import Lake
from s2corpus.tables.parses import EXTRACTIONS, SELECTIONS
from tests.unit.pdf2tei.samples import PROSE
from tests.unit.pdf2tei.test_scans import pictures
from tests.unit.s2corpus.extractors.test_extract_stage import Intake, work


@pytest.fixture(scope="module")
def scan() -> bytes:
    text = f'#set page(paper: "a6", margin: 1cm)\n#text(size: 15pt)[Traits of Beetles]\n\n= Introduction\n{PROSE}'
    return pictures(typst.compile(text.encode(), format="pdf"))


def test_scan_is_refused_with_advice_about_ocr(lake: Lake, scan: bytes) -> None:
    run = Intake(lake, {hashlib.sha1(scan).hexdigest(): scan}, shards=1).run()
    work(SelectStage(), run)
    [row] = run.table(SELECTIONS).read(["outcome", "detail"]).to_pylist()
    assert row["outcome"] == "pdfalto_failed"
    assert "extract: {ocr: scans}" in row["detail"]


@pytest.mark.skipif(not scans.installed(), reason="the extra `ocr` is not installed")
def test_with_ocr_scan_is_extracted_and_marked(lake: Lake, scan: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Intake(lake, {hashlib.sha1(scan).hexdigest(): scan}, shards=1).run(extract={"ocr": "scans"})
    assert work(SelectStage(), run)["outcome.selected"] == 1
    with embedded_extractor(1) as (url, token):
        monkeypatch.setenv("GROBID_URL", url)
        monkeypatch.setenv("S2CORPUS_EXTRACTOR_TOKEN", token)
        work(ExtractStage(Limits(in_flight=1)), run)
    [row] = run.table(EXTRACTIONS).read(["outcome", "text_layer"]).to_pylist()
    assert row == {"outcome": "ok", "text_layer": "ocr 1"}
