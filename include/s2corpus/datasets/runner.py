"""Build a dataset: the same steps for the DAG's tasks, the command line and the tests."""

from __future__ import annotations

import hashlib
import logging
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson

from s2corpus.datasets.job import Job
from s2corpus.datasets.manifest import manifest
from s2corpus.datasets.outputs import Outputs
from s2corpus.datasets.protocol import DatasetCheck, Made
from s2corpus.errors import QualityBlocked, UserError
from s2corpus.papers.licences import NOASSERTION
from s2corpus.storage.transient import convert_errors
from s2orc_parse.children import begin_worker

log = logging.getLogger(__name__)


@convert_errors()
def plan(job: Job) -> list[int]:
    """Return the shards of the snapshot.

    Raises:
        UserError: a package that the dataset needs is not installed, or the dataset was published with other rules.
    """
    if missing := [name for name in job.dataset.needs if find_spec(name) is None]:
        raise UserError(f"{job.spec.dataset} needs {', '.join(missing)}: pip install 's2corpus[datasets]'")
    _refuse_other(job)
    new = [shard for shard in range(job.source.shards) if job.receipt(shard) is None]
    job.note("plan", {"rules": job.rules, "new": new})
    log.info("%s of %s: %d shard(s), %d of them new", job.spec.name, job.source.id, job.source.shards, len(new))
    return list(range(job.source.shards))


