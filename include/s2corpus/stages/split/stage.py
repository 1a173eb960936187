"""Assign every kept document to train or valid by its date; hold duplicates back or list them, as the spec requires."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np
import pyarrow.compute as pc

from s2corpus.pipeline.run import Metrics, Run, Shard, commit_all
from s2corpus.stages.split.similar import similar_texts
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.texts import DOCUMENTS, DUPLICATES, SPLITS
from s2corpus.text import splits
from s2corpus.text.near_duplicates import Candidate, cluster_duplicates, find_repeated_keys

_MAX_SORTED_KEYS = 50_000_000
"""maximum number of duplicate keys sorted in memory: 0.8 GB"""


class SplitStage:
    """The split stage. It reads documents and papers, and writes splits and duplicates."""

    name = "split"

    def plan(self, run: Run, round: int = 0) -> list[Shard]:
        """Return one shard, because duplicates can be in any bucket."""
        return [Shard(0)]

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Write the splits of every bucket, and the clusters of duplicates."""
        similar = similar_texts(run)
        keys = _find_repeated_keys(run).union(*similar)
        documents = (document for bucket in range(run.paper_shards) for document in _read_kept(run, bucket))
        candidates = (document for document in documents if document.text_key in keys or document.title_key in keys)
        members = cluster_duplicates(candidates, similar, hold_back=run.spec.split.near_duplicates == "hold_back")
        for bucket in range(run.paper_shards):
            rows = []
            for document in _read_kept(run, bucket):
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


def _find_repeated_keys(run: Run) -> set[int]:
    """Return the duplicate keys that several documents share. Several passes bound the memory."""
    keys = run.table(DOCUMENTS).committed().rows * 2
    passes = keys // _MAX_SORTED_KEYS + 1
    found: set[int] = set()
    for number in range(passes):
        chunks = []
        for batch in run.table(DOCUMENTS).batches(["text_key", "title_key"], rows=65_536):
            for column in batch.columns:
                values = pc.drop_null(column).to_numpy()
                chunks.append(values[values % passes == number])
        found.update(find_repeated_keys(np.concatenate([*chunks, np.empty(0, np.int64)])).tolist())
    return found


def _read_kept(run: Run, bucket: int) -> Iterator[Candidate]:
    """Yield a bucket's kept documents with the split by date, ordered by set and paper_id.

    Raises:
        ValueError: a kept document has no text_key.
    """
    dates = {paper["paper_id"]: paper["date"] for paper in run.table(PAPERS).rows(["paper_id", "date"], shard=bucket)}
    train_before, valid_until = splits.compute_bounds(run.spec.split, run.as_of)
    own = run.spec.profile == "own" or run.spec.clean.unknown_year == "keep"
    undated = splits.Split.TRAIN if own else splits.Split.UNDATED
    recipe = run.spec.clean.profile == "recipe-2024"
    columns = ["set", "paper_id", "text_key", "title_key"]
    for row in run.table(DOCUMENTS).rows(columns, shard=bucket, where=pc.field("outcome") == "kept"):
        date = dates[row["paper_id"]]
        if recipe and date is not None:
            split = splits.assign_recipe_split(date, train_before)
        else:
            split = splits.assign_split(date, train_before, valid_until, undated=undated)
        if row["text_key"] is None:
            raise ValueError(f"document {row['paper_id']} of {row['set']} is kept and has no text_key")
        yield Candidate(row["set"], row["paper_id"], date, split, row["text_key"], row["title_key"])
