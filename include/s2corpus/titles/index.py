"""The index of the papers that entries may link to: Parquet files of papers, and distinct titles with sorted MinHash keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.facts import FACTS, IDENTIFIERS
from s2corpus.titles.similarity import Search, SortedKeys, compute_keys, sort_keys

PAPERS = pa.schema(
    [*((name, pa.string()) for name in ("paper_id", "title", "journal", *IDENTIFIERS)), ("year", pa.int32()), *FACTS]
)
_TITLES = pa.schema([("normalised", pa.string())])
_ROWS_PER_BATCH = 1 << 16


@dataclass(frozen=True)
class LinkIndex:
    """Locations of the files of an index."""

    papers: tuple[Path, ...]
    titles: tuple[TitlesOnDisk, ...]

    @staticmethod
    def open(folder: Path, search: Search) -> LinkIndex:
        """Open the index in a folder. `search` must be the parameters with which the index was built."""
        papers, titles = (sorted(folder.glob(f"{kind}-*")) for kind in ("papers", "titles"))
        return LinkIndex(tuple(papers), tuple(TitlesOnDisk(path, search.bands) for path in titles))


def write_papers(papers: pa.Table, path: Path) -> None:
    """Write papers with FACTS."""
    options = {"compression": "lz4", "row_group_size": _ROWS_PER_BATCH, "use_dictionary": ["journal"]}
    pq.write_table(papers.select(PAPERS.names).cast(PAPERS), path, **options)


def write_titles(titles: pa.Array, folder: Path, number: int, search: Search) -> list[Path]:
    """Write distinct normalized titles as a piece of the index; return its files.

    The file of keys has, for each band, the keys in ascending order and then their rows (uint32).
    """
    texts, keys = folder / f"titles-{number:05d}", folder / f"keys-{number:05d}"
    with pa.ipc.new_stream(str(texts), _TITLES) as writer:
        writer.write_table(pa.table([titles], schema=_TITLES))
    with keys.open("wb") as file:
        for band_keys in compute_keys(titles, search.bands, search.rows):
            band = sort_keys(band_keys)
            band.keys.tofile(file)
            band.rows.astype(np.uint32).tofile(file)
    return [keys, texts]


class TitlesOnDisk:
    """Distinct normalized titles with their sorted MinHash keys: a piece of the index. Files are memory-mapped, one band at a time."""

    def __init__(self, texts: Path, bands: int) -> None:
        self._texts = texts
        self._keys = texts.with_name(texts.name.replace("titles-", "keys-"))
        self._count = self._keys.stat().st_size // (8 * bands)

    def __len__(self) -> int:
        return self._count

    def keys(self, band: int) -> SortedKeys:
        """Return the keys of one band."""
        if not self._count:
            return SortedKeys(np.empty(0, np.uint32), np.empty(0, np.uint32))
        both = np.memmap(self._keys, np.uint32, "r", 8 * self._count * band, (2, self._count))
        return SortedKeys(both[0], both[1])

    def texts(self) -> pa.Array:
        """Return the titles."""
        with pa.memory_map(str(self._texts)) as file, pa.ipc.open_stream(file) as reader:
            return one_chunk(reader.read_all()["normalised"])
