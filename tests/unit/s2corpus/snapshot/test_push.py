"""docs/reading.md: a snapshot is uploaded completely, with the manifest last; an interrupted push resumes."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from s2corpus.commands.publishing import push_command as command
from s2corpus.errors import TransientError, UserError
from s2corpus.snapshot import push
from s2corpus.snapshot.verify import verify
from s2corpus.storage.lake import open_lake
from tests.standin_hub import Hub


def run(*arguments: object) -> str:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False).output


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_stopped_push_resumes(published: Path, tmp_path: Path) -> None:
    target, seen = open_lake(str(tmp_path / "copy")), list[str]()

    def stop(path: str) -> None:
        seen.append(path)
        if len(seen) == 50:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        push.push_to_lake(open_lake(str(published)), target, stop)
    assert target.size("manifest.json") is None
    first = sorted(contents(tmp_path / "copy"))[5]
    (tmp_path / "copy" / first).write_bytes(b"something else")
    total = len(contents(published)) - 1
    # The progress of an upload is recorded every 20 files. The changed file is sent again.
    said = run(published, tmp_path / "copy")
    assert said.endswith(f"{total - 39} files sent, 39 already in the target\n")
    assert contents(tmp_path / "copy") == contents(published)
    assert not list(verify(target))
    assert run(published, tmp_path / "copy").endswith(f"0 files sent, {total} already in the target\n")


@pytest.mark.parametrize(
    ("name", "says"),
    [("README.md", r"contains other files \(README.md\)"), ("manifest.json", "contains another snapshot")],
)
def test_folder_with_other_files_is_not_changed(published: Path, tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / name).write_bytes(b"{}")
    with pytest.raises(UserError, match=says):
        run(published, tmp_path)
    assert contents(tmp_path) == {name: b"{}"}


def test_interrupted_push_of_another_snapshot_is_not_continued(published: Path, tmp_path: Path) -> None:
    # The files that two snapshots have under one name would else be those of the first, below the manifest of the second.
    first, target = Path(shutil.copytree(published, tmp_path / "first")), open_lake(str(tmp_path / "copy"))
    manifest = orjson.loads((first / "manifest.json").read_bytes())
    (first / "manifest.json").write_bytes(orjson.dumps(manifest | {"code": "earlier"}))

    def stop(path: str) -> None:
        if len(contents(tmp_path / "copy")) > 30:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        push.push_to_lake(open_lake(str(first)), target, stop)
    before = contents(tmp_path / "copy")
    with pytest.raises(UserError, match="contains another snapshot, or a part of one"):
        run(published, tmp_path / "copy")
    assert contents(tmp_path / "copy") == before


def test_lost_file_of_a_copy_is_sent_again(published: Path, tmp_path: Path) -> None:
    run(published, tmp_path / "copy")
    (tmp_path / "copy/index.parquet").unlink()
    assert "1 files sent" in run(published, tmp_path / "copy")
    assert contents(tmp_path / "copy") == contents(published)


@pytest.mark.parametrize("below", ["", "copy"])
def test_snapshot_is_not_pushed_into_itself(published: Path, below: str) -> None:
    before = contents(published)
    with pytest.raises(UserError, match="is the snapshot or a part of it"):
        run(published, published / below)
    assert contents(published) == before


def test_damaged_snapshot_is_not_sent(published: Path, tmp_path: Path) -> None:
    damaged = Path(shutil.copytree(published, tmp_path / "damaged"))
    (damaged / "index.parquet").write_bytes(b"x")
    with pytest.raises(UserError, match=r"index\.parquet differs from the manifest"):
        run(damaged, tmp_path / "copy")
    assert not (tmp_path / "copy/manifest.json").exists()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    pytest.importorskip("huggingface_hub")
    with Hub() as standin:
        monkeypatch.setenv("HF_ENDPOINT", standin.url)
        monkeypatch.setenv("HF_TOKEN", standin.token)
        yield standin


def test_hub_gets_every_file_with_manifest_last(published: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push, "_COMMIT_FILES", 40)
    hub.refuse_after = 2
    with pytest.raises(TransientError, match="push again to resume"):
        run(published, "hf://lab/corpus")
    assert "manifest.json" not in hub.files["lab/corpus"]
    hub.refuse_after = None
    total = len(contents(published)) - 1
    assert f"{total - 80} files sent, 80 already in the target" in run(published, "hf://datasets/lab/corpus")
    assert hub.files["lab/corpus"] == contents(published) and hub.commits[-1] == ["manifest.json"]
    assert f"0 files sent, {total} already in the target" in run(published, "hf://lab/corpus")
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    with pytest.raises(UserError, match="set HF_TOKEN"):
        run(published, "hf://lab/corpus")
    with pytest.raises(UserError, match="expected hf://owner/name"):
        run(published, "hf://lab")
