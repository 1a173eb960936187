"""How each stage grows with the number of records: `python bench/scale.py [RECORDS …] [--stages intake,cluster]` (default 10000 100000).

A release of metadata alone: generated records (`cluster_records`) with abstracts, delivered as JSON lines by source, through every
stage but those of PDFs. Each stage runs in a process of its own, shard after shard, on a lake in a folder. Shown are its seconds of
CPU, the memory that it takes beyond an empty process with the same libraries, and the exponent of the CPU between two sizes: 1 is
linear. `rounds` is cluster once more, as the workers of a Spark do it (ENGINE=here).
"""

from __future__ import annotations

import argparse
import hashlib
import math
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.cluster_records import rows  # noqa: E402
from s2corpus.pipeline import runner  # noqa: E402
from s2corpus.pipeline.registry import STAGES, stage  # noqa: E402
from s2corpus.pipeline.run import Run  # noqa: E402
from s2corpus.spec import ReleaseSpec  # noqa: E402
from s2corpus.storage.local_lake import LocalLake  # noqa: E402

SPEC = ReleaseSpec(name="scale")
AS_OF = datetime(2026, 1, 1, tzinfo=UTC)
_OF_PDFS = ("select", "extract", "postprocess")
"""Stages that have nothing to do: their tables are empty."""
ABSTRACT = (
    "We describe how this problem was treated in earlier work and why the methods that are known do not reach the "
    "results that practice asks for. Our approach needs fewer assumptions, and its error is smaller in every experiment "
    "that we made. We also show where it fails, and what remains to be done before it can be used in other fields."
)


def deliver(folder: Path, count: int) -> None:
    """Write `count` records as one delivery of each source."""
    files: dict[str, Any] = {}
    for row in rows(count, random.Random(0)):
        source = (
            "semantic" if row["source"] == "grobid" else str(row["source"])
        )  # headers of PDFs, as a source's records
        place = folder / "lake" / "sources" / source / "1"
        if source not in files:
            place.mkdir(parents=True)
            files[source] = (place / "records.jsonl").open("wb")
        line = {name: value for name, value in row.items() if value is not None and name not in ("truth", "kind")}
        line |= {"source": source, "record_id": f"{source}:{str(row['record_id']).partition(':')[2]}"}
        files[source].write(orjson.dumps({**line, "abstract": f"{row['title']}. {ABSTRACT}"}) + b"\n")
    for file in files.values():
        file.close()
        path = Path(file.name)
        with path.open("rb") as data:
            digest = hashlib.file_digest(data, "sha256").hexdigest()
        listed = [{"name": path.name, "bytes": path.stat().st_size, "sha256": digest}]
        (path.parent / "_READY").write_bytes(orjson.dumps({"ready_at": "2025-01-01T00:00:00Z", "files": listed}))


def work(folder: Path, name: str, answer: Any) -> None:
    """One stage, as the runner does it, and what it took."""
    engine = "here" if name == "rounds" else ""
    os.environ["ENGINE"] = engine
    name = "cluster" if engine else name
    run = Run(SPEC, AS_OF, LocalLake(folder / "lake"), folder)
    stage(name)
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu = time.process_time()
    runner.work(run, name, runner.plan(run, name))
    runner.gather_all(run, name)
    runner.finish(run, name)
    if name == "intake":
        for skipped in _OF_PDFS:
            for table in stage(skipped).writes:
                run.table(table).write(0, [])
                run.table(table).commit([0], {"extractor": "none", "converter": "none"})
    answer.put((time.process_time() - cpu, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) / 1024))


def main() -> None:
    """Print a line for each stage and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--stages", default=",".join(["intake", "cluster", "rounds", *STAGES[5:]]))
    given = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    before: dict[str, tuple[int, float]] = {}
    for count in given.records:
        with tempfile.TemporaryDirectory(prefix="s2corpus-scale-") as scratch:
            process = spawn.Process(target=deliver, args=(Path(scratch), count))
            process.start()
            process.join()
            for name in given.stages.split(","):
                answer = spawn.Queue()
                process = spawn.Process(target=work, args=(Path(scratch), name, answer))
                process.start()
                cpu, megabytes = answer.get()
                process.join()
                exponent = ""
                if name in before and cpu > 0 < before[name][1]:
                    exponent = f", exponent {math.log(cpu / before[name][1]) / math.log(count / before[name][0]):.2f}"
                before[name] = count, cpu
                print(
                    f"{count:11,} records  {name:11} {cpu:8.1f} s of CPU, {cpu / count * 1e6:7.1f} µs a record, "
                    f"{megabytes:6.0f} MB{exponent}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