def batches(job: Job, shards: Sequence[int]) -> list[list[int]]:
    """Divide the shards into batches, one for each task: at least `task_mb` each, at most `max_tasks` batches."""
    size, least = sum(map(job.source.size, shards)), job.spec.task_mb << 20
    number = max(1, min(job.spec.max_tasks, len(shards), size // least if least else len(shards)))
    return [list(shards[len(shards) * i // number : len(shards) * (i + 1) // number]) for i in range(number)]


@convert_errors()
def work(job: Job, shards: Sequence[int]) -> None:
    """Cache the rows of these shards. Skip a shard if its papers and rules have not changed."""
    for shard in shards:
        if job.receipt(shard) is not None:
            log.info("%s: shard %d is as it was: its rows are kept", job.spec.name, shard)
            continue
        with tempfile.TemporaryDirectory(prefix="s2corpus-dataset-", dir=job.scratch) as scratch:
            made = _keep(job, shard, Path(scratch))
        log.info("%s: shard %d: %s", job.spec.name, shard, dict(made.funnel.seen))


def _keep(job: Job, shard: int, scratch: Path) -> Made:
    from s2corpus.snapshot.documents import ParquetFile

    made, dataset = Made(), job.dataset
    rows = scratch / "rows.parquet"
    with ParquetFile(rows, dataset.schema) as file:
        for paper in job.source.papers(shard):
            before = file.count
            for row in dataset.rows(job.params, paper, made):
                file.write(row, sum(len(value) for value in row.values() if isinstance(value, str | bytes)) + 100)
            if file.count > before:
                made.licences[paper.known["licence"] or NOASSERTION] += 1  # null in old releases
    if dataset.order and file.count:
        rows = _sorted(job, rows, scratch)
    job.lake.upload(job.kept_key(shard), rows)
    receipt = {**made.as_json(), "bytes": rows.stat().st_size}
    job.lake.put(f"{job.kept_key(shard)}.json", orjson.dumps(receipt))
    return made


def _sorted(job: Job, rows: Path, scratch: Path) -> Path:
    """Return the path of a file's rows in the dataset's order, sorted on disk."""
    import pyarrow.parquet as pq

    from s2corpus.storage.duck import duckdb_connection

    target = scratch / "sorted.parquet"
    with duckdb_connection(memory_mb=job.spec.memory_mb, scratch=scratch, threads=1) as connection:
        found = connection.execute(
            f"SELECT * FROM read_parquet(?) ORDER BY {', '.join(job.dataset.order)}", [str(rows)]
        )
        with pq.ParquetWriter(target, job.dataset.schema, compression="zstd") as writer:
            for batch in found.to_arrow_reader(4096):
                writer.write_batch(batch.cast(job.dataset.schema))
    return target


@convert_errors()
def choose(job: Job) -> None:
    """Store the decisions that depend on all shards."""
    job.note("choice", job.dataset.choose(job))


@convert_errors()
def write(job: Job, shards: Sequence[int]) -> None:
    """Write the files of these shards."""
    choice = job.noted("choice")
    for shard in shards:
        with tempfile.TemporaryDirectory(prefix="s2corpus-dataset-", dir=job.scratch) as scratch:
            out = Outputs(job, Path(scratch))
            job.dataset.write(job, shard, choice, out)
        job.note(f"written-{shard:03d}", out.made.as_json())


@convert_errors()
def finish(job: Job) -> dict[str, float]:
    """Write the files that cover all shards, the card and the descriptions; return the metrics.

    Raises:
        UserError: a shard was not processed.
    """
    from s2corpus.datasets import description  # imports the code for a snapshot's card, a second of a task's start

    made = Made()
    for shard in range(job.source.shards):
        if (counted := job.receipt(shard)) is None:
            raise UserError(f"{job.spec.name}: shard {shard} of {job.source.id} was not worked on: run its work again")
        made.add(counted)
        made.add(Made.of_json(job.noted(f"written-{shard:03d}")))
    with tempfile.TemporaryDirectory(prefix="s2corpus-dataset-", dir=job.scratch) as scratch:
        out = Outputs(job, Path(scratch))
        metrics = job.dataset.finish(job, job.noted("choice"), made, out)
        made.add(out.made)
        out = Outputs(job, Path(scratch))
        description.write(job, made, metrics, out)
    made.files += out.made.files
    job.note("finished", {"made": made.as_json(), "metrics": metrics})
    return metrics


@convert_errors()
def check(job: Job) -> list[DatasetCheck]:
    """Run the checks. If none blocks, publish the dataset by writing the manifest, which is written last.

    Raises:
        QualityBlocked: a check blocks; the message names it.
    """
    finished = job.noted("finished")
    made, metrics = Made.of_json(finished["made"]), finished["metrics"]
    checks = [*_common(job, made), *job.dataset.checks(job, made, metrics)]
    for one in checks:
        verdict = "pass" if not one.offending else "block" if one.blocks else "warn"
        log.log(
            logging.INFO if not one.offending else logging.WARNING,
            "%s: %s: %s (%d%s)",
            job.spec.name,
            one.name,
            verdict,
            one.offending,
            f" {one.reason}" if one.offending else "",
        )
    if wrong := [one for one in checks if one.blocks and one.offending]:
        said = "; ".join(f"{one.name}: {one.offending} ({one.reason})" for one in wrong)
        raise QualityBlocked(f"{job.spec.name} of {job.source.id} is not published: {said}")
    _publish(job, manifest(job, made))
    return checks


def _common(job: Job, made: Made) -> list[DatasetCheck]:
    """Return the checks of every dataset: each input of a step has one outcome, and every file exists."""
    lost = 0
    for step, number in made.funnel.seen.items():
        lost += abs(number - sum(n for (at, _), n in made.funnel.outcomes.items() if at == step))
    wanted = {f"{job.prefix}/{file.path}": file.bytes for file in made.files}
    missing = len(wanted) - sum(wanted.get(entry.key) == entry.bytes for entry in job.lake.list(f"{job.prefix}/"))
    twice = len(made.files) - len(wanted)
    return [
        DatasetCheck("outcomes_sum", lost, "what goes into a step is not what comes out of it"),
        DatasetCheck("files_there", missing + twice, "files are not as they were written"),
        DatasetCheck(
            "not_empty", int(not any(file.rows for file in made.files)), "nothing was kept of any paper", blocks=False
        ),
    ]


def _publish(job: Job, content: bytes) -> None:
    job.lake.put(f"{job.prefix}/manifest.json", content)
    log.info("%s published: manifest %s", job.prefix, hashlib.sha256(content).hexdigest())


def _refuse_other(job: Job) -> None:
    """Refuse to change a published dataset. The same snapshot and rules produce the same bytes; other rules need another name.

    Raises:
        UserError: a dataset of this name and snapshot was published with other rules.
    """
    published = job.published()
    if published and published["rules_digest"] != job.rules:
        raise UserError(
            f"{job.lake.uri(job.prefix)} was published with other rules ({published['rules_digest']}, now {job.rules}) and never "
            f"changes: give the spec another name, or delete that folder"
        )


def make(job: Job, *, workers: int = 1) -> Mapping[str, Any]:
    """Run all steps, in this process or in `workers` child processes; return the metrics."""
    shards = plan(job)
    for step in (work, write):
        if workers == 1:
            step(job, shards)
        else:
            with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=begin_worker) as pool:
                list(pool.map(step, [job] * len(shards), [[shard] for shard in shards]))
        if step is work:
            choose(job)
    metrics = finish(job)
    check(job)
    return metrics
