"""Intake takes deliveries that were ready before as_of, and refuses deliveries that differ from their `_READY` (SPEC §0)."""

import hashlib
from datetime import timedelta
from typing import Any

import orjson
import pytest

from s2corpus.deliveries import expected
from s2corpus.errors import UserError
from s2corpus.pipeline import quality, runner
from s2corpus.pipeline.funnel import build_funnel
from s2corpus.pipeline.run import Run, load_stage
from s2corpus.spec import ScheduleRules
from s2corpus.tables.intake import DELIVERIES, LATEX_SOURCES, NOTICES, PDFS, RECORDS
from tests.unit.s2corpus.deliveries.samples import AS_OF, PAPER, change_spec, deliver, intake, lines, records

READY_AT, LATE = "2023-01-01T00:00:00.000000Z", "2023-02-01T00:00:00.000000Z"
SECOND = "2023-01-02T00:00:00Z"


# -- Deliveries that are taken.


def row(kind: str, source: str, delivery: str, ready_at: str | None, outcome: str, **counted: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"detail": None, "files": 0, "rows": 0, "dropped": 0, "not_read": 0, "warnings": []}
    named = {"kind": kind, "source": source, "delivery": delivery, "ready_at": ready_at, "outcome": outcome}
    return named | empty | counted


def test_release_contains_what_it_expects_although_it_is_late(run: Run) -> None:
    """SPEC §0.22. The interval of a release as of February 1 starts on January 1."""
    assert run.as_of.isoformat() == "2023-02-01T00:00:00+00:00"
    expecting = change_spec(run, schedule=ScheduleRules(expects=("dblp/{year}-{month}-{day}", "a-{year}-{month}")))
    names = ["dblp/2023-01-01", "a-2023-01"]
    folders = expected.list_expected(expecting.spec, run.as_of)
    assert expected.find_missing(run.lake, folders) == names
    for folder in ("drops/a-2023-01", "drops/b-2023-01", "sources/dblp/2023-01-01"):
        deliver(
            run.lake, folder, lines({"record_id": "dblp:1", "title": "T"}) if "dblp" in folder else {"a.pdf": b"A"}, LATE,
        )  # fmt: skip
    assert expected.find_missing(run.lake, folders) == []
    intake(expecting)
    outcomes = {one["delivery"]: one["outcome"] for one in expecting.table(DELIVERIES).read().to_pylist()}
    assert outcomes == {"a-2023-01": "taken", "b-2023-01": "not_yet", "2023-01-01": "taken"}


def test_release_never_waits_for_what_it_does_not_select(run: Run) -> None:
    with pytest.raises(UserError, match=r"expects a-2023-01, but its drops: \['b\*'\] does not select it"):
        expected.list_expected(
            change_spec(run, drops=["b*"], schedule=ScheduleRules(expects=("a-{year}-{month}",))).spec, run.as_of
        )


@pytest.mark.parametrize("name", ["a/b/c", "../a", "a-{hour}", "a b", "", "{year", "/a", "a/"])
def test_wrong_expected_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="given; expected a drop, "):
        ScheduleRules(expects=(name,))


def test_funnel_begins_with_copies_and_files_that_no_release_reads(run: Run) -> None:
    described = lines({"name": "a.pdf", "title": "On a"})
    deliver(run.lake, "drops/a", {"a.pdf": b"A", "again.pdf": b"A", "readme.txt": b"R", **described})
    parsed = orjson.dumps({"name": "b.pdf", "metadata": {"title": "On b", "authors": []}})
    deliver(
        run.lake,
        "drops/b",
        {"sub/a.pdf": b"A", "b.pdf": b"B", "b.pdf.json": parsed, "s.gz": b"S", "notes.xml": b"<x/>"},
    )
    runner.run_stage(run, "intake")
    (step,) = build_funnel(quality.read_metrics(run))
    assert (step.label, step.count, step.left_out) == ("PDFs delivered", 2, [("copy", 2), ("not_read", 2)])


