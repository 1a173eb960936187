"""A drop describes only its own files, and a delivery only its source's records (SPEC §0.10–0.14).

A reserved key, or an access claim of a wrong type, refuses the drop. Other unusable lines give warnings with line and key.
"""

import codecs
import io
import json
from typing import Any

import pytest

from s2corpus.deliveries.declarations import Declarations, DeclaredFacts
from s2corpus.deliveries.ready import Refused
from s2corpus.pipeline import quality
from s2corpus.pipeline.run import Run
from s2corpus.sources.record import Dropped, Entry, Record
from tests.unit.s2corpus.deliveries.samples import deliver, intake, lines, outcome, records

SHA1 = {"a.pdf": "a" * 40, "b.pdf": "b" * 40, "again/a.pdf": "a" * 40, "s.gz": "c" * 40}
HERE = {"name": "a.pdf"}
CLOSED = {"a.pdf": DeclaredFacts(1, False)}
CROSSREF = {"record_id": "crossref:10.1016/x", "title": "As registered", "doi": "10.1016/x", "kind": "publisher"}
LATER = "2023-01-02T00:00:00Z"


def read(*lines: dict[str, Any] | bytes) -> tuple[Declarations, list[Entry]]:
    """Return the reader and the entries of these lines.

    The drop has two PDFs, one of them twice, and a LaTeX source.
    """
    reader = Declarations("d", SHA1)
    raw = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    return reader, list(reader.entries(io.BytesIO(raw)))


# -- The lines of a drop's records.jsonl.


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ({**HERE, "open_access": False}, CLOSED),
        ({**HERE, "arxiv_id": "arXiv:1706.03762v5"}, {"a.pdf": DeclaredFacts(1, arxiv_id="1706.03762")}),
        ({"file_sha1": f" {'B' * 40} ", "open_access": True}, {"b.pdf": DeclaredFacts(1, True)}),
        ({"file_sha1": "a" * 40, "open_access": False}, CLOSED | {"again/a.pdf": DeclaredFacts(1, False)}),
        ({**HERE, "note": "x", "open_access": False, "license": "CC-BY-4.0", "arxiv_id": "1706.03762"}, CLOSED),
        ({**HERE, "embargo": "2030", "open_access": True, "license": "CC-BY-4.0"}, {}),
        ({**HERE, "Open-Access": False, "License": "CC-BY-4.0"}, {"a.pdf": DeclaredFacts(1, False, "CC-BY-4.0")}),
        ({"name": "z.pdf", "open_access": False}, {}),
        (codecs.BOM_UTF8 + b'{"name": "a.pdf"}', {"a.pdf": DeclaredFacts(1)}),
    ],
)
def test_line_gives_facts_about_its_file(line: dict[str, Any] | bytes, facts: dict[str, DeclaredFacts]) -> None:
    assert read(line)[0].facts == facts


@pytest.mark.parametrize(
    ("first", "second", "facts"),
    [
        ({}, {"open_access": True}, DeclaredFacts(2, True)),
        ({"open_access": True}, {"open_access": False}, DeclaredFacts(2, False)),
        ({"license": "CC-BY-NC-4.0"}, {"license": "CC-BY-4.0"}, DeclaredFacts(2, None, "CC-BY-NC-4.0")),
    ],
)
def test_conflicting_lines_give_the_stricter_facts(
    first: dict[str, Any], second: dict[str, Any], facts: DeclaredFacts
) -> None:
    reader, _ = read({**HERE, **first}, {**HERE, **second})
    assert reader.facts == {"a.pdf": facts}
    assert reader.warning_messages == ('records.jsonl, line 2: describes "a.pdf" again, after line 1',)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({**HERE, "titel": "T", "by": 1}, [
            "by: is not a key of a drop's records: it is ignored, and the line opens no file",
            "titel: is not a key of a drop's records (did you mean title?): it is ignored, and the line opens no file",
        ]),
        ({**HERE, "Title": "On a", "licence": "CC0"}, ["Title: is read as title", "licence: is read as license"]),
        ({**HERE, "title": "On a", "Title": "B"}, [
            "Title: is not a key of a drop's records (did you mean title?): it is ignored, and the line opens no file",
        ]),
        ({"name": "z.pdf"}, ['name: "z.pdf" is not a file of the drop: the line is ignored']),
        ({"name": "B"}, ['name: "B" is not a file of the drop (did you mean "b.pdf"?): the line is ignored']),
        ({"name": "x/A.pdf"}, ['name: "x/A.pdf" is not a file of the drop: the line is ignored']),  # two files are a.pdf
        ({"title": "T"}, ["name: is missing: every line needs name or file_sha1"]),
        ({**HERE, "title": "On a", "published": "soon"}, ['published: "soon" cannot be used as published: it is ignored']),
        ({**HERE, "title": "On a", "authors": ["Ada Byron", 7, 8]}, ["authors: 2 of 3 cannot be used: they are ignored"]),
        ({**HERE, "title": "On a", "venue": "", "abstract": None, "authors": []}, []),
        ({"name": "s.gz", "venue": "ACL"}, ["contains no usable metadata"]),
        (b"x" * ((16 << 20) + 1), ["is too long to be read"]),
        (b"  ", []),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_unusable_keys_of_a_line_are_reported(line: dict[str, Any] | bytes, said: list[str]) -> None:
    reader, _ = read(HERE, line)
    assert [w.removeprefix("records.jsonl, line 2: ") for w in reader.warning_messages if "again" not in w] == said


