"""Records as arrays: the facts that the clustering rules compare, one node for each record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.parts import IDENTIFIERS, PREPRINT, PUBLISHED, codes_of, complete_facts
from s2corpus.clustering.places import Places
from s2corpus.titles.arrays import one_chunk


@dataclass(frozen=True, slots=True)
class Groups:
    """Nodes of equal codes: group c is `nodes[starts[c]:starts[c + 1]]`."""

    nodes: np.ndarray  # int32
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


def nodes_from(rows: pa.Table, preprint_prefixes: Sequence[str]) -> Nodes:
    """Return the nodes of records in the order of the rows, which have some columns of FACTS."""
    facts = complete_facts(rows)
    flags = {name: np.asarray(facts[name]) for name in ("trusted", "declares", "second_header", "publisher", "little")}
    coded = {name: codes_of(facts[name]) for name in IDENTIFIERS}
    identifiers = {name: codes for name, (codes, _) in coded.items()}
    doi, dois = coded["doi"]
    form = facts["form"].to_numpy()
    own_doi = np.where(identifiers["arxiv_id"] >= 0, np.int32(-1), doi)  # arXiv gives the DOI of the published version.
    forms = forms_of(own_doi, form, flags["publisher"], doi, facts["doi_form"].to_numpy(), len(dois))
    by_type = np.where(forms == 0, from_preprint_server(dois, preprint_prefixes), forms == PREPRINT)
    is_preprint_doi = np.append(by_type, False)[doi]  # Code −1 reads False.
    year = facts["year"].to_numpy()
    is_titled = pc.not_equal(facts["normalised"], "")
    title, titles = codes_of(pc.if_else(is_titled, facts["normalised"], pa.scalar(None, pa.string())))
    titled = np.flatnonzero(title >= 0)
    first = titled[np.unique(title[titled], return_index=True)[1]]
    surnames = one_chunk(facts["surnames"])
    offsets = surnames.offsets.to_numpy().astype(np.int64)
    journal, journals = codes_of(facts["journal"])
    return Nodes(
        trusted=flags["trusted"],
        declares=flags["declares"],
        second_header=flags["second_header"],
        identifiers=identifiers,
        final_doi=np.where(is_preprint_doi, np.int32(-1), doi),
        preprint=is_preprint_doi | (form == PREPRINT) | ((identifiers["arxiv_id"] >= 0) & ~flags["publisher"]),
        year=year,
        title=title,
        titles=titles,
        original_titles=one_chunk(facts["title"]).take(pa.array(first)),
        strict=flags["little"][first],
        by_title=group_nodes(title, len(titles), year),
        surname_offsets=offsets - offsets[0],
        surnames=surnames.values[offsets[0] : offsets[-1]].to_numpy(zero_copy_only=False),
        places=Places(facts["volume"].to_numpy(), facts["issue"].to_numpy(), facts["page"].to_numpy(), journal),
        journals=journals,
    )


def forms_of(
    own_doi: np.ndarray, form: np.ndarray, publisher: np.ndarray, doi: np.ndarray, doi_form: np.ndarray, count: int
) -> np.ndarray:
    """Return the form of each of `count` DOIs: PREPRINT if a record says so, else PUBLISHED if a publisher does, else 0.

    A record describes `own_doi`, a code or −1. A form of `doi` that was decided before counts for all its records.
    """
    forms = np.zeros(count, np.int8)
    for value in (PUBLISHED, PREPRINT):
        speaking = own_doi[(own_doi >= 0) & (form == value) & (publisher if value == PUBLISHED else True)]
        forms[speaking] = value
        forms[doi[(doi >= 0) & (doi_form == value)]] = value
    return forms


def group_nodes(codes: np.ndarray, count: int, order_by: np.ndarray | None = None) -> Groups:
    """Group nodes by code, 0 … count − 1; nodes of a group are in the order of `order_by`, then of their numbers."""
    nodes = np.flatnonzero(codes >= 0)
    keys = (codes[nodes],) if order_by is None else (order_by[nodes], codes[nodes])
    nodes = nodes[np.lexsort(keys)]
    return Groups(nodes.astype(np.int32), np.searchsorted(codes[nodes], np.arange(count + 1)))


def from_preprint_server(dois: pa.Array, prefixes: Sequence[str]) -> np.ndarray:
    """Return which DOIs start with a prefix (bool). Prefixes are regular expressions; one without a slash is a whole registrant."""
    if not prefixes or not len(dois):
        return np.zeros(len(dois), bool)
    pattern = "^(?:" + "|".join(prefix if "/" in prefix else f"{prefix}/" for prefix in prefixes) + ")"
    return np.asarray(pc.match_substring_regex(dois, pattern))
