"""Generate the reference pages of the documentation from the code (a hook of MkDocs).

The pages list tables (from their row classes), checks (from `sql/quality/`), outcomes and metrics
(from their declarations). `docs/` does not contain them, so they cannot be outdated.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

if TYPE_CHECKING:
    from s2corpus.tables.schema import Column
    from s2orc_parse.outcomes import Outcome

ROOT = Path(__file__).resolve().parents[1]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to the site."""
    for name, write in PAGES.items():
        files.append(File.generated(config, f"{name}.md", content=write()))
    return files


def describe_checks() -> str:
    """Return every quality check with its severity and reason."""
    from s2corpus.pipeline import checks
    from s2corpus.pipeline.stages import PIPELINE

    lines = [
        "# Quality checks",
        "",
        "Generated from `sql/quality/`. A check is a query that returns the offending rows.",
    ]
    for stage in PIPELINE:
        tables = ", ".join(f"[{name}](tables.md#{name})" for name in (*stage.reads, *stage.writes))
        lines += [
            "",
            f"## {stage.name}",
            "",
            f"Tables: {tables}.",
            "",
            "| check | severity | threshold | reason and fix |",
            "|---|---|---|---|",
        ]
        for check in checks.list_checks(stage.name):
            severity = f"{check.severity}, overridable" if check.overridable else check.severity
            threshold = f"`{check.threshold}`" if check.threshold else ""
            lines.append(f"| `{check.name}` | {severity} | {threshold} | {_cell(check.reason)} |")
    return "\n".join(lines) + "\n"


def describe_outcomes() -> str:
    """Return every closed list of outcomes."""
    lines = ["# Outcomes", "", "Generated from `include/s2corpus/outcomes.py` and `pipeline/stages.py`."]
    for name, (stage, words) in list_outcomes().items():
        lines += ["", f"## {name}", "", f"Stage {stage}." if stage else "", "", *tabulate_outcomes(words)]
    return "\n".join(lines) + "\n"


def describe_metrics() -> str:
    """Return the metrics of every stage."""
    from s2corpus.pipeline.stages import COMMON_METRICS, PIPELINE

    lines = [
        "# Metrics",
        "",
        "Generated from `include/s2corpus/pipeline/stages.py`. The values of two runs of a release may differ",
    ]
    lines.append("only if the name begins with `run.`; `stats.json` has all other metrics.")
    for title, metrics in (("All stages", COMMON_METRICS), *((row.name, row.metrics) for row in PIPELINE)):
        lines += ["", f"## {title}", "", "| metric | unit | meaning |", "|---|---|---|"]
        lines += [f"| `{metric.pattern}` | {metric.unit} | {_cell(metric.meaning)} |" for metric in metrics]
    return "\n".join(lines) + "\n"


def describe_tables() -> str:
    """Return every table between stages and every Parquet file of a snapshot, with their columns."""
    from s2corpus.tables.schema import TABLES, Column

    lines = ["# Tables", "", "Generated from the row classes in `include/s2corpus/tables/`.", "", "## Between stages"]
    for name, table in sorted(TABLES.items()):
        lines += ["", f"### {name}", "", f"{table.meaning}. Key: {', '.join(table.key)}.", "", *_columns(table.columns)]
    contract = read_contract()
    lines += [
        "",
        "## Published",
        "",
        f"The files of a snapshot ([Formats](formats.md)), format `{contract['format']}`.",
    ]
    for name, entries in contract["tables"].items():
        columns = (Column(e["name"], e["type"], e["meaning"], e["nullable"]) for e in entries)
        lines += ["", f"### Published {name}", "", *_columns(columns)]
    return "\n".join(lines) + "\n"


OUTCOMES_LINE = re.compile(r"^\[outcomes: ([\w.]+)\]\(reference-outcomes\.md\)$", re.MULTILINE)
"""a line of a page that stands for a generated table"""
SOURCES_LINE = re.compile(r"^\[metadata sources\]\(extending\.md\)$", re.MULTILINE)
FILES_LINE = re.compile(r"^\[files of a snapshot\]\(snapshot\.yaml\)$", re.MULTILINE)
PAGES: dict[str, Callable[[], str]] = {
    "tables": describe_tables,
    "reference-checks": describe_checks,
    "reference-outcomes": describe_outcomes,
    "reference-metrics": describe_metrics,
}


