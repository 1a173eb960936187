"""No `--help` imports one of the large libraries, and options of the group may follow the command."""

import json
import subprocess
import sys
from pathlib import Path

from tests.commands import invoke

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


def test_options_of_the_group_may_follow_the_command(tmp_path: Path) -> None:
    (tmp_path / "snapshots" / "own").mkdir(parents=True)
    lake = str(tmp_path)
    ways = (
        ["--lake", lake, "--json", "list"], ["list", "--json", f"--lake={lake}"], ["list", "--lake", lake, "--json"],
    )  # fmt: skip
    first, *others = (invoke(*arguments).output for arguments in ways)
    assert json.loads(first)["snapshots"] == [] and others == [first, first]


def test_unused_or_incomplete_option_of_the_group_is_refused(tmp_path: Path) -> None:
    paper = tmp_path / "--json"  # after `--` it is a file
    paper.write_text("x")
    for arguments, message in (
        (["calibrate", "--in", str(paper), "--unigrams", str(paper), "--lake", "x"], "No such option: --lake"),
        (["list", "--lake"], "Option '--lake' requires an argument"),
        (["check", "--source", "nothing", "--", "--json"], "'nothing'"),
    ):
        done = invoke(*arguments)
        assert done.exit_code != 0 and message in f"{done.output}{done.exception}", arguments
