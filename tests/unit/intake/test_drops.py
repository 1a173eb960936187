"""Drops are processed before any release: announced once, refused with a reason, and worked on once.

A release then reuses the results.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from devtools.local import Endpoints
from s2corpus.commands.drops import command
from s2corpus.deliveries.ready import Refusal, read_ready
from s2corpus.deliveries.status import (
    MAX_KNOWN_PER_POLL,
    MAX_TRIES,
    ArrivalState,
    ArrivalStatus,
    Watch,
    hash_ready_file,
    iterate_statuses,
    list_open,
    put_row,
)
from s2corpus.drops import batches, processing
from s2corpus.drops.standing import iterate_drop_statuses
from s2corpus.errors import TransientError, UserError
from s2corpus.extractors import Adapter
from s2corpus.pdf import Selection
from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake, ListedObject, open_lake
from s2corpus.storage.local_lake import LocalLake
from s2corpus.storage.parts import TableRef
from s2corpus.tables.intake import DELIVERIES
from s2corpus.tables.parses import EXTRACTIONS, PARSES, SELECTIONS, StoredParseRow
from tests.standin_grobid import StandIn, Upload
from tests.unit.extractors.test_extract_stage import papers
from tests.unit.pdf.bad_pdfs import assemble, paper

SPEC = ReleaseSpec.model_validate({"name": "test", "resources": {"extract_seconds": 3, "in_flight": 8}})
SPECS = [SPEC]


def deliver(
    lake: Lake, folder: str, files: dict[str, bytes], listed_: dict[str, bytes] | None = None, day: int = 1
) -> None:
    """Write a drop or delivery with a `_READY` that lists its files, or the files `listed_`."""
    for name, data in files.items():
        lake.put(f"{folder}/{name}", data)
    stated = [
        {"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in (files if listed_ is None else listed_).items()
    ]
    lake.put(f"{folder}/_READY", json.dumps({"ready_at": f"2023-01-{day:02}T00:00:00Z", "files": stated}).encode())


def states(rows: list[ArrivalStatus]) -> dict[str, str]:
    return {row.folder: row.outcome for row in rows}


@pytest.fixture(scope="module")
def pdfs() -> list[bytes]:
    return list(papers(6).values())


@pytest.fixture
def grobid(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with StandIn() as server:
        monkeypatch.setenv("GROBID_URL", server.url)
        monkeypatch.delenv("S2CORPUS_EXTRACTOR_TOKEN", raising=False)
        yield server


class Watched(LocalLake):
    """A lake that records the listed keys and the requests."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.entries: list[str] = []
        self.asked: list[str] = []

    def list(self, prefix: str) -> Iterator[ListedObject]:
        for entry in super().list(prefix):
            self.entries.append(entry.key)
            yield entry

    def etag(self, key: str) -> str:
        self.asked.append(key)
        return super().etag(key)


# -- statuses


def test_drop_state_follows_row_release_and_paused_dag(lake: Lake) -> None:
    for name in ("a", "b", "c"):
        deliver(lake, f"drops/{name}", {"a.pdf": name.encode()})
    lake.put("drops/d/a.pdf", b"still coming")
    mark = hash_ready_file(lake, "drops/c/")
    assert mark
    put_row(lake, ArrivalStatus("drops/c/", mark, ArrivalState.REFUSED, Refusal.CHANGED, "a.pdf"))
    ready = read_ready(lake, "drop", "", "a")
    assert ready is not None
    ready_at = ready.ready_at
    taken = {"kind": "drop", "source": "", "delivery": "a", "ready_at": ready_at, "outcome": "taken"}
    row: dict[str, Any] = {
        **dict.fromkeys(DELIVERIES.schema.names),
        **taken,
        "files": 1,
        "rows": 0,
        "dropped": 0,
        "warnings": [],
    }
    table = TableRef(lake, "releases/t-20230201/deliveries", DELIVERIES)
    table.write(0, [row])
    table.commit([0], {})
    pointer = {
        "snapshot": "t-20230201-00000000",
        "manifest": "snapshots/t-20230201-00000000/manifest.json",
        "manifest_sha256": "0" * 64,
    }
    lake.put("snapshots/t/latest.json", orjson.dumps(pointer))
    lake.put("snapshots/u/latest.json", b"{")  # The damaged pointer of another spec hides nothing.
    stand = {s.row.name: (s.outcome, s.detail) for s in iterate_drop_statuses(lake)}
    assert stand == {
        "drops/a": ("released", "in t-20230201-00000000"),
        "drops/b": ("waiting", ""),
        "drops/c": ("refused:changed", "a.pdf"),
        "drops/d": ("writing", ""),
    }
    paused = {s.row.name: s.outcome for s in iterate_drop_statuses(lake, paused=True)}
    assert paused == {name: "paused" if name == "drops/b" else outcome for name, (outcome, _) in stand.items()}
    lake.put("snapshots/t/latest.json", orjson.dumps({"snapshot": None}))
    assert next(s.name for s in iterate_drop_statuses(lake)) == "waiting", "what was withdrawn holds nothing"


