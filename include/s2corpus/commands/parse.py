"""`corpus parse`: TEI, JATS and Elsevier JSON files → parses, one JSON line each."""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO

import click
import orjson

from s2corpus.commands._help import Command
from s2corpus.cores import map_in_order
from s2corpus.errors import UserError
from s2corpus.storage.outputs import printable, whole_file

SCHEMAS = ("20200705", "gorc")
_SHA1 = re.compile(r"[0-9a-f]{40}")


@click.command(
    cls=Command,
    epilog=(
        "corpus parse papers/*.tei.xml articles/*.nxml --out parses.jsonl\n"
        "corpus parse extractions.parquet --schema gorc"
    ),
)
@click.argument("inputs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Output file (JSONL).  [default: standard output]"
)
@click.option(
    "--schema",
    type=click.Choice(SCHEMAS),
    default=SCHEMAS[0],
    show_default=True,
    help="Output schema: S2ORC 20200705 or GORC 20190928.",
)
@click.option(
    "--rejects",
    type=click.Path(path_type=Path, dir_okay=False),
    help="JSONL of the inputs without a parse, with their outcome.",
)
@click.option("--quiet", is_flag=True, help="Print no progress.")
def command(inputs: tuple[Path, ...], out: Path | None, schema: str, rejects: Path | None, quiet: bool) -> None:
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
    outcomes: Counter[str] = Counter()
    progress = _Progress(shown=not quiet and sys.stderr.isatty())
    with contextlib.ExitStack() as files:
        lines: IO[bytes] = files.enter_context(whole_file(out)) if out else sys.stdout.buffer
        rejected = files.enter_context(whole_file(rejects)) if rejects else None
        for name, outcome, line in map_in_order(partial(_line, schema), _documents(inputs)):
            if line is None:
                if rejected is not None:
                    rejected.write(orjson.dumps({"name": name, "outcome": outcome}) + b"\n")
                else:
                    progress.clear()
                    click.echo(f"{name}: {outcome}", err=True)
            else:
                lines.write(line)
            outcomes[outcome] += 1
            progress.show(outcomes)
    progress.clear()
    if not quiet:
        click.echo(_summary(outcomes), err=True)


def _line(schema: str, document: tuple[str, str, bytes | None]) -> tuple[str, str, bytes | None]:
    """(name, outcome, the parse as a line or None) of one of `_documents`."""
    from s2orc_parse import tei
    from s2orc_parse.files import convert_document

    name, file_sha1, data = document
    parse, outcome = (None, "unreadable") if data is None else convert_document(data, file_sha1)
    if parse is None:
        return name, outcome, None
    paper_id = None if name == file_sha1 else name
    line = tei.to_s2orc(parse, paper_id) if schema == SCHEMAS[0] else tei.to_gorc_line(parse, paper_id)
    return name, outcome, tei.to_json_bytes(line) + b"\n"


def _documents(inputs: tuple[Path, ...]) -> Iterator[tuple[str, str, bytes | None]]:
    """(name, SHA-1 of the PDF or "", bytes or None where it cannot be read) of every document, one in memory at a time."""
    from s2orc_parse.files import SUFFIX, read_files

    for path in inputs:
        if path.suffix == ".parquet":
            yield from _rows(path)
            continue
        for file, data in read_files(path):
            name = printable(SUFFIX.sub("", file.name))
            yield name, name if _SHA1.fullmatch(name) else "", data


def _rows(path: Path) -> Iterator[tuple[str, str, bytes | None]]:
    from s2corpus.storage.parquet import open_parquet

    try:
        with open_parquet(path) as file:
            names = file.schema.names
            key = (
                "pdf_sha1" if "pdf_sha1" in names and "file_sha1" not in names else "file_sha1"
            )  # the name up to 0.1.0
            columns = [key, "tei"]
            if missing := [column for column in columns if column not in names]:
                raise UserError(f"{path} lacks the column {missing[0]}: expected file_sha1 and tei, found {names}")
            for batch in file.batches(columns, rows=16):
                for file_sha1, tei in zip(*(batch.column(name).to_pylist() for name in columns), strict=True):
                    yield file_sha1, file_sha1, tei.encode() if isinstance(tei, str) else tei or b""
    except (ValueError, OSError) as error:
        raise UserError(
            f"{path} is not a Parquet file ({error}): expected one with the columns file_sha1 and tei"
        ) from None


def _summary(outcomes: Counter[str]) -> str:
    bad = {outcome: count for outcome, count in sorted(outcomes.items()) if outcome != "ok"}
    details = f" ({', '.join(f'{outcome} {count}' for outcome, count in bad.items())})" if bad else ""
    return f"{outcomes.total():,} documents: {outcomes['ok']:,} parsed, {sum(bad.values()):,} rejected{details}"


class _Progress:
    """One line on a terminal, renewed a few times a second."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._start = self._last = time.monotonic()

    def show(self, outcomes: Counter[str]) -> None:
        """Renew the line, if it is time."""
        now = time.monotonic()
        if self._shown and now - self._last > 0.2:
            self._last = now
            click.echo(
                f"\r{_summary(outcomes)}, {outcomes.total() / (now - self._start):,.0f}/s\x1b[K", err=True, nl=False
            )

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)
