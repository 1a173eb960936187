"""Split: assign every kept document to train or valid by its date; exclude or list duplicates (SPEC §9).

Candidates have equal keys; `split.sql` finds them on the engine that ENGINE names. Pairs of similar texts are verified by exact Jaccard
index. The n-grams of their texts are stored on disk. A text is identified by the hash of its normalized form. Therefore, the result does
not depend on the number of buckets.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.outcomes import Split
from s2corpus.pipeline.engines import open_engine
from s2corpus.pipeline.run import Metrics, Run, Shard, Stage, commit_all
from s2corpus.storage.engine import make_tables
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.texts import DOCUMENTS, DUPLICATES, SPLITS
from s2corpus.text import minhash, splits
from s2corpus.text.near_duplicates import MIN_JACCARD, Candidate, Member, cluster_duplicates
from s2corpus.titles.arrays import read_only

_TEXTS = 64
"""number of texts in memory at a time"""
_KEYS = ("text_key", "title_key", "minhash")


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
    repeated, candidates = _find_candidates(run)
    similar = _compare_texts(run, candidates)
    keys = repeated.union(*similar)
    documents = (document for bucket in range(run.paper_shards) for document in read_kept(run, bucket))
    chosen = (document for document in documents if document.text_key in keys or document.title_key in keys)
    return cluster_duplicates(chosen, similar, hold_back=run.spec.split.near_duplicates == "hold_back")


def _find_candidates(run: Run) -> tuple[set[int], npt.NDArray[np.int64]]:
    """Return the repeated keys of texts and titles, and the text keys that share a MinHash key, as sorted pairs."""
    table, names = run.table(DOCUMENTS), ("repeated", "shared", "texts", "pairs")
    with open_engine(run) as engine:
        engine.load("documents", run.lake, table.keys(), pa.schema([DOCUMENTS.schema.field(name) for name in _KEYS]))
        make_tables(
            engine, Path(__file__).with_suffix(".sql"), {}, names, ("repeated", "pairs"), most=minhash.MAX_GROUP
        )
        repeated = engine.fetch("SELECT key FROM repeated")["key"].to_pylist()
        pairs = engine.fetch("SELECT a, b FROM pairs ORDER BY a, b")
    return set(repeated), np.stack([pairs["a"].to_numpy(), pairs["b"].to_numpy()], axis=1)


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


def _compare_texts(run: Run, candidates: npt.NDArray[np.int64]) -> dict[tuple[int, int], float]:
    """Return the candidates with a Jaccard index of at least `MIN_JACCARD`, and the index."""
    nodes = np.unique(candidates)
    left, right = (np.searchsorted(nodes, column) for column in candidates.T)
    with tempfile.TemporaryDirectory(prefix="s2corpus-similar-", dir=run.scratch) as folder:
        shingles = Path(folder) / "shingles"
        starts, ends = _write_shingles(run, nodes, shingles)
        values = np.memmap(shingles, np.uint64, "r") if shingles.stat().st_size else np.empty(0, np.uint64)
        index = minhash.compute_jaccards(read_only(values), starts, ends, left, right)
    similar = index >= MIN_JACCARD
    return dict(zip(map(tuple, candidates[similar].tolist()), index[similar].tolist(), strict=True))


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
