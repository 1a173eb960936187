"""Measure the link stage at corpus scale: CPU seconds, peak memory, number of links, its own recall.

    python -m devtools.bench.link [--titles 1000000] [--memory-mb 2048] [--repeats 2]

The titles are the real titles in REAL_DATA and recombined titles; there are twice as many entries (`link_data`). A
quarter of the entries have noise or no matching title; the others equal a title. Each task runs in a separate process,
from tables in a lake to tables in a lake. Imports and the compilation of kernels are not counted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from devtools.bench import link_data
from devtools.measure import peak_mb
from devtools.real_data import REAL_DATA
from s2corpus import compiled
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec, ResourceRules
from s2corpus.stages.link import LinkStage
from s2corpus.storage.lake import open_lake
from s2corpus.tables.texts import LINKS


def main() -> None:
    """Write the stage's input, run the stage, and print a line for each run."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--titles", type=int, default=1_000_000)
    options.add_argument("--memory-mb", type=int, default=2048)
    options.add_argument("--repeats", type=int, default=2)
    options.add_argument("--task", type=int, help=argparse.SUPPRESS)
    options.add_argument("--lake", type=Path, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.lake:
        run_task(_run(given.lake, given.memory_mb), given.task)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = _run(folder, given.memory_mb)
        write_input(run, given.titles)
        for _ in range(given.repeats):
            command = [sys.executable, "-m", "devtools.bench.link", "--lake", name, "--memory-mb", str(given.memory_mb)]
            tasks: list[dict[str, Any]] = []
            for task in range(len(_tasks(run))):
                out = subprocess.run([*command, "--task", str(task)], check=True, stdout=subprocess.PIPE, text=True)
                tasks.append(json.loads(out.stdout.splitlines()[-1]))
            cited = run.table(LINKS).read(["cited_paper_id"])["cited_paper_id"]
            print(
                f"{given.titles:,} titles × {2 * given.titles:,} entries: {sum(task['cpu'] for task in tasks):.1f} CPU s, "
                f"peak {max(task['peak_mb'] for task in tasks):,.0f} MB, {len(cited) - cited.null_count:,} linked, "
                f"recall {tasks[-1]['recall']} on the stage's sample",
                flush=True,
            )


def write_input(run: Run, count: int) -> None:
    """Write the tables of `count` papers with two entries each."""
    real, titles = link_data.real_titles(REAL_DATA), pa.array(link_data.titles_up_to(REAL_DATA, count))
    fuzzy = link_data.fuzzy_entries(titles.to_pylist(), real, count // 2, 3)
    rng = np.random.default_rng(5)
    equal = titles.take(pa.array(rng.integers(0, count, 2 * count - len(fuzzy))))
    entries = pa.concat_arrays([equal, fuzzy]).take(pa.array(rng.permutation(2 * count)))
    link_data.lake_of(run, titles, entries, 16)


def run_task(run: Run, number: int) -> None:
    """Run one task of the stage after a small release has loaded code and kernels; print its figures as JSON."""
    compiled.MAX_PYTHON_COMPARISONS = 0  # use the compiled kernels, as for many entries
    titles = pa.array([f"warming up the compiled kernels of number {i} " + "é" * (i % 2) for i in range(64)])
    with tempfile.TemporaryDirectory() as folder:
        small = _run(Path(folder), 2048)
        link_data.lake_of(small, titles, pc.binary_join_element_wise(titles, "x", ""), 1)
        for task in _tasks(small):
            task()
    began = time.process_time()
    metrics = _tasks(run)[number]() or {}
    seconds = time.process_time() - began
    print(json.dumps({"cpu": seconds, "peak_mb": peak_mb(), "recall": metrics.get("recall")}))


def _run(folder: Path, memory_mb: int) -> Run:
    spec = ReleaseSpec(name="bench", resources=ResourceRules(memory_mb=memory_mb))
    return Run(spec, datetime(2023, 1, 1, tzinfo=UTC), open_lake(str(folder / "lake")), folder)


def _tasks(run: Run) -> list[Callable[[], Any]]:
    """Return the tasks of the stage as functions, in order; the last one finishes the stage."""
    stage = LinkStage()
    rounds = [partial(stage.work, run, shard, round) for round in (0, 1) for shard in stage.plan(run, round)]
    return [*rounds, partial(stage.finish, run)]


if __name__ == "__main__":
    main()
