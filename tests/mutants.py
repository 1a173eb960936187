"""Measure the share of small faults that the quick tests detect.

The faults are a seeded sample of cosmic-ray's mutants; each is tested with the tests of its area.

    python -m tests.mutants [--sample 300] [--seed 1] [--area titles …] [--minutes 60]

The script copies the project's files to a temporary folder and changes the copy, one place at a time. Areas with
kernels run them as plain Python (numba's compiler off). Other areas compile kernels as usual, because no change is in a
kernel.

First, the unchanged tests run once, to learn which test runs which line. A mutant is tested with the tests of its line,
quick tests before slow tests. If a line runs only on import or in other processes, all tests of the area run.

The script prints the share of detected mutants. For each undetected mutant, it prints file:line and the change.
Measurements and results are stored in build/mutants, in folders named by hashes of the code and the tests. The same
command therefore resumes an interrupted run.

docs/quality.md has the last results.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import contextlib
import difflib
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from cosmic_ray.commands import init
from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec

from devtools.real_data import REAL_DATA
from tests import warm

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("include")


@dataclass(frozen=True)
class Area:
    """Modules of the package, and the tests that should detect a fault in them, the closest first."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    timed: bool = False
    """whether the tests may fail on a busy machine: a mutant then counts as found only if a test fails twice"""


AREAS = {
    "clustering": Area(("s2corpus/clustering/*.py",), ("s2corpus/clustering",)),
    "papers": Area(
        ("s2corpus/papers/*.py",),
        (
            "s2corpus/papers",
            "s2corpus/stages/filter",
            "s2corpus/evaluation/test_comparison.py",
            "s2corpus/sources/test_editorial.py",
        ),
    ),
    "titles": Area(
        ("s2corpus/titles/*.py",),
        ("s2corpus/titles", "s2corpus/stages/link/test_link_rules.py", "s2corpus/stages/link/test_link_ties.py"),
    ),
    "text": Area(
        ("s2corpus/text/*.py",), ("s2corpus/text", "s2corpus/stages/clean", "s2corpus/datasets/test_sentences.py")
    ),
    "tei": Area(("s2orc_parse/tei/*.py",), ("s2orc_parse/tei",)),
    "pdf": Area(("s2corpus/pdf/inspection.py",), ("s2corpus/pdf/test_select.py",)),
    "intake": Area(("s2corpus/stages/intake.py", "s2corpus/deliveries/declarations.py"), ("s2corpus/deliveries",)),
    "filter": Area(("s2corpus/stages/filter.py",), ("s2corpus/stages/filter", "s2corpus/clustering/test_stages.py")),
    "split": Area(("s2corpus/stages/split/*.py",), ("s2corpus/snapshot/test_clean_and_split.py",)),
    "export": Area(("s2corpus/stages/export/*.py",), ("s2corpus/snapshot",)),
    "snapshot": Area(
        ("s2corpus/snapshot/*.py", "s2corpus_reader/*.py"),
        (
            "s2corpus_reader/test_reader.py",
            "s2corpus_reader/test_folder.py",
            "s2corpus_reader/test_forged_snapshots.py",
            "s2corpus/snapshot/test_pointer.py",
            "s2corpus/snapshot/test_forged.py",
            "s2corpus/snapshot/test_delta.py",
            "s2corpus/snapshot/test_lookup.py",
            "s2corpus/snapshot/test_push.py",
            "s2corpus/snapshot/test_verify.py",
            "s2corpus/snapshot/test_hub_head.py",
            "s2corpus/snapshot/test_meanings.py",
            "s2corpus/snapshot/test_contradictions.py",
            "s2corpus/snapshot/test_derived.py",
            "s2corpus/snapshot/test_forms.py",
            "s2corpus/evaluation/test_gold.py",
        ),
    ),
    "deliveries": Area(
        ("s2corpus/deliveries/*.py",), ("s2corpus/deliveries", "s2corpus/hostile/test_hostile_deliveries.py")
    ),
    "storage": Area(("s2corpus/storage/*.py",), ("s2corpus/storage", "s2corpus/web/test_web.py")),
    "extractors": Area(("s2corpus/extractors/*.py",), ("s2corpus/extractors",), timed=True),
}
QUICK = "not slow and not long and not services and not airflow"
SEARCH = tuple(f"titles/{name}.py" for name in ("similarity", "minhash", "recall"))
"""Modules of `titles` that only tests marked `compiled` cover; they are excluded."""
SIZES = {
    "ALTO_BYTES", "BUCKET_BYTES", "MAX_KNOWN_PER_POLL", "MAX_NEW_PER_POLL", "_AT_ONCE", "_BATCH_ROWS", "_BLOCK",
    "_BYTES_PER_KEY", "_CHUNK", "_CHUNK_ROWS",
    "_GROUP_BYTES", "_GROUP_ROWS", "_INDEX_ROWS", "_KEPT", "_PARSE_BATCH_ROWS", "_PARTS_FROM", "_PIECE", "_RANGES",
    "_READERS", "_ROWS", "_SHORT", "_SMALL", "_SPILL_BYTES", "_STEP", "_STORED_GROUP_BYTES", "_TAKEN", "_TEXTS", "_TEXT_BATCH_ROWS",
    "_THREADS", "_CHECKS_PER_BLOCK", "at_once", "batch_readahead", "batch_rows", "batch_size", "connect_timeout", "max_chunksize",
    "max_pool_connections", "min_chunk_size", "read_timeout", "rows_at_once", "threads",
}  # fmt: skip
"""Sizes of batches, buffers and pools. Numbers assigned or passed to these names change no result, so they are excluded."""
IDLE = (
    r"zip\(.*, strict=(True)\)",
    r"@(?:lru_)?cache\b.*",
    r"np\.empty\((1024), ",
    r"\.batches\(.*, rows=([\d_]+)\)",
    r"usedforsecurity=(False)",
    r"if (.* > _SHORT):",
    r"(@staticmethod)\b",
    r"(if TYPE_CHECKING):",
    r"pre_buffer=(True|False)",
    r"use_threads=(False)",
    r"\.(?:read|recv)\((1 << 20)\)",
)
"""Patterns of other code that affects no result (docs/quality.md gives the reasons). The group, or the complete match, is excluded."""