def test_every_selected_folder_has_a_row(run: Run) -> None:
    """A drop that is refused, unfinished or late delays no later drop."""
    declared = lines({"name": "a.pdf", "title": "On a"}, {"name": "z.pdf"})
    deliver(run.lake, "drops/a", {"a.pdf": b"A", "b.pdf": b"B", "s.gz": b"S", **declared})
    deliver(run.lake, "drops/changed", {"a.pdf": b"A"}, listed={"a.pdf": b"B"})
    deliver(run.lake, "drops/late", {"c.pdf": b"C"}, LATE, {"c.pdf": b"another"})
    run.lake.put("drops/unreadable/_READY", b"{")
    run.lake.put("drops/writing/a.pdf", b"A")
    deliver(run.lake, "drops/x-unselected", {"x.pdf": b"X"})
    deliver(run.lake, "drops/z", {"z.pdf": b"Z"}, "2023-01-31T23:59:59Z")
    deliver(run.lake, "sources/dblp/1", lines(*({"record_id": f"dblp:{n}", "title": "T"} for n in range(3))))
    deliver(run.lake, "sources/acl/1", lines({"record_id": "acl:1", "title": "T"}))
    seen = change_spec(run, drops=["[!x]*"], sources=["d*"])
    counts = intake(seen)
    rows = {(one["kind"], one["delivery"]): one for one in seen.table(DELIVERIES).read().to_pylist()}
    said = 'records.jsonl, line 2: name: "z.pdf" is not a file of the drop: the line is ignored'
    refused, late, unread = (rows[("drop", name)] for name in ("changed", "late", "unreadable"))
    assert list(rows.values()) == [
        row("drop", "", "a", READY_AT, "taken", files=4, rows=1, warnings=[said]),
        row("drop", "", "changed", READY_AT, "refused:changed", files=1, detail=refused["detail"]),
        row("drop", "", "late", LATE, "not_yet", files=1, detail=late["detail"]),
        row("drop", "", "unreadable", None, "refused:unreadable", detail=unread["detail"]),
        row("drop", "", "z", "2023-01-31T23:59:59.000000Z", "taken", files=1),
        row("delivery", "dblp", "1", READY_AT, "taken", files=1, rows=3),
    ]
    assert "a.pdf" in refused["detail"] and LATE in late["detail"] and unread["detail"].startswith("_READY: ")
    assert counts == {
        "pdfs": 3, "latex_sources": 1, "articles": 0, "records": 4, "run.rows": 6, "outcome.taken": 3, "run.outcome.not_yet": 1,
        "run.outcome.refused:changed": 1, "run.outcome.refused:unreadable": 1,
    }  # fmt: skip
    quality.measure(seen, "intake", counts)
    offending = {verdict.check: verdict.rows for verdict in quality.evaluate(seen, "intake")}
    assert [row["delivery"] for row in offending["nothing_refused"]] == ["changed", "unreadable"]


def test_drop_delivered_during_the_stage_waits_for_next_run(run: Run) -> None:
    deliver(run.lake, "drops/a", {"a.pdf": b"A"})
    shards = runner.plan(run, "intake")
    deliver(run.lake, "drops/b", {"b.pdf": b"B"})
    runner.work(run, "intake", shards)
    runner.run_rounds(run, "intake", first=1)
    load_stage("intake").finish(run)
    assert run.table(PDFS).committed().rows == 1
    intake(run)
    assert run.table(PDFS).committed().rows == 2


def test_drop_pattern_without_match_is_an_error(run: Run) -> None:
    """A corpus of abstracts needs no drops."""
    with pytest.raises(UserError, match="existing drops: none"):
        runner.plan(run, "intake")
    deliver(run.lake, "sources/dblp/1", lines(PAPER))
    assert len(runner.plan(run, "intake")) == 2
    deliver(run.lake, "drops/x", {"a.pdf": b"A"})
    with pytest.raises(UserError, match=r"matches no drop in .*; existing drops: x\."):
        runner.plan(change_spec(run, drops=["x*", "y*"]), "intake")


# -- Facts about the release.


