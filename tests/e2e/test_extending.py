"""Each change that docs/extending.md lists works in a copy of the package and needs exactly the listed files."""

from __future__ import annotations

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
from s2corpus.stages.clean import CleanStage; from s2corpus.stages.export import ExportStage; from s2corpus.stages.split import SplitStage
from s2corpus.storage.local_lake import LocalLake
from tests.unit.s2corpus.snapshot.release import lay_out, papers, through
spec = ReleaseSpec.model_validate({"name": "small", "export": {"files": 2}, "quality": {"drift_min_n": 1000}})
run = lay_out(LocalLake(Path("lake")), Path("."), spec, papers(12), buckets=2)
"""


@dataclass(frozen=True)
class Change:
    """A change: its edits and new files, the number of code files that it may change, and a script that shows its effect."""

    name: str
    most: int
    files: Mapping[str, tuple[Edit, ...] | str]
    acts: str


def block(page: str, first: str) -> str:
    """Return the code block of a page that begins with `first`."""
    codes: list[str] = re.findall(r"```\w+\n(.*?)```", page, re.DOTALL)
    return next(code for code in codes if code.startswith(first))


CHANGES = [
    Change(
        "a metadata source",
        1,
        {"repository.py": block((ROOT / "docs" / "sources.md").read_text("utf-8"), "from s2corpus.sources")},
        """
import io
from s2corpus import sources
(entry,) = sources.read("repository", io.BytesIO(b'{"handle": "7", "name": "A title", "by": "Lovelace, Ada", "doi": "10.1000/x"}'))
assert (entry.record_id, entry.title, entry.doi) == ("repository:7", "A title", "10.1000/x"), entry
""",
    ),
    Change(
        "a filter's threshold",
        1,
        {
            "include/s2corpus/rules.py": (
                ("    min_characters: NonNegative = 100", "replace:    min_characters: NonNegative = 5000"),
            )
        },
        """
from s2corpus.papers.filter import decide
from s2corpus.rules import FilterRules
text = "We measure how words are used in papers, and say what we found. " * 20
assert decide([], [], FilterRules(), title="A title", author_count=1, text=text).outcome == "short_text"
""",
    ),
    Change(
        "a quality check with a threshold",
        2,
        {
            "sql/quality/vote.sql": (
                (
                    "-- check: every_cluster_is_a_paper",
                    "-- check: titles_are_short\n-- severity: warn\n-- threshold: quality.max_title\n"
                    "-- reason: an abstract stands in the title\n"
                    "SELECT paper_id FROM papers WHERE length(title) > $threshold;\n\n",
                ),
            ),
            "include/s2corpus/spec.py": (
                ("    drift_min_n: NonNegative", '    max_title: Count = 5\n    """characters of a title"""\n'),
            ),
        },
        RELEASE
        + """
verdicts = {v.check: v for v in quality.evaluate(run, "vote")}
assert (verdicts["titles_are_short"].verdict, verdicts["titles_are_short"].threshold) == ("warn", 5), verdicts
assert verdicts["titles_are_short"].offending == 12
""",
    ),
    Change(
        "a file of the snapshot",
        2,
        {
            "include/s2corpus/stages/export/whole.py": (
                ('    put_text("stats.json"', '    put_text("sources.json", _to_json(sources))\n'),
            )
        },
        RELEASE
        + """
import json
from s2corpus.snapshot.verify import verify
through(run, CleanStage(), SplitStage(), ExportStage())
snapshot = LocalLake(Path("lake") / "snapshots" / run.snapshot_id)
assert json.loads(snapshot.get("sources.json")[0])
assert "sources.json" in {file["path"] for file in json.loads(snapshot.get("manifest.json")[0])["files"]}
assert list(verify(snapshot)) == []
""",
    ),
    Change(
        "an outcome of select",
        6,
        {
            "include/s2corpus/rules.py": (
                ("    max_pages: Count = 50", '    min_pages: Count = 2\n    """fewer pages are an abstract"""\n'),
            ),
            "include/s2corpus/pdf/outcome.py": (
                ('    LANDSCAPE = "landscape"', '    TOO_FEW_PAGES = "too_few_pages"\n'),
            ),
            "include/s2corpus/pdf/inspection.py": (
                (
                    "    if width > height:",
                    "    if pages < rules.min_pages:\n        return Inspection(SelectOutcome.TOO_FEW_PAGES, pages, width, height)\n",
                ),
            ),
            "sql/quality/select.sql": (("'landscape', 'pdfalto_failed'", "'too_few_pages', "),),
            "sql/reports/funnel.sql": (("(4, 'landscape'", "(3, 'too_few_pages', 'Too few pages'), "),),
            "docs/runbook.md": (
                ("| `landscape` |", "| `too_few_pages` | fewer than `select.min_pages` | an abstract |\n"),
            ),
        },
        """
from pathlib import Path
from s2corpus.pdf import inspect_many
from s2corpus.pipeline import quality
from s2corpus.spec import SelectRules
from tests.unit.s2corpus.pdf.bad_pdfs import A4, assemble, pages, paper
Path("one.pdf").write_bytes(assemble(paper()))
limits = {"workers": 1, "timeout": 60, "memory_bytes": 1 << 30}
(found,) = inspect_many([("0" * 40, Path("one.pdf"))], rules=SelectRules(), **limits)
assert (found.outcome, found.pages) == ("too_few_pages", 1), found
(found,) = inspect_many([("0" * 40, Path("one.pdf"))], rules=SelectRules(min_pages=1), **limits)
assert found.outcome == "selected", found
assert any("too_few_pages" in check.sql for check in quality.list_checks("select"))
""",
    ),
    Change(
        "a cleaning rule",
        2,
        {
            "include/s2corpus/text/documents.py": (('    NO_TITLE = "no_title"', '    NO_SECTIONS = "no_sections"\n'),),
            "include/s2corpus/text/card.py": (
                (
                    "        DropRule(CleanOutcome.SHORT, lambda facts: facts.words < facts.rules.min_words",
                    "        DropRule(CleanOutcome.NO_SECTIONS, lambda facts: len(facts.sections) < MIN_SECTIONS),\n",
                ),
                (
                    "S2ORC: RuleSeries[CardFullText]",
                    'MIN_SECTIONS = 2\n"""sections of a text that is a paper (source)"""\n\n',
                ),
            ),
        },
        """
from s2corpus.spec import CleanRules
from s2corpus.text.clean import clean
from s2corpus.text.documents import CleanedDocument
from s2corpus.text.layout import Unit
from s2corpus.text.unigrams import wordfreq_unigrams
def decided(*heads):
    body = tuple(Unit(head, "Some words of a paragraph.") for head in heads)
    return clean(
        "s2orc", CleanedDocument("1", "A title", "An abstract.", "2001", body), CleanRules(), wordfreq_unigrams()
    ).outcome
assert decided("Aims") == "no_sections", decided("Aims")
assert decided("Aims", "Methods", "Results") != "no_sections"
""",
    ),
    Change(
        "an extractor with a format of its own",
        1,
        {"docling.py": (ROOT / "tests" / "extractors" / "docling.py").read_text("utf-8")},
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
        4,
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
    assert len(change.files) <= change.most
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
            new = put.removeprefix("replace:") if put.startswith("replace:") else put + there
            text = text.replace(there, new, 1)
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
