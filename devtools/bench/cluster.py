"""Measure record clustering on generated records: precision, recall, CPU, memory.

    python -m devtools.bench.cluster [--records 250000]

One Parquet file is read, and another one of record_id and paper_id is written. Imports and kernel loading are not
counted: 2,000 of the records were clustered before.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from devtools.bench.cluster_records import write
from s2corpus.stages.cluster import cluster_records


def scale(count: int, folder: Path) -> str:
    """Return precision, recall, CPU seconds and peak memory of clustering generated records."""
    records, clusters = folder / "records.parquet", folder / "clusters.parquet"
    written = write(records, count)
    cluster_records(pq.ParquetFile(records).read_row_group(0).slice(0, 2000))  # loads code and kernels
    began = time.process_time()
    found = cluster_records(pq.read_table(records))
    pq.write_table(found.clusters.select(["record_id", "paper_id"]), clusters, compression="zstd")
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{written:,} records: {quality(records, clusters)}  {seconds:.1f} CPU s, {peak:,.0f} MB at most"


def quality(records: Path, clusters: Path) -> str:
    """Return pairwise precision and recall, counted without listing pairs."""
    truth = pq.read_table(records, columns=["record_id", "truth"])
    found = pq.read_table(clusters)
    paper = (
        found["paper_id"]
        .take(pc.index_in(truth["record_id"], found["record_id"]))
        .combine_chunks()
        .dictionary_encode()
        .indices
    )
    together = pa.table({"truth": truth["truth"], "paper": paper})

    def pairs(*by: str) -> int:
        sizes = together.group_by(list(by)).aggregate([([], "count_all")])["count_all"].to_numpy()
        return int((sizes * (sizes - 1) // 2).sum())

    right = pairs("truth", "paper")
    return f"precision {right / max(pairs('paper'), 1):.5f}  recall {right / max(pairs('truth'), 1):.5f}"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=250_000)
    with tempfile.TemporaryDirectory(prefix="bench-cluster-") as folder:
        print(scale(parser.parse_args().records, Path(folder)))


if __name__ == "__main__":
    main()
