"""What the rules of clustering look at of a batch of records: a row each, as arrays and as an Arrow table between machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus import titles
from s2corpus.clustering.places import first_pages, issues, numbers
from s2corpus.clustering.surnames import surname_keys
from s2corpus.sources.record import DECLARED, SCIENCEPARSE, WorkType
from s2corpus.titles.arrays import pieces_of
from s2corpus.titles.rules import say_little

GIVEN = ("doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id", "file_sha1")
"""Kinds of identifier that records have, strongest first (SEMANTICS: Cluster)."""
IDENTIFIERS = ("declared", *GIVEN)
"""These, and before them all the file that a drop's own record is of: its SHA-1, of that record and of the file's own headers."""
PREPRINT, PUBLISHED = 1, 2
"""Forms of a work."""
_FLAGS = ("publisher", "trusted", "declares", "second_header", "little")
_NUMBERS = {
    "form": pa.int8(),
    "doi_form": pa.int8(),
    "year": pa.int32(),
    "volume": pa.uint32(),
    "issue": pa.uint32(),
    "page": pa.uint32(),
}
_TEXTS = ("record_id", "ready_at", *IDENTIFIERS, "title", "normalised", "journal")
FACTS = pa.schema(
    [(name, pa.string()) for name in _TEXTS]
    + [(name, pa.bool_()) for name in _FLAGS]
    + [*_NUMBERS.items(), ("surnames", pa.list_(pa.uint64()))]
)
"""The columns of a `Part` as a table."""


@dataclass(frozen=True, slots=True)
class Part:
    """What stays of a batch of records: a row each."""

    record_id: pa.Array
    ready_at: pa.Array
    publisher: np.ndarray
    trusted: np.ndarray
    declares: np.ndarray
    second_header: np.ndarray
    declared: pa.Array
    doi: pa.Array
    arxiv_id: pa.Array
    pubmed_id: pa.Array
    pmc_id: pa.Array
    acl_id: pa.Array
    file_sha1: pa.Array
    form: np.ndarray
    """of the record: PREPRINT, PUBLISHED, or 0 if its source gives no type"""
    doi_form: np.ndarray
    """of its DOI, by the types that all its records give, where it was already decided"""
    year: np.ndarray
    title: pa.Array
    normalised: pa.Array
    little: np.ndarray
    surname_offsets: np.ndarray
    surnames: np.ndarray
    journal: pa.Array
    volume: np.ndarray
    issue: np.ndarray
    page: np.ndarray


def part_of(batch: pa.RecordBatch) -> Part:
    """What the rules look at, of a batch with the columns of `records`."""
    title = batch["title"]
    normalised = titles.normalise(title)
    offsets, surnames = surname_keys(batch["authors"])
    kind, source = codes_of(batch["kind"]), codes_of(batch["source"])
    of_pdf, declares = _is(*kind, "pdf"), _is(*source, DECLARED)
    return Part(
        record_id=batch["record_id"],
        ready_at=batch["ready_at"],
        publisher=_is(*kind, "publisher"),
        trusted=~of_pdf,
        declares=declares,
        second_header=_is(*source, SCIENCEPARSE),
        declared=pc.if_else(pa.array(of_pdf | declares), batch["file_sha1"], pa.scalar(None, pa.string())),
        **{name: batch[name] for name in GIVEN},
        form=_forms(batch["type"]),
        doi_form=np.zeros(len(title), np.int8),
        year=_years(batch["date"]),
        title=title,
        normalised=normalised,
        little=say_little(title, normalised),
        surname_offsets=offsets,
        surnames=surnames,
        journal=batch["journal"],
        volume=numbers(batch["volume"]),
        issue=issues(batch["issue"]),
        page=first_pages(batch["pages"]),
    )


def facts_of(part: Part) -> pa.Table:
    """A part as a table of FACTS."""
    surnames = pa.ListArray.from_arrays(part.surname_offsets.astype(np.int32), part.surnames)
    columns = [surnames if name == "surnames" else getattr(part, name) for name in FACTS.names]
    return pa.table(columns, schema=FACTS)


def part_from(facts: pa.Table) -> Part:
    """The part of a table with some columns of FACTS; of those that it lacks, every row has none.

    Rows without record_id are given ids in their order.
    """
    rows = facts.num_rows
    ids = pc.utf8_lpad(pa.array(np.arange(rows)).cast(pa.string()), 20, "0")
    none: dict[str, Callable[[], pa.Array]] = {"record_id": lambda: ids, "surnames": lambda: pa.array([[]] * rows)}

    def column(name: str) -> pa.Array:
        if name in facts.column_names:
            return pa.concat_arrays([pa.array([], FACTS.field(name).type), *facts[name].chunks])
        if name in none:
            return none[name]().cast(FACTS.field(name).type)
        return (
            pa.repeat(pa.scalar(0 if name in _NUMBERS else False, FACTS.field(name).type), rows)
            if (name in _NUMBERS or name in _FLAGS)
            else pa.nulls(rows, pa.string())
        )

    surnames = column("surnames")
    offsets = surnames.offsets.to_numpy().astype(np.int64)
    given = {name: column(name) for name in _TEXTS}
    arrays = {name: column(name).to_numpy(zero_copy_only=False) for name in (*_FLAGS, *_NUMBERS)}
    lists = {
        "surname_offsets": offsets - offsets[0],
        "surnames": surnames.values[offsets[0] : offsets[-1]].to_numpy(zero_copy_only=False).astype(np.uint64),
    }
    return Part(**given, **arrays, **lists)


def _is(codes: np.ndarray, distinct: pa.Array, value: str) -> np.ndarray:
    """Which rows of `codes_of` a column have the value, boolean."""
    has: np.ndarray = np.append(np.asarray(pc.equal(distinct, value)), False)[codes]  # code −1 reads the appended False
    return has


def _forms(types: pa.Array) -> np.ndarray:
    """Return PREPRINT or PUBLISHED for each type, 0 for none, int8."""
    codes, distinct = codes_of(types)
    forms = [PREPRINT if value == WorkType.PREPRINT else PUBLISHED for value in distinct.to_pylist()]
    of_code = np.array([*forms, 0], np.int8)
    return of_code.take(codes)  # code −1 reads the appended 0


def _years(dates: pa.Array) -> np.ndarray:
    """The year of each date, int32, 0 where it has none."""
    codes, distinct = codes_of(dates)
    years = pc.utf8_slice_codeunits(distinct, 0, 4)
    years = pc.if_else(pc.match_substring_regex(years, "^[0-9]{4}$"), years, pa.scalar("0"))
    of_code = np.append(np.asarray(pc.cast(years, pa.int32())), np.int32(0))
    return of_code.take(codes)  # code −1 reads the appended 0


def codes_of(column: pa.ChunkedArray | pa.Array) -> tuple[np.ndarray, pa.Array]:
    """(int32 code per row, −1 for null; the distinct values by code) of strings, or of a dictionary of them."""
    if isinstance(column, pa.ChunkedArray) and pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    chunks = pieces_of(column.dictionary_encode())  # they have one dictionary
    codes = [pc.fill_null(chunk.indices, -1).to_numpy() for chunk in chunks]
    distinct = chunks[0].dictionary if chunks else pa.array([], pa.string())
    return np.concatenate([np.empty(0, np.int32), *codes], dtype=np.int32), distinct
