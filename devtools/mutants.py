"""Run cosmic-ray on a seeded sample of an area's mutants, in a copy of the last commit: `make mutants AREA=titles`.

    python -m devtools.mutants AREA [--sample 20] [--seed 1]

devtools/mutants.toml lists the areas. Kernels run as plain Python. The report lists the mutants that survive.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from cosmic_ray.work_db import use_db

from devtools.real_data import REAL_DATA

ROOT = Path(__file__).resolve().parents[1]
QUICK = "not slow and not long and not services and not airflow and not compiled"
NO_FAULTS = r"core/(ReplaceBinaryOperator_BitOr_|RemoveDecorator)"
"""Operators that change `int | None` and `@cache`."""


def main() -> None:
    """Draw the sample, run it, and print cosmic-ray's report."""
    areas = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("area", choices=areas)
    parser.add_argument("--sample", type=int, default=20, help="mutants to try (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    copy = ROOT / "build/mutants" / f"{given.area}-{given.seed}-{time.time():.0f}"
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", copy], cwd=ROOT, check=True)
    environ = os.environ | {"PYTHONPATH": f"{copy}/include:{copy}", "PYTHONDONTWRITEBYTECODE": "1"}
    environ |= {"NUMBA_DISABLE_JIT": "1", "HYPOTHESIS_PROFILE": "same", "S2CORPUS_REAL_DATA": str(REAL_DATA)}
    folders = " ".join(areas[given.area]["tests"].split())
    tests = f'{sys.executable} -m pytest -q -x -p no:cacheprovider --basetemp={copy}/pytest -m "{QUICK}" {folders}'
    found = (path for glob in areas[given.area]["modules"].split() for path in sorted(copy.glob(glob)))
    modules = [str(path.relative_to(copy)) for path in found]

    def run(*command: str) -> None:
        subprocess.run([Path(sys.executable).parent / command[0], *command[1:]], cwd=copy, env=environ, check=True)

    def configure(timeout: float) -> None:
        settings = {"module-path": modules, "timeout": timeout, "excluded-modules": [], "test-command": tests}
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        filters = f"[cosmic-ray.filters.operators-filter]\nexclude-operators = [{json.dumps(NO_FAULTS)}]"
        text = "\n".join(["[cosmic-ray]", *lines, '[cosmic-ray.distributor]\nname = "local"', filters])
        (copy / "mutants.toml").write_text(text)

    try:
        configure(3600.0)
        began = time.monotonic()
        run("cosmic-ray", "baseline", "mutants.toml")
        configure(60 + 5 * (time.monotonic() - began))
        run("cosmic-ray", "init", "mutants.toml", "session.sqlite")
        run("cr-filter-operators", "session.sqlite", "mutants.toml")
        with use_db(str(copy / "session.sqlite")) as session:
            pending = sorted(session.pending_work_items, key=lambda item: str(item.mutations))
            drawn = random.Random(given.seed).sample(pending, min(given.sample, len(pending)))
            session.clear()
            session.add_work_items(drawn)
        run("cosmic-ray", "exec", "mutants.toml", "session.sqlite")
        run("cr-report", "--surviving-only", "--show-diff", "session.sqlite")
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", copy], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
