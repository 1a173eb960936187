"""Commands that convert full texts in files to S2ORC JSON, one line each: `corpus parse` and `latex`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from s2corpus.commands._options import FILE, PATH, with_examples
from s2corpus.errors import UserError
from s2orc_parse.cli import (
    LATEX_SUFFIX,
    SCHEMAS,
    Document,
    parse_document,
    parse_latex,
    read_documents,
    write_parses,
)
from s2orc_parse.cores import map_in_order
from s2orc_parse.files import list_files


def _parse_outputs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options --out, --rejects and --quiet of a command that writes parses."""
    for option in (
        click.option("--quiet", is_flag=True, help="Print no progress and no summary."),
        click.option("--rejects", type=FILE, help="Write the inputs that give no parse, with their outcome (JSONL)."),
        click.option("--out", type=FILE, help="Output file (JSONL).  [default: standard output]"),
    ):
        command = option(command)
    return command


@with_examples(
    "corpus parse papers/*.tei.xml articles/*.nxml --out parses.jsonl",
    "corpus parse extractions.parquet --schema gorc",
)
@click.argument("inputs", nargs=-1, required=True, type=PATH)
@_parse_outputs
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
    _check_existence(inputs, "TEI, JATS or Elsevier JSON files, folders, or Parquet files of TEIs")
    documents = (
        document
        for path in inputs
        for document in (_read_parquet_rows(path) if path.suffix == ".parquet" else read_documents(path))
    )
    results = map_in_order(partial(parse_document, schema), documents)
    write_parses(results, "documents", out=out, rejects=rejects, quiet=quiet)


def _read_parquet_rows(path: Path) -> Iterator[Document]:
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


@with_examples("corpus latex sources/*.gz --out parses.jsonl --rejects rejects.jsonl")
@click.argument("inputs", nargs=-1, required=True, type=PATH)
@_parse_outputs
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

    INPUTS are source archives in arXiv's formats (tar.gz, one gzipped .tex, tar, or bare TeX) or folders, read recursively
    in order of name. The file name is the paper_id of a parse. A source that gives no parse is reported with its
    outcome, and the command continues.
    """
    from pdf2tei.fields import parse_bibliography_item
    from s2orc_parse import latex

    _check_existence(inputs, "LaTeX source archives (.gz, .tgz, .tar, .tex) or folders")
    files = [file for path in inputs for file in list_files(path, LATEX_SUFFIX, ".tar.gz, .tgz, .gz, .tar or .tex")]
    work = partial(parse_latex, seconds=seconds or latex.SECONDS, parse_reference=parse_bibliography_item)
    # A source takes longer than the imports, so worker processes convert also the first sources.
    results = map_in_order(work, files, workers, int(len(files) == 1))
    write_parses(results, "sources", out=out, rejects=rejects, quiet=quiet)


def _check_existence(inputs: tuple[Path, ...], expected: str) -> None:
    for path in inputs:
        if not path.exists():
            raise UserError(f"{path} does not exist: give {expected}")
