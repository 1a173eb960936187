"""Work on many items, in their order, on all cores of the machine: what the commands over files do with more than a few."""

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
"""Items of some milliseconds that are done sooner than a process starts."""
_work: Callable[[Any], Any]


def in_order(work: Callable[[T], R], items: Iterable[T], cores: int | None = None, few: int = _FEW) -> Iterator[R]:
    """The result of each item in the order of the items, of which some are taken ahead.

    The first `few` are done in this process, and what they load is shared; then others are started, which are sent half as many at once.
    The processes are forked, so that `work` may hold what is large; items and results are pickled. Where threads run already,
    or there is one core, everything is done here.

    Raises:
        UserError: a process was ended from outside, as a rule for want of memory.
    """
    items = iter(items)
    yield from map(work, islice(items, few))
    at_once = max(few // 2, 1)
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

    gc.freeze()  # the collector writes to what it looks at: pages would be copied
    with ProcessPoolExecutor(cores, get_context("fork"), _begin, (work, os.getpid())) as pool:
        ahead: deque[Future[list[R]]] = deque()
        try:
            while some := list(islice(items, at_once)):
                ahead.append(pool.submit(_done, some))
                if len(ahead) > 2 * cores:
                    yield from ahead.popleft().result()
            while ahead:
                yield from ahead.popleft().result()
        except BrokenProcessPool:
            raise UserError(
                "a process was ended while it worked, perhaps for want of memory: give it fewer cores (taskset -c 0)"
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
