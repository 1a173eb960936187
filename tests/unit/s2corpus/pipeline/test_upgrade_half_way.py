"""docs/deployment.md: an upgrade in the middle of a release stops it with an error message, and nothing is published. A run
whose code is pinned by `GitDagBundle` continues with its first code.

Each step runs in a separate process, like the tasks of a worker. The process imports the code that exists when it starts.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson
import pytest

from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.snapshot import pointer
from s2corpus.storage.lake import Lake, open_lake

ROOT = Path(__file__).resolve().parents[4]
HALF = STAGE_NAMES.index("link")
UPGRADED = Path("include/s2corpus/titles/rules.py")
STEP = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from s2corpus.errors import UserError
from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run
from s2corpus.spec import load_spec

lake, spec, *names = sys.argv[1:]
run = Run.open(load_spec(Path(spec)), datetime(2023, 2, 1, tzinfo=UTC), lake=lake)
try:
    for name in names:
        runner.publish(run) if name == "publish" else runner.run_stage(run, name)
except UserError as error:
    raise SystemExit(str(error))
"""
ABSTRACT = (
    "We ask how often the papers that a paper cites were read by those who cite it, and look at the errors in their references. "
    "When a reference is copied from another list, its errors are copied with it; the share of equal errors tells how many "
    "of the references were copied. In the lists of four thousand papers that cite one famous article we find that most of the "
    "errors are equal to errors that were printed before, and we give a simple model of how they spread from list to list."
)


@pytest.fixture
def delivered(tmp_path: Path, extractor: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Lake:
    """Return a lake with the delivered metadata of three papers. A corpus of abstracts does not need PDFs."""
    for name, value in extractor.items():
        monkeypatch.setenv(name, value)
    lake = open_lake(str(tmp_path / "lake"))
    papers = [
        {"id": str(n), "title": f"On the {word} of printed errors in references", "authors": ["Ada Byron"], "date": "2020-05-01",
         "abstract": ABSTRACT, "doi": f"10.1000/{n}"}
        for n, word in enumerate(("spread", "reading", "copying"))
    ]  # fmt: skip
    data = b"".join(orjson.dumps(paper) + b"\n" for paper in papers)
    listed = [{"name": "records.jsonl", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}]
    lake.put("sources/ours/first/records.jsonl", data)
    lake.put("sources/ours/first/_READY", orjson.dumps({"ready_at": "2023-01-05T00:00:00Z", "files": listed}))
    (tmp_path / "small.yaml").write_text("name: small\nexport: {files: 2}\n")
    return lake


def step(code: Path, folder: Path, names: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run stages of the release in a separate process with the code in the folder `code`; return the finished process."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("S2CORPUS_CATALOG")}
    environ |= {"PYTHONPATH": str(code / "include"), "NUMBA_DISABLE_JIT": "1"}  # Compiling would take longer.
    command = [sys.executable, "-c", STEP, str(folder / "lake"), str(folder / "small.yaml"), *names]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def copy_code(to: Path, *names: str) -> Path:
    for name in ("include", "sql", *names):
        shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    return to


def upgrade(code: Path) -> None:
    """Change the code in place, as an upgrade does."""
    with (code / UPGRADED).open("a") as stream:
        stream.write("\n# another version\n")


@pytest.mark.long
def test_upgrade_during_a_release_stops_it(delivered: Lake, tmp_path: Path) -> None:
    code = copy_code(tmp_path / "code")
    done = step(code, tmp_path, STAGE_NAMES[:HALF])
    assert done.returncode == 0, done.stderr
    upgrade(code)
    stopped = step(code, tmp_path, [*STAGE_NAMES[HALF:], "publish"])
    assert stopped.returncode == 1
    said = stopped.stderr.strip().splitlines()[-1]
    assert "export.one_code: 2 offending row(s)" in said and "clear the release from intake on" in said
    assert "(cannot be overridden)" in said
    assert pointer.read_latest(delivered, "small").snapshot is None


BUNDLE = """
import os, subprocess, sys
from airflow.providers.git.bundles.git import GitDagBundle

options = {"tracking_ref": "main", "repo_url": sys.argv[1], "subdir": "dags", "version": sys.argv[2] or None}
bundle = GitDagBundle(name="corpus", **options)
bundle.initialize()
found = bundle.get_current_version()
environ = {**os.environ, "PYTHONPATH": str(bundle.path.parent / "include")}
version = [sys.executable, "-c", "from s2corpus.version import code_version; print(code_version())"]
print(getattr(found, "version", found), subprocess.check_output(version, env=environ, text=True))
"""


@pytest.mark.long
@pytest.mark.airflow
def test_run_pinned_by_git_bundle_uses_its_first_code(tmp_path: Path) -> None:
    """A bundle of a repository on this machine also contains `include` and `sql`; a worker finds the package there."""
    pytest.importorskip("airflow.providers.git")
    work, bare = copy_code(tmp_path / "work", "dags"), str(tmp_path / "repository.git")
    # By default, bundles are stored in the machine's temporary folder, where they refer to the repository of the last test run.
    environ = {**os.environ, "AIRFLOW_HOME": str(tmp_path / "airflow"), "AIRFLOW__CORE__LOAD_EXAMPLES": "False"}
    environ["AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_STORAGE_PATH"] = str(tmp_path / "bundles")

    def git(*words: str) -> None:
        author = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
        subprocess.run(["git", *author, *words], cwd=work, check=True, capture_output=True)

    def read_versions(pinned: str = "") -> list[str]:
        """Return the bundle's version and the code version that a worker gets, for a pinned version or the newest one."""
        command = [sys.executable, "-c", BUNDLE, bare, pinned]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()[-2:]

    for words in (
        ("init", "--initial-branch", "main"),
        ("add", "-A"),
        ("commit", "-m", "one"),
        ("clone", "--bare", ".", bare),
    ):
        git(*words)
    began = read_versions()
    upgrade(work)
    git("commit", "-am", "two")
    git("push", bare, "main")
    newest = read_versions()
    assert newest[0] != began[0] and newest[1] != began[1]
    assert read_versions(began[0]) == began
