"""Measure authors, clustering and citations on third-party gold data, in one table.

The gold data are the review sets of `er/dedupe` (compared with bib-dedupe), DBLP-ACM and Cora, names in eleven forms
(`names.py`) and reference strings (`citations.py`).

    python -m devtools.bench.identity [--set NAME …] [--mistakes] [--only-ours]      --set: these review sets only

Both programs read the same rows. `pairs` are pairs of records of one paper. `records` are duplicates: the records of
each group except the first; as many as possible count as right. bib-dedupe separates the pairs that a person should
check (`maybe`); they count as not joined.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from itertools import combinations

import pyarrow as pa

from devtools.bench import citations, names
from devtools.bench import cluster as shared
from devtools.bench.link_table import TABLE
from devtools.bench.link_table import row as asked_for
from devtools.real_data import REAL_DATA
from s2corpus.sources import Record, RecordKind
from s2corpus.sources.build import RawRecord
from s2corpus.stages.cluster import cluster_records
from s2orc_parse.bibliography.names import parse_authors

REVIEWS = REAL_DATA / "er" / "dedupe"
Groups = list[set[str]]
Row = dict[str, str]


def rows_of(name: str) -> list[Row]:
    with (REVIEWS / name / "records_pre_merged.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def gold_of(name: str) -> Groups:
    with (REVIEWS / name / "merged_record_ids.csv").open(encoding="utf-8", newline="") as file:
        groups = [set(row["merged_ids"].split(";")) for row in csv.DictReader(file)]
    return joined(groups)


def joined(groups: Iterable[set[str]]) -> Groups:
    """Merge groups that share a record."""
    of: dict[str, set[str]] = {}
    for group in groups:
        whole = set(group).union(*(of[member] for member in group if member in of))
        of.update(dict.fromkeys(whole, whole))
    return [group for group in {id(group): group for group in of.values()}.values() if len(group) > 1]


def records_of(rows: Sequence[Row]) -> pa.Table:
    """Return the rows as records of an archive, as `corpus records` would read them."""
    records = []
    for row in rows:
        venue = row.get("booktitle") or None
        record = RawRecord(
            row["ID"], "review", RecordKind.ARCHIVE, row["ID"], title=row.get("title"), authors=parse_authors(row.get("author") or ""),
            date=(row.get("year") or "").removesuffix(".0"), journal=row.get("journal"), venue=venue, volume=row.get("volume"),
            issue=row.get("number"), pages=row.get("pages"), doi=row.get("doi"), abstract=row.get("abstract"),
        ).normalize()  # fmt: skip
        records.append(record if isinstance(record, Record) else Record(row["ID"], "review", RecordKind.ARCHIVE))
    return shared.table(records)


def ours(rows: Sequence[Row]) -> Groups:
    found = cluster_records(records_of(rows)).clusters
    groups: dict[str, set[str]] = {}
    for record_id, paper in zip(found["record_id"].to_pylist(), found["paper_id"].to_pylist(), strict=True):
        groups.setdefault(paper, set()).add(record_id)
    return [group for group in groups.values() if len(group) > 1]


def theirs(rows: Sequence[Row]) -> Groups:
    import pandas as pd
    from bib_dedupe.bib_dedupe import block, match, prep
    from bib_dedupe.bib_dedupe import cluster as bib_cluster

    warnings.simplefilter("ignore")
    frame = pd.DataFrame([{key: value or None for key, value in row.items()} for row in rows])
    matched = match(block(prep(frame, cpu=1), cpu=1), cpu=1)
    return joined(set(group) for group in bib_cluster(matched))


def pairs_of(groups: Groups) -> set[tuple[str, str]]:
    return {(a, b) for group in groups for a, b in combinations(sorted(group), 2)}


def scores(found: Groups, gold: Groups) -> dict[str, float]:
    mine, true = pairs_of(found), pairs_of(gold)
    right = len(mine & true)
    group_of = {member: at for at, group in enumerate(gold) for member in group}
    kept = sum(len(group) - len({group_of.get(member, member) for member in group}) for group in found)
    claimed, duplicates = sum(len(group) - 1 for group in found), sum(len(group) - 1 for group in gold)
    return {
        "found": len(mine), "right": right, "gold": len(true),
        "precision": right / max(len(mine), 1), "recall": right / max(len(true), 1),
        "records precision": kept / max(claimed, 1), "records recall": kept / max(duplicates, 1),
    }  # fmt: skip


def line(name: str, who: str, s: dict[str, float], seconds: float) -> str:
    f1 = 2 * s["precision"] * s["recall"] / max(s["precision"] + s["recall"], 1e-9)
    return (
        f"{name:<22} {who:<11} {s['precision']:9.4f} {s['recall']:7.4f} {f1:6.4f}   {s['records precision']:9.4f}"
        f" {s['records recall']:7.4f}   {s['found'] - s['right']:5.0f} {s['gold'] - s['right']:6.0f} {seconds:8.1f}"
    )


def beside(name: str, mine: dict[str, float], peers: dict[str, float] | None) -> None:
    """Add rows to the table with the required precision and recall.

    Precision must be at least .99, or the peer's precision if that is lower. Recall must be at least the peer's minus
    .005.
    """
    for prefix in ("", "records "):
        precision, recall = mine[f"{prefix}precision"], mine[f"{prefix}recall"]
        least = min(0.99, peers[f"{prefix}precision"]) if peers else 0.99
        peer = f"{peers[f'{prefix}precision']:.4f}" if peers else ""
        asked_for(
            f"{name}: {prefix or 'pairs '}precision", f"{precision:.4f}", f"≥ {least:.4f}", peer, precision >= least
        )
        if peers:
            floor = peers[f"{prefix}recall"] - 0.005
            asked_for(
                f"{name}: {prefix or 'pairs '}recall", f"{recall:.4f}", f"≥ {floor:.4f}",
                f"{peers[f'{prefix}recall']:.4f}", recall >= floor,
            )  # fmt: skip


def mistakes(rows: Sequence[Row], found: Groups, gold: Groups) -> None:
    by_id = {row["ID"]: row for row in rows}
    for what, pairs in (
        ("FALSE", pairs_of(found) - pairs_of(gold)),
        ("MISSED", pairs_of(gold) - pairs_of(found)),
    ):
        for a, b in sorted(pairs):
            print(what)
            for record_id in (a, b):
                fields = ("title", "author", "year", "journal", "volume", "number", "pages")
                print("   ", record_id, *(f"{by_id[record_id].get(name) or ''} |" for name in fields))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", dest="sets", choices=sorted(path.name for path in REVIEWS.iterdir()))
    parser.add_argument("--mistakes", action="store_true", help="every false and missed pair of ours")
    parser.add_argument("--only-ours", action="store_true")
    options = parser.parse_args()
    ours(rows_of("haematology")[:50])  # compiled once
    print(
        f"{'':<22} {'':<11} {'pairs P':>9} {'R':>7} {'F1':>6}   {'records P':>9} {'R':>7}   {'false':>5} {'missed':>6} {'seconds':>8}"
    )
    totals: dict[str, list[float]] = {}
    for name in options.sets or sorted(path.name for path in REVIEWS.iterdir()):
        rows, gold = rows_of(name), gold_of(name)
        of_set: dict[str, dict[str, float]] = {}
        for who, run in (("ours", ours), ("bib-dedupe", theirs)):
            if options.only_ours and who != "ours":
                continue
            start = time.perf_counter()
            found = run(rows)
            seconds = time.perf_counter() - start
            s = scores(found, gold)
            print(line(name, who, s, seconds), flush=True)
            of_set[who] = s
            total = totals.setdefault(who, [0.0] * 4)
            for at, value in enumerate((s["found"], s["right"], s["gold"], seconds)):
                total[at] += value
            if options.mistakes and who == "ours":
                mistakes(rows, found, gold)
        beside(name, of_set["ours"], of_set.get("bib-dedupe"))
    precise = {}
    for who, (found_pairs, right, gold_pairs, seconds) in totals.items():
        precise[who] = right / max(found_pairs, 1)
        print(
            f"{'all, pooled':<22} {who:<11} {right / max(found_pairs, 1):9.4f} {right / max(gold_pairs, 1):7.4f}"
            f"{'':34} {found_pairs - right:5.0f} {gold_pairs - right:6.0f} {seconds:8.1f}"
        )
    if options.sets:
        return
    mine = precise.pop("ours")
    asked_for(
        "review sets, pooled: precision of pairs",
        f"{mine:.4f}",
        "≥ 0.995",
        f"{precise.get('bib-dedupe', 0):.4f}",
        mine >= 0.995,
    )
    start = time.perf_counter()
    for name, said, asked in (("DBLP-ACM", shared.dblp_acm(), 0.9755), ("Cora", shared.cora(), 0.83)):
        asked_for(f"{name}: F1 of pairs", said, f"≥ {asked}", "", float(said.split()[1]) >= asked)
    seconds = time.perf_counter() - start + totals["ours"][3]
    if "bib-dedupe" in totals:
        theirs_too = totals["bib-dedupe"][3]
        asked_for(
            "seconds: ours on all of er/, the peer on its review sets", f"{seconds:.1f}", "≥ 5x as fast", f"{theirs_too:.1f}",
            theirs_too >= 5 * seconds,
        )  # fmt: skip
    names.rows()
    citations.rows(REAL_DATA)
    sys.exit(0 if TABLE.show() else 1)


if __name__ == "__main__":
    main()
