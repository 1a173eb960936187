"""Fixtures of the intake tests."""

from pathlib import Path

import pytest

from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from tests.unit.s2corpus.deliveries.samples import AS_OF


@pytest.fixture
def run(lake: Lake, tmp_path: Path) -> Run:
    """Return the run of a release over the lake."""
    return Run(ReleaseSpec(name="t"), AS_OF, lake, tmp_path)
