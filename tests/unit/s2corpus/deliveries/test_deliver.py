"""A delivery uploads all files, then `_READY`, and resumes after an interruption (docs/drops.md).

Files of a web folder are downloaded by their checksums.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from s2corpus import web
from s2corpus.deliveries import fetch
from s2corpus.deliveries.upload import deliver, deliver_tree, files_below, new_delivery
from s2corpus.errors import TransientError, UserError
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from s2corpus.storage.local_lake import LocalLake
from tests.commands import invoke
from tests.http_server import Answer, Request, Server
from tests.unit.s2corpus.deliveries.samples import Racing, outcome, places

DROP = new_delivery("drop", "", "one")
NAMES = ["a.pdf", "records.jsonl", "sub/b.pdf", "sub/deeper/ç d.pdf"]


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    for name in (*NAMES, ".hidden", "sub/.DS_Store"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode() * 100)
    (folder / "dangling.pdf").symlink_to(folder / "nowhere.pdf")
    (folder / "records.jsonl").write_text('{"name": "sub/b.pdf", "open_access": true}\n{"name": "c.pdf"}\n')
    return folder


class Stopping(LocalLake):
    """A lake that fails after a number of uploads."""

    def __init__(self, folder: Path, after: int) -> None:
        super().__init__(folder)
        self.left = after

    def upload(self, key: str, path: Path, *, move: bool = False) -> None:
        if not self.left:
            raise ConnectionError("broken off")
        self.left -= 1
        super().upload(key, path, move=move)


def test_folder_with_subfolders_is_a_valid_drop(lake: Lake, papers: Path, tmp_path: Path) -> None:
    found = deliver(lake, DROP, files_below(papers))
    assert (found.sent, found.kept) == (4, 0)
    assert found.warnings == ('records.jsonl, line 2: name: "c.pdf" is not a file of the drop: the line is ignored',)
    run = Run(ReleaseSpec(name="t"), found.ready_at.replace(year=2100), lake, tmp_path)
    assert outcome(run, "one")["outcome"] == "taken"
    assert {p["name"]: p["open_access"] for p in places(run)} == {
        name: {"sub/b.pdf": True}.get(name) for name in NAMES if "pdf" in name
    }


def test_many_unread_files_give_few_warnings(lake: Lake, tmp_path: Path) -> None:
    for number in range(23):
        (tmp_path / f"{number:02d}.txt").touch()
    warnings = deliver(lake, DROP, files_below(tmp_path)).warnings
    assert (len(warnings), warnings[-1].split(":")[0]) == (21, "3 more files that no release reads")


@pytest.mark.parametrize("after", range(4))
def test_stopped_delivery_resumes(papers: Path, tmp_path: Path, after: int) -> None:
    files, lake = files_below(papers), Stopping(tmp_path / "lake", after)
    with pytest.raises(ConnectionError):
        deliver(lake, DROP, files, threads=1)
    assert lake.size(DROP.key("_READY")) is None
    found = deliver(LocalLake(tmp_path / "lake"), DROP, files)
    assert (found.sent, found.kept) == (4 - after, after)
    assert lake.size(DROP.key("_READY")) is not None


def test_delivery_by_another_process_is_not_overwritten(papers: Path, tmp_path: Path) -> None:
    lake = Racing(tmp_path / "lake")
    with pytest.raises(UserError, match="was delivered by another process at the same time"):
        deliver(lake, DROP, files_below(papers))
    assert lake.get(DROP.key("_READY"))[0] == b"another"


def test_only_files_below_a_folder_are_delivered(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="give "):
        files_below(tmp_path / "none")
    (tmp_path / "b.pdf").mkdir()
    (tmp_path / "x.pdf").symlink_to("nowhere")
    for name in ("a.txt", "_READY", "c.PDF", "b.pdf/d.pdf", "b.pdf/_READY"):
        (tmp_path / name).touch()
    assert list(files_below(tmp_path)) == ["a.txt", "b.pdf/_READY", "b.pdf/d.pdf", "c.PDF"]


def test_impossible_file_names_are_reported(tmp_path: Path) -> None:
    for name in ("1\n", "2\\b.pdf", os.fsdecode(b"3\xe9")):
        (tmp_path / name).touch()
    with pytest.raises(UserError, match=r"3 file name\(s\) that a drop cannot have, such as '1.*', '2.*', '3.*'"):
        files_below(tmp_path)


def test_changed_file_is_sent_again(lake: Lake, papers: Path, tmp_path: Path) -> None:
    with pytest.raises(ConnectionError):
        deliver(Stopping(tmp_path / "lake", 2), DROP, files_below(papers), threads=1)
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


def test_file_that_grows_during_the_upload_is_named(papers: Path, tmp_path: Path) -> None:
    class Growing(LocalLake):
        def upload(self, key: str, path: Path, *, move: bool = False) -> None:
            with path.open("ab") as file:
                file.write(b"more")
            super().upload(key, path, move=move)

    lake = Growing(tmp_path / "lake")
    with pytest.raises(UserError, match=r"changed from \d+ to \d+ bytes during the upload"):
        deliver(lake, DROP, files_below(papers))
    assert lake.size(DROP.key("_READY")) is None


@pytest.mark.parametrize("ready", ['{"files": [', '{"files": [3]}', "[]"])
def test_damaged_ready_file_is_named(lake: Lake, papers: Path, ready: str) -> None:
    lake.put(DROP.key("_READY"), ready.encode())
    with pytest.raises(UserError, match=r"damaged _READY .*: give another id"):
        deliver(lake, DROP, files_below(papers))


def test_folder_with_the_lake_is_not_added(papers: Path) -> None:
    (papers.parent / "link").symlink_to(papers)
    for folder in (papers, papers.parent / "link"):
        added = invoke("add", "own", str(folder), "--lake", str(papers / "lake"))
        assert added.exit_code != 0 and "contains the lake" in str(added.exception)
    assert not (papers / "lake").exists()


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
    with pytest.raises(UserError, match=f"^{re.escape(repr(id_))} cannot be the id of a drop"):
        new_delivery("drop", "", id_)
    with pytest.raises(UserError, match=f"^{re.escape(repr(id_))} cannot be the id of a delivery"):
        new_delivery("delivery", id_, "1")


def test_command_adds_a_folder(papers: Path, tmp_path: Path) -> None:
    result = invoke("add", "s2_v2", papers, "--as", "one", "--lake", tmp_path / "lake")
    assert result.exit_code == 0
    assert "4 files sent, ready at" in result.output and "warning: records.jsonl" in result.output
    options = ("--source", "crossref", "--full", "--as", "1", "--lake", tmp_path / "lake")
    assert "unknown keys: name" in str(invoke("add", "s2_v2", papers / "records.jsonl", *options).exception)
    (papers / "records.jsonl").write_text('{"record_id": "crossref:10.1000/a", "title": "On a"}')
    assert invoke("add", "s2_v2", papers / "records.jsonl", *options).exit_code == 0
    ready = json.loads(LocalLake(tmp_path / "lake").get("sources/crossref/1/_READY")[0])
    assert (ready["mode"], [file["name"] for file in ready["files"]]) == ("full", ["records.jsonl"])
    same = invoke(
        "add", "s2_v2", papers / "a.pdf", papers / "sub/../a.pdf", "--source", "x", "--lake", tmp_path / "lake"
    )
    assert "has the same name" in str(same.exception)


# -- Downloads and trees.


class Shelf(Server):
    """A web folder with some files that records requests."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.status: dict[str, int] = {}
        self.asked: list[str] = []

    def answer(self, request: Request) -> Answer:
        name = request.path.rpartition("/")[2]
        self.asked.append(name)
        body = self.files.get(name)
        return self.status.get(name, 404 if body is None else 200), body or b"", {}

    def put(self, name: str, data: bytes, checksum: str = "{md5}  {name}\n") -> None:
        self.files[name] = data
        self.files[f"{name}.md5"] = checksum.format(md5=hashlib.md5(data).hexdigest(), name=name).encode()


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    with Shelf() as found:
        found.url = f"{found.url}/files/"
        yield found


