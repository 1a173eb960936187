"""Intake takes deliveries that were ready before as_of.

It refuses a delivery that differs from its _READY, with the reason (SPEC §0).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from s2corpus.errors import UserError
from s2corpus.pipeline import quality, runner
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import load_stage
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from s2corpus.tables.intake import DELIVERIES, LATEX_SOURCES, NOTICES, PDFS, RECORDS

AS_OF = datetime(2023, 2, 1, tzinfo=UTC)


@pytest.fixture
def run(lake: Lake, tmp_path: Path) -> Run:
    return Run(ReleaseSpec(name="t"), AS_OF, lake, tmp_path)


def deliver(
    run: Run,
    folder: str,
    files: dict[str, bytes],
    ready_at: str = "2023-01-01T00:00:00Z",
    mode: str = "delta",
    listed: dict[str, bytes] | None = None,
) -> None:
    for name, data in files.items():
        run.lake.put(f"{folder}/{name}", data)
    ready = {
        "ready_at": ready_at,
        "mode": mode,
        "files": [
            {"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in (listed if listed is not None else files).items()
        ],
    }
    run.lake.put(f"{folder}/_READY", json.dumps(ready).encode())


def intake(run: Run) -> dict[str, float]:
    runner.work(run, "intake", runner.plan(run, "intake"))
    runner.run_rounds(run, "intake", first=1)
    return load_stage("intake").finish(run)


def lines(*rows: Mapping[str, object]) -> dict[str, bytes]:
    return {"records.jsonl": b"".join(json.dumps(row).encode() + b"\n" for row in rows)}


def test_same_bytes_in_two_drops_are_one_pdf(run: Run) -> None:
    deliver(run, "drops/second", {"z.pdf": b"%PDF"}, "2023-01-02T00:00:00Z")
    deliver(run, "drops/first", {"a.pdf": b"%PDF", "readme.txt": b"no paper"}, "2023-01-01T10:00:00+01:00")
    intake(run)
    (pdf,) = run.table(PDFS).read().to_pylist()
    assert pdf["file_sha1"] == hashlib.sha1(b"%PDF").hexdigest()
    assert [(place["drop"], place["name"]) for place in pdf["places"]] == [("first", "a.pdf"), ("second", "z.pdf")]
    assert pdf["first_seen"] == "2023-01-01T09:00:00.000000Z"


def test_notices_about_other_works_are_a_separate_table(run: Run) -> None:
    notice = {
        "DOI": "10.1177/1758835n",
        "title": ["Retraction"],
        "update-to": [{"DOI": "10.1177/1758835A", "type": "retraction"}],
    }
    plain = {"DOI": "10.1177/1758835a", "title": ["A paper"]}
    content = b"".join(json.dumps(work).encode() + b"\n" for work in (notice, plain))
    deliver(run, "sources/crossref/1", {"works.jsonl": content})
    intake(run)
    said = {"about": "doi:10.1177/1758835a", "status": "retracted", "record_id": "crossref:10.1177/1758835n"}
    assert run.table(NOTICES).read().to_pylist() == [said]
    # Only the work's own source may report a notice. A notice in a generic file about another work is ignored.
    row = {
        "record_id": "own:1",
        "title": "A paper",
        "notices": [{"about": "doi:10.1177/1758835a", "status": "retracted"}],
    }
    deliver(run, "sources/own/1", lines(row))
    assert intake(run)["records"] == 2


def test_release_sees_deliveries_ready_before_as_of(run: Run) -> None:
    deliver(run, "drops/before", {"a.pdf": b"A"}, "2023-01-31T23:59:59Z")
    deliver(run, "drops/at", {"b.pdf": b"B"}, "2023-02-01T00:00:00Z")
    run.lake.put("drops/unfinished/c.pdf", b"C")
    intake(run)
    assert run.table(PDFS).read()["bytes"].to_pylist() == [1]
    outcomes = {row["delivery"]: row["outcome"] for row in run.table(DELIVERIES).read().to_pylist()}
    assert outcomes == {"before": "taken", "at": "not_yet"}


def test_untaken_drop_delays_no_later_drop(run: Run) -> None:
    """By name: an unfinished, a refused, an unselected and a late drop. A good drop follows each."""
    spec = run.spec.model_copy(update={"drops": ["[!x]*"]})
    run.lake.put("drops/a-unfinished/c.pdf", b"C")
    run.lake.put("drops/c-refused/_READY", b"{")
    deliver(run, "drops/x-other", {"o.pdf": b"O"})
    deliver(run, "drops/y-late", {"l.pdf": b"L"}, "2023-02-01T00:00:00Z")
    for name in ("b", "d", "x", "z"):
        deliver(run, f"drops/{name}" if name != "x" else "drops/xx", {f"{name}.pdf": name.encode()})
    seen = Run(spec, AS_OF, run.lake, run.scratch)
    intake(seen)
    outcomes = {row["delivery"]: row["outcome"].partition(":")[0] for row in seen.table(DELIVERIES).read().to_pylist()}
    assert outcomes == {"b": "taken", "c-refused": "refused", "d": "taken", "y-late": "not_yet", "z": "taken"}


def test_later_broken_drop_does_not_affect_the_release(run: Run) -> None:
    deliver(run, "drops/good", {"a.pdf": b"A"}, "2023-01-31T00:00:00Z")
    deliver(run, "drops/broken", {"b.pdf": b"B"}, "2023-02-03T00:00:00Z", listed={"b.pdf": b"another"})
    refused = {}
    for as_of in (AS_OF, datetime(2023, 3, 1, tzinfo=UTC)):
        seen = Run(run.spec, as_of, run.lake, run.scratch)
        quality.measure(seen, "intake", intake(seen))
        (verdict,) = (v for v in quality.evaluate(seen, "intake") if v.check == "nothing_refused")
        refused[seen.as_of.month] = [row["delivery"] for row in verdict.rows]
    assert refused == {2: [], 3: ["broken"]}


@pytest.mark.parametrize(
    ("files", "listed", "reason"),
    [
        ({"a.pdf": b"A"}, {"a.pdf": b"B"}, "refused:changed"),
        ({"a.pdf": b"AA"}, {"a.pdf": b"A"}, "refused:changed"),
        ({"a.pdf": b"A"}, {"a.pdf": b"A", "b.pdf": b"B"}, "refused:incomplete"),
        ({"a.pdf": b"A", "b.pdf": b"B"}, {"a.pdf": b"A"}, "refused:unlisted"),
        ({}, {"../../etc/passwd": b"A"}, "refused:bad_name"),
        ({}, {"/etc/passwd": b"A"}, "refused:bad_name"),
    ],
)
def test_drop_that_differs_from_its_ready_file_is_refused(
    run: Run, files: dict[str, bytes], listed: dict[str, bytes], reason: str
) -> None:
    deliver(run, "drops/d", files, listed=listed)
    intake(run)
    (row,) = run.table(DELIVERIES).read().to_pylist()
    assert row["outcome"] == reason
    assert row["detail"]
    assert run.table(PDFS).read().num_rows == 0


def test_delivery_of_unknown_source_does_not_stop_the_release(run: Run) -> None:
    deliver(run, "sources/unheard/1", {"dump.json": b"{}"})
    deliver(run, "drops/d", {"a.pdf": b"A"})
    intake(run)
    outcomes = {
        row["source"]: (row["outcome"], row["detail"] or "") for row in run.table(DELIVERIES).read().to_pylist()
    }
    assert outcomes["unheard"][0] == "refused:unknown_source"
    assert "no source is called 'unheard'" in outcomes["unheard"][1]
    assert run.table(PDFS).read().num_rows == 1


@pytest.mark.parametrize("ready", [b"", b"{", b"[]", b'{"ready_at": "yesterday", "files": []}', b'{"files": []}'])
def test_unreadable_ready_file_refuses_the_delivery(run: Run, ready: bytes) -> None:
    run.lake.put("drops/d/_READY", ready)
    intake(run)
    assert run.table(DELIVERIES).read()["outcome"].to_pylist() == ["refused:unreadable"]


def test_latest_record_wins_and_tombstone_deletes_it(run: Run) -> None:
    deliver(
        run, "sources/dblp/a", lines({"record_id": "dblp:1", "title": "Old"}, {"record_id": "dblp:2", "title": "Gone"})
    )
    deliver(
        run,
        "sources/dblp/b",
        lines({"record_id": "dblp:1", "title": "New"}, {"record_id": "dblp:2", "deleted": True}),
        "2023-01-02T00:00:00Z",
    )
    intake(run)
    assert [(r["record_id"], r["title"]) for r in run.table(RECORDS).read().to_pylist()] == [("dblp:1", "New")]


def test_full_delivery_replaces_earlier_records_of_its_source(run: Run) -> None:
    deliver(run, "sources/dblp/a", lines({"record_id": "dblp:1", "title": "Dropped by the source"}))
    deliver(run, "sources/acl/a", lines({"record_id": "acl:1", "title": "Another source"}))
    deliver(run, "sources/dblp/b", lines({"record_id": "dblp:2", "title": "Kept"}), "2023-01-02T00:00:00Z", "full")
    intake(run)
    assert run.table(RECORDS).read()["record_id"].to_pylist() == ["acl:1", "dblp:2"]


def test_drop_delivered_during_the_stage_waits_for_next_run(run: Run) -> None:
    deliver(run, "drops/a", {"a.pdf": b"A"})
    shards = runner.plan(run, "intake")
    deliver(run, "drops/b", {"b.pdf": b"B"})
    runner.work(run, "intake", shards)
    runner.run_rounds(run, "intake", first=1)
    load_stage("intake").finish(run)
    first = run.table(DELIVERIES).committed().facts["inputs"]
    assert run.table(PDFS).committed().rows == 1
    intake(run)
    assert run.table(PDFS).committed().rows == 2
    assert run.table(DELIVERIES).committed().facts["inputs"] != first


@pytest.mark.parametrize(
    ("patterns", "delivered"), [(("*",), None), (("2021-*",), "2020-a"), (("2020-*", "x*"), "2020-a")]
)
def test_drop_pattern_without_match_is_an_error(
    lake: Lake, tmp_path: Path, patterns: tuple[str, ...], delivered: str | None
) -> None:
    run = Run(ReleaseSpec(name="t", drops=patterns), AS_OF, lake, tmp_path)
    if delivered:
        deliver(run, f"drops/{delivered}", {"a.pdf": b"%PDF"})
    with pytest.raises(
        UserError, match=f"matches no drop in .*; existing drops: {delivered or 'none'}. Correct the pattern"
    ):
        runner.plan(run, "intake")


@pytest.mark.parametrize(
    ("name", "arxiv_id"),
    [
        ("2004.14974.gz", "2004.14974"),
        ("sub/1911.02782v3.tar.gz", "1911.02782"),
        ("hep-th9711200.gz", "hep-th/9711200"),
        ("math.GT0309136.tar", "math/0309136"),
        ("paper.tex", None),
        ("declared.gz", "1706.03762"),
    ],
)
def test_latex_source_has_arxiv_id_of_name_or_declaration(run: Run, name: str, arxiv_id: str | None) -> None:
    declared = lines({"name": "declared.gz", "arxiv_id": "arXiv:1706.03762v1"})
    deliver(run, "drops/one", {name: b"source", **declared})
    intake(run)
    (found,) = run.table(LATEX_SOURCES).read().to_pylist()
    assert (found["arxiv_id"], found["archive_sha1"]) == (arxiv_id, hashlib.sha1(b"source").hexdigest())
    assert [(place["drop"], place["name"]) for place in found["places"]] == [("one", name)]
    assert run.table(PDFS).committed().rows == 0


def test_later_line_of_a_delivery_wins(run: Run) -> None:
    said = [{"record_id": "dblp:1", "title": f"Title {n}"} for n in (2, 3, 1)]
    deliver(run, "sources/dblp/a", lines(*said))
    intake(run)
    assert run.table(RECORDS).read()["title"].to_pylist() == ["Title 1"]


def test_delta_at_the_time_of_full_delivery_is_taken(run: Run) -> None:
    deliver(run, "sources/dblp/all", lines({"record_id": "dblp:1", "title": "All"}), mode="full")
    deliver(run, "sources/dblp/more", lines({"record_id": "dblp:2", "title": "More"}))
    intake(run)
    assert run.table(RECORDS).read()["record_id"].to_pylist() == ["dblp:1", "dblp:2"]


@pytest.mark.parametrize(
    ("published", "yanked", "parent"),
    [
        ([], [], None),
        (["t-20221201-aaaaaaaa", "t-20230101-bbbbbbbb"], [], "t-20230101-bbbbbbbb"),
        (["t-20221201-aaaaaaaa", "t-20230101-bbbbbbbb"], ["t-20230101-bbbbbbbb"], "t-20221201-aaaaaaaa"),
        (["t-20230101-bbbbbbbb"], ["t-20230101-bbbbbbbb"], None),
        (["t-20230101-aaaaaaaa", "t-20230101-bbbbbbbb"], [], "t-20230101-bbbbbbbb"),
        (["t-20230101-aaaaaaaa", "t-20230201-bbbbbbbb"], [], "t-20230101-aaaaaaaa"),  # Of this release's own day.
        (["t-20230201-aaaaaaaa", "t-20230301-bbbbbbbb"], [], None),  # A later release is not the parent of a backfill.
        (["other-20230101-aaaaaaaa"], [], None),
    ],
)
def test_parent_is_newest_earlier_published_snapshot(
    run: Run, published: list[str], yanked: list[str], parent: str | None
) -> None:
    deliver(run, "drops/a", {"a.pdf": b"%PDF"})
    for folder, snapshots in (("published", published), ("yanked", yanked)):
        for snapshot in snapshots:
            run.lake.put(f"snapshots/{snapshot.partition('-')[0]}/{folder}/{snapshot}", b"{}")
    intake(run)
    assert run.parent == parent


def test_latest_record_wins_within_its_bucket(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("s2corpus.stages.intake.BUCKET_BYTES", 600)
    monkeypatch.setattr("s2corpus.stages.intake._CHUNK_ROWS", 7)
    for month, title in ((1, "First"), (2, "Second"), (3, "Third")):
        some = ({"record_id": f"acl:{i:03d}", "title": f"{title} {i}"} for i in range(0, 90, month))
        deliver(run, f"sources/acl/{month}", lines(*some), f"2023-01-0{month}T00:00:00Z")
    intake(run)
    table = run.table(RECORDS)
    assert len(table.committed().parts) > 10
    titles: dict[str, str] = {}
    for part in range(len(table.committed().parts)):
        rows = table.read(["record_id", "title"], shard=part).to_pylist()
        assert rows == sorted(rows, key=lambda row: row["record_id"])
        titles |= {row["record_id"]: row["title"].split()[0] for row in rows}
    assert titles == {f"acl:{i:03d}": "Third" if i % 3 == 0 else "First" if i % 2 else "Second" for i in range(90)}
    assert not list(run.lake.list(f"releases/{run.release_id}/_buckets/")), "nothing is left of the buckets"


@pytest.mark.parametrize(("with_parent", "people"), [(False, {"ann", "bob", "cleo"}), (True, {"ann", "bob"})])
def test_people_who_delivered_new_data_are_recorded(run: Run, with_parent: bool, people: set[str]) -> None:
    """These people may not approve the release (docs/security.md). Refused or late drops do not count."""
    if with_parent:
        run.lake.put("snapshots/t/published/t-20230101-aaaaaaaa", b"{}")
    for at, (name, day, by) in enumerate(
        [
            ("d1", "01-03", "ann"),
            ("d0", "01-04", "ann"),
            ("d2", "01-01", "bob"),
            ("d3", "01-05", ""),
            ("d4", "02-01", "dan"),
        ]
    ):
        said(run, f"drops/{name}", f"2023-{day}T00:00:00Z", by, str(at).encode())
    said(run, "drops/d5", "2022-12-31T23:59:59Z", "cleo", b"5")
    run.lake.put("drops/d6/_READY", b'{"delivered_by": "eve"}')
    intake(run)
    found = run.table(DELIVERIES).committed().facts["delivered_by"]
    folders = {"ann": "drops/d1", "bob": "drops/d2", "cleo": "drops/d5"}
    assert found == {name: folders[name] for name in people}


def said(run: Run, folder: str, ready_at: str, by: str, data: bytes) -> None:
    deliver(run, folder, {"a.pdf": data}, ready_at)
    ready = json.loads(run.lake.get(f"{folder}/_READY")[0])
    run.lake.put(f"{folder}/_READY", json.dumps(ready | ({"delivered_by": by} if by else {})).encode())


@pytest.mark.parametrize(("pdfs", "shards"), [(0, 1), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (9, 3)])
def test_number_of_shards_follows_the_number_of_pdfs(run: Run, pdfs: int, shards: int) -> None:
    resources = run.spec.resources.model_copy(update={"pdfs_per_shard": 2, "max_shards": 3})
    small = Run(run.spec.model_copy(update={"resources": resources, "drops": []}), AS_OF, run.lake, run.scratch)
    if pdfs:
        small = Run(small.spec.model_copy(update={"drops": ["*"]}), AS_OF, run.lake, run.scratch)
        deliver(run, "drops/d", {f"{n}.pdf": str(n).encode() for n in range(pdfs)})
    deliver(run, "sources/dblp/1", lines({"record_id": "dblp:1", "title": "T"}))
    intake(small)
    committed = small.table(PDFS).committed()
    assert (committed.facts["pdf_shards"], len(committed.parts), committed.rows) == (shards, shards, pdfs)
