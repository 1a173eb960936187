"""Fork Airflow's commands from one process that has imported their shared modules: `python -m devtools.local.forks`.

Importing Airflow's settings and models takes three seconds of CPU, and twice as long in a new environment because of
the bytecode. A first start runs five commands, and each would spend this time, all simultaneously.

The process reads requests from its standard input, one line of JSON each, and answers each with one line. It ends when
its input ends. The forked processes continue to run.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from devtools.local.process import log_file
from s2corpus.errors import UserError

_SHARED = (
    "airflow.__main__",
    "airflow.settings",
    "airflow.dag_processing.manager",
    "airflow.jobs.scheduler_job_runner",
    "airflow.jobs.triggerer_job_runner",
    "airflow.utils.db",
)


@dataclass(frozen=True)
class Forked:
    """One command of Airflow: the process that leads its session."""

    forks: Forks
    pid: int

    def poll(self) -> int | None:
        """Return its exit status (negative for a signal), or None while it runs."""
        return self.forks.ask(wait=self.pid, blocking=False)

    def wait(self) -> int:
        """Wait for its end and return its exit status."""
        status = self.forks.ask(wait=self.pid, blocking=True)
        assert status is not None
        return status


class Forks:
    """The process that forks, started on first use. As a context manager, it ends the process when the block ends.

    All forked processes inherit the environment `environ`.
    """

    def __init__(self, environ: Mapping[str, str], folder: Path, log: Path) -> None:
        self._environ, self._folder, self._log = environ, folder, log
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.communicate()

    def open(self) -> subprocess.Popen[bytes]:
        """Start the process, if it does not run yet. Its imports take a while."""
        if self._process is None:
            with log_file(self._log) as out:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "devtools.local.forks"],
                    cwd=self._folder,
                    env=dict(self._environ),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=out,
                    start_new_session=True,
                    umask=0o077,
                )
        return self._process

    def start(self, arguments: Sequence[str], *, folder: Path, log: Path) -> Forked:
        """Start `airflow` with these arguments in a separate session, in `folder`; append its output to `log`."""
        pid = self.ask(arguments=list(arguments), folder=str(folder), log=str(log))
        assert pid is not None
        return Forked(self, pid)

    def ask(self, **request: object) -> int | None:
        """Send one request to the process and return its answer. Raises `UserError` if the process ended."""
        process = self.open()
        assert process.stdin and process.stdout
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise UserError(f"Airflow could not be started: what imports it ended, see {self._log}")
        number: int | None = json.loads(answer)
        return number


def _become(arguments: list[str], folder: str, log: str) -> None:
    """Run the command in a fork, as if it had been started from a shell."""
    from setproctitle import setproctitle

    os.setsid()
    os.chdir(folder)
    with log_file(Path(log)) as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["airflow", *arguments]
    setproctitle(" ".join(sys.argv))
    # Import the modules that this command's children need.
    importlib.reload(importlib.import_module("airflow_local_settings"))
    importlib.import_module("airflow.__main__").main()


def _serve(requests: IO[str], answers: IO[str]) -> None:
    ended: dict[int, int] = {}
    """Exit statuses by pid, stored because the kernel reports each only once."""
    for line in requests:
        request = json.loads(line)
        if (pid := request.get("wait")) is not None:
            if pid not in ended:
                gone, status = os.waitpid(pid, 0 if request["blocking"] else os.WNOHANG)
                ended |= {pid: os.waitstatus_to_exitcode(status)} if gone else {}
            answer = ended.get(pid)
        else:
            answer = os.fork()
            if answer == 0:
                requests.close()
                answers.close()
                _become(**request)
                return
        print(json.dumps(answer), file=answers, flush=True)


def main() -> None:
    """Import the shared modules, then serve requests. Output of the imports is written to the log."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    gc.disable()
    for name in _SHARED:
        importlib.import_module(name)
    gc.freeze()
    gc.enable()
    _serve(sys.stdin, answers)


if __name__ == "__main__":
    main()
