"""docs/compatibility.md: what earlier versions wrote is read, verified, served, followed and extended; later formats are refused."""

import shutil
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

import s2corpus_reader
from s2corpus.catalog import Catalog
from s2corpus.deliveries.ready import Refused, read_ready
from s2corpus.deliveries.status import ArrivalState
from s2corpus.drops.upgrade import StoreUse, list_unused, plan_upgrade
from s2corpus.errors import UserError
from s2corpus.extractors import ExtractorIdentity
from s2corpus.ids import ReleaseId
from s2corpus.papers.corrections import read_corrections
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.sealed import open_run, read_record
from s2corpus.snapshot.pointer import published_manifest_sha256
from s2corpus.snapshot.verify import verify
from s2corpus.sources.jsonl import parse_line
from s2corpus.sources.record import Record
from s2corpus.spec import ExportRules
from s2corpus.storage.content_store import ContentStore
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.storage.parts import TableRef
from s2corpus.tables.papers import ALIASES, CLUSTERS
from s2corpus.tables.parses import EXTRACTIONS
from s2corpus_reader import SnapshotError
from s2corpus_reader.following import follow
from tests.commands import invoke
from tests.releases import ROOT, build, snapshot_bytes, spec
from tests.ui.conftest import page_over

FIXTURES = ROOT / "tests" / "data" / "releases"
VERSIONS = sorted(path.name.removesuffix(".tar.gz") for path in FIXTURES.glob("*.tar.gz"))


@dataclass(frozen=True)
class Fixture:
    """What a version wrote: a lake with two published snapshots, the delta between them, and a catalog."""

    folder: Path

    @property
    def lake(self) -> Lake:
        """Return the lake."""
        return open_lake(str(self.folder / "lake"))

    @property
    def snapshots(self) -> list[Path]:
        """Return the folders of the snapshots, oldest first."""
        return sorted(self.folder.glob("lake/snapshots/sample-*"))


def unpack(version: str, folder: Path) -> Fixture:
    with tarfile.open(FIXTURES / f"{version}.tar.gz") as archive:
        archive.extractall(folder)  # Our own file: the argument `filter` begins with Python 3.11.4.
    return Fixture(folder)


@pytest.fixture(scope="module", params=VERSIONS)
def fixture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Fixture:
    return unpack(request.param, tmp_path_factory.mktemp("fixture"))


def test_every_version_has_a_small_fixture() -> None:
    assert "2207af3" in VERSIONS
    assert all((FIXTURES / f"{version}.tar.gz").stat().st_size < 2 << 20 for version in VERSIONS)


def test_former_names_are_read() -> None:
    """Data that versions before 1.0.0 wrote into a lake, and deliveries to these versions."""
    assert [ArrivalState(name).value for name in ("worked", "unwanted")] == ["processed", "not_selected"]
    assert [ExportRules.model_validate({"approval": given}).approval for given in (True, False)] == ["other", "none"]
    record = parse_line({"record_id": "a:1", "title": "On a", "licence": "CC BY-NC 4.0"}, "line 1")
    assert isinstance(record, Record) and record.license == "CC-BY-NC-4.0"
    line = {
        "paper_id": "0" * 15, "field": "licence", "value": "CC-BY-NC-4.0", "reason": "stated in a letter", "evidence": "a letter",
    }  # fmt: skip
    (correction,) = read_corrections(orjson.dumps(line | {"ready_at": "2026-11-28T00:00:00.000000Z", "by": "ann"}))
    assert correction.field == "license"


def test_specs_of_runs_are_read(fixture: Fixture) -> None:
    for snapshot in fixture.snapshots:
        release = ReleaseId(snapshot.name.rpartition("-")[0])
        if fixture.lake.size(f"releases/{release}/_run.json") is not None:
            run = open_run(fixture.lake, release, read_record(fixture.lake, release).run, fixture.folder)
            assert run.spec.export.approval == "none"


def test_snapshots_are_verified_by_the_rules_of_their_format(fixture: Fixture) -> None:
    for folder in fixture.snapshots:
        published = published_manifest_sha256(fixture.lake, folder.name)
        assert published
        assert list(verify(open_lake(str(folder)), published_sha256s=[published])) == []


@pytest.mark.parametrize("damage", ["lost", "other bytes", "unlisted", "index"])
def test_damage_of_an_old_snapshot_is_found(damage: str, tmp_path: Path) -> None:
    folder = unpack("2207af3", tmp_path).snapshots[1]
    path = folder / "v2/s2orc/train/00.jsonl.gz"
    if damage == "lost":
        path.unlink()
    elif damage == "other bytes":
        path.write_bytes(path.read_bytes()[:-1] + b"\1")
    elif damage == "unlisted":
        path = folder / "v2/s2orc/train/99.jsonl.gz"
        path.write_bytes(b"")
    else:
        path = folder / "index.parquet"
        pq.write_table(pq.read_table(path).slice(1), path)
    faults = [fault.path for fault in verify(open_lake(str(folder)))]
    assert str(path.relative_to(folder)) in faults


