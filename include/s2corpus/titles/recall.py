"""How good links are, measured on a sample: recall against the search without fail, precision against identifiers."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.titles.arrays import text_of
from s2corpus.titles.candidates import Search
from s2corpus.titles.equal import EqualStrings, hash_strings
from s2corpus.titles.exhaustive import best_among
from s2corpus.titles.linking import Links, Papers, Reason, link
from s2corpus.titles.targets import IDENTIFIERS


@dataclass(frozen=True, slots=True)
class Quality:
    """Counts behind recall and precision; they add up over parts."""

    sampled: int = 0
    """titles compared with every paper's"""
    similar: int = 0
    """of them: with some S above the threshold"""
    found: int = 0
    """of those: whose highest S the link has too"""
    tried: int = 0
    """links by identifier that were tried again by title alone, and found a paper"""
    agreed: int = 0
    """of them: the same paper, or one of its title"""

    def counts(self) -> dict[str, int]:
        """The counts by name."""
        return asdict(self)


def measure(entries: pa.Table, links: Links, papers: Papers, search: Search, sample: int) -> Quality:
    """Measure `links` of `entries` on at most `sample` titles for recall, and as many links by identifier for precision."""
    titles = _sampled(links.searched, sample)
    best, _ = best_among(links.searched.take(titles), papers.titles, search.threshold)
    reported = np.zeros(len(links.searched))
    reported[links.pairs.a[::-1]] = links.pairs.score[::-1]  # a title's best pair is its first
    similar = best > 0.0
    found = similar & (reported[titles] == best)
    known = entries.append_column("linked", links.rows["paper_id"]).filter(pc.equal(links.rows["reason"], Reason.ID))
    known = known.take(_sampled(known["title"], sample))
    if not len(known):
        return Quality(len(titles), int(similar.sum()), int(found.sum()))
    nothing = pa.nulls(len(known), pa.string())
    for name in IDENTIFIERS:
        known = known.set_column(known.column_names.index(name), name, nothing)
    again = link(known, papers, search).rows["paper_id"]
    tried = pc.is_valid(again)
    pairs = [ids.filter(tried).combine_chunks() for ids in (again, known["linked"])]
    both = papers.equal({"paper_id": EqualStrings.of(pa.concat_arrays(pairs))})
    title_again, title_known = (both.facts.normalised.take(pc.index_in(ids, both.paper_id)) for ids in pairs)
    agreed = pc.sum(pc.equal(title_again, title_known)).as_py() or 0
    return Quality(len(titles), int(similar.sum()), int(found.sum()), len(title_again), agreed)


def _sampled(titles: pa.Array | pa.ChunkedArray, sample: int) -> pa.Array:
    """Rows of the titles whose hashes are the smallest: the same ones every time, whatever the order."""
    hashes = hash_strings(*text_of(titles))
    rows = np.flatnonzero(hashes)
    return pa.array(np.sort(rows[np.argsort(hashes[rows], kind="stable")[:sample]]))
