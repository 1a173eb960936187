"""Drops are processed before any release: refused with a reason, or processed once. A release reuses the results (docs/drops.md)."""

import hashlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from s2corpus.deliveries.status import ArrivalState, ArrivalStatus, Watch, iterate_statuses
from s2corpus.drops import batches, processing
from s2corpus.extractors import Adapter
from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.stages import postprocess
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.tables.parses import PARSES, SELECTIONS, StoredParseRow
from tests.commands import invoke
from tests.standin_grobid import StandIn
from tests.unit.s2corpus.deliveries.samples import AS_OF, PAPER, deliver, lines
from tests.unit.s2corpus.extractors.test_extract_stage import papers
from tests.unit.s2corpus.pdf.bad_pdfs import assemble, paper

SPEC = ReleaseSpec.model_validate({"name": "test", "resources": {"extract_seconds": 3, "in_flight": 8}})
SECOND = "2023-01-02T00:00:00Z"
Process = Callable[..., list[ArrivalStatus]]


def states(rows: list[ArrivalStatus]) -> dict[str, str]:
    return {row.folder: row.outcome for row in rows}


def sha1s(*contents: bytes) -> list[str]:
    return [hashlib.sha1(content).hexdigest() for content in contents]


@cache
def pdfs() -> list[bytes]:
    return list(papers(6).values())


