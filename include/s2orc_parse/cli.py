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
from pathlib import Path
from typing import IO, Any

import orjson

from s2orc_parse import tei
from s2orc_parse.bibliography.printed import ReferenceParser
from s2orc_parse.cores import map_in_order
from s2orc_parse.errors import TransientError, UserError
from s2orc_parse.files import SUFFIX, convert_document, read_files
from s2orc_parse.outputs import ProgressLine, format_counts, format_progress, open_atomic, printable
from s2orc_parse.parse_model import Parse

SCHEMAS = ("20200705", "gorc")
LATEX_SUFFIX = re.compile(r"\.(?:tar\.gz|tgz|gz|tar|tex)$", re.IGNORECASE)
"""end of the name of a LaTeX source"""
SHA1 = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Document:
    """A TEI, JATS or Elsevier JSON document."""

    name: str
    """name in messages"""
    paper_id: str
    file_sha1: str
    """SHA-1 of its PDF, or "" if it is unknown"""
    data: bytes | None
    """None if the file cannot be read"""


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
        results = map_in_order(
            lambda one: parse_latex(one, given.schema) if isinstance(one, Path) else parse_document(given.schema, one),
            _list_inputs(given.inputs),
        )
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


def read_documents(path: Path) -> Iterator[Document]:
    """Yield a file, or the full-text files of a folder. A file that is named by a SHA-1 is the text of this PDF."""
    for file, data in read_files(path):
        name = printable(SUFFIX.sub("", file.name))
        yield Document(name, name, name if SHA1.fullmatch(name) else "", data)


def parse_document(schema: str, document: Document, parse_reference: ReferenceParser = None) -> ParsedInput:
    """Convert TEI, JATS or Elsevier JSON."""
    data = document.data
    if data is None:
        return reject("unreadable", document.name)
    if data.lstrip()[:5] == b"%PDF-":
        return reject("pdf", document.name, "`corpus convert` converts PDFs")
    parse, outcome = convert_document(data, document.file_sha1, parse_reference)
    if parse is None:
        return reject(outcome, document.name)
    return ParsedInput(outcome, format_line(parse, document.paper_id, schema), {})


def parse_latex(path: Path, schema: str = SCHEMAS[0], paper_id: str | None = None, **options: Any) -> ParsedInput:
    """Convert a LaTeX source with `options` of `latex.convert`; `paper_id` is by default the file name. Raises UserError without pandoc."""
    from s2orc_parse import latex

    name = printable(path.name)
    try:
        with path.open("rb") as file:
            data = file.read(latex.MAX_PACKED + 1)
        parse = latex.convert(data, sha1=hashlib.sha1(data, usedforsecurity=False).hexdigest(), **options)
    except OSError as error:
        return reject(latex.LatexOutcome.UNREADABLE, name, error.strerror or str(error))
    except latex.BadSource as error:
        return reject(error.outcome, name, error.detail.encode("utf-8", "replace").decode())
    return ParsedInput("ok", format_line(parse, paper_id or LATEX_SUFFIX.sub("", name), schema), {})


def reject(outcome: str, name: str, detail: str = "") -> ParsedInput:
    """Return the outcome of an input that gives no parse."""
    words = {"name": name, "outcome": str(outcome)} | ({"detail": detail} if detail else {})
    return ParsedInput(str(outcome), None, words, ": ".join(words.values()))


def format_line(parse: Parse, paper_id: str, schema: str) -> bytes:
    """Return a parse as a line of JSON in the schema."""
    to_line = tei.to_s2orc if schema == SCHEMAS[0] else tei.to_gorc_line
    return tei.to_json_bytes(to_line(parse, paper_id)) + b"\n"


def write_parses(
    results: Iterable[ParsedInput], unit: str, *, out: Path | None, rejects: Path | None, quiet: bool, total: int = 0
) -> Counter[str]:
    """Write the parses to `out` or standard output, and the other inputs to `rejects` or the terminal.

    `total` is the number of inputs, if known. Print and return the number of inputs with each outcome.
    """
    outcomes: Counter[str] = Counter()
    progress, start = ProgressLine(quiet=quiet), time.monotonic()

    def format_line() -> str:
        return format_progress("converting", outcomes.total(), total, time.monotonic() - start, unit)

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
            progress.show(format_line)
    progress.clear()
    if not quiet:
        bad = {outcome: n for outcome, n in outcomes.items() if outcome != "ok"}
        counts = f"{outcomes.total():,} {unit}: {outcomes['ok']:,} parsed, {sum(bad.values()):,} rejected"
        details = f" ({format_counts(bad)})" if bad else ""
        print(f"{counts}{details}, {time.monotonic() - start:.1f} s", file=sys.stderr)
    return outcomes


if __name__ == "__main__":
    main()
