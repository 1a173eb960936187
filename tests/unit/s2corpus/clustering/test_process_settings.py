"""The package changes no setting of its process: allocator, thread pools and environment are as before."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numba
import pyarrow as pa

import s2corpus
from tests.unit.s2corpus.clustering.samples import cluster_all, record
from tests.unit.s2corpus.stages.link.samples import link_all

_SETTING = re.compile(
    r"\b(?:mallopt|set_memory_pool|set_cpu_count|set_io_thread_count|set_num_threads|putenv)\b"
    r"|environ(?:\[[^]]+\] = |\.(?:setdefault|update|pop)\(| \|= )"
)
_COMMANDS = {"commands/_options.py", "commands/releases.py"}
"""commands, which are the complete process, add addresses to its environment"""
_RESTORED = {"stages/cluster/many.py"}
"""local Spark reads a variable, which is removed afterwards"""


def read_settings() -> tuple[object, ...]:
    pools = pa.default_memory_pool().backend_name, pa.cpu_count(), pa.io_thread_count(), numba.get_num_threads()
    return dict(os.environ), *pools


def test_clustering_and_linking_leave_settings_unchanged() -> None:
    """This also covers the dependencies."""
    before = read_settings()
    cluster_all(record("a:1"), record("b:1"))
    link_all([{"title": "A title of a paper"}], [{"title": "A title of a paper", "paper_id": "p"}])
    assert read_settings() == before


def test_only_commands_change_settings() -> None:
    package = Path(s2corpus.__file__).parent
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if _SETTING.search(path.read_text(encoding="utf-8"))
    }
    assert found == _COMMANDS | _RESTORED
