"""No `--help` imports one of the large libraries."""

import json
import subprocess
import sys
from pathlib import Path

LARGE = ("sqlalchemy", "pyarrow", "duckdb", "airflow", "pandas", "numba", "numpy", "scipy", "pydantic", "boto3")
PROBE = """
import json, sys
from devtools.cli import tools
from s2corpus.cli import corpus
for group in (corpus, tools):
    for arguments in ([], *([command] for command in group.list_commands(None))):
        group([*arguments, "--help"], standalone_mode=False)
print(json.dumps(sorted(set(sys.modules) & set(sys.argv[1:]))))
"""


def test_help_imports_no_large_library() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *LARGE],
        capture_output=True, text=True, check=True, cwd=Path(__file__).resolve().parents[4],
    )  # fmt: skip
    *shown, large = done.stdout.splitlines()
    assert sum(line.startswith("Usage: ") for line in shown) > 30
    assert json.loads(large) == []