def test_snapshots_are_read(fixture: Fixture) -> None:
    for folder in fixture.snapshots:
        snapshot = s2corpus_reader.open(str(folder))
        index = {row["id"]: row for row in pq.read_table(folder / "index.parquet").to_pylist()}
        assert {row["id"] for row in snapshot.texts()} == index.keys()
        assert {id_ for batch in snapshot.documents() for id_ in batch["id"].to_pylist()} == index.keys()
        assert list(snapshot.verify()) == []


def test_pages_are_served(fixture: Fixture) -> None:
    catalog = f"sqlite:///{fixture.folder / 'served.db'}"
    Catalog(catalog).migrate()
    page = page_over(fixture.folder / "lake", catalog)
    for folder in fixture.snapshots:
        release = folder.name.split("-")[1]
        at = f"corpus_release__sample/{release}"
        for path in ("", at, f"{at}/trends", f"{at}/file/README.md"):
            assert page.get(path).status_code == 200, path
        paper = pq.read_table(folder / "index.parquet")["id"][0].as_py()
        for path in (f"{at}/paper/{paper}", f"{at}/text/{paper}", f"{at}/documents/s2orc"):
            answer = page.get(path)
            assert answer.status_code == 200 or (
                answer.status_code == 410 and "The snapshot of a published release stays valid" in answer.text
            ), (path, answer.text[-300:])


def test_delta_is_applied(fixture: Fixture, tmp_path: Path) -> None:
    old, new = fixture.snapshots
    assert s2corpus_reader.apply(fixture.folder / "delta", str(old), tmp_path / "copy") == new.name
    assert read_files(tmp_path / "copy") == read_files(new)


def test_catalog_is_upgraded(fixture: Fixture, tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    path.write_bytes((fixture.folder / "catalog.db").read_bytes())
    catalog = Catalog(f"sqlite:///{path}")
    stored, needed = catalog.versions()
    if stored != needed:
        with pytest.raises(UserError, match="corpus catalog upgrade"):
            catalog.check()
    catalog.migrate()
    catalog.check()
    assert {row.release: (row.state, row.snapshot) for row in catalog.releases()} == {
        folder.name.rpartition("-")[0]: ("published", folder.name) for folder in fixture.snapshots
    }


@pytest.mark.parametrize("lost", ["stored_selections", "stored_tei", "stored_parses"])
def test_upgrade_plan_counts_what_is_processed_again(lost: str, tmp_path: Path) -> None:
    lake = unpack("1.0.0", tmp_path).lake
    (store,) = (tmp_path / "lake/stored_tei/s2corpus-layout").glob("*/*")
    identity = ExtractorIdentity("s2corpus-layout", store.parent.name, options_hash=store.name)
    run = Run(spec(), datetime(2023, 4, 1, tzinfo=UTC), lake, tmp_path)
    pdfs = len(list((tmp_path / "lake/drops").rglob("*.pdf")))
    before = plan_upgrade(run, "grobid", identity)
    rows = run_tables(lake).table(EXTRACTIONS).read().to_pylist()
    answered = sum(row["outcome"] == "ok" for row in rows)
    assert (before.release, before.to_extract) == ("sample-20230301", 0)
    assert 0 < answered <= len(rows) < before.pdfs <= pdfs
    shutil.rmtree(tmp_path / "lake" / lost)
    after = plan_upgrade(run, "grobid", identity)
    assert after.pdfs == before.pdfs
    if lost == "stored_selections":
        assert after.to_inspect == after.pdfs
    elif lost == "stored_tei":
        assert (after.to_extract, after.to_parse) == (len(rows), len(rows))
    else:
        assert (after.to_extract, after.to_parse) == (0, answered)
    assert all(hours >= 0 for hours in after.hours)


def test_upgrade_plan_lists_results_without_a_use(tmp_path: Path) -> None:
    lake = unpack("1.0.0", tmp_path).lake
    (store,) = (tmp_path / "lake/stored_tei/s2corpus-layout").glob("*/*")
    current = ExtractorIdentity("s2corpus-layout", store.parent.name, options_hash=store.name)
    earlier = store.parent.with_name("0.0.1") / store.name
    shutil.copytree(store, earlier)
    run = Run(spec(), datetime(2023, 4, 1, tzinfo=UTC), lake, tmp_path)
    files = [path for path in earlier.iterdir() if path.is_file()]
    unused = {folder: rest for folder, *rest in list_unused(run.lake, [StoreUse(run.spec, current, "grobid")])}
    assert unused[f"stored_tei/s2corpus-layout/0.0.1/{store.name}/"] == [
        len(files),
        sum(f.stat().st_size for f in files),
    ]
    assert f"stored_tei/s2corpus-layout/{current.version}/{store.name}/" not in unused, "a release refers to it"
    extract = run.spec.extract.model_copy(update={"reuse": "any"})
    keeping = Run(run.spec.model_copy(update={"extract": extract}), run.as_of, lake, tmp_path)
    assert not any(
        "0.0.1" in folder for folder, *_ in list_unused(keeping.lake, [StoreUse(keeping.spec, current, "grobid")])
    )


def test_dry_run_prints_the_plan_and_writes_nothing(tmp_path: Path) -> None:
    lake = unpack("1.0.0", tmp_path).folder / "lake"
    before = read_files(lake)
    arguments = [str(ROOT / "include/releases/sample.yaml"), "--as-of", "2023-04-01", "--lake", str(lake), "--dry-run"]
    result = invoke("build", *arguments, catch=False)
    assert result.exit_code == 0
    for words in ("to inspect", "to extract", "to parse", "core-hours", "stored results that nothing refers to"):
        assert words in result.output
    assert read_files(lake) == before


def run_tables(lake: Lake) -> Run:
    """Return the second release of a fixture."""
    return Run(spec(), datetime(2023, 3, 1, tzinfo=UTC), lake, Path("/nowhere"))


@pytest.mark.slow
@pytest.mark.usefixtures("extracting")
def test_next_release_follows_the_old_one(fixture: Fixture, tmp_path: Path) -> None:
    run = Run(spec(), datetime(2023, 4, 1, tzinfo=UTC), fixture.lake, tmp_path)
    old = fixture.snapshots[-1]
    build(run)
    assert run.parent == old.name
    new = fixture.folder / "lake/snapshots" / run.snapshot_id
    assert list(verify(open_lake(str(new)), parent=open_lake(str(old)))) == []
    papers = {row["record_id"]: row["paper_id"] for row in pq.read_table(old / "clusters.parquet").to_pylist()}
    now = {row["record_id"]: row["paper_id"] for row in run.table(CLUSTERS).read().to_pylist()}
    aliases = {row["alias"]: row["paper_id"] for row in run.table(ALIASES).read().to_pylist()}
    assert papers
    for record, paper in papers.items():
        assert record not in now or aliases.get(paper, paper) == now[record]
    copies = tmp_path / "copies"
    copies.mkdir()
    for folder in (*fixture.snapshots[:2], new):
        copy = follow(str(folder), copies)
        assert read_files(copy) == read_files(folder)
    assert snapshot_bytes(run)


def read_files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def newest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fixture]:
    yield unpack(VERSIONS[0], tmp_path_factory.mktemp("later"))


