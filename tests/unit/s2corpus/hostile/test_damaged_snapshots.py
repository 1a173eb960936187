"""Each command that reads a snapshot handles a missing, cut or replaced file.

It prints one sentence, or a result from the remaining files.
"""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import click
import pytest

from s2corpus.cli import corpus
from s2corpus.errors import TransientError, UserError
from s2corpus.snapshot.pointer import publish
from s2corpus.storage.transient import convert_environment_error
from tests.unit.s2corpus.snapshot.release import release

FILES = (
    "manifest.json", "index.parquet", "aliases.parquet", "clusters.parquet", "keys/00.parquet", "stats.json",
    "v2/s2orc/train/00.jsonl.gz", "documents/s2orc/train/00.parquet", "corpus/metadata/metadata_0.jsonl.gz",
)  # fmt: skip
COMMANDS = (
    "read SNAPSHOT --id x", "read SNAPSHOT --sample 50", "read SNAPSHOT --doi 10.1234/7", "read SNAPSHOT --grep the", "diff SNAPSHOT WHOLE",
    "push SNAPSHOT OUT", "similar 10.1234/7 --snapshot SNAPSHOT",
)  # fmt: skip
SLOW = (
    "delta SNAPSHOT WHOLE --out OUT",
    "register SNAPSHOT --catalog sqlite:///OUT",
    "dataset contexts --snapshot SNAPSHOT --out OUT",
)
"""Slow commands, tested only with damage to the files that they read."""


def damages(path: Path) -> dict[str, bytes | None]:
    data = path.read_bytes()
    other = {".json": b"[3]", ".gz": gzip.compress(b'{"id": 5}\n[]\n')}.get(path.suffix, b"PAR1" + bytes(40) + b"PAR1")
    return {"gone": None, "cut": data[: len(data) // 2], "another": other}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = release(tmp_path_factory.mktemp("whole"), count=40)
    publish(made.lake, made.snapshot_id)
    return Path(made.lake.uri(f"snapshots/{made.snapshot_id}"))


@pytest.mark.parametrize("file", FILES)
def test_damaged_snapshot_file_gives_a_clear_error(file: str, whole: Path, tmp_path: Path) -> None:
    snapshot, out = tmp_path / "lake/snapshots" / whole.name, tmp_path / "out"
    shutil.copytree(whole, snapshot)
    for damage, data in damages(snapshot / file).items():
        if data is None:
            (snapshot / file).unlink()
        else:
            (snapshot / file).write_bytes(data)
        slow = SLOW if file in ("manifest.json", "index.parquet", "documents/s2orc/train/00.parquet") else ()
        for command in (*COMMANDS, *slow):
            words = [
                command.replace("SNAPSHOT", str(snapshot)).replace("WHOLE", str(whole)) for command in command.split()
            ]
            given = [word.replace("OUT", str(out)) for word in words]
            try:
                corpus.main(given, standalone_mode=False)
            except (UserError, TransientError, click.ClickException) as error:
                assert "\n" not in str(error).strip(), (damage, command)
            except Exception as error:
                assert convert_environment_error(error) is not None, (damage, command)
            if out.is_dir():
                shutil.rmtree(out)
            out.unlink(missing_ok=True)
