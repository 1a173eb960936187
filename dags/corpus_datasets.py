"""
### Datasets made of a published snapshot

What the S2ORC papers build on the corpus: cite-worthiness (CiteWorth), citation contexts, pretraining text with its vocabulary,
articles in Elsevier's form, paper vectors.

- **One DAG for each** `include/datasets/<name>.yaml` (or of the folder that `S2CORPUS_DATASETS` names) and each release spec it lists.
- **Triggered** by the asset `corpus_snapshot_as_of__<release>`, which publishing a release updates with the release's `as_of` as the
  partition key (`2023-02-01T00:00:00Z`). A run makes the dataset of the newest snapshot of that `as_of`.
- **Again**: clear the run, or trigger the DAG with that `partition_key`. The same snapshot and rules make the same bytes. There is no
  backfill: DAGs that wait for assets have none.
- **Steps**: `plan → work` (mapped over the snapshot's shards; what is unchanged since an earlier snapshot is not done again) `→ choose →
  write` (mapped) `→ finish → quality`; of a snapshot below the spec's `task_mb`, `plan` does what the four between do, and they are
  skipped. The manifest is written last, by `quality`, when no check blocks.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import DAG, Asset, PartitionedAssetTimetable, get_current_context, task
from task_defaults import DEFAULT_ARGS

from s2corpus.datasets.spec import DatasetSpec, datasets_folder, read_dataset_specs
from s2corpus.errors import UserError
from s2corpus.spec import releases_folder

_AFTER = "A step of a dataset. When it fails: `docs/runbook.md#datasets`."


def _job() -> Any:
    """The dataset and the snapshot that the current task works for, from the partition key."""
    from s2corpus.datasets.job import Job
    from s2corpus.datasets.source import published
    from s2corpus.datasets.spec import load_dataset_spec
    from s2corpus.storage.lake import lake_uri, open_lake

    context = get_current_context()
    _, name, release = context["dag"].dag_id.split("__", 2)
    as_of = context.get("partition_key")
    if not as_of:
        raise UserError(
            "this run has no partition key: trigger it with the release's as_of, as in 2023-02-01T00:00:00Z"
        )
    spec = load_dataset_spec(datasets_folder() / f"{name}.yaml")
    lake = open_lake(lake_uri())
    return Job(spec, published(lake, release, as_of), lake)


@task(doc_md=_AFTER)
def plan() -> list[list[int]]:
    """The shards of the snapshot in batches. Of a small snapshot none: it is worked on here, as a task's start costs seconds."""
    from s2corpus.datasets import runner

    job = _job()
    batches = runner.batches(job, runner.plan(job))
    if len(batches) > 1:
        return batches
    runner.work(job, batches[0])
    runner.choose(job)
    runner.write(job, batches[0])
    runner.finish(job)
    return []


@task(doc_md=_AFTER, map_index_template="{{ shards[0] }}{% if shards | length > 1 %}–{{ shards[-1] }}{% endif %}")
def work(shards: list[int]) -> None:
    """Keep what the dataset takes of the papers of these shards."""
    from s2corpus.datasets import runner

    get_current_context()["shards"] = shards  # type: ignore[typeddict-unknown-key]
    runner.work(_job(), shards)


@task(doc_md=_AFTER)
def choose() -> None:
    """Decide what needs all shards."""
    from s2corpus.datasets import runner

    runner.choose(_job())


@task(doc_md=_AFTER, map_index_template="{{ shards[0] }}{% if shards | length > 1 %}–{{ shards[-1] }}{% endif %}")
def write(shards: list[int]) -> None:
    """Write the files of these shards."""
    from s2corpus.datasets import runner

    get_current_context()["shards"] = shards  # type: ignore[typeddict-unknown-key]
    runner.write(_job(), shards)


@task(doc_md=_AFTER)
def finish() -> None:
    """Write what is about all shards, and the descriptions."""
    from s2corpus.datasets import runner

    runner.finish(_job())


@task(doc_md=_AFTER, trigger_rule="none_failed")  # the steps between are skipped where `plan` did them
def quality() -> str:
    """Run the checks, and publish the dataset by writing its manifest."""
    from s2corpus.datasets import runner, summary

    job = _job()
    runner.check(job)
    print(summary.summary(job))
    return job.lake.uri(f"{job.prefix}/manifest.json")


def dataset_dag(spec: DatasetSpec, release: str) -> DAG:
    """The DAG of one dataset of one release spec."""
    with DAG(
        f"corpus_dataset__{spec.name}__{release}",
        dag_display_name=f"Dataset: {spec.name} of {release}",
        description=spec.description or f"The dataset {spec.name} of every published snapshot of {release}",
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
        worked >> choose() >> written >> finish() >> quality()
    return dag


_releases = {path.stem for path in releases_folder().glob("*.yaml")}
for _spec in read_dataset_specs(datasets_folder(), check_params=False)[0]:  # spec_errors.py shows the others
    for _release in _spec.releases:
        if _release in _releases:
            _dag = dataset_dag(_spec, _release)
            globals()[_dag.dag_id] = _dag
