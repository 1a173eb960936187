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
"""the existing text, and the text that replaces its first occurrence"""

RELEASE = """
import sys; from pathlib import Path
from s2corpus.pipeline import quality, runner
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.local_lake import LocalLake
from tests.unit.s2corpus.snapshot.release import lay_out, papers
spec = ReleaseSpec.model_validate({"name": "small", "export": {"files": 2}, "quality": {"drift_min_n": 1000}})
run = lay_out(LocalLake(Path("lake")), Path("."), spec, papers(12), buckets=2)
"""


BUILD = (
    "from tests.unit.s2corpus.snapshot.release import build, snapshot_folder\n"
    + RELEASE.replace("papers(12)", "papers(40)")
    + "folder = snapshot_folder(build(run))\n"
)
HOUSE, CONTRACT = "tests/unit/house/test_extensions.py", "tests/unit/s2corpus/snapshot/test_contract.py"


@dataclass(frozen=True)
class Change:
    """A change: its edits and new files, and a script that shows its effect.

    `forgotten` has (edited file that is left out, tests, their message). An empty file stands for the change without its tests and pages.
    """

    name: str
    files: Mapping[str, tuple[Edit, ...] | str]
    acts: str
    forgotten: tuple[tuple[str, str, str], ...] = ()


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
        "a built-in metadata source",
        {
            "include/s2corpus/sources/repository.py": '"""Records of a repository. Ids: `repository:<handle>`."""\n\n'
            + block((ROOT / "docs" / "sources.md").read_text("utf-8"), "from s2corpus.sources"),
            "include/s2corpus/trust.py": (('"jsonl", ', '"repository", "jsonl", '),),
        },
        """
import io
from s2corpus import sources, trust
(entry,) = sources.read("repository", io.BytesIO(b'{"handle": "7", "name": "A title", "by": "Lovelace, Ada", "doi": "10.1000/x"}'))
assert entry.title == "A title" and trust.TRUST.index("repository") == trust.TRUST.index("arxiv") + 1
""",
        (
            (
                "include/s2corpus/trust.py",
                f"{HOUSE}::test_each_module_of_an_extension_is_registered",
                "Extra items in the left set:\nE         'repository'",
            ),
            (
                "",
                f"{HOUSE}::test_extension_has_all_parts",
                "no test of a documented entry in tests/unit/s2corpus/sources/test_adapters.py",
            ),
        ),
    ),
    Change(
        "a default",
        {"include/s2corpus/rules.py": (("min_words: NonNegative = 500", "min_words: NonNegative = 400"),)},
        """
from s2corpus.spec import ReleaseSpec
assert ReleaseSpec(name="small").clean.min_words == 400
""",
        (("", f"{HOUSE}::test_changed_default_is_in_the_changelog", "assert ['clean.min_words'] == []"),),
    ),
    Change(
        "a field of the spec",
        {"include/s2corpus/rules.py": (("    max_pages: Count", "    min_pages: Count = 1\n    max_pages: Count"),)},
        """
from s2corpus.spec import ReleaseSpec
assert ReleaseSpec.model_validate({"name": "small", "select": {"min_pages": 2}}).select.min_pages == 2
""",
        (("", f"{HOUSE}::test_each_field_of_a_spec_has_a_meaning", "no docstring below the field"),),
    ),
    Change(
        "a quality check with a threshold",
        {
            "sql/quality/vote.sql": (
                (
                    "-- check: canonical_pdf_is_parsed",
                    block(PAGE, "-- check: titles_are_short") + "\n-- check: canonical_pdf_is_parsed",
                ),
            ),
            "include/s2corpus/spec.py": (
                (
                    "    drift_min_n: NonNegative",
                    '    max_title_characters: Count = 3\n    """maximum characters of a title"""\n    drift_min_n: NonNegative',
                ),
            ),
        },
        RELEASE
        + """
(verdict,) = [v for v in quality.evaluate(run, "vote") if v.check == "titles_are_short"]
assert verdict.verdict == "warn" and verdict.offending == 12, verdict
""",
        (
            (
                "include/s2corpus/spec.py",
                f"{HOUSE}::test_check_has_a_test_and_a_threshold",
                "quality.max_title_characters is no number of the spec",
            ),
            ("", f"{HOUSE}::test_check_has_a_test_and_a_threshold", "titles_are_short: no test in test_sql_checks.py"),
        ),
    ),
    Change(
        "a column of a published table",
        {
            "include/s2corpus/text/signals.py": (
                (
                    "    frac_upper: Ann",
                    '    frac_question_marks: Annotated[float, "question marks per character", LATER]\n    frac_upper: Ann',
                ),
                (
                    '        "frac_upper": ',
                    '        "frac_question_marks": text.count("?") / visible,\n        "frac_upper": ',
                ),
                (
                    "from s2corpus.text import word_hashes",
                    "from s2corpus.tables.schema import LATER\nfrom s2corpus.text import word_hashes",
                ),
            ),
            "docs/snapshot.yaml": (
                (
                    '    - {name: "frac_upper"',
                    '    - {name: "frac_question_marks", type: "double", nullable: false, '
                    'meaning: "question marks per character", since: true}\n'
                    '    - {name: "frac_upper"',
                ),
            ),
        },
        BUILD
        + """
import pyarrow.parquet as pq
from s2corpus.snapshot.verify import verify
shares = pq.read_table(next((folder / "documents/s2orc/train").iterdir()))["frac_question_marks"].to_pylist()
assert shares and set(shares) == {0.0}
assert "question marks per character" in (folder / "README.md").read_text()
""",
        (
            (
                "docs/snapshot.yaml",
                CONTRACT,
                "documents.frac_question_marks (double) has no entry: add it to docs/snapshot.yaml",
            ),
        ),
    ),
    Change(
        "a file of the snapshot",
        {
            "include/s2corpus/stages/export/whole.py": (
                (
                    '    put_text("stats.json"',
                    '    put_text("CITATION.txt", b"Cite the corpus.\\n")\n    put_text("stats.json"',
                ),
            ),
            "docs/snapshot.yaml": (
                (
                    "files:\n",
                    'files:\n  - {path: "CITATION.txt", table: "", meaning: "how to cite the corpus", since: true}\n',
                ),
            ),
        },
        BUILD
        + """
import json
assert (folder / "CITATION.txt").read_text() == "Cite the corpus.\\n"
assert "CITATION.txt" in {file["path"] for file in json.loads((folder / "manifest.json").read_text())["files"]}
""",
        (("docs/snapshot.yaml", CONTRACT, "CITATION.txt has 0 entries in docs/snapshot.yaml"),),
    ),
    Change(
        "an outcome of select",
        {
            "include/s2corpus/outcomes.py": (
                (
                    "    LANDSCAPE = Word(",
                    '    TOO_FEW_PAGES = Word("too_few_pages", "one page", "a cover", paper=PaperRow("One page", 1))\n'
                    "    LANDSCAPE = Word(",
                ),
            ),
            "include/s2corpus/pdf/inspection.py": (
                (
                    "    if width > height:",
                    "    if pages < 2:\n        return Inspection(SelectOutcome.TOO_FEW_PAGES, pages)\n    if width > height:",
                ),
            ),
        },
        """
import pypdf
from pathlib import Path
from s2corpus.outcomes import SelectOutcome
from s2corpus.pdf import inspect_many
from s2corpus.pipeline.funnel import build_funnel
from s2corpus.pipeline.stages import PIPELINE
from s2corpus.rules import SelectRules
with pypdf.PdfWriter() as writer:
    writer.add_blank_page(width=200, height=300)
    writer.write("one.pdf")
(found,) = inspect_many([("one", Path("one.pdf"))], rules=SelectRules(), workers=1, timeout=60, memory_bytes=1 << 30)
assert found.outcome == "too_few_pages"
from s2corpus.pipeline.checks import list_all_checks
(known,) = [check for check in list_all_checks() if check.stage == "select" and check.name.endswith("outcome_is_known")]
assert "too_few_pages" in known.sql
steps = build_funnel({"select": {"outcome.selected": 1.0, "outcome.too_few_pages": 2.0}})
assert any(("too_few_pages", 2) in step.left_out for step in steps), steps
""",
        (
            (
                "include/s2corpus/pdf/inspection.py",
                f"{HOUSE}::test_each_outcome_is_returned",
                "assert ['TOO_FEW_PAGES'] == []",
            ),
        ),
    ),
    Change(
        "a kind of dataset",
        {"titles.py": block(PAGE, '"""Titles'), "titles.yaml": "name: titles\ndataset: titles\n"},
        """
import gzip
from pathlib import Path
from s2corpus_datasets import runner
from s2corpus_datasets.job import Job
from s2corpus_datasets.source import SnapshotSource
from s2corpus_datasets.spec import load_dataset_spec
from s2corpus.storage.lake import open_lake
from tests.snapshots import paper, write_snapshot
folder = write_snapshot(Path("own"), [paper(f"{n:015x}", {}, title=f"Paper {n}") for n in range(3)], files=2)
job = Job(load_dataset_spec(Path("titles.yaml")), SnapshotSource(open_lake(str(folder))), open_lake("own"))
runner.make(job)
(key,) = [entry.key for entry in job.lake.list(f"{job.prefix}/") if entry.key.endswith("titles.jsonl.gz")]
assert b"Paper 2" in gzip.decompress(job.lake.get(key)[0])
""",
    ),
    Change(
        "a LaTeX class",
        {
            "include/s2orc_parse/latex/classes.toml": (
                (
                    "[[class]]\npattern = 'revtex4",
                    '[[class]]\npattern = "oddjnl"\nsource = "https://example.org/oddjnl"\nnote = "oddnote"\n\n'
                    "[[class]]\npattern = 'revtex4",
                ),
            )
        },
        """
from s2orc_parse.latex.classes import Role, find_forms
assert find_forms(["oddjnl"])["oddnote"].role is Role.NOTE
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
                    'VENUES = define(VenueRow, "venues", key=("paper_id",), shards="paper", counted=(("outcome",),))\n\n\nclass PaperRow(',
                ),
            ),
            "include/s2corpus/stages/venues.py": block(PAGE, "# include/s2corpus/stages/venues.py"),
            "include/s2corpus/pipeline/stages.py": (
                (
                    '    StageRow(\n        "assemble",\n',
                    '    StageRow("venues", reads=("papers",), writes=("venues",), shards=Shards.PAPERS, items=("papers", ("rows",))),\n'
                    '    StageRow(\n        "assemble",\n',
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


def make_copy(change: Change, folder: Path, left_out: str | None = None) -> dict[str, str]:
    """Copy the package with the change, and return the environment that imports the copy."""
    for name in ("include", "sql", "docs"):  # With the compiled kernels: only changed files compile again.
        shutil.copytree(ROOT / name, folder / name)
    if left_out is not None:
        for name in ("tests", "dags", "plugins", "devtools"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("test_extending.py"))
        for name in ("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "Makefile", "mkdocs.yml", "pyproject.toml"):
            shutil.copy(ROOT / name, folder / name)
    for name, edits in change.files.items():
        if name == left_out:
            continue
        text = edits if isinstance(edits, str) else (folder / name).read_text("utf-8")
        for old, new in edits if not isinstance(edits, str) else ():
            assert old in text, f"{name}: {old!r}"
            text = text.replace(old, new, 1)
        (folder / name).write_text(text, "utf-8")
    # Register the entry points, as the package's pyproject.toml does.
    (info := folder / "other-1.dist-info").mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    kinds = {
        "s2corpus.sources": "repository", "s2corpus.extractors": "docling", "s2corpus.filters": "few_references",
        "s2corpus.cleaning_rules": "repeated_lines", "s2corpus_datasets": "titles",
    }  # fmt: skip
    points = [f"[{kind}]\n{file} = {file}\n" for kind, file in kinds.items() if f"{file}.py" in change.files]
    (info / "entry_points.txt").write_text("".join(points))
    folders = os.pathsep.join(map(str, (folder / "include", folder, ROOT)))
    return {**os.environ, "PYTHONPATH": folders, "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_documented_change_needs_only_its_files(change: Change, tmp_path: Path) -> None:
    listed = next(row for row in PAGE.splitlines() if row.startswith(f"| {change.name} |"))
    assert set(re.findall(r"`([\w./]+)`", listed.split("|")[2])) == set(change.files)
    environment = make_copy(change, tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", change.acts], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


FORGOTTEN = [(change, *forgotten) for change in CHANGES for forgotten in change.forgotten]


@pytest.mark.parametrize(
    ("change", "left_out", "tests", "message"), FORGOTTEN, ids=lambda value: getattr(value, "name", value or "-")
)
def test_forgotten_part_is_named(change: Change, left_out: str, tests: str, message: str, tmp_path: Path) -> None:
    environment = make_copy(change, tmp_path, left_out)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", tests]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and message in done.stdout, done.stdout[-3000:] + done.stderr[-3000:]
