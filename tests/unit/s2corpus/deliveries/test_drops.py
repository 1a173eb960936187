"""Drops are processed before any release: refused with a reason, or worked on once. A release reuses the results (docs/drops.md)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from devtools.local import Endpoints
from s2corpus.commands.releases import drops_command as command
from s2corpus.deliveries.status import (
    MAX_TRIES,
    Arrival,
    ArrivalState,
    ArrivalStatus,
    Watch,
    iterate_statuses,
    list_open,
)
from s2corpus.drops import batches, processing
from s2corpus.errors import TransientError, UserError
from s2corpus.extractors import Adapter
from s2corpus.pdf import Selection, inspect_many
from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.stages import postprocess, select
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.tables.parses import EXTRACTIONS, PARSES, SELECTIONS, StoredParseRow
from tests.standin_grobid import StandIn
from tests.unit.s2corpus.deliveries.samples import AS_OF, PAPER, deliver, lines
from tests.unit.s2corpus.extractors.test_extract_stage import papers
from tests.unit.s2corpus.pdf.bad_pdfs import assemble, paper

SPEC = ReleaseSpec.model_validate({"name": "test", "resources": {"extract_seconds": 3, "in_flight": 8}})
SPECS = [SPEC]
SECOND = "2023-01-02T00:00:00Z"
Process = Callable[..., list[ArrivalStatus]]


def change_resources(**changed: Any) -> ReleaseSpec:
    return SPEC.model_copy(update={"resources": SPEC.resources.model_copy(update=changed)})


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
    return lambda *specs: processing.process(lake, specs or SPECS, tmp_path)


def release(lake: Lake, scratch: Path, *stages: str) -> Run:
    run = Run(SPEC, AS_OF, lake, scratch)
    for name in stages:
        runner.run_stage(run, name)
    return run


def gather_all(lake: Lake, scratch: Path, spec: ReleaseSpec = SPEC) -> tuple[list[Arrival], list[str]]:
    """Register all arrivals and gather their files; return the arrivals and the ids of the batches."""
    arrivals = processing.list_pending(lake, Watch(lake).poll())
    processing.register_all(lake, arrivals, [spec])
    return arrivals, processing.gather(lake, arrivals, [spec], scratch)


# -- Outcomes.


def test_refused_drop_stores_reason_and_blocks_no_other(lake: Lake, process: Process, grobid: StandIn) -> None:
    deliver(lake, "drops/changed", {"a.pdf": pdfs()[0]}, listed={"a.pdf": pdfs()[1]})
    deliver(lake, "drops/incomplete", {"a.pdf": pdfs()[0]}, listed={"a.pdf": pdfs()[0], "b.pdf": pdfs()[1]})
    deliver(lake, "drops/unlisted", {"a.pdf": pdfs()[0]}, listed={})
    deliver(lake, "drops/bad_name", {}, listed={"../a.pdf": b""})
    lake.put("drops/unreadable/_READY", b"{")
    deliver(lake, "drops/good", {"a.pdf": pdfs()[2]})
    deliver(lake, "sources/dblp/1", {"records.jsonl": lines(PAPER)["records.jsonl"] + b"no JSON\n"})
    deliver(lake, "sources/unheard/1", {"file.xml": b"<x/>"})
    found = {row.folder: row for row in process()}
    refused = ("bad_name", "changed", "incomplete", "unlisted", "unreadable")
    assert states(list(found.values())) == {
        "drops/good/": "worked", "sources/dblp/1/": "worked", "sources/unheard/1/": "refused:unknown_source",
        **{f"drops/{why}/": f"refused:{why}" for why in refused},
    }  # fmt: skip
    assert all(row.detail for row in iterate_statuses(lake) if row.state == ArrivalState.REFUSED)
    assert "no source is called 'unheard'" in str(found["sources/unheard/1/"].detail)
    assert (found["sources/dblp/1/"].rows, found["sources/dblp/1/"].dropped) == (1, 1)
    assert list(grobid.uploads) == sha1s(pdfs()[2])
    assert process() == []
    deliver(
        lake, "drops/changed", {"a.pdf": pdfs()[2]}, SECOND
    )  # A changed _READY reopens the drop; its content was sent.
    assert [(row.outcome, row.outcomes) for row in process()] == [("worked", {"ok": 1})]
    assert len(list(lake.list("arrivals/"))) == 8 and grobid.requests == 1


def test_release_reuses_results_of_processed_drops(
    tmp_path: Path, grobid: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The release sends no PDF again and reads only unreadable ones; its tables are those of a release without processing."""
    inspected: list[str] = []

    def counted(items: Iterator[tuple[str, Path]], **limits: Any) -> Iterator[Selection]:
        for selection in inspect_many(items, **limits):
            inspected.append(selection.outcome)
            yield selection

    monkeypatch.setattr(select, "inspect_many", counted)
    tables = []
    for before in (True, False):
        lake = open_lake(str(tmp_path / str(before)))
        deliver(
            lake, "drops/a", {"a.pdf": pdfs()[0], "b.pdf": pdfs()[1], "wide.pdf": assemble(paper(box=b"[0 0 792 612]"))}
        )
        deliver(lake, "drops/b", {"c.pdf": pdfs()[2], "broken.pdf": b"no PDF"})
        if before:
            (a, b) = processing.process(lake, SPECS, tmp_path)
            assert (a.outcomes, b.outcomes) == ({"landscape": 1, "ok": 2}, {"ok": 1, "unreadable": 1})
            assert sorted(inspected) == ["landscape", "selected", "selected", "selected", "unreadable"]
        run = release(lake, tmp_path, "intake", "select", "extract", "postprocess")
        tables.append([run.table(SELECTIONS).read(), run.table(PARSES).read().drop_columns("stored")])
        if before:
            assert inspected[5:] == ["unreadable"] and grobid.requests == 3
            assert [run.table(table).committed().rows for table in (SELECTIONS, EXTRACTIONS, PARSES)] == [5, 3, 3]
            stored = {entry.key for entry in lake.list("stored_")}
            assert {row["stored"] for row in run.table(PARSES).read().to_pylist()} <= stored
    assert tables[0] == tables[1]


