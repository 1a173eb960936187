"""Changes that docs/extending.md lists work in a copy of the package and need exactly the listed files."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text("utf-8")
pytestmark = pytest.mark.slow
Edit = tuple[str, str]
"""the existing text, and the text to insert before it"""

RELEASE = """
import sys; from pathlib import Path
from s2corpus.pipeline import quality, runner
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.local_lake import LocalLake
from tests.unit.s2corpus.snapshot.release import lay_out, papers
spec = ReleaseSpec.model_validate({"name": "small", "export": {"files": 2}, "quality": {"drift_min_n": 1000}})
run = lay_out(LocalLake(Path("lake")), Path("."), spec, papers(12), buckets=2)
"""


@dataclass(frozen=True)
class Change:
    """A change: its edits and new files, and a script that shows its effect."""

    name: str
    files: Mapping[str, tuple[Edit, ...] | str]
    acts: str


def block(page: str, first: str) -> str:
    """Return the code block of a page that begins with `first`."""
    codes: list[str] = re.findall(r"```\w+\n(.*?)```", page, re.DOTALL)
    return next(code for code in codes if code.startswith(first))


CHANGES = [
    Change(
        "a metadata source",
        {"repository.py": block((ROOT / "docs" / "sources.md").read_text("utf-8"), "from s2corpus.sources")},
        """
import io
from s2corpus import sources
(entry,) = sources.read("repository", io.BytesIO(b'{"handle": "7", "name": "A title", "by": "Lovelace, Ada", "doi": "10.1000/x"}'))
assert (entry.record_id, entry.title, entry.doi) == ("repository:7", "A title", "10.1000/x"), entry
""",
    ),
    Change(
        "an extractor with a format of its own",
        {"docling.py": (ROOT / "devtools" / "examples" / "docling.py").read_text("utf-8")},
        """
import orjson
from s2corpus.extractors import Pool, adapter
from tests.standin_docling import SMALL, StandIn
with StandIn() as server:
    identity = Pool([server.url]).identity()
parse = adapter("docling").convert(orjson.dumps(SMALL), file_sha1="0" * 40, made_by=identity)
assert (parse.header.title, parse.provenance.extractor) == ("A small paper", "docling"), parse
""",
    ),
    Change(
        "a stage",
        {
            "include/s2corpus/tables/papers.py": (
                (
                    "class PaperRow(",
                    'class VenueRow(TypedDict):\n    """Where each paper appeared."""\n\n    paper_id: PaperId\n'
                    '    venue: Annotated[str | None, "its venue"]\n    outcome: Annotated[str, "named or unnamed"]\n\n\n'
                    'VENUES = define(VenueRow, "venues", key=("paper_id",), shards="paper", counted=(("outcome",),))\n\n\n',
                ),
            ),
            "include/s2corpus/stages/venues.py": block(PAGE, "# include/s2corpus/stages/venues.py"),
            "include/s2corpus/pipeline/stages.py": (
                (
                    '    StageRow(\n        "assemble",\n',
                    '    StageRow("venues", reads=("papers",), writes=("venues",), shards=Shards.PAPERS),\n',
                ),
            ),
            "sql/quality/venues.sql": "-- check: venues_key_is_unique\n-- severity: block\n-- overridable: no\n"
            "-- reason: a key stands twice\n"
            "SELECT paper_id FROM venues GROUP BY ALL HAVING count(*) > 1;\n",
        },
        RELEASE
        + """
from s2corpus.pipeline.stages import STAGE_NAMES
assert STAGE_NAMES.index("venues") == STAGE_NAMES.index("vote") + 1
assert runner.count_later_shards(run, "cluster") == 2
runner.run_stage(run, "venues")
metrics = quality.read_metrics(run)["venues"]
assert metrics["rows"] == 12 == sum(n for name, n in metrics.items() if name.startswith("outcome.")), metrics
assert [v.verdict for v in quality.evaluate(run, "venues")] == ["pass"]
""",
    ),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_documented_change_needs_only_its_files(change: Change, tmp_path: Path) -> None:
    listed = next(row for row in PAGE.splitlines() if row.startswith(f"| {change.name} |"))
    assert set(re.findall(r"`([\w./]+)`", listed.split("|")[2])) == set(change.files)
    for folder in ("include", "sql"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder
        )  # With the compiled kernels: only changed files compile again.
    (tmp_path / "docs").mkdir()
    for name, edits in change.files.items():
        path = tmp_path / name
        if isinstance(edits, str):
            path.write_text(edits, "utf-8")
            continue
        text = (ROOT / name).read_text("utf-8")
        for there, put in edits:
            assert text.count(there) >= 1, f"{name}: {there!r}"
            text = text.replace(there, put + there, 1)
        path.write_text(text, "utf-8")
    # Register the entry points, as the package's pyproject.toml does.
    for kind, file in (("sources", "repository"), ("extractors", "docling")):
        if f"{file}.py" in change.files:
            (info := tmp_path / "other-1.dist-info").mkdir()
            (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
            (info / "entry_points.txt").write_text(f"[s2corpus.{kind}]\n{file} = {file}\n")
    folders = os.pathsep.join(map(str, (tmp_path / "include", tmp_path, ROOT)))
    environment = {**os.environ, "PYTHONPATH": folders, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", change.acts], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
