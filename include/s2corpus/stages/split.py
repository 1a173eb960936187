"""Split: every kept document goes to train or valid, or is held back (SEMANTICS: Split)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc

from s2corpus.pipeline.run import Metrics, Run, Shard, commit_all
from s2corpus.snapshot.rows import tally
from s2corpus.tables import DOCUMENTS, PAPERS, SPLITS
from s2corpus.text import splits
from s2corpus.text.near_duplicates import Candidate, later_duplicates, repeated

_KEYS_AT_A_TIME = 50_000_000
"""Duplicate keys sorted in memory at once: 0.8 GB."""


class Split:
    """documents, papers → splits: by date, then the later duplicates of train texts are held back."""

    name = "split"
    reads = (DOCUMENTS, PAPERS)
    writes = (SPLITS,)

    def plan(self, run: Run) -> list[Shard]:
        """One shard: duplicates lie anywhere. It reads keys and dates only."""
        return [Shard(0)]

    def work(self, run: Run, shard: Shard) -> None:
        """Write the splits of every bucket."""
        duplicate_keys = _repeated_keys(run)
        candidates = (
            Candidate(set_, paper_id, date, split, keys)
            for bucket in range(run.paper_shards)
            for set_, paper_id, date, split, keys in _kept(run, bucket)
            if duplicate_keys.intersection(keys)
        )
        duplicates = later_duplicates(candidates)
        for bucket in range(run.paper_shards):
            rows = []
            for set_, paper_id, date, split, _ in _kept(run, bucket):
                duplicate = duplicates.get((set_, paper_id))
                rows.append(
                    {
                        "set": set_,
                        "paper_id": paper_id,
                        "split": splits.Split.NEAR_DUPLICATE if duplicate else split,
                        "reason": duplicate or date,
                    }
                )
            run.table(SPLITS).write(bucket, rows)

    def finish(self, run: Run) -> Metrics:
        """Commit; documents are counted per split."""
        metrics = commit_all(run, self.writes, run.paper_shards)
        counts = sorted(tally(run.table(SPLITS), ["set", "split"]).items())
        return metrics | {f"{set_}.{split}": float(n) for (set_, split), n in counts}


def _repeated_keys(run: Run) -> set[int]:
    """Duplicate keys that more than one document has, found in as many passes as memory asks for."""
    keys = run.table(DOCUMENTS).committed().rows * 2
    passes = keys // _KEYS_AT_A_TIME + 1
    found: set[int] = set()
    for number in range(passes):
        chunks = []
        for batch in run.table(DOCUMENTS).batches(["text_key", "title_key"], rows=65_536):
            for column in batch.columns:
                values = pc.drop_null(column).to_numpy()
                chunks.append(values[values % passes == number])
        found.update(repeated(np.concatenate([*chunks, np.empty(0, np.int64)])).tolist())
    return found


def _kept(run: Run, bucket: int) -> Iterator[tuple[str, str, str | None, str, tuple[int, ...]]]:
    """(set, paper_id, date, split by date, duplicate keys) of a bucket's kept documents, by set and paper_id."""
    dates = {paper["paper_id"]: paper["date"] for paper in run.table(PAPERS).rows(["paper_id", "date"], shard=bucket)}
    train_before, valid_until = splits.bounds(run.spec.split, run.as_of)
    own = run.spec.profile == "own" or run.spec.clean.unknown_year == "keep"
    undated = splits.Split.TRAIN if own else splits.Split.UNDATED
    recipe = run.spec.clean.profile == "recipe-2024"
    columns = ["set", "paper_id", "text_key", "title_key"]
    for row in run.table(DOCUMENTS).rows(columns, shard=bucket, where=pc.field("outcome") == "kept"):
        date = dates[row["paper_id"]]
        if recipe and date is not None:
            split = splits.recipe_split(date, train_before)
        else:
            split = splits.split_by_date(date, train_before, valid_until, undated=undated)
        keys = tuple(key for key in (row["text_key"], row["title_key"]) if key is not None)
        yield row["set"], row["paper_id"], date, split, keys
