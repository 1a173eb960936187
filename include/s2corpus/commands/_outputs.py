"""Share input tables, output options, counts and progress lines between commands."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click
import orjson

from s2corpus.commands._help import FILE
from s2corpus.errors import UserError
from s2corpus.storage.outputs import open_atomic

if TYPE_CHECKING:
    import pyarrow as pa


def read_clusters(path: Path) -> pa.Table:
    """Return record_id and paper_id of each record in the output of `corpus cluster`."""
    from s2corpus.storage.parquet import read_parquet

    try:
        return read_parquet(path, ["record_id", "paper_id"])
    except (ValueError, OSError) as error:
        raise UserError(f"{path}: expected a Parquet file with record_id and paper_id ({error})") from None


def parse_outputs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options --out, --rejects and --quiet of a command that writes parses."""
    for option in (
        click.option("--quiet", is_flag=True, help="Print no progress and no summary."),
        click.option("--rejects", type=FILE, help="Write the inputs that give no parse, with their outcome (JSONL)."),
        click.option("--out", type=FILE, help="Output file (JSONL).  [default: standard output]"),
    ):
        command = option(command)
    return command


def format_counts(counts: Mapping[str, int]) -> str:
    """Return the number of items with each outcome: `1 failed, 2 ok`."""
    return ", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items()))


def format_parse_counts(outcomes: Mapping[str, int], unit: str) -> str:
    """Return the number of inputs with and without a parse; the outcome of an input with a parse is `ok`."""
    bad = {outcome: n for outcome, n in outcomes.items() if outcome != "ok"}
    parsed, rejected = outcomes.get("ok", 0), sum(bad.values())
    details = f" ({format_counts(bad)})" if bad else ""
    return f"{parsed + rejected:,} {unit}: {parsed:,} parsed, {rejected:,} rejected{details}"


@dataclass(frozen=True, slots=True)
class ParsedInput:
    """The outcome of one input: its parse as a JSON line, or why it has none."""

    outcome: str
    line: bytes | None
    reject: Mapping[str, str]
    """row of --rejects if there is no parse"""
    message: str = ""
    """line on the terminal if there is no parse and no --rejects"""


def write_parses(
    results: Iterable[ParsedInput], unit: str, *, out: Path | None, rejects: Path | None, quiet: bool
) -> None:
    """Write the parses to `out` or standard output, and the other inputs to `rejects` or the terminal; report the counts."""
    outcomes: Counter[str] = Counter()
    progress, start = ProgressLine(quiet=quiet), time.monotonic()

    def format_progress() -> str:
        speed = outcomes.total() / (time.monotonic() - start)
        return f"{format_parse_counts(outcomes, unit)}, {speed:,.0f}/s"

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
                click.echo(result.message, err=True)
            progress.show(format_progress)
    progress.clear()
    if not quiet:
        click.echo(f"{format_parse_counts(outcomes, unit)}, {time.monotonic() - start:.1f} s", err=True)


class ProgressLine:
    """A line on the terminal, updated at most five times per second. Without a terminal it prints nothing."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._is_shown = not quiet and sys.stderr.isatty()
        self._last = time.monotonic()

    def show(self, format_line: Callable[[], str]) -> None:
        """Update the line if 0.2 s have passed."""
        if self._is_shown and time.monotonic() - self._last > 0.2:
            self._last = time.monotonic()
            click.echo(f"\r{format_line()}\x1b[K", err=True, nl=False)

    def clear(self) -> None:
        """Clear the line."""
        if self._is_shown:
            click.echo("\r\x1b[K", err=True, nl=False)
