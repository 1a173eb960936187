"""The catalog on a real PostgreSQL: the migration creates the models' tables, and the catalog stores the latest status."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

from devtools.local import Endpoints
from s2corpus.catalog import Catalog
from s2corpus.catalog.models import Base, ReleaseDecision, ReleaseState

pytestmark = pytest.mark.services
AS_OF = datetime(2023, 2, 1, tzinfo=UTC)
VERDICT = {
    "check": "key_is_unique",
    "severity": "block",
    "verdict": "pass",
    "offending": 0,
    "threshold": None,
    "reason": "a key occurs twice",
    "accepted": None,
    "accepted_by": None,
}


@pytest.fixture
def catalog(services: Endpoints) -> Catalog:
    found = Catalog(services.environ()["S2CORPUS_CATALOG"])
    found.migrate()
    return found


def test_migration_creates_the_tables_of_the_models(services: Endpoints, catalog: Catalog) -> None:
    with create_engine(services.environ()["S2CORPUS_CATALOG"]).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


def test_migration_is_idempotent(catalog: Catalog) -> None:
    catalog.start_stage("kept-20230201", "kept", AS_OF, "intake")
    catalog.migrate()
    assert "kept-20230201" in {release.release for release in catalog.releases()}


def test_repeated_stage_replaces_its_earlier_results(catalog: Catalog) -> None:
    for rows in (10.0, 12.0):
        catalog.start_stage("again-20230201", "again", AS_OF, "select")
        catalog.end_stage("again-20230201", "select", {"rows": rows}, [VERDICT])
    (stage,) = catalog.stages("again-20230201")
    assert stage.ended_at is not None
    assert stage.ended_at >= stage.started_at
    assert [(check.name, check.verdict) for check in catalog.quality("again-20230201")] == [("key_is_unique", "pass")]


def test_stages_are_ordered_and_release_has_an_end(catalog: Catalog) -> None:
    for name in ("intake", "select", "extract"):
        catalog.start_stage("order-20230201", "order", AS_OF, name)
        catalog.end_stage("order-20230201", name, {}, [])
    catalog.set_release_state("order-20230201", ReleaseState.PUBLISHED, "order-20230201-00000000")
    assert [stage.stage for stage in catalog.stages("order-20230201")] == ["intake", "select", "extract"]
    (release,) = [release for release in catalog.releases() if release.release == "order-20230201"]
    assert (release.state, release.snapshot) == ("published", "order-20230201-00000000")


def test_first_failure_of_a_stage_is_distinguished(catalog: Catalog) -> None:
    release, error = "failing-20230201", "S3 does not answer"
    catalog.start_stage(release, "failing", AS_OF, "select")
    told = [catalog.fail_stage(release, "select", ReleaseState.FAILED, f"{error}: shard {n}") for n in range(3)]
    assert told == [True, False, False]
    (stage,) = catalog.stages(release)
    assert stage.error == f"{error}: shard 0"
    state = catalog.release(release)
    assert state is not None
    assert (state.state, state.ended_at is not None) == ("failed", True)
    catalog.start_stage(release, "failing", AS_OF, "select")
    assert catalog.fail_stage(release, "select", ReleaseState.FAILED, error), "a repeated stage fails again"
    assert catalog.fail_stage(release, "publish", ReleaseState.FAILED, error), "a step that is no stage always alerts"


def test_approvals_are_stored_once_in_order(catalog: Catalog) -> None:
    release = "said-20230201"
    catalog.start_stage(release, "said", AS_OF, "select")
    for _ in range(2):
        catalog.record_decision(release, "select.all_read", "ann", ReleaseDecision.ACCEPTED, "a broken scanner", AS_OF)
    catalog.record_decision(
        release, "publish", "bob", ReleaseDecision.REJECTED, "wait for March", AS_OF + timedelta(hours=1)
    )
    catalog.record_decision("unknown-20230201", "publish", "bob", ReleaseDecision.REJECTED, "", AS_OF)
    assert [(a.what, a.who, a.answer, a.reason) for a in catalog.approvals(release)] == [
        ("select.all_read", "ann", "accepted", "a broken scanner"),
        ("publish", "bob", "rejected", "wait for March"),
    ]


def test_release_that_awaits_approval_has_not_ended(catalog: Catalog) -> None:
    release = "asked-20230201"
    catalog.start_stage(release, "asked", AS_OF, "export")
    ended = []
    for state in (ReleaseState.AWAITING, ReleaseState.REJECTED):
        catalog.set_release_state(release, state, f"{release}-00000000")
        found = catalog.release(release)
        assert found is not None
        ended.append((found.state, found.ended_at is not None))
    assert ended == [("awaiting", False), ("rejected", True)]
