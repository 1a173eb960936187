"""Pytest in children of one process that has loaded the libraries once, and which tests run which lines.

A child is forked for each run of tests: nothing of the project is loaded before, so that each run reads the sources as they lie there.
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

import pytest
from coverage import Coverage

ALWAYS = ""
"""the context of what runs on import, or for all tests: any test may notice a change there"""


@dataclass(frozen=True)
class Baseline:
    """What unchanged tests do: the processor's seconds of each, and which of them run a line of a module (absent: not known)."""

    seconds: dict[str, float]
    shared: dict[str, float]
    """by file: the seconds of the fixtures that its tests share"""
    tests_of: Mapping[str, Mapping[int, list[str]]]
    failed: list[str]
    """tests that fail without any change, on a busy machine: left out"""

    def nearest(self, module: str, lines: Iterable[int]) -> list[str]:
        """The tests that run any of these lines, the quick ones first; nothing where the lines run on import only."""
        known = self.tests_of.get(module, {})
        return self.ordered({test for line in lines for test in known.get(line, ())})

    def takes(self, tests: Iterable[str]) -> float:
        """Seconds of tests, with what they share."""
        chosen = set(tests)
        files = {_file(test) for test in chosen}
        return sum(self.seconds[test] for test in chosen) + sum(self.shared.get(file, 0) for file in files)

    def ordered(self, tests: Iterable[str]) -> list[str]:
        """Tests: quick ones of files without slow fixtures by their time, then the others by file."""

        def rank(test: str) -> tuple[float, str, float, str]:
            seconds, shared = self.seconds[test], self.shared.get(_file(test), 0)
            alone = seconds < 1 and shared < 1
            return (0, "", seconds, test) if alone else (1 + shared, _file(test), seconds, test)

        return sorted(tests, key=rank)


def preload(folder: Path, tests: list[str]) -> None:
    """Load the libraries that these tests of a checkout use: what collecting them loads, but the project and the tests themselves."""
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


def measure(
    folder: Path, arguments: list[str], files: list[str], modules: Iterable[Path], kept: Callable[[str], Path]
) -> Baseline:
    """Run the tests of some files of an unchanged checkout, and note what each takes and runs; what was kept of a file is used again.

    Raises:
        RuntimeError: they do not run, or more than five fail.
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
    seconds = {test: took for of_file in found for test, took in of_file["seconds"].items()}
    shared = {file: of_file["shared"] for file, of_file in zip(files, found, strict=True)}
    return Baseline(seconds, shared, dict(tests_of), failed)


def run(
    folder: Path, arguments: list[str], limit: float, *, processor: float | None = None, plugin: object = None
) -> tuple[int | None, str]:
    """Pytest's exit status and output for these arguments in a checkout.

    None where it took longer than `limit` seconds; minus SIGXCPU where it spent more than `processor` seconds of the processor's time.
    """
    log = folder.parent / "output"
    child = os.fork()
    if child == 0:
        if processor is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + processor), resource.RLIM_INFINITY))
        _child(folder, arguments, log, plugin)
    deadline = time.monotonic() + limit
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended or time.monotonic() > deadline:
            break
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):  # what its tests started and left is in its process group
        os.killpg(child, signal.SIGKILL)
    if not ended:
        os.waitpid(child, 0)
    return (os.waitstatus_to_exitcode(status) if ended else None), log.read_text(errors="replace")


def _child(folder: Path, arguments: list[str], log: Path, plugin: object) -> None:
    code = 70
    try:
        os.setsid()
        written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number in (1, 2):
            os.dup2(written, number)
        os.chdir(folder)
        sys.path[0:0] = [str(folder / "include"), str(folder)]
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]  # this module's own package
        sys.modules["__main__"] = types.ModuleType("__main__")  # processes that tests start do not load this program
        code = int(pytest.main(arguments, plugins=[plugin] if plugin else []))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


class _Loaded:
    """The libraries that are loaded when tests have been collected: from other places than the checkout."""

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


class _Measured:
    """Which test runs which line, by coverage's contexts, and how long it takes."""

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
        """What a module's fixture runs, each of its tests may notice; of a session's, any test."""
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
    """The tests of a file that run a line, by the contexts that it ran in."""
    whole = tuple(context for context in contexts if context.endswith("::") and _file(context) == file)
    return sorted(test for test in tests if test in contexts or (whole and test.startswith(whole)))


def _file(test: str) -> str:
    return test.partition("::")[0]


def _spent() -> float:
    """Seconds of the processor's time of this process and of those that it started and that ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
