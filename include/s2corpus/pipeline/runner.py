"""Run a stage with the same steps in the DAG's tasks, on the command line and in tests."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from datetime import datetime
from functools import partial
from multiprocessing import get_context

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseDecision
from s2corpus.pipeline import acceptance, checks, quality, receipts
from s2corpus.pipeline.publication import retry_lost_race
from s2corpus.pipeline.run import ReleaseTables, Run, load_stage
from s2corpus.pipeline.stage_rows import Shards
from s2corpus.pipeline.stages import stage_row
from s2corpus.storage.error_kinds import convert_errors
from s2corpus.storage.exchange import RowsRemoved
from s2corpus.storage.part import counting, format_counts
from s2corpus.version import code_version
from s2orc_parse.children import begin_worker

log = logging.getLogger(__name__)
Progress = Callable[[int, int], None]
SMALL = 500
"""number of PDFs or papers that a task takes at least, because each task takes seconds to start"""


@convert_errors()
def accept(run: Run, reasons: Mapping[str, str], by: str) -> None:
    """Override checks of this release: `<stage>.<check>` → the written reason.

    Raises:
        UserError: a check does not exist or cannot be overridden, or a reason is missing.
    """
    if reasons:
        acceptance.accept(run.lake, run.release_id, reasons, by, checks.list_all_checks())


@convert_errors()
def plan(run: Run, name: str, round: int = 0) -> list[int]:
    """Plan a round of a stage; return the shard numbers. A stage that plans its own shards stores the plan for `finish`."""
    is_planned = stage_row(name).shards is Shards.PLANNED
    if is_planned:
        step, basis = receipts.name_plan(round), receipts.hash_basis(run, name, with_plan=round > 0)
        receipts.withdraw_receipts(run, name, {step}, basis)
    try:
        shards = load_stage(name).plan(run, round)
    except RowsRemoved as removed:
        _raise_unless_finished(run, name, removed)
        return [shard.index for shard in run.read_plan(name, round)] if is_planned else []
    if is_planned:
        if round == 0 and (catalog := Catalog.from_environment()):
            catalog.start_stage(run.release_id, run.spec.name, run.as_of, name)
        run.put_plan(name, shards, round)
        receipts.put_receipt(run, name, step, basis)
    log.info("%s: %d shard(s) planned%s", name, len(shards), f" for round {round + 1}" if round else "")
    return [shard.index for shard in shards]


def batch_shards(run: Run, name: str, indexes: Sequence[int], round: int = 0) -> list[list[int]]:
    """Divide the shards of a round into one batch for each task: at most `max_tasks`, and at least SMALL items in a batch.

    Each shard of extract is a separate batch, because a server takes seconds for each PDF.
    """
    resources, size = run.spec.resources, 1
    if name == "intake" and round == 0:
        plan = run.read_plan(name)
        files = sum(shard.params["row"]["files"] for shard in plan[:-1])
        if plan[-1].params["buckets"] == 1:  # otherwise a delivery can contain any number of records
            size = SMALL * len(plan) // max(files, 1)
    elif name != "extract":
        is_of_papers = stage_row(name).shards is Shards.PAPERS or stage_row(name).determines is Shards.PAPERS
        size = -(-SMALL // (resources.papers_per_shard if is_of_papers else resources.pdfs_per_shard))
    size = max(1, size, -(-len(indexes) // resources.max_tasks))
    return [list(indexes[i : i + size]) for i in range(0, len(indexes), size)]


def work_inline(run: Run, name: str, indexes: Sequence[int]) -> bool:
    """Process the later rounds of a stage if one batch contains each round; `indexes` is the batch of the first round.

    Return False, without any work, if a round needs more tasks.
    """
    row = stage_row(name)
    shards = run.read_plan(name) if row.shards is Shards.PLANNED else load_stage(name).plan(run)
    if row.rounds == 1 or len(indexes) < len(shards) or len(batch_shards(run, name, plan(run, name, 1), 1)) > 1:
        return False
    run_rounds(run, name, first=1)
    return True


@convert_errors()
def work(
    run: Run, name: str, indexes: Sequence[int], round: int = 0, progress: Progress = lambda done, total: None
) -> None:
    """Process planned shards in sequence."""
    stage = load_stage(name)
    if stage_row(name).shards is Shards.PLANNED:
        shards = run.read_plan(name, round)
    else:
        shards = stage.plan(run, round)
        if round == 0 and 0 in indexes and (catalog := Catalog.from_environment()):
            catalog.start_stage(run.release_id, run.spec.name, run.as_of, name)
    shards_by_index = {shard.index: shard for shard in shards}
    basis = receipts.hash_basis(run, name)
    receipts.withdraw_receipts(run, name, {receipts.name_shard(round, index) for index in indexes}, basis)
    start = time.monotonic()
    with counting() as written:
        for done, index in enumerate(indexes, 1):
            before, began = written.copy(), time.monotonic()
            try:
                stage.work(run, shards_by_index[index], round)
            except RowsRemoved as removed:
                _raise_unless_finished(run, name, removed)
                continue
            receipts.put_receipt(run, name, receipts.name_shard(round, index), basis)
            progress(done, len(indexes))
            log.info(
                "%s: shard %d done in %.1f s (%d of %d here): %s",
                name, index, time.monotonic() - began, done, len(indexes), format_counts(written - before),
            )  # fmt: skip
    seconds = time.monotonic() - start
    rate = written.total() / seconds if seconds else 0.0
    log.info("%s: %d shard(s) in %.1f s, %.0f/s: %s", name, len(indexes), seconds, rate, format_counts(written))


def _raise_unless_finished(run: Run, name: str, removed: RowsRemoved) -> None:
    """Raise `removed` unless another build of the release with the same code has finished the stage, with equal output."""
    # Do not use the commits that the run has cached.
    uncached_tables = ReleaseTables(run.lake, run.release_id, run.batch_folder)
    tables = [uncached_tables(table) for table in stage_row(name).written_tables]
    is_finished = all(table.is_complete() and table.committed().code_version == code_version() for table in tables)
    if not tables:  # the last stage writes the snapshot instead of tables
        is_finished = run.lake.size(f"snapshots/{run.snapshot_id}/manifest.json") is not None
    if not is_finished:
        raise removed
    log.info("%s: another build of this release has already written its tables", name)


@convert_errors()
def finish(run: Run, name: str) -> None:
    """Commit a stage's tables and store its metrics.

    Raises:
        UserError: a shard was not processed with the current rules and inputs.
    """
    receipts.check_receipts(run, name)
    metrics = retry_lost_race(lambda: load_stage(name).finish(run))
    quality.measure(run, name, metrics)
    for metric, value in sorted(metrics.items()):
        log.info("%s: %s = %g", name, metric, value)


def batch_later_shards(run: Run, name: str) -> list[list[int]]:
    """Return the batches of the shards that this stage determines for later stages, or none."""
    determined = stage_row(name).determines
    count = run.pdf_shards if determined is Shards.PDFS else run.paper_shards if determined is Shards.PAPERS else 0
    return batch_shards(run, name, range(count), round=1)


@convert_errors()
def check(run: Run, name: str) -> None:
    """Run a stage's checks and store the verdicts.

    Raises:
        QualityBlocked: a blocking check failed and was not overridden.
    """
    verdicts = quality.evaluate(run, name)
    if catalog := Catalog.from_environment():
        catalog.end_stage(run.release_id, name, quality.read_metrics(run, [name])[name], [asdict(v) for v in verdicts])
        overrides = acceptance.read_acceptances(run.lake, run.release_id)
        for check_name in (f"{v.stage}.{v.check}" for v in verdicts if v.accepted):
            override = overrides[check_name]
            at = datetime.fromisoformat(override.at)
            catalog.record_decision(
                run.release_id, check_name, override.by, ReleaseDecision.ACCEPTED, override.reason, at
            )
    for v in verdicts:
        level = logging.INFO if v.verdict == "pass" else logging.WARNING
        by_person = f": overridden by {v.accepted_by}: {v.accepted}" if v.accepted else ""
        log.log(level, "%s: check %s: %s (%d offending)%s", name, v.check, v.verdict, v.offending, by_person)
    quality.stop_if_blocked(run.release_id, verdicts)


def run_stage(run: Run, name: str, *, workers: int = 1, progress: Progress = lambda done, total: None) -> None:
    """Plan, process, finish and check a stage in this process or in `workers` child processes.

    `progress` is called with the finished and the total number of shards of a round.
    """
    run_rounds(run, name, workers=workers, progress=progress)
    finish(run, name)
    check(run, name)


def run_rounds(
    run: Run, name: str, *, first: int = 0, workers: int = 1, progress: Progress = lambda done, total: None
) -> None:
    """Plan and process the rounds of a stage, beginning with round `first`."""
    for round in range(first, stage_row(name).rounds):
        indexes = plan(run, name, round)
        if workers == 1:
            work(run, name, indexes, round, progress)
            continue
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=begin_worker) as pool:
            finished = pool.map(partial(work, run, name, round=round), [[index] for index in indexes])
            for done, _ in enumerate(finished, 1):
                progress(done, len(indexes))


def process_stages(run: Run, names: Sequence[str]) -> None:
    """Plan, process and finish stages in this process, without catalog, metrics and checks; used for batches of drops."""
    for name in names:
        stage = load_stage(name)
        shards = stage.plan(run)
        run.put_plan(name, shards)
        for shard in shards:
            stage.work(run, shard)
        stage.finish(run)
