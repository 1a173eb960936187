"""Process many items on all cores and yield the results in order, for commands that read files."""

from __future__ import annotations

import gc
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

from s2orc_parse.errors import UserError

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")

_INLINE_ITEMS = 8
"""Number of short items that finish before a process would start."""
_work: Callable[[Any], Any]


def map_in_order(
    work: Callable[[T], R], items: Iterable[T], cores: int | None = None, inline: int = _INLINE_ITEMS
) -> Iterator[R]:
    """Yield the result of each item, in the order of the items.

    This process handles the first `inline` items, which loads the modules that forked workers then share. The workers get batches
    of `inline // 2` items. `work` may contain large objects; items and results are pickled. With one core, or if threads are already
    running, this process handles all items. Raises UserError if a worker was killed, usually because memory ran out.
    """
    items = iter(items)
    yield from map(work, islice(items, inline))
    batch_size = max(inline // 2, 1)
    cores = cores or len(os.sched_getaffinity(0))
    if (following := next(items, None)) is None:
        return
    items = chain([following], items)
    if cores == 1 or threading.active_count() > 1:
        yield from map(work, items)
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    import s2orc_parse.children  # noqa: F401 (before the processes fork)

    gc.freeze()  # The garbage collector writes to the objects it visits, which would copy shared pages.
    with ProcessPoolExecutor(cores, get_context("fork"), _init_worker, (work, os.getpid())) as pool:
        pending: deque[Future[list[R]]] = deque()
        try:
            while batch := list(islice(items, batch_size)):
                pending.append(pool.submit(_run_batch, batch))
                if len(pending) > 2 * cores:
                    yield from pending.popleft().result()
            while pending:
                yield from pending.popleft().result()
        except BrokenProcessPool:
            raise UserError(
                "a worker process was killed, perhaps because memory ran out: use fewer cores (taskset -c 0)"
            ) from None
        finally:
            gc.unfreeze()
            pool.shutdown(cancel_futures=True)


def _init_worker(work: Callable[[Any], Any], parent: int) -> None:
    global _work
    from s2orc_parse.children import end_with_parent

    end_with_parent(parent)
    _work = work


def _run_batch(items: list[Any]) -> list[Any]:
    return [_work(item) for item in items]
