"""Child processes that end with their parent, even if the parent is killed."""

from __future__ import annotations

import os

from s2orc_parse.sandbox import confine
from s2orc_parse.scratch import private


def end_with_parent(parent: int) -> None:
    """Make the kernel kill this process when the thread of process `parent` that started it ends; exit now if it has ended."""
    confine.die_with_parent()
    if os.getppid() != parent:
        os._exit(1)


def begin_worker() -> None:
    """Prepare a worker process of a pool: it ends with its parent and has a private scratch folder."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None and parent.pid is not None:
        end_with_parent(parent.pid)
    private()
