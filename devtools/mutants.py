"""Measure the share of small faults that the quick tests detect.

The faults are a seeded sample of cosmic-ray's mutants; each is tested with the tests of its area.

    python -m devtools.mutants [--sample 300] [--seed 1] [--area titles …] [--minutes 60]

The script copies the project's files to a temporary folder and changes the copy, one place at a time. First, the
unchanged tests of an area run, to learn which test functions run which line. A mutant is tested with the functions of
its line; if these pass, or if no function runs the line, with all tests of the area. Areas with kernels run them as
plain Python (numba's compiler off).

The script prints the share of detected mutants. For each undetected mutant, it prints file:line and the change. Results
are stored in build/mutants, in files named by hashes of code and tests: the same command resumes an interrupted run.

docs/quality.md has the last results.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from cosmic_ray.commands import init
from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec
from coverage import CoverageData

from devtools.real_data import REAL_DATA

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build/mutants"
QUICK = "not slow and not long and not services and not airflow"
AREAS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "clustering": (("s2corpus/clustering/*.py",), ("clustering",)),
    "papers": (
        ("s2corpus/papers/*.py",),
        (
            "papers",
            "stages/filter",
            "evaluation/test_sample_comparison.py",
            "sources/test_editorial.py",
            "../../papers/test_s2orc.py",
        ),
    ),
    "titles": (
        ("s2corpus/titles/*.py",),
        ("titles", "stages/link/test_link_rules.py", "stages/link/test_link_ties.py", "../../papers/test_s2orc.py"),
    ),
    "text": (("s2corpus/text/*.py",), ("text", "stages/clean", "../../papers/test_s2_v2_card.py")),
    "tei": (("s2orc_parse/tei/*.py",), ("../s2orc_parse/tei",)),
    "pdf": (("s2corpus/pdf/inspection.py",), ("pdf/test_select.py",)),
    "intake": (("s2corpus/stages/intake.py", "s2corpus/deliveries/declarations.py"), ("deliveries",)),
    "filter": (("s2corpus/stages/filter.py",), ("stages/filter",)),
    "split": (("s2corpus/stages/split.py",), ("snapshot/test_clean_and_split.py",)),
    "export": (("s2corpus/stages/export/*.py",), ("snapshot",)),
    "snapshot": (
        ("s2corpus/snapshot/*.py", "s2corpus_reader/*.py"),
        ("../s2corpus_reader", "snapshot", "evaluation/test_gold.py"),
    ),
    "deliveries": (("s2corpus/deliveries/*.py",), ("deliveries", "commands/test_check.py")),
    "storage": (("s2corpus/storage/*.py",), ("storage", "web/test_web.py")),
    "extractors": (("s2corpus/extractors/*.py",), ("extractors",)),
}
"""area → modules below include/, and the tests below tests/unit/s2corpus/ that should detect a fault in them"""
NOT_QUICK = re.compile(r"titles/(similarity|recall)\.py$")
"""modules that only tests marked `compiled` cover"""
IDLE = re.compile(
    r"usedforsecurity=|strict=True|@(lru_)?cache\b|@staticmethod|if TYPE_CHECKING|pre_buffer=|use_threads=|np\.empty\("
    r"|\.(read|recv)\(1 << 20\)|> _SHORT:"
)
"""lines on which no change affects a result (docs/quality.md gives the reasons)"""
SIZES = re.compile(
    r"(?i)\b\w*(bytes|rows|batch|block|chunk|piece|step|texts|threads|readers|ranges|readahead|connections|timeout|at_once"
    r"|per_poll|_keys|_taken|_short|_small|_kept|parts_from)\b(: \w+)? ?= ?[\d(]"
)
"""lines that set a size of batches, buffers or pools: its number changes no result"""
EQUIVALENT = (
    (re.compile(r"\bis (not )?(None|True|False|[A-Z]\w*\.[A-Z_]+)\b"), ("Is_Eq", "IsNot_NotEq")),
    (re.compile(r"[=<>!]=? 0\b"), ("Eq_LtE", "LtE_Eq", "NotEq_Gt", "Gt_NotEq")),
    (re.compile(r" (==|!=|<|>|<=|>=|in) .*[&|]|[&|].* (==|!=|<|>|<=|>=|in) "), ("BitAnd_Mul", "BitOr_Add")),
)
"""pattern of a line → replacements of operators that are equivalent there: values that equal only themselves, lengths and
counts compared with 0, truth values"""


@dataclass(frozen=True)
class AreaTests:
    """The tests of an area, and what they do in the unchanged copy."""

    files: list[str]
    seconds: float
    functions: dict[str, dict[int, list[str]]]
    """module → line → the test functions that run it"""
    environ: dict[str, str]
    marker: str


Result = dict[str, str]
"""area, place, result (found, timed out, survived, or "" if nothing can be changed there) and diff of a mutant"""


@contextlib.contextmanager
def copied() -> Iterator[Path]:
    """Yield a copy of the project's files that may be changed."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "project"
        listed = subprocess.run(
            ["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, copy / name)
        yield copy


def modules_of(area: str) -> list[Path]:
    """Return the modules of an area, relative to the project's folder, which is the current folder."""
    found = {path for pattern in AREAS[area][0] for path in Path("include").glob(pattern)}
    return sorted(path for path in found if not NOT_QUICK.search(path.as_posix()))


def places(module: Path) -> list[list[MutationSpec]]:
    """Return the places of a module that can be changed, each with its variants, without places that affect nothing."""
    source = module.read_text("utf-8")
    kept = KEPT / "places" / f"{hashlib.sha256(f'{module} {source}'.encode()).hexdigest()[:16]}.sqlite"
    kept.parent.mkdir(parents=True, exist_ok=True)
    is_new = not kept.exists()
    with use_db(str(kept), WorkDB.Mode.create) as work:
        if is_new:
            init([module], work, {})
        found = [mutation for item in work.work_items for mutation in item.mutations]
    lines, idle = source.splitlines(), idle_spans(source)
    by_place: defaultdict[tuple[tuple[int, int], str], list[MutationSpec]] = defaultdict(list)
    for mutation in found:
        line, (operator, _, change) = lines[mutation.start_pos[0] - 1], mutation.operator_name.partition("Operator_")
        is_size = "NumberReplacer" in operator and SIZES.search(line)
        is_equivalent = any(pattern.search(line) and change in changes for pattern, changes in EQUIVALENT)
        is_idle = any(start <= mutation.start_pos < end for start, end in idle)
        if not (IDLE.search(line) or is_size or is_equivalent or is_idle):
            by_place[mutation.start_pos, operator.partition("_")[0]].append(mutation)
    return [sorted(variants, key=lambda m: m.operator_name) for _, variants in sorted(by_place.items())]


def idle_spans(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the spans of annotations, of decorators that compile or type, and of protocols, whose bodies never run."""
    nodes: list[ast.AST] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
                nodes.append(annotation)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                nodes += [node.returns] if node.returns else []
                nodes += [d for d in node.decorator_list if re.search(r"njit|^overload$", ast.unparse(d))]
            case ast.ClassDef():
                nodes += [d for d in node.decorator_list if ast.unparse(d).startswith("dataclass")]
                nodes += [node] if any(ast.unparse(base).startswith("Protocol") for base in node.bases) else []
    return [
        ((n.lineno, max(n.col_offset - 1, 0)), (n.end_lineno, n.end_col_offset))  # type: ignore[attr-defined]  # all have a position
        for n in nodes
    ]


def run_tests(copy: Path, tests: list[str], of: AreaTests, limit: float, *before: str) -> tuple[int | None, str]:
    """Run tests in the copy; return pytest's exit status (None after `limit` seconds) and its output."""
    options = ["-q", "-p", "no:cacheprovider", "-m", of.marker]
    command = [sys.executable, *(before or ("-m", "pytest")), *options, *tests]
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command, cwd=copy, env=of.environ, stdout=output, stderr=output, start_new_session=True
        )
        code: int | None = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(limit)
        with contextlib.suppress(ProcessLookupError):  # also the processes that the tests left running
            os.killpg(process.pid, 9)
        process.wait()
        output.seek(0)
        return code, output.read()


@cache
def measure(copy: Path, area: str) -> AreaTests:
    """Run the unchanged tests of an area.

    Raises:
        RuntimeError: a test fails, or the tests import another copy of the project.
    """
    modules = modules_of(area)
    is_plain = any("njit" in (copy / module).read_text("utf-8") for module in modules)
    files = sorted(os.path.normpath(f"tests/unit/s2corpus/{test}") for test in AREAS[area][1])
    environ = {**os.environ, "PYTHONPATH": f"{copy}/include:{copy}", "HYPOTHESIS_PROFILE": "same"}
    environ |= {"PYTHONDONTWRITEBYTECODE": "1", "NUMBA_DISABLE_JIT": str(int(is_plain))}
    tests = AreaTests(files, 0, {}, environ, f"{QUICK} and not compiled" if is_plain else QUICK)
    (settings := copy.parent / "coveragerc").write_text("[run]\ndynamic_context = test_function\n")
    data = copy.parent / f"{area}.coverage"
    wanted = f"--include={','.join(map(str, modules))}"
    began = time.monotonic()
    words = ("-m", "coverage", "run", f"--rcfile={settings}", f"--data-file={data}", wanted, "-m", "pytest")
    code, output = run_tests(copy, files, tests, 3600, *words)
    if code != pytest.ExitCode.OK:
        raise RuntimeError(f"tests of {area} fail without any change\n{output[-3000:]}")
    (measured := CoverageData(str(data))).read()
    if not measured.measured_files():
        raise RuntimeError(f"no test runs a line of the modules in {copy}: another copy of the project is imported")
    paths = [p for f in files for p in ([copy / f] if f.endswith(".py") else sorted((copy / f).rglob("test_*.py")))]
    names = {path.stem: str(path.relative_to(copy)) for path in paths}
    functions: dict[str, dict[int, list[str]]] = {}
    for module in measured.measured_files():
        by_line = functions.setdefault(str(Path(module).relative_to(copy)), {})
        for line, contexts in measured.contexts_by_lineno(module).items():
            parts = [context.rpartition(".") for context in contexts]
            known = [(names.get(file.rpartition(".")[2]), function) for file, _, function in parts]
            by_line[line] = sorted(f"{file}::{function}" for file, function in known if file)
    return AreaTests(files, time.monotonic() - began, functions, environ, tests.marker)


def try_mutant(copy: Path, mutation: MutationSpec, tests: AreaTests) -> tuple[str, str]:
    """Test a mutant; return its result and the change."""
    path = copy / mutation.module_path
    operator = get_operator(mutation.operator_name)(**(mutation.operator_args or {}))
    near = tests.functions.get(str(mutation.module_path), {}).get(mutation.start_pos[0], [])
    limit = 120 + 10 * tests.seconds
    result = "survived"
    try:
        with use_mutation(path, operator, mutation.occurrence) as (before, after):
            if after is None:
                return "", ""
            ast.parse(after)  # Any test would detect invalid source when it loads the module.
            changed = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
            diff = "\n".join(line for line in changed if line[:1] in "+-" and line[:3] not in ("+++", "---"))
            failed: list[str] = []
            for chosen in filter(None, (near, tests.files)):
                code, output = run_tests(copy, ["-x", *chosen], tests, limit)
                failed = re.findall(r"(?m)^(?:FAILED|ERROR) (tests/[^\s:]+)", output)
                if code != pytest.ExitCode.OK:
                    result = "timed out" if code is None else "found"
                    break
    except (AttributeError, SyntaxError):  # cosmic-ray cannot replace a dotted name in a tuple: `except (A, b.C)`.
        return "", ""
    if result == "found" and failed and run_tests(copy, failed[:1], tests, limit)[0] != pytest.ExitCode.OK:
        raise RuntimeError(f"{failed[0]} fails without any change: the machine may be too busy")
    return result, diff


def main() -> int:
    """Try the sample; results of earlier runs on the same files are not repeated, and no mutant starts after the deadline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=300, help="places to change, over all areas (300)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--area", action="append", choices=sorted(AREAS))
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no mutant after so long")
    given = parser.parse_args()
    rng = random.Random(given.seed)
    deadline = time.monotonic() + 60 * given.minutes
    if REAL_DATA.is_dir():
        os.environ["S2CORPUS_REAL_DATA"] = str(REAL_DATA)
    results: list[Result] = []
    with copied() as copy:
        os.chdir(copy)
        everything = [(a, of) for a in sorted(given.area or AREAS) for module in modules_of(a) for of in places(module)]
        sample = [(area, rng.choice(of)) for area, of in rng.sample(everything, min(given.sample, len(everything)))]
        files = sorted(path for top in ("include", "tests") for path in Path(top).rglob("*.py"))
        digest = hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]
        kept = KEPT / f"{digest}.jsonl"
        known = {row["place"]: row for row in map(json.loads, kept.read_text().splitlines())} if kept.exists() else {}
        for area, mutation in sample:
            at = f"{mutation.module_path}:{mutation.start_pos[0]}:{mutation.start_pos[1]}"
            place = f"{at} {mutation.operator_name.removeprefix('core/')} {mutation.occurrence}"
            if place not in known:
                if time.monotonic() > deadline:
                    continue
                result, diff = try_mutant(copy, mutation, measure(copy, area))
                known[place] = {"area": area, "place": place, "result": result, "diff": diff}
                with kept.open("a") as out:
                    out.write(json.dumps(known[place]) + "\n")
                print(f"{result or 'no change'}: {place}", file=sys.stderr, flush=True)
            if known[place]["result"]:
                results.append(known[place])
    report(results, f"of {len(everything)} places, {len(results)} of the {len(sample)} drawn by seed {given.seed}:")
    return 0


def report(results: list[Result], head: str) -> None:
    """Print the surviving mutants and the share of detected mutants by area."""
    for row in results:
        if row["result"] == "survived":
            print(f"\n{row['place']}\n{row['diff']}")
    print(f"\n{head}")
    for name in [*sorted({row["area"] for row in results}), "all"]:
        counted = Counter(row["result"] for row in results if name in (row["area"], "all"))
        noticed = counted["found"] + counted["timed out"]
        share = f"{100 * noticed / max(counted.total(), 1):.1f} %"
        print(f"{name:12} {noticed:4} of {counted.total():4} found, {share} ({counted['timed out']} by time)")


if __name__ == "__main__":
    raise SystemExit(main())
