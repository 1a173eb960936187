"""Compare `duplicates.parquet` with the index, the funnel and the texts."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
import pyarrow as pa

from s2corpus.tables.texts import DUPLICATES
from s2corpus.text import minhash
from s2corpus.text.near_duplicates import DuplicateReason
from s2corpus.text.splits import Split

Row = dict[str, Any]
_PUBLISHED = (Split.TRAIN, Split.VALID)


@dataclass(slots=True)
class DuplicatesCheck:
    """The duplicate clusters of a snapshot, and the n-grams of published near duplicates in a temporary file."""

    rules: Mapping[str, Any]
    rows: list[Row] = field(default_factory=list)
    wanted: set[str] = field(default_factory=set)
    """published documents with a recorded similarity to another published document"""
    shingle_offsets: dict[str, tuple[int, int]] = field(default_factory=dict)
    """document → byte offset and number of its n-grams in `spill`"""
    spill: IO[bytes] = field(default_factory=tempfile.TemporaryFile)

    def add(self, table: pa.Table) -> Iterator[str]:
        """Add the rows of the file. Yield a message if its columns are wrong."""
        if not table.schema.equals(DUPLICATES.schema):
            yield f"the columns are {table.schema.names}; expected {DUPLICATES.schema.names} with their types"
            return
        self.rows = table.to_pylist()
        published = {row["paper_id"] for row in self.rows if row["split"] in _PUBLISHED}
        for row in self.rows:
            if row["reason"] == DuplicateReason.WORDS and {row["paper_id"], row["duplicate_of"]} <= published:
                self.wanted |= {row["paper_id"], row["duplicate_of"]}

    def add_document(self, id_: str, text: str) -> None:
        """Store the n-grams of a document if its similarity must be checked."""
        if id_ in self.wanted:
            shingles = np.unique(minhash.hash_shingles(text, self.rules["split.shingle_words"]))
            self.shingle_offsets[id_] = (self.spill.tell(), len(shingles))
            self.spill.write(shingles.tobytes())

    def find_faults(self, splits: Mapping[str, tuple[str, str]], stats: Mapping[str, Any]) -> Iterator[str]:
        """Yield contradictions in the clusters, and with the index and the statistics.

        Call this after all documents were added. `splits` maps each document of the index to its set and split.
        """
        clusters: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            clusters[row["cluster"]].append(row)
            indexed = splits.get(row["paper_id"])
            recorded = (row["set"], row["split"]) if row["split"] in _PUBLISHED else None
            if indexed != recorded:
                yield f"document {row['paper_id']} is {row['split']} of {row['set']}; the index has {indexed}"
            yield from self._check_row(row)
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

    def _check_row(self, row: Row) -> Iterator[str]:
        """Yield contradictions between the columns of one row, and a wrong similarity."""
        split, jaccard = row["split"], row["jaccard"]
        if row["reason"] == DuplicateReason.TEXT:
            is_valid = split == Split.DUPLICATE and jaccard == 1
        elif row["reason"] == DuplicateReason.TITLE:
            is_valid = split == Split.NEAR_DUPLICATE and jaccard is None
        elif row["reason"] == DuplicateReason.WORDS:
            is_publishable = self.rules["split.near_duplicates"] == "publish"
            is_valid = split == Split.NEAR_DUPLICATE or (is_publishable and split in _PUBLISHED)
            is_valid &= jaccard is not None and self.rules["split.min_jaccard"] <= jaccard <= 1
        else:
            is_valid = row["reason"] is None and split in _PUBLISHED and jaccard is row["duplicate_of"] is None
        if not is_valid:
            yield f"document {row['paper_id']}: split {split} contradicts reason {row['reason']} or similarity {jaccard}"
        if {row["paper_id"], row["duplicate_of"]} <= self.shingle_offsets.keys() and row[
            "reason"
        ] == DuplicateReason.WORDS:
            found = minhash.compute_jaccard(self._shingles(row["paper_id"]), self._shingles(row["duplicate_of"]))
            if abs(found - jaccard) > 1e-9:
                yield f"documents {row['paper_id']} and {row['duplicate_of']} have the Jaccard index {found}; the row has {jaccard}"

    def _shingles(self, id_: str) -> minhash.Hashes:
        start, count = self.shingle_offsets[id_]
        self.spill.seek(start)
        return np.frombuffer(self.spill.read(8 * count), np.uint64)

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
