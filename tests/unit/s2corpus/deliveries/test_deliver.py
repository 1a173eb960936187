"""A delivery uploads all files, then `_READY`, and resumes after an interruption."""

from __future__ import annotations

import hashlib
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from devtools.own_papers import own_files
from s2corpus.commands.releases import deliver_command
from s2corpus.deliveries.ready import Digests
from s2corpus.deliveries.upload import deliver, digests_of, files_below, new_delivery
from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.intake import DELIVERIES, PDFS, RECORDS
from tests.unit.s2corpus.deliveries.samples import intake

DROP = new_delivery("drop", "", "one")


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    for name in ("a.pdf", "sub/b.pdf", "sub/deeper/ç d.pdf", ".hidden", "sub/.DS_Store"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode() * 100)
    (folder / "dangling.pdf").symlink_to(folder / "nowhere.pdf")
    (folder / "records.jsonl").write_text('{"name": "sub/b.pdf", "open_access": true}\n{"name": "c.pdf"}\n')
    return folder


class Stopping:
    """A lake that fails after a number of uploads and records the uploaded keys."""

    def __init__(self, lake: Lake, after: int = 1 << 30) -> None:
        self._lake, self._left, self.sent = lake, after, list[str]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lake, name)

    def upload(self, key: str, path: Path) -> None:
        if not self._left:
            raise ConnectionError("broken off")
        self._left -= 1
        self.sent.append(key)
        self._lake.upload(key, path)


def test_folder_with_subfolders_is_a_valid_drop(lake: Lake, papers: Path, tmp_path: Path) -> None:
    found = deliver(lake, DROP, files_below(papers))
    assert (found.sent, found.kept) == (4, 0)
    assert found.warnings == ('records.jsonl, line 2: name: "c.pdf" is not a file of the drop: the line is ignored',)
    run = Run(ReleaseSpec(name="t"), found.ready_at.replace(year=2100), lake, tmp_path)
    intake(run)
    assert [row["outcome"] for row in run.table(DELIVERIES).read().to_pylist()] == ["taken"]
    places = [place for pdf in run.table(PDFS).read().to_pylist() for place in pdf["places"]]
    assert {(p["name"], p["open_access"]) for p in places} == {
        ("a.pdf", None), ("sub/b.pdf", True), ("sub/deeper/ç d.pdf", None),
    }  # fmt: skip


@pytest.mark.parametrize("after", range(4))
def test_stopped_delivery_resumes(lake: Lake, papers: Path, after: int) -> None:
    files = files_below(papers)
    with pytest.raises(ConnectionError):
        deliver(Stopping(lake, after), DROP, files, threads=1)  # type: ignore[arg-type]  # a lake that fails after some writes
    assert lake.size(DROP.key("_READY")) is None
    there = {entry.key for entry in lake.list(DROP.folder)}
    again = Stopping(lake)
    found = deliver(again, DROP, files, threads=1)  # type: ignore[arg-type]  # a lake that fails after some writes
    assert (found.sent, found.kept) == (4 - after, after) and not there & set(again.sent)
    assert lake.size(DROP.key("_READY")) is not None


def test_upload_reports_bytes_and_ready_lists_files(lake: Lake, papers: Path) -> None:
    seen: list[tuple[int, int]] = []
    by = new_delivery("drop", "", "by", "full", "Ada")
    files = dict(reversed(files_below(papers).items()))
    deliver(lake, by, files, threads=1, progress=lambda done, total: seen.append((done, total)))
    sizes = [path.stat().st_size for path in files.values()]
    assert seen == [(sum(sizes[:count]), sum(sizes)) for count in range(5)]
    ready = json.loads(lake.get(by.key("_READY"))[0])
    assert [file["name"] for file in ready["files"]] == ["a.pdf", "records.jsonl", "sub/b.pdf", "sub/deeper/ç d.pdf"]
    assert (ready["mode"], ready["delivered_by"], len(ready["ready_at"])) == ("full", "Ada", 25)
    deliver(lake, DROP, files)
    assert "delivered_by" not in json.loads(lake.get(DROP.key("_READY"))[0])


def test_delivery_by_another_process_is_not_overwritten(lake: Lake, papers: Path) -> None:
    def put(key: str, data: bytes, **given: Any) -> str:
        lake.put(key, b"another")
        return lake.put(key, data, **given)

    racing = Stopping(lake)
    racing.put = put  # type: ignore[attr-defined]  # a lake whose `put` loses a race
    with pytest.raises(UserError, match="was delivered by another process at the same time"):
        deliver(racing, DROP, files_below(papers))  # type: ignore[arg-type]  # a lake whose `put` loses a race
    assert lake.get(DROP.key("_READY"))[0] == b"another"


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (2 << 20) + 1])
def test_digests_are_those_of_the_content(tmp_path: Path, size: int) -> None:
    content = bytes(range(256)) * (size // 256) + bytes(size % 256)
    for name in "ba":
        (tmp_path / name).write_bytes(content)
    expected = Digests(hashlib.sha1(content).hexdigest(), hashlib.sha256(content).hexdigest(), size)
    assert list(digests_of({name: tmp_path / name for name in "ba"}).items()) == [("b", expected), ("a", expected)]


def test_folder_needs_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for act, words in (
        (own_files, "give a folder with PDF files"),
        (files_below, "give the folder of the files to deliver"),
    ):
        with pytest.raises(UserError, match=words):
            act(tmp_path / "none")
    (tmp_path / "a.txt").touch()
    (tmp_path / "b.pdf").mkdir()
    (tmp_path / "_READY").touch()
    (tmp_path / "x.pdf").symlink_to("nowhere")
    with caplog.at_level("WARNING"), pytest.raises(UserError, match=r"no PDF found: names of PDFs must end in \.pdf"):
        own_files(tmp_path)
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path}/x.pdf: skipped: not a file, or a broken link"
    ]
    for name in ("c.PDF", "b.pdf/d.pdf"):
        (tmp_path / name).touch()
    assert [path.name for path in own_files(tmp_path)] == ["d.pdf", "c.PDF"]
    assert list(files_below(tmp_path)) == ["a.txt", "b.pdf/d.pdf", "c.PDF"]
    (tmp_path / "b.pdf/_READY").touch()
    assert "b.pdf/_READY" in files_below(tmp_path)


