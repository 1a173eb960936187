"""Measure the quality and the speed of record clustering.

    python -m devtools.bench.cluster dblp-acm        pairs of DBLP-ACM against its gold, with the ten worst mistakes
    python -m devtools.bench.cluster cora            pairwise and B-cubed F1 on Cora, with the ten worst mistakes
    python -m devtools.bench.cluster scale [--records 1000000]     generated records: precision, recall, time, memory;
                                            compared with a plain Polars + scipy clustering by exact identifiers;
                                            and the growth from a quarter of the records
    python -m devtools.bench.cluster crossref [--mb 1000]          memory and speed of the adapter on a generated dump

The rules are the shipped rules; nothing is trained.

`scale` measures the same work on both sides. Each side runs in a separate process; the sides alternate. Each reads one
Parquet file and writes another one of record_id and paper_id, on all cores, with its own library's reader and writer.
Imports, thread start and kernel loading are not included: both sides have clustered 2,000 of the records before.
pyarrow writes on one core, Polars on all: 0.2 s of our wall-clock time at a million records. Edges are found but not
written; the stage writes them.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from devtools.real_data import REAL_DATA
from s2corpus import spec, titles
from s2corpus.sources import Record, RecordKind
from s2corpus.sources.arrow import batches
from s2corpus.sources.build import RawRecord
from s2corpus.stages.cluster import cluster_records
from s2corpus.tables.intake import RECORDS
from s2corpus.titles.rules import is_generic, word_count
from s2orc_parse.bibliography.names import parse_authors, surname_key

DATA = REAL_DATA / "er"
RULES = spec.ClusterRules()
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
    """Return F1, precision and recall of pairs across the two catalogs; print them with the worst mistakes."""
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
    said = f1_text(found, gold)
    print("DBLP-ACM:", said)
    worst(records, found, gold)
    return said


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
    """Return F1, precision and recall of pairs; print them with B-cubed and the worst mistakes."""
    records = cora_records()
    with (DATA / "cora" / "cora_gt.csv").open() as file:
        gold = {pair(*(f"cora:{name}" for name in line.strip().split("|"))) for line in file}
    paper_of = clustered(table(records.values()))
    found = {pair(a, b) for members in grouped(paper_of).values() for a, b in combinations(members, 2)}
    truth = gold_clusters(records, gold)
    said = f1_text(found, gold)
    print("Cora, pairwise:", said)
    print("Cora, B-cubed: ", b_cubed(paper_of, truth))
    worst(records, found, gold)
    return said


def pair(a: str, b: str) -> Pair:
    return (a, b) if a < b else (b, a)


def grouped(paper_of: dict[str, str]) -> dict[str, list[str]]:
    groups = defaultdict(list)
    for record_id, paper in paper_of.items():
        groups[paper].append(record_id)
    return groups


def gold_clusters(records: Iterable[str], gold: set[Pair]) -> dict[str, str]:
    parent = {record_id: record_id for record_id in records}

    def find(node: str) -> str:
        while parent[node] != node:
            node = parent[node]
        return node

    for a, b in sorted(gold):
        parent[max(find(a), find(b))] = min(find(a), find(b))
    return {record_id: find(record_id) for record_id in parent}


def f1_text(found: set[Pair], gold: set[Pair]) -> str:
    right = len(found & gold)
    precision, recall = right / max(len(found), 1), right / max(len(gold), 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return f"F1 {f1:.4f}  precision {precision:.4f}  recall {recall:.4f}  ({len(found)} pairs found, {len(gold)} gold)"


def b_cubed(paper_of: dict[str, str], truth: dict[str, str]) -> str:
    sizes, true_sizes = Counter(paper_of.values()), Counter(truth.values())
    both = Counter((paper_of[r], truth[r]) for r in truth)
    precision = sum(both[paper_of[r], truth[r]] / sizes[paper_of[r]] for r in truth) / len(truth)
    recall = sum(both[paper_of[r], truth[r]] / true_sizes[truth[r]] for r in truth) / len(truth)
    return f"F1 {2 * precision * recall / (precision + recall):.4f}  precision {precision:.4f}  recall {recall:.4f}"


def worst(records: dict[str, Record], found: set[Pair], gold: set[Pair], how_many: int = 10) -> None:
    """Print the worst mistakes: joined pairs with the least similarity, missed pairs with the most."""

    def similar(two: Pair) -> float:
        return titles.score(*(records[r].title or "" for r in two))

    def told(two: Pair) -> None:
        for record in (records[r] for r in two):
            print(
                f"      {record.record_id}: {record.title!r}, {record.date}, {', '.join(a.last for a in record.authors)[:80]}"
            )

    wrong = sorted(found - gold, key=lambda two: (similar(two), two))[: how_many // 2]
    missed = sorted(gold - found, key=lambda two: (-similar(two), two))[: how_many - len(wrong)]
    for two in wrong:
        why = "by what lies between them" if similar(two) <= RULES.min_title_score else "title, authors and year agree"
        print(f"  joined, wrongly (S_title {similar(two):.2f}: {why})")
        told(two)
    for two in missed:
        print(f"  missed (S_title {similar(two):.2f}: {why_missed(*(records[r] for r in two))})")
        told(two)


def why_missed(a: Record, b: Record) -> str:
    names = [{surname_key(author) for author in record.authors} for record in (a, b)]
    reasons = []
    if titles.score(a.title or "", b.title or "") <= RULES.min_title_score:
        reasons.append("titles not similar")
    elif titles.differ_only_in_number(a.title or "", b.title or ""):
        reasons.append("titles differ only in a number")
    if any(is_generic(r.title or "") or word_count(r.title or "") < 3 for r in (a, b)):
        reasons.append("title short or generic: authors and year must be equal")
    if names[0] and names[1] and 2 * len(names[0] & names[1]) < min(map(len, names)):
        reasons.append("authors differ")
    if a.date and b.date and a.date[:4] != b.date[:4]:
        reasons.append("years differ")
    return ", ".join(reasons) or "no candidate"


def scale(records: int, folder: Path, runs: int = 3) -> None:
    from devtools.bench.cluster_records import write

    walls = {}
    for size in (records // 4, records):
        path = folder / f"records-{size}.parquet"
        written = write(path, size)
        results: dict[str, list[dict[str, float]]] = {"peer": [], "ours": []}
        for _ in range(runs):  # alternate, so that other load on the machine affects both sides
            for who, found in results.items():
                found.append(measured(who, path, folder / f"{who}.parquet"))
        ours, peer = (median(results[who]) for who in ("ours", "peer"))
        walls[size] = ours["seconds"]
        print(f"{written:>9,} records: ours {told(ours)}; median of {runs}", flush=True)
        print(f"           exact identifiers only, Polars + scipy {told(peer)}")
        for name in ("ours", "peer"):
            print(f"           {name}: {quality(path, folder / f'{name}.parquet')}")
        ratios = (ours[what] / peer[what] for what in ("seconds", "cpu"))
        print(
            "           beside the peer: {:.2f} times its time, {:.2f} times its processor's".format(*ratios),
            flush=True,
        )
    print(f"growth from {records // 4:,} to {records:,}: {walls[records] / walls[records // 4]:.2f}")


def median(results: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(result[name] for result in results) for name in results[0]}


def told(result: dict[str, float]) -> str:
    return f"{result['seconds']:.1f} s ({result['cpu']:.1f} s of processor), {result['mb']:.0f} MB at most"


def measured(who: str, records: Path, out: Path) -> dict[str, float]:
    """Run one side in a separate process, so that the measured memory is only its memory."""
    command = [sys.executable, "-m", "devtools.bench.cluster", "one", who, str(records), str(out)]
    result: dict[str, float] = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    )
    return result


def one(who: str, records: Path, out: Path) -> None:
    run = {"ours": ours, "peer": peer}[who]
    small = records.with_name("warm.parquet")
    pq.write_table(pq.ParquetFile(records).read_row_group(0).slice(0, 2000), small)
    run(small, out)  # imports, and numba's compiled kernels from their cache
    start, cpu = time.perf_counter(), time.process_time()
    run(records, out)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(json.dumps({"seconds": seconds, "cpu": cpu, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def ours(records: Path, out: Path) -> None:
    found = cluster_records(pq.read_table(records))
    pq.write_table(found.clusters.select(["record_id", "paper_id"]), out, compression="zstd")


def peer(records: Path, out: Path) -> None:
    """Cluster by exact identifiers only: star edges by group, components by scipy.

    The cluster's name is its smallest record_id.
    """
    import numpy as np
    import polars as pl
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    kinds = ["doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id", "file_sha1"]
    frame = pl.read_parquet(records, columns=["record_id", *kinds]).with_row_index("node")
    edges = [
        frame.select("node", kind).drop_nulls().select("node", pl.col("node").min().over(kind).alias("star"))
        for kind in kinds
    ]
    pairs = pl.concat(edges).to_numpy()
    graph = coo_matrix((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(len(frame), len(frame)))
    _, labels = connected_components(graph, directed=False)
    frame.select("record_id", pl.Series("label", labels)).with_columns(
        pl.col("record_id").min().over("label").alias("paper_id")
    ).select("record_id", "paper_id").write_parquet(out)


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


def crossref(megabytes: int, folder: Path) -> None:
    """Read a dump, in each of its two forms, in a separate process into Parquet; print speed and memory."""
    for form in ("lines", "items"):
        path = folder / f"crossref-{form}.json"
        write_crossref(path, megabytes << 20, form)
        command = [sys.executable, "-m", "devtools.bench.cluster", "read", str(path), str(folder / "records.parquet")]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print(
            f"Crossref, {path.stat().st_size / 1e9:.2f} GB as {form}: {told(result := json.loads(output.splitlines()[-1]))},",
            end=" ",
        )
        print(f"{result['records']:,.0f} records, {result['dropped']:,.0f} dropped")
        path.unlink()


def write_crossref(path: Path, size: int, form: str) -> None:
    work = {
        "type": "journal-article", "title": ["A study of one thing or another and what came of it"], "publisher": "Press",
        "author": [{"given": "Ada", "family": "Lovelace", "affiliation": []}, {"given": "Alan M.", "family": "Turing"}],
        "issued": {"date-parts": [[2019, 5, 31]]}, "container-title": ["Journal of Things"], "is-referenced-by-count": 3,
        "abstract": "<jats:p>" + "We study things \\u2013 \"thoroughly\". " * 20 + "</jats:p>",
        "reference": [{"key": f"ref{i}", "unstructured": "Turing, A. {On} computable [numbers]. 1936."} for i in range(20)],
        "license": [{"URL": "https://creativecommons.org/licenses/by/4.0/", "content-version": "vor"}],
    }  # fmt: skip
    body = json.dumps(work)[1:]
    written, number = 0, 0
    with path.open("w") as file:
        file.write('{"items": [' if form == "items" else "")
        while written < size:
            number += 1
            comma = "," if form == "items" and number > 1 else ""
            broken = "}" if number % 10_000 == 0 and form == "lines" else ""
            written += file.write(f'{comma}{{"DOI": "10.1016/j.{number:09d}", {body}{broken}\n')
        file.write("]}" if form == "items" else "")


def read_crossref(path: Path, out: Path) -> None:
    from s2corpus.sources import Counts, read

    counts = Counts(0, 0, {})

    def kept() -> Iterable[Record]:
        for entry in read("crossref", path):
            counts.add(entry)
            if isinstance(entry, Record):
                yield entry

    start, cpu = time.perf_counter(), time.process_time()
    with pq.ParquetWriter(out, RECORDS.schema) as writer:
        for batch in batches(kept()):
            writer.write_batch(batch)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    dropped = sum(counts.dropped.values())
    print(json.dumps({"seconds": seconds, "cpu": cpu, "mb": mb, "records": counts.records, "dropped": dropped}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("dblp-acm")
    commands.add_parser("cora")
    scaling = commands.add_parser("scale")
    scaling.add_argument("--records", type=int, default=1_000_000)
    dump = commands.add_parser("crossref")
    dump.add_argument("--mb", type=int, default=1000)
    reading = commands.add_parser("read")
    reading.add_argument("records", type=Path)
    reading.add_argument("out", type=Path)
    single = commands.add_parser("one")
    single.add_argument("who")
    single.add_argument("records", type=Path)
    single.add_argument("out", type=Path)
    arguments = parser.parse_args()
    match arguments.command:
        case "dblp-acm":
            dblp_acm()
        case "cora":
            cora()
        case "crossref":
            with tempfile.TemporaryDirectory(prefix="bench-crossref-") as folder:
                crossref(arguments.mb, Path(folder))
        case "read":
            read_crossref(arguments.records, arguments.out)
        case "one":
            one(arguments.who, arguments.records, arguments.out)
        case "scale":
            with tempfile.TemporaryDirectory(prefix="bench-cluster-") as folder:
                scale(arguments.records, Path(folder))


if __name__ == "__main__":
    main()
