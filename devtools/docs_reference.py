"""Generate the reference pages of the documentation from the code by `docs_reference.md.j2` (a hook of MkDocs).

The pages list tables (from their row classes), checks (from `sql/quality/`), outcomes and metrics
(from their declarations). `docs/` does not contain them, so they cannot be outdated.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

if TYPE_CHECKING:
    from s2orc_parse.outcomes import Outcome

    ClosedList = tuple[str, list[tuple[str, Outcome | None, str]]]
    """A stage ("" for releases) and rows: word, declaration, name of the list that has it."""

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "tables": "tables", "reference-checks": "checks", "reference-outcomes": "outcomes", "reference-metrics": "metrics",
}  # fmt: skip
"""Page → its macro in the template."""
OUTCOMES_LINE = re.compile(r"^\[outcomes: ([\w.]+)\]\(reference-outcomes\.md\)$", re.MULTILINE)
"""a line of a page that a generated table replaces"""
SOURCES_LINE = re.compile(r"^\[metadata sources\]\(extending\.md\)$", re.MULTILINE)
FILES_LINE = re.compile(r"^\[files of a snapshot\]\(snapshot\.yaml\)$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to the site."""
    for name, macro in PAGES.items():
        files.append(File.generated(config, f"{name}.md", content=_render(macro)))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Replace each line `[outcomes: <table>.<column>](…)`, `[metadata sources](…)` or `[files of a snapshot](…)` by its table.

    The specification lists no actions.
    """
    with_action = page.file.src_uri != "specification.md"
    found = list_outcomes()
    markdown = OUTCOMES_LINE.sub(
        lambda line: _render("outcome_table", found[line[1]][1], with_action).rstrip("\n"), markdown
    )
    markdown = SOURCES_LINE.sub(lambda _: _render("source_table").rstrip("\n"), markdown)
    return FILES_LINE.sub(lambda _: _render("files").rstrip("\n"), markdown)


def list_outcomes() -> dict[str, ClosedList]:
    """Return each closed list by the name of its column."""
    from s2corpus.catalog.models import ReleaseState
    from s2corpus.outcomes import FileOutcome
    from s2corpus.papers.evidence import Evidence
    from s2corpus.papers.vote import VoteRule
    from s2corpus.pipeline.stage_rows import OutcomeColumn
    from s2corpus.pipeline.stages import list_outcome_columns
    from s2corpus.sources.record import RejectReason

    columns = [
        *list_outcome_columns(),
        ("intake", OutcomeColumn("entries", "dropped", (("", RejectReason),))),
        ("intake", OutcomeColumn("files", "outcome", (("", FileOutcome),))),
        ("vote", OutcomeColumn("provenance", "rule", (("", VoteRule),))),
        ("vote", OutcomeColumn("papers", "oa_evidence", (("", Evidence),))),
        ("", OutcomeColumn("releases", "state", (("", ReleaseState),))),
    ]
    found: dict[str, ClosedList] = {}
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


@cache
def _read_template() -> Any:
    """Return the macros of the template, with the declarations that they list."""
    from s2corpus.pipeline.checks import list_checks
    from s2corpus.pipeline.stages import COMMON_METRICS, PIPELINE
    from s2corpus.sources import SOURCES
    from s2corpus.tables.schema import TABLES

    environment = jinja2.Environment(keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
    environment.filters |= {"cell": _cell, "doc": lambda source: inspect.getdoc(source) or ""}
    template = environment.from_string(Path(__file__).with_suffix(".md.j2").read_text("utf-8"))
    return template.make_module({
        "contract": yaml.safe_load((ROOT / "docs" / "snapshot.yaml").read_text("utf-8")), "between": TABLES, "pipeline": PIPELINE,
        "list_checks": list_checks, "sources": SOURCES, "closed_lists": list_outcomes(),
        "measured": [("All stages", COMMON_METRICS), *((stage.name, stage.metrics) for stage in PIPELINE)],
    })  # fmt: skip


def _render(macro: str, *arguments: object) -> str:
    return str(getattr(_read_template(), macro)(*arguments))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
