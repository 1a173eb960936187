"""Deliveries report counts in words, and a watch examines all folders by turns.

Records of another source are rejected.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import orjson
import pytest

from devtools.own_papers import deliver_own
from s2corpus import sources
from s2corpus.deliveries import registration
from s2corpus.deliveries.ready import Delivery, ListedFile, Ready, Refusal, Refused
from s2corpus.deliveries.status import MOST_NEW, ArrivalState, ArrivalStatus, Watch
from s2corpus.storage.local_lake import LocalLake


@pytest.mark.parametrize(
    ("warnings", "said"), [(0, "3 records"), (1, "3 records, 1 warning"), (2, "3 records, 2 warnings")]
)
def test_counts_use_singular_and_plural(warnings: int, said: str) -> None:
    row = ArrivalStatus("drops/a/", "mark", ArrivalState.REGISTERED, rows=3, warnings=["line 1: x"] * warnings)
    assert row.counts == said


def test_watch_examines_all_folders_by_turns(tmp_path: Path) -> None:
    watch = Watch(LocalLake(tmp_path))
    folders = [str(number) for number in range(2 * MOST_NEW + 1)]
    for start in (0, MOST_NEW, 2 * MOST_NEW, MOST_NEW - 1, 2 * MOST_NEW - 1):
        assert watch._some(folders, MOST_NEW) == (folders[start:] + folders[:start])[:MOST_NEW]
    assert watch._some(folders[:MOST_NEW], MOST_NEW) == folders[:MOST_NEW]


def record(**others: Any) -> bytes:
    value = {
        "DOI": "10.1234/5",
        "title": ["A title of some words"],
        "author": [{"given": "Ann", "family": "Lee"}],
        "type": "journal-article",
    }
    return orjson.dumps(value | others) + b"\n"


def owned(path: Path, source: str) -> list[sources.Entry]:
    delivery = Delivery("delivery", source, "one", "2023-01-01T00:00:00Z", "full", "0", 1)
    return list(registration._owned(sources.read("crossref", path), delivery, "records"))


def test_records_of_another_source_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(record())
    (found,) = owned(path, "crossref")
    assert isinstance(found, sources.Record) and found.record_id == "crossref:10.1234/5"
    with pytest.raises(Refused, match="is not of the source pubmed") as refused:
        owned(path, "pubmed")
    assert refused.value.refusal is Refusal.BAD_RECORDS


def test_dropped_entries_have_no_source(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(b'{"title": []}\n')
    assert [type(entry) for entry in owned(path, "pubmed")] == [sources.Dropped]


@pytest.mark.parametrize(
    ("there", "says"),
    [(0, None), (-1, "3145727 found"), (1, "more found"), (1 << 20, "more found"), (-(2 << 20), "1048576 found")],
)
def test_files_of_several_blocks_have_listed_size(tmp_path: Path, there: int, says: str | None) -> None:
    content = b"x" * (3 << 20)
    lake = LocalLake(tmp_path)
    lake.put("drops/one/a.pdf", b"x" * (len(content) + there))
    delivery = Delivery("drop", "", "one", "2023-01-01T00:00:00Z", "delta", "0", 1)
    listed = ListedFile(name="a.pdf", bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    if says is None:
        assert registration._verified(lake, delivery, listed) == hashlib.sha1(content).hexdigest()
        return
    with pytest.raises(Refused, match=f"3145728 bytes listed, {says}"):
        registration._verified(lake, delivery, listed)


def test_repeated_names_are_refused_and_named(tmp_path: Path) -> None:
    """The refusal names the first three repeated names, and no name that is listed once."""
    delivery = Delivery("drop", "", "one", "2023-01-01T00:00:00Z", "delta", "0", 1)
    listed = [ListedFile(name=name, bytes=0, sha256="0" * 64) for name in "abbcdddeeff"]
    ready = Ready(ready_at="2023-01-01T00:00:00Z", files=listed)
    with pytest.raises(Refused, match=r"listed twice: \['b', 'd', 'e'\]") as refused:
        registration._check_names(LocalLake(tmp_path), delivery, ready)
    assert refused.value.refusal is Refusal.BAD_NAME


@pytest.mark.parametrize(("count", "kept"), [(1, True), (2, False), (3, False)])
def test_file_of_several_articles_is_malformed(tmp_path: Path, count: int, kept: bool) -> None:
    """A file of a drop is the full text of one paper. With several articles, the paper is unknown."""
    article = (
        "<article><front><article-meta><article-id>1</article-id><title-group><article-title>A title</article-title>"
        "</title-group></article-meta></front><body><p>Text.</p></body></article>"
    )
    content = f"<articles>{article * count}</articles>".encode()
    lake = LocalLake(tmp_path)
    lake.put("drops/one/a.xml", content)
    delivery = Delivery("drop", "", "one", "2023-01-01T00:00:00Z", "delta", "0", 1)
    listed = ListedFile(name="a.xml", bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    ready = Ready(ready_at="2023-01-01T00:00:00Z", files=[listed])
    (found,) = registration._articles(lake, delivery, ready, {"a.xml": "5" * 40}, {})
    assert isinstance(found, sources.Record) is kept
    if not kept:
        assert found == sources.Dropped(sources.RejectReason.MALFORMED, "a.xml")


def test_own_drop_has_records_of_its_folder(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "a.pdf").write_bytes(b"%PDF")
    lake = LocalLake(tmp_path / "lake")
    _, without = deliver_own(lake, papers)
    assert {entry.key for entry in lake.list(f"drops/{without}/")} == {
        f"drops/{without}/{name}" for name in ("_READY", "a.pdf")
    }
    (papers / "records.jsonl").write_bytes(b'{"name": "a.pdf", "open_access": true}\n')
    _, declared = deliver_own(lake, papers)
    assert declared != without
    assert lake.get(f"drops/{declared}/records.jsonl")[0] == (papers / "records.jsonl").read_bytes()
