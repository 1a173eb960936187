"""`corpus select`: select the PDFs that are worth extracting (S2ORC App. B)."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import click

from s2corpus.commands._help import FILE, PATH, Command
from s2corpus.commands._outputs import format_counts


@click.command(cls=Command, epilog="corpus select papers/*.pdf --out selections.parquet")
@click.argument("pdfs", nargs=-1, required=True, type=PATH)
@click.option("--out", type=FILE, help="Table to write, .parquet or .jsonl.")
@click.option("--max-pages", type=click.IntRange(1), default=50, show_default=True, help="Maximum number of pages.")
@click.option("--seconds", type=click.FloatRange(1), default=120.0, show_default=True, help="Time limit of one PDF.")
@click.option("--memory-mb", type=click.IntRange(128), default=1024, show_default=True, help="Memory limit of one PDF.")
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    default=os.cpu_count() or 1,
    help="Number of PDFs read in parallel.  [default: the number of cores]",
)
def command(
    pdfs: tuple[Path, ...], out: Path | None, max_pages: int, seconds: float, memory_mb: int, workers: int
) -> None:
    """Select the PDFs that are worth extracting.

    PDFS are files or folders. Each line of output has outcome, file and detail (S2ORC, Appendix B).
    """
    from s2corpus.pdf import inspect_many
    from s2corpus.pdf.files import hash_pdfs
    from s2corpus.spec import SelectRules
    from s2corpus.storage.output_tables import check_table, write_rows
    from s2corpus.storage.outputs import printable
    from s2corpus.tables.parses import SELECTIONS

    if out is not None:
        check_table(out)
    files = hash_pdfs(pdfs)
    rows = []
    rules = SelectRules(max_pages=max_pages)
    for selection in inspect_many(
        files.items(), rules=rules, workers=workers, timeout=seconds, memory_bytes=memory_mb << 20
    ):
        rows.append(selection.as_row())
        name = printable(files[selection.file_sha1])
        click.echo("\t".join([selection.outcome, name, selection.detail or ""]).rstrip())
    if out is not None:
        write_rows(out, SELECTIONS, rows)
    click.echo(f"{len(rows)} PDFs: {format_counts(Counter(row['outcome'] for row in rows))}", err=True)
