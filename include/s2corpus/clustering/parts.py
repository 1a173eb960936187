"""Read the facts that the clustering rules compare from a batch of records, as an Arrow table."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus import titles
from s2corpus.clustering.places import first_pages, issues, numbers
from s2corpus.clustering.surnames import surname_keys
from s2corpus.sources.record import DECLARED, SCIENCEPARSE, WorkType
from s2corpus.titles.arrays import pieces_of
from s2corpus.titles.rules import are_uninformative

COLUMNS = (
    "record_id", "source", "kind", "ready_at", "title", "authors.list.element.first", "authors.list.element.last", "date",
    "journal", "volume", "issue", "pages", "type", "doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id", "file_sha1",
)  # fmt: skip
"""The columns of `records` that decide clusters, as Parquet names them."""
GIVEN = ("doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id", "file_sha1")
"""Kinds of identifiers in records, strongest first (SPEC §4, outcomes)."""
IDENTIFIERS = ("declared", *GIVEN)
"""All kinds of identifiers. `declared` is the SHA-1 of a drop's file, on the drop's own record and on the file's headers (SPEC §4.2)."""
PREPRINT, PUBLISHED = 1, 2
"""Forms of a work."""
FACTS = pa.schema(
    [(name, pa.string()) for name in ("record_id", "ready_at", *IDENTIFIERS, "title", "normalised", "journal")]
    + [(name, pa.bool_()) for name in ("publisher", "trusted", "declares", "second_header", "little")]
    + [
        ("form", pa.int8()),
        ("doi_form", pa.int8()),
        ("year", pa.int32()),
        ("volume", pa.uint32()),
        ("issue", pa.uint32()),
        ("page", pa.uint32()),
    ]
    + [("surnames", pa.list_(pa.uint64()))]
)
"""One row for each record. Numbers are 0 if unknown. `form` is the form of the record by its type,
`doi_form` the form of its DOI by all records."""


def read_facts(batch: pa.RecordBatch) -> pa.Table:
    """Return the facts of a batch with the columns of `records`."""
    title = batch["title"]
    normalised = titles.normalize(title)
    offsets, surnames = surname_keys(batch["authors"])
    is_pdf = _equals(batch["kind"], "pdf")
    declares = _equals(batch["source"], DECLARED)
    facts = {
        **{name: batch[name] for name in ("record_id", "ready_at", *GIVEN, "title", "journal")},
        "declared": pc.if_else(pa.array(is_pdf | declares), batch["file_sha1"], pa.scalar(None, pa.string())),
        "normalised": normalised,
        "publisher": _equals(batch["kind"], "publisher"),
        "trusted": ~is_pdf,
        "declares": declares,
        "second_header": _equals(batch["source"], SCIENCEPARSE),
        "little": are_uninformative(title, normalised),
        "form": _forms(batch["type"]),
        "doi_form": np.zeros(len(title), np.int8),
        "year": _years(batch["date"]),
        "volume": numbers(batch["volume"]),
        "issue": issues(batch["issue"]),
        "page": first_pages(batch["pages"]),
        "surnames": pa.ListArray.from_arrays(offsets.astype(np.int32), surnames),
    }
    return pa.table([facts[name] for name in FACTS.names], schema=FACTS)


def complete_facts(rows: pa.Table) -> pa.Table:
    """Return a table with all columns of FACTS; a column that `rows` lacks is null, false, 0 or the empty list."""
    missing = {pa.string(): None, pa.bool_(): False, pa.int8(): 0, pa.int32(): 0, pa.uint32(): 0}
    columns = []
    for field in FACTS:
        if field.name in rows.column_names:
            columns.append(rows[field.name])
        else:
            columns.append(pa.repeat(pa.scalar(missing.get(field.type, []), field.type), len(rows)))
    return pa.table(columns, schema=FACTS).combine_chunks()


def _equals(column: pa.Array, value: str) -> np.ndarray:
    """Return which rows have the value (bool)."""
    return np.asarray(pc.fill_null(pc.equal(column, value), False))


def _forms(types: pa.Array) -> np.ndarray:
    """Return PREPRINT or PUBLISHED for each type, 0 for none, int8."""
    codes, distinct = codes_of(types)
    forms = [PREPRINT if value == WorkType.PREPRINT else PUBLISHED for value in distinct.to_pylist()]
    of_code = np.array([*forms, 0], np.int8)
    return of_code.take(codes)  # code −1 reads the appended 0


def _years(dates: pa.Array) -> np.ndarray:
    """Return the year of each date (int32), or 0 without one."""
    codes, distinct = codes_of(dates)
    years = pc.utf8_slice_codeunits(distinct, 0, 4)
    years = pc.if_else(pc.match_substring_regex(years, "^[0-9]{4}$"), years, pa.scalar("0"))
    of_code = np.append(np.asarray(pc.cast(years, pa.int32())), np.int32(0))
    return of_code.take(codes)  # Code −1 reads the appended 0.


def codes_of(column: pa.ChunkedArray | pa.Array) -> tuple[np.ndarray, pa.Array]:
    """Return a code for each row (int32, −1 for null) and the distinct values by code, in the order of first occurrence."""
    if isinstance(column, pa.ChunkedArray) and pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    chunks = pieces_of(column.dictionary_encode())  # They share one dictionary.
    codes = [pc.fill_null(chunk.indices, -1).to_numpy() for chunk in chunks]
    distinct = chunks[0].dictionary if chunks else pa.array([], pa.string())
    return np.concatenate([np.empty(0, np.int32), *codes], dtype=np.int32), distinct
