"""Linking at corpus scale: recall, speed beside its peers, the whole step beside its bound, growth, engines, precision.

    python bench/link.py                      everything, on a million titles and five
    python bench/link.py --titles 100000      smaller
    python bench/link.py --only recall,speed  some sections

Times are CPU seconds of one core, so that a busy machine does not change the ratios. Titles: the real ones in ../shared/data and
recombined ones; entries by every kind of noise, and absent ones (`link_data`).
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import link_data
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.lake import open_lake
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.base import Run, Shard
from s2corpus.stages.link import Link, pairs_by_join
from s2corpus.tables import AUTHORS, DELIVERIES, ENTRIES, FILTERED, FULLTEXTS, MEMBERS, PAPERS
from s2corpus.titles import Pairs, Search, candidates, grams, normalise, score_pairs
from s2corpus.titles.candidates import Index, _probe, _shared, keys_of, score_proposed
from s2corpus.titles.equal import EqualStrings
from s2corpus.titles.exhaustive import best_matches
from s2corpus.titles.targets import first_surname

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
TABLE: list[tuple[str, str]] = []


def row(name: str, value: str) -> None:
    TABLE.append((name, value))
    print(f"{name:<62} {value}", flush=True)


class Clock:
    """CPU seconds of this process."""

    seconds = 0.0


@contextmanager
def clock() -> Iterator[Clock]:
    found = Clock()
    begin = time.process_time()
    yield found
    found.seconds = time.process_time() - begin


class Made:
    """Titles and entries, made once and kept in the scratch folder."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch

    def _kept(self, name: str, make: Callable[[], Any]) -> pa.Array:
        path = self._scratch / f"{name}.parquet"
        if not path.exists():
            pq.write_table(pa.table({"title": pa.array(make())}), path)
        return pq.read_table(path)["title"].combine_chunks()

    def titles(self, count: int) -> pa.Array:
        return self._kept(f"titles-{count}", lambda: link_data.titles_up_to(DATA, count))

    def noisy(self, titles: pa.Array, count: int) -> pa.Array:
        return self._kept(f"noisy-{len(titles)}-{count}", lambda: link_data.noisy(titles.to_pylist(), count, 7))

    def fuzzy(self, titles: pa.Array, count: int) -> pa.Array:
        make = lambda: link_data.fuzzy_entries(titles.to_pylist(), link_data.real_titles(DATA), count, 3)  # noqa: E731
        return self._kept(f"fuzzy-{len(titles)}-{count}", make)


def best_of(pairs: Pairs, rows: int) -> np.ndarray:
    best = np.zeros(rows)
    best[pairs.a[::-1]] = pairs.score[::-1]
    return best


def recall(made: Made, count: int, sample: int) -> None:
    titles = normalise(made.titles(count))
    entries = normalise(made.noisy(made.titles(count), sample))
    with clock() as exhaustive:
        best, _ = best_matches(entries, titles)
    pairs = candidates(entries, titles)
    found = best_of(pairs, len(entries))
    alike = best > 0
    row(
        f"recall of the exhaustive best S, {count:,} titles, {len(entries):,} noisy entries",
        f"{(found[alike] == best[alike]).mean():.5f} ({(found[alike] != best[alike]).sum()} missed of {alike.sum():,})",
    )
    for number, noise in enumerate(link_data.NOISE):
        mine = alike & (np.arange(len(entries)) % len(link_data.NOISE) == number)
        row(f"    {noise.__name__.strip('_')}", f"{(found[mine] == best[mine]).mean():.5f} of {mine.sum():,}")
    sets_a, sets_b = grams(entries), grams(titles.take(pa.array(pairs.b)))
    exact = score_pairs(sets_a, pairs.a, sets_b, np.arange(len(pairs.b)))
    assert (exact == pairs.score).all(), "a reported S is not exact"
    assert (found <= best).all(), "a reported S is above the exhaustive best"
    row("    every reported S equals eq. 1 computed anew", f"{len(pairs.a):,} pairs")
    row("    exhaustive search", f"{len(entries) / exhaustive.seconds:,.0f} entries/s")


def warm() -> None:
    """Compile every kernel, so that no section pays for it."""
    some = normalise(pa.array(["warming up the compiled kernels", "Wärming up the compiled kernels"]))
    candidates(some, some)
    best_matches(some, some)


