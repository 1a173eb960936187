"""`corpus parse`: parse TEI, JATS and Elsevier JSON files, one JSON line each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click

from s2corpus.commands._help import PATH, Command
from s2corpus.commands._outputs import ParsedInput, parse_outputs, write_parses
from s2corpus.cores import map_in_order
from s2corpus.errors import UserError
from s2corpus.storage.outputs import printable

SCHEMAS = ("20200705", "gorc")
_SHA1 = re.compile(r"[0-9a-f]{40}")


@click.command(
    cls=Command,
    epilog=(
        "corpus parse papers/*.tei.xml articles/*.nxml --out parses.jsonl\n"
        "corpus parse extractions.parquet --schema gorc"
    ),
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
