"""What `duplicates.parquet` says, held against index, funnel and texts."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
import pyarrow as pa

from s2corpus.tables import DUPLICATES
from s2corpus.text import minhash
from s2corpus.text.near_duplicates import Reason
from s2corpus.text.splits import Split

Row = dict[str, Any]
_PUBLISHED = (Split.TRAIN, Split.VALID)


@dataclass(slots=True)
class Repeats:
    """The clusters, and the n-grams of those texts whose similarity they state; these lie in a temporary file."""

    rules: Mapping[str, Any]
    rows: list[Row] = field(default_factory=list)
    wanted: set[str] = field(default_factory=set)
    """published documents whose similarity to another published one is stated"""
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    """document → first byte and number of its n-grams"""
    spill: IO[bytes] = field(default_factory=tempfile.TemporaryFile)

    def add(self, table: pa.Table) -> Iterator[str]:
        """Take the file's rows; yield what is wrong with its columns."""
        if not table.schema.equals(DUPLICATES.schema):
            yield f"its columns are {table.schema.names}; expected {DUPLICATES.schema.names} with their types"
            return
        self.rows = table.to_pylist()
        published = {row["paper_id"] for row in self.rows if row["split"] in _PUBLISHED}
        for row in self.rows:
            if row["reason"] == Reason.WORDS and {row["paper_id"], row["duplicate_of"]} <= published:
                self.wanted |= {row["paper_id"], row["duplicate_of"]}

    def document(self, id_: str, text: str) -> None:
        """Take a document's text."""
        if id_ in self.wanted:
            shingles = np.unique(minhash.shingles(text, self.rules["split.shingle_words"]))
            self.places[id_] = (self.spill.tell(), len(shingles))
            self.spill.write(shingles.tobytes())

    def faults(self, placed: Mapping[str, tuple[str, str]], stats: Mapping[str, Any]) -> Iterator[str]:
        """What contradicts the index (document → set and split), the statistics, or itself; once all documents were taken."""
        clusters: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            clusters[row["cluster"]].append(row)
            published = placed.get(row["paper_id"])
            said = (row["set"], row["split"]) if row["split"] in _PUBLISHED else None
            if published != said:
                yield f"document {row['paper_id']} is {row['split']} of {row['set']} there; the index says {published}"
            yield from self._form(row)
        if len({row["paper_id"] for row in self.rows}) < len(self.rows):
            yield "a document is there twice"
        for cluster, members in clusters.items():
            ids = {row["paper_id"] for row in members}
            first = [row for row in members if row["reason"] is None]
            if len(members) < 2 or [row["paper_id"] for row in first] != [cluster]:
                yield f"cluster {cluster} has {len(members)} documents, of which {len(first)} repeat no other"
            if len({row["split"] for row in members if row["split"] in _PUBLISHED}) > 1:
                yield f"cluster {cluster} has documents in train and in valid"
            for row in members:
                if row["reason"] is not None and row["duplicate_of"] not in ids - {row["paper_id"]}:
                    yield f"document {row['paper_id']} repeats {row['duplicate_of']}, which is not in its cluster"
        yield from self._counts(stats)

    def _form(self, row: Row) -> Iterator[str]:
        """What of a row does not go together."""
        held, jaccard = row["split"], row["jaccard"]
        if row["reason"] == Reason.TEXT:
            right = held == Split.DUPLICATE and jaccard == 1
        elif row["reason"] == Reason.TITLE:
            right = held == Split.NEAR_DUPLICATE and jaccard is None
        elif row["reason"] == Reason.WORDS:
            may_stay = self.rules["split.near_duplicates"] == "publish"
            right = held == Split.NEAR_DUPLICATE or (may_stay and held in _PUBLISHED)
            right &= jaccard is not None and self.rules["split.min_jaccard"] <= jaccard <= 1
        else:
            right = row["reason"] is None and held in _PUBLISHED and jaccard is row["duplicate_of"] is None
        if not right:
            yield f"document {row['paper_id']} is {held} for its {row['reason']} with a similarity of {jaccard}"
        if {row["paper_id"], row["duplicate_of"]} <= self.places.keys() and row["reason"] == Reason.WORDS:
            found = minhash.jaccard(self._shingles(row["paper_id"]), self._shingles(row["duplicate_of"]))
            if abs(found - jaccard) > 1e-9:
                yield f"documents {row['paper_id']} and {row['duplicate_of']} have a Jaccard index of {found}, not {jaccard}"

    def _shingles(self, id_: str) -> minhash.Hashes:
        start, count = self.places[id_]
        self.spill.seek(start)
        return np.frombuffer(self.spill.read(8 * count), np.uint64)

    def _counts(self, stats: Mapping[str, Any]) -> Iterator[str]:
        said = stats["metrics"].get("split", {}).get("rows.duplicates", 0)
        if said != len(self.rows):
            yield f"it has {len(self.rows)} rows, the statistics {said:.0f}"
        held = Counter((f"split {row['set']}", row["split"]) for row in self.rows if row["split"] not in _PUBLISHED)
        funnel = {(row["stage"], row["outcome"]): row["count"] for row in stats["funnel"]}
        for at in sorted({*held, *(at for at in funnel if at[1] in (Split.DUPLICATE, Split.NEAR_DUPLICATE))}):
            if held[at] != funnel.get(at, 0):
                yield f"it has {held[at]} documents of {at[0]} that are {at[1]}, the funnel {funnel.get(at, 0)}"