# -- watches


def test_next_watch_does_not_repeat_an_arrival(lake: Lake) -> None:
    deliver(lake, "drops/a", {"a.pdf": b"A"})
    deliver(lake, "sources/dblp/1", {"records.jsonl": b""})
    first = Watch(lake)
    assert [arrival.folder for arrival in first.poll()] == ["drops/a/", "sources/dblp/1/"]
    assert first.poll() == []
    first.confirm()
    assert first.poll() == Watch(lake).poll() == []


def test_next_watch_repeats_unconfirmed_arrivals(lake: Lake) -> None:
    """If a watch is killed before it confirms, the next watch repeats the event: a duplicate is better than a loss."""
    deliver(lake, "drops/a", {"a.pdf": b"A"})
    given = Watch(lake).poll()
    assert Watch(lake).poll() == given


def test_lost_event_is_fired_again_until_a_run_begins(lake: Lake) -> None:
    """A triggerer can be killed after it announced an arrival and before Airflow stored the event."""
    deliver(lake, "drops/a", {"a.pdf": b"A"})
    lost = Watch(lake)
    (arrival,) = lost.poll()
    lost.confirm()

    watch = Watch(lake)
    assert watch.poll() == watch.list_unprocessed_events(1_000) == []
    assert watch.list_unprocessed_events(1_060) == [arrival]
    assert watch.list_unprocessed_events(1_179) == [], "the wait doubles"
    assert watch.list_unprocessed_events(1_180) == [arrival]
    put_row(lake, ArrivalStatus(arrival.folder, arrival.mark, ArrivalState.REGISTERED))
    assert watch.list_unprocessed_events(9_999) == [], "a run has begun with it"
    put_row(lake, ArrivalStatus(arrival.folder, arrival.mark, ArrivalState.PROCESSED))
    assert watch.list_unprocessed_events(99_999) == []


def test_folder_without_ready_file_is_ignored(lake: Lake) -> None:
    lake.put("drops/a/a.pdf", b"A")
    watch = Watch(lake)
    assert watch.poll() == []
    assert states(list(iterate_statuses(lake))) == {"drops/a/": "writing"}
    deliver(lake, "drops/a", {"a.pdf": b"A"})
    assert [arrival.folder for arrival in watch.poll()] == ["drops/a/"]
    assert states(list(iterate_statuses(lake))) == {"drops/a/": "waiting"}


def test_changed_ready_file_is_a_new_arrival(lake: Lake) -> None:
    watch = Watch(lake)
    for day, given in ((1, 1), (1, 0), (2, 1)):
        deliver(lake, "drops/a", {"a.pdf": b"A"}, day=day)
        assert len(watch.poll()) == given
        watch.confirm()


def test_cost_of_a_watch_depends_on_folders_only(tmp_path: Path) -> None:
    lake = Watched(tmp_path)
    for number in range(MAX_KNOWN_PER_POLL + 50):
        deliver(lake, f"drops/{number:03}", {"a.pdf": b"A"})
    for number in range(100):
        lake.put(f"drops/000/{number}.pdf", b"")
    watch = Watch(lake)
    assert len(watch.poll()) == MAX_KNOWN_PER_POLL + 50
    watch.confirm()
    lake.entries.clear()
    lake.asked.clear()
    watch.poll()
    assert {key.partition("/")[0] for key in lake.entries} == {"arrivals"}
    assert len(lake.asked) == MAX_KNOWN_PER_POLL
    watch.poll()
    assert len(set(lake.asked)) == MAX_KNOWN_PER_POLL + 50, "in turn, every one is asked for a new _READY"