@pytest.fixture
def grobid(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with StandIn() as server:
        monkeypatch.setenv("GROBID_URL", server.url)
        monkeypatch.delenv("S2CORPUS_EXTRACTOR_TOKEN", raising=False)
        yield server


@pytest.fixture
def process(lake: Lake, tmp_path: Path) -> Process:
    return lambda *specs: processing.process(lake, specs or [SPEC], tmp_path)


# -- Outcomes.


def test_refused_drop_stores_reason_and_blocks_no_other(lake: Lake, process: Process, grobid: StandIn) -> None:
    deliver(lake, "drops/changed", {"a.pdf": pdfs()[0]}, listed={"a.pdf": pdfs()[1]})
    lake.put("drops/unreadable/_READY", b"{")
    deliver(lake, "drops/good", {"a.pdf": pdfs()[2]})
    deliver(lake, "sources/dblp/1", {"records.jsonl": lines(PAPER)["records.jsonl"] + b"no JSON\n"})
    deliver(lake, "sources/unheard/1", {"file.xml": b"<x/>"})
    found = {row.folder: row for row in process()}
    assert states(list(found.values())) == {
        "drops/changed/": "refused:changed", "drops/good/": "processed", "drops/unreadable/": "refused:unreadable",
        "sources/dblp/1/": "processed", "sources/unheard/1/": "refused:unknown_source",
    }  # fmt: skip
    assert all(row.detail for row in iterate_statuses(lake) if row.state == ArrivalState.REFUSED)
    assert "no source is called 'unheard'" in str(found["sources/unheard/1/"].detail)
    assert (found["sources/dblp/1/"].rows, found["sources/dblp/1/"].dropped) == (1, 1)
    assert list(grobid.uploads) == sha1s(pdfs()[2])
    assert process() == []
    # A changed _READY reopens the drop; its content was sent.
    deliver(lake, "drops/changed", {"a.pdf": pdfs()[2]}, SECOND)
    assert [(row.outcome, row.outcomes) for row in process()] == [("processed", {"ok": 1})]
    assert len(list(lake.list("arrivals/"))) == 5 and grobid.requests == 1


def test_release_reuses_results_of_processed_drops(tmp_path: Path, grobid: StandIn) -> None:
    """The release sends no PDF again; its tables equal the tables of a release without processing. Unreadable PDFs are read again."""
    tables = []
    for before in (True, False):
        lake = open_lake(str(tmp_path / str(before)))
        wide = assemble(paper(box=b"[0 0 792 612]"))
        deliver(lake, "drops/a", {"a.pdf": pdfs()[0], "b.pdf": pdfs()[1], "wide.pdf": wide})
        deliver(lake, "drops/b", {"c.pdf": pdfs()[2], "broken.pdf": b"no PDF"})
        if before:
            (a, b) = processing.process(lake, [SPEC], tmp_path)
            assert (a.outcomes, b.outcomes) == ({"landscape": 1, "ok": 2}, {"ok": 1, "unreadable": 1})
        run = Run(SPEC, AS_OF, lake, tmp_path)
        for stage in ("intake", "select", "extract", "postprocess"):
            runner.run_stage(run, stage)
        tables.append([run.table(SELECTIONS).read(), run.table(PARSES).read().drop_columns("stored")])
        assert grobid.requests == (3 if before else 6)
        stored = (tmp_path / str(before) / "stored_selections").rglob("*.parquet")
        assert "unreadable" not in [row["outcome"] for path in stored for row in pq.read_table(path).to_pylist()]
    assert tables[0] == tables[1]


def test_latex_sources_are_processed(lake: Lake, process: Process, grobid: StandIn) -> None:
    tex = rb"\documentclass{article}\title{A title}\begin{document}\maketitle A text of a few words.\end{document}"
    deliver(lake, "drops/a", {"2004.14974.tex": tex, "paper.tex": tex + b"%"})
    (row,) = process()
    assert row.outcomes == {"latex:no_arxiv_id": 1, "latex:ok": 1}


def test_drops_are_read_for_each_distinct_set_of_rules(lake: Lake, process: Process, grobid: StandIn) -> None:
    other = ReleaseSpec.model_validate(
        {"name": "other", "drops": ["x*"], "extract": {"options": {"consolidateHeader": 1}}}
    )
    first = SPEC.model_copy(update={"drops": ("a", "x")})
    deliver(lake, "drops/a", {"a.pdf": pdfs()[0]})
    deliver(lake, "drops/x", {"a.pdf": pdfs()[1]})
    deliver(lake, "drops/mine", {"a.pdf": b"A"}, listed={"a.pdf": b"B"})
    found = states(process(first, other, first.model_copy(update={"name": "same"})))
    assert found == {"drops/a/": "processed", "drops/mine/": "not_selected", "drops/x/": "processed"}
    assert grobid.uploads == dict(zip(sha1s(*pdfs()[:2]), (1, 2), strict=True))


def test_failed_extraction_blocks_no_other_drop(lake: Lake, process: Process, grobid: StandIn) -> None:
    bad = sha1s(pdfs()[0])
    grobid.faults = lambda upload: "busy" if upload.sha1 in bad else None
    deliver(lake, "drops/bad", {"a.pdf": pdfs()[0]})
    deliver(lake, "drops/good", {"a.pdf": pdfs()[1]})
    resources = SPEC.resources.model_copy(update={"extract_seconds": 0.5})
    for tries in (1, 2, 3):
        found = {row.folder: row for row in process(SPEC.model_copy(update={"resources": resources}))}
        assert (found["drops/bad/"].state, found["drops/bad/"].tries) == (ArrivalState.UNFINISHED, tries)
        assert "given up" in str(found["drops/bad/"].detail)
        assert ("drops/good/" in found) is (tries == 1)
    assert process() == [], "the drop is left to the releases"
    assert states(list(iterate_statuses(lake)))["drops/good/"] == "processed"


def test_changed_drop_is_refused_and_blocks_no_other(lake: Lake, tmp_path: Path, grobid: StandIn) -> None:
    for name, pdf in (("changed", pdfs()[0]), ("good", pdfs()[1])):
        deliver(lake, f"drops/{name}", {"a.pdf": pdf})
    arrivals = Watch(lake).poll()
    processing.register_all(lake, arrivals, [SPEC])
    (id_,) = processing.gather(lake, arrivals, [SPEC], tmp_path)
    lake.put("drops/changed/a.pdf", pdfs()[2])
    batches.process_batch(batches.read_batch(lake, id_, [SPEC], tmp_path), last=False)
    found = states(processing.settle(lake, arrivals, [id_], [SPEC]))
    assert found == {"drops/changed/": "refused:changed", "drops/good/": "processed"}
    assert list(grobid.uploads) == sha1s(pdfs()[1])


def test_command_continues_an_interrupted_run(tmp_path: Path, grobid: StandIn) -> None:
    lake = open_lake(str(tmp_path / "lake"))
    deliver(lake, "drops/a", {"a.pdf": pdfs()[0]})
    deliver(lake, "drops/b", {"a.pdf": pdfs()[0]}, listed={})

    def drops(*options: str) -> list[str]:
        found = invoke("drops", "--lake", lake.root, *options)
        return [line.rpartition("\tdrops")[0] for line in found.stdout.splitlines()]

    assert drops() == ["waiting", "waiting"]
    grobid.stop()
    assert drops("--process") == [], "an error"
    assert drops() == ["registered", "refused:unlisted"]
    grobid.start()
    assert drops("--process") == ["processed", "refused:unlisted"]


def test_internal_error_fails_one_drop_only(
    lake: Lake, process: Process, grobid: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    convert = postprocess.convert_response

    def stumbling(by: Adapter, sha1: str, *rest: Any) -> StoredParseRow:
        if [sha1] == sha1s(pdfs()[0]):
            raise KeyError("an error of ours")
        return convert(by, sha1, *rest)

    monkeypatch.setattr(postprocess, "convert_response", stumbling)
    deliver(lake, "drops/bad", {"a.pdf": pdfs()[0]})
    deliver(lake, "drops/good", {"a.pdf": pdfs()[1]})
    found = [(row.folder, row.outcome, row.detail) for row in process()]
    assert found == [("drops/bad/", "failed", "KeyError: 'an error of ours'"), ("drops/good/", "processed", None)]
    assert [row.tries for _ in range(3) for row in process()] == [2, 3], "then it waits for a new _READY"


# -- Releases that drops start.


def test_processed_drops_start_a_release_as_of_the_latest() -> None:
    rows = [
        ArrivalStatus("drops/a/", "0", ArrivalState.PROCESSED, ready_at="2026-03-01T10:30:00.25Z"),
        ArrivalStatus("drops/b/", "0", ArrivalState.PROCESSED, ready_at="2026-03-01T11:30:00+02:00"),
        ArrivalStatus("drops/c/", "0", ArrivalState.REFUSED, ready_at="2026-03-02T00:00:00Z"),
        ArrivalStatus("drops/d/", "0", ArrivalState.PROCESSED, ready_at="2030-01-01T00:00:00Z"),  # in the future
    ]
    now = datetime(2026, 3, 3, tzinfo=UTC)
    started = [
        processing.list_releases_to_start(rows, [ReleaseSpec.model_validate({"name": "live", **values})], now)
        for values in ({"schedule": {"on_drop": True}}, {}, {"schedule": {"on_drop": True}, "drops": ["other-*"]})
    ]
    assert started == [[("live", datetime(2026, 3, 1, 10, 30, 1, tzinfo=UTC))], [], []]
