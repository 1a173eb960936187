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
OWN = (ROOT / "docs" / "own-filter.md").read_text("utf-8")
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
from s2corpus.extractors import EXTRACTORS, Pool
from tests.standin_docling import SMALL, StandIn
with StandIn() as server:
    identity = Pool([server.url]).identity()
parse = EXTRACTORS.load("docling").convert(orjson.dumps(SMALL), file_sha1="0" * 40, made_by=identity)
assert (parse.header.title, parse.provenance.extractor) == ("A small paper", "docling"), parse
""",
    ),
    Change(
        "a filter and a cleaning rule",
        {name: block(OWN, f'"""{name}') for name in ("few_references.py", "repeated_lines.py")},
        f"RULES = {block(OWN, 'filter:')!r}"
        + RELEASE.replace("papers(12)", "papers(80)")
        .replace("spec = ", "from s2corpus.spec import load_spec; ignored = ")
        .replace(
            "run = ",
            """
file = Path("small.yaml")
file.write_text("name: small\\nexport: {files: 2}\\n" + RULES.replace("0.3", "-0.1"))
spec = load_spec(file)
run = """,
        )
        + """
from s2corpus.errors import UserError
from s2corpus.pipeline.funnel import build_funnel
from s2corpus.snapshot.manifest import find_invalid_rule, list_rules
run.lake.put(f"releases/{run.release_id}/suppress.jsonl", b"")
for stage in ("filter", "clean"):
    runner.run_stage(run, stage)
    assert {v.verdict for v in quality.evaluate(run, stage)} == {"pass"}
metrics = quality.read_metrics(run)
few = metrics["filter"]["outcome.rule:few_references"]
assert few > 0 and metrics["clean"]["s2ag.rule:repeated_lines"] > 0, metrics
assert dict({step.label: step for step in build_funnel(metrics)}["kept"].left_out)["rule:few_references"] == few
assert sum(n for name, n in metrics["filter"].items() if name.startswith("outcome.")) == 80
rules = list_rules(spec)
assert rules["filter.rules"] == [{"name": "few_references", "version": 1, "options": {"min": 3}}], rules
assert find_invalid_rule(rules) is None
for given, wrong, message in (
    ("version: 1, options: {min", "version: 2, options: {min", "has version 1; the spec names version 2"),
    ("version: 1, options: {min", "options: {min", "filter.rules.0.version: missing"),
    ("few_references", "no_references", "no filter is called 'no_references': expected one of few_references"),
    ("repeated_lines", "few_references", "no cleaning rule is called 'few_references'"),
):
    file.write_text("name: small\\n" + RULES.replace(given, wrong))
    try:
        load_spec(file)
    except UserError as error:
        assert str(file) in str(error) and message in str(error), error
    else:
        raise AssertionError(wrong)
from s2corpus.own_rules import CLEANING_RULES, find_dropping_rule
from s2corpus.rules import OwnRule
from s2corpus.text.documents import CleanedDocument
try:
    find_dropping_rule(CLEANING_RULES, [OwnRule(name="repeated_lines", version=1)], CleanedDocument("7", None, None, None, None), "One")
except UserError as error:
    assert "'repeated_lines' fails on paper 7: KeyError('max_share')" in str(error), error
else:
    raise AssertionError("an exception of a rule passes")
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
                    '    StageRow("venues", reads=("papers",), writes=("venues",), shards=Shards.PAPERS, items=("papers", ("rows",))),\n',
                ),
            ),
            "sql/quality/venues.sql": "-- check: every_paper_has_a_venue\n-- severity: block\n-- overridable: no\n"
            "-- reason: papers were lost in venues: clear it\n"
            "SELECT paper_id FROM papers ANTI JOIN venues USING (paper_id);\n",
        },
        RELEASE
        + """
from s2corpus.pipeline.stages import STAGE_NAMES
assert STAGE_NAMES.index("venues") == STAGE_NAMES.index("vote") + 1
assert sum(map(len, runner.batch_later_shards(run, "cluster"))) == 2
runner.run_stage(run, "venues")
metrics = quality.read_metrics(run)["venues"]
assert metrics["rows"] == 12 == sum(n for name, n in metrics.items() if name.startswith("outcome.")), metrics
assert [v.verdict for v in quality.evaluate(run, "venues")] == ["pass", "pass"]
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
    (info := tmp_path / "other-1.dist-info").mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    kinds = {
        "sources": "repository", "extractors": "docling", "filters": "few_references", "cleaning_rules": "repeated_lines"
    }  # fmt: skip
    points = [f"[s2corpus.{kind}]\n{file} = {file}\n" for kind, file in kinds.items() if f"{file}.py" in change.files]
    (info / "entry_points.txt").write_text("".join(points))
    folders = os.pathsep.join(map(str, (tmp_path / "include", tmp_path, ROOT)))
    environment = {**os.environ, "PYTHONPATH": folders, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", change.acts], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
