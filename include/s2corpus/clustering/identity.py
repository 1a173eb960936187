"""Stable paper ids over releases: new ids, retained ids and aliases (SPEC §4.17, §4.18)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import chain, count

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.tables.papers import ALIASES, CLUSTERS


@dataclass(frozen=True)
class Parent:
    """The tables `clusters` and `aliases` of the parent release."""

    clusters: pa.Table = field(default_factory=CLUSTERS.schema.empty_table)
    aliases: pa.Table = field(default_factory=ALIASES.schema.empty_table)


def new_paper_id(record_id: str) -> str:
    """Return the first 15 hex digits of SHA-256 over the earliest delivered record_id of a cluster (SPEC §4.17)."""
    return hashlib.sha256(record_id.encode()).hexdigest()[:15]


def identify(record_ids: pa.Array, labels: np.ndarray, ready_at: pa.Array, parent: Parent) -> tuple[pa.Table, pa.Table]:
    """Return the tables `clusters` and `aliases` of records (ids ascending) with clusters labeled 0 … n − 1.

    - A cluster without records of the parent gets the id of its earliest delivered record.
    - If several clusters have records of one parent paper, the cluster with the oldest record retains the id (split).
    - If a cluster may retain several ids, it retains the id of the oldest paper; the others become aliases (merge).
    - If all records of a parent paper were removed, it has no alias. An alias of a merged paper points to the new paper.

    The age of a record is the time of its first delivery, also in earlier snapshots. A record without a time is older than all others.
    Ties are broken by record_id.
    """
    clusters = int(labels.max(initial=-1)) + 1
    known = pc.index_in(record_ids, parent.clusters["record_id"].combine_chunks())
    then = parent.clusters["first_ready"].take(known).combine_chunks()
    first_ready = pc.min_element_wise(ready_at.cast(pa.string()), then)
    age = _ages(first_ready)

    papers = parent.clusters["paper_id"].take(known).combine_chunks().dictionary_encode()
    paper_of = pc.fill_null(papers.indices, -1).to_numpy(zero_copy_only=False)
    with_parent = np.flatnonzero(paper_of >= 0)
    # The oldest record of each parent paper, and of these, the one of the oldest paper of each cluster: it donates its id.
    oldest_of_paper = with_parent[_oldest_of_each(paper_of[with_parent], age[with_parent])]
    id_donors = oldest_of_paper[_oldest_of_each(labels[oldest_of_paper], age[oldest_of_paper])]

    parent_ids = papers.dictionary
    ids = np.empty(clusters, object)
    ids[labels[id_donors]] = parent_ids.take(pa.array(paper_of[id_donors])).to_pylist()
    used_ids = set(ids[labels[id_donors]])
    earliest = _oldest_of_each(labels, age)
    without_id = np.setdiff1d(np.arange(clusters), labels[id_donors])
    without_id = without_id[np.argsort(age[earliest[without_id]])]
    first_records = record_ids.take(pa.array(earliest[without_id])).to_pylist()
    for cluster, first_record in zip(without_id, first_records, strict=True):
        ids[cluster] = new_paper_id(first_record)
        if ids[cluster] in used_ids:  # Two hashes begin with the same 60 bits.
            members = np.flatnonzero(labels == cluster)
            records = record_ids.take(pa.array(members[np.argsort(age[members])])).to_pylist()
            further = (new_paper_id(f"{records[0]}#{number}") for number in count(2))
            ids[cluster] = next(id_ for id_ in chain(map(new_paper_id, records), further) if id_ not in used_ids)
        used_ids.add(ids[cluster])
    paper_id = pa.array(ids, pa.string())

    inherited = paper_id.take(pa.array(labels[oldest_of_paper])).to_pylist()
    aliases = dict(zip(parent_ids.take(pa.array(paper_of[oldest_of_paper])).to_pylist(), inherited, strict=True))
    for former, paper in zip(parent.aliases["alias"].to_pylist(), parent.aliases["paper_id"].to_pylist(), strict=True):
        if (target := aliases.get(paper)) is not None:
            aliases.setdefault(former, target)
    alias_pairs = sorted((former, paper) for former, paper in aliases.items() if former not in used_ids)
    papers_of = paper_id.take(pa.array(labels))
    renamed = {"alias": [former for former, _ in alias_pairs], "paper_id": [paper for _, paper in alias_pairs]}
    return (
        pa.table([record_ids, papers_of, first_ready], schema=CLUSTERS.schema),
        pa.table(renamed, schema=ALIASES.schema),
    )


def _ages(first_ready: pa.Array) -> np.ndarray:
    """Return a rank by first delivery, then row (int64): the oldest record has the lowest rank. A record without a time is the oldest."""
    encoded = first_ready.dictionary_encode()
    rank = np.append(np.asarray(pc.rank(encoded.dictionary), np.int64), np.int64(0))
    ranks = rank[pc.fill_null(encoded.indices, len(rank) - 1).to_numpy()]
    ages: np.ndarray = ranks * len(ranks) + np.arange(len(ranks))
    return ages


def _oldest_of_each(group: np.ndarray, age: np.ndarray) -> np.ndarray:
    """Return the row of the oldest record of each group, in the order of groups."""
    order = np.lexsort((age, group))
    return order[np.flatnonzero(np.diff(group[order], prepend=-1))]
