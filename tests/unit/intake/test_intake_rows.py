"""Intake writes complete rows and counts, and computes the numbers of buckets, shards and ranges."""

from __future__ import annotations

import hashlib
import json
import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from s2corpus.deliveries.ready import read_ready
from s2corpus.errors import UserError
from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from s2corpus.tables.intake import DELIVERIES, LATEX_SOURCES, NOTICES, PDFS, RECORDS
from s2corpus.tables.schema import pdf_shard
from tests.unit.intake.test_intake import AS_OF, deliver, intake, lines

WHEN, LATE = "2023-01-01T00:00:00.000000Z", "2023-02-01T00:00:00.000000Z"


@pytest.fixture
def run(lake: Lake, tmp_path: Path) -> Run:
    return Run(ReleaseSpec(name="t"), AS_OF, lake, tmp_path)


def change_spec(run: Run, **changed: Any) -> Run:
    """Return the run of a changed spec over the same lake."""
    return Run(run.spec.model_copy(update=changed), run.as_of, run.lake, run.scratch)


def row(kind: str, source: str, delivery: str, ready_at: str | None, outcome: str, **counted: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"detail": None, "files": 0, "rows": 0, "dropped": 0, "warnings": []}
    named = {"kind": kind, "source": source, "delivery": delivery, "ready_at": ready_at, "outcome": outcome}
    return named | empty | counted


