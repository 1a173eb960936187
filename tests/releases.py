"""Shared helpers for tests of complete releases: the tiny sample, releases built without Airflow, and the bytes of a snapshot."""

import fcntl
import hashlib
import os
import pickle
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from devtools import sample
from devtools.sample.truth import Truth
from s2corpus.catalog import Catalog
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.extractors.embedded import embedded_extractor
from s2corpus.pipeline import publication, runner, sealed
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.spec import ReleaseSpec
from s2corpus.spec_files import load_spec
from s2corpus.storage.lake import open_lake
from s2corpus.tables.schema import Table

ROOT = Path(__file__).resolve().parents[1]
WIDE = {"files": 2, "corpus_files": 4, "gorc": True}
AS_OF = datetime(2023, 2, 1, tzinfo=UTC)
PUBLISHED, SECOND, UNFINISHED = "sample-20230201", "sample-20230301", "sample-20230401"


def make_once(name: str, make: Callable[[Path], Truth], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Truth]:
    """Return a folder filled by `make`, and its truth; all processes of one `make test` share them."""
    shared = os.environ.get("S2CORPUS_TEST_SHARED")
    folder = Path(shared, name) if shared else tmp_path_factory.mktemp(name)
    folder.mkdir(exist_ok=True)
    pickled = folder.with_name(f"{folder.name}.truth")
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not pickled.exists():
            shutil.rmtree(folder)
            folder.mkdir()
            pickled.write_bytes(pickle.dumps(make(folder)))
        fcntl.flock(lock, fcntl.LOCK_UN)  # Unlock explicitly: forks of `make` may have the file open.
    truth: Truth = pickle.loads(pickled.read_bytes())
    return folder, truth


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Truth]:
    """Return the folder of the tiny sample, and its truth."""
    return make_once("tiny", sample.tiny, tmp_path_factory)


@pytest.fixture(scope="session")
def extractor() -> Iterator[Mapping[str, str]]:
    """Yield the address and the token of the embedded extractor as environment variables."""
    with embedded_extractor(workers=2) as (url, token):
        yield {"GROBID_URL": url, "S2CORPUS_EXTRACTOR_TOKEN": token}


@pytest.fixture
def extracting(extractor: Mapping[str, str]) -> Iterator[None]:
    """Let the releases of a test use the embedded extractor."""
    with mock.patch.dict(os.environ, extractor):
        yield


@pytest.fixture(scope="session")
def released(
    tiny: tuple[Path, Truth], request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Run, Truth]:
    """Return the published release of the tiny sample, built in one piece and without faults, and its truth.

    Tests copy the lake (`copy_lake`), and never change it.
    """

    def make(folder: Path) -> Truth:
        variables = {"S2CORPUS_CATALOG": f"sqlite:///{folder / 'catalog.db'}", **request.getfixturevalue("extractor")}
        Catalog(variables["S2CORPUS_CATALOG"]).migrate()
        # Other releases have equal bytes with the cache of pdfalto's output.
        with mock.patch.dict(os.environ, variables | {"S2CORPUS_CACHE_GB": "0"}):
            build(run_in(folder, spec(), tiny[0]))
        return tiny[1]

    folder, truth = make_once("released", make, tmp_path_factory)
    return run_in(folder, spec()), truth


@pytest.fixture(scope="session")
def reference(released: tuple[Run, Truth]) -> dict[str, str]:
    """Return the hashes of the tiny sample's undisturbed release."""
    return snapshot_bytes(released[0])


@dataclass(frozen=True)
class Built:
    """A lake with two published releases and one that stopped after the filter, and its catalog."""

    folder: Path
    truth: Truth
    runs: Mapping[str, Run]

    @property
    def lake(self) -> str:
        """Return the path of the lake."""
        return str(self.folder / "lake")

    @property
    def catalog(self) -> str:
        """Return the URL of the catalog."""
        return f"sqlite:///{self.folder / 'catalog.db'}"


