"""Each comment in tests, tools, DAGs and plugins that ignores a type error names the error and states the reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
IGNORED = re.compile(r"#\stype:\signore(?!\[[a-z, -]+\]  # \w)")


@pytest.mark.parametrize("folder", ["dags", "plugins", "devtools", "tests"])
def test_each_ignored_type_error_has_a_reason(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if IGNORED.search(line)
    ]
    assert found == []
