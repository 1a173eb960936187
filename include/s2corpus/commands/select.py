"""`corpus select`: select the PDFs that are worth extracting."""

from __future__ import annotations

import hashlib
import logging
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import click

from s2corpus.commands._options import FILE, PATH, with_examples
from s2corpus.errors import UserError
from s2orc_parse.outputs import format_counts, printable


@with_examples("corpus select papers/*.pdf --out selections.parquet")
@click.argument("pdfs", nargs=-1, required=True, type=PATH)
@click.option("--out", type=FILE, help="Table to write, .parquet or .jsonl.")
def command(pdfs: tuple[Path, ...], out: Path | None) -> None:
    """Select the PDFs that are worth extracting.

    PDFS are files or folders. Each line of output has outcome, file and detail (S2ORC, Appendix B). Rules and limits are the defaults of
    a release spec.
    """
    from s2corpus.pdf import inspect_many
    from s2corpus.spec import ResourceRules, SelectRules
    from s2corpus.storage.parquet import check_table, write_rows
    from s2corpus.tables.parses import SELECTIONS

    if out is not None:
        check_table(out)
    files = _hash_pdfs(pdfs)
    rows = []
    limits = ResourceRules()
    for selection in inspect_many(
        files.items(),
        rules=SelectRules(),
        workers=os.cpu_count() or 1,
        timeout=limits.file_seconds,
        memory_bytes=limits.file_memory_mb << 20,
    ):
        rows.append(selection.as_row())
        name = printable(files[selection.file_sha1])
        click.echo("\t".join([selection.outcome, name, selection.detail or ""]).rstrip())
    if out is not None:
        write_rows(out, SELECTIONS, rows)
    click.echo(f"{len(rows)} PDFs: {format_counts(Counter(row['outcome'] for row in rows))}", err=True)


def _hash_pdfs(paths: Iterable[Path]) -> dict[str, Path]:
    """Return files, and the `*.pdf` files of folders, by the SHA-1 of their bytes. Copies count once.

    A broken link in a folder is skipped with a warning.

    Raises:
        UserError: a path does not exist or cannot be read, or a folder contains no PDFs.
    """
    by_sha1: dict[str, Path] = {}
    for path in paths:
        files = [path]
        if path.is_dir():
            names = sorted(p for p in path.iterdir() if p.suffix.lower() == ".pdf" and not p.is_dir())
            files = [p for p in names if p.is_file()]
            for name in names:
                if name not in files:
                    logging.warning("%s: skipped: not a file, or a broken link", printable(name))
            if not files:
                raise UserError(f"{printable(path)}: the folder contains no *.pdf files")
        for file in files:
            try:
                with file.open("rb") as stream:
                    by_sha1.setdefault(hashlib.file_digest(stream, "sha1").hexdigest(), file)
            except OSError as error:
                raise UserError(
                    f"{printable(file)}: cannot be read ({error.strerror}): expected a PDF file or a folder"
                ) from None
    return by_sha1
