"""Records as arrays: the facts that the clustering rules compare, one node for each record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.parts import IDENTIFIERS, codes_of, complete_facts
from s2corpus.clustering.places import Places
from s2corpus.titles.arrays import one_chunk


@dataclass(frozen=True, slots=True)
class Groups:
    """Nodes of equal codes: group c is `nodes[starts[c]:starts[c + 1]]`."""

    nodes: np.ndarray  # int64
    starts: np.ndarray  # int64, codes + 1


@dataclass(frozen=True)
class Nodes:
    """n records as columns. Codes are small integers for equal values, −1 for a missing value."""

    trusted: np.ndarray  # bool: publisher or archive record, not the header of a PDF
    declares: np.ndarray  # bool: a drop's own record of one of its files
    second_header: np.ndarray  # bool: ScienceParse's header of a PDF that the extractor reads too
    identifiers: dict[str, np.ndarray]  # kind → int32 code
    final_doi: np.ndarray  # int32 code of a DOI that is not a preprint's
    preprint: np.ndarray  # bool: the record describes a preprint
    year: np.ndarray  # int32, 0 = unknown
    title: np.ndarray  # int32 code into `titles`
    titles: pa.Array  # string: the distinct normalized titles
    original_titles: pa.Array  # string, per distinct title: the title of its first record as delivered
    strict: np.ndarray  # bool per distinct title: too short or generic to identify a paper
    by_title: Groups  # records of each title, by year
    surname_offsets: np.ndarray  # int64, n + 1
    surnames: np.ndarray  # uint64 hashes, ascending within a record
    places: Places
    journals: pa.Array  # string: the distinct names by the codes of `places`

    def __len__(self) -> int:
        return len(self.year)


def nodes_from(rows: pa.Table) -> Nodes:
    """Return the nodes of records in the order of the rows, which have some columns of FACTS."""
    facts = complete_facts(rows)
    codes = {name: codes_of(facts[name])[0] for name in (*IDENTIFIERS, "final_doi")}
    year = facts["year"].to_numpy()
    is_titled = pc.not_equal(facts["normalised"], "")
    title, titles = codes_of(pc.if_else(is_titled, facts["normalised"], pa.scalar(None, pa.string())))
    titled = np.flatnonzero(title >= 0)
    first = titled[np.unique(title[titled], return_index=True)[1]]
    surnames = one_chunk(facts["surnames"])
    offsets = surnames.offsets.to_numpy().astype(np.int64)
    journal, journals = codes_of(facts["journal"])
    return Nodes(
        **{name: np.asarray(facts[name]) for name in ("trusted", "declares", "second_header", "preprint")},
        final_doi=codes.pop("final_doi"),
        identifiers=codes,
        year=year,
        title=title,
        titles=titles,
        original_titles=one_chunk(facts["title"]).take(pa.array(first)),
        strict=np.asarray(facts["little"])[first],
        by_title=group_nodes(title, year),
        surname_offsets=offsets - offsets[0],
        surnames=surnames.values[offsets[0] : offsets[-1]].to_numpy(zero_copy_only=False),
        places=Places(facts["volume"].to_numpy(), facts["issue"].to_numpy(), facts["page"].to_numpy(), journal),
        journals=journals,
    )


def group_nodes(codes: np.ndarray, order_by: np.ndarray | None = None) -> Groups:
    """Group nodes by code; nodes of a group are in the order of `order_by`, then of their numbers."""
    nodes = np.flatnonzero(codes >= 0)
    keys = (codes[nodes],) if order_by is None else (order_by[nodes], codes[nodes])
    nodes = nodes[np.lexsort(keys)]
    return Groups(nodes, np.searchsorted(codes[nodes], np.arange(codes.max(initial=-1) + 2)))
