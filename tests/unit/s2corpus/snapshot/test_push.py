"""docs/reading.md: a snapshot is uploaded completely, with the manifest last; an interrupted push resumes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from s2corpus.commands.publishing import push_command as command
from s2corpus.errors import TransientError, UserError
from s2corpus.snapshot import push
from s2corpus.snapshot.verify import verify
from s2corpus.storage.lake import open_lake
from tests.standin_hub import Hub


@pytest.fixture
def snapshot(published: Path) -> Path:
    return published


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Stopped(Exception):
    """Simulates a sudden interruption."""


def stopping_at(number: int) -> Any:
    seen: list[str] = []

    def progress(path: str) -> None:
        seen.append(path)
        if len(seen) == number:
            raise Stopped

    return progress


def test_stopped_push_resumes(snapshot: Path, tmp_path: Path) -> None:
    target = open_lake(str(tmp_path / "copy"))
    with pytest.raises(Stopped):
        push.push_to_lake(open_lake(str(snapshot)), target, stopping_at(50))
    assert target.size("manifest.json") is None
    first = sorted(contents(tmp_path / "copy"))[5]
    (tmp_path / "copy" / first).write_bytes(b"something else")
    said = run(snapshot, tmp_path / "copy").output.splitlines()[-1]
    total = len(contents(snapshot)) - 1
    # The progress of an upload is recorded every 20 files. The changed file is sent again.
    assert said.endswith(f"{total - 39} files sent, 39 already in the target")
    assert contents(tmp_path / "copy") == contents(snapshot)
    assert not list(verify(target))
    assert run(snapshot, tmp_path / "copy").output.endswith(f"0 files sent, {total} already in the target\n")


@pytest.mark.parametrize(
    ("name", "says"),
    [("README.md", r"contains other files \(README.md\)"), ("manifest.json", "contains another snapshot")],
)
def test_folder_with_other_files_is_not_changed(snapshot: Path, tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / name).write_bytes(b"{}")
    with pytest.raises(UserError, match=says):
        run(snapshot, tmp_path)
    assert contents(tmp_path) == {name: b"{}"}


def test_damaged_snapshot_is_not_sent(snapshot: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    push.push_to_lake(open_lake(str(snapshot)), open_lake(str(damaged)))
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


def test_hub_gets_every_file_with_manifest_last(snapshot: Path, hub: Hub, monkeypatch: Any) -> None:
    monkeypatch.setattr(push, "_COMMIT_FILES", 40)
    hub.refuse_after = 2
    with pytest.raises(TransientError, match="push again to resume"):
        run(snapshot, "hf://lab/corpus")
    assert "manifest.json" not in hub.files["lab/corpus"]
    hub.refuse_after = None
    total = len(contents(snapshot)) - 1
    assert f"{total - 80} files sent, 80 already in the target" in run(snapshot, "hf://datasets/lab/corpus").output
    assert hub.files["lab/corpus"] == contents(snapshot)
    assert hub.commits[-1] == ["manifest.json"]
    assert f"0 files sent, {total} already in the target" in run(snapshot, "hf://lab/corpus").output


def test_hub_needs_a_valid_token(snapshot: Path, hub: Hub, monkeypatch: Any) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    with pytest.raises(UserError, match="set HF_TOKEN"):
        run(snapshot, "hf://lab/corpus")
    with pytest.raises(UserError, match="expected hf://owner/name"):
        run(snapshot, "hf://lab")
