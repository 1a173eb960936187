"""Runs pytest in children of one process that has loaded the libraries once, and records which tests run which lines.

`run` forks before any project file is loaded: each run reads the current sources.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import sys
import time
import types
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import pytest
from coverage import Coverage

ALWAYS = ""
"""the context of code that runs on import or for all tests: any test may detect a change there"""


@dataclass(frozen=True)
class Baseline:
    """The behavior of unchanged tests: processor seconds of each, and the tests that run each line of a module.

    Unknown lines are absent.
    """

    seconds: dict[str, float]
    shared: dict[str, float]
    """by file: the seconds of the fixtures that its tests share"""
    tests_of: Mapping[str, Mapping[int, list[str]]]
    failed: list[str]
    """tests that fail without any change, on a busy machine: excluded"""

    def nearest(self, module: str, lines: Iterable[int]) -> list[str]:
        """Return the tests that run any of these lines, quick tests first; empty if the lines run only on import."""
        known = self.tests_of.get(module, {})
        return self.ordered({test for line in lines for test in known.get(line, ())})

    def all(self, module: str) -> list[str]:
        """Return all tests, with those that run any line of a module first."""
        of_module = self.nearest(module, self.tests_of.get(module, {}))
        return of_module + self.ordered(self.seconds.keys() - set(of_module))

    def takes(self, tests: Iterable[str]) -> float:
        """Return the processor seconds of tests, including their shared fixtures."""
        chosen = set(tests)
        files = {_file(test) for test in chosen}
        return sum(self.seconds[test] for test in chosen) + sum(self.shared.get(file, 0) for file in files)

    def allowed(self, tests: Iterable[str]) -> dict[str, float]:
        """Return the processor seconds after which a test counts as endless: five times its own time and its file's
        shared time, plus 10.
        """
        return {test: 10 + 5 * (self.seconds[test] + self.shared.get(_file(test), 0)) for test in tests}

    def ordered(self, tests: Iterable[str]) -> list[str]:
        """Sort tests: first quick tests of files without slow fixtures, by time; then the others, by file."""

        def rank(test: str) -> tuple[float, str, float, str]:
            seconds, shared = self.seconds[test], self.shared.get(_file(test), 0)
            alone = seconds < 1 and shared < 1
            return (0, "", seconds, test) if alone else (1 + shared, _file(test), seconds, test)

        return sorted(tests, key=rank)


def preload(folder: Path, tests: list[str]) -> None:
    """Load the libraries that these tests of a checkout import when collected, except the project and the tests themselves."""
    names = folder.parent / "libraries"
    run(
        folder,
        ["-q", "-n", "0", "-p", "no:cacheprovider", "--collect-only", *tests],
        3600,
        plugin=_Loaded(folder, names),
    )
    for name in names.read_text().split():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def compile_kernels(on: bool) -> None:
    """Set whether tests that start later compile kernels or run them as plain Python."""
    os.environ["NUMBA_DISABLE_JIT"] = str(int(not on))
    numba.config.DISABLE_JIT = int(not on)  # type: ignore[attr-defined]  # numba sets its options at run time


def measure(
    folder: Path, arguments: list[str], files: list[str], modules: Iterable[Path], kept: Callable[[str], Path]
) -> Baseline:
    """Run the tests of some files of an unchanged checkout, and record time and executed lines. Stored measurements of
    a file are reused.

    Raises:
        RuntimeError: the tests do not run, more than five fail, or they import another copy of the project.
    """
    if new := [file for file in files if not kept(file).exists()]:
        child = _Measured(folder.resolve(), list(modules), {file: kept(file) for file in new})
        code, output = run(folder, [*arguments, *new], 3600, plugin=child)
        done = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
        if code not in done or not all(kept(file).exists() for file in new):
            raise RuntimeError(f"tests do not run\n{output[-3000:]}")
    found = [json.loads(kept(file).read_text()) for file in files]
    failed = [test for of_file in found for test in of_file["failed"]]
    if len(failed) > 5:
        raise RuntimeError(f"tests fail without any change: {', '.join(failed)}")
    tests_of: defaultdict[str, defaultdict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for of_file in found:
        for module, lines in of_file["tests_of"].items():
            for line, tests in lines.items():
                tests_of[module][int(line)] += tests
    if not tests_of:
        raise RuntimeError(f"no test runs a line of the modules in {folder}: another copy of the project is imported")
    seconds = {test: took for of_file in found for test, took in of_file["seconds"].items()}
    shared = {file: of_file["shared"] for file, of_file in zip(files, found, strict=True)}
    return Baseline(seconds, shared, dict(tests_of), failed)


def run(
    folder: Path,
    arguments: list[str],
    limit: float,
    *,
    allowed: Mapping[str, float] | None = None,
    plugin: object = None,
) -> tuple[int | None, str]:
    """Run pytest with these arguments in a checkout; return its exit status and output.

    The status is None after more than `limit` seconds. It is minus SIGXCPU if a test used more than its `allowed`
    processor time.
    """
    log = folder.parent / "output"
    child = os.fork()
    if child == 0:
        _child(folder, arguments, log, _Limited(allowed) if allowed else plugin)
    code = _ended(child, limit)
    return code, log.read_text(errors="replace")


def _ended(child: int, limit: float) -> int | None:
    """Wait for a child that leads a process group and kill the group; return the exit status, or None after `limit` seconds."""
    deadline = time.monotonic() + limit
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended or time.monotonic() > deadline:
            break
        time.sleep(0.01)
    # The process group contains all processes that the tests started and left running.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if not ended:
        os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if ended else None


def _child(folder: Path, arguments: list[str], log: Path, plugin: object) -> None:
    code = 70
    try:
        os.setsid()
        written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number in (1, 2):
            os.dup2(written, number)
        os.chdir(folder)
        sys.path[0:0] = [str(folder / "include"), str(folder)]
        for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "devtools")]:
            del sys.modules[name]  # Load the project from the copy, not from where this module is.
        sys.modules["__main__"] = types.ModuleType("__main__")  # Processes that tests start must not load this program.
        code = int(pytest.main(arguments, plugins=[plugin] if plugin else []))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


class _Loaded:
    """Lists the libraries that are loaded after tests are collected, excluding modules of the checkout."""

    def __init__(self, folder: Path, into: Path) -> None:
        self.folder, self.into = str(folder.resolve()), into

    def pytest_sessionfinish(self) -> None:
        where = {name: getattr(getattr(m, "__spec__", None), "origin", None) for name, m in sys.modules.items()}
        own = ("s2corpus", "tests", "__main__")
        found = [
            name
            for name, origin in where.items()
            if origin and not origin.startswith(self.folder) and name.partition(".")[0] not in own
        ]
        self.into.write_text("\n".join(found))


class _Limited:
    """Ends a process in which a test uses more than its allowed processor time."""

    def __init__(self, allowed: Mapping[str, float]) -> None:
        self.allowed = allowed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        until = int(time.process_time() + self.allowed.get(item.nodeid, 60)) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


class _Measured:
    """Records which test runs which line, with coverage's contexts, and the time of each test."""

    def __init__(self, folder: Path, modules: list[Path], into: Mapping[str, Path]) -> None:
        self.folder, self.into = folder, into
        self.modules = [str(folder / module) for module in modules]
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.shared: defaultdict[str, float] = defaultdict(float)
        self.failed: list[str] = []
        self.coverage: Coverage | None = None

    def pytest_sessionstart(self) -> None:
        self.coverage = Coverage(data_file=None, include=self.modules, config_file=False)
        self.coverage.start()

    def _within(self, context: str, then: str) -> Generator[None, Any, Any]:
        assert self.coverage
        self.coverage.switch_context(context)
        try:
            return (yield)
        finally:
            self.coverage.switch_context(then)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        began = _spent()
        try:
            return (yield from self._within(item.nodeid, ALWAYS))
        finally:
            self.seconds[item.nodeid] += _spent() - began

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Generator[None, Any, Any]:
        """Assign the lines of a fixture to tests: each test of the module for a module's fixture, any test for a session's fixture."""
        test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
        wide = {"function": test, "class": _file(test) + "::", "module": _file(test) + "::"}
        began = _spent()
        try:
            return (yield from self._within(wide.get(fixturedef.scope, ALWAYS), test))
        finally:
            if fixturedef.scope != "function":
                took = _spent() - began
                self.shared[_file(test)] += took
                self.seconds[test] -= took

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and report.nodeid not in self.failed:
            self.failed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        assert self.coverage
        self.coverage.stop()
        data = self.coverage.get_data()
        contexts = {str(Path(m).relative_to(self.folder)): data.contexts_by_lineno(m) for m in data.measured_files()}
        for file, into in self.into.items():
            seconds = {t: took for t, took in self.seconds.items() if _file(t) == file and t not in self.failed}
            found = {
                "seconds": seconds,
                "shared": self.shared.get(file, 0),
                "failed": [test for test in self.failed if _file(test) == file],
                "tests_of": {
                    module: {line: tests for line, said in lines.items() if (tests := _tests(said, file, seconds))}
                    for module, lines in contexts.items()
                },
            }
            into.with_suffix(".new").write_text(json.dumps(found))
            into.with_suffix(".new").replace(into)


def _tests(contexts: list[str], file: str, tests: Iterable[str]) -> list[str]:
    """Return the tests of a file that run a line, given the contexts of the line."""
    whole = tuple(context for context in contexts if context.endswith("::") and _file(context) == file)
    return sorted(test for test in tests if test in contexts or (whole and test.startswith(whole)))


def _file(test: str) -> str:
    return test.partition("::")[0]


def _spent() -> float:
    """Return the processor seconds of this process and of its ended children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
