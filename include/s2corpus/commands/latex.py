"""`corpus latex`: parse LaTeX source archives, one JSON line each."""

from __future__ import annotations

import contextlib
import hashlib
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import click

from s2corpus.commands._help import PATH, Command
from s2corpus.commands._outputs import format_parse_counts, parse_outputs
from s2corpus.cores import map_in_order
from s2corpus.errors import UserError
from s2corpus.storage.outputs import open_atomic, printable

_SUFFIXES = (".tar.gz", ".tgz", ".gz", ".tar", ".tex")


@click.command(cls=Command, epilog="corpus latex sources/*.gz --out parses.jsonl --rejects rejects.jsonl")
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
def command(
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
    outcomes: Counter[str] = Counter()
    start = time.monotonic()

    def work(path: Path) -> tuple[latex.LatexOutcome, bytes]:
        """Return the outcome of a source, with the parse as a JSON line or the reason for the failure."""
        try:
            with path.open("rb") as file:
                data = file.read(latex.MAX_PACKED + 1)
        except OSError as error:
            return latex.LatexOutcome.UNREADABLE, (error.strerror or str(error)).encode()
        sha1 = hashlib.sha1(data, usedforsecurity=False).hexdigest()
        try:
            parse = latex.convert(data, sha1=sha1, seconds=seconds or latex.SECONDS, parse_reference=parse_reference)
        except latex.BadSource as bad:
            return bad.outcome, bad.detail.encode("utf-8", "replace")
        return latex.LatexOutcome.OK, tei.to_json_bytes(tei.to_s2orc(parse, _stem(path))) + b"\n"

    with contextlib.ExitStack() as opened:
        lines: IO[bytes] = opened.enter_context(open_atomic(out)) if out else sys.stdout.buffer
        rejected = opened.enter_context(open_atomic(rejects)) if rejects else None
        # A source takes longer than the imports, so several sources go to worker processes at once.
        inline = int(len(files) == 1)
        for path, (outcome, output) in zip(files, map_in_order(work, files, workers, inline), strict=True):
            outcomes[outcome] += 1
            if outcome is latex.LatexOutcome.OK:
                lines.write(output)
            elif rejected is not None:
                row = {"name": printable(path.name), "outcome": outcome.value, "detail": output.decode()}
                rejected.write(tei.to_json_bytes(row) + b"\n")
            else:
                click.echo(f"{printable(path.name)}: {latex.BadSource(outcome, output.decode())}", err=True)
    if not quiet:
        click.echo(f"{format_parse_counts(outcomes, 'sources')}, {time.monotonic() - start:.1f} s", err=True)


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
