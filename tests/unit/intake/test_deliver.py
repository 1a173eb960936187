"""A delivery uploads all files, then `_READY`, and resumes after an interruption."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from s2corpus.commands import deliver as cli
from s2corpus.deliveries.upload import deliver, files_below, new_delivery
from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables import DELIVERIES, PDFS, RECORDS
from tests.unit.intake.test_intake import intake

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


def test_a_folder_with_its_subfolders_is_a_drop_that_intake_takes(lake: Lake, papers: Path, tmp_path: Path) -> None:
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
def test_what_was_stopped_goes_on_where_it_was(lake: Lake, papers: Path, after: int) -> None:
    files = files_below(papers)
    with pytest.raises(ConnectionError):
        deliver(Stopping(lake, after), DROP, files, threads=1)  # type: ignore[arg-type]
    assert lake.size(DROP.key("_READY")) is None
    there = {entry.key for entry in lake.list(DROP.folder)}
    again = Stopping(lake)
    found = deliver(again, DROP, files, threads=1)  # type: ignore[arg-type]
    assert (found.sent, found.kept) == (4 - after, after) and not there & set(again.sent)
    assert lake.size(DROP.key("_READY")) is not None


def test_a_file_that_changed_meanwhile_is_sent_again(lake: Lake, papers: Path) -> None:
    with pytest.raises(ConnectionError):
        deliver(Stopping(lake, 2), DROP, files_below(papers), threads=1)  # type: ignore[arg-type]
    (papers / "a.pdf").write_bytes(b"x" * 500)  # The same length as before.
    deliver(lake, DROP, files_below(papers))
    listed = {file["name"]: file for file in json.loads(lake.get(DROP.key("_READY"))[0])["files"]}
    assert listed["a.pdf"]["sha256"] == hashlib.sha256(lake.get("drops/one/a.pdf")[0]).hexdigest()


def test_the_same_again_is_the_same_drop_and_another_is_refused(lake: Lake, papers: Path) -> None:
    first = deliver(lake, DROP, files_below(papers))
    again = deliver(lake, DROP, files_below(papers))
    assert (again.ready_at, again.sent, again.kept) == (first.ready_at, 0, 4)
    (papers / "e.pdf").write_bytes(b"E")
    with pytest.raises(UserError, match="was delivered already, with other files"):
        deliver(lake, DROP, files_below(papers))


def test_what_others_left_in_the_folder_is_named(lake: Lake, papers: Path) -> None:
    lake.put("drops/one/stray.pdf", b"S")
    with pytest.raises(UserError, match=r"contains 1 file.* stray\.pdf"):
        deliver(lake, DROP, files_below(papers))


def test_what_intake_would_refuse_is_not_sent(lake: Lake, papers: Path) -> None:
    (papers / "records.jsonl").write_text('{"name": "a.pdf", "open_access": "yes"}')
    with pytest.raises(UserError, match=r"line 1: open_access: \"yes\" given"):
        deliver(lake, DROP, files_below(papers))
    assert not list(lake.list("drops/"))


@pytest.mark.parametrize("name", ["a\nb.pdf", "a\\b.pdf", b"caf\xe9.pdf"])
def test_names_that_no_drop_can_have_are_said(papers: Path, name: str | bytes) -> None:
    (papers / os.fsdecode(name)).write_bytes(b"A")
    with pytest.raises(UserError, match=r"1 file name.* that a drop cannot have"):
        files_below(papers)


@pytest.mark.parametrize("id_", ["", "..", "a/b", "a\n", "a\\b"])
def test_an_id_is_one_step_of_a_path(id_: str) -> None:
    with pytest.raises(UserError, match="cannot be the id"):
        new_delivery("drop", "", id_)


def run(*arguments: object) -> Any:
    return CliRunner().invoke(cli.command, [str(argument) for argument in arguments])


def test_the_command(papers: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    result = run(papers, "--drop", "d", "--to", lake)
    assert (
        result.exit_code == 0
        and "4 files sent, ready at" in result.output
        and "warning: records.jsonl" in result.output
    )
    line = {"record_id": "crossref:10.1016/x", "title": "T", "doi": "10.1016/x"}
    (tmp_path / "records.jsonl").write_text(json.dumps(line))
    assert (
        run("--source", "crossref", "--full", "--delivery", "1", tmp_path / "records.jsonl", "--to", lake).exit_code
        == 0
    )
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
def test_what_is_asked_wrongly_is_said(
    papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(papers.parent)
    result = run(*arguments, "--to", tmp_path / "lake")
    assert isinstance(result.exception, UserError) and said in str(result.exception)
