"""Measure the quality and the speed of record clustering.

    python -m devtools.bench.cluster dblp-acm        pairs of DBLP-ACM against its gold: F1, precision, recall
    python -m devtools.bench.cluster cora            the same for Cora
    python -m devtools.bench.cluster reviews         the records of each systematic review against its gold: F1, precision, recall
    python -m devtools.bench.cluster scale [--records 250000]     generated records: precision, recall, CPU, memory

The rules are the shipped rules; nothing is trained. `scale` reads one Parquet file and writes another one of record_id
and paper_id. Imports and kernel loading are not counted: 2,000 of the records were clustered before.
"""

from __future__ import annotations

import argparse
import csv
import resource
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from devtools.bench.cluster_records import write
from devtools.real_data import REAL_DATA
from s2corpus.sources import Record, RecordKind
from s2corpus.sources.arrow import batches
from s2corpus.sources.build import RawRecord
from s2corpus.stages.cluster import cluster_records
from s2corpus.tables.intake import RECORDS
from s2orc_parse.bibliography.names import parse_authors

DATA = REAL_DATA / "er"
Pair = tuple[str, str]


def clustered(records: pa.Table) -> dict[str, str]:
    found = cluster_records(records).clusters
    return dict(zip(found["record_id"].to_pylist(), found["paper_id"].to_pylist(), strict=True))


def table(records: Iterable[Record]) -> pa.Table:
    return pa.Table.from_batches(batches(records), schema=RECORDS.schema)


def dblp_acm_records() -> dict[str, Record]:
    records: dict[str, Record] = {}
    for source, name, encoding in (("dblp", "DBLP2.csv", "latin-1"), ("acm", "ACM.csv", "utf-8")):
        with (DATA / "dblp-acm" / name).open(encoding=encoding, newline="") as file:
            for row in csv.DictReader(file):
                record = RawRecord(
                    f"{source}:{row['id']}", source, RecordKind.ARCHIVE, row["id"],
                    title=row["title"], authors=parse_authors(row["authors"]), date=row["year"], venue=row["venue"],
                ).normalize()  # fmt: skip
                assert isinstance(record, Record)
                records[record.record_id] = record
    return records


def dblp_acm() -> str:
    """Return F1, precision and recall of pairs across the two catalogs."""
    records = dblp_acm_records()
    with (DATA / "dblp-acm" / "DBLP-ACM_perfectMapping.csv").open(newline="") as file:
        gold = {(f"dblp:{row['idDBLP']}", f"acm:{row['idACM']}") for row in csv.DictReader(file)}
    paper_of = clustered(table(records.values()))
    found = {
        (a, b)
        for members in grouped(paper_of).values()
        for a in members
        for b in members
        if a.startswith("dblp:") and b.startswith("acm:")
    }
    return f1_text(found, gold)


def cora_records() -> dict[str, Record]:
    records: dict[str, Record] = {}
    with (DATA / "cora" / "cora.csv").open(newline="") as file:
        for row in csv.DictReader(file, delimiter="|"):
            record = RawRecord(
                f"cora:{row['Entity Id']}", "cora", RecordKind.ARCHIVE, row["Entity Id"],
                title=row["title"], authors=parse_authors(row["author"]), date=row["year"], venue=row["venue"],
            ).normalize()  # fmt: skip
            if not isinstance(record, Record):
                record = Record(f"cora:{row['Entity Id']}", "cora", RecordKind.ARCHIVE)
            records[record.record_id] = record
    return records


def cora() -> str:
    """Return F1, precision and recall of pairs."""
    records = cora_records()
    with (DATA / "cora" / "cora_gt.csv").open() as file:
        gold = {pair(*(f"cora:{name}" for name in line.strip().split("|"))) for line in file}
    paper_of = clustered(table(records.values()))
    found = {pair(a, b) for members in grouped(paper_of).values() for a, b in combinations(members, 2)}
    return f1_text(found, gold)


def reviews() -> str:
    """Return F1, precision and recall of pairs of each systematic review, and of all reviews together."""
    every_found, every_gold, lines = set[Pair](), set[Pair](), []
    for folder in sorted((DATA / "dedupe").iterdir()):
        with (folder / "records_pre_merged.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        records = [
            RawRecord(
                f"{folder.name}:{row['ID']}", "review", RecordKind.ARCHIVE, row["ID"], title=row["title"],
                authors=parse_authors(row["author"]), date=row["year"], journal=row["journal"], volume=row["volume"],
                issue=row["number"], pages=row["pages"],
            ).normalize()
            for row in rows
        ]  # fmt: skip
        with (folder / "merged_record_ids.csv").open(newline="") as file:
            groups = [row["merged_ids"].split(";") for row in csv.DictReader(file)]
        gold = {pair(f"{folder.name}:{a}", f"{folder.name}:{b}") for group in groups for a, b in combinations(group, 2)}
        paper_of = clustered(table(record for record in records if isinstance(record, Record)))
        found = {pair(a, b) for members in grouped(paper_of).values() for a, b in combinations(members, 2)}
        lines.append(f"{folder.name:20} {f1_text(found, gold)}")
        every_found, every_gold = every_found | found, every_gold | gold
    return "\n".join([*lines, f"{'all':20} {f1_text(every_found, every_gold)}"])


def pair(a: str, b: str) -> Pair:
    return (a, b) if a < b else (b, a)


def grouped(paper_of: dict[str, str]) -> dict[str, list[str]]:
    groups = defaultdict(list)
    for record_id, paper in paper_of.items():
        groups[paper].append(record_id)
    return groups


def f1_text(found: set[Pair], gold: set[Pair]) -> str:
    right = len(found & gold)
    precision, recall = right / max(len(found), 1), right / max(len(gold), 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return f"F1 {f1:.4f}  precision {precision:.4f}  recall {recall:.4f}  ({len(found)} pairs found, {len(gold)} gold)"


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
    """Print the figures of one data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", choices=("dblp-acm", "cora", "reviews", "scale"), nargs="?", default="scale")
    parser.add_argument("--records", type=int, default=250_000)
    given = parser.parse_args()
    if given.data == "scale":
        with tempfile.TemporaryDirectory(prefix="bench-cluster-") as folder:
            print(scale(given.records, Path(folder)))
    else:
        print({"dblp-acm": dblp_acm, "cora": cora, "reviews": reviews}[given.data]())


if __name__ == "__main__":
    main()
