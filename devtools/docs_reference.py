"""Generate the reference pages of the documentation from the code (a hook of MkDocs).

The pages list tables (from their row classes), commands (from click), spec fields (from pydantic), checks (from `sql/quality/`)
and outcomes (from the enums). `docs/` does not contain them, so they cannot be outdated.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any, get_args

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pydantic import BaseModel

if TYPE_CHECKING:
    from s2corpus.tables.schema import Column


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to the site."""
    for name, write in PAGES.items():
        files.append(File.generated(config, f"{name}.md", content=write()))
    return files


def describe_commands() -> str:
    """Return the help of every command."""
    from devtools.cli import tools
    from s2corpus.cli import corpus

    lines = ["# Command help", "", "Generated from the commands' own help. [Commands](commands.md) has an overview."]
    for program, group in (("corpus", corpus), ("python -m devtools", tools)):
        context = click.Context(group, info_name=program, max_content_width=100)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            text = command.get_help(click.Context(command, parent=context, info_name=name, max_content_width=100))
            lines += ["", f"## {program} {name}", "", "```text", text, "```"]
    return "\n".join(lines) + "\n"


def describe_spec() -> str:
    """Return every field of a release spec with its type, default, meaning and source."""
    from s2corpus.spec import ReleaseSpec

    lines = [
        "# Spec fields",
        "",
        "Generated from the classes in `include/s2corpus/rules.py` and `spec.py`. A source in parentheses names the paper, card or",
        "program that the value comes from. An unknown field in a spec is an error.",
    ]
    models: list[tuple[str, type[BaseModel]]] = [("Release", ReleaseSpec), *_sections(ReleaseSpec)]
    for title, model in models:
        documented = _attribute_docstrings(model)
        lines += ["", f"## {title}", "", "| field | type | default | meaning and source |", "|---|---|---|---|"]
        for name, field in model.model_fields.items():
            if _model_of(field.annotation) is not None and title == "Release":
                lines.append(f"| `{name}` | section | | see below |")
                continue
            default = (
                "required" if field.is_required() else f"`{_shorten(field.get_default(call_default_factory=True))}`"
            )
            lines.append(
                f"| `{name}` | {_cell(_type_name(field.annotation))} | {_cell(default)} | {_cell(documented.get(name, ''))} |"
            )
    return "\n".join(lines) + "\n"


def describe_checks() -> str:
    """Return every quality check with its severity and reason."""
    from s2corpus.pipeline import quality
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
        for check in quality.list_checks(stage.name):
            severity = f"{check.severity}, overridable" if check.overridable else check.severity
            threshold = f"`{check.threshold}`" if check.threshold else ""
            lines.append(f"| `{check.name}` | {severity} | {threshold} | {_cell(check.reason)} |")
    return "\n".join(lines) + "\n"


def describe_outcomes() -> str:
    """Return every closed list of outcomes."""
    lines = ["# Outcomes", "", "Generated from the enums. The [runbook](runbook.md) says what to do about each word."]
    for title, words in _outcomes():
        documented = _attribute_docstrings(words)
        described = [f"- `{word.value}`: {_cell(documented[word.name])}" for word in words if word.name in documented]
        others = ", ".join(f"`{word.value}`" for word in words if word.name not in documented)
        lines += ["", f"## {title}", "", *described, *(["", others] if others else [])]
    return "\n".join(lines) + "\n"


def describe_tables() -> str:
    """Return every table between stages and every Parquet file of a snapshot, with their columns."""
    from s2corpus.tables.published import PUBLISHED
    from s2corpus.tables.schema import TABLES

    lines = ["# Tables", "", "Generated from the row classes in `include/s2corpus/tables/`.", "", "## Between stages"]
    for name, table in sorted(TABLES.items()):
        lines += ["", f"### {name}", "", f"{table.meaning}. Key: {', '.join(table.key)}.", "", *_columns(table.columns)]
    lines += ["", "## Published", "", "The Parquet files of a snapshot ([Formats](formats.md))."]
    for name, columns in PUBLISHED.items():
        lines += ["", f"### Published {name}", "", *_columns(columns)]
    return "\n".join(lines) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "tables": describe_tables,
    "reference-commands": describe_commands,
    "reference-spec": describe_spec,
    "reference-checks": describe_checks,
    "reference-outcomes": describe_outcomes,
}


def _columns(columns: Iterable[Column]) -> list[str]:
    rows = [
        f"| {column.name} | {_cell(str(column.type))}{'' if column.nullable else ', not null'} | {_cell(column.meaning)} |"
        for column in columns
    ]
    return ["| column | type | meaning |", "|---|---|---|", *rows]


def _outcomes() -> list[tuple[str, type[StrEnum]]]:
    from s2corpus.catalog.models import ReleaseState
    from s2corpus.deliveries.ready import Refusal
    from s2corpus.extractors import protocol
    from s2corpus.papers import filter as papers_filter
    from s2corpus.papers import openness, vote
    from s2corpus.pdf import outcome as pdf
    from s2corpus.sources import record
    from s2corpus.text import documents, splits
    from s2corpus.titles import linking
    from s2orc_parse.latex import LatexOutcome
    from s2orc_parse.tei import read

    return [
        ("Refused deliveries (intake)", Refusal),
        ("Entries without a record (intake)", record.RejectReason),
        ("Select", pdf.SelectOutcome),
        ("Extract", protocol.ExtractOutcome),
        ("TEI that cannot be parsed (postprocess)", read.TeiRefusal),
        ("LaTeX sources (postprocess)", LatexOutcome),
        ("Rule that decided a field (vote)", vote.VoteRule),
        ("Evidence of open access (vote)", openness.Evidence),
        ("Filter", papers_filter.FilterOutcome),
        ("Reason of a link (link)", linking.LinkReason),
        ("Clean", documents.CleanOutcome),
        ("Split", splits.Split),
        ("Release", ReleaseState),
    ]


def _sections(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    for name, field in model.model_fields.items():
        section = _model_of(field.annotation)
        if section is not None:
            yield f"{prefix}{name}", section
            yield from _sections(section, f"{prefix}{name}.")


def _model_of(annotation: Any) -> type[BaseModel] | None:
    for each in (annotation, *(inner for outer in get_args(annotation) for inner in (outer, *get_args(outer)))):
        if inspect.isclass(each) and issubclass(each, BaseModel):
            return each
    return None


def _attribute_docstrings(cls: type) -> dict[str, str]:
    """Return the string that follows each attribute in the source of a class, base classes included."""
    found: dict[str, str] = {}
    for each in reversed(cls.__mro__):
        try:
            (node,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        except (OSError, TypeError, SyntaxError, ValueError):
            continue
        body = node.body if isinstance(node, ast.ClassDef) else []
        for attribute, text in itertools.pairwise(body):
            target: ast.expr | None = attribute.target if isinstance(attribute, ast.AnnAssign) else None
            if isinstance(attribute, ast.Assign):
                target = attribute.targets[0]
            if isinstance(target, ast.Name) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                found[target.id] = str(text.value.value)
    return found


def _type_name(annotation: Any) -> str:
    name = annotation.__name__ if inspect.isclass(annotation) and not get_args(annotation) else str(annotation)
    return re.sub(r"\b(?:typing|pathlib|datetime|s2corpus[\w.]*)\.|Annotated\[(\w+), [^]]*\]", r"\1", name)


def _shorten(value: object, most: int = 60) -> str:
    text = str(value) if not isinstance(value, StrEnum) else value.value
    return text if len(text) <= most else text[: most - 1] + "…"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
