"""docs/monitoring.md: the catalog on a real PostgreSQL. The migration creates the models' tables; the latest status is stored."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

from devtools.local import Endpoints
from s2corpus.catalog import Catalog
from s2corpus.catalog.models import Base, ReleaseDecision

pytestmark = pytest.mark.services
AS_OF = datetime(2023, 2, 1, tzinfo=UTC)
VERDICT = {
    "check": "key_is_unique", "severity": "block", "verdict": "pass", "offending": 0, "threshold": None,
    "reason": "a key occurs twice", "accepted": None, "accepted_by": None,
}  # fmt: skip


@pytest.fixture
def catalog(services: Endpoints) -> Catalog:
    found = Catalog(services.environ()["S2CORPUS_CATALOG"])
    found.migrate()
    return found


def test_migration_creates_the_models_tables_and_keeps_rows(services: Endpoints, catalog: Catalog) -> None:
    catalog.start_stage("kept-20230201", "kept", AS_OF, "intake")
    catalog.migrate()
    assert "kept-20230201" in {release.release for release in catalog.releases()}
    with create_engine(services.environ()["S2CORPUS_CATALOG"]).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


def test_repeated_stage_replaces_its_earlier_results(catalog: Catalog) -> None:
    release = "again-20230201"
    for name in ("intake", "select", "select", "extract"):
        catalog.start_stage(release, "again", AS_OF, name)
        catalog.end_stage(release, name, {"rows": 10.0}, [VERDICT])
    stages = catalog.stages(release)
    assert [stage.stage for stage in stages] == ["intake", "select", "extract"]
    assert all(stage.ended_at is not None and stage.ended_at >= stage.started_at for stage in stages)
    assert [(c.stage, c.name, c.verdict) for c in catalog.quality(release) if c.stage == "select"] == [
        ("select", "key_is_unique", "pass")
    ]


def test_approvals_are_stored_once_in_order(catalog: Catalog) -> None:
    release = "said-20230201"
    catalog.start_stage(release, "said", AS_OF, "select")
    for what, who, decision in (
        ("select.all_read", "ann", ReleaseDecision.ACCEPTED),
        ("select.all_read", "ann", ReleaseDecision.ACCEPTED),
        ("publish", "bob", ReleaseDecision.REJECTED),
    ):
        catalog.record_decision(release, what, who, decision, "a reason", AS_OF)
    catalog.record_decision("unknown-20230201", "publish", "bob", ReleaseDecision.REJECTED, "", AS_OF)
    assert [(a.what, a.who, a.answer) for a in catalog.approvals(release)] == [
        ("select.all_read", "ann", "accepted"),
        ("publish", "bob", "rejected"),
    ]
