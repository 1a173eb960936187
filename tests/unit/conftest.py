"""Fixtures that the unit tests of several packages share."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.s3_store import Store, s3_store


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a published snapshot in its lake. Tests copy it, and never change it."""
    from tests.unit.s2corpus.snapshot.release import release, snapshot_folder  # Most tests need no release.

    return snapshot_folder(release(tmp_path_factory.mktemp("published")))


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Yield a store behind the lake `s3://corpus`. Requests are repeated without waiting."""
    from tests.unit.s2corpus.storage.test_lakes import use_server

    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with s3_store() as store:
        use_server(monkeypatch, store.port)
        yield store
