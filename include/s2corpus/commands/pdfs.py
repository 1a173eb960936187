"""Commands on PDF files: `corpus select` and `extract`."""

from __future__ import annotations

import hashlib
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import click
import orjson

from s2corpus.commands._options import FILE, PATH, with_examples
from s2corpus.errors import UserError
from s2orc_parse.outputs import format_counts, open_atomic, printable


@with_examples("corpus select papers/*.pdf --out selections.parquet")
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
def select_command(
    pdfs: tuple[Path, ...], out: Path | None, max_pages: int, seconds: float, memory_mb: int, workers: int
) -> None:
    """Select the PDFs that are worth extracting.

    PDFS are files or folders. Each line of output has outcome, file and detail (S2ORC, Appendix B).
    """
    from s2corpus.pdf import inspect_many
    from s2corpus.spec import SelectRules
    from s2corpus.storage.parquet import check_table, write_rows
    from s2corpus.tables.parses import SELECTIONS

    if out is not None:
        check_table(out)
    files = _hash_pdfs(pdfs)
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


GROBID_CONCURRENCY = 10
"""Default number of threads of a GROBID server."""
_COLUMNS = ("file_sha1", "outcome", "tries", "seconds", "server", "tei_sha1")


@with_examples(
    "corpus extract papers/*.pdf --out tei",
    "GROBID_URL=http://localhost:8070 corpus extract papers/ --out tei",
)
@click.argument("pdfs", nargs=-1, required=True, type=PATH)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Output folder: <sha1>.tei.xml for each PDF, and extractions.jsonl with one line each.",
)
@click.option(
    "--in-flight",
    type=click.IntRange(1, 256),
    help="Concurrent requests.  [default: 10; embedded extractor: the number of cores]",
)
@click.option("--seconds", type=click.FloatRange(1), default=600.0, show_default=True, help="Time limit of one PDF.")
def extract_command(pdfs: tuple[Path, ...], out: Path, in_flight: int | None, seconds: float) -> None:
    """Extract the full text of PDFs as TEI.

    PDFS are files or folders. GROBID_URL names one or more servers, separated by commas; if it is not set, the command
    starts the embedded extractor. PDFs that the output folder already has from the same extractor, version and options
    are not sent again.
    """
    from s2corpus.extractors import Limits, Pool
    from s2corpus.extractors.embedded import embedded_extractor

    logging.basicConfig(level=logging.INFO, format="%(message)s")
    files = _hash_pdfs(pdfs)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{out}: cannot create the folder ({error.strerror}): name another with --out") from None
    with ExitStack() as stack:
        servers = [url for url in os.environ.get("GROBID_URL", "").split(",") if url.strip()]
        token = os.environ.get("S2CORPUS_EXTRACTOR_TOKEN")
        if not servers:
            in_flight = in_flight or os.cpu_count() or 1
            url, token = stack.enter_context(embedded_extractor(in_flight, seconds))
            servers = [url]
        limits = Limits(in_flight=in_flight or GROBID_CONCURRENCY, deadline=seconds, request=seconds)
        pool = Pool(servers, None, limits, token=token)
        identity = pool.identity()
        key = identity.key
        table = out / "extractions.jsonl"
        old_rows = (row for row in _read_rows(table) if key.items() <= row.items())
        rows = {row["file_sha1"]: row for row in old_rows if _is_reusable(row, out)}
        items = [(sha1, partial(_open, path)) for sha1, path in files.items() if sha1 not in rows]
        # Each result is appended at once: after a crash, finished PDFs are not sent again.
        with table.open("ab") as lines:
            for result in pool.extract(items, total=len(items)):
                values = {name: getattr(result, name) for name in _COLUMNS}
                stored = None if result.tei is None else f"{result.file_sha1}.tei.xml"
                row = {**key, **values, "stored": stored}
                if result.tei is not None:
                    with open_atomic(out / f"{result.file_sha1}.tei.xml") as tei:
                        tei.write(result.tei)
                rows[result.file_sha1] = row
                lines.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
                lines.flush()
    with open_atomic(table) as file:
        file.writelines(orjson.dumps(rows[sha1], option=orjson.OPT_APPEND_NEWLINE) for sha1 in sorted(rows))
    for sha1, path in files.items():
        click.echo(f"{rows[sha1]['outcome']}\t{printable(path)}\t{rows[sha1]['stored'] or ''}".rstrip())
    counts = format_counts(Counter(rows[sha1]["outcome"] for sha1 in files))
    n_reused = len(files) - len(items)
    click.echo(f"{len(files)} PDFs with {identity}: {counts}; {n_reused} were already extracted", err=True)


def _open(path: Path) -> BinaryIO:
    return path.open("rb")


def _read_rows(table: Path) -> Iterator[dict[str, Any]]:
    """Yield the complete rows of an earlier run; skip a truncated last line."""
    if table.exists():
        for line in table.read_bytes().splitlines():
            with suppress(orjson.JSONDecodeError):
                row = orjson.loads(line)
                if isinstance(row, dict) and "pdf_sha1" in row:  # written by 0.1.0
                    row["file_sha1"] = row.pop("pdf_sha1")
                if isinstance(row, dict) and {"file_sha1", "outcome", "stored", "tei_sha1"} <= row.keys():
                    yield row


def _is_reusable(row: dict[str, Any], out: Path) -> bool:
    """Return whether a row needs no new extraction: its outcome is final and its TEI file has the recorded SHA-1."""
    if row["outcome"].startswith("gave_up:"):
        return False
    if row["stored"] is None:
        return True
    tei = out / f"{row['file_sha1']}.tei.xml"
    return tei.is_file() and hashlib.sha1(tei.read_bytes(), usedforsecurity=False).hexdigest() == row["tei_sha1"]


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
