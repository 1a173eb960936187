"""Measure the cluster stage on generated records: CPU, clock, memory.

    python -m devtools.bench.cluster [--records 250000] [--memory-mb 4096]

The stage reads and writes files, as in a release. Imports and kernel loading are not counted: 2,000 of the records were clustered
before. `taskset -c 0` in front of the command measures one core.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq

from devtools.bench.cluster_records import write
from devtools.measure import peak_mb
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec, ResourceRules
from s2corpus.stages.cluster import ClusterStage, cluster_records
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.intake import DELIVERIES, RECORDS
from s2corpus.tables.parses import PDF_RECORDS


def measure(records: pq.ParquetFile, folder: Path, memory_mb: int) -> str:
    """Return CPU and clock seconds, and peak memory of clustering records."""
    spec = ReleaseSpec(name="bench", resources=ResourceRules(memory_mb=memory_mb))
    run = Run(spec, datetime(2023, 2, 1, tzinfo=UTC), LocalLake(folder / "lake"), folder)
    for part in range(records.num_row_groups):
        run.table(RECORDS).write(part, records.read_row_group(part, RECORDS.schema.names))
    run.table(RECORDS).commit(range(records.num_row_groups))
    for table, facts in ((PDF_RECORDS, {}), (DELIVERIES, {"inputs": "", "parent": None})):
        run.table(table).write(0, [])
        run.table(table).commit([0], facts)
    cluster_records(records.read_row_group(0).slice(0, 2000))  # loads code and kernels
    began, clock, stage = time.process_time(), time.monotonic(), ClusterStage()
    stage.work(run, stage.plan(run)[0])
    seconds, clock = time.process_time() - began, time.monotonic() - clock
    return f"{records.metadata.num_rows:,} records: {seconds:.1f} CPU s, {clock:.1f} s, {peak_mb():,.0f} MB at most"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=250_000)
    parser.add_argument("--memory-mb", type=int, default=ResourceRules().memory_mb)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-cluster-") as folder:
        path = Path(folder) / "records.parquet"
        write(path, args.records)
        print(measure(pq.ParquetFile(path), Path(folder), args.memory_mb))


if __name__ == "__main__":
    main()
