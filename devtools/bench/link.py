"""Measure linking at corpus scale: recall, speed compared with its peers, the complete step, growth, precision.

    python -m devtools.bench.link                      everything, on one and on five million titles: half an hour
    python -m devtools.bench.link --titles 100000      smaller
    python -m devtools.bench.link --only recall,speed  some sections

The script ends with one table: subject, measured value, required value, peer, and whether the requirement is met. The
exit status is 1 if a requirement is not met. Times are CPU seconds of all threads of a process with one core, so that a
busy machine changes ratios little. Compared programs run alternately. The titles are the real titles in REAL_DATA
and recombined titles. The entries have every kind of noise, or no matching title (`link_data`).
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from devtools.bench import link_data
from devtools.bench.link_table import TABLE, note, row
from devtools.bench.link_tables import indexed
from devtools.real_data import REAL_DATA
from s2corpus import compiled
from s2corpus.pipeline.run import Run, Shard
from s2corpus.spec import ReleaseSpec, ResourceRules
from s2corpus.stages.link import LinkStage, group_tasks
from s2corpus.storage.lake import open_lake
from s2corpus.tables.texts import LINKS
from s2corpus.titles import grams, normalize, score_pairs
from s2corpus.titles.similarity import Pairs, Search, find_best_scores, find_similar

LIMIT_MB = 600


class Clock:
    """CPU seconds of this process."""

    seconds = 0.0


@contextmanager
def clock() -> Iterator[Clock]:
    found = Clock()
    begin = time.process_time()
    yield found
    found.seconds = time.process_time() - begin


def best_of(pairs: Pairs, rows: int) -> np.ndarray:
    best = np.zeros(rows)
    best[pairs.a[::-1]] = pairs.score[::-1]
    return best


def recall(made: link_data.TitleCache, count: int, sample: int, asked: float | None) -> None:
    titles = normalize(made.titles(count))
    entries = normalize(made.noisy(made.titles(count), sample))
    with indexed(titles, Search()) as pieces:
        with clock() as exhaustive:
            best = find_best_scores(entries, pieces, 0.8)
        pairs = find_similar(entries, pieces, Search())
    found = best_of(pairs, len(entries))
    similar = best > 0
    share = float((found[similar] == best[similar]).mean())
    row(
        f"recall of the exhaustive best S, {count:,} titles, {len(entries):,} noisy entries",
        f"{share:.5f} ({(found[similar] != best[similar]).sum()} missed of {similar.sum():,})",
        "" if asked is None else f"≥ {asked}",
        f"exhaustive search: {len(entries) / exhaustive.seconds:,.0f} entries/s",
        None if asked is None else share >= asked,
    )
    for number, noise in enumerate(link_data.NOISE):
        mine = similar & (np.arange(len(entries)) % len(link_data.NOISE) == number)
        note(f"    {noise.__name__.strip('_')}", f"{(found[mine] == best[mine]).mean():.5f} of {mine.sum():,}")
    sets_a, sets_b = grams(entries), grams(titles.take(pa.array(pairs.b)))
    exact = (score_pairs(sets_a, pairs.a, sets_b, np.arange(len(pairs.b))) == pairs.score) & (pairs.score > 0.8)
    exact &= pairs.score <= best[pairs.a]
    row(
        f"    every reported S is eq. 1's, {count:,} titles",
        f"{exact.sum():,} of {len(exact):,}",
        "all",
        "",
        exact.all(),
    )


def warm() -> None:
    """Import and compile what linking needs, so that no section pays for it."""
    compiled.MAX_PYTHON_COMPARISONS = 0  # use the compiled kernels: the following sections link many entries
    titles = pa.array([f"warming up the compiled kernels of number {i} " + "é" * (i % 2) for i in range(64)])
    with tempfile.TemporaryDirectory() as folder:
        link_data.lake_of(_run(Path(folder), 2048), titles, pc.binary_join_element_wise(titles, "x", ""), 1)
        run = _run(Path(folder), 2048)
        for step in _steps(run):
            step()


def speed(made: link_data.TitleCache, count: int, fuzzy: int, repeats: int) -> None:
    raw_titles, raw_entries = made.titles(count), made.fuzzy(made.titles(count), fuzzy)
    seconds = []
    for _ in range(repeats):
        with clock() as ours:
            titles, entries = normalize(raw_titles), normalize(raw_entries)
            with indexed(titles, Search()) as pieces:
                pairs = find_similar(entries, pieces, Search())
        seconds.append(ours.seconds)
    mine = len(entries) / statistics.median(seconds)
    per_entry = (pairs.verified, len(np.unique(pairs.a)))
    note(f"fuzzy path, {count:,} titles, {fuzzy:,} entries, all included", f"{mine:,.0f} entries/s")
    note("    pairs verified, titles linked, per entry", " ".join(f"{n / fuzzy:.2f}" for n in per_entry))
    for name, asked, theirs in (
        (
            "sparse_dot_topn, cosine ≥ 0.816, 2,000 entries, its index not counted",
            300,
            _sparse_dot_topn(entries, titles),
        ),
        ("rapidfuzz extractOne, 20 entries", None, _rapidfuzz(entries, titles)),
        ("datasketch LSH, 20,000 titles, 500 entries, its index not counted", None, _datasketch(entries, titles)),
    ):
        row(
            f"fuzzy path, {count:,} titles, {fuzzy:,} entries, all included: times as fast as its peer",
            f"{mine / theirs:,.0f} × ({mine:,.0f} entries/s)",
            f"≥ {asked} ×" if asked else "",
            f"{name}: {theirs:,.1f} entries/s",
            mine / theirs >= asked if asked else None,
        )


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


def growth(made: link_data.TitleCache, small: int, large: int, fuzzy: int, repeats: int) -> None:
    """Measure the same entries against more titles. The keys of the titles are made once and not counted."""
    entries = normalize(made.fuzzy(made.titles(small), fuzzy))
    search = Search(memory_mb=4096)
    seconds: dict[int, list[float]] = {}
    for count in (small, large):
        seconds[count] = []
        with indexed(normalize(made.titles(count)), search) as pieces:
            for _ in range(repeats):
                with clock() as taken:
                    pairs = find_similar(entries, pieces, search)
                seconds[count].append(taken.seconds / fuzzy)
        what = f"verified pairs an entry, {count:,} titles, {fuzzy:,} entries"
        row(what, f"{pairs.verified / fuzzy:.2f}", "≤ 2", "", pairs.verified <= 2 * fuzzy)
    each = {count: statistics.median(found) for count, found in seconds.items()}
    times = each[large] / each[small]
    row(
        f"time an entry, {large / small:.0f} times the titles", f"{times:.2f} ×", "≤ 2 ×",
        f"{each[small] * 1e6:.1f} µs → {each[large] * 1e6:.1f} µs", times <= 2,
    )  # fmt: skip


def _spec(memory_mb: int) -> ReleaseSpec:
    return ReleaseSpec(name="bench", resources=ResourceRules(memory_mb=memory_mb))


def _run(folder: Path, memory_mb: int) -> Run:
    return Run(_spec(memory_mb), datetime(2023, 1, 1, tzinfo=UTC), open_lake(str(folder / "lake")), folder)


def whole(made: link_data.TitleCache, count: int, scratch: Path, repeats: int) -> None:
    """Measure the stage itself, from tables in a lake to tables in a lake, each task in a new process."""
    raw_titles = made.titles(count)
    fuzzy = made.fuzzy(raw_titles, count // 2)
    rng = np.random.default_rng(5)
    equal = raw_titles.take(pa.array(rng.integers(0, count, 2 * count - len(fuzzy))))
    raw_entries = pa.concat_arrays([equal, fuzzy]).take(pa.array(rng.permutation(2 * count)))
    default = ReleaseSpec(name="bench").resources.memory_mb
    link_data.lake_of(_run(scratch, default), raw_titles, raw_entries, 16)
    stages = [stage_of(scratch, default) for _ in range(repeats)]
    seconds = statistics.median(stage["cpu"] for stage in stages)
    linked = f"{stages[0]['linked']:,.0f} linked; its own recall {stages[0]['recall']}"
    note(f"the whole step, {count:,} titles × {2 * count:,} entries", f"{seconds:.1f} s ({linked})")
    peak = max(stage["peak_mb"] for stage in stages)
    row(f"    peak memory, limit {default:,} MB (the default)", f"{peak:,.0f} MB", "≤ 1,500 MB", "", peak <= 1500)
    small = stage_of(scratch, LIMIT_MB)
    same = small["linked"] == stages[0]["linked"]
    row(
        f"    peak memory, limit {LIMIT_MB} MB, {small['seen_mb']:,.0f} MB of it the interpreter and libraries",
        f"{small['peak_mb']:,.0f} MB ({small['cpu']:.1f} s, {'the same' if same else 'OTHER'} number of links)",
        f"finishes, ≤ {1.5 * LIMIT_MB:,.0f} MB", "", same and small["peak_mb"] <= 1.5 * LIMIT_MB,
    )  # fmt: skip


def _steps(run: Run) -> list[Callable[[], Any]]:
    """Return the tasks of the stage as functions, in order; the last one finishes the stage."""
    stage = LinkStage()
    shards = stage.plan(run)
    return [
        partial(_work_each, stage, run, shards, 0),
        partial(_work_each, stage, run, shards, 1),
        *(partial(LinkStage().work, run, Shard(first), 2) for first in group_tasks(run)),
        lambda: stage.finish(run),
    ]


def _work_each(stage: LinkStage, run: Run, shards: list[Shard], round: int) -> None:
    for shard in shards:
        stage.work(run, shard, round)


def stage_of(folder: Path, memory_mb: int) -> dict[str, Any]:
    """Run the stage, each task in a separate process.

    Return the last task's result, the total CPU seconds and the peak MB."""
    results: list[dict[str, Any]] = []
    for step in range(len(_steps(_run(folder, memory_mb)))):
        results.append(_child("--stage", str(folder), "--memory-mb", str(memory_mb), "--step", str(step)))
    return {
        **results[-1],
        "cpu": sum(result["cpu"] for result in results),
        "peak_mb": max(result["peak_mb"] for result in results),
    }


