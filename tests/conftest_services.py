"""The fixture `services`: real S3, PostgreSQL and extractor for a test session, in a separate state folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from devtools.local import Endpoints, Services


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoints]:
    """Start S3, PostgreSQL and the extractor; stop them when the session ends, even after an error."""
    local = Services(Path(tmp_path_factory.mktemp("services")) / "state")
    try:
        yield local.up({"s3", "postgres", "extractor"})
    finally:
        local.down()
