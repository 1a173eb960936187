"""A drop describes only its own files, and a delivery only its source's records.

Unusable lines are reported (SPEC §0.10–0.14).
"""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

import pytest

from s2corpus.deliveries import status
from s2corpus.drops import processing
from s2corpus.pipeline import quality
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from s2corpus.tables.intake import DELIVERIES, LATEX_SOURCES, PDFS, RECORDS
from tests.unit.intake.test_intake import AS_OF, deliver, intake, lines

CROSSREF = {"record_id": "crossref:10.1016/x", "title": "As registered", "doi": "10.1016/x", "kind": "publisher"}


@pytest.fixture
def run(lake: Lake, tmp_path: Path) -> Run:
    return Run(ReleaseSpec(name="t"), AS_OF, lake, tmp_path)


def outcome(run: Run, delivery: str = "d") -> dict[str, Any]:
    intake(run)
    (row,) = [row for row in run.table(DELIVERIES).read().to_pylist() if row["delivery"] == delivery]
    found: dict[str, Any] = row
    return found


def records(run: Run) -> dict[str, dict[str, Any]]:
    return {row["record_id"]: row for row in run.table(RECORDS).read().to_pylist()}


def places(run: Run) -> list[dict[str, Any]]:
    return [place for pdf in run.table(PDFS).read().to_pylist() for place in pdf["places"]]


def offending(run: Run, check: str) -> list[dict[str, Any]]:
    (verdict,) = [v for v in quality.evaluate(run, "intake") if v.check == check]
    return verdict.rows


# -- A drop describes only its own files.


@pytest.mark.parametrize(
    ("claim", "key"),
    [
        ({**CROSSREF, "title": "Rewritten"}, "record_id"),  # Would replace a Crossref record.
        ({"record_id": "crossref:10.1016/x", "deleted": True}, "record_id"),  # Would delete a Crossref record.
        # Would claim Unpaywall's openness.
        ({"source": "unpaywall", "doi": "10.1016/x", "open_access": True}, "source"),
        ({"record_id": f"grobid:{'a' * 40}", "title": "T"}, "record_id"),  # Would stop every later release.
        ({"kind": "publisher", "title": "T"}, "kind"),
        ({"deleted": False}, "deleted"),
    ],
)
def test_drop_that_claims_other_records_is_refused(run: Run, claim: dict[str, object], key: str) -> None:
    deliver(run, "sources/crossref/1", lines(CROSSREF))
    deliver(run, "drops/d", {"a.pdf": b"A", **lines({"name": "a.pdf", "title": "On a"}, {"name": "a.pdf", **claim})})
    row = outcome(run)
    assert row["outcome"] == "refused:bad_records"
    assert row["detail"].startswith(f"records.jsonl, line 2: {key}: ")
    assert [(r["title"], r["open_access"]) for r in records(run).values()] == [("As registered", None)]
    assert run.table(PDFS).committed().rows == 0


@pytest.mark.parametrize(
    ("promise", "said"),
    [
        ({"open_access": "yes"}, 'open_access: "yes" given, true or false expected'),
        ({"open_access": 1}, "open_access: 1 given, true or false expected"),
        ({"open_access": None}, "open_access: null given, true or false expected"),
        ({"licence": ["CC-BY"]}, 'licence: ["CC-BY"] given, a text expected'),
        ({"ready_at": 20230101}, "ready_at: 20230101 given, a text expected"),
    ],
)
def test_declaration_of_wrong_type_refuses_the_drop(run: Run, promise: dict[str, object], said: str) -> None:
    deliver(run, "drops/d", {"a.pdf": b"A", **lines({"name": "a.pdf", **promise})})
    row = outcome(run)
    assert (row["outcome"], row["detail"]) == ("refused:bad_records", f"records.jsonl, line 1: {said}")


# -- Declared facts are used.


