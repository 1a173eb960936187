"""The package changes no setting of its process: allocator, thread pools and environment are as before."""

from __future__ import annotations

import re
from pathlib import Path

import s2corpus

_SETTING = re.compile(
    r"\b(?:mallopt|set_memory_pool|set_cpu_count|set_io_thread_count|set_num_threads|putenv)\b"
    r"|environ(?:\[[^]]+\] = |\.(?:setdefault|update|pop)\(| \|= )"
)
_COMMANDS = {"commands/_lake_option.py", "commands/build.py"}
"""commands, which are the complete process, add addresses to its environment"""
_RESTORED = {"stages/cluster/workers.py"}
"""local Spark reads a variable, which is removed afterwards"""


def test_only_commands_change_settings() -> None:
    package = Path(s2corpus.__file__).parent
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if _SETTING.search(path.read_text(encoding="utf-8"))
    }
    assert found == _COMMANDS | _RESTORED