def test_latex_sources_are_processed(lake: Lake, process: Process, grobid: StandIn) -> None:
    tex = rb"\documentclass{article}\title{A title}\begin{document}\maketitle A text of a few words.\end{document}"
    deliver(lake, "drops/a", {"2004.14974.tex": tex, "paper.tex": tex + b"%"})
    (row,) = process()
    assert row.outcomes == {"latex:no_arxiv_id": 1, "latex:ok": 1}


def test_drops_are_read_for_each_distinct_set_of_rules(lake: Lake, process: Process, grobid: StandIn) -> None:
    other = ReleaseSpec.model_validate({"name": "other", "drops": ["x*"], "extract": {"consolidate_header": 1}})
    first = SPEC.model_copy(update={"drops": ("a", "x")})
    deliver(lake, "drops/a", {"a.pdf": pdfs()[0]})
    deliver(lake, "drops/x", {"a.pdf": pdfs()[1]})
    deliver(lake, "drops/mine", {"a.pdf": b"A"}, listed={"a.pdf": b"B"})
    found = states(process(first, other, first.model_copy(update={"name": "same"})))
    assert found == {"drops/a/": "worked", "drops/mine/": "unwanted", "drops/x/": "worked"}
    assert grobid.uploads == dict(zip(sha1s(*pdfs()[:2]), (1, 2), strict=True))


