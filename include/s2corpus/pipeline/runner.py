"""Run a stage with the same steps in the DAG's tasks, on the command line and in tests."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from datetime import datetime
from functools import partial
from multiprocessing import get_context
from typing import TypeVar

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseDecision, ReleaseState
from s2corpus.errors import LostRace, QualityBlocked
from s2corpus.pipeline import acceptance, approvers, quality
from s2corpus.pipeline.run import Run, Shard
from s2corpus.pipeline.stages import Shards, load_stage, stage_row
from s2corpus.snapshot import pointer
from s2corpus.storage.exchange import RowsRemoved
from s2corpus.storage.parts import TableRef
from s2corpus.storage.progress import counting
from s2corpus.storage.transient import convert_errors
from s2corpus.version import code_version
from s2orc_parse.children import begin_worker

log = logging.getLogger(__name__)
_TRIES = 4
Result = TypeVar("Result")


@convert_errors()
def accept(run: Run, reasons: Mapping[str, str], by: str) -> None:
    """Override checks of this release: `<stage>.<check>` → the written reason.

    Raises:
        UserError: a check does not exist or cannot be overridden, or a reason is missing.
    """
    if reasons:
        acceptance.accept(run.lake, run.release_id, reasons, by, quality.list_all_checks())


@convert_errors()
def plan(run: Run, name: str, round: int = 0) -> list[int]:
    """Plan a round of a stage and store the plan, so that `finish` uses the same shards; return the shard numbers."""
    is_planned = stage_row(name).shards is Shards.PLANNED
    try:
        shards = load_stage(name).plan(run, round)
    except RowsRemoved as removed:
        _refuse_unfinished(run, name, removed)
        return [shard.index for shard in run.read_plan(name, round)] if is_planned else []
    if is_planned:
        if round == 0 and (catalog := Catalog.from_environment()):
            catalog.start_stage(run.release_id, run.spec.name, run.as_of, name)
        run.put_plan(name, shards, round)
    log.info("%s: %d shard(s) planned%s", name, len(shards), f" for round {round + 1}" if round else "")
    return [shard.index for shard in shards]


@convert_errors()
def work(run: Run, name: str, indexes: Sequence[int], round: int = 0) -> None:
    """Process planned shards in sequence."""
    stage = load_stage(name)
    if stage_row(name).shards is Shards.PLANNED:
        shards = run.read_plan(name, round)
    else:
        shards = stage.plan(run, round)
        if round == 0 and 0 in indexes and (catalog := Catalog.from_environment()):
            catalog.start_stage(run.release_id, run.spec.name, run.as_of, name)
    _work_in_sequence(run, name, shards, indexes, lambda run, shard: stage.work(run, shard, round))


def _work_in_sequence(
    run: Run, name: str, shards: Sequence[Shard], indexes: Sequence[int], do: Callable[[Run, Shard], None]
) -> None:
    shards_by_index = {shard.index: shard for shard in shards}
    with counting() as written:
        for done, index in enumerate(indexes, 1):
            before, began = written.counts.copy(), written.seconds
            try:
                do(run, shards_by_index[index])
            except RowsRemoved as removed:
                _refuse_unfinished(run, name, removed)
                continue
            took = written.seconds - began
            log.info(
                "%s: shard %d done in %.1f s (%d of %d here): %s",
                name, index, took, done, len(indexes), written.format_counts(before),
            )  # fmt: skip
        log.info(
            "%s: %d shard(s) in %.1f s, %.0f/s: %s",
            name,
            len(indexes),
            written.seconds,
            written.rate,
            written.format_counts(),
        )


def _refuse_unfinished(run: Run, name: str, removed: RowsRemoved) -> None:
    """Return if another build of the release with the same code has finished the stage: both outputs are equal.

    Raises:
        RowsRemoved: no other build has finished the stage.
    """
    tables = [TableRef(run.lake, f"{run.folder}/{table.name}", table) for table in stage_row(name).written_tables]
    is_finished = all(table.is_complete() and table.committed().code_version == code_version() for table in tables)
    if not tables:  # the last stage writes the snapshot instead of tables
        is_finished = run.lake.size(f"snapshots/{run.snapshot_id}/manifest.json") is not None
    if not is_finished:
        raise removed
    log.info("%s: another build of this release has already written its tables", name)


@convert_errors()
def finish(run: Run, name: str) -> None:
    """Commit a stage's tables and store its metrics."""
    metrics = _retry_lost_race(lambda: load_stage(name).finish(run))
    quality.measure(run, name, metrics)
    for metric, value in sorted(metrics.items()):
        log.info("%s: %s = %g", name, metric, value)


def shards_after(run: Run, name: str) -> int:
    """Return the number of shards that this stage determines for later stages, or 0."""
    fixed = stage_row(name).fixes
    return run.pdf_shards if fixed is Shards.PDFS else run.paper_shards if fixed is Shards.PAPERS else 0


