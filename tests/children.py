"""Runs functions and command lines in forks of a process that has imported them: a call takes milliseconds, not seconds."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_SERVER = multiprocessing.get_context("forkserver")


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
        child = start(_run, module, given, cwd, dict(environ or {}), folder)
        child.join(300)
        assert child.exitcode is not None, f"{given} does not end"
        out, err = ((Path(folder) / name).read_text(errors="replace") for name in ("out", "err"))
    return subprocess.CompletedProcess(given, child.exitcode, out, err)


def _call(environ: dict[str, str], cwd: str, function: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    os.setsid()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    function(*arguments)


def _run(module: str, words: list[str], cwd: Path, environ: dict[str, str], folder: str) -> None:
    for number, name in enumerate(("out", "err"), 1):
        os.dup2(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT), number)
    os.chdir(cwd)
    os.environ.update(environ)
    sys.argv = [f"{module}.py", *words]
    importlib.import_module(f"{module}.cli").main()