@pytest.fixture(scope="session")
def built(
    released: tuple[Run, Truth], request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Built:
    """Return a lake with three releases. All processes of one `make test` share it: tests change only copies."""

    def runs_in(folder: Path) -> dict[str, Run]:
        lake = open_lake(str(folder / "lake"))
        at = {id_: datetime(2023, month, 1, tzinfo=UTC) for month, id_ in enumerate((PUBLISHED, SECOND, UNFINISHED), 2)}
        return {id_: Run(spec(), as_of, lake, folder) for id_, as_of in at.items()}

    def make(folder: Path) -> Truth:
        shutil.copytree(released[0].scratch, folder, dirs_exist_ok=True)  # the first release, and its catalog
        found = Built(folder, released[1], runs_in(folder))
        extractor = request.getfixturevalue("extractor")
        with mock.patch.dict(os.environ, {**extractor, "S2CORPUS_CATALOG": found.catalog}):
            build(found.runs[SECOND])
            for stage in STAGE_NAMES[: STAGE_NAMES.index("filter") + 1]:
                runner.run_stage(found.runs[UNFINISHED], stage)
        return released[1]

    folder, truth = make_once("page", make, tmp_path_factory)
    return Built(folder, truth, runs_in(folder))


@pytest.fixture
def copy(built: Built, tmp_path: Path) -> Built:
    """Return a copy of a lake with two published releases and one that did not finish, and of its catalog."""
    shutil.copytree(built.folder, tmp_path, dirs_exist_ok=True)
    lake = open_lake(str(tmp_path / "lake"))
    runs = {id_: Run(spec(), run.as_of, lake, tmp_path) for id_, run in built.runs.items()}
    return Built(tmp_path, built.truth, runs)


@pytest.fixture(scope="session")
def complete(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Truth]:
    """Return the folder of the complete sample, and its truth."""
    return make_once("complete", sample.generate, tmp_path_factory)


@pytest.fixture(scope="session")
def sampled(
    complete: tuple[Path, Truth], request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Run, Truth]:
    """Return the published release of the complete sample, and its truth.

    The corpus has more files than the documents, and is exported as GORC too.
    """
    rules = spec()
    rules = rules.model_copy(update={"export": rules.export.model_copy(update=WIDE)})

    def make(folder: Path) -> Truth:
        with mock.patch.dict(os.environ, request.getfixturevalue("extractor")):
            build(run_in(folder, rules, complete[0]))
        return complete[1]

    folder, truth = make_once("sampled", make, tmp_path_factory)
    return run_in(folder, rules), truth


def spec(**resources: int) -> ReleaseSpec:
    """Return the sample's spec, with the given resources changed."""
    found = load_spec(ROOT / "include" / "releases" / "sample.yaml")
    return found.model_copy(update={"resources": found.resources.model_copy(update=resources)})


def run_in(folder: Path, release: ReleaseSpec, deliver: Path | None = None) -> Run:
    """Return a run in a lake below `folder`; upload a tree to the lake first, if given."""
    run = Run(release, AS_OF, open_lake(str(folder / "lake")), folder)
    if deliver:
        deliver_tree(run.lake, deliver)
    return run


def rows(run: Run, table: Table[Any], **where: object) -> list[dict[str, Any]]:
    """Return the rows of a table that have these values."""
    return [row for row in run.table(table).read().to_pylist() if all(row[k] == v for k, v in where.items())]


def copy_lake(released: tuple[Run, Truth], to: Path) -> None:
    """Copy deliveries, extractions and everything else that is stored by content, but no release, to a lake below a folder."""
    lake, copy = released[0].lake, open_lake(str(to / "lake"))
    for entry in lake.list(""):
        if not entry.key.startswith(("releases/", "snapshots/")):
            copy.put(entry.key, lake.get(entry.key)[0])


def build(run: Run, *, workers: int = 1) -> str:
    """Run all stages and publish; return the snapshot's id. With one worker, this process runs them."""
    run = sealed.seal(run)
    for name in STAGE_NAMES:
        runner.run_stage(run, name, workers=workers)
    publication.publish(run)
    return run.snapshot_id


def snapshot_bytes(run: Run) -> dict[str, str]:
    """Return the SHA-256 of every file of the run's snapshot, by path."""
    prefix = f"snapshots/{run.snapshot_id}/"
    return {
        entry.key.removeprefix(prefix): hashlib.sha256(run.lake.get(entry.key)[0]).hexdigest()
        for entry in run.lake.list(prefix)
    }
