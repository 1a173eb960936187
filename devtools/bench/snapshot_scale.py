"""Measure time and memory of clean, split and export: `snapshot_scale.py [PAPERS …]` (default 10000 100000).

Papers are generated (tests/unit/snapshot/release.py); about 60 in 100 become documents of six paragraphs. Every stage
runs in a separate process, shard after shard, on a lake in a folder. The script prints its CPU seconds and its peak
memory.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import load_stage
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.local_lake import LocalLake
from tests.unit.snapshot.release import AS_OF, lay_out, papers
from tests.unit.snapshot.release import work as rounds

SPEC = ReleaseSpec(name="scale")
PER_BUCKET = SPEC.resources.papers_per_shard


def lay(folder: Path, count: int) -> None:
    lay_out(LocalLake(folder / "lake"), folder, SPEC, papers(count, words=85), buckets=-(-count // PER_BUCKET))


def work(folder: Path, name: str, answer: Any) -> None:
    run = Run(SPEC, AS_OF, LocalLake(folder / "lake"), folder)
    cpu = time.process_time()
    one = load_stage(name)
    rounds(run, one)
    one.finish(run)
    answer.put((time.process_time() - cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def main() -> None:
    spawn = multiprocessing.get_context("spawn")
    for count in [int(argument) for argument in sys.argv[1:]] or [10_000, 100_000]:
        with tempfile.TemporaryDirectory(prefix="s2corpus-scale-") as scratch:
            process = spawn.Process(target=lay, args=(Path(scratch), count))
            process.start()
            process.join()
            for name in ("clean", "split", "export"):
                answer = spawn.Queue()
                process = spawn.Process(target=work, args=(Path(scratch), name, answer))
                process.start()
                seconds, megabytes = answer.get()
                process.join()
                print(
                    f"{count:9,} papers  {name:7} {seconds:7.1f} s of CPU, {seconds / count * 1000:6.3f} s a thousand, "
                    f"{megabytes:6.0f} MB at most",
                    flush=True,
                )


if __name__ == "__main__":
    main()
