"""Matching changes no setting of its process: allocator, thread pools and environment are as before."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numba
import pyarrow as pa

import s2corpus
from devtools.bench.link_tables import link_tables
from s2corpus.titles.facts import IDENTIFIERS
from tests.unit.cluster.samples import clustered, record

_SETTING = re.compile(
    r"\b(?:mallopt|set_memory_pool|set_cpu_count|set_io_thread_count|set_num_threads|putenv)\b"
    r"|environ(?:\[[^]]+\] = |\.(?:setdefault|update|pop)\(| \|= )"
)
_COMMANDS = {"commands/_lake_option.py", "commands/build.py"}
"""commands, which are the complete process, add addresses to its environment"""
_RESTORED = {"stages/cluster/workers.py"}
"""local Spark reads a variable, which is removed afterwards"""


def _settings() -> tuple[object, ...]:
    return (
        dict(os.environ), pa.default_memory_pool().backend_name, pa.cpu_count(), pa.io_thread_count(), numba.get_num_threads(),
    )  # fmt: skip


def test_link_and_cluster_leave_settings_unchanged() -> None:
    before = _settings()
    clustered(record("a:1", "A title of a paper"), record("b:1", "A title of a paper"))
    papers = pa.table({"paper_id": ["p"], "title": ["A title of a paper"], "year": [2001], "surname": ["Ada"]})
    for name in IDENTIFIERS:
        papers = papers.append_column(name, pa.nulls(1, pa.string()))
    link_tables(papers.rename_columns({"paper_id": "citing_paper_id"}), papers)
    assert _settings() == before


def test_only_commands_change_settings() -> None:
    package = Path(s2corpus.__file__).parent
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if _SETTING.search(path.read_text(encoding="utf-8"))
    }
    assert found == _COMMANDS | _RESTORED
