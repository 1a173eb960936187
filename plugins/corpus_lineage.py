"""What OpenLineage hears of a release: the tables that a stage reads and writes, by their addresses in the lake, and what its checks said.

A task that commits or checks a stage is given the method that OpenLineage's listener asks for when it ends; where lineage is off nobody
asks, and nothing is read or loaded. Here, because every component finds this folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

MAX_DELIVERIES = 1_000
"""drops and deliveries that intake names as its inputs"""


def tell(task: Any, described: Callable[[Any, str], Any], run: Any, stage: str) -> None:
    """Have the running task say at its end what `described` (`tables` or `verdicts`) gives for a stage of a run."""
    task.get_openlineage_facets_on_complete = lambda task_instance: described(run, stage)


def written(run: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The URI of each table that a finished stage wrote, with its rows; of export, the snapshot's."""
    from s2corpus.pipeline.stages import stage_row

    if name == "export":
        yield _uri(run, f"snapshots/{run.snapshot_id}"), {}
    for table in stage_row(name).written_tables:
        rows = run.table(table).committed().rows
        yield _uri(run, f"{run.folder}/{table.name}"), {"table": table.name, "rows": rows}


def tables(run: Any, name: str) -> Any:
    """The tables that a stage reads and writes, with their columns and rows; intake reads deliveries, export writes the snapshot."""
    from airflow.providers.openlineage.extractors import OperatorLineage
    from openlineage.client.event_v2 import InputDataset, OutputDataset
    from openlineage.client.facet_v2 import output_statistics_output_dataset

    from s2corpus.pipeline.stages import stage_row

    of = stage_row(name)
    outputs = []
    for table in of.written_tables:
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
        for table in of.read_tables
    ]
    if name == "intake":
        inputs += [InputDataset(*_address(run, folder)) for folder in _deliveries(run)]
    if name == "export":
        outputs.append(OutputDataset(*_address(run, f"snapshots/{run.snapshot_id}")))
    return OperatorLineage(inputs=inputs, outputs=outputs)


def verdicts(run: Any, name: str) -> Any:
    """What the checks of a stage said, as assertions on each table that it wrote; of export, on the snapshot."""
    from airflow.providers.openlineage.extractors import OperatorLineage
    from openlineage.client.event_v2 import InputDataset
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
    facet = {"dataQualityAssertions": quality.DataQualityAssertionsDatasetFacet(assertions)}
    return OperatorLineage(inputs=[InputDataset(*_address(run, key), facet) for key in checked])


def _address(run: Any, key: str) -> tuple[str, str]:
    """Namespace and name of something in the lake, as OpenLineage names objects: `s3://bucket` and the key, `file` and the path."""
    uri = run.lake.uri(key)
    parts = urlsplit(uri)
    return (f"s3://{parts.netloc}", parts.path.strip("/")) if parts.scheme == "s3" else ("file", uri)


def _uri(run: Any, key: str) -> str:
    uri = str(run.lake.uri(key))
    return uri if "://" in uri else f"file://{uri}"


def _schema(table: Any) -> Any:
    from openlineage.client.facet_v2 import schema_dataset

    fields = [schema_dataset.SchemaDatasetFacetFields(c.name, str(c.type), c.meaning) for c in table.columns]
    return schema_dataset.SchemaDatasetFacet(fields)


def _deliveries(run: Any) -> Iterable[str]:
    """The folders of the drops and deliveries that were taken, the last ready first."""
    from s2corpus.deliveries.status import folder_of
    from s2corpus.tables import DELIVERIES

    rows = run.table(DELIVERIES).read(["kind", "source", "delivery", "ready_at", "outcome"]).to_pylist()
    taken = sorted((r for r in rows if r["outcome"] == "taken"), key=lambda r: str(r["ready_at"]), reverse=True)
    return [folder_of(r["kind"], r["source"], r["delivery"]).rstrip("/") for r in taken[:MAX_DELIVERIES]]
