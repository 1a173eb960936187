"""Measure the similarity search of the link stage on many titles: CPU seconds and peak memory.

    python -m devtools.bench.link_memory --titles 10000000 --memory-mb 2048

The script makes titles from the real titles of REAL_DATA: the first half of one title and the second half of
another one, drawn with a fixed seed. It writes them to an index in pieces, as the link stage does. Then it searches one
batch of entries. The batch has the size that the stage links in one step with this memory. Half of the entries are
titles with a changed letter; the others are titles that no paper has.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from math import ceil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from devtools.bench import link_data
from devtools.real_data import REAL_DATA
from s2corpus.stages.link import BYTES_PER_ENTRY
from s2corpus.stages.link.index import BYTES_PER_TITLE
from s2corpus.titles import normalize
from s2corpus.titles.index import LinkIndex, write_titles
from s2corpus.titles.similarity import Search, find_similar


class Halves:
    """The first and second halves of the real titles."""

    def __init__(self, data: Path) -> None:
        words = [title.split() for title in link_data.real_titles(data)]
        self._heads = pa.array([" ".join(title[: (len(title) + 1) // 2]) for title in words])
        self._tails = pa.array([" ".join(title[len(title) // 2 :]) for title in words])

    def join(self, count: int, seed: int) -> pa.Array:
        """Return distinct normalized titles of `count` pairs of halves."""
        rng = np.random.default_rng(seed)
        heads, tails = (half.take(pa.array(rng.integers(0, len(half), count))) for half in (self._heads, self._tails))
        return normalize(pc.binary_join_element_wise(heads, tails, " ")).unique()


def write_index(halves: Halves, titles: int, folder: Path, memory_mb: int, search: Search) -> LinkIndex:
    """Write the index in the same number of pieces as the stage."""
    pieces = ceil(titles * BYTES_PER_TITLE / (memory_mb << 19))
    for piece in range(pieces):
        write_titles(halves.join(titles // pieces, piece), folder, piece, search)
    return LinkIndex.open(folder, search)


def make_entries(halves: Halves, index: LinkIndex, count: int) -> pa.Array:
    """Return entries: half of them titles of the first piece with a changed letter."""
    known = pc.binary_replace_slice(index.titles[0].texts().slice(0, count // 2).cast(pa.binary()), 5, 6, b"q")
    changed = [text.decode(errors="ignore") for text in known.to_pylist()]
    return pa.concat_arrays([pa.array(changed), halves.join(count - len(known), 1 << 20)]).unique()


def main() -> None:
    """Print the number of titles and pairs, CPU seconds and peak memory."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--titles", type=int, default=10_000_000)
    options.add_argument("--memory-mb", type=int, default=2048)
    given = options.parse_args()
    search, halves = Search(memory_mb=given.memory_mb // 4), Halves(REAL_DATA)
    with tempfile.TemporaryDirectory() as name:
        began = time.process_time()
        index = write_index(halves, given.titles, Path(name), given.memory_mb, search)
        indexed = time.process_time()
        titles = sum(map(len, index.titles))
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{titles:,} titles in {len(index.titles)} pieces: {indexed - began:.0f} CPU s, peak {peak_mb:,.0f} MB",
            flush=True,
        )
        entries = make_entries(halves, index, (given.memory_mb << 18) // BYTES_PER_ENTRY)
        began = time.process_time()
        pairs = find_similar(entries, index.titles, search)
        seconds = time.process_time() - began
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    linked = len(np.unique(pairs.a))
    print(
        f"{len(entries):,} entries: {seconds:.0f} CPU s, peak {peak_mb:,.0f} MB, "
        f"{pairs.verified:,} pairs scored, {linked:,} entries with a similar title"
    )


if __name__ == "__main__":
    main()