def test_batches_divide_large_and_join_small_drops(lake: Lake, tmp_path: Path) -> None:
    small = change_resources(pdfs_per_shard=2)

    def drops() -> list[list[str]]:
        _, ids = gather_all(lake, tmp_path, small)
        return [batches.read_batch(lake, id_, [small], tmp_path).drops for id_ in ids]

    deliver(lake, "drops/a", {f"{n}.pdf": pdf for n, pdf in enumerate(pdfs()[:5])})
    assert drops() == [["drops/a/"]] * 3
    assert [row.pdfs for row in iterate_statuses(lake)] == [5]
    for name in ("b", "c"):
        deliver(lake, f"drops/{name}", {"a.pdf": pdfs()[5] + name.encode()})
    assert drops()[2:] == [["drops/a/", "drops/b/"], ["drops/c/"]]
    other = ReleaseSpec.model_validate({"name": "test", "select": {"max_pages": 10}})
    _, ids = gather_all(lake, tmp_path, small)
    with pytest.raises(UserError, match="specs have changed"):
        batches.read_batch(lake, ids[0], [other], tmp_path)


def test_failed_extraction_blocks_no_other_drop(lake: Lake, process: Process, grobid: StandIn) -> None:
    bad = sha1s(pdfs()[0])
    grobid.faults = lambda upload: "busy" if upload.sha1 in bad else None
    deliver(lake, "drops/bad", {"a.pdf": pdfs()[0]})
    deliver(lake, "drops/good", {"a.pdf": pdfs()[1]})
    for tries in range(1, MAX_TRIES + 1):
        found = {row.folder: row for row in process(change_resources(extract_seconds=0.5))}
        assert (found["drops/bad/"].state, found["drops/bad/"].tries) == (ArrivalState.UNFINISHED, tries)
        assert "given up" in str(found["drops/bad/"].detail)
        assert ("drops/good/" in found) is (tries == 1)
    assert process() == [], "the drop is left to the releases"
    assert states(list(iterate_statuses(lake)))["drops/good/"] == "worked"


def test_failed_extractions_are_retried_before_last_run(lake: Lake, tmp_path: Path, grobid: StandIn) -> None:
    grobid.faults = lambda _: "busy"
    specs = [change_resources(extract_seconds=0.5)]
    deliver(lake, "drops/a", {"a.pdf": pdfs()[0]})
    arrivals, (id_,) = gather_all(lake, tmp_path, specs[0])
    with pytest.raises(TransientError):
        batches.process_batch(batches.read_batch(lake, id_, specs, tmp_path), last=False)
    assert states(processing.settle(lake, arrivals, [id_], specs)) == {"drops/a/": "registered"}
    grobid.faults = lambda _: None
    batches.process_batch(batches.read_batch(lake, id_, specs, tmp_path), last=False)
    assert states(processing.settle(lake, arrivals, [id_], specs)) == {"drops/a/": "worked"}


def test_changed_drop_is_refused_and_blocks_no_other(lake: Lake, tmp_path: Path, grobid: StandIn) -> None:
    for name, pdf in (("changed", pdfs()[0]), ("good", pdfs()[1])):
        deliver(lake, f"drops/{name}", {"a.pdf": pdf})
    arrivals, (id_,) = gather_all(lake, tmp_path)
    lake.put("drops/changed/a.pdf", pdfs()[2])
    batches.process_batch(batches.read_batch(lake, id_, SPECS, tmp_path), last=False)
    found = states(processing.settle(lake, arrivals, [id_], SPECS))
    assert found == {"drops/changed/": "refused:changed", "drops/good/": "worked"}
    assert list(grobid.uploads) == sha1s(pdfs()[1])
    run = release(lake, tmp_path, "intake", "select", "extract")
    assert run.table(EXTRACTIONS).read()["file_sha1"].to_pylist() == sha1s(pdfs()[1])


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
    assert found == [("drops/bad/", "failed", "KeyError: 'an error of ours'"), ("drops/good/", "worked", None)]


def test_next_run_continues_an_interrupted_run(lake: Lake, process: Process, grobid: StandIn) -> None:
    deliver(lake, "drops/a", {"a.pdf": pdfs()[0]})
    grobid.stop()
    with pytest.raises(TransientError):
        process()
    assert states(list(iterate_statuses(lake))) == {"drops/a/": "registered"}
    grobid.start()
    assert states(process()) == {"drops/a/": "worked"}


