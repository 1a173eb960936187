"""
### Datasets of a published snapshot

Build the datasets that papers derive from S2ORC: cite-worthiness (CiteWorth), citation contexts, pretraining text with its
vocabulary, articles in Elsevier's format, and paper vectors.

- **DAGs**: one DAG per dataset spec and release spec. Dataset specs are `include/datasets/<name>.yaml`, or the files of the folder
  `S2CORPUS_DATASETS`; each lists its release specs.
- **Trigger**: the asset `corpus_snapshot_as_of__<release>`. Publishing a release updates the asset; the partition key is the
  release's `as_of` (`2023-02-01T00:00:00Z`). A run builds the dataset of the newest snapshot with this `as_of`.
- **Repeat**: clear the run, or trigger the DAG with the `partition_key`. The same snapshot and rules produce the same bytes.
  Backfills are not possible, because an asset triggers the DAG.
- **Steps**: `plan → work → choose → write → finish → quality`. `work` and `write` are mapped over the snapshot's shards. `work` skips
  shards that have not changed since an earlier snapshot. If the snapshot is smaller than the spec's `task_mb`, `plan` does the work
  of the next four steps, and Airflow skips them. `quality` writes the manifest last, if no check blocks.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import DAG, Asset, PartitionedAssetTimetable, get_current_context, task
from airflow.sdk.exceptions import AirflowSkipException
from s2corpus_airflow import events
from s2corpus_airflow.connections import apply_connections
from s2corpus_airflow.task_defaults import DEFAULT_ARGS, set_label

from s2corpus.errors import UserError
from s2corpus.spec_files import datasets_folder, releases_folder
from s2corpus.storage.error_kinds import convert_errors
from s2corpus_datasets.spec import DatasetSpec, read_dataset_specs

_DOC = "A step of a dataset. If it fails, see `docs/runbook.md#datasets`."


def _job() -> Any:
    """Return the job of the current task: the dataset, and the snapshot of the partition key."""
    from s2corpus.datasets import ReleasePdfs, open_published_snapshot
    from s2corpus.storage.lake import lake_uri, open_lake
    from s2corpus_datasets.job import Job
    from s2corpus_datasets.source import SnapshotSource
    from s2corpus_datasets.spec import load_dataset_spec

    apply_connections()
    context = get_current_context()
    _, name, release = context["dag"].dag_id.split("__", 2)
    as_of = context.get("partition_key")
    if not as_of:
        raise UserError(
            "this run has no partition key: trigger it with the release's as_of, as in 2023-02-01T00:00:00Z"
        )
    spec = load_dataset_spec(datasets_folder() / f"{name}.yaml")
    lake = open_lake(lake_uri())
    source = SnapshotSource(folder := open_published_snapshot(lake, release, as_of))
    return Job(spec, source, lake, pdfs=ReleasePdfs(folder, source.id))


@task(doc_md=_DOC)
@convert_errors()
def plan(*, triggering_asset_events: Any = None) -> list[list[int]]:
    """Return the shards of the snapshot in batches. A run that only events without content triggered is skipped.

    Process a small snapshot here and return no batches, because each task takes seconds to start.
    """
    from s2corpus_datasets import runner

    triggering = [event for each in (triggering_asset_events or {}).values() for event in each]
    if triggering and not events.has_content(triggering):
        raise AirflowSkipException("no release sent these events")
    job = _job()
    batches = runner.batches(job, runner.plan(job))
    if len(batches) > 1:
        return batches
    runner.work(job, batches[0])
    runner.choose(job)
    runner.write(job, batches[0])
    runner.finish(job)
    return []


@task(doc_md=_DOC, map_index_template="{{ shards[0] }}{% if shards | length > 1 %}–{{ shards[-1] }}{% endif %}")
@convert_errors()
def work(shards: list[int]) -> None:
    """Select the papers of these shards for the dataset."""
    from s2corpus_datasets import runner

    set_label("shards", shards)
    runner.work(_job(), shards)


@task(doc_md=_DOC)
@convert_errors()
def choose() -> None:
    """Make the decisions that depend on all shards."""
    from s2corpus_datasets import runner

    runner.choose(_job())


@task(doc_md=_DOC, map_index_template="{{ shards[0] }}{% if shards | length > 1 %}–{{ shards[-1] }}{% endif %}")
@convert_errors()
def write(shards: list[int]) -> None:
    """Write the files of these shards."""
    from s2corpus_datasets import runner

    set_label("shards", shards)
    runner.write(_job(), shards)


@task(doc_md=_DOC)
@convert_errors()
def finish() -> None:
    """Write the files that cover all shards, and the descriptions."""
    from s2corpus_datasets import runner

    runner.finish(_job())


@task(
    doc_md=_DOC, trigger_rule="none_failed_min_one_success"
)  # the steps in between are skipped if `plan` did their work
@convert_errors()
def quality() -> str:
    """Run the checks, and publish the dataset by writing its manifest."""
    from s2corpus_datasets import description, runner

    job = _job()
    runner.check(job)
    print(description.summary(job))
    return str(job.lake.uri(f"{job.prefix}/manifest.json"))


def dataset_dag(spec: DatasetSpec, release: str) -> DAG:
    """Return the DAG of one dataset and one release spec."""
    with DAG(
        f"corpus_dataset__{spec.name}__{release}",
        dag_display_name=f"Dataset: {spec.name} of {release}",
        description=spec.description or f"Build the dataset {spec.name} of each published snapshot of {release}",
        doc_md=__doc__,
        schedule=PartitionedAssetTimetable(assets=Asset(f"corpus_snapshot_as_of__{release}")),
        catchup=False,
        max_active_runs=1,
        tags=["corpus dataset"],
        default_args={
            **DEFAULT_ARGS,
            "owner": "corpus datasets",
            "execution_timeout": timedelta(hours=spec.task_hours),
        },
    ) as dag:
        planned = plan()
        worked = work.expand(shards=planned)
        written = write.expand(shards=planned)
        checked = quality()
        worked >> choose() >> written >> finish() >> checked
        planned >> checked
    return dag


_releases = {path.stem for path in releases_folder().glob("*.yaml")}
for _spec in read_dataset_specs(datasets_folder(), check_params=False)[0]:  # spec_errors.py reports invalid specs
    for _release in _spec.releases:
        if _release in _releases:
            _dag = dataset_dag(_spec, _release)
            globals()[_dag.dag_id] = _dag