def test_invalid_json_is_dropped_with_its_line() -> None:
    reader, entries = read(b"{", b"", b"\xff", HERE, b"[]", b'{"name": "a.pdf"} x', b"[" * 2000)
    assert [entry.where for entry in entries if isinstance(entry, Dropped)] == [f"line {n}" for n in (1, 3, 5, 6, 7)]
    assert reader.warning_messages[0].startswith("records.jsonl, line 1: is not JSON (")


@pytest.mark.parametrize(("lines", "more"), [(100, []), (101, ["records.jsonl: 1 more"])])
def test_at_most_a_hundred_warnings_are_stored(lines: int, more: list[str]) -> None:
    reader, _ = read(*[b"7"] * lines)
    assert list(reader.warning_messages[100:]) == more


def test_unknown_key_does_not_lose_the_metadata_of_its_line() -> None:
    _, (entry,) = read({**HERE, "Title": "On a", "year": 2021, "Publication Year": 2021, "note": "x"})
    assert isinstance(entry, Record) and (entry.title, entry.date) == ("On a", "2021")


def test_line_becomes_a_record_of_its_file() -> None:
    said = {
        "title": "On a", "authors": ["Ada Byron"], "date": "2021-05", "published": "2020", "doi": "10.1016/a",
        "venue": "ACL", "fields_of_study": ["cs.CL"], "open_access": True, "license": "CC-BY-4.0", "arxiv_id": "1706.03762",
    }  # fmt: skip
    reader, (entry,) = read({**HERE, **said})
    assert isinstance(entry, Record) and reader.warning_messages == ()
    assert (entry.record_id, entry.source, entry.kind) == ("declared:d/a.pdf", "declared", "archive")
    assert (entry.file_sha1, entry.title, entry.date, entry.date_precision) == ("a" * 40, "On a", "2021-05", "month")
    assert (entry.doi, entry.venue, entry.authors[0].last) == ("10.1016/a", "ACL", "Byron")
    assert (entry.subjects, entry.arxiv_id) == (("cs.CL",), "1706.03762")
    assert (entry.open_access, entry.license) == (None, None), "a promise is about the file, not about the paper"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        *(
            ({key: value}, f"{key}: reserved, the pipeline sets it; remove the key")
            for key, value in {"record_id": "x:1", "source": "unpaywall", "kind": "publisher", "deleted": None}.items()
        ),
        ({"open_access": None}, "open_access: null given, true or false expected"),
        ({"open_access": 1}, "open_access: 1 given, true or false expected"),
        ({"license": ["CC-BY"]}, 'license: ["CC-BY"] given, a text expected'),
        ({"ready_at": 20230101}, "ready_at: 20230101 given, a text expected"),
    ],
)
def test_line_with_foreign_claim_refuses_the_drop(line: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused) as refused:
        read(HERE, {**HERE, **line})
    assert (refused.value.refusal, refused.value.detail) == ("bad_records", f"records.jsonl, line 2: {said}")


@pytest.mark.parametrize(
    ("line", "facts", "key"),
    [
        (b'{"name":"a.pdf","open_access":false,"open_access":true}', CLOSED, "open_access"),
        (b'{"name":"a.pdf","open_access":false,"open_\\u0061ccess":true}', CLOSED, "open_access"),
        (b'{"license":"CC-BY-NC-4.0","name":"a.pdf","license":"CC-BY-4.0"}', {"a.pdf": DeclaredFacts(1, None, "CC-BY-NC-4.0")}, "license"),
        (b'{"name":"a.pdf","name":"b.pdf","open_access":true}', {}, "name"),
        (b'{"name":"a.pdf","name":"b.pdf","open_access":false}', CLOSED | {"b.pdf": DeclaredFacts(1, False)}, "name"),
    ],
)  # fmt: skip
def test_repeated_keys_warn_and_take_stricter_value(line: bytes, facts: dict[str, DeclaredFacts], key: str) -> None:
    reader, _ = read(line)
    assert reader.facts == facts
    assert any(f"line 1: {key}: is given more than once" in warning for warning in reader.warning_messages)


