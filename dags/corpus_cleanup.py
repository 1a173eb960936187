"""
### Clean-up

Deletes unneeded data like `corpus prune`: tables of older published releases, stored results without a reference from a release or the
current code, batches of processed drops, and logs of this worker that are older than 30 days. Snapshots, deliveries and the records of
publications remain. The tables of the newest published releases and of running releases remain too.

The parameter `dry_run` lists the data without deleting them. Unpause the DAG to clean up every week. Docs: `docs/releases.md#disk`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, Param, task
from s2corpus_airflow.connections import apply_connections
from s2corpus_airflow.task_defaults import DEFAULT_ARGS


@task(execution_timeout=timedelta(hours=24))
def delete_waste(*, params: dict[str, Any] | None = None) -> dict[str, int]:
    """Delete it, or with `dry_run` list it; return the number of bytes of each kind."""
    from airflow.configuration import conf

    from s2corpus.catalog import Catalog
    from s2corpus.corpora.cleanup import delete, list_waste
    from s2corpus.drops.upgrade import find_store_uses
    from s2corpus.errors import UserError
    from s2corpus.spec_files import read_specs, releases_folder
    from s2corpus.storage.lake import lake_uri, open_lake

    apply_connections()
    keep, dry_run = int((params or {})["keep"]), bool((params or {})["dry_run"])
    specs, wrong = read_specs(releases_folder())
    if wrong:
        raise UserError(f"nothing was deleted, because a spec is wrong: {'; '.join(wrong)}")
    lake, logs = open_lake(lake_uri()), Path(conf.get_mandatory_value("logging", "base_log_folder"))
    stores = find_store_uses(lake_uri(), specs, datetime.now(UTC))
    freed: dict[str, int] = {}
    for waste in list_waste(lake, keep, stores, catalog=Catalog.from_environment(), logs=[logs]):
        if not dry_run:
            delete(lake, waste)
        print(f"{waste.kind} {waste.name}: {waste.files:,} files, {waste.bytes:,} bytes{' would be' * dry_run} deleted")
        freed[waste.kind] = freed.get(waste.kind, 0) + waste.bytes
    return freed


with DAG(
    "corpus_cleanup",
    dag_display_name="Clean-up",
    description="Tables of old releases, unused stored results, batches and logs",
    doc_md=__doc__,
    schedule="@weekly",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    tags=["corpus drops"],
    params={
        "keep": Param(
            3, type="integer", minimum=1, description="number of published releases of each corpus with tables"
        ),
        "dry_run": Param(False, type="boolean", description="only list what would be deleted"),
    },
    default_args=DEFAULT_ARGS,
):
    delete_waste()