def test_declared_metadata_is_a_record_of_the_file(run: Run) -> None:
    said = {
        "name": "a.pdf",
        "title": "On a",
        "authors": ["Ada Byron"],
        "doi": "10.1016/a",
        "published": "2021-05",
        "licence": "CC-BY-4.0",
    }
    deliver(run, "drops/d", {"a.pdf": b"A", "b.pdf": b"B", **lines(said, {"name": "b.pdf", "open_access": True})})
    assert outcome(run)["warnings"] == []
    ((record_id, record),) = records(run).items()
    (sha1,) = [p["file_sha1"] for p in run.table(PDFS).read().to_pylist() if p["places"][0]["name"] == "a.pdf"]
    assert (record_id, record["source"], record["kind"]) == ("declared:d/a.pdf", "declared", "archive")
    assert (record["title"], record["authors"][0]["last"], record["doi"]) == ("On a", "Byron", "10.1016/a")
    assert (record["date"], record["file_sha1"], record["open_access"]) == ("2021-05", sha1, None)
    assert {(p["name"], p["open_access"], p["licence"]) for p in places(run)} == {
        ("a.pdf", None, "CC-BY-4.0"),
        ("b.pdf", True, None),
    }


def test_file_may_be_named_by_uppercase_sha1(run: Run) -> None:
    sha1 = "6DCD4CE23D88E2EE9568BA546C007C63D9131C1B"  # The SHA-1 of "A".
    deliver(run, "drops/d", {"a.pdf": b"A", **lines({"file_sha1": sha1, "title": "On a", "open_access": False})})
    assert outcome(run)["warnings"] == []
    assert records(run)["declared:d/a.pdf"]["file_sha1"] == sha1.lower()
    assert [place["open_access"] for place in places(run)] == [False]


def test_latex_source_has_its_declared_facts(run: Run) -> None:
    said = {"name": "s.gz", "arxiv_id": "1706.03762v5", "title": "Attention", "open_access": False}
    deliver(run, "drops/d", {"s.gz": b"S", **lines(said)})
    assert outcome(run)["warnings"] == []
    (source,) = run.table(LATEX_SOURCES).read().to_pylist()
    assert (source["arxiv_id"], source["places"][0]["open_access"]) == ("1706.03762", False)
    record = records(run)["declared:d/s.gz"]
    assert (record["arxiv_id"], record["file_sha1"]) == ("1706.03762", None)


@pytest.mark.parametrize("declared", [b'{"name": "a.pdf", "title": "On a"}\n', b'{"name": "a.pdf", "title": "On a"}'])
def test_byte_order_mark_is_ignored(run: Run, declared: bytes) -> None:
    deliver(run, "drops/d", {"a.pdf": b"A", "records.jsonl": codecs.BOM_UTF8 + declared})
    deliver(run, "sources/crossref/1", {"records.jsonl": codecs.BOM_UTF8 + json.dumps(CROSSREF).encode()})
    assert outcome(run)["warnings"] == []
    assert set(records(run)) == {"declared:d/a.pdf", "crossref:10.1016/x"}


# -- Unusable declarations are reported by file, line and key, and the drop is accepted.


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"name": "a.pdf", "titel": "On a"}, "titel: is not a key"),
        ({"name": "b.pdf", "title": "On b"}, 'name: "b.pdf" is not a file of the drop'),
        ({"name": ["a.pdf"], "title": "On a"}, 'name: ["a.pdf"] is not a file of the drop'),
        ({"file_sha1": "0" * 40}, f'file_sha1: "{"0" * 40}" is not a file of the drop'),
        ({"name": "a.pdf", "file_sha1": "0" * 40}, 'name: "a.pdf" is not a file of the drop, with that file_sha1'),
        ({"title": "On a"}, "name: is missing"),
        ({"name": "a.pdf", "title": 7}, "title: 7 cannot be used"),
        ({"name": "a.pdf", "title": "On a", "doi": "see below"}, 'doi: "see below" cannot be used'),
        ({"name": "a.pdf", "title": "On a", "published": "soon"}, 'published: "soon" cannot be used'),
        ({"name": "a.pdf", "title": "On a", "authors": ["Ada Byron", 7]}, "authors: 1 of 2 cannot be used"),
    ],
)
def test_unusable_key_is_a_warning_with_line_and_key(run: Run, line: dict[str, object], said: str) -> None:
    deliver(run, "drops/d", {"a.pdf": b"A", **lines({"name": "a.pdf", "venue": "ACL"}, line)})
    row = outcome(run)
    assert row["outcome"] == "taken" and run.table(PDFS).committed().rows == 1
    assert any(warning.startswith(f"records.jsonl, line 2: {said}") for warning in row["warnings"]), row["warnings"]
    warned = [row["warning"] for row in offending(run, "declarations_are_usable")]
    assert sorted(warned) == sorted(row["warnings"])


