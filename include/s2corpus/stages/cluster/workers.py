"""Who does the tasks of a round: this process, or the executors of a Spark."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from s2corpus.errors import UserError

Task = Callable[[int], None]
"""Does one task, by its number: reads the lake, writes the lake, and may be done twice."""


class Workers(Protocol):
    """Do tasks in any order, some at a time."""

    def do(self, task: Task, numbers: Sequence[int]) -> None:
        """Do the tasks of these numbers; return when all are done."""


class InProcess:
    """One task after the other, here."""

    def do(self, task: Task, numbers: Sequence[int]) -> None:
        """See `Workers.do`."""
        for number in numbers:
            task(number)


class OnSpark:
    """Tasks on the executors of a SparkSession, classic or Connect.

    Executors need this package, and the lake's credentials in their environment. Spark gives out numbers and tries again what fails
    (`spark.task.maxFailures`); no row passes through it, so the loss of an executor costs the tasks that it was at and nothing else.
    """

    def __init__(self, session: Any) -> None:
        self._session = session

    def do(self, task: Task, numbers: Sequence[int]) -> None:
        """See `Workers.do`."""
        numbers = list(numbers)
        if not numbers:
            return

        def work(batches: Iterator[Any]) -> Iterator[Any]:
            for batch in batches:
                for place in batch.column(0).to_pylist():
                    task(numbers[place])
                yield batch

        places = self._session.range(0, len(numbers), 1, len(numbers))  # a partition for each
        done = places.mapInArrow(work, "id long").count()
        if done != len(numbers):
            raise RuntimeError(f"Spark did {done} of {len(numbers)} tasks")


def engine() -> str:
    """Return the engine that the environment variable ENGINE names; by default this process (`here`)."""
    return os.environ.get("ENGINE") or "here"


@contextmanager
def workers(name: str, memory_mb: int) -> Iterator[Workers]:
    """Yield the workers of an engine: `here` (this process), `local[<cores>]`, `spark://<host>:<port>` or `sc://<host>:<port>`.

    Raises:
        UserError: unknown engine, or PySpark or Java is missing.
    """
    if name == "here":
        yield InProcess()
        return
    if not name.startswith(("local[", "sc://", "spark://")):
        raise UserError(
            f"ENGINE is {name!r}: expected here, local[<cores>], sc://<host>:<port> or spark://<host>:<port>"
        )
    with _worker_interpreter(name):
        session = _session(name, memory_mb)
        try:
            yield OnSpark(session)
        finally:
            session.stop()


@contextmanager
def _worker_interpreter(name: str) -> Iterator[None]:
    """Let a local Spark start its workers with this interpreter; restore the environment afterwards."""
    if not name.startswith("local[") or "PYSPARK_PYTHON" in os.environ:
        yield
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        yield
    finally:
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
            .config("spark.driver.memory", f"{max(memory_mb, 512)}m")  # Spark starts with no less
        )
    try:
        return builder.getOrCreate()
    except Exception as error:  # PySpark's own, raised where Java is missing or too old
        raise UserError(f"ENGINE is {name!r} but Spark does not start (it needs Java 17): {error}") from None
