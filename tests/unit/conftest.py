"""Fixtures that the unit tests of several packages share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a published snapshot in its lake. Tests copy it, and never change it."""
    from tests.unit.s2corpus.snapshot.release import release, snapshot_folder  # Most tests need no release.

    return snapshot_folder(release(tmp_path_factory.mktemp("published")))
