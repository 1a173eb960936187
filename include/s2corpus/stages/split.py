"""Split: assign every kept document to train or valid by its date; exclude or list duplicates (SPEC §9).

Pairs of similar texts are candidates by MinHash keys, verified by exact Jaccard index. The number of passes over the keys depends on
`resources.memory_mb`. The n-grams of the candidates' texts are stored on disk. A text is identified by the hash of its normalized form.
Therefore, the result does not depend on the number of buckets.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from s2corpus.outcomes import Split
from s2corpus.pipeline.run import Metrics, Run, Shard, Stage, commit_all
from s2corpus.storage.duck import duckdb_connection
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.texts import DOCUMENTS, DUPLICATES, SPLITS
from s2corpus.text import minhash, splits
from s2corpus.text.near_duplicates import Candidate, Member, cluster_duplicates
from s2corpus.titles.arrays import read_only

_BYTES_PER_KEY = 64
"""bytes of memory for each key while keys are sorted: the key, its text key, the sort order, and copies"""
_TEXTS = 64
"""number of texts in memory at a time"""
_REPEATED_KEYS = """
SELECT key FROM (SELECT text_key AS key FROM documents UNION ALL SELECT title_key FROM documents)
WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1
"""


class SplitStage(Stage):
    """The split stage. It reads documents and papers, and writes splits and duplicates in one shard: duplicates can be in any bucket."""

    name = "split"

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Write the splits of every bucket, and the clusters of duplicates."""
        members = {} if run.spec.split.near_duplicates == "ignore" else _find_duplicates(run)
        for bucket in range(run.paper_shards):
            rows = []
            for document in read_kept(run, bucket):
                split, reason = document.split, document.created
                member = members.get((document.set, document.paper_id))
                if member and member.split != split:  # held back as a duplicate
                    split, reason = member.split, member.duplicate_of
                rows.append({"set": document.set, "paper_id": document.paper_id, "split": split, "reason": reason})
            run.table(SPLITS).write(bucket, rows)
        by_cluster = sorted(members.items(), key=lambda item: (item[1].cluster, item[0]))
        duplicates = [{"set": set_, "paper_id": id_, **asdict(member)} for (set_, id_), member in by_cluster]
        run.table(DUPLICATES).write(0, duplicates)

    def finish(self, run: Run) -> Metrics:
        """Commit the tables; return metrics with the number of documents in each split."""
        metrics = commit_all(run, (SPLITS,), run.paper_shards) | commit_all(run, (DUPLICATES,), 1)
        counts = sorted(run.table(SPLITS).counts("set", "split").items())
        return metrics | {f"{set_}.{split}": float(n) for (set_, split), n in counts}


def _find_duplicates(run: Run) -> dict[tuple[str, str], Member]:
    similar = _find_similar_texts(run)
    keys = _find_repeated_keys(run).union(*similar)
    documents = (document for bucket in range(run.paper_shards) for document in read_kept(run, bucket))
    candidates = (document for document in documents if document.text_key in keys or document.title_key in keys)
    return cluster_duplicates(candidates, similar, hold_back=run.spec.split.near_duplicates == "hold_back")


def _find_repeated_keys(run: Run) -> set[int]:
    with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=run.scratch) as connection:
        run.table(DOCUMENTS).view(connection)
        return {key for (key,) in connection.execute(_REPEATED_KEYS).fetchall()}


def read_kept(run: Run, bucket: int) -> Iterator[Candidate]:
    """Yield a bucket's kept documents with the split by date, ordered by set and paper_id.

    Raises:
        ValueError: a document has no text_key.
    """
    dates = {paper["paper_id"]: paper["date"] for paper in run.table(PAPERS).rows(["paper_id", "date"], shard=bucket)}
    train_before, valid_until = splits.compute_bounds(run.spec.split, run.as_of)
    own = run.spec.profile == "own" or run.spec.clean.unknown_year == "keep"
    undated = Split.TRAIN if own else Split.UNDATED
    by_first_day = run.spec.split.imprecise_dates == "first_day"
    recipe = run.spec.clean.profile == "recipe-2024"
    columns = ["set", "paper_id", "text_key", "title_key"]
    for row in run.table(DOCUMENTS).rows(columns, shard=bucket, where=pc.field("outcome") == "kept"):
        date = dates[row["paper_id"]]
        if recipe and date is not None:
            split = splits.assign_recipe_split(date, train_before)
        else:
            split = splits.assign_split(date, train_before, valid_until, undated=undated, by_first_day=by_first_day)
        if row["text_key"] is None:
            raise ValueError(f"document {row['paper_id']} of {row['set']} has no text_key")
        yield Candidate(row["set"], row["paper_id"], date, split, row["text_key"], row["title_key"])


def _find_similar_texts(run: Run) -> dict[tuple[int, int], float]:
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
    table = run.table(DOCUMENTS)
    keys = table.committed().rows * minhash.BANDS
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
        pairs = minhash.list_candidate_pairs(minhash_keys, text_keys)
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
                shingles = np.unique(minhash.hash_shingles(text))
                shingles.tofile(file)
                node = np.searchsorted(nodes, key)
                starts[node], ends[node] = offset, offset + len(shingles)
                offset += len(shingles)
    return starts, ends
