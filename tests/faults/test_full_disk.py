"""docs/faults.md: a full or read-only disk during any command causes one error message and changes no existing file."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from devtools.sample.truth import Truth
from s2corpus.snapshot import pointer
from s2corpus.storage.lake import open_lake
from tests import children
from tests.releases import ROOT
from tests.unit.s2corpus.snapshot.release import release

MOUNTING = "no small file system can be mounted here: that needs root, or a kernel that lets users mount tmpfs"
BEFORE = b"what was there before\n"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Create and mount a file system of 5 MB; yield its folder."""
    folder = tmp_path_factory.mktemp("small")
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=5m", "tmpfs", str(folder)], capture_output=True, check=False
    ).returncode:
        pytest.skip(MOUNTING)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory, tiny: tuple[Path, Truth]) -> dict[str, str]:
    """Create the inputs of all commands with the preceding commands; return their paths by name."""
    folder, sample = tmp_path_factory.mktemp("inputs"), tiny[0]
    (docs := folder / "docs.jsonl").write_text('{"id": "a", "title": "t", "abstract": "b", "body": [], "year": 2020}\n')
    (latex := folder / "a.tex").write_text(r"\documentclass{article}\begin{document}Some words.\end{document}")
    made = {"tei": "convert", "delta": "delta/delta", "records": "records.parquet"}
    given = {name: str(folder / path) for name, path in made.items()}
    given |= {"docs": str(docs), "latex": str(latex)}
    for kind in ("entry", "paper"):
        given[kind] = str(folder / f"{kind}.jsonl")
        Path(given[kind]).write_text(f'{{"{kind}_id": "1", "title": "A title"}}\n')
    given |= {"sample": str(sample), "pdf": str(next(sample.glob("drops/*/*.pdf")))}
    given["crossref"] = str(next(path for path in sample.glob("sources/crossref/*/*") if path.name != "_READY"))
    run = release(folder, count=12)
    pointer.publish(run.lake, run.snapshot_id)
    given |= {"release": str(run.release_id), "lake": str(folder / "lake")}
    given["snapshot"] = str(folder / "lake" / "snapshots" / run.snapshot_id)
    for name in ("convert", "delta", "records"):
        done = corpus(*COMMANDS[name].format(**given, out=folder / name, folder=folder / name).split())
        assert done.returncode == 0, done.stderr
    return given


COMMANDS = {
    "select": "select {pdf} --out {out}.parquet", "convert": "convert {pdf} {latex} --out {out}.jsonl --tei {folder}",
    "convert-tei": "convert {tei} --out {out}.jsonl --rejects {out}.rejects.jsonl",
    "s2orc-parse": "s2orc-parse {tei} --out {out}.jsonl --rejects {out}.rejects.jsonl",
    "records": "records crossref {crossref} --out {out}.parquet", "cluster": "cluster --records {records} --out {out}.parquet",
    "link": "link --entries {entry} --papers {paper} --out {out}.parquet",
    "clean": "clean --in {docs} --set s2ag --out /dev/null --dropped {out}.jsonl", "sample": "sample --tiny --out {folder}/sample",
    "add": "add own {sample}/drops/2023-01-a --lake {folder}", "dataset": "dataset contexts --snapshot {snapshot} --out {folder}",
    "push": "push {snapshot} {folder}/pushed", "register": "register {snapshot} --catalog sqlite:///{folder}/catalog.db",
    "delta": "delta {snapshot} {snapshot} --out {folder}/delta", "apply": "apply {delta} --copy {snapshot} --out {folder}/copy",
    "evaluate": "evaluate {release} --lake {lake} --sheet {out}.csv",
    "build": "build include/releases/sample.yaml --as-of 2023-02-01 --lake {folder} --from {sample}",
}  # fmt: skip
"""a command for each kind of output: Parquet, lines, folders, tables, lakes, databases"""


def corpus(*words: str) -> subprocess.CompletedProcess[str]:
    if words[0] == "s2orc-parse":
        return children.corpus(*words[1:], module="s2orc_parse")
    return children.corpus(*words, module="devtools" if words[0] == "sample" else "s2corpus")


def files_in(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder by name, except the ballast, lock files, and the log from which `convert` resumes after a crash."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("ballast", ".lock", "extractions.jsonl")
    }


