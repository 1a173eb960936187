"""The stages select and extract store results in a lake and retry transient failures.

Other failures fail their shard. A scanned PDF is refused with advice, or is read if OCR is on.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typst

from pdf2tei.pages import scans
from s2corpus.errors import UserError
from s2corpus.extractors import Limits
from s2corpus.extractors.embedded import embedded_extractor
from s2corpus.pipeline.run import Run, Stage
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.extract import ExtractStage, TooManyFailures
from s2corpus.stages.select import SelectStage
from s2corpus.storage.lake import Lake
from s2corpus.tables.intake import PDFS
from s2corpus.tables.parses import EXTRACTIONS, SELECTIONS, STORED_TEI
from s2corpus.tables.schema import pdf_shard
from tests.standin_grobid import StandIn
from tests.unit.pdf2tei.samples import PROSE
from tests.unit.pdf2tei.test_text_layers import pictures
from tests.unit.s2corpus.extractors.test_pool import QUICK
from tests.unit.s2corpus.pdf.bad_pdfs import assemble, paper, text

OPTIONS = "2531976d7b1d5c70"
"""hash of the default options"""
FAST = replace(QUICK, tries=1, request=10.0)  # A busy machine needs more than 0.4 s.


@dataclass
class Intake:
    """A release with some PDFs, after intake."""

    lake: Lake
    pdfs: dict[str, bytes]
    shards: int = 2
    month: int = 1

    def run(self, **sections: Any) -> Run:
        spec = ReleaseSpec.model_validate({"name": "test", **sections})
        run = Run(spec, datetime(2026, self.month, 1, tzinfo=UTC), self.lake, Path("/tmp"))
        parts: list[list[dict[str, Any]]] = [[] for _ in range(self.shards)]
        for sha1, data in sorted(self.pdfs.items()):
            self.lake.put(f"drops/d1/{sha1[:8]}.pdf", data)
            row = {"file_sha1": sha1, "bytes": len(data), "first_seen": "2026-01-01T00:00:00Z"}
            parts[pdf_shard(sha1, self.shards)].append(row | {"places": [{"drop": "d1", "name": f"{sha1[:8]}.pdf"}]})
        for shard, rows in enumerate(parts):
            run.table(PDFS).write(shard, rows)
        run.table(PDFS).commit(range(self.shards), {"pdf_shards": self.shards})
        return run


def work(stage: Stage, run: Run) -> dict[str, float]:
    shards = stage.plan(run)
    run.put_plan(stage.name, shards)
    for shard in shards:
        stage.work(run, shard)
    return stage.finish(run)


def papers(count: int) -> dict[str, bytes]:
    made = (assemble(paper(content=text(f"Paper number {number}."))) for number in range(count))
    return {hashlib.sha1(data).hexdigest(): data for data in made}


def selected(run: Run) -> Run:
    """Return the run with every PDF selected."""
    for shard in range(run.pdf_shards):
        rows = run.table(PDFS).read(["file_sha1"], shard=shard).to_pylist()
        run.table(SELECTIONS).write(shard, [{**row, "outcome": "selected"} for row in rows])
    run.table(SELECTIONS).commit(range(run.pdf_shards))
    return run


Serve = Callable[..., StandIn]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Yield a function that starts a stand-in server and sets it as the extractor."""
    with ExitStack() as stack:

        def start(**arguments: Any) -> StandIn:
            server = stack.enter_context(StandIn(**arguments))
            monkeypatch.setenv("GROBID_URL", server.url)
            return server

        yield start


def outcomes(run: Run) -> dict[str, str]:
    rows = run.table(EXTRACTIONS).read(["file_sha1", "outcome"]).to_pylist()
    return {row["file_sha1"]: row["outcome"] for row in rows}