def test_every_selected_folder_has_a_row(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    declared = lines({"name": "a.pdf", "title": "On a"}, {"name": "z.pdf"})["records.jsonl"] + b"7\n"
    deliver(run, "drops/a", {"a.pdf": b"A", "b.pdf": b"B", "s.gz": b"S", "records.jsonl": declared})
    deliver(run, "drops/changed", {"a.pdf": b"A"}, listed={"a.pdf": b"B"})
    deliver(run, "drops/late", {"c.pdf": b"C"}, LATE)
    run.lake.put("drops/unreadable/_READY", b"{")
    run.lake.put("drops/writing/a.pdf", b"A")
    deliver(run, "sources/dblp/1", lines(*({"record_id": f"dblp:{n}", "title": "T"} for n in range(3))))
    deliver(run, "sources/acl/1", lines({"record_id": "acl:1", "title": "T"}))
    seen = change_spec(run, sources=["d*"])
    with caplog.at_level(logging.WARNING):
        counts = intake(seen)
    rows = {(one["kind"], one["delivery"]): one for one in seen.table(DELIVERIES).read().to_pylist()}
    said = "records.jsonl, line 2: name: \"z.pdf\" is not a file of the drop: the line is ignored", (
        "records.jsonl, line 3: is int: expected a JSON object"
    )  # fmt: skip
    assert rows[("drop", "a")] == row("drop", "", "a", WHEN, "taken", files=4, rows=1, dropped=1, warnings=list(said))
    refused = rows[("drop", "changed")]
    assert refused == row("drop", "", "changed", WHEN, "refused:changed", files=1, detail=refused["detail"])
    assert "a.pdf" in refused["detail"]
    late = rows[("drop", "late")]
    assert late == row("drop", "", "late", LATE, "not_yet", files=1, detail=late["detail"])
    assert LATE in late["detail"]
    unread = rows[("drop", "unreadable")]
    assert unread == row("drop", "", "unreadable", None, "refused:unreadable", detail=unread["detail"])
    assert unread["detail"].startswith("_READY: ")
    assert rows[("delivery", "1")] == row("delivery", "dblp", "1", WHEN, "taken", files=1, rows=3)
    assert len(rows) == 5
    assert counts == {
        "pdfs": 2, "latex_sources": 1, "articles": 0, "records": 4, "rows": 5, "outcome.taken": 2, "outcome.not_yet": 1,
        "outcome.refused:changed": 1, "outcome.refused:unreadable": 1,
    }  # fmt: skip
    assert [r.getMessage() for r in caplog.records if r.name == "s2corpus.stages.intake"] == [
        f"drop changed is refused: changed: {refused['detail']}"
    ]


def test_inputs_list_taken_deliveries_and_suppressions(run: Run) -> None:
    deliver(run, "drops/b", {"a.pdf": b"A"})
    deliver(run, "drops/late", {"c.pdf": b"C"}, LATE)
    deliver(run, "sources/dblp/1", lines({"record_id": "dblp:1", "title": "T"}))
    folders = (("drop", "", "b"), ("delivery", "dblp", "1"))
    named = [[*folder, read_ready(run.lake, *folder).digest] for folder in folders]  # type: ignore[union-attr, arg-type]  # each folder has a _READY
    for suppressed in (None, b'{"sha1": "a", "reason": "asked"}\n'):
        if suppressed is not None:
            run.lake.put("suppress.jsonl", suppressed)
        intake(run)
        digest = hashlib.sha256(suppressed).hexdigest() if suppressed else ""
        expected = hashlib.sha256(orjson.dumps([*named, digest])).hexdigest()
        assert run.table(DELIVERIES).committed().facts == {"inputs": expected, "parent": None, "delivered_by": {}}
        assert run.lake.get(f"releases/{run.release_id}/suppress.jsonl")[0] == (suppressed or b"")


@pytest.mark.parametrize(
    ("count", "some"), [(1, "x0"), (5, "x0, x1, x2, x3, x4"), (6, "x0, x1, x2, x3, x4 and 1 more")]
)
def test_error_of_unmatched_pattern_lists_existing_drops(run: Run, count: int, some: str) -> None:
    for n in range(count):
        deliver(run, f"drops/x{n}", {"a.pdf": b"A"})
    with pytest.raises(UserError) as refused:
        runner.plan(change_spec(run, drops=["x*", "y*"]), "intake")
    uri = run.lake.uri("drops/")
    assert str(refused.value) == (
        f"drops: the pattern 'y*' of spec t matches no drop in {uri}; "
        f"existing drops: {some}. Correct the pattern, or deliver first (docs/drops.md)"
    )


@pytest.mark.parametrize(("pattern", "refused"), [("*", False), ("**", True), ("2023-*", True)])
def test_corpus_of_abstracts_needs_no_drops(run: Run, pattern: str, refused: bool) -> None:
    deliver(run, "sources/dblp/1", lines({"record_id": "dblp:1", "title": "T"}))
    if refused:
        with pytest.raises(UserError, match="existing drops: none"):
            runner.plan(change_spec(run, drops=[pattern]), "intake")
    else:
        assert len(runner.plan(change_spec(run, drops=[pattern]), "intake")) == 2


@pytest.mark.parametrize(("spare", "buckets"), [(-1, 2), (0, 1), (1, 1)])
def test_number_of_buckets_follows_bytes_of_metadata(
    run: Run, spare: int, buckets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only accepted metadata counts: late and unreadable drops do not. Without metadata, there is one bucket."""
    monkeypatch.setattr("s2corpus.stages.intake.BUCKET_BYTES", 1)
    none = change_spec(run, drops=[])
    runner.plan(none, "intake")
    assert none.read_plan("intake")[-1].params["buckets"] == 1
    content = lines({"record_id": "dblp:1", "title": "T"})
    deliver(run, "sources/dblp/1", content)
    deliver(run, "sources/dblp/2", content, LATE)
    deliver(run, "drops/a", {"a.pdf": b"A" * 9000})
    run.lake.put("drops/unreadable/_READY", b"{")
    monkeypatch.setattr("s2corpus.stages.intake.BUCKET_BYTES", len(content["records.jsonl"]) + 2048 + spare)
    runner.plan(run, "intake")
    shards = run.read_plan("intake")
    assert [shard.params["buckets"] for shard in shards] == [buckets] * 5
    assert [shard.index for shard in shards] == list(range(5))


def at_place(place: int, places: int) -> bytes:
    """Return content with a SHA-1 in range number `place` of `places` equal ranges."""
    return next(
        data
        for data in map(str.encode, map(str, range(1 << 20)))
        if pdf_shard(hashlib.sha1(data).hexdigest(), places) == place
    )


def test_files_at_limits_of_ranges_are_in_their_shard(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 10 ranges in 4 shards, the third and the eighth range are each divided between two shards."""
    monkeypatch.setattr("s2corpus.stages.intake._RANGES", 10)
    resources = run.spec.resources.model_copy(update={"pdfs_per_shard": 10, "max_shards": 9})
    contents = {f"{place}.pdf": at_place(place, 40) for place in range(40)}
    deliver(run, "drops/d", contents)
    small = change_spec(run, resources=resources)
    assert intake(small)["pdfs"] == 40
    for shard in range(4):
        found = small.table(PDFS).read(shard=shard).to_pylist()
        assert {pdf["places"][0]["name"] for pdf in found} == {
            f"{place}.pdf" for place in range(10 * shard, 10 * shard + 10)
        }


def test_most_frequent_kind_of_file_decides_number_of_shards(run: Run) -> None:
    """Each content counts once per drop. Publishers' full texts of all formats count together."""
    resources = run.spec.resources.model_copy(update={"pdfs_per_shard": 1, "max_shards": 9})
    jats = {f"{n}.xml": f"<article><body><p>Text {n}.</p></body></article>".encode() for n in range(2)}
    elsevier = {f"{n}.json": json.dumps({"docId": f"S{n}", "body_text": []}).encode() for n in range(2)}
    deliver(run, "drops/a", {"a.pdf": b"A", "b.pdf": b"B", "again.pdf": b"A", "s.gz": b"S", **jats, **elsevier})
    deliver(run, "drops/b", {"a.pdf": b"C", "s.gz": b"T"}, "2023-01-02T00:00:00Z")
    small = change_spec(run, resources=resources)
    counts = intake(small)
    assert (counts["pdfs"], counts["latex_sources"], counts["articles"]) == (3, 2, 4)
    assert small.table(PDFS).committed().facts == {"pdf_shards": 4}


def test_full_delivery_supersedes_its_source_but_no_drop(run: Run) -> None:
    """The latest full delivery wins. Deliveries of the same instant and later deliveries remain."""
    deliver(run, "drops/d", {"a.pdf": b"A", **lines({"name": "a.pdf", "title": "On a"})}, "2022-12-01T00:00:00Z")
    for number, (day, mode) in enumerate(
        [(1, "delta"), (2, "full"), (3, "delta"), (4, "full"), (4, "delta"), (5, "delta")]
    ):
        deliver(
            run,
            f"sources/dblp/{number}",
            lines({"record_id": f"dblp:{number}", "title": "T"}),
            f"2023-01-0{day}T00:00:00Z",
            mode,
        )
    deliver(run, "sources/acl/1", lines({"record_id": "acl:1", "title": "T"}), "2022-12-01T00:00:00Z")
    intake(run)
    assert run.table(RECORDS).read()["record_id"].to_pylist() == [
        "acl:1",
        "dblp:3",
        "dblp:4",
        "dblp:5",
        "declared:d/a.pdf",
    ]


def test_notices_are_unique_and_ordered(run: Run) -> None:
    def notice(doi: str, *about: tuple[str, str]) -> dict[str, Any]:
        return {"DOI": doi, "title": ["N"], "update-to": [{"DOI": other, "type": kind} for other, kind in about]}

    works = [
        notice("10.1000/n2", ("10.1000/b", "retraction"), ("10.1000/a", "correction"), ("10.1000/a", "correction")),
        notice("10.1000/n1", ("10.1000/a", "retraction"), ("10.1000/a", "correction")),
        notice("10.1000/n3"),
    ]
    content = b"".join(orjson.dumps(work) + b"\n" for work in works)
    deliver(run, "sources/crossref/1", {"works.jsonl": content})
    intake(run)
    assert [tuple(one.values()) for one in run.table(NOTICES).read().to_pylist()] == [
        ("doi:10.1000/a", "corrected", "crossref:10.1000/n1"), ("doi:10.1000/a", "corrected", "crossref:10.1000/n2"),
        ("doi:10.1000/a", "retracted", "crossref:10.1000/n1"), ("doi:10.1000/b", "retracted", "crossref:10.1000/n2"),
    ]  # fmt: skip


def test_release_of_own_papers_has_no_parent(run: Run) -> None:
    run.lake.put("snapshots/t/published/t-20230101-aaaaaaaa", b"{}")
    deliver(run, "drops/a", {"a.pdf": b"A"})
    intake(run)
    assert run.table(DELIVERIES).committed().facts["parent"] == "t-20230101-aaaaaaaa"
    own = change_spec(run, profile="own")
    intake(own)
    assert own.table(DELIVERIES).committed().facts["parent"] is None


def test_sources_and_pdfs_of_one_shard_are_separate(run: Run) -> None:
    deliver(run, "drops/a", {"a.pdf": b"A", "s.gz": b"S", "t.gz": b"T"})
    intake(run)
    assert [len(run.table(table).read()) for table in (PDFS, LATEX_SOURCES)] == [1, 2]
    assert run.table(LATEX_SOURCES).committed().facts == {"pdf_shards": 1}


@pytest.mark.parametrize(
    ("days", "licence"), [(-1, "CC-BY-4.0"), (0, "CC-BY-4.0"), (1, "https://www.elsevier.com/tdm/userlicense/1.0/")]
)
def test_embargoed_license_is_valid_from_its_start_date(run: Run, days: int, licence: str) -> None:
    start = (AS_OF + timedelta(days=days)).date()
    licences = [
        {"URL": "https://www.elsevier.com/tdm/userlicense/1.0/", "content-version": "tdm"},
        {"URL": "http://creativecommons.org/licenses/by/4.0/", "content-version": "am", "delay-in-days": 365,
         "start": {"date-parts": [[start.year, start.month, start.day]]}},
    ]  # fmt: skip
    work = {"DOI": "10.1016/j.x.2020.1", "type": "journal-article", "title": ["T"], "license": licences}
    deliver(run, "sources/crossref/1", {"works.jsonl": orjson.dumps(work)})
    intake(run)
    (record,) = run.table(RECORDS).read().to_pylist()
    assert record["licence"] == licence
    assert record["later_licences"] == [{"licence": "CC-BY-4.0", "start": start.isoformat()}]