def _child(*options: str) -> dict[str, Any]:
    """Run this script with these options in a separate process; return the JSON of its last line."""
    out = subprocess.run(
        [sys.executable, "-m", "devtools.bench.link", *options], check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, Any] = json.loads(out.stdout.splitlines()[-1])
    return found


def _memory(what: str) -> float:
    found = re.search(rf"{what}:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) / 1024


def stage_child(folder: Path, memory_mb: int, step: int) -> None:
    run = _run(folder, memory_mb)
    warm()
    seen_mb = _memory("VmRSS")
    begin = time.process_time()
    linked = 0
    found = _steps(run)[step]()
    metrics: dict[str, float] = found if isinstance(found, dict) else {}
    cpu = time.process_time() - begin
    if metrics:
        cited = run.table(LINKS).read(["cited_paper_id"])
        linked = len(cited) - cited["cited_paper_id"].null_count
    measured = {
        "cpu": cpu, "seen_mb": seen_mb, "peak_mb": _memory("VmHWM"),
        "recall": metrics.get("recall"), "linked": linked,
    }  # fmt: skip
    print(json.dumps(measured))


SECTIONS = ("recall", "speed", "whole", "growth", "precision")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--titles", type=int, default=1_000_000)
    options.add_argument("--only", default=",".join(SECTIONS))
    options.add_argument("--repeats", type=int, default=3, help="of what is timed; the median counts")
    options.add_argument("--scratch", type=Path, help="keeps what was made, for the next time")
    options.add_argument("--stage", type=Path, help=argparse.SUPPRESS)
    options.add_argument("--step", type=int, default=0, help=argparse.SUPPRESS)
    options.add_argument("--memory-mb", type=int, default=2048, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.stage:
        stage_child(given.stage, given.memory_mb, given.step)
        return
    if unknown := set(given.only.split(",")) - set(SECTIONS):
        options.error(f"--only {','.join(sorted(unknown))}: known sections are {', '.join(SECTIONS)}")
    with tempfile.TemporaryDirectory() as temporary:
        scratch = given.scratch or Path(temporary)
        scratch.mkdir(exist_ok=True)
        made, count, only = link_data.TitleCache(REAL_DATA, scratch), given.titles, given.only.split(",")
        warm()
        if "whole" in only:
            whole(made, count, scratch, given.repeats)
        if "growth" in only:
            growth(made, count, 5 * count, count // 2, given.repeats)
        if "speed" in only:
            speed(made, count, count // 2, given.repeats)
        if "recall" in only:
            recall(made, count, 22_500, 0.998)
            recall(made, 5 * count, 3_500, None)
        if "precision" in only:
            from devtools.bench import link_precision

            link_precision.report(REAL_DATA)
    sys.exit(0 if TABLE.show() else 1)


if __name__ == "__main__":
    main()
