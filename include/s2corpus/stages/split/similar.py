"""Find pairs of kept documents with similar texts: candidates by MinHash keys, verified by exact Jaccard index.

The number of passes over the keys depends on `resources.memory_mb`. The n-grams of the candidates' texts are stored
on disk. A text is identified by the hash of its normalized form. Therefore, the result does not depend on the number of buckets.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from s2corpus.pipeline.run import Run
from s2corpus.tables.texts import DOCUMENTS
from s2corpus.text import minhash
from s2corpus.titles.arrays import read_only

_BYTES_PER_KEY = 64
"""bytes of memory for each key while keys are sorted: the key, its text key, the sort order, and copies"""
_TEXTS = 64
"""number of texts in memory at a time"""


def similar_texts(run: Run) -> dict[tuple[int, int], float]:
    """Return pairs of text keys, the smaller first → Jaccard index, for all pairs with at least `split.min_jaccard`."""
    candidates = _candidates(run)
    nodes = np.unique(candidates)
    left, right = (np.searchsorted(nodes, column) for column in candidates.T)
    with tempfile.TemporaryDirectory(prefix="s2corpus-similar-", dir=run.scratch) as folder:
        shingles = Path(folder) / "shingles"
        starts, ends = _write_shingles(run, nodes, shingles)
        values = np.memmap(shingles, np.uint64, "r") if shingles.stat().st_size else np.empty(0, np.uint64)
        index = minhash.compute_jaccards(read_only(values), starts, ends, left, right)
    similar = index >= run.spec.split.min_jaccard
    return dict(zip(map(tuple, candidates[similar].tolist()), index[similar].tolist(), strict=True))


def _candidates(run: Run) -> npt.NDArray[np.int64]:
    """Return the text keys that share a MinHash key, as sorted pairs."""
    table, rules = run.table(DOCUMENTS), run.spec.split
    keys = table.committed().rows * rules.minhash_bands
    passes = keys * _BYTES_PER_KEY // (run.spec.resources.memory_mb << 20) + 1
    found = np.empty((0, 2), np.int64)
    for number in range(passes):
        chunks = [np.empty((2, 0), np.int64)]
        for batch in table.batches(["text_key", "minhash"], where=pc.field("outcome") == "kept", rows=65_536):
            lists = batch["minhash"]
            minhash_keys = lists.flatten().to_numpy()
            text_keys = np.repeat(batch["text_key"].to_numpy(), pc.list_value_length(lists).to_numpy())
            in_pass = minhash_keys % passes == number
            chunks.append(np.stack([minhash_keys[in_pass], text_keys[in_pass]]))
        minhash_keys, text_keys = np.concatenate(chunks, axis=1)
        pairs = minhash.list_candidate_pairs(minhash_keys, text_keys, rules.max_group)
        found = minhash.sort_unique_pairs(np.concatenate([found, pairs]))
    return found


def _write_shingles(
    run: Run, nodes: npt.NDArray[np.int64], path: Path
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Write the sorted n-grams of these texts to a file; return the start and end of each text's n-grams.

    Documents with the same normalized text may differ in white space. The text of the smallest paper_id is used.
    """
    starts, ends = np.zeros(len(nodes), np.int64), np.zeros(len(nodes), np.int64)
    chosen: dict[int, str] = {}
    offset = 0
    wanted = pc.field("text_key").isin(nodes) & (pc.field("outcome") == "kept")
    with path.open("wb") as file:
        if len(nodes) == 0:
            return starts, ends
        columns = ["text_key", "paper_id", "text"]
        for batch in run.table(DOCUMENTS).batches(columns, where=wanted, rows=_TEXTS):
            for key, paper_id, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if chosen.setdefault(key, paper_id) < paper_id:
                    continue
                chosen[key] = paper_id
                shingles = np.unique(minhash.hash_shingles(text, run.spec.split.shingle_words))
                shingles.tofile(file)
                node = np.searchsorted(nodes, key)
                starts[node], ends[node] = offset, offset + len(shingles)
                offset += len(shingles)
    return starts, ends
