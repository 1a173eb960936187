"""How a stage is run: the same steps for the DAG's tasks, the command line and the tests."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context

from s2corpus import quality
from s2corpus.catalog import Catalog
from s2corpus.passing import explained
from s2corpus.stages import STAGES, TAKES_OVER, stage
from s2corpus.stages.base import Run

log = logging.getLogger(__name__)


@explained()
def plan(run: Run, name: str) -> list[int]:
    """Plan a stage and keep the plan, so that `finish` counts on the same shards; the shard numbers to work on."""
    shards = stage(name).plan(run)
    if name not in TAKES_OVER:
        if catalog := Catalog.from_environment():
            catalog.start_stage(run.release_id, run.spec.name, run.as_of, name)
        run.put_plan(name, shards)
    log.info("%s: %d shard(s) planned", name, len(shards))
    return [shard.index for shard in shards]


@explained()
def work(run: Run, name: str, indexes: Sequence[int]) -> None:
    """Work on planned shards, one after the other."""
    shards = stage(name).plan(run) if name in TAKES_OVER else run.planned(name)
    planned = {shard.index: shard for shard in shards}
    if name in TAKES_OVER and 0 in indexes and (catalog := Catalog.from_environment()):
        catalog.start_stage(run.release_id, run.spec.name, run.as_of, name)
    for done, index in enumerate(indexes, 1):
        stage(name).work(run, planned[index])
        log.info("%s: shard %d done (%d of %d here)", name, index, done, len(indexes))


@explained()
def finish(run: Run, name: str) -> None:
    """Commit a stage's tables and keep what it measured."""
    metrics = stage(name).finish(run)
    quality.measure(run, name, metrics)
    for metric, value in sorted(metrics.items()):
        log.info("%s: %s = %g", name, metric, value)


@explained()
def check(run: Run, name: str, accepted: Mapping[str, str] | None = None) -> None:
    """Run a stage's checks, keep their verdicts, and stop the release where one blocks.

    `accepted` maps `<stage>.<check>` to the written reason for which an operator goes on over an overridable block.

    Raises:
        QualityBlocked: a check blocks.
    """
    verdicts = quality.evaluate(run, name)
    if catalog := Catalog.from_environment():
        catalog.end_stage(run.release_id, name, quality.read_metrics(run)[name], [asdict(v) for v in verdicts])
    for verdict in verdicts:
        level = logging.INFO if verdict.verdict == "pass" else logging.WARNING
        log.log(level, "%s: check %s: %s (%d offending)", name, verdict.check, verdict.verdict, verdict.offending)
    quality.gate(verdicts, accepted)


@explained()
def publish(run: Run) -> str:
    """Move the pointer to the run's snapshot, and note that the release is published; the manifest's address."""
    from s2corpus.stages.export import publish as move_pointer

    pointer = move_pointer(run)
    if catalog := Catalog.from_environment():
        catalog.end_release(run.release_id, "published", run.snapshot_id)
    return run.lake.uri(str(pointer.manifest))


def run_stage(run: Run, name: str, *, workers: int = 1, order: Mapping[int, int] | None = None) -> None:
    """Plan, work on, finish and check a stage in this process or in `workers` child processes.

    `order` maps shard numbers to ranks: shards are worked on by rank (tests try any order).
    """
    indexes = plan(run, name)
    if order:
        indexes.sort(key=lambda index: order.get(index, index))
    if workers == 1:
        work(run, name, indexes)
    else:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            list(pool.map(work, [run] * len(indexes), [name] * len(indexes), [[index] for index in indexes]))
    finish(run, name)
    check(run, name)


def run_release(run: Run, *, workers: int = 1) -> None:
    """All stages of a release, in order, without Airflow."""
    for name in STAGES:
        run_stage(run, name, workers=workers)
