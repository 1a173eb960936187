"""docs/monitoring.md: the catalog on a real PostgreSQL. The migration creates the models' tables; the latest status is stored."""

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


def test_latest_results_and_each_answer_are_stored_once(catalog: Catalog) -> None:
    release = "again-20230201"
    for name in ("intake", "select", "select"):
        catalog.start_stage(release, "again", AS_OF, name)
        catalog.end_stage(release, name, {"rows": 10.0}, [VERDICT])
    stages = catalog.stages(release)
    assert [(stage.stage, stage.ended_at is not None) for stage in stages] == [("intake", True), ("select", True)]
    assert [c.verdict for c in catalog.quality(release) if c.stage == "select"] == ["pass"]
    for what, answer in (("select", "accepted"), ("select", "accepted"), ("publish", "rejected")):
        catalog.record_decision(release, what, "ann", ReleaseDecision(answer), "a reason", AS_OF)
    catalog.record_decision("unknown-20230201", "publish", "ann", ReleaseDecision.REJECTED, "", AS_OF)
    assert [(a.what, a.answer) for a in catalog.approvals(release)] == [("select", "accepted"), ("publish", "rejected")]