def speed(made: Made, count: int, fuzzy: int) -> None:
    raw_titles, raw_entries = made.titles(count), made.fuzzy(made.titles(count), fuzzy)
    with clock() as ours:
        titles, entries = normalise(raw_titles), normalise(raw_entries)
        pairs = candidates(entries, titles)
    mine = len(entries) / ours.seconds
    row(
        f"fuzzy path, {count:,} titles, {fuzzy:,} entries, all included",
        f"{mine:,.0f} entries/s ({ours.seconds:.1f} s)",
    )
    row("    pairs that shared a key, verified, linked, per entry",
        " ".join(f"{n / fuzzy:.2f}" for n in (pairs.proposed, pairs.verified, len(np.unique(pairs.a)))))  # fmt: skip
    for name, theirs in (
        ("sparse_dot_topn, cosine ≥ 0.816, 2,000 entries, its index not counted", _sparse_dot_topn(entries, titles)),
        ("rapidfuzz extractOne, 20 entries", _rapidfuzz(entries, titles)),
        ("datasketch LSH, 20,000 titles only, 500 entries, its index not counted", _datasketch(entries, titles)),
    ):
        row(f"    {name}", f"{theirs:,.1f} entries/s: {mine / theirs:,.0f} × slower")


def _sparse_dot_topn(entries: pa.Array, titles: pa.Array) -> float:
    from scipy.sparse import csr_matrix
    from sparse_dot_topn import sp_matmul_topn

    sets_a, sets_b = grams(entries.slice(0, 2000)), grams(titles)
    values, columns = np.unique(sets_b.values, return_inverse=True)
    place = np.minimum(np.searchsorted(values, sets_a.values), len(values) - 1)
    known = values[place] == sets_a.values

    def unit(sets: Any, column: np.ndarray, weight: np.ndarray) -> Any:
        weight = weight / np.sqrt(np.maximum(np.repeat(sets.sizes, sets.sizes), 1))
        return csr_matrix(
            (weight.astype(np.float32), column.astype(np.int32), sets.offsets.astype(np.int32)),
            (len(sets), len(values)),
        )

    a = unit(sets_a, np.where(known, place, 0), known.astype(np.float32))
    b = unit(sets_b, columns, np.ones(len(columns), np.float32)).T.tocsr()
    with clock() as taken:
        sp_matmul_topn(a, b, top_n=2, threshold=0.816)
    return 2000 / taken.seconds


def _rapidfuzz(entries: pa.Array, titles: pa.Array) -> float:
    from rapidfuzz import fuzz, process

    choices, wanted = titles.to_pylist(), entries.slice(0, 20).to_pylist()
    with clock() as taken:
        for entry in wanted:
            process.extractOne(entry, choices, scorer=fuzz.ratio, score_cutoff=80)
    return len(wanted) / taken.seconds


def _datasketch(entries: pa.Array, titles: pa.Array) -> float:
    from datasketch import MinHash, MinHashLSH

    def sketch(title: str) -> Any:
        made = MinHash(num_perm=240)
        made.update_batch([title[i : i + 3].encode() for i in range(max(len(title) - 2, 1))])
        return made

    index = MinHashLSH(num_perm=240, params=(40, 6))
    for i, title in enumerate(titles.slice(0, 20_000).to_pylist()):
        index.insert(i, sketch(title))
    with clock() as taken:
        for entry in entries.slice(0, 500).to_pylist():
            index.query(sketch(entry))
    return 500 / taken.seconds


def growth(made: Made, small: int, large: int, fuzzy: int) -> None:
    """The same entries against more titles; the titles' own side, made once whatever the entries, apart."""
    seconds = {}
    entries = normalise(made.fuzzy(made.titles(small), fuzzy))
    for count in (small, large):
        titles = normalise(made.titles(count))
        with clock() as side:
            candidates(entries.slice(0, 1), titles)
        with clock() as both:
            pairs = candidates(entries, titles)
        seconds[count] = (both.seconds - side.seconds) / fuzzy
        row(f"{count:,} titles, {fuzzy:,} entries: verified pairs an entry", f"{pairs.verified / fuzzy:.2f}")
        row("    µs an entry; s the titles' side; crowded keys",
            f"{seconds[count] * 1e6:.1f}; {side.seconds:.1f}; {len(pairs.crowded)}")  # fmt: skip
    row(f"time an entry, {large / small:.0f} times the titles", f"{seconds[large] / seconds[small]:.2f} ×")


def _authors(count: int) -> pa.Array:
    """One author a row."""
    last = pa.array([f"Author{i}" for i in range(1000)]).take(pa.array(np.arange(count) % 1000))
    none = pa.ListArray.from_arrays(pa.array(np.zeros(count + 1, np.int32)), pa.array([], pa.string()))
    first = pa.array(["A."]).take(pa.array(np.zeros(count, np.int64)))
    suffix = pa.array([""]).take(pa.array(np.zeros(count, np.int64)))
    one = pa.StructArray.from_arrays([first, none, last, suffix], fields=list(AUTHORS.value_type))
    return pa.ListArray.from_arrays(pa.array(np.arange(count + 1, dtype=np.int32)), one).cast(AUTHORS)


