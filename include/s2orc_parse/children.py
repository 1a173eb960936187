"""Child processes that end with their parent, also if the parent is killed."""

from __future__ import annotations

import os

from s2orc_parse.sandbox import confine
from s2orc_parse.scratch import private


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends; end now if that has happened already.

    `parent` is the pid of the process that started this one. The kernel looks at the thread that started it: that thread has to
    wait for this process.
    """
    confine.die_with_parent()
    if os.getppid() != parent:
        os._exit(1)


def begin_worker() -> None:
    """Prepare a process of a pool: it ends with its parent, and has a scratch folder of its own."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None and parent.pid is not None:
        end_with_parent(parent.pid)
    private()
