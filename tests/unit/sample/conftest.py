"""Fixtures: a generated sample and its truth."""

from __future__ import annotations

from pathlib import Path

import pytest

from devtools.sample import Truth, generate, truths


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    generate(folder)
    return folder


@pytest.fixture(scope="session")
def truth(sample: Path) -> Truth:
    return truths(sample)[0]
