"""How a stage is run: the same steps for the DAG's tasks, the command line and the tests."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from datetime import datetime
from functools import partial
from multiprocessing import get_context
from typing import cast

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import Answer, ReleaseState
from s2corpus.errors import QualityBlocked
from s2corpus.pipeline import acceptance, approvers, quality
from s2corpus.pipeline.registry import GATHERS, TAKES_OVER, stage
from s2corpus.pipeline.run import Gathers, Run, Shard
from s2corpus.scratch import private
from s2corpus.snapshot import pointer
from s2corpus.storage.progress import counting
from s2corpus.storage.transient import explained

log = logging.getLogger(__name__)


@explained()
def accept(run: Run, reasons: Mapping[str, str], by: str) -> None:
    """Override checks of this release, `<stage>.<check>` → the written reason.

    Raises:
        UserError: no such check, one that cannot be overridden, or no reason.
    """
    if reasons:
        acceptance.accept(run.lake, run.release_id, reasons, by, quality.all_checks())


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
    if name in TAKES_OVER and 0 in indexes and (catalog := Catalog.from_environment()):
        catalog.start_stage(run.release_id, run.spec.name, run.as_of, name)
    _one_by_one(run, name, shards, indexes, stage(name).work)


@explained()
def regroup(run: Run, name: str, number: int = 1) -> list[int]:
    """Plan a further round of a stage that gathers, and keep the plan; its shard numbers."""
    shards = cast(Gathers, stage(name)).regroup(run, number)
    if name not in TAKES_OVER:
        run.put_plan(f"{name}.gather", shards)
    log.info("%s: %d bucket(s) to gather", name, len(shards))
    return [shard.index for shard in shards]


@explained()
def gather(run: Run, name: str, indexes: Sequence[int], number: int = 1) -> None:
    """Gather planned buckets, one after the other."""
    step = cast(Gathers, stage(name))
    shards = step.regroup(run, number) if name in TAKES_OVER else run.planned(f"{name}.gather")
    _one_by_one(run, name, shards, indexes, lambda run, shard: step.gather(run, number, shard))


def gather_all(run: Run, name: str) -> None:
    """All further rounds of a stage, none of most, one bucket after the other."""
    for number in range(1, GATHERS.get(name, 0) + 1):
        gather(run, name, regroup(run, name, number), number)


def _one_by_one(
    run: Run, name: str, shards: Sequence[Shard], indexes: Sequence[int], do: Callable[[Run, Shard], None]
) -> None:
    planned = {shard.index: shard for shard in shards}
    with counting() as written:
        for done, index in enumerate(indexes, 1):
            before, began = written.counts.copy(), written.seconds
            do(run, planned[index])
            took = written.seconds - began
            log.info(
                "%s: shard %d done in %.1f s (%d of %d here): %s",
                name, index, took, done, len(indexes), written.figures(before),
            )  # fmt: skip
        log.info(
            "%s: %d shard(s) in %.1f s, %.0f/s: %s",
            name,
            len(indexes),
            written.seconds,
            written.rate,
            written.figures(),
        )


@explained()
def finish(run: Run, name: str) -> None:
    """Commit a stage's tables and keep what it measured."""
    metrics = stage(name).finish(run)
    quality.measure(run, name, metrics)
    for metric, value in sorted(metrics.items()):
        log.info("%s: %s = %g", name, metric, value)


def shards_after(run: Run, name: str) -> int:
    """How the tables of a finished stage are cut, in shards: what the stages that take over its own work on; 0 where parts mean nothing."""
    cut = {table.shards for table in stage(name).writes}
    return run.pdf_shards if "pdf" in cut else run.paper_shards if "paper" in cut else 0


@explained()
def check(run: Run, name: str) -> None:
    """Run a stage's checks, keep their verdicts, and stop the release where one blocks that nobody accepted.

    Raises:
        QualityBlocked: a check blocks.
    """
    verdicts = quality.evaluate(run, name)
    if catalog := Catalog.from_environment():
        catalog.end_stage(run.release_id, name, quality.read_metrics(run)[name], [asdict(v) for v in verdicts])
        given = acceptance.accepted(run.lake, run.release_id)
        for what in (f"{v.stage}.{v.check}" for v in verdicts if v.accepted):
            word, at = given[what], datetime.fromisoformat(given[what].at)
            catalog.approve(run.release_id, what, word.by, Answer.ACCEPTED, word.reason, at)
    for verdict in verdicts:
        level = logging.INFO if verdict.verdict == "pass" else logging.WARNING
        said = f": {verdict.accepted_by} goes on: {verdict.accepted}" if verdict.accepted else ""
        log.log(
            level, "%s: check %s: %s (%d offending)%s", name, verdict.check, verdict.verdict, verdict.offending, said
        )
    quality.gate(run.release_id, verdicts)


