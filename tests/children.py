"""Runs functions and command lines in forks of a process that has imported them: a call takes milliseconds, not seconds."""

import importlib
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_SERVER = multiprocessing.get_context("forkserver")
_PROGRAM = """#!{python} -SIE
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    request = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(request).to_bytes(4, "big")], [1, 2])
    server.sendall(request)
    sys.exit(int(server.recv(9) or 70))
"""


def start(function: Callable[..., object], *arguments: object) -> BaseProcess:
    """Start a function of a module in a child that has this process's environment and its own session."""
    _SERVER.set_forkserver_preload(["tests.commands_imported"])
    child = _SERVER.Process(target=_call, args=(dict(os.environ), str(Path.cwd()), function, arguments))
    child.start()
    return child


def corpus(
    *words: object, module: str = "s2corpus", cwd: Path = ROOT, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `python -m <module> <words>` in a child; `environ` adds to this process's environment."""
    with tempfile.TemporaryDirectory() as folder:
        given = list(map(str, words))
        child = start(_run_into_files, module, given, cwd, dict(environ or {}), folder)
        child.join(300)
        assert child.exitcode is not None, f"{given} does not end"
        out, err = ((Path(folder) / name).read_text(errors="replace") for name in ("out", "err"))
    return subprocess.CompletedProcess(given, child.exitcode, out, err)


@contextmanager
def program() -> Iterator[str]:
    """Yield a folder for PATH with a program `corpus` for shell scripts, which runs its command in a fork."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        path, address = Path(folder, "corpus"), f"{folder}/socket"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(address)
            server.listen()
            child = start(_serve, server)
        path.write_text(_PROGRAM.format(python=sys.executable, address=address))
        path.chmod(0o755)
        try:
            yield folder
        finally:
            os.killpg(child.pid or 0, signal.SIGKILL)
            child.join()


def _serve(server: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        client, _ = server.accept()
        if os.fork() == 0:
            break
        client.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, outputs, *_ = socket.recv_fds(client, 4, 2)
    words, cwd, environ = json.loads(client.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL))
    if command := os.fork():
        client.sendall(str(os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])).encode())
        os._exit(0)
    os.environ.clear()
    _run("s2corpus", words, cwd, environ, outputs)


def _call(environ: dict[str, str], cwd: str, function: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    os.setsid()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    function(*arguments)


def _run_into_files(module: str, words: list[str], cwd: Path, environ: dict[str, str], folder: str) -> None:
    outputs = [os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT) for name in ("out", "err")]
    _run(module, words, cwd, environ, outputs)


def _run(module: str, words: list[str], cwd: str | Path, environ: dict[str, str], outputs: list[int]) -> None:
    for number, output in enumerate(outputs, 1):
        os.dup2(output, number)
    # The inherited objects may have been opened over a file, where a pipe is now.
    sys.stdout, sys.stderr = (os.fdopen(number, "w", 1, closefd=False) for number in (1, 2))
    os.chdir(cwd)
    os.environ.update(environ)
    sys.argv = [f"{module}.py", *words]
    importlib.import_module(f"{module}.cli").main()