class Hostile(LocalLake):
    """A lake with folder names that S3 allows and no file path can have."""

    def folders(self, prefix: str) -> list[str]:
        return ["", ".", "..", "a\0b", *super().folders(prefix)]


def test_folders_with_impossible_names_are_ignored(tmp_path: Path) -> None:
    lake = Hostile(tmp_path)
    deliver(lake, "drops/a\nrefused", {})
    (given,) = Watch(lake).poll()
    assert given.folder == "drops/a\nrefused/"
    assert [str(row) for row in iterate_statuses(lake)] == ["drops/a\\nrefused: waiting"]


def test_late_watch_reports_earlier_drops(lake: Lake) -> None:
    for number in range(500):
        deliver(lake, f"drops/{number:03}", {})
    watch = Watch(lake)
    given = watch.poll()
    assert len({arrival.folder for arrival in given}) == 500
    watch.confirm()
    assert sorted(list_open(lake), key=lambda arrival: arrival.folder) == given


def test_limited_watch_reports_the_rest_later(lake: Lake) -> None:
    for number in range(120):
        deliver(lake, f"drops/{number:03}", {})
    watch = Watch(lake)
    given = [watch.poll(50) for _ in range(4)]
    assert [len(some) for some in given] == [50, 50, 20, 0]
    assert len({arrival.folder for some in given for arrival in some}) == 120


# -- outcomes


def test_refused_drop_stores_reason_and_blocks_no_other(
    lake: Lake, tmp_path: Path, grobid: StandIn, pdfs: list[bytes]
) -> None:
    deliver(lake, "drops/changed", {"a.pdf": pdfs[0]}, {"a.pdf": pdfs[1]})
    deliver(lake, "drops/incomplete", {"a.pdf": pdfs[0]}, {"a.pdf": pdfs[0], "b.pdf": pdfs[1]})
    deliver(lake, "drops/unlisted", {"a.pdf": pdfs[0]}, {})
    deliver(lake, "drops/bad_name", {}, {"../a.pdf": b""})
    lake.put("drops/unreadable/_READY", b"{")
    deliver(lake, "drops/good", {"a.pdf": pdfs[2]})
    found = states(processing.process(lake, SPECS, tmp_path))
    refused = ("bad_name", "changed", "incomplete", "unlisted", "unreadable")
    assert found == {"drops/good/": "worked", **{f"drops/{why}/": f"refused:{why}" for why in refused}}
    assert all(row.detail for row in iterate_statuses(lake) if row.state == ArrivalState.REFUSED)
    assert list(grobid.uploads) == [hashlib.sha1(pdfs[2]).hexdigest()]
    assert processing.process(lake, SPECS, tmp_path) == []


def test_changed_ready_file_reopens_refused_drop(
    lake: Lake, tmp_path: Path, grobid: StandIn, pdfs: list[bytes]
) -> None:
    deliver(lake, "drops/a", {"a.pdf": pdfs[0]}, {"a.pdf": pdfs[1]})
    assert states(processing.process(lake, SPECS, tmp_path)) == {"drops/a/": "refused:changed"}
    deliver(lake, "drops/a", {"a.pdf": pdfs[1]}, day=2)
    assert states(processing.process(lake, SPECS, tmp_path)) == {"drops/a/": "worked"}
    assert len(list(lake.list("arrivals/"))) == 1


def test_release_sends_no_processed_pdf(lake: Lake, tmp_path: Path, grobid: StandIn, pdfs: list[bytes]) -> None:
    deliver(lake, "drops/a", {"a.pdf": pdfs[0], "b.pdf": pdfs[1], "wide.pdf": assemble(paper(box=b"[0 0 792 612]"))})
    deliver(lake, "drops/b", {"c.pdf": pdfs[2], "broken.pdf": b"no PDF"})
    (a, b) = processing.process(lake, SPECS, tmp_path)
    assert (a.outcomes, b.outcomes) == ({"landscape": 1, "ok": 2}, {"ok": 1, "unreadable": 1})
    sent = grobid.requests
    assert sent == 3
    run = Run(SPEC, datetime(2023, 2, 1, tzinfo=UTC), lake, tmp_path)
    for name in ("intake", "select", "extract", "postprocess"):
        runner.run_stage(run, name)
    assert grobid.requests == sent
    for table, wanted in ((SELECTIONS, 5), (EXTRACTIONS, 3), (PARSES, 3)):
        assert run.table(table).committed().rows == wanted
    stored = {entry.key for entry in lake.list("stored_")}
    assert {row["stored"] for row in run.table(PARSES).read().to_pylist()} <= stored