def test_impossible_file_names_are_reported(tmp_path: Path) -> None:
    step = "a" * 200
    folder = tmp_path / step / step / step / step
    folder.mkdir(parents=True)
    (folder / ("b" * (1024 - 804 - 4) + ".pdf")).touch()
    assert [len(name) for name in files_below(tmp_path)] == [1024]
    (folder / ("c" * (1024 - 804 - 3) + ".pdf")).touch()
    with pytest.raises(UserError, match="1 file name"):
        files_below(tmp_path)
    for name in ("1\n", "2\\b.pdf", os.fsdecode(b"3\xe9"), "4\n"):
        (tmp_path / name).touch()
    with pytest.raises(
        UserError, match=r"5 file name\(s\) that a drop cannot have, such as '1.*', '2.*', '3.*': rename them"
    ):
        files_below(tmp_path)


def test_changed_file_is_sent_again(lake: Lake, papers: Path) -> None:
    with pytest.raises(ConnectionError):
        deliver(Stopping(lake, 2), DROP, files_below(papers), threads=1)  # type: ignore[arg-type]  # a lake that fails after some writes
    (papers / "a.pdf").write_bytes(b"x" * 500)  # The same length as before.
    deliver(lake, DROP, files_below(papers))
    listed = {file["name"]: file for file in json.loads(lake.get(DROP.key("_READY"))[0])["files"]}
    assert listed["a.pdf"]["sha256"] == hashlib.sha256(lake.get("drops/one/a.pdf")[0]).hexdigest()


def test_repeated_delivery_is_the_same_drop(lake: Lake, papers: Path) -> None:
    first = deliver(lake, DROP, files_below(papers))
    again = deliver(lake, DROP, files_below(papers))
    assert (again.ready_at, again.sent, again.kept) == (first.ready_at, 0, 4)
    (papers / "e.pdf").write_bytes(b"E")
    with pytest.raises(UserError, match="was delivered already, with other files"):
        deliver(lake, DROP, files_below(papers))


def test_delivery_that_intake_would_refuse_is_not_sent(lake: Lake, papers: Path) -> None:
    declared = papers / "records.jsonl"
    declared.write_text('{"name": "a.pdf", "open_access": "yes"}')
    with pytest.raises(UserError, match=r"line 1: open_access: \"yes\" given"):
        deliver(lake, DROP, files_below(papers))
    declared.unlink()
    lake.put("drops/one/stray.pdf", b"S")
    with pytest.raises(UserError, match=r"contains 1 file.* stray\.pdf"):
        deliver(lake, DROP, files_below(papers))
    assert [entry.key for entry in lake.list("drops/")] == ["drops/one/stray.pdf"]


@pytest.mark.parametrize("id_", ["", "..", "a/b", "a\n", "a\\b"])
def test_delivery_id_must_be_one_path_step(id_: str) -> None:
    for kind, source, given in (("drop", "", id_), ("delivery", "dblp", id_), ("delivery", id_, "1")):
        with pytest.raises(UserError, match=f"^{re.escape(repr(id_))} cannot be the id of a {kind}"):
            new_delivery(kind, source, given)  # type: ignore[arg-type]  # kinds that are refused
    found = new_delivery("delivery", "dblp", "1")
    assert (found.folder, found.mode, found.by, found.files) == ("sources/dblp/1/", "delta", "", 0)


def run(*arguments: object) -> Any:
    return CliRunner().invoke(deliver_command, [str(argument) for argument in arguments])


def test_command_delivers_a_folder(papers: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    result = run(papers, "--drop", "d", "--to", lake)
    assert result.exit_code == 0
    assert "4 files sent, ready at" in result.output and "warning: records.jsonl" in result.output
    line = {"record_id": "crossref:10.1016/x", "title": "T", "doi": "10.1016/x"}
    (tmp_path / "records.jsonl").write_text(json.dumps(line))
    records = tmp_path / "records.jsonl"
    assert run("--source", "crossref", "--full", "--delivery", "1", records, "--to", lake).exit_code == 0
    opened = LocalLake(lake)
    assert json.loads(opened.get("sources/crossref/1/_READY")[0])["mode"] == "full"
    release = Run(ReleaseSpec(name="t"), datetime(2100, 1, 1, tzinfo=UTC), opened, tmp_path)
    intake(release)
    assert release.table(RECORDS).read()["record_id"].to_pylist() == ["crossref:10.1016/x"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["papers"], "either --drop ID"),
        (["papers", "--drop", "a", "--source", "b"], "either --drop ID"),
        (["papers", "papers", "--drop", "a"], "a drop is one folder"),
        (["papers", "--drop", "a", "--full"], "a drop is one folder"),
        (["papers/a.pdf", "papers/sub", "papers/sub/../a.pdf", "--source", "x"], "has the same name"),
        (["papers/a.pdf", "--drop", "a"], "no such folder"),
    ],
)
def test_wrong_arguments_give_one_sentence(
    papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(papers.parent)
    result = run(*arguments, "--to", tmp_path / "lake")
    assert isinstance(result.exception, UserError) and said in str(result.exception)