def on_disk(command: str, inputs: dict[str, str], small: Path) -> subprocess.CompletedProcess[str]:
    """Run a command that writes to the small disk."""
    return corpus(*command.format(**inputs, out=small / "out", folder=small / "folder").split())


def assert_one_sentence(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Assert that the command prints one error with one of the words and no traceback, and exits with 3 if the disk is full, else 2."""
    assert done.returncode == (3 if "the disk is full" in done.stderr else 2), done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    programs = ("corpus: ", "python -m devtools: ", "s2orc-parse: ")
    (said,) = [line for line in done.stderr.splitlines() if line.startswith(programs)]
    assert any(word in said for word in words), said


@pytest.mark.parametrize("name", COMMANDS)
def test_command_on_full_disk_gives_one_sentence(name: str, inputs: dict[str, str], small: Path) -> None:
    for suffix in ("parquet", "jsonl", "csv"):
        (small / f"out.{suffix}").write_bytes(BEFORE)
    (small / "folder").mkdir(exist_ok=True)
    before = files_in(small)
    with (small / "ballast").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1 << 12))
    try:
        assert_one_sentence(on_disk(COMMANDS[name], inputs, small), "the disk is full", "0 are free")
        after = files_in(small)
        # The sample's marker file remains, so that the next call replaces the incomplete sample.
        if name == "sample":
            assert after.pop("folder/sample/.sample.json") == b""
            after = {path: data for path, data in after.items() if not path.startswith("folder/sample/drops/")}
        assert after == before
    finally:
        (small / "ballast").unlink()


@pytest.mark.parametrize("name", ["convert", "convert-tei", "add", "build"])
def test_command_on_read_only_disk_gives_one_sentence(name: str, inputs: dict[str, str], small: Path) -> None:
    (small / "folder").mkdir(exist_ok=True)
    before = files_in(small)
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    try:
        assert_one_sentence(on_disk(COMMANDS[name], inputs, small), "read-only", "Read-only", "may write to")
        assert files_in(small) == before
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small)], check=True)


def test_disk_that_fills_up_leaves_no_partial_file(inputs: dict[str, str], small: Path) -> None:
    room = 5 << 20
    pdfs = Path(inputs["sample"]) / "drops" / "2023-01-a"
    (small / "ballast").write_bytes(bytes(room - (64 << 10)))  # The remaining space is enough for a part of the drop.
    try:
        assert_one_sentence(
            corpus("add", "own", str(pdfs), "--as", "own-d", "--lake", str(small / "lake")), "the disk is full"
        )
        lake = open_lake(str(small / "lake"))
        assert "drops/own-d/_READY" not in [entry.key for entry in lake.list("")]
        assert all(
            lake.get(entry.key)[0] == (pdfs / Path(entry.key).name).read_bytes() for entry in lake.list("drops/")
        )
        assert not list((small / "lake").rglob(".put-*"))
    finally:
        (small / "ballast").unlink()
    assert corpus("add", "own", str(pdfs), "--as", "own-d", "--lake", str(small / "lake2")).returncode == 0


def test_killed_add_resumes(tmp_path: Path) -> None:
    (folder := tmp_path / "papers").mkdir()
    for number in range(100):
        (folder / f"{number}.pdf").write_bytes(os.urandom(200_000))
    lake = open_lake(str(tmp_path / "lake"))
    words = [
        sys.executable, "-m", "s2corpus", "add", "own", str(folder), "--as", "own-d", "--lake", str(tmp_path / "lake"),
    ]  # fmt: skip
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL)
    while not any(entry.bytes for entry in lake.list("drops/own-d/")):
        assert process.poll() is None
    process.kill()
    process.wait()
    there = {entry.key for entry in lake.list("drops/own-d/")}
    assert 0 < len(there) <= 100
    assert "drops/own-d/_READY" not in there
    done = corpus("add", "own", str(folder), "--as", "own-d", "--lake", str(tmp_path / "lake"))
    assert done.returncode == 0, done.stderr
    assert "already in the lake" in done.stdout
    assert all(lake.get(f"drops/own-d/{path.name}")[0] == path.read_bytes() for path in folder.iterdir())
    assert lake.size("drops/own-d/_READY") is not None


def test_full_standard_output_gives_one_sentence() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "s2corpus", "--help"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert_one_sentence(done, "the disk is full")