def test_select_repeats_only_unreadable_files(
    lake: Lake, tmp_path: Path, grobid: StandIn, pdfs: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    from s2corpus.pdf import inspect_many
    from s2corpus.stages import select

    read: list[str] = []

    def counted(items: Iterator[tuple[str, Path]], **limits: Any) -> Iterator[Selection]:
        for selection in inspect_many(items, **limits):
            read.append(selection.outcome)
            yield selection

    monkeypatch.setattr(select, "inspect_many", counted)
    deliver(
        lake, "drops/a", {"a.pdf": pdfs[0], "wide.pdf": assemble(paper(box=b"[0 0 792 612]")), "broken.pdf": b"no PDF"}
    )
    processing.process(lake, SPECS, tmp_path)
    assert sorted(read) == ["landscape", "selected", "unreadable"]
    run = Run(SPEC, datetime(2023, 2, 1, tzinfo=UTC), lake, tmp_path)
    for name in ("intake", "select"):
        runner.run_stage(run, name)
    assert read[3:] == ["unreadable"]
    assert sorted(run.table(SELECTIONS).read()["outcome"].to_pylist()) == ["landscape", "selected", "unreadable"]


def test_processed_drops_do_not_change_release_tables(tmp_path: Path, grobid: StandIn, pdfs: list[bytes]) -> None:
    tables = []
    for before in (True, False):
        lake = open_lake(str(tmp_path / str(before)))
        deliver(lake, "drops/a", {f"{n}.pdf": pdf for n, pdf in enumerate(pdfs)})
        if before:
            processing.process(lake, SPECS, tmp_path)
        run = Run(SPEC, datetime(2023, 2, 1, tzinfo=UTC), lake, tmp_path)
        for name in ("intake", "select", "extract", "postprocess"):
            runner.run_stage(run, name)
        tables.append([run.table(SELECTIONS).read(), run.table(PARSES).read().drop_columns("stored")])
    assert tables[0] == tables[1]


def test_latex_sources_are_processed(lake: Lake, tmp_path: Path, grobid: StandIn) -> None:
    tex = rb"\documentclass{article}\title{A title}\begin{document}\maketitle A text of a few words.\end{document}"
    deliver(lake, "drops/a", {"2004.14974.tex": tex, "paper.tex": tex + b"%"})
    (row,) = processing.process(lake, SPECS, tmp_path)
    assert row.outcomes == {"latex:no_arxiv_id": 1, "latex:ok": 1}


def test_repeated_content_is_not_sent_again(lake: Lake, tmp_path: Path, grobid: StandIn, pdfs: list[bytes]) -> None:
    deliver(lake, "drops/a", {"a.pdf": pdfs[0]})
    processing.process(lake, SPECS, tmp_path)
    deliver(lake, "drops/b", {"again.pdf": pdfs[0]})
    (row,) = processing.process(lake, SPECS, tmp_path)
    assert (row.folder, row.outcome, row.outcomes) == ("drops/b/", "worked", {"ok": 1})
    assert grobid.requests == 1


def test_batches_divide_large_and_join_small_drops(
    lake: Lake, tmp_path: Path, grobid: StandIn, pdfs: list[bytes]
) -> None:
    small = SPEC.model_copy(update={"resources": SPEC.resources.model_copy(update={"pdfs_per_shard": 2})})
    deliver(lake, "drops/a", {f"{n}.pdf": pdf for n, pdf in enumerate(pdfs[:5])})
    rows = [processing.register(lake, arrival, [small]) for arrival in Watch(lake).poll()]
    arrivals = [replace(arrival) for arrival in list_open(lake)]
    made = [
        batches.read_batch(lake, id_, [small], tmp_path) for id_ in processing.gather(lake, arrivals, [small], tmp_path)
    ]
    assert [len(batch.drops) for batch in made] == [1, 1, 1]
    assert rows[0] is not None and rows[0].pdfs == 5
    for name in ("b", "c"):
        deliver(lake, f"drops/{name}", {"a.pdf": pdfs[5] + name.encode()})
        processing.register(lake, Watch(lake).poll()[0], [small])
    made = [
        batches.read_batch(lake, id_, [small], tmp_path)
        for id_ in processing.gather(lake, list_open(lake), [small], tmp_path)
    ]
    assert [batch.drops for batch in made][2:] == [["drops/a/", "drops/b/"], ["drops/c/"]]


def test_specs_with_equal_rules_share_work(lake: Lake, tmp_path: Path, grobid: StandIn, pdfs: list[bytes]) -> None:
    other = ReleaseSpec.model_validate({"name": "other", "drops": ["x*"], "extract": {"consolidate_header": 1}})
    same = SPEC.model_copy(update={"name": "same"})
    deliver(lake, "drops/a", {"a.pdf": pdfs[0]})
    deliver(lake, "drops/x", {"a.pdf": pdfs[1]})
    processing.process(lake, [SPEC, other, same], tmp_path)
    sent = {hashlib.sha1(pdf).hexdigest(): n for pdf, n in ((pdfs[0], 1), (pdfs[1], 2))}
    assert grobid.uploads == sent


def test_drop_that_no_spec_takes_is_not_read(lake: Lake, tmp_path: Path) -> None:
    deliver(lake, "drops/mine", {"a.pdf": b"A"}, {"a.pdf": b"B"})
    named = SPEC.model_copy(update={"drops": ("20*",)})
    assert states(processing.process(lake, [named], tmp_path)) == {"drops/mine/": "unwanted"}


def test_failed_extraction_blocks_no_other_drop(lake: Lake, tmp_path: Path, grobid: StandIn, pdfs: list[bytes]) -> None:
    bad = {hashlib.sha1(pdf).hexdigest() for pdf in pdfs[:3]}
    grobid.faults = lambda upload: "busy" if upload.sha1 in bad else None
    spec = SPEC.model_copy(update={"resources": SPEC.resources.model_copy(update={"extract_seconds": 0.5})})
    deliver(lake, "drops/bad", {f"{n}.pdf": pdf for n, pdf in enumerate(pdfs[:3])})
    deliver(lake, "drops/good", {f"{n}.pdf": pdf for n, pdf in enumerate(pdfs[3:])})
    for tries in range(1, MAX_TRIES + 1):
        found = {row.folder: row for row in processing.process(lake, [spec], tmp_path)}
        assert (found["drops/bad/"].state, found["drops/bad/"].tries) == (ArrivalState.UNFINISHED, tries)
        assert "given up" in str(found["drops/bad/"].detail)
        assert ("drops/good/" in found) is (tries == 1)
    assert processing.process(lake, [spec], tmp_path) == [], "it is left to the releases"
    assert states(list(iterate_statuses(lake)))["drops/good/"] == "worked"


def test_changed_drop_is_refused_and_blocks_no_other(
    lake: Lake, tmp_path: Path, grobid: StandIn, pdfs: list[bytes]
) -> None:
    for name, pdf in (("changed", pdfs[0]), ("good", pdfs[1])):
        deliver(lake, f"drops/{name}", {"a.pdf": pdf})
    arrivals = processing.list_pending(lake, Watch(lake).poll())
    processing.register_all(lake, arrivals, SPECS)
    (id_,) = processing.gather(lake, arrivals, SPECS, tmp_path)
    lake.put("drops/changed/a.pdf", pdfs[2])
    batches.process_batch(batches.read_batch(lake, id_, SPECS, tmp_path), last=False)
    found = states(processing.settle(lake, arrivals, [id_], SPECS))
    assert found == {"drops/changed/": "refused:changed", "drops/good/": "worked"}
    assert list(grobid.uploads) == [hashlib.sha1(pdfs[1]).hexdigest()]
    run = Run(SPEC, datetime(2023, 2, 1, tzinfo=UTC), lake, tmp_path)
    for name in ("intake", "select", "extract"):
        runner.run_stage(run, name)
    assert run.table(EXTRACTIONS).read()["file_sha1"].to_pylist() == list(grobid.uploads)


def test_internal_error_fails_one_drop_only(
    lake: Lake, tmp_path: Path, grobid: StandIn, pdfs: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    from s2corpus.stages.postprocess import pdfs as answers

    convert = answers.convert

    def stumbling(by: Adapter, sha1: str, *rest: Any) -> StoredParseRow:
        if sha1 == hashlib.sha1(pdfs[0]).hexdigest():
            raise KeyError("an error of ours")
        return convert(by, sha1, *rest)

    monkeypatch.setattr(answers, "convert", stumbling)
    deliver(lake, "drops/bad", {"a.pdf": pdfs[0]})
    deliver(lake, "drops/good", {"a.pdf": pdfs[1]})
    found = {row.folder: row for row in processing.process(lake, SPECS, tmp_path)}
    assert found["drops/good/"].outcome == "worked"
    assert (found["drops/bad/"].outcome, found["drops/bad/"].detail) == ("failed", "KeyError: 'an error of ours'")


def test_next_run_continues_an_interrupted_run(lake: Lake, tmp_path: Path, grobid: StandIn, pdfs: list[bytes]) -> None:
    deliver(lake, "drops/a", {"a.pdf": pdfs[0]})
    grobid.stop()
    with pytest.raises(TransientError):
        processing.process(lake, SPECS, tmp_path)
    assert states(list(iterate_statuses(lake))) == {"drops/a/": "registered"}
    grobid.start()
    assert states(processing.process(lake, SPECS, tmp_path)) == {"drops/a/": "worked"}


def test_failed_extractions_are_retried_before_last_run(
    lake: Lake, tmp_path: Path, grobid: StandIn, pdfs: list[bytes]
) -> None:
    failing = [True]

    def faults(_: Upload) -> str | None:
        return "busy" if failing[0] else None

    grobid.faults = faults
    spec = SPEC.model_copy(update={"resources": SPEC.resources.model_copy(update={"extract_seconds": 0.5})})
    deliver(lake, "drops/a", {"a.pdf": pdfs[0]})
    arrivals = processing.list_pending(lake, Watch(lake).poll())
    processing.register(lake, arrivals[0], [spec])
    (id_,) = processing.gather(lake, arrivals, [spec], tmp_path)
    with pytest.raises(TransientError):
        batches.process_batch(batches.read_batch(lake, id_, [spec], tmp_path), last=False)
    assert states(processing.settle(lake, arrivals, [id_], [spec])) == {"drops/a/": "registered"}
    failing[0] = False
    batches.process_batch(batches.read_batch(lake, id_, [spec], tmp_path), last=False)
    assert states(processing.settle(lake, arrivals, [id_], [spec])) == {"drops/a/": "worked"}


def test_changed_specs_of_a_batch_are_reported(lake: Lake, tmp_path: Path, grobid: StandIn, pdfs: list[bytes]) -> None:
    deliver(lake, "drops/a", {"a.pdf": pdfs[0]})
    arrivals = processing.list_pending(lake, Watch(lake).poll())
    processing.register(lake, arrivals[0], SPECS)
    (id_,) = processing.gather(lake, arrivals, SPECS, tmp_path)
    other = ReleaseSpec.model_validate({"name": "test", "select": {"max_pages": 10}})
    with pytest.raises(UserError, match="specs have changed"):
        batches.read_batch(lake, id_, [other], tmp_path)


def test_delivery_of_unknown_source_is_refused(lake: Lake, tmp_path: Path) -> None:
    record = json.dumps({"record_id": "dblp:1", "title": "A title of a paper"}).encode() + b"\nno JSON\n"
    deliver(lake, "sources/dblp/1", {"records.jsonl": record})
    deliver(lake, "sources/unheard/1", {"file.xml": b"<x/>"})
    found = {row.folder: row for row in processing.process(lake, SPECS, tmp_path)}
    assert found["sources/unheard/1/"].outcome == "refused:unknown_source"
    assert "no source is called 'unheard'" in str(found["sources/unheard/1/"].detail)
    dblp = found["sources/dblp/1/"]
    assert (dblp.outcome, dblp.rows, dblp.dropped) == ("worked", 1, 1)


def test_broken_adapter_fails_delivery_after_three_runs(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("in the adapter")

    monkeypatch.setattr("s2corpus.sources.dblp.read", broken)
    deliver(lake, "sources/dblp/1", {"file.xml": b"<x/>"})
    for tries in range(1, MAX_TRIES + 1):
        (row,) = processing.process(lake, SPECS, tmp_path)
        assert (row.outcome, row.tries, row.detail) == ("failed", tries, "ZeroDivisionError: in the adapter")
    assert processing.process(lake, SPECS, tmp_path) == []


# -- on S3 and at the command line


@pytest.mark.long
def test_each_pdf_of_many_drops_is_sent_once(lake: Lake, tmp_path: Path, grobid: StandIn, pdfs: list[bytes]) -> None:
    for number in range(500):
        deliver(lake, f"drops/{number:03}", {"a.pdf": pdfs[number % 6]}, {"a.pdf": b""} if number % 100 == 7 else None)
    outcomes = Counter(row.outcome for row in processing.process(lake, SPECS, tmp_path))
    assert outcomes == {"worked": 495, "refused:changed": 5}
    assert set(grobid.uploads.values()) == {1} and grobid.most_in_work <= SPEC.resources.in_flight
    assert processing.process(lake, SPECS, tmp_path) == []
    assert Watch(lake).poll() == []


@pytest.mark.services
@pytest.mark.slow
def test_drops_on_s3_are_processed(
    services: Endpoints, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, grobid: StandIn, pdfs: list[bytes]
) -> None:
    for name, value in services.environ().items():
        if name.startswith("AWS_"):
            monkeypatch.setenv(name, value)
    lake = open_lake("s3://corpus/drops-on-s3")
    for number in range(20):
        deliver(lake, f"drops/{number:02}", {"a.pdf": pdfs[number % 6]}, {"a.pdf": b""} if number == 7 else None)
    assert len(Watch(lake).poll()) == 20
    outcomes = Counter(row.outcome for row in processing.process(lake, SPECS, tmp_path))
    assert outcomes == {"worked": 19, "refused:changed": 1}
    assert set(grobid.uploads.values()) == {1}
    assert processing.process(lake, SPECS, tmp_path) == []
    assert Watch(lake).poll() == []


def test_command_lists_and_processes_drops(tmp_path: Path, grobid: StandIn, pdfs: list[bytes]) -> None:
    lake = open_lake(str(tmp_path / "lake"))
    deliver(lake, "drops/a", {"a.pdf": pdfs[0]})
    deliver(lake, "drops/b", {"a.pdf": pdfs[0]}, {})
    ask = ["--lake", str(tmp_path / "lake")]
    before = CliRunner().invoke(command, ask, catch_exceptions=False)
    assert [line.split("\t")[:2] for line in before.stdout.splitlines()] == [
        ["waiting", "drops/a"],
        ["waiting", "drops/b"],
    ]
    worked = CliRunner().invoke(command, [*ask, "--process"], catch_exceptions=False)
    assert "worked\tdrops/a\t1 ok" in worked.stdout and "refused:unlisted\tdrops/b\t" in worked.stdout
    again = CliRunner().invoke(command, [*ask, "--state", "refused"], catch_exceptions=False)
    assert [line.split("\t")[:2] for line in again.stdout.splitlines()] == [["refused:unlisted", "drops/b"]]


# -- releases that drops start


def spec_with(**values: Any) -> ReleaseSpec:
    return ReleaseSpec.model_validate({"name": "live", "schedule": {"on_drop": True}, **values})


def test_processed_drops_start_a_release_as_of_the_latest(lake: Lake) -> None:
    rows = [
        ArrivalStatus("drops/a/", "0", ArrivalState.PROCESSED, ready_at="2026-03-01T10:30:00.25Z"),
        ArrivalStatus("drops/b/", "0", ArrivalState.PROCESSED, ready_at="2026-03-01T11:30:00+02:00"),
        ArrivalStatus("drops/c/", "0", ArrivalState.REFUSED, ready_at="2026-03-02T00:00:00Z"),
    ]
    as_of = datetime(2026, 3, 1, 10, 30, 1, tzinfo=UTC)
    assert processing.list_releases_to_start(rows, [spec_with()]) == [("live", as_of)]


@pytest.mark.parametrize(
    "values", [{"schedule": {}}, {"drops": ["other-*"], "sources": ["other"]}], ids=["monthly spec", "other drops"]
)
def test_drops_do_not_start_releases_of_other_specs(values: dict[str, Any]) -> None:
    rows = [ArrivalStatus("drops/a/", "0", ArrivalState.PROCESSED, ready_at="2026-03-01T10:30:00Z")]
    assert processing.list_releases_to_start(rows, [spec_with(**values)]) == []


def test_spec_has_one_trigger() -> None:
    assert spec_with().schedule.interval is None
    with pytest.raises(ValueError, match="on_drop: true and cron: '0 0 1 \\* \\*' given"):
        spec_with(schedule={"on_drop": True, "cron": "0 0 1 * *"})
