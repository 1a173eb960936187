"""Register snapshots as versions of Apache Iceberg tables. The Parquet files are not copied or rewritten.

The namespace of a spec has the tables `documents`, `index`, `papers`, `paragraphs`, `bib_entries`, `ref_entries`, `links` and
`contexts`. A snapshot of the corpus replaces the content of every table and gets a tag with its name. Older snapshots are read by
their tags. This module needs the extra `iceberg`.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from s2corpus.errors import UserError
from s2corpus.snapshot import documents, hub
from s2corpus_reader.files import list_files

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

    from s2corpus.storage.lake import Lake

SCHEMAS: Mapping[str, pa.Schema] = {"documents": documents.SCHEMA} | {
    name: schema for name, (_, schema) in hub.TABLES.items()
}
NOTE = "s2corpus.snapshot"
"""Property of an Iceberg snapshot: the id of its corpus snapshot."""


def open_catalog(uri: str) -> Catalog:
    """Open the catalog at an SQLAlchemy address (`sqlite:///…`, `postgresql+psycopg2://…`) or a REST address, with the S3 of the lake.

    Raises:
        UserError: the address has another form, or the catalog does not open.
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
        raise UserError(f"{shown!r} is not a catalogue: expected sqlite:///…, postgresql+psycopg2://… or http(s)://…")
    file = Path(uri.removeprefix("sqlite:///"))
    made = file if uri.startswith("sqlite:///") and not file.exists() else None
    try:
        return load_catalog("s2corpus", type="rest" if uri.startswith("http") else "sql", uri=uri, **given)
    except OperationalError:  # the server does not respond, or the disk is full: transient
        if made is not None and made.exists() and not made.stat().st_size:
            made.unlink()
        raise
    except (SQLAlchemyError, ImportError, RESTError, ValueError) as error:
        raise UserError(f"{shown}: no catalogue opens there: {type(error).__name__}") from None


def has_tables(lake: Lake, spec: str) -> bool:
    """Return whether snapshots of a spec in this lake were registered in any catalog."""
    return bool(lake.folders(f"iceberg/{namespace_of(spec)}/"))


def register(catalog: Catalog, snapshot: Lake) -> dict[str, int]:
    """Make a published snapshot the newest version of the tables of its spec; return the number of rows of each table.

    A snapshot that was registered before becomes the newest version again.

    Raises:
        UserError: a table has columns of other types than this version of the code writes.
    """
    from pyiceberg.exceptions import NamespaceAlreadyExistsError

    manifest = orjson.loads(snapshot.get("manifest.json")[0])
    namespace = namespace_of(manifest["spec"])
    with suppress(NamespaceAlreadyExistsError):
        catalog.create_namespace(namespace)
    return {
        name: _register(catalog, f"{namespace}.{name}", schema, manifest, snapshot) for name, schema in SCHEMAS.items()
    }


def namespace_of(spec: str) -> str:
    """Return the namespace of a spec: its name, with `_` for characters that SQL must quote."""
    return re.sub(r"\W", "_", spec)


def tag_of(snapshot: str) -> str:
    """Return the tag of a snapshot: its id, with `_` for characters that SQL must quote."""
    return re.sub(r"\W", "_", snapshot)


def _register(catalog: Catalog, name: str, schema: pa.Schema, manifest: Mapping[str, Any], snapshot: Lake) -> int:
    files = [file for file in _files(name.rpartition(".")[2], manifest) if file["rows"]]
    rows = sum(int(file["rows"]) for file in files)
    lake = _address(snapshot).rsplit("/", 2)[0]
    location = f"{lake}/iceberg/{name.replace('.', '/')}"
    table = catalog.create_table_if_not_exists(name, schema=schema, location=location)
    tag = tag_of(manifest["snapshot"])
    if (known := table.metadata.refs.get(tag)) is not None:
        if known.snapshot_id != table.metadata.current_snapshot_id:
            table.manage_snapshots().set_current_snapshot(known.snapshot_id).commit()
        return rows
    for file in files:
        snapshot.check_file(file["path"])
    paths = [f"{_address(snapshot)}/{file['path']}" for file in files]
    note = {NOTE: str(manifest["snapshot"])}
    try:
        with table.transaction() as transaction:
            with transaction.update_schema() as update:
                update.union_by_name(schema)
            if next(iter(table.scan().plan_files()), None) is not None:
                transaction.delete("true", snapshot_properties=note)
            transaction.add_files(paths, snapshot_properties=note)
    except ValueError as error:
        raise UserError(f"{name}: {manifest['snapshot']} cannot be a version of it: {error}") from None
    newest = table.current_snapshot()
    if newest is None:
        raise UserError(
            f"{name}: the catalogue has no snapshot of it after {manifest['snapshot']} was added: try again"
        )
    table.manage_snapshots().create_tag(newest.snapshot_id, tag).commit()
    return rows


def _files(table: str, manifest: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    pattern = hub.TABLES[table][0] if table in hub.TABLES else "documents/*.parquet"
    folder, _, suffix = pattern.partition("*")
    for path, file in list_files(manifest).items():
        if path.startswith(folder) and path.endswith(suffix):
            yield file.as_json()


def _address(snapshot: Lake) -> str:
    root = snapshot.root.rstrip("/")
    return root if "://" in root else f"file://{root}"


def forget(catalog: Catalog, spec: str, snapshot: str) -> list[str]:
    """Remove the tag and the version of a snapshot from every table; return the tables that had it.

    No file is deleted.

    Raises:
        UserError: the snapshot is the newest version of a table; another snapshot must be registered first.
    """
    namespace, tag = namespace_of(spec), tag_of(snapshot)
    tables = (
        [catalog.load_table(name) for name in catalog.list_tables(namespace)]
        if catalog.namespace_exists(namespace)
        else []
    )
    having = [table for table in tables if tag in table.metadata.refs]
    for table in having:
        newest = table.current_snapshot()
        if newest is not None and table.metadata.refs[tag].snapshot_id == newest.snapshot_id:
            raise UserError(f"{snapshot} is the newest version of {'.'.join(table.name())}: register another one first")
    for table in having:
        gone = table.metadata.refs[tag].snapshot_id
        table.manage_snapshots().remove_tag(tag).commit()
        table.maintenance.expire_snapshots().by_id(gone).commit()
    return [table.name()[-1] for table in having]
