"""Run the tasks of a round in this process, or on the executors of Spark."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from s2corpus.errors import UserError

Task = Callable[[int], None]
"""function that runs the task with a number; the task only reads and writes the lake, so it may be repeated"""

Workers = Callable[[Task, Sequence[int]], None]
"""function that runs the tasks with these numbers, in any order and possibly in parallel; it returns when all are done"""


def do_here(task: Task, numbers: Sequence[int]) -> None:
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
        yield do_here
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
