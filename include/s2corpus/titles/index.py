"""The index of the papers that entries may link to: Parquet files of papers, and distinct titles with sorted MinHash keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.titles.facts import FACTS, IDENTIFIERS
from s2corpus.titles.similarity import Search, TitlesOnDisk, compute_keys, sort_keys

PAPERS = pa.schema(
    [
        *((name, pa.string()) for name in ("paper_id", "title", "journal", *IDENTIFIERS)),
        ("year", pa.int32()),
        ("preprint_dois", pa.list_(pa.string())),
        *FACTS,
    ]
)
_TITLES = pa.schema([("normalized", pa.string())])
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
    if "preprint_dois" not in papers.column_names:
        papers = papers.append_column("preprint_dois", pa.nulls(len(papers), PAPERS.field("preprint_dois").type))
    pq.write_table(papers.select(PAPERS.names).cast(PAPERS), path, **options)


def write_titles(titles: pa.Array, folder: Path, number: int, search: Search) -> list[Path]:
    """Write distinct normalized titles as a piece of the index; return its files.

    The file of keys has, for each band, the keys in ascending order and then their rows (uint32).
    """
    texts, keys = folder / f"titles-{number:05d}", folder / f"keys-{number:05d}"
    with pa.ipc.new_stream(str(texts), _TITLES) as writer:
        writer.write_table(pa.table([titles], schema=_TITLES))
    with keys.open("wb") as file:
        for band_keys in compute_keys(titles, search.bands):
            band = sort_keys(band_keys)
            band.keys.tofile(file)
            band.rows.astype(np.uint32).tofile(file)
    return [keys, texts]
