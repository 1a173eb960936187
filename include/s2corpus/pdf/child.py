"""The child process that reads hostile PDFs: `python -m s2corpus.pdf.child <memory bytes> <timeout> <max pages>`.

A path a line (JSON) comes in; `[]` goes out once it is ready; then for each path one line with what reading it said
and, where that left the decision to pdfalto, a second line with the outcome; of a selected PDF a third with its
identity. Whoever started it waits for each line as long as it likes and kills the process group.
"""

from __future__ import annotations

import dataclasses
import errno
import json
import logging
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

from s2corpus.pdf.first_pages import read_first_pages
from s2corpus.pdf.identity import identify
from s2corpus.pdf.inspection import describe, has_text, read
from s2corpus.pdf.outcome import DISK_FULL, OUT_OF_MEMORY, Outcome, Reading


def main(memory_bytes: int, timeout: float, max_pages: int) -> None:
    """Answer paths from standard input until it ends."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable()
    with os.fdopen(os.dup(1), "w") as answers:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)  # nothing a library prints may be taken for an answer

        def say(answer: Any) -> None:
            answers.write(json.dumps(answer) + "\n")
            answers.flush()

        say([])
        os.dup2(null, 2)
        for line in sys.stdin:
            signal.alarm(int(3 * timeout) + 60)  # should nobody be left to kill this process
            path = Path(json.loads(line))
            try:
                data = path.read_bytes()
                reading = read(data, max_pages)
            except OSError as error:
                reading = Reading(Outcome.UNREADABLE, detail=describe(error))
            except MemoryError:
                sys.exit(OUT_OF_MEMORY)  # not a process to go on with
            say(dataclasses.astuple(reading))
            if reading.outcome is None:
                try:
                    failure = has_text(path, timeout=timeout)
                except OSError as error:
                    if error.errno == errno.ENOSPC:
                        sys.exit(DISK_FULL)
                    raise
                say([Outcome.PDFALTO_FAILED if failure else Outcome.SELECTED, failure])
                if not failure:
                    say(dataclasses.astuple(identify(read_first_pages(data))))
            signal.alarm(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
