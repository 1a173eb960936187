"""Registration verifies a drop or delivery against its `_READY`, and stores its files and records (SPEC §0)."""

import hashlib
from pathlib import Path
from typing import Any

import orjson
import pytest

from s2corpus.deliveries import registration
from s2corpus.deliveries.files import ChangedInput, copy_file, read_file
from s2corpus.deliveries.ready import Delivery, Refused, read_ready
from s2corpus.outcomes import Refusal
from s2corpus.sources import SOURCES
from s2corpus.storage.lake import Lake
from tests.unit.s2corpus.deliveries.samples import deliver


def write_delivery(
    lake: Lake, files: dict[str, bytes], source: str = "", listed: dict[str, bytes] | None = None
) -> Delivery:
    """Write a drop, or a delivery of `source`, and return it."""
    deliver(lake, f"sources/{source}/1" if source else "drops/1", files, listed=listed)
    delivery = read_ready(lake, "delivery" if source else "drop", source, "1")
    assert delivery is not None
    return delivery


def rows_in(lake: Lake, delivery: Delivery, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = registration.registered_table(lake, delivery, table).read().to_pylist()
    return found


def refuse(lake: Lake, delivery: Delivery, refusal: Refusal, said: str) -> None:
    with pytest.raises(Refused, match=said) as refused:
        registration.register(lake, delivery)
    assert refused.value.refusal is refusal


def test_records_and_deletions_keep_the_order_of_their_lines(lake: Lake) -> None:
    """A line that is no record leaves its position free."""
    lines = [
        {"id": "a", "title": "On rivers"},
        {"id": "b", "deleted": True},
        {"title": "No id"},
        {"id": "c", "title": "On lakes"},
    ]
    delivery = write_delivery(lake, {"records.jsonl": b"\n".join(map(orjson.dumps, lines))}, "mine")
    registration.register(lake, delivery)
    rows = [(row["record_id"], row["position"], row["deleted"]) for row in rows_in(lake, delivery, "records")]
    assert rows == [("mine:a", 0, False), ("mine:b", 1, True), ("mine:c", 3, False)]


# -- Refusals.


@pytest.mark.parametrize(("stored", "said"), [(0, None), (-1, "3145727 found"), (1, "more found")])
def test_files_of_several_blocks_have_listed_size(lake: Lake, stored: int, said: str | None) -> None:
    content = b"x" * (3 << 20)
    delivery = write_delivery(lake, {"a.pdf": b"x" * (len(content) + stored)}, listed={"a.pdf": content})
    if said:
        refuse(lake, delivery, Refusal.CHANGED, f"3145728 bytes listed, {said}")
    else:
        registration.register(lake, delivery)
        assert [row["sha1"] for row in rows_in(lake, delivery, "files")] == [hashlib.sha1(content).hexdigest()]


@pytest.mark.parametrize("name", ["/a", "a/../b", "..", "a\\b", "a\x1bb", "_READY", "a\nb"])
def test_names_of_files_outside_their_folder_are_refused(lake: Lake, name: str) -> None:
    refuse(lake, write_delivery(lake, {}, listed={name: b""}), Refusal.BAD_NAME, "is not a file name of a drop")


def test_repeated_missing_and_unlisted_files_are_refused(lake: Lake) -> None:
    listed = [{"name": name, "bytes": 0, "sha256": "0" * 64} for name in "abbcdddeeff"]
    lake.put("drops/1/_READY", orjson.dumps({"ready_at": "2023-01-01T00:00:00Z", "files": listed}))
    repeated = read_ready(lake, "drop", "", "1")
    assert repeated is not None
    refuse(lake, repeated, Refusal.BAD_NAME, r"listed twice: \['b', 'd', 'e'\]")
    refuse(lake, write_delivery(lake, {}, listed={"a": b""}), Refusal.INCOMPLETE, r"1 listed but missing: \['a'\]")
    refuse(lake, write_delivery(lake, {"x": b""}, listed={}), Refusal.UNLISTED, r"1 present but not listed: \['x'\]")


@pytest.mark.parametrize("source", ["declared", "grobid", "s2corpus-layout", "mine"])
def test_sources_of_our_own_records_are_reserved(lake: Lake, source: str) -> None:
    """The name of an extractor that was installed earlier (`mine`) is reserved too."""
    lake.put("stored_tei/mine/x", b"")
    refuse(lake, write_delivery(lake, {"records.jsonl": b""}, source), Refusal.UNKNOWN_SOURCE, f"{source} is reserved")
    registration.register(lake, write_delivery(lake, {"sub/records.jsonl": b""}, "mine2"))


def test_records_of_another_source_are_refused(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    content = {"works.jsonl": b'{"DOI": "10.1234/5", "title": ["A title"]}\n{"title": []}\n'}
    found = registration.register(lake, write_delivery(lake, content, "crossref"))
    assert (found.rows, found.dropped) == (1, 1)
    monkeypatch.setattr("s2corpus.sources.pubmed.read", SOURCES.load("crossref").read)
    refuse(lake, write_delivery(lake, content, "pubmed"), Refusal.BAD_RECORDS, "is not of the source pubmed")


# -- Stored content.


def test_registration_is_stored_until_it_is_forgotten(lake: Lake) -> None:
    declared = b'{"name": "a.pdf", "x": 1}\n{\n'
    delivery = write_delivery(
        lake, {"a.pdf": b"A", "b.PDF": b"B", "c.txt": b"C", "d.tex": b"D", "records.jsonl": declared}
    )
    first = registration.register(lake, delivery)
    assert (first.rows, first.dropped, first.pdfs, len(first.warnings)) == (0, 1, 2, 2)
    kinds = {row["name"]: row["kind"] for row in rows_in(lake, delivery, "files")}
    assert kinds == {"a.pdf": "pdf", "b.PDF": "pdf", "c.txt": "other", "d.tex": "latex"}
    lake.put("drops/1/a.pdf", b"X")
    assert registration.register(lake, delivery) == first
    registration.forget(lake, delivery)
    refuse(lake, delivery, Refusal.CHANGED, "its SHA-256 is not the listed one")


ARTICLE = (
    b"<article xmlns:xlink='http://www.w3.org/1999/xlink'><front><article-meta><article-id pub-id-type='doi'>10.1234/5</article-id>"
    b"<title-group><article-title>A title</article-title></title-group><permissions><license xlink:href='https://creativecommons.org/licenses/by/4.0/'/>"
    b"</permissions></article-meta></front><body><p>Text.</p></body></article>"
)


@pytest.mark.parametrize(
    ("source", "name", "content", "expected"),
    [
        ("", "a.xml", ARTICLE, ("jats", "jats:{sha1}", 1)),
        ("", "a.xml", b"<x/>", ("other", None, 0)),
        ("", "a.xml", b"<articles>" + ARTICLE * 2 + b"</articles>", ("jats", None, 0)),
        ("jats", "a.xml", ARTICLE, ("jats", "jats:10.1234/5", 1)),
    ],
)
def test_full_texts_of_publishers_are_files(
    lake: Lake, source: str, name: str, content: bytes, expected: tuple[str, str | None, int]
) -> None:
    delivery = write_delivery(lake, {name: content}, source)
    found = registration.register(lake, delivery)
    kind, record_id, records = expected
    sha1 = hashlib.sha1(content).hexdigest()
    (row,) = rows_in(lake, delivery, "files")
    assert (row["kind"], row["sha1"], row["bytes"]) == (kind, sha1, len(content))
    assert row["record_id"] == (record_id and record_id.format(sha1=sha1))
    assert (found.rows, found.pdfs) == (records, 0)
    claims = ("publisher", "CC-BY-4.0", True) if source else ("archive", None, None)
    stored = [(r["record_id"], r["kind"], r["license"], r["open_access"]) for r in rows_in(lake, delivery, "records")]
    assert stored == [(row["record_id"], *claims)] * records, "a drop makes no claims about a paper"


@pytest.mark.parametrize("size", [0, 1, 3 << 20])
def test_file_is_compared_with_its_registration_at_the_end(lake: Lake, tmp_path: Path, size: int) -> None:
    content, place = bytes(size), {"drop": "d", "name": "a.pdf"}
    lake.put("drops/d/a.pdf", content)
    sha1 = hashlib.sha1(content).hexdigest()
    assert read_file(lake, place, sha1) == content
    copy_file(lake, place, sha1, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == content
    with pytest.raises(ChangedInput, match=r"drops/d/a\.pdf: changed since its drop was registered"):
        copy_file(lake, place, "0" * 40, tmp_path / "copy")
