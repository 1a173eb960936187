"""End a command on Ctrl-C or SIGTERM with one sentence: the work that continues, and how to stop it."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

import click

NUMBERS = (signal.SIGINT, signal.SIGTERM)
STOP = "`make down` stops all services; their data remain"
_CONTINUES = [f"the started services continue to run. {STOP}"]


def announce(continuing: str) -> None:
    """Set the work that continues in Airflow after a later interruption of the command."""
    _CONTINUES[0] = continuing


def end_with_a_sentence() -> None:
    """Install the handlers. The first signal unwinds the command; a second signal ends it immediately."""
    for number in NUMBERS:
        signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    for each in NUMBERS:  # make passes a signal on, so the command may get it twice
        signal.signal(each, lambda number, _: os._exit(128 + number))
    click.echo(f"\npython -m devtools: interrupted: {_CONTINUES[0]}", err=True)
    sys.exit(128 + number)