NOT_NEGATIVE = {
    "hashes", "in_order", "issue", "journal", "key", "keys", "len", "made", "narrow", "page", "reason", "shorter", "size", "sizes",
    "slots", "smaller", "surname", "their_page", "their_volume", "volume", "wanted", "warning", "year",
}  # fmt: skip
"""Names of lengths, hashes and numbers that count from 0: for these, `!= 0` equals `> 0`, and `== 0` equals `<= 0`."""
WRITTEN = 1_000_000_000
"""Modification time (s) of the copied files. Python reuses bytecode of unchanged files, and never that of a changed file."""


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
                os.utime(copy / name, (WRITTEN, WRITTEN))
        yield copy


def places(module: Path, folder: Path) -> list[list[MutationSpec]]:
    """Return the places of a module that can be changed, each with its variants.

    Places without effect are excluded (annotations, `njit`).
    """
    kept = (
        ROOT / "build/mutants/places" / f"{_short(f'{module} {hashlib.sha256(module.read_bytes()).hexdigest()}')}.json"
    )
    if not kept.exists():
        with use_db(str(folder / "work.sqlite"), WorkDB.Mode.create) as work:
            init([module], work, {})
            named = [
                (m.operator_name, m.occurrence, m.start_pos, m.end_pos)
                for (m,) in (i.mutations for i in work.work_items)
            ]
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(named))
    found = [MutationSpec(module, name, at, tuple(a), tuple(b)) for name, at, a, b in json.loads(kept.read_text())]
    source = module.read_text("utf-8")
    idle, same = _idle(source), _same(source)
    by_place: defaultdict[tuple[tuple[int, int], str], list[MutationSpec]] = defaultdict(list)
    for mutation in found:
        change = mutation.operator_name.partition("Operator_")[2]
        if any(start <= mutation.start_pos < end and change in changes for start, end, changes in same):
            continue
        if not any(start <= mutation.start_pos < end for start, end in idle):
            kind = mutation.operator_name.partition("_")[0]
            by_place[mutation.start_pos, kind].append(mutation)
    return [sorted(variants, key=lambda m: m.operator_name) for _, variants in sorted(by_place.items())]


