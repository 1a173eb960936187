"""How many tasks a worker of this machine or container may have at once: `python -m s2corpus.deployment.slots` prints it.

Airflow's own default is 16 for every Celery worker, whatever its memory is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from s2corpus.spec import ReleaseSpec, read_specs, releases_folder

_MB = 1_000_000
WORKER_MB = 400
"""Celery's own first process with Airflow in it, MB"""
BESIDE_MB = 500
"""what a task takes beside its joins and sorts: Python with its libraries, and Airflow's process that supervises it, MB"""
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def memory(limits: Iterable[Path] = _LIMITS) -> int:
    """Bytes that may be used here: the container's limit, else the machine's memory."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    given = [path.read_text().strip() for path in limits if path.exists()]
    return min([whole, *(int(text) for text in given if text.isdigit())])


def slots(bytes_of_memory: int, cores: int, specs: Iterable[ReleaseSpec]) -> int:
    """Tasks that have room at once, whichever release they are of: at least one, and at most two a core."""
    task = max((max(spec.resources.memory_mb, spec.resources.pdf_memory_mb) for spec in specs), default=0) + BESIDE_MB
    return max(1, min((bytes_of_memory // _MB - WORKER_MB) // task, 2 * cores))


if __name__ == "__main__":
    print(slots(memory(), len(os.sched_getaffinity(0)), read_specs(releases_folder())[0]))
