"""A release without tables, a catalog, and the functions that fill the tables and call `corpus evaluate`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from s2corpus.catalog import Catalog
from s2corpus.cli import corpus
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from s2corpus.tables.schema import Table

Row = dict[str, Any]
RELEASE = "tiny-20230201"
ZERO: dict[pa.DataType, Any] = {
    pa.bool_(): False, pa.int64(): 0, pa.int32(): 0, pa.float64(): 0.0, pa.list_(pa.string()): [], pa.binary(): b"",
}  # fmt: skip


@pytest.fixture
def run(lake: Lake, tmp_path: Path) -> Run:
    """Return the run of a release over the lake."""
    return Run(ReleaseSpec(name="tiny"), datetime(2023, 2, 1, tzinfo=UTC), lake, tmp_path)


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    """Make an empty catalog, which commands use too."""
    monkeypatch.setenv("S2CORPUS_CATALOG", f"sqlite:///{tmp_path / 'catalog.db'}")
    made = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    made.migrate()
    return made


def write(run: Run, table: Table[Any], rows: list[Row]) -> None:
    """Write rows; columns without a value are null, or zero, false or empty if null is not permitted."""
    empty = {field.name: None if field.nullable else ZERO.get(field.type, "") for field in table.schema}
    run.table(table).write(
        0, [{**empty, **row} for row in sorted(rows, key=lambda row: [row[name] for name in table.key])]
    )
    run.table(table).commit([0], {"paper_shards": 1})


def run_command(run: Run, command: str, *arguments: object) -> str:
    """Run a command over the run's lake and return its output."""
    given = [command, RELEASE, "--lake", run.lake.root, *map(str, arguments)]
    return CliRunner().invoke(corpus, given, catch_exceptions=False).output
