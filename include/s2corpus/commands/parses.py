"""Commands that convert full texts in files to S2ORC JSON, one line each: `corpus parse` and `latex`."""

from __future__ import annotations

import contextlib
import hashlib
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import click
import orjson

from s2corpus.commands._options import FILE, PATH, ProgressLine, format_counts, with_examples
from s2corpus.errors import UserError
from s2orc_parse.cores import map_in_order
from s2orc_parse.outputs import open_atomic, printable

SCHEMAS = ("20200705", "gorc")
_SHA1 = re.compile(r"[0-9a-f]{40}")


def parse_outputs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options --out, --rejects and --quiet of a command that writes parses."""
    for option in (
        click.option("--quiet", is_flag=True, help="Print no progress and no summary."),
        click.option("--rejects", type=FILE, help="Write the inputs that give no parse, with their outcome (JSONL)."),
        click.option("--out", type=FILE, help="Output file (JSONL).  [default: standard output]"),
    ):
        command = option(command)
    return command


def format_parse_counts(outcomes: Mapping[str, int], unit: str) -> str:
    """Return the number of inputs with and without a parse; the outcome of an input with a parse is `ok`."""
    bad = {outcome: n for outcome, n in outcomes.items() if outcome != "ok"}
    parsed, rejected = outcomes.get("ok", 0), sum(bad.values())
    details = f" ({format_counts(bad)})" if bad else ""
    return f"{parsed + rejected:,} {unit}: {parsed:,} parsed, {rejected:,} rejected{details}"


@dataclass(frozen=True, slots=True)
class ParsedInput:
    """The outcome of one input: its parse as a JSON line, or why it has none."""

    outcome: str
    line: bytes | None
    reject: Mapping[str, str]
    """row of --rejects if there is no parse"""
    message: str = ""
    """line on the terminal if there is no parse and no --rejects"""


def write_parses(
    results: Iterable[ParsedInput], unit: str, *, out: Path | None, rejects: Path | None, quiet: bool
) -> None:
    """Write the parses to `out` or standard output, and the other inputs to `rejects` or the terminal; report the counts."""
    outcomes: Counter[str] = Counter()
    progress, start = ProgressLine(quiet=quiet), time.monotonic()

    def format_progress() -> str:
        speed = outcomes.total() / (time.monotonic() - start)
        return f"{format_parse_counts(outcomes, unit)}, {speed:,.0f}/s"

    with contextlib.ExitStack() as files:
        lines: IO[bytes] = files.enter_context(open_atomic(out)) if out else sys.stdout.buffer
        rejected = files.enter_context(open_atomic(rejects)) if rejects else None
        for result in results:
            outcomes[result.outcome] += 1
            if result.line is not None:
                lines.write(result.line)
            elif rejected is not None:
                rejected.write(orjson.dumps(result.reject, option=orjson.OPT_APPEND_NEWLINE))
            else:
                progress.clear()
                click.echo(result.message, err=True)
            progress.show(format_progress)
    progress.clear()
    if not quiet:
        click.echo(f"{format_parse_counts(outcomes, unit)}, {time.monotonic() - start:.1f} s", err=True)


@with_examples(
    "corpus parse papers/*.tei.xml articles/*.nxml --out parses.jsonl",
    "corpus parse extractions.parquet --schema gorc",
)
@click.argument("inputs", nargs=-1, required=True, type=PATH)
@parse_outputs
@click.option(
    "--schema",
    type=click.Choice(SCHEMAS),
    default=SCHEMAS[0],
    show_default=True,
    help="Output schema: S2ORC 20200705 or GORC 20190928.",
)
def parse_command(inputs: tuple[Path, ...], out: Path | None, schema: str, rejects: Path | None, quiet: bool) -> None:
    """Parse TEI, JATS or Elsevier JSON into S2ORC JSON.

    INPUTS are files (the format is detected from the content), folders (read recursively in order of name), or Parquet files
    with the columns file_sha1 and tei. The file name is the paper_id of a parse. A file that gives no parse is reported with
    its reason, and the command continues. It uses all cores.
    """
    for path in inputs:
        if not path.exists():
            raise UserError(
                f"{path} does not exist: give TEI, JATS or Elsevier JSON files, folders of them, or Parquet files of TEIs"
            )
    results = map_in_order(partial(_parse_document, schema), _read_documents(inputs))
    write_parses(results, "documents", out=out, rejects=rejects, quiet=quiet)


def _parse_document(schema: str, document: tuple[str, str, bytes | None]) -> ParsedInput:
    from s2orc_parse import tei
    from s2orc_parse.files import convert_document

    name, file_sha1, data = document
    parse, outcome = (None, "unreadable") if data is None else convert_document(data, file_sha1)
    if parse is None:
        return ParsedInput(outcome, None, {"name": name, "outcome": outcome}, f"{name}: {outcome}")
    paper_id = None if name == file_sha1 else name
    line = tei.to_s2orc(parse, paper_id) if schema == SCHEMAS[0] else tei.to_gorc_line(parse, paper_id)
    return ParsedInput(outcome, tei.to_json_bytes(line) + b"\n", {})


def _read_documents(inputs: tuple[Path, ...]) -> Iterator[tuple[str, str, bytes | None]]:
    """Yield (name, SHA-1 of the PDF or "", bytes or None if unreadable) for each input document."""
    from s2orc_parse.files import SUFFIX, read_files

    for path in inputs:
        if path.suffix == ".parquet":
            yield from _read_parquet_rows(path)
            continue
        for file, data in read_files(path):
            name = printable(SUFFIX.sub("", file.name))
            yield name, name if _SHA1.fullmatch(name) else "", data


def _read_parquet_rows(path: Path) -> Iterator[tuple[str, str, bytes | None]]:
    from s2corpus.storage.parquet import open_parquet

    try:
        with open_parquet(path) as file:
            names = file.schema.names
            # 0.1.0 named the column pdf_sha1.
            columns = ["pdf_sha1" if "pdf_sha1" in names and "file_sha1" not in names else "file_sha1", "tei"]
            if missing := [column for column in columns if column not in names]:
                raise UserError(f"{path} lacks the column {missing[0]}: expected file_sha1 and tei, found {names}")
            for batch in file.batches(columns, rows=16):
                for file_sha1, tei in zip(*(batch.column(name).to_pylist() for name in columns), strict=True):
                    yield file_sha1, file_sha1, tei.encode() if isinstance(tei, str) else tei or b""
    except (ValueError, OSError) as error:
        raise UserError(
            f"{path} is not a Parquet file ({error}): expected one with the columns file_sha1 and tei"
        ) from None


_SUFFIXES = (".tar.gz", ".tgz", ".gz", ".tar", ".tex")


@with_examples("corpus latex sources/*.gz --out parses.jsonl --rejects rejects.jsonl")
@click.argument("inputs", nargs=-1, required=True, type=PATH)
@parse_outputs
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    help="Time limit of one source.  [default: `resources.latex_seconds` of a release]",
)
@click.option(
    "--workers", type=click.IntRange(1, 64), help="Number of sources read in parallel.  [default: the number of cores]"
)
def latex_command(
    inputs: tuple[Path, ...],
    out: Path | None,
    seconds: float | None,
    workers: int | None,
    rejects: Path | None,
    quiet: bool,
) -> None:
    """Parse LaTeX sources into S2ORC JSON.

    INPUTS are source archives in arXiv's formats (tar.gz, one gzipped .tex, tar, or bare TeX) or folders of them, read
    recursively in order of name. The file name is the paper_id of a parse. A source that gives no parse is reported with its
    outcome, and the command continues.
    """
    from pdf2tei.latex_references import parse_reference
    from s2orc_parse import latex, tei

    files = list(_list_sources(inputs))

    def work(path: Path) -> ParsedInput:
        name = printable(path.name)

        def reject(outcome: latex.LatexOutcome, detail: str) -> ParsedInput:
            row = {"name": name, "outcome": outcome.value, "detail": detail}
            return ParsedInput(outcome, None, row, f"{name}: {latex.BadSource(outcome, detail)}")

        try:
            with path.open("rb") as file:
                data = file.read(latex.MAX_PACKED + 1)
        except OSError as error:
            return reject(latex.LatexOutcome.UNREADABLE, error.strerror or str(error))
        sha1 = hashlib.sha1(data, usedforsecurity=False).hexdigest()
        try:
            parse = latex.convert(data, sha1=sha1, seconds=seconds or latex.SECONDS, parse_reference=parse_reference)
        except latex.BadSource as bad:
            return reject(bad.outcome, bad.detail.encode("utf-8", "replace").decode())
        return ParsedInput(latex.LatexOutcome.OK, tei.to_json_bytes(tei.to_s2orc(parse, _stem(path))) + b"\n", {})

    # A source takes longer than the imports, so several sources go to worker processes at once.
    results = map_in_order(work, files, workers, int(len(files) == 1))
    write_parses(results, "sources", out=out, rejects=rejects, quiet=quiet)


def _list_sources(inputs: tuple[Path, ...]) -> Iterator[Path]:
    for path in inputs:
        if not path.exists():
            raise UserError(
                f"{path} does not exist: give LaTeX source archives (.gz, .tgz, .tar, .tex) or folders of them"
            )
        if not path.is_dir():
            yield path
            continue
        sources = sorted(p for p in path.rglob("*") if not p.is_dir() and p.name.lower().endswith(_SUFFIXES))
        if not sources:
            raise UserError(f"{path} has no LaTeX sources: expected names that end in {', '.join(_SUFFIXES)}")
        yield from sources


def _stem(path: Path) -> str:
    suffix = next((suffix for suffix in _SUFFIXES if path.name.lower().endswith(suffix)), "")
    return printable(path.name[: len(path.name) - len(suffix)])
