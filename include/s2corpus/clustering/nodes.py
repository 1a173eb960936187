"""Records as arrays: what the rules of clustering look at, one node a record, in the order of record ids."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

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
    titles: pa.Array  # string: the distinct normalised titles
    originals: pa.Array  # string per distinct title: as its first record gives it
    strict: np.ndarray  # bool per distinct title: too short or generic to say anything alone
    surname_offsets: np.ndarray  # int32, n + 1
    surnames: np.ndarray  # int32 codes, ascending within a record

    def __len__(self) -> int:
        return len(self.record_ids)


def nodes_of(records: pa.Table, preprint_prefixes: Sequence[str]) -> Nodes:
    """The nodes of a table with the columns of `records`, in the order of their ids.

    Raises:
        ValueError: a record_id occurs twice.
    """
    order = pc.sort_indices(records, [("record_id", "ascending")])
    record_ids = _one(records["record_id"]).take(order)
    if len(record_ids) > 1 and pc.any(same := pc.equal(record_ids[1:], record_ids[:-1])).as_py():
        raise ValueError(f"record_id {record_ids[1:].filter(same)[0].as_py()!r} occurs twice")
    place = order.to_numpy()
    with ThreadPoolExecutor(1) as pool:
        names = pool.submit(surname_keys, _one(records["authors"]), place)
        columns = _columns(records, order, preprint_prefixes)
        surname_offsets, surnames = names.result()
    return Nodes(record_ids=record_ids, surname_offsets=surname_offsets, surnames=surnames, **columns)


def _columns(records: pa.Table, order: pa.Array, preprint_prefixes: Sequence[str]) -> dict[str, Any]:
    """All of `Nodes` but ids and surnames."""
    place = order.to_numpy()
    kind = records["kind"]
    doi_codes, dois = _codes(records["doi"])
    of_preprint = np.append(_matches(dois, preprint_prefixes), False)[doi_codes]  # code −1 reads the appended False
    arxiv = _bool(pc.and_(pc.is_valid(records["arxiv_id"]), pc.not_equal(kind, "publisher")))
    originals = _one(records["title"])
    normalised = titles.normalise(originals)
    title, distinct = _codes(pc.if_else(pc.equal(normalised, ""), pa.scalar(None, pa.string()), normalised))
    example = np.zeros(len(distinct), np.int64)
    titled = np.flatnonzero(title >= 0)[::-1]
    example[title[titled]] = titled  # the first record's place is written last
    return {
        "ready_at": _one(records["ready_at"]).take(order),
        "trusted": _bool(pc.not_equal(kind, "pdf"))[place],
        "second_header": _bool(pc.equal(records["source"], SCIENCEPARSE))[place],
        "identifiers": {
            name: (_codes(records[name])[0] if name != "doi" else doi_codes)[place] for name in IDENTIFIERS
        },
        "final_doi": np.where(of_preprint, -1, doi_codes).astype(np.int32)[place],
        "preprint": (of_preprint | arxiv)[place],
        "year": _years(records["date"])[place],
        "title": title[place],
        "titles": distinct,
        "originals": (as_given := originals.take(pa.array(example))),
        "strict": say_little(as_given, distinct),
    }


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
