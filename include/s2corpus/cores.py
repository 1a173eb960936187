"""Process many items on all cores, in order; commands over files use it."""

from __future__ import annotations

import gc
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

from s2corpus.errors import UserError

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")

_FEW = 8
"""Number of short items that finish before a process would start."""
_work: Callable[[Any], Any]


def in_order(work: Callable[[T], R], items: Iterable[T], cores: int | None = None, few: int = _FEW) -> Iterator[R]:
    """Yield the result of each item, in the order of the items.

    This process handles the first `few` items, so that the workers share the modules that it loads. It then forks workers and sends
    them batches of half that size. `work` may contain large objects; items and results are pickled. With one core or with
    threads already running, this process handles all items.

    Raises:
        UserError: a worker was killed, usually because memory ran out.
    """
    items = iter(items)
    yield from map(work, islice(items, few))
    batch_size = max(few // 2, 1)
    cores = cores or len(os.sched_getaffinity(0))
    if (more := next(items, None)) is None:
        return
    items = chain([more], items)
    if cores == 1 or threading.active_count() > 1:
        yield from map(work, items)
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    import s2orc_parse.children  # noqa: F401 (before the processes fork)

    gc.freeze()  # The garbage collector writes to the objects it visits, which would copy shared pages.
    with ProcessPoolExecutor(cores, get_context("fork"), _begin, (work, os.getpid())) as pool:
        ahead: deque[Future[list[R]]] = deque()
        try:
            while some := list(islice(items, batch_size)):
                ahead.append(pool.submit(_done, some))
                if len(ahead) > 2 * cores:
                    yield from ahead.popleft().result()
            while ahead:
                yield from ahead.popleft().result()
        except BrokenProcessPool:
            raise UserError(
                "a worker process was killed, perhaps because memory ran out: use fewer cores (taskset -c 0)"
            ) from None
        finally:
            gc.unfreeze()
            pool.shutdown(cancel_futures=True)


def _begin(work: Callable[[Any], Any], parent: int) -> None:
    global _work
    from s2orc_parse.children import end_with_parent

    end_with_parent(parent)
    _work = work


def _done(items: list[Any]) -> list[Any]:
    return [_work(item) for item in items]