@explained()
def ask(run: Run, started_by: str | None = None) -> str | None:
    """Note that the release waits for a person; what the person is asked, in Markdown, with who may not approve it.

    None where the snapshot was published before: its id says that its bytes are those that were approved.
    """
    if pointer.is_published(run.lake, run.snapshot_id):
        log.info("%s is published already: nobody is asked again", run.snapshot_id)
        return None
    if catalog := Catalog.from_environment():
        catalog.end_release(run.release_id, ReleaseState.AWAITING, run.snapshot_id)
    from s2corpus.pipeline.summary import approval_request

    return approval_request(run, approvers.excluded_people(run, started_by))


@explained()
def answered(run: Run, answer: Answer, who: str, note: str, at: datetime, started_by: str | None = None) -> None:
    """Note what a person said to publishing; a rejected release stays unpublished. `started_by` says who started its run.

    Raises:
        AnotherPerson: who approved started the run, or delivered what is new in it.
    """
    log.info("%s: %s by %s%s", run.release_id, answer, who, f": {note}" if note else "")
    catalog = Catalog.from_environment()
    if answer is Answer.APPROVED and (said := approvers.objection(run, who, started_by)):
        if catalog:
            catalog.approve(run.release_id, "publish", who, Answer.REFUSED, said, at)
        raise approvers.AnotherPerson(said)
    if catalog:
        catalog.approve(run.release_id, "publish", who, answer, note, at)
        if answer is not Answer.APPROVED:
            catalog.end_release(run.release_id, ReleaseState.REJECTED, run.snapshot_id)


@explained()
def publish(run: Run, approval: Mapping[str, str] | None = None) -> str:
    """Move the pointer to the run's snapshot, and note that the release is published; the manifest's address.

    `approval` says who approved, when and with which note; it is kept with the publication.
    """
    moved = pointer.publish(run.lake, run.snapshot_id, approval)
    if catalog := Catalog.from_environment():
        catalog.end_release(run.release_id, ReleaseState.PUBLISHED, run.snapshot_id)
    return run.lake.uri(str(moved.manifest))


def leave_unpublished(run: Run) -> None:
    """Record that the release's snapshot is whole and was not to be published."""
    if catalog := Catalog.from_environment():
        catalog.end_release(run.release_id, ReleaseState.UNPUBLISHED, run.snapshot_id)


def failed(release: str, where: str, error: BaseException | None) -> bool:
    """Note that a stage, or what follows them, failed for good; whether this is its first failure since it began."""
    state = ReleaseState.STOPPED if isinstance(error, QualityBlocked) else ReleaseState.FAILED
    catalog = Catalog.from_environment()
    return catalog is None or catalog.fail_stage(release, where, state, str(error or "killed"))


def run_stage(run: Run, name: str, *, workers: int = 1, order: Mapping[int, int] | None = None) -> None:
    """Plan, work on, finish and check a stage in this process or in `workers` child processes.

    `order` maps shard numbers to ranks: shards are worked on by rank (tests try any order).
    """
    indexes = plan(run, name)
    if order:
        indexes.sort(key=lambda index: order.get(index, index))
    _all(work, run, name, indexes, workers)
    for number in range(1, GATHERS.get(name, 0) + 1):
        _all(partial(gather, number=number), run, name, regroup(run, name, number), workers)
    finish(run, name)
    check(run, name)


def _all(
    do: Callable[[Run, str, Sequence[int]], None], run: Run, name: str, indexes: Sequence[int], workers: int
) -> None:
    if workers == 1:
        do(run, name, indexes)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=private) as pool:
        list(pool.map(do, [run] * len(indexes), [name] * len(indexes), [[index] for index in indexes]))


def work_through(run: Run, names: Sequence[str]) -> None:
    """Plan, work on and finish stages in this process, without catalog, metrics and checks: for what is not a release."""
    for name in names:
        step = stage(name)
        shards = step.plan(run)
        run.put_plan(name, shards)
        for shard in shards:
            step.work(run, shard)
        step.finish(run)