def _idle(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the spans in which a change has no effect: annotations (not evaluated), decorators that only compile or
    type, sizes, and IDLE.
    """
    spans = [
        ((number, found.start(found.lastindex or 0)), (number, found.end(found.lastindex or 0)))
        for number, line in enumerate(source.splitlines(), 1)
        for pattern in IDLE
        for found in re.finditer(pattern, line)
    ]
    nodes: list[ast.expr] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id in SIZES for to in node.targets):
            nodes.append(node.value)
        if isinstance(node, ast.keyword) and node.arg in SIZES:
            nodes.append(node.value)
        if isinstance(node, ast.arguments):
            named = [
                *zip(node.args[::-1], node.defaults[::-1], strict=False),
                *zip(node.kwonlyargs, node.kw_defaults, strict=True),
            ]
            nodes += [default for arg, default in named if default is not None and arg.arg in SIZES]
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation:
            nodes.append(node.annotation)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            nodes += [node.returns] if node.returns else []
            nodes += [d for d in node.decorator_list if "njit" in ast.unparse(d) or ast.unparse(d) == "overload"]
        elif isinstance(node, ast.ClassDef):  # The decorator's arguments frozen and slots change no result.
            nodes += [d for d in node.decorator_list if ast.unparse(d).startswith("dataclass")]
            if any(ast.unparse(base).startswith("Protocol") for base in node.bases):  # Its bodies never run.
                spans.append(((node.lineno, 0), (node.end_lineno or 0, node.end_col_offset or 0)))
    return spans + [
        ((n.lineno, max(n.col_offset - 1, 0)), (n.end_lineno or n.lineno, n.end_col_offset or n.col_offset))
        for n in nodes
    ]


def _same(source: str) -> list[tuple[tuple[int, int], tuple[int, int], set[str]]]:
    """Return the spans of operators, with the replacements that are equivalent there.

    - `is` and `==` for a value that equals only itself (None, truth values, members of an enumeration)
    - with 0, comparisons of names in NOT_NEGATIVE
    - `==` and `>=` of a number and a mask of its bits, or of a length and its maximum (`n == len(room)`, before the
      room grows)
    - `&` and `*`, `|` and `+` of truth values, if one of them is a comparison
    """  # fmt: skip
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.BinOp) and _truth(node.left, node.right):
            changes = {"BitAnd_Mul", "BitOr_Add"}
            found.append(((node.left.end_lineno or 0, node.left.end_col_offset or 0), _begin(node.right), changes))
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        for left, right in pairwise(sides):
            changes = set()
            if re.fullmatch(r"None|True|False|[A-Z]\w*\.[A-Z_]+", ast.unparse(right)):
                changes |= {"Is_Eq", "IsNot_NotEq"}
            if isinstance(right, ast.Constant) and right.value == 0 and _named(left) in NOT_NEGATIVE:
                changes |= {"Eq_LtE", "LtE_Eq", "NotEq_Gt", "Gt_NotEq"}
            masked = (
                isinstance(left, ast.BinOp)
                and isinstance(left.op, ast.BitAnd)
                and ast.unparse(left.right) == ast.unparse(right)
            )
            if masked or (ast.unparse(left) == "n" and _named(right) == "len"):
                changes |= {"Eq_GtE"}
            found.append(((left.end_lineno or 0, left.end_col_offset or 0), _begin(right), changes))
    return found


def _begin(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _truth(*sides: ast.expr) -> bool:
    """Return whether one side is a comparison, or consists of comparisons joined by `&` and `|`."""
    return any(
        isinstance(side, ast.Compare)
        or (
            isinstance(side, ast.BinOp)
            and isinstance(side.op, (ast.BitAnd, ast.BitOr))
            and _truth(side.left, side.right)
        )
        for side in sides
    )


def _named(node: ast.expr) -> str:
    """Return the last name of `x`, `a.x`, `a.x[i]` or `x(a)`."""
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def lines_of(module: Path, line: int) -> range:
    """Return the lines of the statement that contains a line; for a statement with a body, the lines of its head."""
    found = range(line, line + 1)
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            if node.lineno <= line <= end:
                found = range(node.lineno, end + 1)
    return found


OPTIONS = ["-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:warnings"]


def tried(copy: Path, mutation: MutationSpec, baseline: warm.Baseline, timed: bool) -> tuple[str, str]:
    """Test a mutant; return its result ("found", "timed out", "survived", or "" if nothing can be changed there) and
    the change.

    A test may take five times its usual processor time plus 10 s; other programs on the machine do not count. A run
    that exceeds the wall-clock limit is repeated once.
    """
    path = copy / mutation.module_path
    operator = get_operator(mutation.operator_name)(**(mutation.operator_args or {}))
    near = baseline.nearest(str(mutation.module_path), lines_of(path, mutation.start_pos[0]))
    tests = near or baseline.all(str(mutation.module_path))

    def run(some: list[str]) -> tuple[int | None, list[str]]:
        allowed = baseline.allowed(some)
        limit = 120 + 20 * baseline.takes(some)
        code, output = warm.run(copy, [*OPTIONS, "-x", *some], limit, allowed=allowed)
        said = re.findall(r"(?m)^(?:FAILED|ERROR) (tests/\S+::.*?)(?: - .*)?$", output)
        return code, [test for test in said if test in baseline.seconds]

    try:
        with use_mutation(path, operator, mutation.occurrence):
            pass
    except AttributeError:  # cosmic-ray's ExceptionReplacer cannot replace a dotted name in a tuple: `except (A, b.C)`.
        return "", ""
    while tests:
        with use_mutation(path, operator, mutation.occurrence) as (before, after):
            if after is None or not _compiles(after):
                return "", ""
            changed = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
            diff = "\n".join(line for line in changed if line[:1] in "+-" and line[:3] not in ("+++", "---"))
            for _ in range(2):
                code, failed = run(tests)
                if code == pytest.ExitCode.TESTS_FAILED and timed and failed:
                    code, _ = run(failed[:1])
                if code is not None:
                    break
        os.utime(path, (WRITTEN, WRITTEN))
        if code != pytest.ExitCode.TESTS_FAILED or not failed or run(failed[:1])[0] == pytest.ExitCode.OK:
            break
        print(f"left out, it fails without the change: {failed[0]}", file=sys.stderr)
        tests.remove(failed[0])
    if code in (None, -signal.SIGXCPU, -signal.SIGKILL):
        return "timed out", diff
    return "survived" if code == pytest.ExitCode.OK else "found", diff


def _compiles(source: str) -> bool:
    """Return whether the source is valid Python. Any test would detect invalid source when it loads the module."""
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def files_of(copy: Path, name: str) -> list[str]:
    """Return the test files of an area."""
    found = [copy / "tests/unit" / test for test in AREAS[name].tests]
    files = [file for path in found for file in ([path] if path.suffix else sorted(path.glob("test_*.py")))]
    return [str(file.relative_to(copy)) for file in files]


class Kept:
    """The stored results of an area and the measurements of its test files, keyed by hashes of the files that determine them."""

    def __init__(self, copy: Path, name: str) -> None:
        self.copy = copy
        self.folder = ROOT / "build/mutants" / name
        self.folder.mkdir(parents=True, exist_ok=True)
        ours = ("mutants.py", "warm.py")
        shared = [p for p in (copy / "tests").rglob("*") if not p.name.startswith("test_") and p.name not in ours]
        self._common = _digest(copy, [*(copy / "include").rglob("*"), *shared])
        everything = self._common + _digest(copy, [copy / file for file in files_of(copy, name)])
        self.results = self.folder / f"{_short(everything)}.jsonl"

    def measured(self, file: str) -> Path:
        """Return the path of the measurements of one test file."""
        return self.folder / f"{Path(file).stem}-{_short(self._common + _digest(self.copy, [self.copy / file]))}.json"


def _digest(copy: Path, paths: list[Path]) -> str:
    files = sorted(path for path in paths if path.is_file() and path.suffix != ".pyc")
    return "".join(f"{path.relative_to(copy)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n" for path in files)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def main() -> int:
    """Run the sample; return 1 if the tests fail without any change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=300, help="places to change, over all areas (300)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--area", action="append", choices=sorted(AREAS))
    parser.add_argument("--minutes", type=float, help="begin no mutant after so long")
    given = parser.parse_args()
    rng = random.Random(given.seed)
    deadline = time.monotonic() + 60 * (given.minutes or float("inf"))
    if REAL_DATA.is_dir():
        os.environ["S2CORPUS_REAL_DATA"] = str(REAL_DATA)
    with copied() as copy:
        os.chdir(copy)
        os.environ["PYTHONPATH"] = str(copy / "include")
        compileall.compile_dir("include", quiet=2)
        warm.preload(copy, [f"tests/unit/{test}" for area in AREAS.values() for test in area.tests])
        os.environ["HYPOTHESIS_PROFILE"] = "same"
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = True
        modules = {
            name: sorted(
                path for pattern in area.modules for path in PACKAGE.glob(pattern) if not str(path).endswith(SEARCH)
            )
            for name, area in AREAS.items()
            if name in (given.area or AREAS)
        }
        everything = [
            (name, variants)
            for name in sorted(modules)
            for module in modules[name]
            for variants in places(module, copy.parent)
        ]
        sample = [(name, rng.choice(of)) for name, of in rng.sample(everything, min(given.sample, len(everything)))]
        results = try_all(copy, sample, modules, deadline)
    report(results, len(everything), len(sample), given.seed)
    return 0


