"""The DAG `corpus_cleanup` does what `corpus prune` does; `tests/e2e/test_cleanup.py` checks the deleted files."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.releases import PUBLISHED, SECOND, Built

pytestmark = pytest.mark.airflow


def test_dry_run_deletes_nothing_and_a_run_frees_the_tables_of_old_releases(
    built: Built, extractor: Mapping[str, str], load: Callable[..., Any], tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    shutil.copytree(built.lake, lake)
    clean = load("corpus_cleanup", S2CORPUS_CATALOG=built.catalog, **extractor).delete_waste.function
    planned = clean(params={"keep": 1, "dry_run": True})
    assert planned["tables of releases"] > 0 and (lake / "releases" / PUBLISHED / "papers").is_dir()
    assert clean(params={"keep": 1, "dry_run": False}) == planned
    assert not list((lake / "releases" / PUBLISHED / "papers").glob("*.parquet"))
    assert list((lake / "releases" / SECOND / "papers").glob("*.parquet"))
