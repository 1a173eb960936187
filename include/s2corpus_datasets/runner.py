"""Build a dataset: the same steps for the DAG's tasks, the command line and the tests."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson

from s2corpus_datasets.job import Job
from s2corpus_datasets.outputs import LISTED_BYTES, LISTED_FILES, Outputs
from s2corpus_datasets.protocol import DatasetBlocked, DatasetCheck, StepResult
from s2orc_parse.children import begin_worker
from s2orc_parse.errors import UserError

log = logging.getLogger(__name__)
FORMAT = "s2corpus-dataset-1"


def plan(job: Job) -> list[int]:
    """Return the shards of the snapshot.

    Raises:
        UserError: a package that the dataset needs is not installed, or the dataset was published with other rules.
    """
    if missing := [name for name in job.dataset.required_modules if find_spec(name) is None]:
        raise UserError(f"{job.spec.dataset} needs {', '.join(missing)}: pip install 's2corpus-datasets[all]'")
    published = job.published()
    if published and published["rules_digest"] != job.rules:
        raise UserError(
            f"{job.lake.uri(job.prefix)} was published with other rules ({published['rules_digest']}, now {job.rules}), and a published "
            f"dataset never changes: give the spec another name, or delete that folder"
        )
    new = [shard for shard in range(job.source.shards) if job.read_counts(shard) is None]
    job.store_state("plan", {"rules": job.rules, "new": new})
    log.info("%s of %s: %d shard(s), %d of them new", job.spec.name, job.source.id, job.source.shards, len(new))
    return list(range(job.source.shards))


def batches(job: Job, shards: Sequence[int]) -> list[list[int]]:
    """Split the shards into at most `max_tasks` batches, one for each task, of at least `task_mb` MB."""
    size, least = sum(map(job.source.count_bytes, shards)), job.spec.task_mb << 20
    number = max(1, min(job.spec.max_tasks, len(shards), size // least if least else len(shards)))
    return [list(shards[len(shards) * i // number : len(shards) * (i + 1) // number]) for i in range(number)]


def work(job: Job, shards: Sequence[int]) -> None:
    """Cache the rows of these shards. Skip a shard if its papers and rules have not changed."""
    for shard in shards:
        if job.read_counts(shard) is not None:
            log.info("%s: shard %d has not changed: using its cached rows", job.spec.name, shard)
            continue
        with job.scratch_folder() as scratch:
            result = _cache_shard(job, shard, scratch)
        log.info(
            "%s: shard %d: %s",
            job.spec.name,
            shard,
            {step: n for (step, outcome), n in result.funnel.items() if outcome == "in"},
        )


def _cache_shard(job: Job, shard: int, scratch: Path) -> StepResult:
    from s2corpus_reader.parquet import ParquetFile

    result, dataset = StepResult(), job.dataset
    rows = scratch / "rows.parquet"
    with ParquetFile(rows, dataset.schema) as file:
        for paper in job.source.papers(shard):
            before = file.count
            for row in dataset.rows(job.params, paper, result):
                file.write(row, sum(len(value) for value in row.values() if isinstance(value, str | bytes)) + 100)
            if file.count > before:
                result.licenses[paper.columns["license"] or "NOASSERTION"] += 1  # older releases have null
    if dataset.sort_columns and file.count:
        rows = _sort_rows(job, rows, scratch)
    job.lake.upload(job.cache_key(shard), rows)
    counts = {**result.as_json(), "bytes": rows.stat().st_size}
    job.lake.put(f"{job.cache_key(shard)}.json", orjson.dumps(counts))
    return result


def _sort_rows(job: Job, rows: Path, scratch: Path) -> Path:
    """Sort a file's rows by the dataset's `sort_columns`, on disk; return the path of the sorted file."""
    import pyarrow.parquet as pq

    target = scratch / "sorted.parquet"
    with job.connect(threads=1) as connection:
        columns = ", ".join(job.dataset.sort_columns)
        found = connection.execute(f"SELECT * FROM read_parquet(?) ORDER BY {columns}", [str(rows)])
        with pq.ParquetWriter(target, job.dataset.schema, compression="zstd") as writer:
            for batch in found.to_arrow_reader(4096):
                writer.write_batch(batch.cast(job.dataset.schema))
    return target


def choose(job: Job) -> None:
    """Store the decisions that depend on all shards."""
    job.store_state("choice", job.dataset.choose(job))


def write(job: Job, shards: Sequence[int]) -> None:
    """Write the files of these shards."""
    choice = job.read_state("choice")
    for shard in shards:
        with job.scratch_folder() as scratch:
            out = Outputs(job.lake, job.prefix, scratch)
            job.dataset.write(job, shard, choice, out)
        job.store_state(f"written-{shard:03d}", out.result.as_json())


def finish(job: Job) -> dict[str, float]:
    """Write the files that cover all shards, the card and the descriptions; return the metrics.

    Raises:
        UserError: a shard was not processed.
    """
    from s2corpus_datasets import description  # slow (1 s); only this task writes the card

    result = StepResult()
    for shard in range(job.source.shards):
        if (counts := job.read_counts(shard)) is None:
            raise UserError(
                f"{job.spec.name}: the rows of shard {shard} of {job.source.id} are not cached: run the task `work` for it again"
            )
        result.add(counts)
        result.add(StepResult.from_json(job.read_state(f"written-{shard:03d}")))
    with job.scratch_folder() as scratch:
        out = Outputs(job.lake, job.prefix, scratch)
        metrics = job.dataset.finish(job, job.read_state("choice"), result, out)
        result.add(out.result)
        out = Outputs(job.lake, job.prefix, scratch)
        description.write(job, result, metrics, out)
    result.files += out.result.files
    job.store_state("finished", {"made": result.as_json(), "metrics": metrics})
    return metrics


def check(job: Job) -> list[DatasetCheck]:
    """Run the checks. If none blocks, publish the dataset by writing its manifest.

    Raises:
        DatasetBlocked: a check blocks; the message names it.
    """
    finished = job.read_state("finished")
    result, metrics = StepResult.from_json(finished["made"]), finished["metrics"]
    checks = [*_list_common_checks(job, result), *job.dataset.checks(job, result, metrics)]
    for one in checks:
        if not one.violations:
            log.info("%s: %s: pass", job.spec.name, one.name)
        else:
            verdict = "block" if one.blocks else "warn"
            log.warning("%s: %s: %s (%d: %s)", job.spec.name, one.name, verdict, one.violations, one.reason)
    if blocking := [f"{one.name}: {one.violations} ({one.reason})" for one in checks if one.blocks and one.violations]:
        raise DatasetBlocked(f"{job.spec.name} of {job.source.id} is not published: {'; '.join(blocking)}")
    content = _encode_manifest(job, result)
    job.lake.put(f"{job.prefix}/manifest.json", content)
    log.info("%s published: manifest %s", job.prefix, hashlib.sha256(content).hexdigest())
    return checks


def _encode_manifest(job: Job, result: StepResult) -> bytes:
    """Return `manifest.json`: the inputs of the dataset and all files with checksums, except files that another file lists."""
    value = {
        "format": FORMAT,
        "name": job.spec.name,
        "dataset": job.spec.dataset,
        "version": job.dataset.version,
        "snapshot": job.source.id,
        "as_of": job.source.as_of,
        "snapshot_files": {str(shard): job.source.content_digest(shard) for shard in range(job.source.shards)},
        "rules_digest": job.rules,
        "rules": job.params.model_dump(mode="json"),
        LISTED_FILES: result.tally[LISTED_FILES],
        LISTED_BYTES: result.tally[LISTED_BYTES],
        "files": [file.as_json() for file in sorted(result.files, key=lambda file: file.path)],
    }
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _list_common_checks(job: Job, result: StepResult) -> list[DatasetCheck]:
    """Return the checks of every dataset: each input of a step has one outcome, and every file exists."""
    lost: Counter[str] = Counter()
    for step, outcome, number in result.list_funnel():
        lost[step] += number if outcome == "in" else -number
    expected = {f"{job.prefix}/{file.path}": file.bytes for file in result.files}
    missing = len(expected) - sum(expected.get(entry.key) == entry.bytes for entry in job.lake.list(f"{job.prefix}/"))
    twice = len(result.files) - len(expected)
    empty = not any(file.rows for file in result.files)
    return [
        DatasetCheck("outcomes_sum", sum(map(abs, lost.values())), "inputs of a step do not have exactly one outcome"),
        DatasetCheck("files_complete", missing + twice, "files are missing, have another size, or were written twice"),
        DatasetCheck("not_empty", int(empty), "no file has rows; stats.json states the outcome of every input"),
    ]


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