Result = dict[str, str]
"""area, place, result and diff of a mutant"""


def try_all(
    copy: Path, sample: list[tuple[str, MutationSpec]], modules: dict[str, list[Path]], deadline: float
) -> list[Result]:
    """Return the sample's results, including those of earlier runs; no mutant starts after the deadline."""
    kept = {name: Kept(copy, name) for name in modules}
    known: dict[str, Result] = {}
    for of_area in kept.values():
        if of_area.results.exists():
            known |= {row["place"]: row for row in map(json.loads, of_area.results.read_text().splitlines())}
    baselines: dict[str, warm.Baseline] = {}
    plain = {
        name for name, of_area in modules.items() if any("njit" in module.read_text("utf-8") for module in of_area)
    }
    results = []
    for name, mutation in sample:
        warm.compile_kernels(name not in plain)
        at = f"{mutation.module_path}:{mutation.start_pos[0]}:{mutation.start_pos[1]}"
        place = f"{at} {mutation.operator_name.removeprefix('core/')} {mutation.occurrence}"
        if place not in known:
            if time.monotonic() > deadline:
                continue
            if name not in baselines:
                files = files_of(copy, name)
                print(f"measuring the tests of {name}", file=sys.stderr, flush=True)
                chosen = [*OPTIONS, "-m", f"{QUICK} and not compiled" if name in plain else QUICK]
                baselines[name] = warm.measure(copy, chosen, files, modules[name], kept[name].measured)
                for test in baselines[name].failed:
                    print(f"left out, it fails without any change: {test}", file=sys.stderr)
            began = time.monotonic()
            result, diff = tried(copy, mutation, baselines[name], AREAS[name].timed)
            known[place] = {"area": name, "place": place, "result": result, "diff": diff}
            with kept[name].results.open("a") as out:
                out.write(json.dumps(known[place]) + "\n")
            print(f"{result or 'no change'} in {time.monotonic() - began:.0f} s: {place}", file=sys.stderr, flush=True)
        if known[place]["result"]:
            results.append(known[place])
    return results


def report(results: list[Result], places: int, sample: int, seed: int) -> None:
    """Print the surviving mutants and the share of detected mutants by area."""
    for row in results:
        if row["result"] == "survived":
            print(f"\n{row['place']}\n{row['diff']}")
    print(f"\nof {places} places, {len(results)} of the {sample} drawn by seed {seed}:")
    for name in [*sorted({row["area"] for row in results}), "all"]:
        counted = Counter(row["result"] for row in results if name in (row["area"], "all"))
        noticed = counted["found"] + counted["timed out"]
        share = f"{100 * noticed / max(counted.total(), 1):.1f} %"
        print(f"{name:12} {noticed:4} of {counted.total():4} found, {share} ({counted['timed out']} by time)")


if __name__ == "__main__":
    raise SystemExit(main())
