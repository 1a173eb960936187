"""The child process that reads hostile PDFs: `python -m s2corpus.pdf.child <memory bytes> <timeout> <rules, JSON> <folder>`.

Standard input is a socket: a message a PDF comes in, with the opened file, or with why it cannot be opened. `[]` goes out once it is
ready; then for each PDF one line with what reading it said and, where that left the decision to pdfalto, a second line with the
outcome; of a selected PDF a third with its identity. Whoever started it waits for each line as long as it likes and kills the
process group. It is in a sandbox: of files it may read this installation's and its folder's.
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

from pdf2tei.first_pages import read_first_pages
from pdf2tei.identity import identify
from s2corpus.pdf.inspection import describe, has_text, read
from s2corpus.pdf.outcome import DISK_FULL, OUT_OF_MEMORY, Outcome, Reading
from s2orc_parse import sandbox

if TYPE_CHECKING:
    from s2corpus.rules.select import Select


def enter_sandbox(memory_bytes: int, folder: Path) -> None:
    """Keep this process to its folder, this installation's modules and pdfalto."""
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


def main(memory_bytes: int, timeout: float, rules: Select, folder: Path) -> None:
    """Answer PDFs from standard input until it ends."""
    enter_sandbox(memory_bytes, folder)
    logging.disable()
    with os.fdopen(os.dup(1), "w") as answers:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)  # nothing a library prints may be taken for an answer

        def say(answer: Any) -> None:
            answers.write(json.dumps(answer) + "\n")
            answers.flush()

        say([])
        os.dup2(null, 2)
        for pdf in _pdfs():
            signal.alarm(int(3 * timeout) + 60)  # should nobody be left to kill this process
            try:
                if isinstance(pdf, str):
                    reading = Reading(Outcome.UNREADABLE, detail=pdf)
                else:
                    with os.fdopen(pdf, "rb") as file:
                        data = file.read()
                    reading = read(data, rules)
            except OSError as error:
                reading = Reading(Outcome.UNREADABLE, detail=describe(error))
            except MemoryError:
                sys.exit(OUT_OF_MEMORY)  # not a process to go on with
            say(dataclasses.astuple(reading))
            if reading.outcome is None:
                try:
                    failure = has_text(data, folder, timeout=timeout)
                except OSError as error:
                    if error.errno == errno.ENOSPC:
                        sys.exit(DISK_FULL)
                    raise
                say([Outcome.PDFALTO_FAILED if failure else Outcome.SELECTED, failure])
                if not failure:
                    say(dataclasses.astuple(identify(read_first_pages(data))))
            signal.alarm(0)


def _pdfs() -> Iterator[int | str]:
    """Opened files, or why they cannot be."""
    with socket.socket(fileno=0) as orders:
        while True:
            message, files, _, _ = socket.recv_fds(orders, 1000, 1)
            if not message:
                return
            yield files[0] if files else message.decode("utf-8", "replace")


if __name__ == "__main__":
    main(
        int(sys.argv[1]),
        float(sys.argv[2]),
        cast("Select", SimpleNamespace(**json.loads(sys.argv[3]))),
        Path(sys.argv[4]),
    )