@convert_errors()
def check(run: Run, name: str) -> None:
    """Run a stage's checks, store the verdicts, and stop the release if a check blocks that was not accepted.

    Raises:
        QualityBlocked: a check blocks.
    """
    verdicts = quality.evaluate(run, name)
    if catalog := Catalog.from_environment():
        catalog.end_stage(run.release_id, name, quality.read_metrics(run)[name], [asdict(v) for v in verdicts])
        given = acceptance.read_acceptances(run.lake, run.release_id)
        for what in (f"{v.stage}.{v.check}" for v in verdicts if v.accepted):
            given_acceptance, at = given[what], datetime.fromisoformat(given[what].at)
            catalog.record_decision(
                run.release_id, what, given_acceptance.by, ReleaseDecision.ACCEPTED, given_acceptance.reason, at
            )
    for verdict in verdicts:
        level = logging.INFO if verdict.verdict == "pass" else logging.WARNING
        note_text = f": overridden by {verdict.accepted_by}: {verdict.accepted}" if verdict.accepted else ""
        log.log(
            level,
            "%s: check %s: %s (%d offending)%s",
            name,
            verdict.check,
            verdict.verdict,
            verdict.offending,
            note_text,
        )
    quality.stop_if_blocked(run.release_id, verdicts)


@convert_errors()
def request_approval(run: Run, started_by: str | None = None) -> str | None:
    """Record that the release waits for approval; return the approval request in Markdown, with excluded approvers.

    Return None if the snapshot is already published: an equal id means equal, approved bytes.
    """
    if pointer.is_published(run.lake, run.snapshot_id):
        log.info("%s is already published: no approval is requested", run.snapshot_id)
        return None
    if catalog := Catalog.from_environment():
        catalog.set_release_state(run.release_id, ReleaseState.AWAITING, run.snapshot_id)
    from s2corpus.pipeline.summary import format_approval_request

    return format_approval_request(run, approvers.excluded_people(run, started_by))


@convert_errors()
def record_answer(
    run: Run, answer: ReleaseDecision, who: str, note: str, at: datetime, started_by: str | None = None
) -> None:
    """Record a person's answer to the approval request. A rejected release remains unpublished.

    `started_by` is the person who started the run.

    Raises:
        AnotherPerson: the approver started the run or delivered new data of the release.
    """
    log.info("%s: %s by %s%s", run.release_id, answer, who, f": {note}" if note else "")
    catalog = Catalog.from_environment()
    if answer is ReleaseDecision.APPROVED and (note_text := approvers.find_objection(run, who, started_by)):
        if catalog:
            catalog.record_decision(run.release_id, "publish", who, ReleaseDecision.INVALID_APPROVER, note_text, at)
        raise approvers.AnotherPerson(note_text)
    if catalog:
        catalog.record_decision(run.release_id, "publish", who, answer, note, at)
        if answer is not ReleaseDecision.APPROVED:
            catalog.set_release_state(run.release_id, ReleaseState.REJECTED, run.snapshot_id)


@convert_errors()
def publish(run: Run, approval: Mapping[str, str] | None = None) -> str:
    """Publish the run's snapshot, record the publication, and return the manifest's address.

    `approval` contains the approver, time and note; it is stored with the publication.
    """
    moved = _retry_lost_race(lambda: pointer.publish(run.lake, run.snapshot_id, approval))
    if catalog := Catalog.from_environment():
        catalog.set_release_state(run.release_id, ReleaseState.PUBLISHED, run.snapshot_id)
    return run.lake.uri(str(moved.manifest))


def _retry_lost_race(step: Callable[[], Result]) -> Result:
    """Run a step; retry if another build of the release won a race."""
    for _ in range(_TRIES - 1):
        try:
            return step()
        except LostRace as lost:
            log.info("%s: retrying", lost)
    return step()


def leave_unpublished(run: Run) -> None:
    """Record that the release's snapshot is complete and is intentionally not published."""
    if catalog := Catalog.from_environment():
        catalog.set_release_state(run.release_id, ReleaseState.UNPUBLISHED, run.snapshot_id)


def record_failure(release: str, where: str, error: BaseException | None) -> bool:
    """Record the final failure of a stage or of a later task; return whether it is the first failure since the start."""
    state = ReleaseState.STOPPED if isinstance(error, QualityBlocked) else ReleaseState.FAILED
    catalog = Catalog.from_environment()
    return catalog is None or catalog.fail_stage(release, where, state, str(error or "killed"))


def run_stage(run: Run, name: str, *, workers: int = 1, order: Mapping[int, int] | None = None) -> None:
    """Plan, process, finish and check a stage in this process or in `workers` child processes.

    `order` maps shard numbers to ranks, which determine the sequence (tests try different sequences).
    """
    run_rounds(run, name, workers=workers, order=order)
    finish(run, name)
    check(run, name)


def run_rounds(
    run: Run, name: str, *, first: int = 0, workers: int = 1, order: Mapping[int, int] | None = None
) -> None:
    """Plan and process the rounds of a stage, beginning with round `first`."""
    for round in range(first, stage_row(name).rounds):
        indexes = plan(run, name, round)
        if order and round == 0:
            indexes.sort(key=lambda index: order.get(index, index))
        _work_in_parallel(partial(work, round=round), run, name, indexes, workers)


def _work_in_parallel(
    do: Callable[[Run, str, Sequence[int]], None], run: Run, name: str, indexes: Sequence[int], workers: int
) -> None:
    if workers == 1:
        do(run, name, indexes)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=begin_worker) as pool:
        list(pool.map(do, [run] * len(indexes), [name] * len(indexes), [[index] for index in indexes]))


def process_stages(run: Run, names: Sequence[str]) -> None:
    """Plan, process and finish stages in this process, without catalog, metrics and checks; used for batches of drops."""
    for name in names:
        step = load_stage(name)
        shards = step.plan(run)
        run.put_plan(name, shards)
        for shard in shards:
            step.work(run, shard)
        step.finish(run)