def test_inputs_list_taken_deliveries_and_suppressions(run: Run) -> None:
    deliver(run.lake, "drops/b", {"a.pdf": b"A"})
    deliver(run.lake, "drops/late", {"c.pdf": b"C"}, LATE)
    digest = hashlib.sha256(run.lake.get("drops/b/_READY")[0]).hexdigest()[:16]
    for suppressed in (b"", b'{"sha1": "a", "reason": "asked"}\n'):
        if suppressed:
            run.lake.put("suppress.jsonl", suppressed)
        intake(run)
        inputs = [["drop", "", "b", digest], hashlib.sha256(suppressed).hexdigest() if suppressed else "", ""]
        expected = hashlib.sha256(orjson.dumps(inputs)).hexdigest()
        assert run.table(DELIVERIES).committed().facts == {"inputs": expected, "parent": None, "delivered_by": {}}
        assert run.lake.get(f"releases/{run.release_id}/suppress.jsonl")[0] == suppressed


@pytest.mark.parametrize(
    ("published", "yanked", "parent"),
    [
        ([], [], None),
        (["t-20221201-aaaaaaaa", "t-20230101-bbbbbbbb"], [], "t-20230101-bbbbbbbb"),
        (["t-20221201-aaaaaaaa", "t-20230101-bbbbbbbb"], ["t-20230101-bbbbbbbb"], "t-20221201-aaaaaaaa"),
        (["t-20230101-aaaaaaaa", "t-20230201-bbbbbbbb"], [], "t-20230101-aaaaaaaa"),  # Of this release's own day.
        (["t-20230201-aaaaaaaa", "t-20230301-bbbbbbbb"], [], None),  # A later release is not the parent of a backfill.
        (["other-20230101-aaaaaaaa"], [], None),
    ],
)
def test_parent_is_newest_earlier_published_snapshot(
    run: Run, published: list[str], yanked: list[str], parent: str | None
) -> None:
    deliver(run.lake, "drops/a", {"a.pdf": b"%PDF"})
    for folder, snapshots in (("published", published), ("yanked", yanked)):
        for snapshot in snapshots:
            run.lake.put(f"snapshots/{snapshot.partition('-')[0]}/{folder}/{snapshot}", b"{}")
    intake(run)
    assert run.parent == parent
    own = change_spec(run, profile="own")
    intake(own)
    assert own.parent == parent, "a corpus of own papers grows too"


def test_people_who_delivered_since_the_parent_are_recorded(run: Run) -> None:
    """These people may not approve the release (docs/security.md). Refused or late drops do not count."""
    run.lake.put("snapshots/t/published/t-20230101-aaaaaaaa", b"{}")
    for drop, by, day in (("d1", "ann", "03"), ("d0", "ann", "04"), ("d2", "bob", "01")):
        deliver(run.lake, f"drops/{drop}", {"a.pdf": drop.encode()}, f"2023-01-{day}T00:00:00Z", delivered_by=by)
    deliver(run.lake, "drops/late", {"a.pdf": b"late"}, LATE, delivered_by="dan")
    deliver(run.lake, "drops/old", {"a.pdf": b"old"}, "2022-12-31T00:00:00Z", delivered_by="cleo")
    run.lake.put("drops/d6/_READY", b'{"delivered_by": "eve"}')
    intake(run)
    assert run.table(DELIVERIES).committed().facts["delivered_by"] == {"ann": "drops/d1", "bob": "drops/d2"}


# -- Records.


def test_latest_record_wins_and_tombstone_deletes_it(run: Run) -> None:
    """The last line of the last file of a delivery wins; of deliveries of the same instant, the one with the greatest id."""
    gone = {"record_id": "dblp:2", "title": "Gone"}
    deliver(run.lake, "sources/dblp/z", lines({**PAPER, "title": "Old"}, gone))
    first, second, third = ({**PAPER, "title": f"Title {n}"} for n in (1, 2, 3))
    files = lines(second, second, third, name="a/records.jsonl") | lines(second, first, name="b/records.jsonl")
    deliver(run.lake, "sources/dblp/c", files, SECOND)
    deliver(run.lake, "sources/dblp/b", lines(PAPER, {"record_id": "dblp:2", "deleted": True}), SECOND)
    intake(run)
    assert [(r["record_id"], r["title"]) for r in records(run).values()] == [("dblp:1", "Title 1")]


