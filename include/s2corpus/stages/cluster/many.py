"""Run the rounds of clustering in order, and find connected components between them.

This process finds connected components, with 8 bytes of memory for each record. Workers do everything else, in tasks of a few hundred
thousand records. The lake stores the results of each task, so a retry of the release continues after the last completed task. The terms
partition, node and bucket are defined in `rounds`.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from s2corpus.compiled import njit
from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.stages.cluster import rounds_identifiers as identifiers
from s2corpus.stages.cluster import rounds_papers as papers
from s2corpus.stages.cluster import rounds_titles as titles
from s2corpus.stages.cluster.rounds import LABELS, Rounds, sample, send_home, settle
from s2corpus.storage.exchange import Exchange, RowsRemoved
from s2corpus.tables.intake import RECORDS
from s2corpus.tables.papers import ALIASES
from s2corpus.tables.parses import PDF_RECORDS
from s2corpus.version import code_version

MAX_PARTITION_ROWS = 250_000
"""maximum number of records of a partition or bucket"""
_BYTES_PER_RECORD = 1200
"""memory that one record of a partition needs during comparison"""
_BYTES_PER_NODE = 8
_TRIES = 3

log = logging.getLogger(__name__)


def cluster_in_rounds(run: Run, workers: Workers, buckets_of: Callable[[int], int] | None) -> dict[str, int]:
    """Write EDGES, CLUSTERS, ALIASES and MEMBERS; return the numbers of papers, and of parts.

    Args:
        buckets_of: returns the number of buckets for a number of papers; if None, MEMBERS is not written.

    Raises:
        UserError: there are too many records for `memory_mb`, or two papers would have the same id.
    """
    partition_rows = min(MAX_PARTITION_ROWS, (run.spec.resources.memory_mb << 20) // _BYTES_PER_RECORD)
    for _ in range(_TRIES - 1):
        try:
            return _Driver(run, workers, partition_rows).run(buckets_of)
        except RowsRemoved as removed:  # Another build of the release completed and removed its rounds: repeat them.
            log.info("cluster: %s", removed)
    return _Driver(run, workers, partition_rows).run(buckets_of)


class _Driver:
    def __init__(self, run: Run, workers: Workers, partition_rows: int) -> None:
        rules = run.spec.cluster
        tables = [run.table(table) for table in (RECORDS, PDF_RECORDS)]
        keys = tuple(key for table in tables for key in table.keys())  # noqa: SIM118 - a method of TableRef
        parent = None if run.parent is None else f"snapshots/{run.parent}"
        inputs = f"{code_version()} {keys} {rules.model_dump_json()} {parent} {partition_rows} {run.spec.resources.papers_per_shard}"
        digest = hashlib.sha256(inputs.encode()).hexdigest()[:16]
        exchange = Exchange(run.lake.root, f"{run.folder}/_rounds/{digest}")
        self._rounds = Rounds(exchange, run.folder, keys, 1, rules, parent)
        self._run, self._workers, self._partition_rows = run, workers, partition_rows

    def run(self, buckets_of: Callable[[int], int] | None) -> dict[str, int]:
        """Run all rounds in order; return the numbers of papers, and of parts."""
        self._number_records()
        self._run_by_home(
            identifiers.send_by_doi, identifiers.doi_forms, identifiers.send_by_identifier, identifiers.identifier_edges
        )
        parent = np.arange(self._rounds.starts[-1])
        self._decide(0, parent)
        self._run_by_home(titles.send_by_title, titles.equal_titles)
        self._decide(1, parent)
        self._run_by_home(
            identifiers.send_settled, titles.keys, titles.propose, titles.send_texts, titles.score,
            titles.send_records, titles.similar_titles, titles.send_by_front, titles.cut_titles,
        )  # fmt: skip
        self._decide(2, parent)
        self._run_by_home(papers.write_edges)
        count = sum(found["papers"] for found in self._run_by_home(papers.former_papers))
        self._name_papers()
        if buckets_of:
            self._write_members(buckets_of(count))
        self._rounds.exchange.remove()
        return {"papers": count, "parts": self._rounds.partitions}

    def _write_members(self, buckets: int) -> None:
        self._rounds = replace(self._rounds, paper_buckets=buckets)
        self._do("send_by_paper", papers.send_by_paper, len(self._rounds.records))
        for found in self._do("write_members", papers.write_members, buckets):
            if twice := found.get("twice"):
                *records, paper_id = twice
                raise UserError(
                    f"two papers would have the id {paper_id}: the hashes of their records {' and '.join(records)} begin with "
                    f"the same 60 bits. Deliver {records[-1]} under another native id and its old one as deleted, and make "
                    f"the release again (docs/sizing.md#same-id)"
                )

    def _number_records(self) -> None:
        parts = self._do("sample", sample, len(self._rounds.records))
        rows = sum(part["rows"] for part in parts)
        if rows * _BYTES_PER_NODE > self._run.spec.resources.memory_mb << 20:
            raise UserError(
                f"{rows} records to cluster, but one process numbers at most "
                f"{(self._run.spec.resources.memory_mb << 20) // _BYTES_PER_NODE} in resources.memory_mb = "
                f"{self._run.spec.resources.memory_mb}: give it {-(-rows * _BYTES_PER_NODE >> 20)} or more"
            )
        partitions = max(1, -(-rows // self._partition_rows))
        weighted = sorted((id_, part["rows"] / len(part["ids"])) for part in parts for id_ in part["ids"])
        sums = np.cumsum([weight for _, weight in weighted])
        cuts = [bisect_right(sums, rows * partition / partitions) for partition in range(1, partitions)]
        begins = tuple(dict.fromkeys(weighted[min(cut, len(weighted) - 1)][0] for cut in cuts))
        self._rounds = replace(self._rounds, partitions=len(begins) + 1, begins=begins)
        log.info("cluster: %d records in %d partitions", rows, self._rounds.partitions)
        self._do("send_home", send_home, len(self._rounds.records))
        starts = np.cumsum([0, *(found["rows"] for found in self._run_by_home(settle))])
        self._rounds = replace(self._rounds, starts=tuple(starts.tolist()))

    def _decide(self, number: int, parent: np.ndarray) -> None:
        """Find the components of all edges of this pass and earlier ones, then the clusters in each component."""
        self._unite(number, parent)
        for task in (identifiers.send_by_component, identifiers.decide):
            self._do(f"{task.__name__}-{number}", partial(task, number), self._rounds.partitions)

    def _unite(self, number: int, parent: np.ndarray) -> None:
        rounds = self._rounds
        for partition in rounds.tasks:
            edges = rounds.read_edges(number, partition)
            unite(parent, edges["left"].to_numpy(), edges["right"].to_numpy())
        point_to_roots(parent)
        for partition in rounds.tasks:
            rounds.exchange.put_array(
                f"components-{number}", partition, parent[rounds.starts[partition] : rounds.starts[partition + 1]]
            )

    def _name_papers(self) -> None:
        self._run_by_home(papers.connect_heirs)
        rounds = self._rounds
        parent = np.arange(rounds.starts[-1])
        for partition in rounds.tasks:
            labels = rounds.receive("labels-2", partition, LABELS)
            unite(parent, labels["label"].to_numpy(), labels["node"].to_numpy())
        self._unite(3, parent)
        self._run_by_home(papers.families, papers.name_papers, papers.write_clusters)
        aliases = rounds.receive("aliases", 0, ALIASES.schema)
        self._run.table(ALIASES).write(0, aliases.sort_by("alias"))

    def _run_by_home(self, *tasks: Callable[[Rounds, int], Any]) -> list[Any]:
        """Run rounds with a task for each partition; return the counts of the last round."""
        return [self._do(task.__name__, task, self._rounds.partitions) for task in tasks][-1]

    def _do(self, name: str, task: Callable[[Rounds, int], Any], tasks: int) -> list[Any]:
        """Run the tasks of a round that no earlier try completed; return the counts of all tasks."""
        exchange = self._rounds.exchange
        left = [number for number, counts in enumerate(exchange.counts(name, tasks)) if counts is None]
        self._workers(partial(_task, self._rounds, name, task), left)
        found = exchange.all_counts(name, tasks)
        log.info("cluster: round %s done: %d tasks, %d of them before", name, tasks, tasks - len(left))
        return found


def _task(rounds: Rounds, name: str, task: Callable[[Rounds, int], Any], number: int) -> None:
    rounds.exchange.put_counts(name, number, task(rounds, number) or {})


@njit(cache=True, nogil=True)
def unite(parent: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    """Unite the ends of each edge in one tree. The root of a tree is its smallest node. All arrays are int64."""
    for edge in range(len(left)):
        a, b = left[edge], right[edge]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a < b:
            parent[b] = a
        else:
            parent[a] = b


@njit(cache=True, nogil=True)
def point_to_roots(parent: np.ndarray) -> None:
    """Set the parent of every node to the root of its tree. Parents are smaller than children, so one pass is enough."""
    for node in range(len(parent)):
        parent[node] = parent[parent[node]]


Task = Callable[[int], None]
"""function that runs the task with a number; the task only reads and writes the lake, so it may be repeated"""

Workers = Callable[[Task, Sequence[int]], None]
"""function that runs the tasks with these numbers, in any order and possibly in parallel; it returns when all are done"""


def run_locally(task: Task, numbers: Sequence[int]) -> None:
    """Run one task after the other in this process."""
    for number in numbers:
        task(number)


def do_on_spark(session: Any, task: Task, numbers: Sequence[int]) -> None:
    """Run tasks on the executors of a SparkSession, classic or Connect.

    Executors need this package, and the lake's credentials in their environment. Spark distributes numbers and repeats failed tasks
    (`spark.task.maxFailures`). It transfers no rows, so the loss of an executor costs only its running tasks.
    """
    numbers = list(numbers)
    if not numbers:
        return

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                task(numbers[place])
            yield batch

    places = session.range(0, len(numbers), 1, len(numbers))  # a partition for each
    done = places.mapInArrow(work, "id long").count()
    if done != len(numbers):
        raise RuntimeError(f"Spark did {done} of {len(numbers)} tasks")


@contextmanager
def workers(name: str, memory_mb: int) -> Iterator[Workers]:
    """Yield the workers of an engine: `here` (this process), `local[<cores>]`, `spark://<host>:<port>` or `sc://<host>:<port>`.

    Raises:
        UserError: unknown engine, or PySpark or Java is missing.
    """
    if name == "here":
        yield run_locally
        return
    if not name.startswith(("local[", "sc://", "spark://")):
        raise UserError(
            f"ENGINE is {name!r}: expected here, local[<cores>], sc://<host>:<port> or spark://<host>:<port>"
        )
    is_local = name.startswith("local[") and "PYSPARK_PYTHON" not in os.environ
    if is_local:  # A local Spark starts its workers with this interpreter.
        os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        session = _session(name, memory_mb)
        try:
            yield partial(do_on_spark, session)
        finally:
            session.stop()
    finally:
        if is_local:
            del os.environ["PYSPARK_PYTHON"]


def _session(name: str, memory_mb: int) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise UserError(f"ENGINE is {name!r} but PySpark is not installed: pip install 's2corpus[spark]'") from None
    builder = SparkSession.builder.appName("s2corpus")
    if name.startswith("sc://"):
        return builder.remote(name).getOrCreate()
    builder = builder.master(name).config("spark.ui.enabled", "false")
    if name.startswith("local["):
        builder = (
            builder.config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.memory", f"{max(memory_mb, 512)}m")  # Spark refuses less memory
        )
    try:
        return builder.getOrCreate()
    except Exception as error:  # PySpark raises its own type of error if Java is missing or too old
        raise UserError(f"ENGINE is {name!r} but Spark does not start (it needs Java 17): {error}") from None
