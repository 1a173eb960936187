"""Report the lineage of a release to OpenLineage: the tables that a stage reads and writes, and the results of its checks.

`attach_lineage` adds the method that OpenLineage's listener calls when the task ends. If lineage is off, the method is never called,
and nothing is read or imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

MAX_DELIVERIES = 1_000
"""maximum number of drops and deliveries among the inputs of intake"""


def attach_lineage(task: Any, run: Any, stage: str) -> None:
    """Attach the lineage of a stage to its running task `quality`."""
    task.get_openlineage_facets_on_complete = lambda task_instance: describe_stage(run, stage)


def list_outputs(run: Any, name: str) -> Iterator[dict[str, Any]]:
    """Yield the address and the number of rows of each table that a finished stage wrote."""
    from s2corpus.pipeline.stages import stage_row

    for table in stage_row(name).written_tables:
        address = run.lake.uri(f"{run.folder}/{table.name}")
        yield {"release": str(run.release_id), "uri": address, "rows": run.table(table).committed().rows}


def describe_stage(run: Any, name: str) -> Any:
    """Return the tables that a stage reads and writes, with columns and sizes, and the results of its checks.

    The inputs of intake are the drops and deliveries; export also writes the snapshot. The checks read the tables of the stage, so
    their results are assertions on inputs.
    """
    from airflow.providers.openlineage.extractors import OperatorLineage
    from openlineage.client.event_v2 import InputDataset, OutputDataset
    from openlineage.client.facet_v2 import output_statistics_output_dataset

    from s2corpus.pipeline.stages import stage_row

    stage = stage_row(name)
    outputs = []
    for table in stage.written_tables:
        commit = run.table(table).committed()
        size = sum(part.bytes for part in commit.parts)
        statistics = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
            commit.rows, size, len(commit.parts)
        )
        outputs.append(
            OutputDataset(
                *_address(run, f"{run.folder}/{table.name}"),
                {"outputStatistics": statistics},
                facets={"schema": _schema(table)},
            )
        )
    inputs = [
        InputDataset(*_address(run, f"{run.folder}/{table.name}"), facets={"schema": _schema(table)})
        for table in stage.read_tables
    ]
    if name == "intake":
        inputs += [InputDataset(*_address(run, folder)) for folder in _deliveries(run)]
    if name == "export":
        outputs.append(OutputDataset(*_address(run, f"snapshots/{run.snapshot_id}")))
    inputs += _list_checked(run, name)
    return OperatorLineage(inputs=inputs, outputs=outputs)


def _list_checked(run: Any, name: str) -> list[Any]:
    """Return the datasets that a stage wrote, with the results of its checks."""
    from openlineage.client.event_v2 import InputDataset
    from openlineage.client.facet_v2 import InputDatasetFacet
    from openlineage.client.facet_v2 import data_quality_assertions_dataset as quality

    from s2corpus.pipeline.quality import read_verdicts
    from s2corpus.pipeline.stages import stage_row

    assertions = [
        quality.Assertion(
            "custom_sql",
            v.verdict == "pass",
            severity="error" if v.severity == "block" else "warn",
            name=f"{name}.{v.check}",
        )
        for v in read_verdicts(run).get(name, [])
    ]
    checked = [f"{run.folder}/{table.name}" for table in stage_row(name).written_tables] or [
        f"snapshots/{run.snapshot_id}"
    ]
    facet: dict[str, InputDatasetFacet] = {
        "dataQualityAssertions": quality.DataQualityAssertionsDatasetFacet(assertions)
    }
    return [InputDataset(*_address(run, key), facet) for key in checked]


def _address(run: Any, key: str) -> tuple[str, str]:
    """Return the OpenLineage namespace and name of a key in the lake: (`s3://bucket`, key) or (`file`, path)."""
    uri = run.lake.uri(key)
    parts = urlsplit(uri)
    return (f"s3://{parts.netloc}", parts.path.strip("/")) if parts.scheme == "s3" else ("file", uri)


def _schema(table: Any) -> Any:
    from openlineage.client.facet_v2 import schema_dataset

    fields = [schema_dataset.SchemaDatasetFacetFields(c.name, str(c.type), c.meaning) for c in table.columns]
    return schema_dataset.SchemaDatasetFacet(fields)


def _deliveries(run: Any) -> Iterable[str]:
    """Return the folders of the accepted drops and deliveries, latest first, at most MAX_DELIVERIES."""
    from s2corpus.deliveries.ready import folder_of
    from s2corpus.tables.intake import DELIVERIES

    rows = run.table(DELIVERIES).read(["kind", "source", "delivery", "ready_at", "outcome"]).to_pylist()
    accepted = sorted((r for r in rows if r["outcome"] == "taken"), key=lambda r: str(r["ready_at"]), reverse=True)
    return [folder_of(r["kind"], r["source"], r["delivery"]).rstrip("/") for r in accepted[:MAX_DELIVERIES]]