def read_contract() -> dict[str, Any]:
    """Return the published files and columns of a snapshot."""
    contract: dict[str, Any] = yaml.safe_load((ROOT / "docs" / "snapshot.yaml").read_text("utf-8"))
    return contract


def list_files() -> list[str]:
    """Return the lines of a table of the published files."""
    lines = ["| file | content |", "|---|---|"]
    for entry in read_contract()["files"]:
        link = f" ([columns](tables.md#published-{entry['table']}))" if entry["table"] else ""
        lines.append(f"| `{entry['path']}` | {_cell(entry['meaning'])}{link} |")
    return lines


def list_sources() -> list[str]:
    """Return the lines of a table of the built-in sources: the first paragraph of each adapter's docstring, in order of trust."""
    from s2corpus.sources import SOURCES

    lines = ["| source | kind | content |", "|---|---|---|"]
    for name in SOURCES.built_in:
        source = SOURCES.load(name)
        content = (inspect.getdoc(source) or "").partition("\n\n")[0]
        lines.append(f"| `{name}` | {source.KIND.value} | {_cell(content)} |")
    return lines


def _columns(columns: Iterable[Column]) -> list[str]:
    rows = [
        f"| {column.name} | {_cell(str(column.type))}{'' if column.nullable else ', not null'} | {_cell(column.meaning)} |"
        for column in columns
    ]
    return ["| column | type | meaning |", "|---|---|---|", *rows]


def list_outcomes() -> dict[str, tuple[str, list[tuple[str, Outcome | None, str]]]]:
    """Return each closed list: its stage ("" for releases) and its rows (word, declaration, name of the list that has it)."""
    from s2corpus.catalog.models import ReleaseState
    from s2corpus.outcomes import FileOutcome
    from s2corpus.papers.evidence import Evidence
    from s2corpus.papers.vote import VoteRule
    from s2corpus.pipeline.stages import OutcomeColumn, list_outcome_columns
    from s2corpus.sources.record import RejectReason

    columns = [
        *list_outcome_columns(),
        ("intake", OutcomeColumn("entries", "dropped", (("", RejectReason),))),
        ("intake", OutcomeColumn("files", "outcome", (("", FileOutcome),))),
        ("vote", OutcomeColumn("provenance", "rule", (("", VoteRule),))),
        ("vote", OutcomeColumn("papers", "oa_evidence", (("", Evidence),))),
        ("", OutcomeColumn("releases", "state", (("", ReleaseState),))),
    ]
    found: dict[str, tuple[str, list[tuple[str, Outcome | None, str]]]] = {}
    first: dict[type[Outcome], str] = {}
    for stage, column in columns:
        name = f"{column.table}.{column.column}"
        rows: list[tuple[str, Outcome | None, str]] = []
        for prefix, words in column.lists:
            if words in first:
                rows.append((f"{prefix}…", None, first[words]))
            else:
                rows += [(f"{prefix}{word}", word, "") for word in words]
                first[words] = f"{name} {prefix}".strip()
        found[name] = stage, rows
    return found


def tabulate_outcomes(rows: list[tuple[str, Outcome | None, str]], *, with_action: bool = True) -> list[str]:
    """Return the lines of a table of outcomes: word, meaning and, if wanted and any is declared, the action."""
    with_action = with_action and any(word and word.action for _, word, _ in rows)
    lines = (
        ["| outcome | meaning |", "|---|---|"] if not with_action else ["| outcome | meaning | do |", "|---|---|---|"]
    )
    for name, word, other in rows:
        cells = (f"as in `{other}`", "") if word is None else (word.meaning, word.action)
        lines.append(f"| `{name}` | " + " | ".join(_cell(cell) for cell in cells[: 1 + with_action]) + " |")
    return lines


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Replace each line `[outcomes: <table>.<column>](…)`, `[metadata sources](…)` or `[files of a snapshot](…)` by its table.

    The specification lists no actions.
    """
    found, with_action = list_outcomes(), page.file.src_uri != "specification.md"

    def tabulate(line: re.Match[str]) -> str:
        return "\n".join(tabulate_outcomes(found[line[1]][1], with_action=with_action))

    markdown = OUTCOMES_LINE.sub(tabulate, markdown)
    markdown = SOURCES_LINE.sub(lambda _: "\n".join(list_sources()), markdown)
    return FILES_LINE.sub(lambda _: "\n".join(list_files()), markdown)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
