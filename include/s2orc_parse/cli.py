"""`s2orc-parse`: convert TEI, JATS, Elsevier JSON and LaTeX files to S2ORC JSON, one line per document."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeAlias

import orjson

from s2orc_parse import tei
from s2orc_parse.cores import map_in_order
from s2orc_parse.errors import TransientError, UserError
from s2orc_parse.files import SUFFIX, convert_document, read_files
from s2orc_parse.outputs import ProgressLine, format_counts, open_atomic, printable
from s2orc_parse.parse_model import Parse

SCHEMAS = ("20200705", "gorc")
LATEX_SUFFIX = re.compile(r"\.(?:tar\.gz|tgz|gz|tar|tex)$", re.IGNORECASE)
"""end of the name of a LaTeX source"""
_SHA1 = re.compile(r"[0-9a-f]{40}")
Document: TypeAlias = tuple[str, str, bytes | None]
"""name, SHA-1 of the PDF or "", and bytes, or None if the file cannot be read"""


@dataclass(frozen=True, slots=True)
class ParsedInput:
    """The outcome of one input: its parse as a JSON line, or why it has none."""

    outcome: str
    line: bytes | None
    reject: Mapping[str, str]
    """row of --rejects if there is no parse"""
    message: str = ""
    """line on the terminal if there is no parse and no --rejects"""


def main() -> None:
    """Run the command line of `s2orc-parse`."""
    parser = argparse.ArgumentParser(
        prog="s2orc-parse",
        description="Convert TEI, JATS, Elsevier JSON and LaTeX sources to S2ORC JSON, one line per document.",
        epilog="Example: s2orc-parse papers/*.tei.xml > parses.jsonl",
    )
    parser.add_argument(
        "inputs", nargs="+", type=Path, metavar="FILE", help="file, or folder of TEI, JATS and JSON files"
    )
    parser.add_argument("--out", type=Path, help="file to write (default: standard output)")
    parser.add_argument(
        "--rejects", type=Path, help="file to write: inputs that give no parse, with their outcome (JSONL)"
    )
    parser.add_argument("--quiet", action="store_true", help="print no progress and no summary")
    parser.add_argument(
        "--schema", choices=SCHEMAS, default=SCHEMAS[0], help="schema of the output (default: %(default)s)"
    )
    given = parser.parse_args()
    try:
        for path in given.inputs:
            if not path.exists():
                raise UserError(f"{path} does not exist: give files of TEI, JATS, Elsevier JSON or LaTeX, or folders")
        results = map_in_order(partial(_parse, given.schema), _list_inputs(given.inputs))
        outcomes = write_parses(results, "documents", out=given.out, rejects=given.rejects, quiet=given.quiet)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (UserError, OSError) as error:
        print(f"s2orc-parse: {error}", file=sys.stderr)
        sys.exit(2)
    except TransientError as error:
        print(f"s2orc-parse: {error} (trying again may help)", file=sys.stderr)
        sys.exit(3)
    if outcomes.total() > outcomes["ok"]:
        sys.exit(1)


def _list_inputs(inputs: Iterable[Path]) -> Iterator[Document | Path]:
    for path in inputs:
        if LATEX_SUFFIX.search(path.name) and path.is_file():
            yield path
        else:
            yield from read_documents(path)


def _parse(schema: str, given: Document | Path) -> ParsedInput:
    return parse_latex(given, schema) if isinstance(given, Path) else parse_document(schema, given)


def read_documents(path: Path) -> Iterator[Document]:
    """Yield a file, or the full-text files of a folder."""
    for file, data in read_files(path):
        name = printable(SUFFIX.sub("", file.name))
        yield name, name if _SHA1.fullmatch(name) else "", data


def parse_document(schema: str, document: Document) -> ParsedInput:
    """Convert TEI, JATS or Elsevier JSON."""
    name, file_sha1, data = document
    parse, outcome = (None, "unreadable") if data is None else convert_document(data, file_sha1)
    if parse is None:
        return ParsedInput(outcome, None, {"name": name, "outcome": outcome}, f"{name}: {outcome}")
    return ParsedInput(outcome, _format_line(parse, None if name == file_sha1 else name, schema), {})


def parse_latex(path: Path, schema: str = SCHEMAS[0], **options: Any) -> ParsedInput:
    """Convert a LaTeX source; `options` are those of `latex.convert`.

    Raises:
        UserError: pandoc is not installed.
    """
    from s2orc_parse import latex

    name = printable(path.name)
    try:
        with path.open("rb") as file:
            data = file.read(latex.MAX_PACKED + 1)
        parse = latex.convert(data, sha1=hashlib.sha1(data, usedforsecurity=False).hexdigest(), **options)
    except OSError as error:
        bad = latex.BadSource(latex.LatexOutcome.UNREADABLE, error.strerror or str(error))
    except latex.BadSource as error:
        bad = latex.BadSource(error.outcome, error.detail.encode("utf-8", "replace").decode())
    else:
        return ParsedInput("ok", _format_line(parse, LATEX_SUFFIX.sub("", name), schema), {})
    return ParsedInput(
        bad.outcome, None, {"name": name, "outcome": bad.outcome.value, "detail": bad.detail}, f"{name}: {bad}"
    )


def _format_line(parse: Parse, paper_id: str | None, schema: str) -> bytes:
    to_line = tei.to_s2orc if schema == SCHEMAS[0] else tei.to_gorc_line
    return tei.to_json_bytes(to_line(parse, paper_id)) + b"\n"


def write_parses(
    results: Iterable[ParsedInput], unit: str, *, out: Path | None, rejects: Path | None, quiet: bool
) -> Counter[str]:
    """Write the parses to `out` or standard output, and the other inputs to `rejects` or the terminal.

    Print and return the number of inputs with each outcome.
    """
    outcomes: Counter[str] = Counter()
    progress, start = ProgressLine(quiet=quiet), time.monotonic()

    def format_progress() -> str:
        speed = outcomes.total() / (time.monotonic() - start)
        return f"{_format_parse_counts(outcomes, unit)}, {speed:,.0f}/s"

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
                print(result.message, file=sys.stderr)
            progress.show(format_progress)
    progress.clear()
    if not quiet:
        print(f"{_format_parse_counts(outcomes, unit)}, {time.monotonic() - start:.1f} s", file=sys.stderr)
    return outcomes


def _format_parse_counts(outcomes: Mapping[str, int], unit: str) -> str:
    bad = {outcome: n for outcome, n in outcomes.items() if outcome != "ok"}
    parsed, rejected = outcomes.get("ok", 0), sum(bad.values())
    details = f" ({format_counts(bad)})" if bad else ""
    return f"{parsed + rejected:,} {unit}: {parsed:,} parsed, {rejected:,} rejected{details}"


if __name__ == "__main__":
    main()