@pytest.mark.parametrize("claim", [b'"open_access":null,"open_access":true', b'"license":7,"license":"CC0"'])
def test_every_value_of_repeated_keys_is_checked(claim: bytes) -> None:
    with pytest.raises(Refused):
        read(b'{"name":"a.pdf",' + claim + b"}")


# -- Drops in a release.


def test_warnings_and_conflicts_are_rows_of_checks(run: Run) -> None:
    opened, unknown = {**HERE, "open_access": True}, {**HERE, "titel": "On a"}
    deliver(run.lake, "drops/d", {"a.pdf": b"A", "c.pdf": b"C", **lines(opened, unknown)})
    deliver(run.lake, "drops/two", {"b.pdf": b"A", **lines({"name": "b.pdf", "open_access": False})}, LATER)
    row = outcome(run)
    assert row["outcome"] == "taken" and len(row["warnings"]) == 1
    offending = {verdict.check: verdict.rows for verdict in quality.evaluate(run, "intake")}
    assert [row["warning"] for row in offending["declarations_are_usable"]] == row["warnings"]
    (conflict,) = offending["drops_agree_on_access"]
    assert (conflict["closed_by"], conflict["opened_by"]) == ("two/b.pdf", "d/a.pdf")


# -- A delivery owns only the records of its source.


def refusal(run: Run, source: str, files: dict[str, bytes]) -> str:
    """Deliver a record of Crossref and these files; return the reason of the refusal, which leaves the record unchanged."""
    deliver(run.lake, "sources/crossref/1", lines(CROSSREF))
    deliver(run.lake, f"sources/{source}/d", files, LATER)
    row = outcome(run)
    assert row["outcome"] == "refused:bad_records"
    assert [r["title"] for r in records(run).values()] == ["As registered"]
    return str(row["detail"])


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        ("dblp", {"record_id": "crossref:10.1016/x", "deleted": True}, "record_id"),
        ("dblp", {"record_id": "dblp:1", "source": "unpaywall", "doi": "10.1016/x", "open_access": True}, "source"),
        ("dblp", {"record_id": f"dblp:{'a' * 40}", "kind": "pdf", "title": "T"}, "kind"),
        ("dblp", {"record_id": "dblp:1", "deleted": 1}, "deleted: 1 given"),
        ("jsonl", {**CROSSREF, "source": "crossref", "deleted": True}, "source"),
    ],
)
def test_delivery_of_foreign_records_is_refused(run: Run, source: str, line: dict[str, object], said: str) -> None:
    fine = {"record_id": f"{source}:2", "title": "Fine"}
    assert refusal(run, source, lines(fine, line)).startswith(f"records.jsonl, line 2: {said}")


@pytest.mark.parametrize(
    "repeated", [b'"open_access":false', b'"license":"x"', b'"deleted":true', b'"record_id":"dblp:2"']
)
def test_delivery_with_repeated_promise_is_refused(run: Run, repeated: bytes) -> None:
    line = b'{"record_id":"dblp:1","title":"T","open_access":true,"license":"CC0","deleted":false,%b}\n'
    assert "the key is repeated" in refusal(run, "dblp", {"records.jsonl": line % repeated})


def test_delivered_line_with_another_repeated_key_is_malformed(run: Run) -> None:
    deliver(run.lake, "sources/dblp/d", {"records.jsonl": b'{"id":1,"title":"T","title":"U"}\n{"id":2,"title":"T"}\n'})
    row = outcome(run)
    assert (row["outcome"], row["rows"], row["dropped"]) == ("taken", 1, 1)


def test_record_without_source_gets_the_source_of_its_delivery(run: Run) -> None:
    deliver(run.lake, "sources/mylab/d", lines({"id": 7, "title": "T"}, {"record_id": "mylab:8", "title": "U"}))
    intake(run)
    assert {id_: r["source"] for id_, r in records(run).items()} == {"mylab:7": "mylab", "mylab:8": "mylab"}


def test_generic_form_can_delete_records_of_an_adapter(run: Run) -> None:
    deliver(run.lake, "sources/s2ag/1", {"papers.jsonl": b'{"corpusid": 7, "title": "T"}\n'})
    deliver(run.lake, "sources/s2ag/d", lines({"record_id": "s2:7", "deleted": True}), LATER)
    assert outcome(run)["outcome"] == "taken" and records(run) == {}