def test_extract_stores_a_row_and_tei_per_selected_pdf(lake: Lake, serve: Serve) -> None:
    pdfs = papers(6)
    odd = sorted(pdfs)[0]
    server = serve(faults=lambda upload: "no_content" if upload.sha1 == odd else None)
    run = selected(Intake(lake, pdfs).run())
    metrics = work(ExtractStage(FAST), run)
    assert metrics == {"rows": 6.0, "outcome.no_content": 1.0, "outcome.ok": 5.0}
    store = run.store(STORED_TEI, "grobid", "0.8.2", OPTIONS)
    for row in run.table(EXTRACTIONS).read().to_pylist():
        stored = next(store.fetch(row["stored"], [row["file_sha1"]], ["tei", "tei_sha1", "outcome"]))
        assert stored["outcome"] == row["outcome"]
        tei = None if row["file_sha1"] == odd else server.recorded(row["file_sha1"])
        assert stored["tei"] == tei
        assert row["tei_sha1"] == (tei and hashlib.sha1(tei).hexdigest())
    facts = run.table(EXTRACTIONS).committed().facts
    assert facts == {"extractor": f"grobid 0.8.2 {OPTIONS}", "adapter": "grobid"}


def test_extracted_pdf_is_never_sent_again(lake: Lake, serve: Serve) -> None:
    pdfs = papers(8)
    first = dict(sorted(pdfs.items())[:5])
    server = serve(faults=lambda upload: "NO_BLOCKS" if upload.sha1 == min(pdfs) else None)
    work(ExtractStage(FAST), selected(Intake(lake, first).run()))
    run = selected(Intake(lake, pdfs, shards=3, month=2).run())
    work(ExtractStage(FAST), run)
    assert server.uploads == Counter(dict.fromkeys(pdfs, 1))
    assert outcomes(run) == {sha1: "failed:NO_BLOCKS" if sha1 == min(pdfs) else "ok" for sha1 in pdfs}
    server.version = {"version": "0.9.0"}
    work(ExtractStage(FAST), selected(Intake(lake, first, month=3).run()))
    assert server.requests == 8 + 5
    work(ExtractStage(FAST), selected(Intake(lake, first, month=4).run(extract={"options": {"consolidateHeader": 1}})))
    assert server.requests == 8 + 5 + 5


def test_answers_of_earlier_versions_are_kept_if_the_spec_says_so(lake: Lake, serve: Serve) -> None:
    pdfs = papers(8)
    first = dict(sorted(pdfs.items())[:5])
    failed = min(pdfs)
    server = serve(version={"version": "0.9.0"}, faults=lambda upload: "no_content" if upload.sha1 == failed else None)
    work(ExtractStage(FAST), selected(Intake(lake, first).run()))
    server.version = {"version": "0.10.0"}
    run = selected(Intake(lake, pdfs, month=2).run(extract={"reuse": "any"}))
    work(ExtractStage(FAST), run)
    versions = {
        row["file_sha1"]: row["version"] for row in run.table(EXTRACTIONS).read(["file_sha1", "version"]).to_pylist()
    }
    assert versions == {sha1: "0.9.0" if sha1 in first and sha1 != failed else "0.10.0" for sha1 in pdfs}
    assert server.requests == 5 + 3 + 1, "three new PDFs, and the one without text"
    extractor = run.table(EXTRACTIONS).committed().facts["extractor"]
    assert extractor.startswith(f"grobid 0.10.0 {OPTIONS} (reused: 4 of 0.9.0; "), (
        "the id of the snapshot depends on it"
    )
    server.version = {"version": "0.11.0"}
    third = selected(Intake(lake, pdfs, month=3).run(extract={"reuse": "any"}))
    work(ExtractStage(FAST), third)
    rows = third.table(EXTRACTIONS).read(["file_sha1", "version"]).to_pylist()
    assert Counter(row["version"] for row in rows) == {"0.9.0": 4, "0.10.0": 3, "0.11.0": 1}
    work(ExtractStage(FAST), selected(Intake(lake, pdfs, month=4).run()))
    assert server.requests == 9 + 1 + 7, "without the rule, all other PDFs are extracted again"