def test_broken_adapter_fails_delivery_after_three_runs(
    lake: Lake, process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("in the adapter")

    monkeypatch.setattr("s2corpus.sources.dblp.read", broken)
    deliver(lake, "sources/dblp/1", {"file.xml": b"<x/>"})
    for tries in range(1, MAX_TRIES + 1):
        (row,) = process()
        assert (row.outcome, row.tries, row.detail) == ("failed", tries, "ZeroDivisionError: in the adapter")
    assert process() == [] and list_open(lake) == []


# -- Many drops, S3 and the command line.


def check_many(lake: Lake, scratch: Path, grobid: StandIn, count: int) -> None:
    for number in range(count):
        listed = {"a.pdf": b""} if number % 100 == 7 else None
        deliver(lake, f"drops/{number:03}", {"a.pdf": pdfs()[number % 6]}, listed=listed)
    refused = -(-(count - 7) // 100)
    outcomes = Counter(row.outcome for row in processing.process(lake, SPECS, scratch))
    assert outcomes == {"worked": count - refused, "refused:changed": refused}
    assert set(grobid.uploads.values()) == {1} and grobid.most_in_work <= SPEC.resources.in_flight
    assert processing.process(lake, SPECS, scratch) == []
    assert Watch(lake).poll() == []


@pytest.mark.long
def test_each_pdf_of_many_drops_is_sent_once(lake: Lake, tmp_path: Path, grobid: StandIn) -> None:
    check_many(lake, tmp_path, grobid, 500)


@pytest.mark.services
@pytest.mark.slow
def test_drops_on_s3_are_processed(
    services: Endpoints, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, grobid: StandIn
) -> None:
    for name, value in services.environ().items():
        if name.startswith("AWS_"):
            monkeypatch.setenv(name, value)
    check_many(open_lake("s3://corpus/drops-on-s3"), tmp_path, grobid, 20)


def test_command_lists_and_processes_drops(tmp_path: Path, grobid: StandIn) -> None:
    lake = open_lake(str(tmp_path / "lake"))
    deliver(lake, "drops/a", {"a.pdf": pdfs()[0]})
    deliver(lake, "drops/b", {"a.pdf": pdfs()[0]}, listed={})

    def rows(*options: str, columns: int = 2) -> list[list[str]]:
        found = CliRunner().invoke(command, ["--lake", str(tmp_path / "lake"), *options], catch_exceptions=False)
        return [line.split("\t")[:columns] for line in found.stdout.splitlines()]

    assert rows() == [["waiting", "drops/a"], ["waiting", "drops/b"]]
    worked, refused = rows("--process", columns=3)
    assert worked == ["worked", "drops/a", "1 ok"] and refused[:2] == ["refused:unlisted", "drops/b"]
    assert rows("--state", "refused") == [["refused:unlisted", "drops/b"]]


# -- Releases that drops start.


def spec_with(**values: Any) -> ReleaseSpec:
    return ReleaseSpec.model_validate({"name": "live", "schedule": {"on_drop": True}, **values})


def test_processed_drops_start_a_release_as_of_the_latest() -> None:
    rows = [
        ArrivalStatus("drops/a/", "0", ArrivalState.PROCESSED, ready_at="2026-03-01T10:30:00.25Z"),
        ArrivalStatus("drops/b/", "0", ArrivalState.PROCESSED, ready_at="2026-03-01T11:30:00+02:00"),
        ArrivalStatus("drops/c/", "0", ArrivalState.REFUSED, ready_at="2026-03-02T00:00:00Z"),
    ]
    as_of = datetime(2026, 3, 1, 10, 30, 1, tzinfo=UTC)
    assert processing.list_releases_to_start(rows, [spec_with()]) == [("live", as_of)]
    for other in (spec_with(schedule={}), spec_with(drops=["other-*"], sources=["other"])):
        assert processing.list_releases_to_start(rows, [other]) == []


def test_spec_has_one_trigger() -> None:
    assert spec_with().schedule.interval is None
    with pytest.raises(ValueError, match="on_drop: true and cron: '0 0 1 \\* \\*' given"):
        spec_with(schedule={"on_drop": True, "cron": "0 0 1 * *"})