def test_index_lists_names_that_match(shelf: Shelf) -> None:
    links = ("b.xml.gz", "a.xml.gz", "a.xml.gz", "a.xml.gz.md5", "../x.xml.gz", "c.xml.gz?x")
    shelf.files[""] = "".join(f'<a href="{link}">' for link in links).encode()
    assert fetch.list_files(shelf.url, r".*\.xml\.gz") == ["a.xml.gz", "b.xml.gz"]


@pytest.mark.parametrize("form", ["{md5}", "{md5}  {name}\n", "MD5({name})= {md5}\n"])
def test_file_with_its_checksum_is_downloaded(shelf: Shelf, tmp_path: Path, form: str) -> None:
    shelf.put("a", b"1", form)
    assert fetch.fetch(shelf.url, "a", tmp_path).read_bytes() == b"1"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    ("name", "status", "kind"),
    [("a.md5", 404, UserError), ("a", 301, UserError), ("a", 429, TransientError), ("a", 503, TransientError)],
)
def test_response_without_file_is_an_error(
    shelf: Shelf, tmp_path: Path, name: str, status: int, kind: type[Exception]
) -> None:
    shelf.put("a", b"")
    shelf.status[name] = status
    with pytest.raises(kind, match=f"HTTP {status}"):
        fetch.fetch(shelf.url, "a", tmp_path)
    assert not list(tmp_path.iterdir())