@pytest.mark.parametrize("line", [b"{", b"[]", b"\xff\xfe", b"null", b'{"name": "a.pdf", "title": "On a"} trailing'])
def test_line_without_json_object_is_a_warning(run: Run, line: bytes) -> None:
    deliver(run, "drops/d", {"a.pdf": b"A", "records.jsonl": line + b'\n{"name": "a.pdf", "title": "On a"}\n'})
    row = outcome(run)
    assert (row["outcome"], row["dropped"], len(row["warnings"])) == ("taken", 1, 1)
    assert row["warnings"][0].startswith("records.jsonl, line 1: is ")
    assert set(records(run)) == {"declared:d/a.pdf"}


def test_line_with_unknown_key_can_only_close_a_file(run: Run) -> None:
    opened = {"name": "a.pdf", "open_access": True, "license": "CC-BY", "title": "On a"}
    closed = {"name": "b.pdf", "open_access": False, "note": "embargo"}
    deliver(run, "drops/d", {"a.pdf": b"A", "b.pdf": b"B", **lines(opened, closed)})
    assert len(outcome(run)["warnings"]) == 2
    assert {(p["name"], p["open_access"]) for p in places(run)} == {("a.pdf", None), ("b.pdf", False)}
    assert records(run) == {}


def test_file_declared_closed_once_is_closed(run: Run) -> None:
    said = [
        {"name": "a.pdf", "open_access": False, "licence": "CC-BY-NC-4.0"},
        {"name": "a.pdf", "open_access": True, "licence": "CC-BY-4.0"},
    ]
    for drop, order in (("one", said), ("two", said[::-1])):
        deliver(run, f"drops/{drop}", {"a.pdf": drop.encode(), **lines(*order)})
    row = outcome(run, "one")
    assert {(p["open_access"], p["licence"]) for p in places(run)} == {(False, "CC-BY-NC-4.0")}
    assert row["warnings"] == ['records.jsonl, line 2: describes "a.pdf" again, after line 1']


def test_excess_warnings_are_only_counted(run: Run) -> None:
    deliver(run, "drops/d", {"a.pdf": b"A", **lines(*({"name": f"{n}.pdf"} for n in range(150)))})
    warnings = outcome(run)["warnings"]
    assert len(warnings) == 101 and warnings[-1] == "records.jsonl: 50 more"


def test_conflicting_drops_are_named_in_a_warning(run: Run) -> None:
    deliver(run, "drops/one", {"a.pdf": b"A", "c.pdf": b"C", **lines({"name": "a.pdf", "open_access": True})})
    deliver(run, "drops/two", {"b.pdf": b"A", **lines({"name": "b.pdf", "open_access": False})}, "2023-01-02T00:00:00Z")
    intake(run)
    (row,) = offending(run, "drops_agree_on_access")
    assert (row["closed_by"], row["opened_by"]) == ("two/b.pdf", "one/a.pdf")


def test_list_of_drops_shows_warnings(run: Run) -> None:
    deliver(run, "drops/d", {"a.txt": b"A", **lines({"name": "a.txt", "titel": "On a"})})
    processing.process(run.lake, [ReleaseSpec(name="t")], run.scratch)
    (row,) = status.iterate_statuses(run.lake)
    assert row.state == status.ArrivalState.PROCESSED and len(row.warnings) == 1
    assert "1 warning" in row.counts and "line 1: titel" in str(row)