def test_latest_record_wins_within_its_bucket(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("s2corpus.stages.intake.BUCKET_BYTES", 600)
    monkeypatch.setattr("s2corpus.stages.intake._CHUNK_ROWS", 7)
    for month, title in ((1, "First"), (2, "Second"), (3, "Third")):
        some = ({"record_id": f"acl:{i:03d}", "title": f"{title} {i}"} for i in range(0, 90, month))
        deliver(run.lake, f"sources/acl/{month}", lines(*some), f"2023-01-0{month}T00:00:00Z")
    intake(run)
    assert len(run.table(RECORDS).committed().parts) > 10
    titles = {id_: row["title"].split()[0] for id_, row in records(run).items()}
    assert titles == {f"acl:{i:03d}": "Third" if i % 3 == 0 else "First" if i % 2 else "Second" for i in range(90)}
    assert not list(run.lake.list(f"releases/{run.release_id}/_buckets/")), "nothing is left of the buckets"


def test_full_delivery_supersedes_its_source_but_no_drop(run: Run) -> None:
    """The latest full delivery wins. Deliveries of the same instant and later deliveries remain."""
    before = "2022-12-01T00:00:00Z"
    deliver(run.lake, "drops/d", {"a.pdf": b"A", **lines({"name": "a.pdf", "title": "On a"})}, before)
    deliver(run.lake, "sources/acl/1", lines({"record_id": "acl:1", "title": "T"}), before)
    for number, given in enumerate(("1 delta", "2 full", "3 delta", "4 full", "4 delta", "5 delta")):
        day, mode = given.split()
        record = lines({"record_id": f"dblp:{number}", "title": "T"})
        deliver(run.lake, f"sources/dblp/{number}", record, f"2023-01-0{day}T00:00:00Z", mode=mode)
    intake(run)
    assert list(records(run)) == ["acl:1", "dblp:3", "dblp:4", "dblp:5", "declared:d/a.pdf"]


def test_notices_are_unique_and_ordered(run: Run) -> None:
    """Only a work's own source may report a notice: a notice in a generic line is ignored."""

    def notice(doi: str, *about: tuple[str, str]) -> dict[str, Any]:
        return {"DOI": doi, "title": ["N"], "update-to": [{"DOI": other, "type": kind} for other, kind in about]}

    works = [
        notice("10.1000/n2", ("10.1000/B", "retraction"), ("10.1000/a", "correction"), ("10.1000/a", "correction")),
        notice("10.1000/n1", ("10.1000/a", "retraction"), ("10.1000/a", "correction")),
        notice("10.1000/n3"),
    ]
    deliver(run.lake, "sources/crossref/1", lines(*works, name="works.jsonl"))
    claimed = [{"about": "doi:10.1000/a", "status": "retracted"}]
    deliver(run.lake, "sources/own/1", lines({"record_id": "own:1", "title": "A paper", "notices": claimed}))
    assert intake(run)["records"] == 3
    assert [tuple(one.values()) for one in run.table(NOTICES).read().to_pylist()] == [
        ("doi:10.1000/a", "corrected", "crossref:10.1000/n1"), ("doi:10.1000/a", "corrected", "crossref:10.1000/n2"),
        ("doi:10.1000/a", "retracted", "crossref:10.1000/n1"), ("doi:10.1000/b", "retracted", "crossref:10.1000/n2"),
    ]  # fmt: skip


@pytest.mark.parametrize(("days", "license"), [(0, "CC-BY-4.0"), (1, None)])
def test_embargoed_license_is_valid_from_its_start_date(run: Run, days: int, license: str | None) -> None:
    start = (AS_OF + timedelta(days=days)).date()
    dates = {"delay-in-days": 365, "start": {"date-parts": [[start.year, start.month, start.day]]}}
    license_of_work = {"URL": "http://creativecommons.org/licenses/by/4.0/", "content-version": "am", **dates}
    work = {"DOI": "10.1016/j.x.2020.1", "title": ["T"], "license": [license_of_work]}
    deliver(run.lake, "sources/crossref/1", lines(work, name="works.jsonl"))
    intake(run)
    (record,) = records(run).values()
    assert record["license"] == license
    assert record["later_licenses"] == [{"license": "CC-BY-4.0", "start": start.isoformat()}]


# -- Files.


def test_same_bytes_in_two_drops_are_one_pdf(run: Run) -> None:
    deliver(run.lake, "drops/second", {"z.pdf": b"%PDF"}, SECOND)
    deliver(run.lake, "drops/first", {"a.pdf": b"%PDF", "readme.txt": b"no paper"}, "2023-01-01T10:00:00+01:00")
    intake(run)
    (pdf,) = run.table(PDFS).read().to_pylist()
    assert pdf["file_sha1"] == hashlib.sha1(b"%PDF").hexdigest()
    assert [(place["drop"], place["name"]) for place in pdf["places"]] == [("first", "a.pdf"), ("second", "z.pdf")]
    assert pdf["first_seen"] == "2023-01-01T09:00:00.000000Z"


# -- ScienceParse names its files by the PDF (allenai/PeerRead: `104.pdf.json`, `1506.02432v2.pdf.json`).


def parsed(name: str | None, title: str) -> bytes:
    named = {} if name is None else {"name": name}
    return orjson.dumps(
        {**named, "metadata": {"source": "CRF", "title": title, "authors": ["Ann Lee"], "sections": []}}
    )


def sha1(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


def test_drop_resolves_scienceparse_names_to_its_pdfs(run: Run) -> None:
    files = {
        "pdfs/104.pdf": b"A", "pdfs/1506.02432v2.pdf": b"B", "a/7.pdf": b"C", "b/7.pdf": b"D",
        "parsed/104.pdf.json": parsed("104.pdf", "On a"), "parsed/1506.02432v2.pdf.json": parsed("1506.02432v2.pdf", "On b"),
        "parsed/sha1.json": parsed(f"{sha1(b'C')}.pdf", "On c"), "7.pdf.json": parsed("7.pdf", "On two PDFs"),
        "9.pdf.json": parsed("9.pdf", "On no PDF"), "other.pdf.json": parsed(f"{'0' * 40}.pdf", "On another drop's PDF"),
    }  # fmt: skip
    deliver(run.lake, "drops/d", files)
    intake(run)
    found = {row["record_id"]: (row["title"], row["kind"], row["file_sha1"]) for row in records(run).values()}
    of = {title: sha1(content) for title, content in (("On a", b"A"), ("On b", b"B"), ("On c", b"C"))}
    assert found == {f"scienceparse:{sha1}": (title, "pdf", sha1) for title, sha1 in of.items()}
    (row,) = run.table(DELIVERIES).read().to_pylist()
    assert (row["outcome"], row["rows"], row["dropped"]) == ("taken", 3, 3)


def test_delivery_resolves_scienceparse_names_by_its_mapping_file(run: Run) -> None:
    mapping = f"name,file_sha1\n104.pdf,{sha1(b'A')}\n1506.02432v2,{sha1(b'B').upper()}\n"
    files = {
        "file_sha1.csv": mapping.encode(), "104.pdf.json": parsed("104.pdf", "On a"), "9.pdf.json": parsed("9.pdf", "T"),
        "1506.02432v2.pdf.json": parsed(None, "On b"),
    }  # fmt: skip
    deliver(run.lake, "sources/scienceparse/1", files)
    deliver(run.lake, "sources/scienceparse/2", {"file_sha1.csv": b"name,file_sha1\n104.pdf,unknown\n"})
    intake(run)
    assert {row["title"]: row["file_sha1"] for row in records(run).values()} == {"On a": sha1(b"A"), "On b": sha1(b"B")}
    first, second = run.table(DELIVERIES).read().to_pylist()
    assert (first["rows"], first["dropped"], second["outcome"]) == (2, 1, "refused:bad_records")
    assert second["detail"].startswith("file_sha1.csv, line 2: expected name,file_sha1 with 40 hex digits")


def test_latex_source_has_arxiv_id_of_name_or_declaration(run: Run) -> None:
    ids = {"sub/1911.02782v3.tar.gz": "1911.02782", "hep-th9711200.gz": "hep-th/9711200", "declared.gz": "1706.03762"}
    declared = lines({"name": "declared.gz", "arxiv_id": "arXiv:1706.03762v1"})
    deliver(run.lake, "drops/one", {name: name.encode() for name in ids} | declared)
    intake(run)
    found = {row["archive_sha1"]: row["arxiv_id"] for row in run.table(LATEX_SOURCES).read().to_pylist()}
    assert found == {hashlib.sha1(name.encode()).hexdigest(): id_ for name, id_ in ids.items()}
