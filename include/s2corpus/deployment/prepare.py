"""Prepare what Airflow's services of compose need: `python -m s2corpus.deployment.prepare`, after `airflow db migrate`.

Write the administrator's password, and create the catalog's database with a role that can read and write only there. Workers read
hostile PDFs, so they get this role instead of the owner of Airflow's database.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, make_url, text

from s2corpus.catalog import Catalog
from s2corpus.secret_files import read_secret

CATALOG = "catalog"
"""name of the catalog's database and role"""
_GRANTS = (
    f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {CATALOG}",
    f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {CATALOG}",
)


def store_password(passwords: Path, user: str, password: str) -> None:
    """Add or replace a user's password in the file of Airflow's simple auth manager; keep the other users."""
    passwords.touch(0o600)
    known = json.loads(passwords.read_text("utf-8") or "{}")
    passwords.write_text(json.dumps(known | {user: password}), "utf-8")


def prepare_catalog(airflow: str, password: str) -> None:
    """Create and migrate the catalog's database, and the role `catalog` with this password.

    `airflow` is the address of Airflow's database with its owner, who may create databases and roles.
    """
    owner = create_engine(airflow, isolation_level="AUTOCOMMIT")
    with owner.connect() as connection:
        if not _exists(connection, "SELECT 1 FROM pg_database WHERE datname = :name"):
            connection.execute(text(f"CREATE DATABASE {CATALOG}"))
        if not _exists(connection, "SELECT 1 FROM pg_roles WHERE rolname = :name"):
            connection.execute(text(f"CREATE ROLE {CATALOG}"))
        quoted = connection.scalar(text("SELECT quote_literal(:password)"), {"password": password})
        connection.exec_driver_sql(f"ALTER ROLE {CATALOG} LOGIN PASSWORD {quoted}".replace("%", "%%"))
        # By default, each role may connect to each database.
        database = connection.scalar(text("SELECT quote_ident(current_database())"))
        connection.execute(text(f"REVOKE CONNECT ON DATABASE {database} FROM PUBLIC"))
    address = make_url(airflow).set(database=CATALOG)
    Catalog(address.render_as_string(hide_password=False)).migrate()
    tables: Engine = create_engine(address, isolation_level="AUTOCOMMIT")
    with tables.connect() as connection:
        for grant in _GRANTS:
            connection.execute(text(grant))
    owner.dispose()
    tables.dispose()


def _exists(connection: Connection, query: str) -> bool:
    return connection.scalar(text(query), {"name": CATALOG}) is not None


def main() -> None:
    """Read passwords and addresses from the environment and from files."""
    passwords = Path(os.environ["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE"])
    store_password(passwords, os.environ["AIRFLOW_ADMIN_USER"], read_secret("AIRFLOW_ADMIN_PASSWORD") or "")
    catalog = make_url(read_secret("S2CORPUS_CATALOG") or "")
    owner = make_url(os.environ["POSTGRES_ADDRESS"]).set(password=read_secret("POSTGRES_PASSWORD"))
    prepare_catalog(owner.render_as_string(hide_password=False), catalog.password or "")


if __name__ == "__main__":
    main()