def test_next_release_retries_a_pdf_that_was_given_up(lake: Lake, serve: Serve) -> None:
    pdfs = papers(10)
    unlucky = sorted(pdfs)[3]
    server = serve(faults=lambda upload: "drop" if upload.sha1 == unlucky and upload.times == 1 else None)
    for month, outcome in ((1, "gave_up:connection"), (2, "ok")):
        run = selected(Intake(lake, pdfs, shards=1, month=month).run())
        work(ExtractStage(FAST), run)
        assert outcomes(run) == dict.fromkeys(pdfs, "ok") | {unlucky: outcome}
    assert server.uploads[unlucky] == 2 and server.requests == 11


def test_failed_shard_keeps_results_and_retry_sends_the_rest(lake: Lake, serve: Serve) -> None:
    pdfs = papers(20)
    bad = set(sorted(pdfs)[5:13])
    server = serve(faults=lambda upload: "502" if upload.sha1 in bad else None)
    run = selected(Intake(lake, pdfs, shards=1).run())
    stage = ExtractStage(replace(FAST, in_flight=1))
    with pytest.raises(TooManyFailures, match=r"5 of 20 PDFs were given up .*max_failure_rate 0\.2"):
        work(stage, run)
    answered = set(server.answered)
    assert len(answered) >= 5
    bad.clear()
    server.uploads.clear()
    work(stage, run)
    assert set(outcomes(run)) == set(pdfs)
    assert len(answered & set(server.uploads)) <= 1  # The request in flight when the shard gave up.


def test_limits_are_those_of_the_spec(lake: Lake, serve: Serve) -> None:
    """GROBID's documentation recommends the wait after a 503. One try has a third of the time of a PDF."""
    serve()
    run = Intake(lake, {}).run(resources={"in_flight": 5, "extract_seconds": 60})
    limits = ExtractStage().open_pool(run).limits
    assert (limits.in_flight, limits.deadline, limits.request, limits.tries) == (5, 60, 20, 3)
    assert (limits.busy_wait, limits.max_tei_bytes) == ((5, 10), 12_000_000)


def test_server_change_between_plan_and_work_is_refused(lake: Lake, serve: Serve) -> None:
    server = serve()
    run = selected(Intake(lake, papers(1), shards=1).run())
    (shard,) = ExtractStage(FAST).plan(run)
    server.version = "0.9.0"
    with pytest.raises(UserError, match=r"planned for grobid 0\.8\.2, but the servers run grobid 0\.9\.0"):
        ExtractStage(FAST).work(run, shard)


@pytest.mark.skipif(not scans.installed(), reason="the extra `ocr` is not installed")
def test_scan_is_refused_or_read_with_ocr_and_marked(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f'#set page(paper: "a6", margin: 1cm)\n#text(size: 15pt)[Traits of Beetles]\n\n= Introduction\n{PROSE}'
    scan = pictures(typst.compile(text.encode(), format="pdf"))
    intake = Intake(lake, {hashlib.sha1(scan).hexdigest(): scan}, shards=1)
    run = intake.run()
    work(SelectStage(), run)
    [row] = run.table(SELECTIONS).read(["outcome", "detail"]).to_pylist()
    assert row["outcome"] == "pdfalto_failed" and "extract: {ocr: scans}" in row["detail"]
    intake.month = 2
    run = intake.run(extract={"ocr": "scans"})
    assert work(SelectStage(), run)["outcome.selected"] == 1
    with embedded_extractor(1) as (url, token):
        monkeypatch.setenv("GROBID_URL", url)
        monkeypatch.setenv("S2CORPUS_EXTRACTOR_TOKEN", token)
        work(ExtractStage(Limits(in_flight=1)), run)
    [row] = run.table(EXTRACTIONS).read(["outcome", "text_layer"]).to_pylist()
    assert row == {"outcome": "ok", "text_layer": "ocr 1"}
