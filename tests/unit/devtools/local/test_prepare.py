"""docs/deployment.md: the role that workers get reads and writes the catalog, and reaches no other database."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import OperationalError, ProgrammingError

from devtools.local import Services
from devtools.local.postgres import Postgres
from s2corpus.catalog import Catalog
from s2corpus.deployment.prepare import prepare_catalog, store_password

pytestmark = pytest.mark.services
PASSWORD = "it's %s:@/"


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a PostgreSQL server; yield the address of a database with its superuser, as POSTGRES_USER of compose is."""
    local = Services(tmp_path_factory.mktemp("services") / "state")
    try:
        local.up({"postgres"})
        address = make_url(Postgres(local.state).database_url("airflow"))
        superuser = address.set(username="postgres", password=local.state.secrets()["postgres"])
        with create_engine(superuser.set(database="postgres"), isolation_level="AUTOCOMMIT").connect() as connection:
            for kind in ("DATABASE catalog WITH (FORCE)", "ROLE catalog"):  # `up` made them for local services
                connection.execute(text(f"DROP {kind}"))
        yield superuser.render_as_string(hide_password=False)
    finally:
        local.down()


def test_role_of_workers_has_only_the_catalog(owner: str) -> None:
    for password in ("an earlier one", PASSWORD):  # A second start changes the password and nothing else.
        prepare_catalog(owner, password)
    worker = make_url(owner).set(username="catalog", password=PASSWORD, database="catalog")
    Catalog(worker.render_as_string(hide_password=False)).check()
    with create_engine(worker).connect() as connection, pytest.raises(ProgrammingError, match="permission denied"):
        connection.execute(text("CREATE TABLE more (a int)"))
    with pytest.raises(OperationalError, match="permission denied for database"):
        create_engine(worker.set(database="airflow")).connect()


def test_administrator_is_added_to_the_other_users(tmp_path: Path) -> None:
    passwords = tmp_path / "passwords.json"
    for user, password in (("ann", "1"), ("ben", "2"), ("ann", "3")):
        store_password(passwords, user, password)
    assert passwords.read_text() == '{"ann": "3", "ben": "2"}'
    assert passwords.stat().st_mode & 0o077 == 0
