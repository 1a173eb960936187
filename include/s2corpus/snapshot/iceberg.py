"""Register snapshots as versions of Apache Iceberg tables. The Parquet files are not copied or rewritten.

The namespace of a spec has the tables `documents`, `index`, `papers`, `paragraphs`, `bib_entries`, `ref_entries`, `links` and
`contexts`. A snapshot of the corpus replaces the content of every table and gets a tag with its name. Older snapshots are read by
their tags. This module needs the extra `iceberg`.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from s2corpus.errors import UserError
from s2corpus.snapshot import documents, hub
from s2corpus.storage.lake import Lake
from s2corpus_reader.cards import match_files
from s2corpus_reader.files import list_files

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

SCHEMAS: Mapping[str, pa.Schema] = {"documents": documents.SCHEMA} | {
    name: schema for name, (_, schema) in hub.TABLES.items()
}


def open_catalog(uri: str) -> Catalog:
    """Open an Iceberg catalog by its SQLAlchemy address (`sqlite:///…`, `postgresql+psycopg2://…`) or REST address.

    The S3 settings come from the environment, as for the lake.

    Raises:
        UserError: the address is malformed, or the catalog cannot be opened.
    """
    from pyiceberg.catalog import load_catalog
    from pyiceberg.exceptions import RESTError
    from sqlalchemy.exc import OperationalError, SQLAlchemyError

    logging.getLogger("pyiceberg").setLevel(logging.ERROR)  # it warns about each column without statistics
    s3 = {
        "s3.endpoint": os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL"),
        "s3.region": os.environ.get("AWS_DEFAULT_REGION", "us-east-1"),
    }
    given = {name: value for name, value in s3.items() if value}
    shown = re.sub(r"//[^@]*@", "//…@", uri)  # without the password
    if not re.match(r"(?:sqlite|postgresql\S*|https?)://\S", uri):
        raise UserError(f"{shown!r} is not a catalog: expected sqlite:///…, postgresql+psycopg2://… or http(s)://…")
    file = Path(uri.removeprefix("sqlite:///"))
    created_file = file if uri.startswith("sqlite:///") and not file.exists() else None
    try:
        return load_catalog("s2corpus", type="rest" if uri.startswith("http") else "sql", uri=uri, **given)
    except OperationalError:  # the server does not respond, or the disk is full: transient
        if created_file is not None and created_file.exists() and not created_file.stat().st_size:
            created_file.unlink()
        raise
    except (SQLAlchemyError, ImportError, RESTError, ValueError) as error:
        raise UserError(f"{shown}: the catalog cannot be opened: {type(error).__name__}") from None


def has_tables(lake: Lake, spec: str) -> bool:
    """Return whether snapshots of a spec in this lake were registered in any catalog."""
    return bool(lake.folders(f"iceberg/{format_name(spec)}/"))


def register(catalog: Catalog, snapshot: Lake) -> dict[str, int]:
    """Make a published snapshot the newest version of the tables of its spec; return the number of rows of each table.

    A snapshot that was registered before becomes the newest version again.

    Raises:
        UserError: a table has columns of other types than this version of the code writes.
    """
    from pyiceberg.exceptions import NamespaceAlreadyExistsError

    manifest = orjson.loads(snapshot.get("manifest.json")[0])
    namespace = format_name(manifest["spec"])
    with suppress(NamespaceAlreadyExistsError):
        catalog.create_namespace(namespace)
    return {
        name: _register(catalog, f"{namespace}.{name}", schema, manifest, snapshot) for name, schema in SCHEMAS.items()
    }


def format_name(name: str) -> str:
    """Return the namespace of a spec or the tag of a snapshot: its name, with `_` for characters that SQL must quote."""
    return re.sub(r"\W", "_", name)


def _register(catalog: Catalog, name: str, schema: pa.Schema, manifest: Mapping[str, Any], snapshot: Lake) -> int:
    pattern = hub.TABLES.get(name.rpartition(".")[2], ("documents/*.parquet",))[0]
    files = [file for file in match_files(pattern, list_files(manifest).values()) if file.rows]
    rows = sum(file.rows or 0 for file in files)
    lake = _address(snapshot).rsplit("/", 2)[0]
    location = f"{lake}/iceberg/{name.replace('.', '/')}"
    table = catalog.create_table_if_not_exists(name, schema=schema, location=location)
    tag = format_name(manifest["snapshot"])
    if (known := table.metadata.refs.get(tag)) is not None:
        if known.snapshot_id != table.metadata.current_snapshot_id:
            table.manage_snapshots().set_current_snapshot(known.snapshot_id).commit()
        return rows
    for file in files:
        snapshot.check_file(file.path)
    paths = [f"{_address(snapshot)}/{file.path}" for file in files]
    note = {"s2corpus.snapshot": str(manifest["snapshot"])}
    try:
        with table.transaction() as transaction:
            with transaction.update_schema() as update:
                update.union_by_name(schema)
            if next(iter(table.scan().plan_files()), None) is not None:
                transaction.delete("true", snapshot_properties=note)
            transaction.add_files(paths, snapshot_properties=note)
    except ValueError as error:
        raise UserError(f"{manifest['snapshot']} cannot be a version of table {name}: {error}") from None
    newest = table.current_snapshot()
    if newest is None:
        raise UserError(f"table {name} has no snapshot although {manifest['snapshot']} was added: try again")
    table.manage_snapshots().create_tag(newest.snapshot_id, tag).commit()
    return rows


def _address(snapshot: Lake) -> str:
    root = snapshot.root.rstrip("/")
    return root if "://" in root else f"file://{root}"


def unregister(catalog: Catalog, spec: str, snapshot: str) -> list[str]:
    """Remove the tag and the version of a snapshot from every table; return the tables that had it.

    No file is deleted.

    Raises:
        UserError: the snapshot is the newest version of a table; another snapshot must be registered first.
    """
    namespace, tag = format_name(spec), format_name(snapshot)
    names = catalog.list_tables(namespace) if catalog.namespace_exists(namespace) else []
    tables = [table for table in map(catalog.load_table, names) if tag in table.metadata.refs]
    for table in tables:
        newest = table.current_snapshot()
        if newest is not None and table.metadata.refs[tag].snapshot_id == newest.snapshot_id:
            raise UserError(f"{snapshot} is the newest version of {'.'.join(table.name())}: register another one first")
    for table in tables:
        version = table.metadata.refs[tag].snapshot_id
        table.manage_snapshots().remove_tag(tag).commit()
        table.maintenance.expire_snapshots().by_id(version).commit()
    return [table.name()[-1] for table in tables]
