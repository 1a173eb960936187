"""Measure links on a sample: recall against an exhaustive search, and precision against identifiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.outcomes import LinkReason
from s2corpus.titles.arrays import hash_strings, text_of
from s2corpus.titles.facts import IDENTIFIERS
from s2corpus.titles.index import LinkIndex
from s2corpus.titles.linking import Links, link, read_titles
from s2corpus.titles.similarity import Search, find_best_scores

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def measure(links: Links, index: LinkIndex, search: Search, sample: int) -> dict[str, int]:
    """Measure the recall of the similarity search on at most `sample` titles. The counts of parts can be added:

    - `sampled`: titles compared with the titles of all papers;
    - `similar`: sampled titles with an S above the threshold;
    - `found`: similar titles for which the search found the highest S.
    """
    titles = _draw_sample(links.searched, sample)
    best = find_best_scores(links.searched.take(titles), index.titles, search.threshold)
    reported = np.zeros(len(links.searched))
    reported[links.pairs.a[::-1]] = links.pairs.score[::-1]  # The first pair of a title is its best one.
    similar = best > 0.0
    found = similar & (reported[titles] == best)
    return {"sampled": len(titles), "similar": int(similar.sum()), "found": int(found.sum())}


def measure_title_links(
    connection: DuckDBPyConnection,
    entries: pa.Table,
    index: LinkIndex,
    search: Search,
    sample: int,
    is_preprint: Callable[[str], bool],
    published_dois: Callable[[pa.Array], Mapping[str, str]],
) -> dict[str, int]:
    """Link at most `sample` entries that have a title and an identifier, with their identifiers and without; return counts.

    - `known`: entries with a link by identifier, which is the truth;
    - `tried`: known entries with a link by title;
    - `right`: tried entries with a link to the same paper;
    - `agreed`: tried entries with a link to the same paper, or to one with an equal title;
    - `predicted`: tried entries, and wrong links of other entries: the entry's published DOI belongs to no paper but the linked paper has
      one.

    `published_dois` returns the DOIs of papers by their ids, without DOIs of preprints.
    """
    named = [pc.is_valid(entries[name]) for name in IDENTIFIERS]
    entries = entries.filter(reduce(pc.or_, named))
    entries = entries.take(_draw_sample(entries["title"], sample))
    if not len(entries):
        return dict.fromkeys(("known", "right", "predicted", "tried", "agreed"), 0)
    rows = link(connection, entries, index, replace(search, by_title=False)).rows
    by_id = np.equal(rows["reason"].to_numpy(zero_copy_only=False), LinkReason.ID.value)
    without_ids = entries
    for name in IDENTIFIERS:
        nulls = pa.nulls(len(entries), pa.string())
        without_ids = without_ids.set_column(without_ids.column_names.index(name), name, nulls)
    relinked = link(connection, without_ids, index, search).rows["paper_id"].combine_chunks()
    is_linked = relinked.is_valid().to_numpy(zero_copy_only=False)
    pairs = [ids.filter(pa.array(by_id & is_linked)) for ids in (relinked, rows["paper_id"].combine_chunks())]
    titles = read_titles(connection, index, pa.concat_arrays(pairs))
    title_again, title_known = (titles["normalized"].take(pc.index_in(ids, titles["paper_id"])) for ids in pairs)
    right = int(np.sum(pc.equal(*pairs).to_numpy(zero_copy_only=False)))
    rest = pa.array(is_linked & ~by_id)
    ids = relinked.filter(rest)
    dois = published_dois(ids)
    cited = zip(entries["doi"].filter(rest).to_pylist(), (dois.get(id_) for id_ in ids.to_pylist()), strict=True)
    wrong = sum(bool(cited_doi and doi and not is_preprint(cited_doi)) for cited_doi, doi in cited)
    agreed = pc.sum(pc.equal(title_again, title_known)).as_py() or 0
    tried = len(pairs[0])
    return {"known": int(by_id.sum()), "right": right, "predicted": tried + wrong, "tried": tried, "agreed": agreed}


def _draw_sample(titles: pa.Array | pa.ChunkedArray, sample: int) -> pa.Array:
    """Return the rows of the titles with the smallest hashes. The sample does not depend on the order of titles."""
    hashes = hash_strings(*text_of(titles))
    rows = np.flatnonzero(hashes)
    if len(rows) > sample:  # Do not sort rows outside the sample.
        rows = rows[hashes[rows] <= np.partition(hashes[rows], sample)[sample]]
    return pa.array(np.sort(rows[np.argsort(hashes[rows], kind="stable")[:sample]]))
