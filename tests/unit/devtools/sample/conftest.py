"""Fixtures: a generated sample and its truth."""

from __future__ import annotations

from pathlib import Path

import pytest

from devtools.sample import Truth, truths


@pytest.fixture(scope="session")
def sample(complete: tuple[Path, Truth]) -> Path:
    return complete[0]


@pytest.fixture(scope="session")
def truth(sample: Path) -> Truth:
    return truths(sample)[0]


@pytest.fixture(scope="session")
def made(tiny: tuple[Path, Truth]) -> tuple[Path, Truth]:
    """Return the tiny sample; tests import the function `tiny`."""
    return tiny
