"""The catalog on a real PostgreSQL: its migration makes the models' tables, and it holds what happened last."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import Base
from s2corpus.local import Endpoints

pytestmark = pytest.mark.services
AS_OF = datetime(2023, 2, 1, tzinfo=UTC)
VERDICT = {
    "check": "key_is_unique",
    "severity": "block",
    "verdict": "pass",
    "offending": 0,
    "threshold": None,
    "reason": "a key stands twice",
}


@pytest.fixture
def catalog(services: Endpoints) -> Catalog:
    found = Catalog(services.environ()["S2CORPUS_CATALOG"])
    found.migrate()
    return found


def test_the_migration_makes_what_the_models_say(services: Endpoints, catalog: Catalog) -> None:
    with create_engine(services.environ()["S2CORPUS_CATALOG"]).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


def test_migrating_again_changes_nothing(catalog: Catalog) -> None:
    catalog.start_stage("kept-20230201", "kept", AS_OF, "intake")
    catalog.migrate()
    assert "kept-20230201" in {release.release for release in catalog.releases()}


def test_a_stage_done_again_replaces_what_it_said_before(catalog: Catalog) -> None:
    for rows in (10.0, 12.0):
        catalog.start_stage("again-20230201", "again", AS_OF, "select")
        catalog.end_stage("again-20230201", "select", {"rows": rows}, [VERDICT])
    (stage,) = catalog.stages("again-20230201")
    assert stage.ended_at is not None
    assert stage.ended_at >= stage.started_at
    assert [(check.name, check.verdict) for check in catalog.quality("again-20230201")] == [("key_is_unique", "pass")]


def test_stages_are_in_the_order_they_began_and_a_release_knows_how_it_ended(catalog: Catalog) -> None:
    for name in ("intake", "select", "extract"):
        catalog.start_stage("order-20230201", "order", AS_OF, name)
        catalog.end_stage("order-20230201", name, {}, [])
    catalog.end_release("order-20230201", "published", "order-20230201-00000000")
    assert [stage.stage for stage in catalog.stages("order-20230201")] == ["intake", "select", "extract"]
    (release,) = [release for release in catalog.releases() if release.release == "order-20230201"]
    assert (release.state, release.snapshot) == ("published", "order-20230201-00000000")
