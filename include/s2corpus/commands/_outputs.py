"""Share output options, counts and progress lines between commands."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import click

from s2corpus.commands._help import FILE


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
