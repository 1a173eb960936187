"""Compare `duplicates.parquet` with the index, the funnel and the texts, and find similar texts across train and valid (SPEC §9.7)."""

from __future__ import annotations

import tempfile
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from s2corpus.outcomes import Split
from s2corpus.tables.texts import DUPLICATES
from s2corpus.text import minhash
from s2corpus.text.near_duplicates import MIN_JACCARD, DuplicateReason

Row = dict[str, Any]
Pair = tuple[str, str]
_PUBLISHED = (Split.TRAIN.value, Split.VALID.value)


@dataclass(slots=True)
class SimilarityCheck:
    """The duplicate clusters of a snapshot, and the MinHash keys of all texts. Texts of candidate pairs are read a second time."""

    rules: Mapping[str, Any]
    rows: list[Row] = field(default_factory=list)
    ids: dict[str, list[str]] = field(default_factory=lambda: {split: [] for split in _PUBLISHED})
    keys: dict[str, array[int]] = field(default_factory=lambda: {split: array("q") for split in _PUBLISHED})

    @property
    def least(self) -> float:
        """Return the smallest index of similar texts. Releases of earlier versions could set it."""
        return float(self.rules.get("split.min_jaccard", MIN_JACCARD))

    def add_duplicates(self, table: pa.Table) -> Iterator[str]:
        """Add the rows of `duplicates.parquet`. Yield a message if its columns are wrong."""
        if table.schema.equals(DUPLICATES.schema):
            self.rows = table.to_pylist()
        else:
            yield f"the columns are {table.schema.names}; expected {DUPLICATES.schema.names} with their types"

    def add_document(self, id_: str, split: str, text: str) -> None:
        """Store the MinHash keys of a text."""
        found = minhash.compute_keys(minhash.hash_shingles(text))
        if len(found):
            self.ids[split].append(id_)
            self.keys[split].frombytes(found.tobytes())

    def find_faults(
        self,
        splits: Mapping[str, tuple[str, str]],
        stats: Mapping[str, Any],
        read_texts: Callable[[Iterable[str]], Iterator[tuple[str, str]]],
    ) -> Iterator[str]:
        """Yield contradictions in the clusters and with the index, the statistics and the texts.

        Call this after all documents were added. `splits` maps each document of the index to its set and split. `read_texts` yields
        (document, text) for the given documents.
        """
        clusters: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            clusters[row["cluster"]].append(row)
            indexed = splits.get(row["paper_id"])
            recorded = (row["set"], row["split"]) if row["split"] in _PUBLISHED else None
            if indexed != recorded:
                yield f"document {row['paper_id']} is {row['split']} of {row['set']}; the index has {indexed}"
            if not self._is_valid(row):
                yield (
                    f"document {row['paper_id']}: split {row['split']} contradicts reason {row['reason']} "
                    f"or similarity {row['jaccard']}"
                )
        if len({row["paper_id"] for row in self.rows}) < len(self.rows):
            yield "a document occurs twice"
        for cluster, members in clusters.items():
            ids = {row["paper_id"] for row in members}
            originals = [row for row in members if row["reason"] is None]
            if len(members) < 2 or [row["paper_id"] for row in originals] != [cluster]:
                yield f"cluster {cluster} has {len(members)} documents, {len(originals)} of them originals; expected 2 or more, 1 original"
            if len({row["split"] for row in members if row["split"] in _PUBLISHED}) > 1:
                yield f"cluster {cluster} has documents in both train and valid"
            for row in members:
                if row["reason"] is not None and row["duplicate_of"] not in ids - {row["paper_id"]}:
                    yield f"document {row['paper_id']} duplicates {row['duplicate_of']}, which is not in its cluster"
        yield from self._compare_counts(stats)
        yield from self._compare_texts(read_texts)

    def _is_valid(self, row: Row) -> bool:
        """Return whether the columns of a row agree with each other."""
        split, jaccard = row["split"], row["jaccard"]
        if row["reason"] == DuplicateReason.TEXT:
            return bool(split == Split.DUPLICATE and jaccard == 1)
        if row["reason"] == DuplicateReason.TITLE:
            return split == Split.NEAR_DUPLICATE and jaccard is None
        if row["reason"] == DuplicateReason.WORDS:
            is_publishable = self.rules["split.near_duplicates"] == "publish" and split in _PUBLISHED
            is_similar = jaccard is not None and self.least <= jaccard <= 1
            return bool(is_similar and (split == Split.NEAR_DUPLICATE or is_publishable))
        return row["reason"] is None and split in _PUBLISHED and jaccard is row["duplicate_of"] is None

    def _compare_counts(self, stats: Mapping[str, Any]) -> Iterator[str]:
        """Yield differences between the rows and the counts of the statistics and the funnel."""
        count = stats["metrics"].get("split", {}).get("rows.duplicates", 0)
        if count != len(self.rows):
            yield f"the file has {len(self.rows)} rows; stats.json has {count:.0f}"
        excluded = Counter((f"split {row['set']}", row["split"]) for row in self.rows if row["split"] not in _PUBLISHED)
        funnel = {(row["stage"], row["outcome"]): row["count"] for row in stats["funnel"]}
        for key in sorted({*excluded, *(key for key in funnel if key[1] in (Split.DUPLICATE, Split.NEAR_DUPLICATE))}):
            if excluded[key] != funnel.get(key, 0):
                yield f"the file has {excluded[key]} documents of {key[0]} with outcome {key[1]}; the funnel has {funnel.get(key, 0)}"

    def _compare_texts(self, read_texts: Callable[[Iterable[str]], Iterator[tuple[str, str]]]) -> Iterator[str]:
        """Yield wrong similarities of published duplicates, and similar documents across train and valid."""
        published = {row["paper_id"] for row in self.rows if row["split"] in _PUBLISHED}
        recorded: dict[Pair, float] = {
            (row["paper_id"], row["duplicate_of"]): row["jaccard"]
            for row in self.rows
            if row["jaccard"] is not None and row["reason"] == DuplicateReason.WORDS
            if {row["paper_id"], row["duplicate_of"]} <= published
        }
        crossing = self._find_candidates()
        pairs = [*recorded, *crossing]
        wanted = {id_ for pair in pairs for id_ in pair}
        places: dict[str, tuple[int, int]] = {}
        with tempfile.TemporaryFile() as spill:  # The n-grams of all candidates need more memory than a machine has.
            for id_, text in read_texts(wanted) if wanted else ():
                shingles = np.unique(minhash.hash_shingles(text))
                places[id_] = spill.tell(), len(shingles)
                spill.write(shingles.tobytes())

            def read_shingles(id_: str) -> minhash.Hashes:
                start, count = places[id_]
                spill.seek(start)
                return np.frombuffer(spill.read(8 * count), np.uint64)

            for pair in pairs:
                if not places.keys() >= set(pair):
                    continue
                found = minhash.compute_jaccard(*map(read_shingles, pair))
                if pair in recorded and abs(found - recorded[pair]) > 1e-9:
                    yield f"documents {pair[0]} and {pair[1]} have the Jaccard index {found}; the row has {recorded[pair]}"
                elif pair not in recorded and found >= self.least:
                    yield f"documents {pair[0]} (train) and {pair[1]} (valid) are near duplicates: their Jaccard index is {found:.3f}"

    def _find_candidates(self) -> list[Pair]:
        """Return pairs of a train document and a valid document that share a MinHash key; none if the rules ignore similar texts."""
        if self.rules["split.near_duplicates"] == "ignore":
            return []
        keys = [np.frombuffer(self.keys[split], np.int64) for split in _PUBLISHED]
        nodes = [np.repeat(np.arange(len(self.ids[split])), minhash.BANDS) for split in _PUBLISHED]
        shared = np.intersect1d(keys[0], keys[1])
        is_shared = [np.isin(keys_of_split, shared) for keys_of_split in keys]
        train, valid = (self.ids[split] for split in _PUBLISHED)
        pairs = minhash.list_candidate_pairs(
            np.concatenate([keys[0][is_shared[0]], keys[1][is_shared[1]]]),
            np.concatenate([nodes[0][is_shared[0]], nodes[1][is_shared[1]] + len(train)]),
        )
        return [(train[a], valid[b - len(train)]) for a, b in pairs.tolist() if a < len(train) <= b]
