"""Records as arrays: what the rules of clustering look at, one node a record, in the order of record ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus import titles
from s2corpus.clustering.surnames import surname_keys
from s2corpus.sources.record import SCIENCEPARSE
from s2corpus.titles.rules import say_little

IDENTIFIERS = ("doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id", "pdf_sha1")
"""Kinds of identifier, strongest first (SEMANTICS: Cluster)."""


@dataclass(frozen=True)
class Nodes:
    """n records as columns. Codes are small integers for equal values, −1 for none."""

    record_ids: pa.Array  # string, ascending
    ready_at: pa.Array  # string: when it was delivered
    trusted: np.ndarray  # bool: publisher or archive, not a PDF's own header
    second_header: np.ndarray  # bool: ScienceParse's reading of a PDF that the extractor reads too
    identifiers: dict[str, np.ndarray]  # kind → int32 code
    final_doi: np.ndarray  # int32 code of a DOI that is no preprint's
    preprint: np.ndarray  # bool: the record is of a preprint
    year: np.ndarray  # int32, 0 = unknown
    title: np.ndarray  # int32 code into `titles`
    titles: pa.Array  # string: the distinct normalised titles, in the order of their first record
    title_example: np.ndarray  # int64 per distinct title: the first record that has it
    originals: pa.Array  # string per node: the title as given
    strict: np.ndarray  # bool per distinct title: too short or generic to say anything alone
    surname_offsets: np.ndarray  # int32, n + 1
    surnames: np.ndarray  # int32 codes, ascending within a record

    def __len__(self) -> int:
        return len(self.record_ids)


def nodes_of(records: pa.Table, preprint_prefixes: Sequence[str]) -> Nodes:
    """The nodes of a table with the columns of `records`, which it sorts by record_id.

    Raises:
        ValueError: a record_id occurs twice.
    """
    records = records.take(pc.sort_indices(records, [("record_id", "ascending")]))
    record_ids = _one(records["record_id"])
    if len(record_ids) > 1 and pc.any(pc.equal(record_ids[1:], record_ids[:-1])).as_py():
        twice = record_ids[1:].filter(pc.equal(record_ids[1:], record_ids[:-1]))[0].as_py()
        raise ValueError(f"record_id {twice!r} occurs twice")
    kind = records["kind"]
    identifiers = {name: _codes(records[name])[0] for name in IDENTIFIERS}
    doi_codes, dois = _codes(records["doi"])
    preprint_doi = _matches(dois, preprint_prefixes)
    of_preprint = np.append(preprint_doi, False)[doi_codes]  # code −1 reads the appended False
    normalised = titles.normalise(records["title"])
    title, distinct = _codes(pc.if_else(pc.equal(normalised, ""), pa.scalar(None, pa.string()), normalised))
    titled = np.flatnonzero(title >= 0)
    example = titled[np.unique(title[titled], return_index=True)[1]]
    originals = _one(records["title"])
    offsets, surnames = surname_keys(_one(records["authors"]))
    arxiv = _bool(pc.and_(pc.is_valid(records["arxiv_id"]), pc.not_equal(kind, "publisher")))
    return Nodes(
        record_ids=record_ids,
        ready_at=_one(records["ready_at"]),
        trusted=_bool(pc.not_equal(kind, "pdf")),
        second_header=_bool(pc.equal(records["source"], SCIENCEPARSE)),
        identifiers=identifiers,
        final_doi=np.where(of_preprint, -1, doi_codes).astype(np.int32),
        preprint=of_preprint | arxiv,
        year=_years(records["date"]),
        title=title,
        titles=distinct,
        title_example=example,
        originals=originals,
        strict=say_little(originals.take(pa.array(example)), distinct),
        surname_offsets=offsets,
        surnames=surnames,
    )


def _one(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _bool(column: pa.ChunkedArray) -> np.ndarray:
    return np.asarray(_one(pc.fill_null(column, False)).to_numpy(zero_copy_only=False), dtype=bool)


def _codes(column: pa.ChunkedArray | pa.Array) -> tuple[np.ndarray, pa.Array]:
    """(int32 code per row, −1 for null; the distinct values by code)."""
    encoded = _one(column).dictionary_encode()
    return pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int32), encoded.dictionary


def _matches(dois: pa.Array, prefixes: Sequence[str]) -> np.ndarray:
    """Which DOIs start with one of the prefixes (regular expressions; one without a slash is a whole registrant)."""
    if not prefixes or not len(dois):
        return np.zeros(len(dois), bool)
    pattern = "^(?:" + "|".join(prefix if "/" in prefix else f"{prefix}/" for prefix in prefixes) + ")"
    return _bool(pc.match_substring_regex(dois, pattern))


def _years(dates: pa.ChunkedArray) -> np.ndarray:
    years = pc.utf8_slice_codeunits(dates, 0, 4)
    years = pc.if_else(pc.match_substring_regex(years, "^[0-9]{4}$"), years, pa.scalar(None, pa.string()))
    return np.asarray(_one(pc.fill_null(pc.cast(years, pa.int32()), 0)).to_numpy(zero_copy_only=False), np.int32)
