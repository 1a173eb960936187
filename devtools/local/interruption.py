"""End a command on Ctrl-C or SIGTERM with one sentence: what goes on, and how to stop it."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

import click

NUMBERS = (signal.SIGINT, signal.SIGTERM)
STOP = "`make down` stops all services and keeps the data"
_GOES_ON = [f"the services that were started keep running. {STOP}"]


def announce(goes_on: str) -> None:
    """Set what goes on in Airflow if the command is interrupted from now on."""
    _GOES_ON[0] = goes_on


def end_with_a_sentence() -> None:
    """Install the handlers. The first signal unwinds the command; a second one ends it at once."""
    for number in NUMBERS:
        signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    for each in NUMBERS:  # make passes a signal on, so the command may get it twice
        signal.signal(each, lambda number, _: os._exit(128 + number))
    click.echo(f"\npython -m devtools: interrupted: {_GOES_ON[0]}", err=True)
    sys.exit(128 + number)
