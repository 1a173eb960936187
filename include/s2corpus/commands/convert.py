"""`corpus convert`: convert the full texts in files to S2ORC JSON, one line for each file."""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from s2corpus.commands._extraction import extract, remove_tei, tei_path
from s2corpus.commands._inputs import EXPECTED, Input, assign_ids, list_files, read_kind
from s2corpus.commands._options import FILE, PATH, with_examples
from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES
from s2orc_parse.cli import (
    SCHEMAS,
    SHA1,
    Document,
    ParsedInput,
    format_line,
    parse_document,
    parse_latex,
    reject,
    write_parses,
)
from s2orc_parse.cores import map_in_order
from s2orc_parse.outputs import format_counts, printable

if TYPE_CHECKING:
    from s2corpus.extractors import ExtractorIdentity

PDF_SECONDS = 600.0


@with_examples(
    "corpus convert papers/ --out s2orc.jsonl",
    "corpus convert a.pdf b.nxml 2004.14974.gz --out s2orc.jsonl --rejects rejects.jsonl",
    "GROBID_URL=http://localhost:8070 corpus convert papers/ --out s2orc.jsonl --tei tei",
)
@click.argument("inputs", nargs=-1, required=True, type=PATH)
@click.option("--out", type=FILE, help="Output file (JSONL).  [default: standard output]")
@click.option("--rejects", type=FILE, help="Write the files that give no line, with their outcome (JSONL).")
@click.option(
    "--tei", type=click.Path(path_type=Path, file_okay=False), help="Store the TEI of the PDFs in this folder."
)
@click.option(
    "--schema",
    type=click.Choice(SCHEMAS),
    default=SCHEMAS[0],
    show_default=True,
    help="Output schema: S2ORC 20200705 or GORC 20190928.",
)
@click.option(
    "--in-flight",
    type=click.IntRange(1, 256),
    help="PDFs extracted at the same time.  [default: 10 with GROBID_URL, else the number of cores]",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    help=f"Time limit of one file.  [default: {PDF_SECONDS:.0f} for a PDF, `resources.file_seconds` for LaTeX]",
)
@click.option("--quiet", is_flag=True, help="Print no progress and no summary.")
def command(
    inputs: tuple[Path, ...],
    out: Path | None,
    rejects: Path | None,
    tei: Path | None,
    schema: str,
    in_flight: int | None,
    seconds: float | None,
    quiet: bool,
) -> None:
    """Convert PDFs, TEI, JATS, Elsevier JSON and LaTeX sources to S2ORC JSON, one line for each file.

    INPUTS are files or folders (read recursively, in order of name); the content decides the format. The file name without
    suffix is the paper_id; files with equal names keep the suffix or their path. A file that gives no line is reported with
    its outcome, and the exit status is 1. GROBID_URL names one or more servers, separated by commas; if it is not set, the
    command starts the embedded extractor. After an interruption, the same command continues: the TEI of finished PDFs is in
    the folder of --tei, by default `<out>.partial` until all PDFs have a final outcome.
    """
    logging.basicConfig(level=logging.WARNING if quiet else logging.INFO, format="%(message)s")
    with ExitStack() as stack:
        folder = tei or (out and out.with_name(f"{out.name}.partial"))
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        files, ignored = list_files(inputs, folder)
        items = [read_kind(path, id_) for path, id_ in zip(files, assign_ids(files), strict=True)]
        pdfs = {item.sha1: item for item in reversed(items) if item.sha1}
        outcomes: dict[str, str] = {}
        made_by = None
        if pdfs:
            outcomes, made_by = extract(pdfs, folder, in_flight, seconds or PDF_SECONDS, quiet=quiet)
        work = partial(_convert, schema, seconds, folder, pdfs, outcomes, made_by)
        # A LaTeX source takes longer than the imports, so worker processes convert also the first sources.
        inline = int(len(items) == 1) if any(item.is_latex for item in items) else 8
        parses = map_in_order(work, items, inline=inline)
        counts = write_parses(parses, "files", out=out, rejects=rejects, quiet=quiet, total=len(items))
        if ignored and not quiet:
            click.echo(f"ignored files: {format_counts(ignored)}; expected {EXPECTED}", err=True)
        if pdfs and tei is None and not any(outcome.startswith("gave_up:") for outcome in outcomes.values()):
            remove_tei(folder, pdfs)
    if counts.total() > counts["ok"]:
        sys.exit(1)


def _convert(
    schema: str,
    seconds: float | None,
    folder: Path,
    pdfs: Mapping[str, Input],
    outcomes: Mapping[str, str],
    made_by: tuple[str, ExtractorIdentity] | None,
    item: Input,
) -> ParsedInput:
    """Convert one file; a PDF from the answer of the extractor `made_by` (name of the adapter, identity)."""
    name = printable(item.path)
    if item.is_latex:
        from s2orc_parse import latex

        options = {"seconds": seconds or latex.SECONDS, "parse_reference": _parse_reference}
        return parse_latex(item.path, schema, item.paper_id, **options)
    if item.sha1 and (outcome := outcomes[item.sha1]) != "ok":
        return reject(outcome, name)
    path, data = (tei_path(folder, pdfs[item.sha1]) if item.sha1 else item.path), None
    with suppress(OSError):
        if path.is_file() or not item.path.is_dir():
            with path.open("rb") as stream:
                data = stream.read(MAX_ENTRY_BYTES + 1)
    if made_by and item.sha1 and data is not None:
        from s2corpus.extractors import EXTRACTORS, BadAnswer

        try:
            parse = EXTRACTORS.load(made_by[0]).convert(data, file_sha1=item.sha1, made_by=made_by[1])
        except BadAnswer as refused:
            return reject(refused.outcome, name)
        return ParsedInput("ok", format_line(parse, item.paper_id, schema), {})
    sha1 = item.sha1 or (item.paper_id if SHA1.fullmatch(item.paper_id) else "")
    return parse_document(schema, Document(name, item.paper_id, sha1, data), _parse_reference)


def _parse_reference(text: str) -> dict[str, Any]:
    """Return the fields of a printed reference. A TEI needs none, so the models are imported with the first one."""
    from pdf2tei.references.fields import parse_bibliography_item

    return parse_bibliography_item(text)
