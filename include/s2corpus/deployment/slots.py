"""Compute the number of concurrent tasks of a Celery worker: `python -m s2corpus.deployment.slots` prints it.

Airflow's default is 16 tasks, regardless of the memory of the machine or container.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from s2corpus.spec import ReleaseSpec
from s2corpus.spec_files import read_specs, releases_folder

_MB = 1_000_000
WORKER_MB = 400
"""memory of the main process of a Celery worker with Airflow imported, MB"""
OVERHEAD_MB = 500
"""memory of a task without its joins and sorts: Python with its libraries, and Airflow's supervisor process, MB"""
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def available_memory(limits: Iterable[Path] = _LIMITS) -> int:
    """Return the available memory in bytes: the limit of the container, or else the memory of the machine."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limited = [path.read_text().strip() for path in limits if path.exists()]
    return min([machine, *(int(text) for text in limited if text.isdigit())])


def compute_slots(bytes_of_memory: int, cores: int, specs: Iterable[ReleaseSpec]) -> int:
    """Return the number of tasks of any release that fit into memory: at least one, at most two per core."""
    task = (
        max((max(spec.resources.memory_mb, spec.resources.file_memory_mb) for spec in specs), default=0) + OVERHEAD_MB
    )
    return max(1, min((bytes_of_memory // _MB - WORKER_MB) // task, 2 * cores))


if __name__ == "__main__":
    print(compute_slots(available_memory(), len(os.sched_getaffinity(0)), read_specs(releases_folder())[0]))
