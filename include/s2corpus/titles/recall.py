"""How good links are, measured on a sample: recall against the search without fail, precision against identifiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.titles.arrays import text_of
from s2corpus.titles.buckets import hash_strings
from s2corpus.titles.facts import IDENTIFIERS
from s2corpus.titles.index import LinkIndex
from s2corpus.titles.linking import Links, Reason, link, read_titles
from s2corpus.titles.similarity import Search, find_best_scores

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class Recall:
    """Counts behind recall; they add up over parts."""

    sampled: int = 0
    """titles compared with every paper's"""
    similar: int = 0
    """of them: with some S above the threshold"""
    found: int = 0
    """of those: whose highest S the link has too"""


@dataclass(frozen=True, slots=True)
class Withheld:
    """Counts behind precision and recall where identifiers say the truth; see `pipeline.gold`."""

    known: int = 0
    """entries that an identifier links"""
    found: int = 0
    """of them: linked to the same paper by title alone"""
    said: int = 0
    """links by title alone of which identifiers say whether they are right"""
    right: int = 0
    tried: int = 0
    """of `known`: linked by title alone"""
    agreed: int = 0
    """of them: to the same paper, or one of its title"""


def measure(links: Links, index: LinkIndex, search: Search, sample: int) -> Recall:
    """Measure the recall of the similarity search on at most `sample` titles."""
    titles = _sampled(links.searched, sample)
    best = find_best_scores(links.searched.take(titles), index.titles, search.threshold)
    reported = np.zeros(len(links.searched))
    reported[links.pairs.a[::-1]] = links.pairs.score[::-1]  # a title's best pair is its first
    similar = best > 0.0
    found = similar & (reported[titles] == best)
    return Recall(len(titles), int(similar.sum()), int(found.sum()))


def withheld(
    connection: DuckDBPyConnection,
    entries: pa.Table,
    index: LinkIndex,
    search: Search,
    sample: int,
    is_preprint: Callable[[str], bool],
    dois_of: Callable[[pa.Array], Mapping[str, str | None]],
) -> Withheld:
    """Link at most `sample` entries that have a title and an identifier, with their identifiers and without.

    Known are those that an identifier links. Without it, a link is right if it is the same, and wrong if it is another, or if entry
    and paper have DOIs that differ and are not preprints'. `dois_of` gives the DOIs of papers by their ids.
    """
    named = [pc.is_valid(entries[name]) for name in IDENTIFIERS]
    entries = entries.filter(reduce(pc.or_, named))
    entries = entries.take(_sampled(entries["title"], sample))
    if not len(entries):
        return Withheld()
    rows = link(connection, entries, index, search).rows
    by_id = np.equal(rows["reason"].to_numpy(zero_copy_only=False), Reason.ID.value)
    bare = entries
    for name in IDENTIFIERS:
        bare = bare.set_column(bare.column_names.index(name), name, pa.nulls(len(bare), pa.string()))
    again = link(connection, bare, index, search).rows["paper_id"].combine_chunks()
    there = again.is_valid().to_numpy(zero_copy_only=False)
    pairs = [ids.filter(pa.array(by_id & there)) for ids in (again, rows["paper_id"].combine_chunks())]
    titles = read_titles(connection, index, pa.concat_arrays(pairs))
    title_again, title_known = (titles["normalised"].take(pc.index_in(ids, titles["paper_id"])) for ids in pairs)
    right = int(np.sum(pc.equal(*pairs).to_numpy(zero_copy_only=False)))
    rest = pa.array(there & ~by_id)
    ids = again.filter(rest)
    dois = dois_of(ids)
    cited = zip(entries["doi"].filter(rest).to_pylist(), (dois.get(id_) for id_ in ids.to_pylist()), strict=True)
    others = sum(all(doi and not is_preprint(doi) for doi in two) for two in cited)
    return Withheld(
        known=int(by_id.sum()), found=right, said=len(pairs[0]) + others, right=right,
        tried=len(pairs[0]), agreed=pc.sum(pc.equal(title_again, title_known)).as_py() or 0,
    )  # fmt: skip


def _sampled(titles: pa.Array | pa.ChunkedArray, sample: int) -> pa.Array:
    """Rows of the titles whose hashes are the smallest: the same ones every time, whatever the order."""
    hashes = hash_strings(*text_of(titles))
    rows = np.flatnonzero(hashes)
    if len(rows) > sample:  # those beyond the last of the sample need no order
        rows = rows[hashes[rows] <= np.partition(hashes[rows], sample)[sample]]
    return pa.array(np.sort(rows[np.argsort(hashes[rows], kind="stable")[:sample]]))