def test_damaged_files_and_checksums_are_refused(shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.put("a", b"1")
    shelf.files["a"] = b"2"
    with pytest.raises(TransientError, match=r"1 bytes, MD5 .* expected"):
        fetch.fetch(shelf.url, "a", tmp_path)
    shelf.files["a.md5"] = b"no checksum " + b"0" * 31
    with pytest.raises(UserError, match="no MD5 found"):
        fetch.fetch(shelf.url, "a", tmp_path)
    shelf.put("a", b"12345")
    monkeypatch.setattr(fetch, "MAX_FILE_BYTES", 4)
    with pytest.raises(UserError, match="more than 4 bytes"):
        fetch.fetch(shelf.url, "a", tmp_path)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(fetch, "MAX_FILE_BYTES", 5)
    assert fetch.fetch(shelf.url, "a", tmp_path)


def test_tree_is_delivered_without_the_folders_already_there(lake: Lake, tmp_path: Path) -> None:
    for name in ("drops/a", "drops/b", "sources/s/1"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "_READY").write_bytes(b"{}")
        (tmp_path / name / "sub/x").write_bytes(name.encode())
    (tmp_path / "suppress.jsonl").write_bytes(b"{}")
    lake.put("drops/a/_READY", b"{}")
    assert deliver_tree(lake, tmp_path) == 2 * 2 + 1
    sent = ["drops/b/_READY", "drops/b/sub/x", "sources/s/1/_READY", "sources/s/1/sub/x"]
    assert [entry.key for entry in lake.list("")] == ["drops/a/_READY", *sent, "suppress.jsonl"]


def test_requests_have_limits(shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file has 30 minutes and 2 GiB, an index 1 minute and 32 MiB, a checksum 1 minute and 4 KiB."""
    limits: list[tuple[str, float, int]] = []
    ask = web.Session.ask

    def spy(session: web.Session, method: str, url: str, *, seconds: float, max_bytes: int) -> requests.Response:
        limits.append((url.removeprefix(shelf.url), seconds, max_bytes))
        return ask(session, method, url, seconds=seconds, max_bytes=max_bytes)

    monkeypatch.setattr(web.Session, "ask", spy)
    shelf.files[""] = b""
    shelf.put("a", b"1")
    fetch.list_files(shelf.url, "a")
    fetch.fetch(shelf.url, "a", tmp_path)
    assert limits == [("", 60.0, 32 << 20), ("a.md5", 60.0, 4096), ("a", 1800.0, 2 << 30)]