def _rows(table: Any, count: int, **columns: Any) -> pa.Table:
    """Rows of a table: what is not given is null, or empty where null is not allowed."""
    arrays = []
    for field in table.schema:
        if field.name in columns:
            arrays.append(pa.array(columns[field.name]).cast(field.type))
        elif field.nullable:
            arrays.append(pa.nulls(count, field.type))
        else:
            empty = {"map": [], "list": [], "bool": False}.get(str(field.type).split("<")[0].rstrip("_"), "")
            arrays.append(pa.array([empty], field.type).take(pa.array(np.zeros(count, np.int64))))
    return pa.Table.from_arrays(arrays, schema=table.schema)


def _spec(memory_mb: int) -> ReleaseSpec:
    return ReleaseSpec(name="bench", resources={"memory_mb": memory_mb})


def _run(folder: Path, memory_mb: int) -> Run:
    return Run(_spec(memory_mb), datetime(2023, 1, 1, tzinfo=UTC), open_lake(str(folder / "lake")), folder)


def whole(made: Made, count: int, scratch: Path) -> None:
    """The stage itself, from tables in a lake to tables in a lake, in a process of its own, beside the sum of its kernels."""
    raw_titles = made.titles(count)
    fuzzy = made.fuzzy(raw_titles, count // 2)
    rng = np.random.default_rng(5)
    equal = raw_titles.take(pa.array(rng.integers(0, count, 2 * count - len(fuzzy))))
    raw_entries = pa.concat_arrays([equal, fuzzy]).take(pa.array(rng.permutation(2 * count)))
    run = _run(scratch, 2048)
    ids = pa.array([f"{i:015x}" for i in range(count)])
    shards = 16
    bounds = np.linspace(0, count, shards + 1).astype(int)
    for shard, (begin, end) in enumerate(itertools.pairwise(bounds)):
        n = int(end - begin)
        mine = ids.slice(begin, n)
        years = pa.array(np.arange(begin, end) % 50 + 1970).cast(pa.string())
        papers = _rows(PAPERS, n, paper_id=mine, title=raw_titles.slice(begin, n), date=years, authors=_authors(n))
        run.table(PAPERS).write(shard, papers)
        run.table(FILTERED).write(shard, _rows(FILTERED, n, paper_id=mine, outcome=["kept"] * n))
        run.table(FULLTEXTS).write(shard, [])
        run.table(MEMBERS).write(shard, [])
        citing = mine.take(pa.array(np.repeat(np.arange(n), 2)))
        entries = _rows(
            ENTRIES, 2 * n, paper_id=citing, parse_kind=["grobid"] * (2 * n), ref_id=[f"BIBREF{i % 2}" for i in range(2 * n)],
            parse_id=citing, title=raw_entries.slice(2 * begin, 2 * n), authors=_authors(2 * n),
            year=pa.array(np.arange(2 * n) % 50 + 1970),
        )  # fmt: skip
        run.table(ENTRIES).write(shard, entries)
    for table in (PAPERS, FILTERED, FULLTEXTS, ENTRIES):
        run.table(table).commit(range(shards))
    run.table(MEMBERS).commit(range(shards), {"paper_shards": shards})
    run.table(DELIVERIES).write(0, [])
    run.table(DELIVERIES).commit([0], {"parent": None})

    bound = {}
    with clock() as taken:
        titles, entries = normalise(raw_titles), normalise(raw_entries)
        for authors in (_authors(count), _authors(2 * count)):
            normalise(first_surname(authors))
    bound["normalising"] = taken.seconds
    with clock() as taken:
        index = EqualStrings.of(titles)
        left = np.flatnonzero(index.find(entries) < 0)
        strings = entries.take(pa.array(left))
        distinct = strings.take(pa.array(EqualStrings.of(strings).first))
    bound["hash join"] = taken.seconds
    search = Search()
    every = range(search.bands)
    with clock() as taken:
        b_side, a_side = (keys_of(side, every, search.rows) for side in (titles, distinct))
    bound["MinHash"] = taken.seconds
    with clock() as taken:
        found = []
        for band in every:
            one = Index.of(b_side.keys[band])
            pairs, _ = _probe(
                a_side.keys[band], a_side.sizes, a_side.sketches, 0, 0, one.keys, one.rows, one.starts, one.ends,
                b_side.sizes, b_side.sketches, 0.8, False, 1 << 26,
            )  # fmt: skip
            found.append(pairs)
        shared = _shared(np.concatenate(found), search.min_keys)
    bound["postings"] = taken.seconds
    with clock() as taken:
        a, b = (shared >> np.uint64(32)).astype(np.int64), (shared & np.uint64(0xFFFFFFFF)).astype(np.int64)
        score_proposed(distinct, a, titles, b, 0.8)
    bound["verification"] = taken.seconds
    total = sum(bound.values())
    row(f"bound, {count:,} titles × {2 * count:,} entries", f"{total:.1f} s")
    row("    " + " + ".join(bound), " + ".join(f"{s:.1f}" for s in bound.values()))
    for memory_mb in (2048, 600):
        run, stage = _run(scratch, memory_mb), Link()
        shards = stage.plan(run)
        run.put_plan(stage.name, shards)
        results = []
        for shard in range(len(shards) + 1):  # each in a process of its own, as tasks are; the last one finishes
            child = [
                sys.executable,
                __file__,
                "--stage",
                str(scratch),
                "--memory-mb",
                str(memory_mb),
                "--shard",
                str(shard),
            ]
            out = subprocess.run(child, check=True, capture_output=True, text=True)
            results.append(json.loads(out.stdout))
        seconds = sum(result["cpu"] for result in results)
        row(
            f"the whole stage, memory_mb: {memory_mb}",
            f"{seconds:.1f} s = {seconds / total:.2f} × the bound, peak {max(r['peak_mb'] for r in results):,.0f} MB",
        )
        row("    shards; entries linked; recall it measured itself",
            f"{len(shards)}; {results[-1]['linked']:,.0f}; {results[-1]['recall']}")  # fmt: skip


def stage_child(folder: Path, memory_mb: int, shard: int) -> None:
    run, stage = _run(folder, memory_mb), Link()
    begin = time.process_time()
    shards = run.planned(stage.name)
    metrics: dict[str, float] = {}
    if shard < len(shards):
        stage.work(run, shards[shard])
    else:
        metrics = stage.finish(run)
    print(json.dumps({
        "cpu": time.process_time() - begin, "peak_mb": int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 1024,
        "recall": metrics.get("recall"), "linked": metrics.get("linked"),
    }))  # fmt: skip


def engines(made: Made, count: int, scratch: Path) -> None:
    """The same pairs from the probe, from DuckDB and from Spark, row by row."""
    titles, entries = normalise(made.titles(count)), normalise(made.fuzzy(made.titles(count), count))
    run = _run(scratch, 2048)
    with clock() as taken:
        probe = candidates(entries, titles)
    row(f"probe, {count:,} titles × {count:,} entries", f"{taken.seconds:.1f} s, {len(probe.a):,} links")
    for engine in ("duckdb", "local[2]"):
        os.environ["ENGINE"] = engine
        begin = time.monotonic()
        try:
            joined = pairs_by_join(run, Shard(0), titles_a=entries, titles_b=titles, threshold=0.8, search=Search())
        except Exception as error:
            row(f"join on {engine}", f"not run: {error}")
            continue
        same = all(np.array_equal(getattr(joined, n), getattr(probe, n)) for n in ("a", "b", "score"))
        same &= np.array_equal(joined.crowded, probe.crowded)
        row(
            f"join on {engine}",
            f"{time.monotonic() - begin:.1f} s on the wall, rows {'the same' if same else 'DIFFERENT'}",
        )
    os.environ.pop("ENGINE")


SECTIONS = ("recall", "speed", "whole", "growth", "engines", "precision")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--titles", type=int, default=1_000_000)
    options.add_argument("--only", default=",".join(SECTIONS))
    options.add_argument("--scratch", type=Path, help="keeps what was made, for the next time")
    options.add_argument("--stage", type=Path, help=argparse.SUPPRESS)
    options.add_argument("--shard", type=int, default=0, help=argparse.SUPPRESS)
    options.add_argument("--memory-mb", type=int, default=2048, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.stage:
        stage_child(given.stage, given.memory_mb, given.shard)
        return
    with tempfile.TemporaryDirectory() as temporary:
        scratch = given.scratch or Path(temporary)
        scratch.mkdir(exist_ok=True)
        made, count, only = Made(scratch), given.titles, given.only.split(",")
        warm()
        if "recall" in only:
            recall(made, count, 22_500)
            recall(made, 5 * count, 3_500)
        if "speed" in only:
            speed(made, count, count // 2)
        if "whole" in only:
            whole(made, count, scratch)
        if "growth" in only:
            growth(made, count, 5 * count, count // 2)
        if "engines" in only:
            engines(made, min(count, 20_000), scratch)
        if "precision" in only:
            import link_precision

            link_precision.report(DATA, row)


if __name__ == "__main__":
    main()
