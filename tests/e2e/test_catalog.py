"""docs/monitoring.md: the catalog on a real PostgreSQL. The migration creates the models' tables; the latest status is stored."""

from datetime import UTC, datetime
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, make_url, text

from devtools.local import Endpoints
from s2corpus.catalog import Catalog
from s2corpus.catalog.models import Base, ReleaseDecision
from s2corpus.errors import TransientError, UserError
from s2corpus.storage.error_kinds import convert_errors

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


REFUSED = (
    r"^the catalog \(S2CORPUS_CATALOG\) refuses access: .*{}.*: correct its URL, or let its owner grant the rights$"
)


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"password": "wrong"}, UserError, REFUSED.format("password authentication failed")),
        ({"database": "none"}, UserError, REFUSED.format('database "none" does not exist')),
        (
            {"query": {"options": "-c default_transaction_read_only=on"}},  # as on the standby after a failover
            TransientError,
            r"^the catalog \(S2CORPUS_CATALOG\) is read-only: cannot execute .*: after a failover, name the primary server$",
        ),
        ({"port": 1}, TransientError, "does not respond: .*Connection refused.*: start its database, or wait for it$"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_failing_database_is_named_by_its_cause(
    services: Endpoints, catalog: Catalog, changes: dict[str, Any], kind: type[Exception], words: str
) -> None:
    url = make_url(services.environ()["S2CORPUS_CATALOG"]).set(**changes)
    with pytest.raises(kind, match=words), convert_errors():
        Catalog(url.render_as_string(hide_password=False)).start_stage("r-20230201", "r", AS_OF, "intake")


def test_refused_statement_and_full_disk_of_the_database_are_named(services: Endpoints, catalog: Catalog) -> None:
    """The server itself raises the error of a full disk: the worker's disk is not to blame."""
    full = "DO $$ BEGIN RAISE disk_full USING MESSAGE = 'could not extend file: No space left on device'; END $$"
    named = r"^the disk is full: .*where the catalog \(S2CORPUS_CATALOG\) stores its data$"
    with create_engine(services.environ()["S2CORPUS_CATALOG"]).connect() as connection:
        with pytest.raises(TransientError, match=named), convert_errors():
            connection.execute(text(full))
        connection.rollback()
        connection.execute(text("REVOKE ALL ON releases FROM CURRENT_USER"))
        with pytest.raises(UserError, match=REFUSED.format("permission denied for table releases")), convert_errors():
            connection.execute(text("SELECT * FROM releases"))
        connection.rollback()