# -- A delivery owns only the records of its source.


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"record_id": "crossref:10.1016/x", "title": "Rewritten"}, "record_id"),
        ({"record_id": "crossref:10.1016/x", "deleted": True}, "record_id"),
        ({"record_id": "dblp:1", "source": "unpaywall", "doi": "10.1016/x", "open_access": True}, "source"),
        ({"record_id": f"dblp:{'a' * 40}", "kind": "pdf", "title": "T"}, "kind"),
        ({"record_id": "dblp:1", "deleted": 1}, "deleted: 1 given"),
        ({"record_id": "dblp:1", "deleted": "true"}, 'deleted: "true" given'),
        ({"record_id": "dblp:1", "title": "T", "open_access": "no"}, 'open_access: "no" given'),
        ({"record_id": "dblp:1", "title": "T", "source": 7}, "source: 7 given"),
    ],
)
def test_delivery_that_claims_foreign_records_is_refused(run: Run, line: dict[str, object], said: str) -> None:
    deliver(run, "sources/crossref/1", lines(CROSSREF))
    deliver(run, "sources/dblp/d", lines({"record_id": "dblp:2", "title": "Fine"}, line), "2023-01-02T00:00:00Z")
    row = outcome(run)
    assert row["outcome"] == "refused:bad_records" and row["detail"].startswith(f"records.jsonl, line 2: {said}")
    assert [r["title"] for r in records(run).values()] == ["As registered"]


@pytest.mark.parametrize("name", ["records.jsonl", "lines.jsonl"])
def test_generic_source_cannot_claim_records_of_others(run: Run, name: str) -> None:
    deliver(run, "sources/crossref/1", lines(CROSSREF))
    (line,) = lines({"record_id": "crossref:10.1016/x", "source": "crossref", "deleted": True}).values()
    deliver(run, "sources/jsonl/d", {name: line}, "2023-01-02T00:00:00Z")
    assert outcome(run)["outcome"] == "refused:bad_records"
    assert [r["title"] for r in records(run).values()] == ["As registered"]


@pytest.mark.parametrize("source", ["declared", "grobid", "s2corpus-layout"])
def test_reserved_source_names_are_refused(run: Run, source: str) -> None:
    deliver(run, f"sources/{source}/d", lines({"record_id": f"{source}:{'a' * 40}", "title": "T"}))
    assert outcome(run)["outcome"] == "refused:unknown_source"


def test_record_without_source_gets_the_source_of_its_delivery(run: Run) -> None:
    deliver(run, "sources/mylab/d", lines({"id": 7, "title": "T"}, {"record_id": "mylab:8", "title": "U"}))
    outcome(run)
    assert {(r["record_id"], r["source"]) for r in records(run).values()} == {
        ("mylab:7", "mylab"),
        ("mylab:8", "mylab"),
    }


def test_generic_form_can_delete_records_of_an_adapter(run: Run) -> None:
    deliver(run, "sources/s2ag/1", {"papers.jsonl": b'{"corpusid": 7, "title": "T"}\n'})
    deliver(run, "sources/s2ag/d", lines({"record_id": "s2:7", "deleted": True}), "2023-01-02T00:00:00Z")
    assert outcome(run)["outcome"] == "taken" and records(run) == {}


def test_greater_delivery_id_wins_at_equal_time(run: Run) -> None:
    for delivery in ("b", "a", "c"):
        deliver(run, f"sources/dblp/{delivery}", lines({"record_id": "dblp:1", "title": delivery}))
    outcome(run, "a")
    assert records(run)["dblp:1"]["title"] == "c"


@pytest.mark.parametrize("key", ["open_access", "licence", "deleted", "record_id"])
def test_delivery_with_repeated_promise_is_refused(run: Run, key: str) -> None:
    value = {"open_access": b"false", "deleted": b"true"}.get(key, b'"dblp:2"')
    line = b'{"record_id":"dblp:1","title":"T","open_access":true,"licence":"CC0","deleted":false,"%b":%b}\n'
    deliver(run, "sources/dblp/1", {"records.jsonl": line % (key.encode(), value)})
    intake(run)
    (row,) = run.table(DELIVERIES).read().to_pylist()
    assert row["outcome"] == "refused:bad_records" and f"{key}: the key is repeated" in row["detail"]


def test_delivered_line_with_other_repeated_key_is_dropped(run: Run) -> None:
    line = b'{"record_id":"dblp:1","title":"T","title":"U"}\n{"record_id":"dblp:2","title":"T"}\n'
    deliver(run, "sources/dblp/1", {"records.jsonl": line})
    intake(run)
    (row,) = run.table(DELIVERIES).read().to_pylist()
    assert (row["outcome"], row["rows"], row["dropped"]) == ("taken", 1, 1)
