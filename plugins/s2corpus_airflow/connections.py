"""Take the addresses and keys of lake and catalog from Airflow's connections, and so from its secrets backend.

The connections apply if the environment does not set S2CORPUS_LAKE:

- `s2corpus_lake` (type `aws`): the extra `lake` is the address, as in `s3://corpus`; login and password are the keys. The extras
  `endpoint_url`, `region_name` and `aws_session_token` are optional. Without keys, boto3's own chain applies (roles, instance profiles).
- `s2corpus_catalog` (type `postgres`), optional: the database of the catalog.

They become variables of s2corpus, because children and Spark executors inherit them. The AWS variables of the cluster do not change.
"""

from __future__ import annotations

import os
from typing import Any

from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowNotFoundException

from s2corpus.errors import UserError

LAKE, CATALOG = "s2corpus_lake", "s2corpus_catalog"
_applied: dict[str, str] = {}
"""the variables that this process took from connections"""


def apply_connections() -> None:
    """Set the variables of lake and catalog for this process. Read the connections each time, because keys rotate."""
    if not _is_configured():
        _apply(_read(LAKE), _read(CATALOG))


async def apply_connections_in_triggerer() -> None:
    """Do the same in the triggerer, where connections can only be read with `await`."""
    if not _is_configured():
        found: dict[str, Any] = {}
        for name in (LAKE, CATALOG):
            try:
                found[name] = await Connection.async_get(name)
            except AirflowNotFoundException:
                found[name] = None
        _apply(found[LAKE], found[CATALOG])


def _is_configured() -> bool:
    """Return whether the environment itself names the lake."""
    return os.environ.get("S2CORPUS_LAKE", "") not in ("", _applied.get("S2CORPUS_LAKE"))


def _apply(lake: Any, catalog: Any) -> None:
    _applied.update(_lake_variables(lake) | _catalog_variables(catalog))
    os.environ.update(_applied)


def _read(name: str) -> Any:
    try:
        return Connection.get(name)
    except AirflowNotFoundException:
        return None


def _lake_variables(connection: Any) -> dict[str, str]:
    if connection is None:
        raise UserError(
            f"no lake given: set S2CORPUS_LAKE, or add the Airflow connection {LAKE} of type aws with the extra "
            '{"lake": "s3://bucket"} (docs/deployment.md)'
        )
    extra = connection.extra_dejson
    if not extra.get("lake"):
        raise UserError(f'the connection {LAKE} has no address: its extra needs {{"lake": "s3://bucket[/prefix]"}}')
    options = {
        "aws_access_key_id": connection.login,
        "aws_secret_access_key": connection.password,
        **{name: extra.get(name) for name in ("aws_session_token", "endpoint_url", "region_name")},
    }
    variables = {f"S2CORPUS_S3_{name.upper()}": str(value) for name, value in options.items() if value}
    return {"S2CORPUS_LAKE": str(extra["lake"]), **variables}


def _catalog_variables(connection: Any) -> dict[str, str]:
    if connection is None:
        return {}
    from sqlalchemy.engine import URL

    address = URL.create(
        "postgresql+psycopg2",
        connection.login,
        connection.password,
        connection.host,
        connection.port,
        connection.schema,
        {name: str(value) for name, value in connection.extra_dejson.items()},
    )
    return {"S2CORPUS_CATALOG": address.render_as_string(hide_password=False)}
