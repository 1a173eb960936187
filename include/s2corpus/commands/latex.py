"""`corpus latex`: parse LaTeX source archives, one JSON line each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import click

from s2corpus.commands._help import PATH, Command
from s2corpus.commands._outputs import ParsedInput, parse_outputs, write_parses
from s2corpus.cores import map_in_order
from s2corpus.errors import UserError
from s2corpus.storage.outputs import printable

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

    def work(path: Path) -> ParsedInput:
        name = printable(path.name)

        def reject(outcome: latex.LatexOutcome, detail: str) -> ParsedInput:
            row = {"name": name, "outcome": outcome.value, "detail": detail}
            return ParsedInput(outcome, None, row, f"{name}: {latex.BadSource(outcome, detail)}")

        try:
            with path.open("rb") as file:
                data = file.read(latex.MAX_PACKED + 1)
        except OSError as error:
            return reject(latex.LatexOutcome.UNREADABLE, error.strerror or str(error))
        sha1 = hashlib.sha1(data, usedforsecurity=False).hexdigest()
        try:
            parse = latex.convert(data, sha1=sha1, seconds=seconds or latex.SECONDS, parse_reference=parse_reference)
        except latex.BadSource as bad:
            return reject(bad.outcome, bad.detail.encode("utf-8", "replace").decode())
        return ParsedInput(latex.LatexOutcome.OK, tei.to_json_bytes(tei.to_s2orc(parse, _stem(path))) + b"\n", {})

    # A source takes longer than the imports, so several sources go to worker processes at once.
    results = map_in_order(work, files, workers, int(len(files) == 1))
    write_parses(results, "sources", out=out, rejects=rejects, quiet=quiet)


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