def _change(path: Path, **keys: Any) -> None:
    path.write_bytes(orjson.dumps({**orjson.loads(path.read_bytes()), **keys}))


def _read_snapshot(newest: Fixture) -> object:
    _change(newest.snapshots[0] / "manifest.json", format="s2corpus-snapshot-99")
    return s2corpus_reader.open(str(newest.snapshots[0]))


def _verify_snapshot(newest: Fixture) -> object:
    _change(newest.snapshots[0] / "manifest.json", format="s2corpus-snapshot-99")
    return list(verify(open_lake(str(newest.snapshots[0]))))


def _apply_delta(newest: Fixture) -> object:
    _change(newest.folder / "delta/delta.json", format="s2corpus-delta/99")
    return s2corpus_reader.apply(newest.folder / "delta", str(newest.snapshots[1]), newest.folder / "applied")


def _read_table(newest: Fixture) -> object:
    (commit,) = newest.folder.glob("lake/releases/sample-20230301/clusters/_COMMITTED.json")
    _change(commit, format=99)
    return TableRef(newest.lake, "releases/sample-20230301/clusters", CLUSTERS).committed()


def _read_store(newest: Fixture) -> object:
    path = newest.folder / "lake/later/000000000000-ffffffffffff-0.parquet"
    path.parent.mkdir(exist_ok=True)
    pq.write_table(EXTRACTIONS.schema.with_metadata({b"s2corpus_format": b"99"}).empty_table(), path)
    try:
        return ContentStore(newest.lake, "later", EXTRACTIONS).known("0" * 40, "f" * 40, ["outcome"])
    finally:
        assert path.exists(), "later data are not deleted"


def _read_ready(newest: Fixture) -> object:
    (ready, *_) = sorted(newest.folder.glob("lake/drops/*/_READY"))
    _change(ready, format=99)
    return read_ready(newest.lake, "drop", "", ready.parent.name)


@pytest.mark.parametrize(
    "read",
    [_read_snapshot, _verify_snapshot, _apply_delta, _read_table, _read_store, _read_ready],
    ids=lambda f: f.__name__,
)
def test_later_format_is_refused_in_one_sentence(read: Callable[[Fixture], object], newest: Fixture) -> None:
    with pytest.raises((SnapshotError, UserError, Refused), match=r"this version (reads|expects)"):
        read(newest)
