"""The child process that reads hostile PDFs: `python -m s2corpus.pdf.child <memory bytes> <timeout> <rules, JSON> <cache> <folder>`.

Standard input is a socket: each message contains an open PDF file or the reason why it cannot be opened. The child writes `[]` when
it is ready, then up to three lines per PDF: the inspection; the outcome, if pdfalto decides; the identity, if the PDF is selected.
The parent limits the wait for each line and kills the process group. A sandbox restricts file access to this installation
and the child's folder.
"""

from __future__ import annotations

import dataclasses
import errno
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pdfalto

from pdf2tei.front.first_pages import read_first_pages
from pdf2tei.front.identity import identify
from s2corpus.outcomes import SelectOutcome
from s2corpus.pdf.inspection import describe, find_text_failure, inspect
from s2corpus.pdf.outcome import DISK_FULL, OUT_OF_MEMORY, Inspection
from s2orc_parse import sandbox

if TYPE_CHECKING:
    from s2corpus.rules import SelectRules


def enter_sandbox(memory_bytes: int, folder: Path) -> None:
    """Restrict this process to its folder, this installation's modules and pdfalto."""
    binary = str(pdfalto.binary_path())
    sandbox.enter(
        sandbox.Policy(
            str(folder),
            read=(*sandbox.interpreter_folders(), *sandbox.data_folders(binary)),
            execute=(binary,),
            processes=8,
            limits={"AS": memory_bytes, "CORE": 0},
        )
    )


def main(memory_bytes: int, timeout: float, rules: SelectRules, cache: bool, folder: Path) -> None:
    """Read PDFs from standard input and write their results until the input ends."""
    enter_sandbox(memory_bytes, folder)
    logging.disable()
    with os.fdopen(os.dup(1), "w") as answers:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)  # Output of libraries must not be mistaken for answers.

        def send(answer: Any) -> None:
            answers.write(json.dumps(answer) + "\n")
            answers.flush()

        send([])
        os.dup2(null, 2)
        for pdf in _pdfs():
            signal.alarm(int(3 * timeout) + 60)  # Ends this process if the parent, which enforces the limits, has died.
            try:
                if isinstance(pdf, str):
                    inspection = Inspection(SelectOutcome.UNREADABLE, detail=pdf)
                else:
                    with os.fdopen(pdf, "rb") as file:
                        data = file.read()
                    inspection = inspect(data, rules)
            except OSError as error:
                inspection = Inspection(SelectOutcome.UNREADABLE, detail=describe(error))
            except MemoryError:
                sys.exit(OUT_OF_MEMORY)  # the process may be damaged
            send(dataclasses.astuple(inspection))
            if inspection.outcome is None:
                try:
                    failure = find_text_failure(data, folder, timeout=timeout, cache=cache)
                except OSError as error:
                    if error.errno == errno.ENOSPC:
                        sys.exit(DISK_FULL)
                    raise
                send([SelectOutcome.PDFALTO_FAILED if failure else SelectOutcome.SELECTED, failure])
                if not failure:
                    send(dataclasses.astuple(identify(read_first_pages(data))))
            signal.alarm(0)


def _pdfs() -> Iterator[int | str]:
    """Yield open files, or the reason why a file cannot be opened."""
    with socket.socket(fileno=0) as requests:
        while True:
            message, files, _, _ = socket.recv_fds(requests, 1000, 1)
            if not message:
                return
            yield files[0] if files else message.decode("utf-8", "replace")


if __name__ == "__main__":
    main(
        int(sys.argv[1]),
        float(sys.argv[2]),
        cast("SelectRules", SimpleNamespace(**json.loads(sys.argv[3]))),
        sys.argv[4] == "1",
        Path(sys.argv[5]),
    )
